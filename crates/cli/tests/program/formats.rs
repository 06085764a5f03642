//! Every format through the program.

use std::fmt::Write as _;

use crate::support::{Folder, favard, gzip, numbers, run};

/// The matrix that all the files hold, as a table.
const TABLE: &str = "1.5,0,0,-2\n0,0,0.1,0\n3,4,0,1e-30\n";
const MTX: &str = "%%MatrixMarket matrix coordinate real general\n3 4 6\n1 1 1.5\n1 4 -2\n2 3 0.1\n\
    3 1 3\n3 2 4\n3 4 1e-30\n";
const LIBSVM: &str = "1 1:1.5 4:-2\n-1 3:0.1\n1 1:3 2:4 4:1e-30\n";

/// One file of each format.
fn files(folder: &Folder) -> Vec<String> {
    let csv = folder.file("a.csv", TABLE);
    let [npy, npz] = ["a.npy", "a.npz"].map(|name| folder.path(name));
    run(&["convert", &csv, &npy]).met();
    run(&["convert", &csv, &npz]).met();
    let cells = "%%MatrixMarket matrix coordinate real general\n4 3 6\n1 1 1.5\n4 1 -2\n3 2 0.1\n\
        1 3 3\n2 3 4\n4 3 1e-30\n";
    std::fs::create_dir(folder.join("cells")).unwrap();
    folder.file("cells/matrix.mtx.gz", gzip(cells.as_bytes()));
    folder.file("cells/barcodes.tsv.gz", gzip(b"AAAC-1\nAAAG-1\nAAAT-1\n"));
    folder.file("cells/features.tsv.gz", gzip(b"E1\tA\nE2\tB\nE3\tC\nE4\tD\n"));
    // As anndata wrote it; packed here only to be small.
    let h5ad = include_bytes!("../../../io/tests/io/data/csr.h5ad.gz");
    let mut unpacked = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&h5ad[..]), &mut unpacked)
        .unwrap();
    vec![
        csv,
        folder.file("a.csv.gz", gzip(TABLE.as_bytes())),
        folder.file("a.tsv", TABLE.replace(',', "\t")),
        folder.file("a.mtx", MTX),
        folder.file("a.mtx.gz", gzip(MTX.as_bytes())),
        npy,
        npz,
        folder.file("a.libsvm", LIBSVM),
        folder.path("cells"),
        folder.file("a.h5ad", unpacked),
        // What Windows makes of them.
        folder.file("crlf.csv", TABLE.replace('\n', "\r\n")),
        folder.file("bom.csv", format!("\u{feff}{TABLE}")),
        folder.file("both.mtx", format!("\u{feff}{}", MTX.replace('\n', "\r\n"))),
    ]
}

/// Every command that reads a matrix reads it from every format, with the same result. The values
/// are sums of a few products, which round by less than 100 ε of the largest.
#[test]
fn every_format_is_read_by_every_command() {
    let folder = Folder::new();
    let b = folder.file("b.csv", "1\n2\n3\n");
    let mut first: Option<Vec<Vec<f64>>> = None;
    for file in files(&folder) {
        let json = |args: &[&str]| run(args).met().json();
        let info = json(&["info", &file, "--json"]);
        assert_eq!([&info["rows"], &info["cols"]], [3, 4], "{file}");
        let copy = folder.path("copy.npy");
        let copied = run(&["convert", &file, &copy, "--json"]);
        assert_eq!(copied.code, Some(0), "{file}: {}", copied.err);
        assert_eq!([&copied.json()["rows"], &copied.json()["cols"]], [3, 4]);
        let plan = json(&["plan", &file, "--json"]);
        let found = vec![
            numbers(&json(&["pca", &file, "-k", "2", "--json"])["eigenvalues"]),
            numbers(&json(&["svd", &file, "-k", "2", "--json"])["singular_values"]),
            numbers(&json(&["spectrum", &file, "-k", "2", "--json"])["eigenvalues"]),
            vec![plan["estimates"]["lambda1"].as_f64().unwrap()],
            numbers(&json(&["lstsq", &file, &b, "--json"])["relative_residuals"]),
            vec![run(&["kaczmarz", &file, &b, "--json"]).json()["norm_bound"].as_f64().unwrap()],
            favard_io::read::<f64>(&copy)
                .unwrap()
                .matrix
                .into_dense()
                .unwrap()
                .view()
                .iter()
                .copied()
                .collect(),
        ];
        let expected = first.get_or_insert_with(|| found.clone());
        for (found, expected) in found.iter().zip(expected) {
            // 13.25 is the square of the largest singular value, about.
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 2600.0 * f64::EPSILON;
            assert!(found.iter().zip(&*expected).all(near), "{file}: {found:?} {expected:?}");
        }
    }
}

/// `complete` takes the formats that know which entries are there.
#[test]
fn sparse_formats_are_completed() {
    let folder = Folder::new();
    let all = (1..=8).flat_map(|i| (1..=8).map(move |j| (i, j)));
    let kept: Vec<(i32, i32)> = all.filter(|(i, j)| (i + 2 * j) % 4 != 0).collect();
    let mut mtx = format!("%%MatrixMarket matrix coordinate real general\n8 8 {}\n", kept.len());
    for (i, j) in &kept {
        let _ = writeln!(mtx, "{i} {j} {}", i * j);
    }
    let plain = folder.file("k.mtx", &mtx);
    let npz = folder.path("k.npz");
    run(&["convert", &plain, &npz]).met();
    let mut libsvm = String::new();
    for row in 1..=8 {
        libsvm += "0";
        for (i, j) in kept.iter().filter(|(i, _)| *i == row) {
            let _ = write!(libsvm, " {j}:{}", i * j);
        }
        libsvm += "\n";
    }
    let files = [
        (plain, None),
        (folder.file("k.mtx.gz", gzip(mtx.as_bytes())), None),
        (npz, None),
        (folder.file("k.svm", libsvm), Some("libsvm")),
    ];
    for (file, format) in files {
        let mut args = vec!["complete", &file, "--rank", "1", "--holdout", "0", "--json"];
        args.extend(format.iter().flat_map(|name| ["--format", *name]));
        let value = numbers(&run(&args).met().json()["singular_values"])[0];
        // ‖(1, …, 8)‖² = 204, to the misfit of 1e-8 over a well-conditioned set of entries.
        assert!((value - 204.0).abs() < 1e-3, "{file}: {value}");
    }
}

/// What is found out can be said instead: the format, header, row names and separator.
#[test]
fn reading_can_be_told() {
    let folder = Folder::new();
    let years = folder.file("years", "1990;1991\n1;2\n3;5\n7;1\n");
    run(&["info", &years]).failed("say it with --format NAME");
    let json = |more: &[&str]| {
        let args = [&["info", &years, "--format", "csv", "--json"], more].concat();
        run(&args).met().json()
    };
    assert_eq!(json(&[])["rows"], 4);
    assert_eq!(json(&["--header"])["rows"], 3);
    assert_eq!(json(&["--no-header", "--row-names"])["cols"], 1);
    let args = ["pca", &years, "--format", "csv", "--header", "--separator", ";", "-k", "1"];
    assert!(run(&args).met().out.contains("1990"));
    let tabs = folder.file("tabs.csv", "1\t2,5\n");
    run(&["pca", &tabs, "--separator", ",", "--no-row-names"]).failed("tabs.csv:1:1: ");
    run(&["info", &years, "--format", "xls"]).failed("invalid value 'xls'");
    run(&["info", &years, "--separator", "ab"]).failed("neither one ASCII character nor `tab`");
    run(&["info", &years, "--header", "--no-header"]).failed("cannot be used with");
    run(&["info", &years, "--limit", "rows=1"]).failed("`rows` is none of empty-rows");
    run(&["info", &years, "--limit", "empty-rows=x"]).failed("`x` is not a whole number");
    let triplets = folder.file("t.csv", "1|1|1\n1|2|2\n2|1|2\n2|2|4\n");
    let args =
        ["complete", &triplets, "--rank", "1", "--holdout", "0", "--separator", "|", "--json"];
    assert_eq!(run(&args).met().json()["entries"], 4);
    let ran = run(&[&args[..], &["--header"]].concat());
    assert!(ran.code != Some(0) || ran.json()["entries"] == 3, "{}", ran.out);
}

/// Each solver by its name: it is the one that runs, and its answer is certified or said not to be.
#[test]
fn every_solver_runs() {
    let folder = Folder::new();
    let table = folder.table();
    for solver in [
        "auto",
        "exact",
        "krylov",
        "power",
        "momentum",
        "dynamic",
        "chebyshev",
        "heavy-ball",
        "inhomogeneous",
        "oja",
        "oja-momentum",
        "ada-oja",
        "minibatch",
        "vr-pca",
        "vr",
    ] {
        for command in ["pca", "svd"] {
            let args = [command, &table, "-k", "1", "--solver", solver, "--tol", "1e-3", "--json"];
            let ran = favard(&args).output().unwrap();
            let text = String::from_utf8(ran.stdout).unwrap();
            let json: serde_json::Value = serde_json::from_str(&text)
                .unwrap_or_else(|_| panic!("{solver}: {}", String::from_utf8_lossy(&ran.stderr)));
            let certified = json["certified"].as_bool().unwrap();
            assert_eq!(ran.status.code(), Some(if certified { 0 } else { 2 }), "{solver}");
            if solver != "auto" {
                assert_eq!(json["solver"], solver);
            }
            // The columns are independent: the first has the largest variance, 10 · 81/39, or the
            // largest square, 20 · 81 (plus what the means of the others add).
            let value = numbers(&json["eigenvalues"])[0];
            let least = if command == "pca" { 810.0 / 39.0 } else { 1620.0 };
            assert!(!certified || value > 0.99 * least, "{solver}: {value}");
        }
    }
}
