//! `favard kaczmarz`.

use std::fmt::Write as _;

use crate::support::{Folder, run};

/// 200 equations in five unknowns that x = (1, −2, 3, 0, 1) solves, up to `noise`.
fn system(folder: &Folder, noise: f64) -> [String; 2] {
    let (mut a, mut b) = (String::new(), String::new());
    let mut state = 1_u64;
    let mut uniform = || {
        // Knuth's congruential generator: the top bits are good enough for a matrix.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 23) - 1.0
    };
    for _ in 0..200 {
        let row: Vec<f64> = (0..5).map(|_| uniform()).collect();
        let product: f64 = row.iter().zip([1.0, -2.0, 3.0, 0.0, 1.0]).map(|(a, x)| a * x).sum();
        let words: Vec<String> = row.iter().map(ToString::to_string).collect();
        let _ = writeln!(a, "{}", words.join(","));
        let _ = writeln!(b, "{}", product + noise * uniform());
    }
    [folder.file("a.csv", a), folder.file("b.csv", b)]
}

/// Rows, batches and blocks find the solution and say how many rows they read.
#[test]
fn a_consistent_system() {
    let folder = Folder::new();
    let [a, b] = system(&folder, 0.0);
    let out = folder.path("out");
    for more in [&[][..], &["--batch", "16"], &["--batch", "5", "--blocks"], &["--momentum", "0"]] {
        let args = [&["kaczmarz", &a, &b, "-o", &out, "--json"], more].concat();
        let json = run(&args).met().json();
        assert!(json["rows_read"].as_f64().unwrap() > 0.0 && json["certified"] == true);
        let found = std::fs::read_to_string(folder.join("out/solution.csv")).unwrap();
        let values = found.lines().skip(1).map(|l| l.split_once(',').unwrap().1);
        // ‖r‖ ≤ 1e-8 ‖b‖, ‖b‖ < 60 and σ_min > 5 for 200 rows of variance 1/3.
        for (value, exact) in values.zip([1.0, -2.0, 3.0, 0.0, 1.0]) {
            assert!((value.parse::<f64>().unwrap() - exact).abs() < 1e-6, "{found}");
        }
    }
    let text = run(&["kaczmarz", &a, &b, "--batch", "16"]).met().out;
    assert!(text.contains("rows read, 16 a step, of 200") && text.contains("momentum"), "{text}");
}

/// Without a solution the consistent method is not met and says what to do; SVRG is.
#[test]
fn an_inconsistent_system() {
    let folder = Folder::new();
    let [a, b] = system(&folder, 0.1);
    let ran = run(&["kaczmarz", &a, &b, "--batch", "16", "--max-passes", "200"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.out.contains("NOT certified"), "{}", ran.out);
    let args = ["kaczmarz", &a, &b, "--batch", "32", "--inconsistent", "--tol", "1e-6", "--json"];
    let json = run(&args).met().json();
    assert_eq!(json["inconsistent"], true);
    // The noise is uniform on ±0.1 and stays in the residual: about 200 · 0.1²/3.
    let left = json["residual_norms"][0].as_f64().unwrap();
    assert!(left > 0.5 && left < 1.2, "{left}");
}

/// Equations whose right-hand side is zero say nothing to a start at zero; a run that draws one of them
/// first once ended there ("breakdown").
#[test]
fn zeros_on_the_right_are_no_end() {
    let folder = Folder::new();
    let a = folder.file("a.csv", "1,0\n0,2\n1,1\n2,-1\n");
    // x = (1, 2)
    let b = folder.file("b.csv", "1\n4\n3\n0\n");
    let zero = folder.file("zero.csv", "0\n0\n0\n0\n");
    for seed in ["1", "2", "3", "4"] {
        for more in [&["--batch", "1"][..], &["--batch", "2"], &["--batch", "2", "--blocks"]] {
            let args = [&["kaczmarz", &a, &b, "--seed", seed, "--json"], more].concat();
            assert_eq!(run(&args).met().json()["stop"], "converged");
            let args = [&["kaczmarz", &a, &zero, "--seed", seed, "--json"], more].concat();
            assert_eq!(run(&args).met().json()["certified"], true);
        }
    }
}

/// Momentum that diverges in mean square is refused, with the batch from which it would not.
#[test]
fn refusals() {
    let folder = Folder::new();
    let [a, b] = system(&folder, 0.0);
    let with = |more: &[&str]| run(&[&["kaczmarz", &a, &b], more].concat());
    let given = ["--step", "1", "--momentum", "0.9"];
    with(&given).failed("batches of 1: the noise gain");
    with(&given).failed("they converge from batches of");
    with(&["--momentum", "0.5"]).failed("--momentum: 0.5 without --step");
    with(&["--step", "1"]).failed("required arguments were not provided");
    with(&["--blocks", "--inconsistent"]).failed("cannot be used with");
    with(&["--batch", "0"]).failed("'--batch <S>'");
    with(&["--tol", "inf"]).failed("tolerance: inf must be finite");
    run(&["kaczmarz", &a, &a, "--batch", "x"]).failed("invalid value 'x'");
    let short = folder.file("short.csv", "1\n2\n");
    run(&["kaczmarz", &a, &short]).failed("short.csv: rows: expected 200, found 2");
}
