//! SIGINT to a long run.

use std::fmt::Write as _;

use std::process::{Command, Stdio};

use crate::support::{Folder, favard, interrupt};

/// The step is finished, the partial result written, and it is said how to go on.
#[test]
fn an_interrupted_run_writes_what_it_has() {
    let folder = Folder::new();
    let out = folder.path("out");
    // A tolerance of zero is never met.
    let args = ["pca", "-k", "2", "--solver", "power", "--tol", "0", "--max-passes", "100000000"];
    let ran = interrupt(&[&args[..], &["-o", &out, "--json"]].concat());
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains(&format!("run the same command with --start {out}")), "{}", ran.err);
    let json = ran.json();
    assert_eq!((&json["stop"], &json["certified"]), (&"cancelled".into(), &false.into()));
    assert_eq!(folder.names("out").len(), 6);
}

/// 400 equations in 60 unknowns whose columns are nearly alike, with noise: no method is done soon.
pub fn system(folder: &Folder) -> [String; 2] {
    let (mut a, mut b) = (String::new(), String::new());
    for i in 0..400_u32 {
        let row = (0..60_u32).map(|j| {
            let v = (i * 7919 + j * 104_729 + i * j * 31) % 1009;
            format!("{:.6}", 1.0 + f64::from(v) / 1009.0 / f64::from((j + 1) * (j + 1)))
        });
        let _ = writeln!(a, "{}", row.collect::<Vec<_>>().join(","));
        let _ = writeln!(b, "{}", f64::from(i * 613 % 1009) / 1009.0);
    }
    [folder.file("a.csv", a), folder.file("b.csv", b)]
}

/// 5760 of the 14400 entries of a matrix of full rank: no fit of rank 20 is done soon.
pub fn entries(folder: &Folder) -> String {
    let mut entries = String::new();
    for i in 0..120_u32 {
        for j in (0..120_u32).filter(|j| (i * 31 + j * 17) % 5 < 2) {
            let _ = writeln!(entries, "r{i},c{j},{}", f64::from((i * 37 + j * 91 + i * j) % 101));
        }
    }
    folder.file("entries.csv", entries)
}

/// The same for linear systems and completion.
#[test]
fn systems_and_completions_are_interrupted_alike() {
    let folder = Folder::new();
    let [a, b] = system(&folder);
    let entries = entries(&folder);
    let endless = "100000000";
    let runs: [(&[&str], &str, usize); 4] = [
        (
            &["lstsq", &a, &b, "--method", "heavy-ball", "--tol", "0", "--max-passes", endless],
            "this is the solution found so far",
            3,
        ),
        (
            &["kaczmarz", &a, &b, "--tol", "0", "--max-passes", endless],
            "this is the solution found so far",
            3,
        ),
        (
            &[
                "kaczmarz",
                &a,
                &b,
                "--batch",
                "8",
                "--inconsistent",
                "--tol",
                "0",
                "--max-passes",
                endless,
            ],
            "this is the solution found so far",
            3,
        ),
        (
            &["complete", &entries, "--rank", "20", "--tol", "0", "--max-steps", endless],
            "this is the matrix found so far",
            6,
        ),
    ];
    for (index, (args, words, files)) in runs.into_iter().enumerate() {
        let out = folder.path(&format!("out{index}"));
        let ran = interrupt(&[args, &["-o", &out, "--json"]].concat());
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{}", ran.err);
        assert_eq!(ran.json()["stop"], "cancelled", "{args:?}");
        assert_eq!(folder.names(&format!("out{index}")).len(), files);
    }
}

/// Ctrl-C in the middle of a conversion leaves the old file, and none that is half written.
#[test]
fn an_interrupted_conversion_leaves_nothing() {
    let folder = Folder::new();
    let banner = "%%MatrixMarket matrix coordinate real general";
    // 64 MB of text: the temporary file is seen long before the last of them is written.
    let table = folder.file("x.mtx", format!("{banner}\n4000 8000 1\n1 1 0.5\n"));
    let out = folder.file("x.csv", "old\n");
    let mut child = favard(&["convert", &table, &out]).stderr(Stdio::piped()).spawn().unwrap();
    while !folder.names(".").iter().any(|name| name.starts_with(".x.csv.")) {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "old\n");
    assert_eq!(folder.names(".").len(), 2, "{:?}", folder.names("."));
}
