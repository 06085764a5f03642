//! `favard reproduce`. The seed is fixed and results do not depend on the number of threads: what
//! passes once keeps passing.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Folder, favard, run};

const NAMES: [&str; 8] =
    ["table1", "fig1a", "fig1b", "fig1c", "regions", "stability", "bestball", "inhomogeneous"];
/// Claims that are known to be wrong as printed, by the number of their erratum.
const ERRATA: [&str; 11] =
    ["1.1", "2.4", "3.8", "4.10", "3.11", "1.3", "1.2", "4.4, 4.10", "4.4", "4.9", "4.5"];

/// Every claim holds, or holds in corrected form where an erratum says so; the page and the data
/// are there.
#[test]
fn all_of_it_quickly() {
    let folder = Folder::new();
    let out = folder.path("out");
    let json = run(&["reproduce", "--quick", "-o", &out, "--json"]).met().json();
    assert_eq!((&json["quick"], &json["complete"]), (&true.into(), &true.into()));
    let experiments = json["experiments"].as_array().unwrap();
    let names: Vec<&str> = experiments.iter().map(|e| e["name"].as_str().unwrap()).collect();
    assert_eq!(names, NAMES);
    let page = std::fs::read_to_string(folder.join("out/index.html")).unwrap();
    let mut corrected = Vec::new();
    for claim in experiments.iter().flat_map(|e| e["claims"].as_array().unwrap()) {
        match claim["verdict"].as_str().unwrap() {
            "holds" => assert_eq!(claim["printed"]["met"], true),
            "holds in corrected form" => {
                assert_eq!(claim["printed"]["met"], false);
                assert_eq!(claim["corrected"]["check"]["met"], true);
                corrected.push(claim["corrected"]["erratum"].as_str().unwrap());
            }
            _ => panic!("{claim}"),
        }
    }
    assert_eq!(corrected, ERRATA);
    for file in experiments.iter().flat_map(|e| e["files"].as_array().unwrap()) {
        let file = file.as_str().unwrap();
        let table = run(&["info", &folder.path(&format!("out/{file}"))]).met().out;
        assert!(table.contains("Csv"), "{table}");
        assert!(page.contains(file), "{file}");
    }
    // A plot for each figure and more, nothing from the network.
    assert!(page.matches("<svg").count() >= NAMES.len());
    for part in ["src=", "href=", "url(", "@import", "<script"] {
        assert!(!page.contains(part), "{part}");
    }
    let written: Value =
        serde_json::from_slice(&std::fs::read(folder.join("out/claims.json")).unwrap()).unwrap();
    assert_eq!(written, json);
}

/// The same bits with one thread and with two.
#[test]
fn threads_do_not_matter() {
    let folder = Folder::new();
    let read = |threads: &str| {
        let out = folder.path(threads);
        run(&["reproduce", "regions", "--quick", "-o", &out, "--threads", threads]).met();
        run(&["reproduce", "inhomogeneous", "--quick", "-o", &out, "--threads", threads]).met();
        ["regions.csv", "inhomogeneous.csv"]
            .map(|file| std::fs::read(folder.join(&format!("{threads}/{file}"))).unwrap())
    };
    assert!(read("1") == read("2"));
}

/// Ctrl-C: what is finished is written, the exit code is 2.
#[test]
#[cfg(target_os = "linux")]
fn an_interruption_keeps_what_is_finished() {
    let folder = Folder::new();
    let out = folder.path("out");
    let mut child = favard(&["reproduce", "-o", &out, "--json"])
        .env("RUST_LOG", "info")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("table1: ") {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "it ended by itself");
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{rest}");
    assert!(rest.contains("interrupted; what was finished is written"), "{rest}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["complete"], &json["experiments"]), (&false.into(), &Value::Array(vec![])));
    assert_eq!(folder.names("out"), ["claims.json", "index.html"]);
}

#[test]
fn bad_input() {
    let folder = Folder::new();
    let file = folder.file("file", "");
    run(&["reproduce", "fig9", "-o", &file]).failed("invalid value 'fig9'");
    run(&["reproduce", "regions"]).failed("required arguments were not provided");
    run(&["reproduce", "regions", "-o", &format!("{file}/out")]).failed("file/out: ");
}
