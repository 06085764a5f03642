//! `favard complete`.

use std::fmt::Write as _;

use crate::support::{Folder, run};

/// The multiplication table up to 12, of rank 1, with one entry in four unknown: (i, j, i·j).
fn table() -> Vec<(u32, u32, u32)> {
    let all = (1..=12).flat_map(|i| (1..=12).map(move |j| (i, j, i * j)));
    all.filter(|(i, j, _)| (i + 2 * j) % 4 != 0).collect()
}

/// Names are kept, with and without a header, commas or tabs; the entry that was left out is found.
#[test]
fn a_table_with_names() {
    let folder = Folder::new();
    let (mut csv, mut tsv) = ("\u{feff}row,col,value\r\n".to_string(), String::new());
    for (i, j, v) in table() {
        let _ = write!(csv, "\"r,{i}\",c{j},{v}\r\n");
        let _ = writeln!(tsv, "r,{i}\tc{j}\t{v}");
    }
    let wanted = folder.file("wanted.csv", "row,col\n\"r,2\",c1\n\"r,12\",c10\n");
    let files = [folder.file("entries.csv", csv), folder.file("entries.tsv", tsv)];
    for file in files {
        let out = folder.path("out");
        let args = ["complete", &file, "--rank", "1", "--predict", &wanted, "-o", &out];
        let text = run(&args).met().out;
        assert!(text.contains("held-out error") && text.contains("2 predictions"), "{text}");
        assert_eq!(
            folder.names("out"),
            [
                "info.json",
                "left.csv",
                "left.npy",
                "predictions.csv",
                "right.csv",
                "right.npy",
                "values.csv"
            ]
        );
        let found = std::fs::read_to_string(folder.join("out/predictions.csv")).unwrap();
        let lines: Vec<&str> = found.lines().collect();
        assert_eq!(lines[0], "row,column,prediction");
        // A misfit of 1e-8 of ‖M‖ = 650 over a well-conditioned set of entries.
        for (line, (names, exact)) in
            lines[1..].iter().zip([("\"r,2\",c1,", 2.0_f64), ("\"r,12\",c10,", 120.0)])
        {
            let value: f64 = line.strip_prefix(names).unwrap().parse().unwrap();
            assert!((value - exact).abs() < 1e-3, "{found}");
        }
        let left = std::fs::read_to_string(folder.join("out/left.csv")).unwrap();
        assert!(left.contains("\"r,1\","), "{left}");
    }
}

/// The stored entries of a .mtx are the known ones; rows and columns go by their numbers.
#[test]
fn a_matrix_market_file() {
    let folder = Folder::new();
    let entries = table();
    let mut text =
        format!("%%MatrixMarket matrix coordinate real general\n12 12 {}\n", entries.len());
    for (i, j, v) in entries {
        let _ = writeln!(text, "{i} {j} {v}");
    }
    let file = folder.file("entries.mtx", text);
    let (wanted, out) = (folder.file("wanted.tsv", "2\t1\n"), folder.path("out"));
    let args = ["complete", &file, "--rank", "1", "--holdout", "0.1"];
    let json =
        run(&[&args[..], &["--predict", &wanted, "-o", &out, "--json"]].concat()).met().json();
    assert_eq!((&json["rank"], &json["certified"]), (&1.into(), &true.into()));
    assert!(json["held_out_error"].as_f64().unwrap() < 1e-6);
    // A tenth of 108, rounded down.
    assert_eq!(json["held_out_entries"].as_u64(), Some(10));
    // ‖(1, …, 12)‖² = 650.
    assert!((json["singular_values"][0].as_f64().unwrap() - 650.0).abs() < 1e-3);
    let found = std::fs::read_to_string(folder.join("out/predictions.csv")).unwrap();
    assert!(found.starts_with("row,column,prediction\n2,1,"), "{found}");
    let none = run(&["complete", &file, "--rank", "1", "--holdout", "0", "--json"]).met().json();
    assert!(none["held_out_error"].is_null());
}

/// One line with the file, the line and the column.
#[test]
fn bad_input() {
    let folder = Folder::new();
    let with = |name: &str, text: &str| {
        let file = folder.file(name, text);
        run(&["complete", &file, "--rank", "1"])
    };
    with("value.csv", "a,b,1\na,c,x\n")
        .failed("value.csv:2:5: value: expected a number, found `x`");
    with("nan.csv", "a,b,1\na,c,NaN\n").failed("nan.csv:2:5: value: `NaN` is not a finite number");
    with("twice.csv", "a,b,1\na,b,2\n").failed("twice.csv:2:1: entry: is given twice, in line 1");
    with("fields.csv", "a,b,1\na,b\n")
        .failed("fields.csv:2:1: fields of a line: expected 3, found 2");
    with("quote.csv", "\"a,b,1\n").failed("quote.csv:1:1: line: a quote that is not closed");
    with("empty.csv", "").failed("empty.csv: the file is empty");
    with("header.csv", "row,column,value\n").failed("header.csv: the file is empty");
    with("few.csv", "a,b,1\nc,d,1\n").failed("are fewer than the");
    with("full.npy", "").failed("full.npy: the file is empty");
    let dense = "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n";
    with("dense.mtx", dense).failed("dense.mtx: is a full matrix");
    let file = folder.file(
        "good.csv",
        table().iter().map(|(i, j, v)| format!("{i},{j},{v}")).collect::<Vec<_>>().join("\n"),
    );
    run(&["complete", &file, "--rank", "0"]).failed("rank: 0 must be at least 1");
    run(&["complete", &file, "--rank", "1", "--holdout", "1"])
        .failed("held-out fraction: 1 must be");
    run(&["complete", &file]).failed("required arguments were not provided");
    let wanted = folder.file("wanted.csv", "1,1\n1,13\n");
    let args = ["complete", &file, "--rank", "1", "--predict", &wanted];
    run(&args).failed("required arguments were not provided");
    let out = folder.path("out");
    run(&[&args[..], &["-o", &out]].concat())
        .failed("wanted.csv:2:3: column: `13` is not among the entries");
    run(&["complete", &folder.path("none.csv"), "--rank", "1"]).failed("none.csv: No such file");
    run(&["complete", &folder.path("."), "--rank", "1"]).failed("directory");
}
