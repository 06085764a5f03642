//! What is written can be read again, and is there whole or not at all.

use std::fs;
use std::io;

use favard_io::{
    ErrorKind, Table, read, write_atomic, write_csv, write_json, write_mtx, write_npy, write_npz,
    write_tsv,
};
use favard_operator::Csr;
use ndarray::{Array2, array};

use crate::support::{data, dense, load, sample};

fn matrix() -> Csr<'static, f64> {
    load("a.mtx", data!("coordinate.mtx")).unwrap().matrix.into_csr().unwrap()
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn numbers_survive_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let hard =
        [5e-324, f64::MAX, f64::MIN_POSITIVE, 0.1, 1.0 / 3.0, -1e16, 9_007_199_254_740_993.0, -0.0];
    let array = Array2::from_shape_vec((2, 4), hard.to_vec()).unwrap();
    let path = |name: &str| folder.path().join(name);
    let rows = strings(&["", " a\"b ,c\t"]);
    let cols = strings(&["1", "é", "x", ""]);
    let table = Table::new(array.view()).row_names(Some(&rows)).column_names(Some(&cols));
    write_csv(path("a.csv"), &table).unwrap();
    write_tsv(path("a.tsv"), &table).unwrap();
    write_npy(path("a.npy"), array.view()).unwrap();
    write_npy(path("t.npy"), array.t()).unwrap();
    for name in ["a.csv", "a.tsv", "a.npy"] {
        let loaded = read::<f64>(path(name)).unwrap();
        if name != "a.npy" {
            assert_eq!(loaded.row_names.as_deref(), Some(&rows[..]), "{name}");
            assert_eq!(loaded.column_names.as_deref(), Some(&cols[..]), "{name}");
        }
        let back = dense(loaded);
        assert!(back.iter().zip(&array).all(|(a, b)| a.to_bits() == b.to_bits()), "{name}: {back}");
    }
    assert_eq!(dense(read(path("t.npy")).unwrap()), array.t());
    write_mtx(path("a.mtx"), &matrix()).unwrap();
    write_npz(path("a.npz"), &matrix()).unwrap();
    for name in ["a.mtx", "a.npz"] {
        assert_eq!(dense(read(path(name)).unwrap()), sample(), "{name}");
    }
    let narrow = Csr::new((1, 2), vec![0, 2], vec![0, 1], vec![0.1_f32, 16_777_217.0]).unwrap();
    write_mtx(path("n.mtx"), &narrow).unwrap();
    write_npz(path("n.npz"), &narrow).unwrap();
    for name in ["n.mtx", "n.npz"] {
        let back = read::<f32>(path(name)).unwrap().matrix.into_csr().unwrap();
        assert_eq!(back.values(), narrow.values());
    }
    write_json(path("a.json"), &serde_json::json!({ "values": hard })).unwrap();
    let text = fs::read_to_string(path("a.json")).unwrap();
    let back: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(back, serde_json::json!({ "values": hard }));
    assert!(text.ends_with("}\n"), "{text}");
    // Nothing else is left in the folder.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 9);
}

#[test]
fn a_failed_write_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    fs::write(&path, "old").unwrap();
    let error = write_atomic(&path, |to| -> io::Result<()> {
        to.write_all(&vec![b'x'; 1 << 20])?;
        Err(io::ErrorKind::StorageFull.into())
    })
    .unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io(e) if e.kind() == io::ErrorKind::StorageFull));
    assert_eq!(error.path(), path);
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let not_finite = write_csv(&path, &Table::new(array![[f64::NAN]].view())).unwrap_err();
    assert!(not_finite.to_string().ends_with("value NaN is not finite"));
    let rows = strings(&["a\nb"]);
    assert!(write_csv(&path, &Table::new(array![[1.0]].view()).row_names(Some(&rows))).is_err());
    let error = write_csv(&path, &Table::new(array![[1.0], [2.0]].view()).row_names(Some(&rows)));
    assert!(error.unwrap_err().to_string().ends_with("row names: expected 2, found 1"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert!(matches!(
        write_npy(folder.path(), array![[1.0]].view()).unwrap_err().kind(),
        ErrorKind::Directory
    ));
    assert!(write_npy(folder.path().join("no/such.npy"), array![[1.0]].view()).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    // A device that is always full.
    let error = write_npy("/dev/full", array![[1.0]].view()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io(e) if e.kind() == io::ErrorKind::StorageFull));
}

/// The system itself refuses to let the file grow: this test runs again as a process of its own
/// under a limit of 512 KiB for a file.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_grow_is_removed() {
    const FOLDER: &str = "FAVARD_IO_LIMITED";
    if let Some(folder) = std::env::var_os(FOLDER) {
        let path = std::path::Path::new(&folder).join("a.npy");
        let error = write_npy(&path, Array2::<f64>::zeros((1000, 1000)).view()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Io(_)), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.npy"), "old").unwrap();
    let status = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 1024; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "write::a_file_that_cannot_grow_is_removed", "--nocapture"])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(status.status.success() && text.contains("1 passed"), "{text}");
}

/// Texts of many pieces, whose ends fall within rows and between empty ones.
#[test]
fn long_texts_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (rows, cols) in [(3, 40_001), (40_001, 3), (70_000, 1), (4, 0)] {
        let array = Array2::from_shape_fn((rows, cols), |(i, j)| (i * cols + j) as f64 / 7.0);
        let names: Vec<String> = (0..rows).map(|i| format!("r{i}")).collect();
        write_csv(path("a.csv"), &Table::new(array.view()).row_names(Some(&names))).unwrap();
        let text = fs::read_to_string(path("a.csv")).unwrap();
        let mut lines = text.lines();
        for (name, row) in names.iter().zip(array.rows()) {
            let mut fields = lines.next().unwrap().split(',');
            assert_eq!(fields.next(), Some(&name[..]));
            let numbers = fields.filter(|field| !field.is_empty());
            assert!(numbers.map(|field| field.parse::<f64>().unwrap()).eq(row.iter().copied()));
        }
        assert_eq!(lines.next(), None);
    }
    let mut pointers = vec![0];
    for i in 0..1000_usize {
        pointers.push(pointers[i] + if i % 3 == 0 { 0 } else { i });
    }
    let columns: Vec<u32> = (0..1000_u32).filter(|i| i % 3 != 0).flat_map(|i| 0..i).collect();
    let values: Vec<f64> = (0..columns.len()).map(|i| 1.0 + i as f64 / 3.0).collect();
    let long = Csr::new((1000, 1000), pointers, columns, values).unwrap();
    write_mtx(path("a.mtx"), &long).unwrap();
    let back = read::<f64>(path("a.mtx")).unwrap().matrix.into_csr().unwrap();
    assert_eq!(back.pointers(), long.pointers());
    assert_eq!((back.columns(), back.values()), (long.columns(), long.values()));
}
