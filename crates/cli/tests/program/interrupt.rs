//! SIGINT to a long run.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use crate::support::{Folder, favard};

/// The step is finished, the partial result written, and it is said how to go on.
#[test]
fn an_interrupted_run_writes_what_it_has() {
    let folder = Folder::new();
    let out = folder.path("out");
    // A tolerance of zero is never met.
    let args = ["pca", "-k", "2", "--solver", "power", "--tol", "0", "--max-passes", "100000000"];
    let mut child = favard(&[&args[..], &["-o", &out, "--json"]].concat())
        .env("RUST_LOG", "info")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("step") {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "it ended by itself");
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{rest}");
    assert!(rest.contains(&format!("run the same command with --start {out}")), "{rest}");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["stop"], &json["certified"]), (&"cancelled".into(), &false.into()));
    assert_eq!(folder.names("out").len(), 6);
}
