//! Random problems with known answers.

use favard_models::MatrixCompletion;
use favard_operator::{Block, Csr, Orthonormalizer, Scalar, Workspace};

/// An orthonormal block.
pub fn orthonormal<T: Scalar>(rows: usize, cols: usize, seed: u64) -> Block<T> {
    let mut block = Block::gaussian(rows, cols, seed);
    Orthonormalizer::new(cols)
        .orthonormalize(&mut [&mut block], &mut Workspace::new())
        .expect("a tall block");
    block
}

/// U diag(s) Vᵀ with random orthonormal U and V.
pub fn low_rank<T: Scalar>(rows: usize, cols: usize, s: &[f64], seed: u64) -> Block<T> {
    let u = orthonormal::<T>(rows, s.len(), seed);
    let v = orthonormal::<T>(cols, s.len(), seed + 1);
    let entry = |i: usize, j: usize, c: usize| u.row(i)[c] * T::of(s[c]) * v.row(j)[c];
    Block::from_fn(rows, cols, |i, j| (0..s.len()).map(|c| entry(i, j, c)).sum())
}

/// Q diag(λ) Qᵀ with a random orthonormal Q, and Q.
pub fn symmetric(dim: usize, values: &[f64], seed: u64) -> (Block<f64>, Block<f64>) {
    let q = orthonormal::<f64>(dim, values.len(), seed);
    let entry = |i: usize, j: usize, c: usize| q.row(i)[c] * values[c] * q.row(j)[c];
    let of = |i: usize, j: usize| (0..values.len()).map(|c| entry(i, j, c)).sum();
    // The same bits on both sides of the diagonal.
    (Block::from_fn(dim, dim, |i, j| of(i.min(j), i.max(j))), q)
}

/// The entries of a matrix at a random half, third, … of the positions that `keep` allows: those
/// where a standard normal number is below `level`.
pub fn sample<T: Scalar>(
    matrix: &Block<T>,
    level: f64,
    seed: u64,
    keep: impl Fn(usize, usize) -> bool,
) -> Csr<'static, T> {
    let (rows, cols) = matrix.shape();
    let coin = Block::<f64>::gaussian(rows, cols, seed);
    let all = (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j)));
    let known = all.filter(|&(i, j)| keep(i, j) && coin.row(i)[j] < level);
    let known: Vec<_> = known.map(|(i, j)| (i, j, matrix.row(i)[j])).collect();
    MatrixCompletion::entries((rows, cols), &known).expect("good entries")
}

/// Runs on a pool of its own.
pub fn on<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(work)
}

/// `work` gives the same on 1, 2 and 4 threads.
pub fn assert_same<R: Send + PartialEq>(name: &str, work: impl Fn() -> R + Sync) {
    let one = on(1, &work);
    for threads in [2, 4] {
        assert!(one == on(threads, &work), "{name}: differs at {threads} threads");
    }
}
