//! `favard lstsq`.

use std::fmt::Write;

use crate::support::{Folder, numbers, run};

/// y = 1 + 2t at t = 0, 1, 2, 3 with noise: the line of least squares is 1.06 + 1.96 t.
fn line(folder: &Folder) -> [String; 2] {
    [
        folder.file("t.csv", "time\n0\n1\n2\n3\n"),
        folder.file("y.csv", "height\n1.1\n2.9\n5.1\n6.9\n"),
    ]
}

#[test]
fn a_line_with_its_intercept() {
    let folder = Folder::new();
    let [t, y] = line(&folder);
    let out = folder.path("out");
    let args = ["lstsq", &t, &y, "--intercept"];
    let text = run(&[&args[..], &["-o", &out]].concat()).met().out;
    assert!(text.contains("certified: ") && text.contains("(intercept)"), "{text}");
    assert_eq!(folder.names("out"), ["info.json", "intercept.npy", "solution.csv", "solution.npy"]);
    let table = std::fs::read_to_string(folder.join("out/solution.csv")).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some(",height"));
    // The certificate of 1e-8 bounds the error by that times κ ‖r‖ ‖A‖/σ², far below 1e-6 here.
    for (name, exact) in [("time", 1.96_f64), ("(intercept)", 1.06)] {
        let (found, value) = lines.next().unwrap().split_once(',').unwrap();
        assert_eq!(found, name);
        assert!((value.parse::<f64>().unwrap() - exact).abs() < 1e-6, "{table}");
    }
    let json = run(&[&args[..], &["--json"]].concat()).met().json();
    let mut keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let mut expected = [
        "reason",
        "shape",
        "nnz",
        "right_hand_sides",
        "residual_norms",
        "relative_residuals",
        "certificates",
        "norm_bound",
        "certified",
        "stop",
        "iterations",
        "applications",
        "passes",
        "ridge",
        "intercept",
        "weighted",
        "seed",
        "threads",
        "seconds",
        "peak_memory_bytes",
    ];
    expected.sort_unstable();
    assert_eq!(keys, expected);
    assert!(numbers(&json["certificates"])[0] <= 1e-8);
    assert!((numbers(&json["intercept"])[0] - 1.06).abs() < 1e-6);
}

/// Every method finds the same, for several right-hand sides, from .npy and .mtx.
#[test]
fn methods_and_formats() {
    let folder = Folder::new();
    let a = folder.file("a.csv", "1,0\n0,2\n1,1\n2,-1\n");
    // x = (1, 2) and (−1, 3), and a residual (−3, 0, 1, 1), which Aᵀ makes zero.
    let b = folder.file("b.csv", "-2,-4\n4,6\n4,3\n1,-4\n");
    let (npy, mtx, out) = (folder.path("b.npy"), folder.path("a.mtx"), folder.path("out"));
    run(&["convert", &b, &npy]).met();
    run(&["convert", &a, &mtx]).met();
    for method in ["auto", "direct", "cg", "lsmr", "heavy-ball", "chebyshev"] {
        run(&["lstsq", &mtx, &npy, "--method", method, "-o", &out]).met();
        let found = std::fs::read_to_string(folder.join("out/solution.csv")).unwrap();
        let values: Vec<f64> = found
            .lines()
            .skip(1)
            .flat_map(|l| l.split(',').skip(1))
            .map(|v| v.parse().unwrap())
            .collect();
        // ‖Aᵀr‖ ≤ 1e-8 ‖A‖ ‖r‖ < 1e-8 · 12, and σ_min² > 1: the error is below 1.2e-7.
        for (value, exact) in values.iter().zip([1.0, -1.0, 2.0, 3.0]) {
            assert!((value - exact).abs() < 1.2e-7, "{method}: {values:?}");
        }
    }
}

/// A few rows a step: both ways solve a system that has a solution, SVRG any; mini-batches say that they
/// ended at the noise. A run that is saved goes on to the same bits.
#[test]
fn a_few_rows_a_step() {
    let folder = Folder::new();
    let entry = |i: usize, j: usize| ((7 * i + 13 * j * j + i * j) % 17) as f64 - 8.0;
    let row = |i: usize| (0..4).map(|j| entry(i, j)).collect::<Vec<_>>();
    let (mut a, mut consistent, mut noisy) = (String::new(), String::new(), String::new());
    for i in 0..400 {
        let row = row(i);
        let b: f64 = row.iter().zip([1.0, -2.0, 3.0, 0.5]).map(|(a, x)| a * x).sum();
        a += &(row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n");
        writeln!(consistent, "{b}").unwrap();
        writeln!(noisy, "{}", b + ((i * i) % 11) as f64).unwrap();
    }
    let a = folder.file("a.csv", a);
    let (b, noisy) = (folder.file("b.csv", consistent), folder.file("noisy.csv", noisy));
    for method in ["minibatch", "svrg"] {
        let json =
            run(&["lstsq", &a, &b, "--method", method, "--batch", "32", "--json"]).met().json();
        assert!(numbers(&json["relative_residuals"])[0] <= 1e-8, "{json}");
        assert!(json["reason"].as_str().unwrap().contains("32"), "{json}");
    }
    let args = ["lstsq", &a, &noisy, "--method", "svrg", "--json"];
    let whole = run(&args).met().json();
    assert!(numbers(&whole["certificates"])[0] <= 1e-8, "{whole}");
    let stopped =
        run(&["lstsq", &a, &noisy, "--method", "minibatch", "--max-passes", "50", "--json"]);
    assert_eq!(stopped.code, Some(2), "{}", stopped.err);
    let (saved, out) = (folder.path("run.favard"), folder.path("out"));
    let save = ["--checkpoint", &saved, "--checkpoint-every", "0"];
    let cut = run(&[&args[..], &save, &["--max-passes", "4"]].concat());
    assert_eq!(cut.code, Some(2), "{}", cut.err);
    run(&[&args[..], &["--resume", &saved, "-o", &out]].concat()).met();
    let unbroken = folder.path("unbroken");
    run(&[&args[..], &["-o", &unbroken]].concat()).met();
    let bytes = |name: &str| std::fs::read(folder.join(name)).unwrap();
    assert_eq!(bytes("out/solution.npy"), bytes("unbroken/solution.npy"));
}

/// (AᵀA + λ) x = Aᵀb, and a row of weight 0 does not count.
#[test]
fn ridge_and_weights() {
    let folder = Folder::new();
    let a = folder.file("a.csv", "1,0\n0,1\n5,5\n");
    let b = folder.file("b.npy.csv", "4\n6\n-100\n");
    let w = folder.file("w.csv", "1\n1\n0\n");
    let out = folder.path("out");
    run(&["lstsq", &a, &b, "--weights", &w, "--ridge", "1", "-o", &out]).met();
    let found = std::fs::read_to_string(folder.join("out/solution.csv")).unwrap();
    let values: Vec<f64> =
        found.lines().skip(1).map(|l| l.split_once(',').unwrap().1.parse().unwrap()).collect();
    assert!((values[0] - 2.0).abs() < 1e-6 && (values[1] - 3.0).abs() < 1e-6, "{values:?}");
}

/// A budget that is too small: exit code 2, and the solution so far is written.
#[test]
fn not_converged() {
    let folder = Folder::new();
    let mut text = String::new();
    for i in 0..60 {
        let row: Vec<String> = (0..40).map(|j| format!("{}", 1.0 / f64::from(1 + i + j))).collect();
        text += &(row.join(",") + "\n");
    }
    let a = folder.file("hilbert.csv", text);
    let b =
        folder.file("b.csv", (0..60).map(|i| (i % 7).to_string()).collect::<Vec<_>>().join("\n"));
    let out = folder.path("out");
    let args = ["lstsq", &a, &b, "--method", "lsmr", "--tol", "1e-14", "--max-passes", "6"];
    let ran = run(&[&args[..], &["-o", &out, "--json"]].concat());
    assert_eq!((ran.code, &*ran.err), (Some(2), ""));
    assert_eq!(ran.json()["certified"].as_bool(), Some(false));
    assert_eq!(folder.names("out"), ["info.json", "solution.csv", "solution.npy"]);
}

/// One line with the file and the numbers.
#[test]
fn bad_input() {
    let folder = Folder::new();
    let [t, y] = line(&folder);
    let short = folder.file("short.csv", "1\n2\n3\n");
    let two = folder.file("two.csv", "1,2\n1,2\n1,2\n1,2\n");
    let nan = folder.file("nan.csv", "1\nNaN\n3\n4\n");
    run(&["lstsq", &t, &short]).failed("short.csv: rows: expected 4, found 3");
    run(&["lstsq", &t, &nan]).failed("nan.csv:2:1: ");
    run(&["lstsq", &t, &folder.path("none.npy")]).failed("none.npy: No such file");
    run(&["lstsq", &folder.path("none.npy"), &y]).failed("none.npy: No such file");
    run(&["lstsq", &t, &y, "--weights", &two]).failed("two.csv: columns: expected 1, found 2");
    run(&["lstsq", &t, &y, "--weights", &short]).failed("short.csv: rows: expected 4, found 3");
    run(&["lstsq", &t, &y, "--ridge=-1"]).failed("ridge: -1 must be finite and at least 0");
    run(&["lstsq", &t, &y, "--tol", "NaN"]).failed("tolerance: NaN must be finite");
    run(&["lstsq", &t, &y, "--method", "simplex"]).failed("invalid value 'simplex'");
    run(&["lstsq", &t, &y, "--batch", "8"]).failed("--batch: 8 is for --method minibatch and svrg");
    let save = ["--checkpoint", &folder.path("run.favard")];
    run(&[&["lstsq", &t, &two, "--method", "svrg"][..], &save].concat())
        .failed("two.csv: columns: 2 are more than the 1 of the matrix");
    run(&["lstsq", &t, &y, "--method", "svrg", "--batch", "0"]).failed("invalid value '0'");
    run(&["lstsq", &t]).failed("required arguments were not provided");
    run(&["lstsq", &t, &y, "-o", &format!("{t}/out")]).failed("t.csv/out: ");
}
