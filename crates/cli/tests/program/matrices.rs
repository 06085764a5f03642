//! `favard info` and `favard convert`.

use crate::support::{Folder, run};

const MTX: &str = "%%MatrixMarket matrix coordinate real general\n3 4 2\n1 2 0.5\n3 4 -1\n";

/// `info` tells the header: 2 entries of 12 bytes, 4 row pointers of 8.
#[test]
fn info_tells_shape_entries_and_memory() {
    let folder = Folder::new();
    let path = folder.file("a.mtx", MTX);
    let text = run(&["info", &path]).met().out;
    assert!(text.contains("3 × 4") && text.contains("memory   56 bytes"), "{text}");
    let json = run(&["info", &path, "--json"]).met().json();
    let found = ["rows", "cols", "entries", "memory_bytes"].map(|key| json[key].as_u64());
    assert_eq!(found, [Some(3), Some(4), Some(2), Some(56)]);
    assert_eq!((&json["layout"], &json["format"]), (&"sparse".into(), &"matrixmarket".into()));
}

/// There and back through every format that is written: the same matrix.
#[test]
fn convert_keeps_the_numbers() {
    let folder = Folder::new();
    let mut from = folder.file("a.mtx", MTX);
    for name in ["b.npz", "c.npy", "d.csv", "e.tsv", "f.mtx"] {
        let to = folder.path(name);
        run(&["convert", &from, &to]).met();
        from = to;
    }
    let text = std::fs::read_to_string(from).unwrap();
    let lines: Vec<&str> = text.lines().skip(1).filter(|line| !line.starts_with('%')).collect();
    assert_eq!(lines, ["3 4 2", "1 2 0.5", "3 4 -1"]);
}

/// Names go from table to table; where they cannot go, that is said.
#[test]
fn convert_keeps_names_where_they_can_be() {
    let folder = Folder::new();
    let (table, tsv) = (folder.table(), folder.path("t.tsv"));
    run(&["convert", &table, &tsv]).met();
    let text = std::fs::read_to_string(&tsv).unwrap();
    assert!(text.starts_with("\talpha\tbe,ta\tgamma\nrow 0\t0\t0\t0\n"), "{text}");
    let ran = run(&["convert", &table, &folder.path("t.npz")]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.err.contains("names; they are left out"), "{}", ran.err);
}

/// A format that is not written, and a dense file of 10¹⁰ zeros.
#[test]
fn convert_refuses() {
    let folder = Folder::new();
    let path = folder.file("a.mtx", MTX);
    run(&["convert", &path, &folder.path("a.xlsx")]).failed("`xlsx` is none of mtx, npz");
    let head = "%%MatrixMarket matrix coordinate real general\n100000 100000 1\n1 1 1\n";
    let path = folder.file("wide.mtx", head);
    run(&["convert", &path, &folder.path("wide.csv")]).failed("10000000000 numbers");
    assert_eq!(folder.names("."), ["a.mtx", "wide.mtx"]);
}
