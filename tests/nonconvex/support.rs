//! Random problems with known answers.

use favard_operator::{Block, Orthonormalizer, Scalar, Workspace};

/// An orthonormal block.
pub fn orthonormal<T: Scalar>(rows: usize, cols: usize, seed: u64) -> Block<T> {
    let mut block = Block::gaussian(rows, cols, seed);
    Orthonormalizer::new(cols)
        .orthonormalize(&mut [&mut block], &mut Workspace::new())
        .expect("a tall block");
    block
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
