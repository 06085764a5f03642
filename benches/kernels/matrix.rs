//! The matrix and the blocks that are multiplied.

use favard_operator::{Block, Csr, Result, Scalar, prefer_large_pages};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::options::Options;

/// Uniformly random columns: the worst case for a cache, since no column is more frequent than
/// another.
pub fn random<T: Scalar>(options: &Options) -> Result<Csr<'static, T>> {
    let &Options { rows, cols, per_row, .. } = options;
    let bound = u32::try_from(cols).unwrap_or(u32::MAX);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut columns, mut row) = (Vec::with_capacity(rows * per_row), Vec::new());
    // As NumPy's memory is, and that of files that favard reads.
    prefer_large_pages(&mut columns);
    for _ in 0..rows {
        row.clear();
        while row.len() < per_row {
            row.extend((row.len()..per_row).map(|_| rng.random_range(0..bound)));
            row.sort_unstable();
            row.dedup();
        }
        columns.extend_from_slice(&row);
    }
    let mut values = Vec::with_capacity(columns.len());
    prefer_large_pages(&mut values);
    values.extend(columns.iter().map(|_| T::of(rng.random_range(-1.0_f64..1.0))));
    let pointers: Vec<usize> = (0..=rows).map(|i| i * per_row).collect();
    Csr::new((rows, cols), pointers, columns, values)
}

/// A block whose entries the scipy worker computes as well.
pub fn block<T: Scalar>(rows: usize, cols: usize) -> Block<T> {
    // ((7919 (i k + j)) mod 1009) / 1009 − 1/2
    Block::from_fn(rows, cols, |i, j| T::of(((i * cols + j) * 7919 % 1009) as f64 / 1009.0 - 0.5))
}
