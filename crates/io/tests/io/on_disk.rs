//! Matrices that stay in their files.

use std::path::Path;

use favard_io::{OnDisk, Result, write_npz, write_npz_stored};
use favard_operator::{
    AdjointOperator, Between, Block, ColumnMoments, Csr, LinearOperator, Moments, RowOperator,
    WeightedMoments, Workspace,
};

use crate::support::data;
#[cfg(feature = "h5ad")]
use crate::support::{gunzip, sample};

const ROWS: usize = 3000;
const COLS: usize = 70;

/// Up to 9 entries a row, some rows without any.
fn matrix() -> Csr<'static, f64> {
    let (mut pointers, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..ROWS {
        for k in 0..row % 10 {
            #[allow(clippy::cast_possible_truncation)]
            columns.push((7 * k + row % 7) as u32);
            values.push(((row * 31 + k * 17) % 101) as f64 / 16.0 - 3.0);
        }
        pointers.push(columns.len());
    }
    Csr::new((ROWS, COLS), pointers, columns, values).unwrap()
}

/// Largest difference of two lists, in units of rounding of sums of so many numbers of the size of the
/// largest.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let size = b.iter().fold(0.0_f64, |size, b| size.max(b.abs()));
    let gap = a.iter().zip(b).fold(0.0_f64, |gap, (a, b)| gap.max((a - b).abs()));
    assert_eq!(a.len(), b.len());
    gap / (size * ROWS as f64 * f64::EPSILON)
}

/// The operators are checked by the laws (tests/laws); here that a wrapper's product, which the laws do
/// not know, and the moments are those of the matrix in memory, and have the same bits on any number of
/// threads.
#[test]
fn products_and_moments_are_those_of_the_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let a = matrix();
    write_npz_stored(&path, &a).unwrap();
    let weights: Vec<f64> = (0..ROWS).map(|i| (i % 4) as f64).collect();
    let (x, offset) = (Block::<f64>::gaussian(COLS, 3, 1), [0.5, -1.0, 2.0]);
    let normal = |op: &dyn AdjointOperator<f64>| {
        let (mut y, mut sums) = (Block::gaussian(COLS, 3, 2), [0.0; 3]);
        let between =
            Between { weights: Some(&weights), offset: Some(&offset), sums: Some(&mut sums) };
        op.apply_normal(0.5, x.as_ref(), between, -1.0, y.as_mut(), &mut Workspace::new()).unwrap();
        let mut all = y.as_ref().data().to_vec();
        all.extend(sums);
        all
    };
    let list = |moments: &Moments| [&moments.mean[..], &moments.squares].concat();
    let wanted = normal(&a);
    for entries in [1, 1000, 1 << 20] {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let stored = OnDisk::<f64>::open(&path).unwrap().with_part_entries(entries);
                assert_eq!((stored.shape(), stored.entries()), (a.shape(), a.entries()));
                let plain = stored.column_moments().unwrap();
                let weighted = stored.weighted_moments(&weights).unwrap();
                assert_eq!((plain.count, weighted.count), (ROWS, ROWS));
                let squares = stored.column_squares().unwrap();
                [normal(&stored), list(&plain), list(&weighted), squares]
            })
        };
        let found = run(1);
        assert_eq!(found, run(2));
        assert_eq!(found, run(4));
        let exact = [
            wanted.clone(),
            list(&a.column_moments().unwrap()),
            list(&a.weighted_moments(&weights).unwrap()),
            a.column_squares().unwrap(),
        ];
        // A sum of n numbers is off by at most n ε of the sum of their sizes; those here are some tens
        // of times the results.
        for (found, exact) in found.iter().zip(&exact) {
            assert!(apart(found, exact) <= 64.0, "{entries}: {}", apart(found, exact));
        }
    }
}

/// Single precision in the file, 64-bit indices, a file of SciPy's: as they are read into memory.
#[test]
fn files_of_other_tools_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let a = Csr::new((2, 3), vec![0, 1, 3], vec![2, 0, 1], vec![0.1_f32, 2.0, -3.0]).unwrap();
    write_npz_stored(&path, &a).unwrap();
    let stored = OnDisk::<f64>::open(&path).unwrap();
    assert_eq!(stored.entry(0, 2).to_bits(), f64::from(0.1_f32).to_bits());
    assert_eq!(stored.row_norm_squared(1).to_bits(), 13_f64.to_bits());
    assert_eq!(stored.path(), path);
    // As `scipy.sparse.save_npz` writes it, which packs unless told not to.
    std::fs::write(&path, data!("csr.npz")).unwrap();
    let message = OnDisk::<f64>::open(&path).unwrap_err().to_string();
    assert!(message.contains("compressed=False"), "{message}");
}

#[cfg(feature = "h5ad")]
#[test]
fn anndata_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.h5ad");
    std::fs::write(&path, gunzip(data!("csr.h5ad.gz"))).unwrap();
    let loaded = favard_io::read::<f64>(&path).unwrap();
    let stored = OnDisk::<f64>::open(&path).unwrap().with_part_entries(2);
    assert_eq!(stored.row_names, loaded.row_names);
    assert_eq!(stored.column_names, loaded.column_names);
    let dense = stored.to_block().unwrap();
    assert_eq!(dense.view().to_owned(), sample());
    for (name, found) in [("csc_gzip", "csc_matrix"), ("dense", "dense")] {
        let bytes: &[u8] =
            if name == "dense" { data!("dense.h5ad.gz") } else { data!("csc_gzip.h5ad.gz") };
        std::fs::write(&path, gunzip(bytes)).unwrap();
        let message = OnDisk::<f64>::open(&path).unwrap_err().to_string();
        assert!(message.contains(found) && message.contains("on disk"), "{message}");
    }
}

fn product(path: &Path) -> Result<OnDisk<f64>, String> {
    let stored = OnDisk::<f64>::open(path).map_err(|error| error.to_string())?;
    let x = Block::gaussian(stored.shape().1, 2, 1);
    stored.multiply(x.as_ref()).map_err(|error| error.to_string())?;
    Ok(stored)
}

/// Whatever is wrong with the file is an error that names it, when it is opened or when it is read.
#[test]
fn bad_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let fails = |bytes: &[u8], part: &str| {
        std::fs::write(&path, bytes).unwrap();
        let message = product(&path).unwrap_err();
        assert!(message.contains("a.npz") && message.contains(part), "{message}");
    };
    let a = matrix();
    write_npz(&path, &a).unwrap();
    fails(&std::fs::read(&path).unwrap(), "packing");
    fails(data!("csc.npz"), "Csc");
    fails(data!("coo.npz"), "Coo");
    let text = folder.path().join("a.mtx");
    std::fs::write(&text, "%%MatrixMarket matrix coordinate real general\n1 1 0\n").unwrap();
    assert!(product(&text).unwrap_err().contains("MatrixMarket` is not supported"));
    fails(b"PK", "");
    write_npz_stored(&path, &a).unwrap();
    let good = std::fs::read(&path).unwrap();
    // Every byte of the head, and some of the rest, changed: an error, or a matrix after all.
    for at in (0..200).chain((200..good.len()).step_by(997)) {
        let mut bytes = good.clone();
        bytes[at] ^= 0x81;
        std::fs::write(&path, &bytes).unwrap();
        let _ = product(&path);
    }
    // The first column of row 2 becomes the second: they no longer increase.
    std::fs::write(&path, &good).unwrap();
    let first = good.windows(12).position(|w| w == [1, 0, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0]).unwrap();
    let mut bytes = good.clone();
    bytes[first + 4] = 9;
    fails(&bytes, "sparse row 2: column 9 follows column 9");
    bytes[first + 4] = 200;
    fails(&bytes, "column index: expected 0..=69, found 200");
}

/// A file that changes after it was opened fails the product, which leaves the operator usable.
#[test]
fn a_file_that_is_cut_fails_the_product() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    write_npz_stored(&path, &matrix()).unwrap();
    let good = std::fs::read(&path).unwrap();
    let stored = product(&path).unwrap();
    // In place: another file would not be the one that is open.
    std::fs::write(&path, &good[..good.len() / 2]).unwrap();
    let x = Block::<f64>::gaussian(COLS, 1, 1);
    assert!(stored.multiply(x.as_ref()).unwrap_err().to_string().contains("data.npy"));
    assert!(stored.row_norm_squared(ROWS - 1).is_nan());
    std::fs::write(&path, &good).unwrap();
    assert!(stored.multiply(x.as_ref()).is_ok());
}
