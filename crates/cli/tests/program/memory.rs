//! The peak of a run's memory.

use std::fmt::Write as _;

use favard_models::Pca;

use crate::support::{Folder, run};

/// A run takes at most 1.5 times the matrix in CSR and what the fit states, beside what the program
/// takes for a matrix of nothing: its code, its threads and what faer sets up for each of them. From
/// a file by rows, one by columns (which is sorted) and through `-o`, `--report` and a
/// checkpoint.
#[test]
fn the_peak_is_the_matrix_and_the_fit() {
    const ROWS: u64 = 120_000;
    const COLS: u64 = 2_000;
    const EACH: u64 = 40;
    let folder = Folder::new();
    let tiny = folder.file("tiny.csv", "1,2\n3,4\n5,7\n");
    let peak = |args: &[&str]| {
        let more = ["--threads", "2", "--tol", "1e-3", "--json"];
        run(&[args, &more].concat()).json()["peak_memory_bytes"].as_u64().unwrap()
    };
    let base = peak(&["pca", &tiny, "-k", "1"]);
    let place = |row: u64, i: u64| (row * 7919 + i * 49) % COLS;
    let mut entries: Vec<(u64, u64)> =
        (0..ROWS).flat_map(|row| (0..EACH).map(move |i| (row, place(row, i)))).collect();
    let [by_rows, by_columns] = ["rows.mtx", "columns.mtx"].map(|name| {
        let mut text = "%%MatrixMarket matrix coordinate real general\n".to_string();
        let _ = writeln!(text, "{ROWS} {COLS} {}", entries.len());
        for (row, col) in &entries {
            let _ = writeln!(text, "{} {} {}.5", row + 1, col + 1, (row * col) % 7);
        }
        entries.sort_by_key(|&(row, col)| (col, row));
        folder.file(name, text)
    });
    let x = favard_io::read::<f64>(&by_rows).unwrap().matrix;
    let csr = x.bytes() as u64;
    let x = x.into_csr().unwrap();
    let out = folder.path("out");
    for k in [2, 10] {
        let stated = Pca::new(k).memory(&x).unwrap() as u64;
        let most = csr + csr / 2 + stated + base;
        let k = k.to_string();
        for args in [
            &["pca", &by_rows, "-k", &k][..],
            &["pca", &by_columns, "-k", &k],
            &["pca", &by_rows, "-k", &k, "-o", &out, "--report", &folder.path("page.html")],
        ] {
            let peak = peak(args);
            assert!(peak <= most, "{args:?}: {peak} > 1.5 · {csr} + {stated} + {base}");
        }
    }
}
