//! Matrices that stay in their files.

use std::fmt::Write as _;

use crate::support::{Folder, numbers, run};

/// 400 rows of 12 entries in 60 columns, as Matrix Market.
fn counts() -> String {
    let mut text = "%%MatrixMarket matrix coordinate integer general\n400 60 4800\n".to_string();
    for row in 0..400 {
        for k in 0..12 {
            let (col, value) = (5 * k + row % 5, 1 + (row * (k + 3)) % (40 / (k + 1)));
            let _ = writeln!(text, "{} {} {value}", row + 1, col + 1);
        }
    }
    text
}

/// Every command that works on a matrix gives the same where it stays in its file. Both are certified to
/// residuals of 1e-9 of the largest eigenvalue, so that values differ by twice that at most.
#[test]
fn commands_work_on_files() {
    let folder = Folder::new();
    let (text, stored) = (folder.file("a.mtx", counts()), folder.path("a.npz"));
    run(&["convert", &text, &stored, "--stored"]).met();
    let b = folder.file("b.csv", "0\n1\n2\n3\n".repeat(100));
    let [memory, disk] = ["memory", "disk"].map(|name| folder.path(name));
    for (command, key) in [("pca", "eigenvalues"), ("svd", "eigenvalues")] {
        let args = [command, "-k", "3", "--tol", "1e-9", "--solver", "krylov", "--json"];
        let wanted = run(&[&args, &["-o", &memory, &text][..]].concat()).met().json();
        let found = run(&[&args, &["-o", &disk, &stored, "--on-disk"][..]].concat()).met().json();
        assert_eq!((&found["shape"], &found["nnz"]), (&wanted["shape"], &wanted["nnz"]));
        assert_eq!(found["certified"], true);
        let (found, wanted) = (numbers(&found[key]), numbers(&wanted[key]));
        for (a, b) in found.iter().zip(&wanted) {
            assert!((a - b).abs() <= 2e-9 * wanted[0], "{command}: {a} for {b}");
        }
        assert!(folder.join("disk/scores.csv").exists());
    }
    let args = ["lstsq", &stored, &b, "--json"];
    let wanted = numbers(&run(&args).met().json()["residual_norms"]);
    let found = run(&[&args[..], &["--on-disk"]].concat()).met().json();
    // ‖r‖² is off by at most ‖A(x − x*)‖² ≤ 1e-16 ‖r‖² for certificates of 1e-8.
    let found = numbers(&found["residual_norms"]);
    assert!((found[0] - wanted[0]).abs() <= 1e-8 * wanted[0]);
    for args in [&["spectrum", &stored][..], &["plan", &stored], &["kaczmarz", &stored, &b]] {
        let ran = run(&[args, &["--on-disk", "--json"]].concat());
        assert!(matches!(ran.code, Some(0 | 2)), "{args:?}: {}", ran.err);
    }
}

/// The same bits after a resume.
#[test]
fn a_run_on_a_file_is_resumed() {
    let folder = Folder::new();
    let (text, stored) = (folder.file("a.mtx", counts()), folder.path("a.npz"));
    run(&["convert", &text, &stored, "--stored"]).met();
    let saved = folder.path("run.favard");
    let args = ["pca", &stored, "--on-disk", "-k", "1", "--solver", "momentum", "--tol", "1e-6"];
    let whole = run(&[&args[..], &["--json"]].concat()).met().json();
    let part = run(&[&args[..], &["--max-passes", "8", "--checkpoint", &saved]].concat());
    assert_eq!(part.code, Some(2), "{}", part.err);
    let rest = run(&[&args[..], &["--resume", &saved, "--json"]].concat()).met().json();
    assert_eq!(rest["eigenvalues"], whole["eigenvalues"]);
}

#[test]
fn what_cannot_stay_in_its_file_is_said() {
    let folder = Folder::new();
    let (text, packed) = (folder.file("a.mtx", counts()), folder.path("a.npz"));
    run(&["pca", "--on-disk"]).failed("--on-disk: the example is in no file");
    run(&["pca", &text, "--on-disk"]).failed("a.mtx: format of a matrix on disk: `MatrixMarket`");
    run(&["convert", &text, &packed]).met();
    run(&["pca", &packed, "--on-disk"]).failed("packing of a matrix on disk");
    run(&["convert", &text, &folder.path("a.csv"), "--stored"]).failed("only .npz can be packed");
    run(&["convert", &text, &packed, "--stored"]).met();
    run(&["pca", &packed, "--on-disk", "--memory", "1M"]).failed("parts of the matrix needs");
}
