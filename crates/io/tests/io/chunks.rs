//! AnnData files of many chunks, which all threads read.

use favard_io::{OnDisk, Result};
use favard_operator::{AdjointOperator, Block, Csr, LinearOperator};
use hdf5_pure::{AttrValue, FileBuilder};

use crate::support::load;

const ROWS: usize = 61_003;
const COLS: usize = 1_000;

/// Up to nine entries a row: more than is read at a time.
struct Lists {
    pointers: Vec<i64>,
    columns: Vec<i32>,
    values: Vec<f64>,
}

impl Lists {
    fn new() -> Self {
        let (mut pointers, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in 0..ROWS {
            for k in 0..row % 10 {
                columns.push(i32::try_from(97 * k + row % 89).unwrap());
                values.push(((row * 31 + k * 17) % 101) as f64 / 16.0 - 3.0);
            }
            pointers.push(i64::try_from(columns.len()).unwrap());
        }
        Self { pointers, columns, values }
    }

    /// The file, with packed chunks of so many indices and values; 0 for none.
    fn file(&self, form: &str, shape: [usize; 2], chunks: [u64; 2]) -> Vec<u8> {
        let mut file = FileBuilder::new();
        let mut x = file.create_group("X");
        x.set_attr("encoding-type", AttrValue::String(form.to_owned()));
        let shape = shape.map(|size| i64::try_from(size).unwrap());
        x.set_attr("shape", AttrValue::I64Array(shape.to_vec()));
        x.create_dataset("indptr").with_i64_data(&self.pointers);
        let indices = x.create_dataset("indices").with_i32_data(&self.columns);
        if chunks[0] > 0 {
            indices.with_chunks(&[chunks[0]]).with_deflate(1);
        }
        let data = x.create_dataset("data").with_f64_data(&self.values);
        if chunks[1] > 0 {
            data.with_chunks(&[chunks[1]]).with_deflate(1);
        }
        file.add_group(x.finish());
        file.finish().unwrap()
    }

    fn matrix(&self) -> Csr<'static, f64> {
        let pointers: Vec<usize> =
            self.pointers.iter().map(|&p| usize::try_from(p).unwrap()).collect();
        let columns: Vec<u32> = self.columns.iter().map(|&c| u32::try_from(c).unwrap()).collect();
        Csr::new((ROWS, COLS), pointers, columns, self.values.clone()).unwrap()
    }
}

/// Smaller than a window, no divisor of one, larger than one, larger than all that is read at a time,
/// unlike for indices and values, and none.
const CHUNKS: [[u64; 2]; 5] =
    [[1000, 1000], [7001, 4096], [50_000, 50_000], [270_000, 900], [0, 0]];

#[test]
fn chunks_of_any_size_are_read() -> Result<()> {
    let lists = Lists::new();
    let wanted = lists.matrix();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.h5ad");
    let x = Block::<f64>::gaussian(COLS, 2, 1);
    let product = wanted.multiply(x.as_ref()).unwrap();
    for chunks in CHUNKS {
        let file = lists.file("csr_matrix", [ROWS, COLS], chunks);
        let found = load("a.h5ad", &file)?.matrix.into_csr().unwrap();
        assert_eq!(found.columns(), wanted.columns(), "{chunks:?}");
        assert_eq!(found.values(), wanted.values(), "{chunks:?}");
        // Parts that begin inside of chunks and windows.
        std::fs::write(&path, file).unwrap();
        let stored = OnDisk::<f64>::open(&path)?.with_part_entries(100_000);
        assert_eq!(stored.multiply(x.as_ref()).unwrap(), product, "{chunks:?}");
        // The same lists by columns are the transpose: row c of it has the rows with column c.
        let file = lists.file("csc_matrix", [COLS, ROWS], chunks);
        let found = load("a.h5ad", &file)?.matrix.into_csr().unwrap();
        assert_eq!((found.shape(), found.entries()), ((COLS, ROWS), wanted.entries()));
        let turned = found.multiply_adjoint(x.as_ref()).unwrap();
        assert_eq!(turned.shape(), product.shape());
        // Sums of at most nine products of each row, in another order: n ε Σ|a||x| at most.
        let largest = (0..COLS).flat_map(|i| x.row(i)).fold(0.0_f64, |m, v| m.max(v.abs()));
        let size = 9.0 * 4.0 * largest;
        for row in 0..ROWS {
            for (a, b) in turned.row(row).iter().zip(product.row(row)) {
                assert!((a - b).abs() <= 9.0 * f64::EPSILON * size, "{chunks:?}, row {row}");
            }
        }
    }
    Ok(())
}

/// What is wrong far inside is found, whichever thread reads it.
#[test]
fn faults_are_found_in_any_chunk() {
    for at in [0, 40_000, 200_000] {
        let mut lists = Lists::new();
        lists.columns[at] = -1;
        let error = load("a.h5ad", &lists.file("csr_matrix", [ROWS, COLS], [7001, 4096]));
        let message = error.unwrap_err().to_string();
        assert!(message.contains("indices") && message.contains("found -1"), "{message}");
        let mut lists = Lists::new();
        lists.values[at] = f64::NAN;
        let error = load("a.h5ad", &lists.file("csr_matrix", [ROWS, COLS], [7001, 4096]));
        let message = error.unwrap_err().to_string();
        assert!(message.contains("data") && message.contains("NaN"), "{message}");
    }
}
