//! The problems: a well-conditioned one, a hard one, a consistent one.

use favard_operator::{Block, Csr, LinearOperator, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A matrix with equally long rows and a right-hand side.
pub struct Data {
    pub name: &'static str,
    pub a: Csr<'static, f64>,
    pub b: Block<f64>,
}

fn matrix(
    rows: usize,
    cols: usize,
    columns: Vec<u32>,
    values: Vec<f64>,
) -> Result<Csr<'static, f64>> {
    let per_row = columns.len() / rows;
    let pointers: Vec<usize> = (0..=rows).map(|i| i * per_row).collect();
    Csr::new((rows, cols), pointers, columns, values)
}

/// A x* plus noise of its own size.
fn noisy(name: &'static str, a: Csr<'static, f64>) -> Result<Data> {
    let (rows, cols) = a.shape();
    let mut b = a.multiply(Block::gaussian(cols, 1, 2).as_ref())?;
    let noise = Block::<f64>::gaussian(rows, 1, 3);
    (0..rows).for_each(|i| b.row_mut(i)[0] += noise.row(i)[0]);
    Ok(Data { name, a, b })
}

fn uniform_rows(rows: usize, cols: usize, per_row: usize) -> Result<Csr<'static, f64>> {
    let bound = u32::try_from(cols).unwrap_or(u32::MAX);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut columns, mut row) = (Vec::with_capacity(rows * per_row), Vec::new());
    for _ in 0..rows {
        row.clear();
        while row.len() < per_row {
            row.extend((row.len()..per_row).map(|_| rng.random_range(0..bound)));
            row.sort_unstable();
            row.dedup();
        }
        columns.extend_from_slice(&row);
    }
    let values = columns.iter().map(|_| rng.random_range(-1.0_f64..1.0)).collect();
    matrix(rows, cols, columns, values)
}

/// Uniformly random sparse rows, ten times as many as columns: κ of about 2.
pub fn well(rows: usize) -> Result<Data> {
    noisy("well", uniform_rows(rows, rows / 10, 10)?)
}

/// The levels of ten categorical features.
const LEVELS: [u32; 10] = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];

/// One-hot rows of ten categorical features with 10 to 10,000 levels. A level l has a probability of
/// about 1 / (l ln count): column norms differ by a hundred and more, every feature's columns add
/// up to ones.
///
/// `position(rng, t)` in `[0, 1)` says where in its order the level lies, t uniform for each row.
fn one_hot(
    name: &'static str,
    rows: usize,
    mut position: impl FnMut(&mut ChaCha8Rng, f64) -> f64,
) -> Result<Data> {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut columns = Vec::with_capacity(rows * LEVELS.len());
    for _ in 0..rows {
        let (mut offset, latent) = (0, rng.random_range(0.0..1.0));
        for count in LEVELS {
            let draw = f64::from(count).powf(position(&mut rng, latent));
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let level = (draw as u32 - 1).min(count - 1);
            columns.push(offset + level);
            offset += count;
        }
    }
    let values = vec![1.0; columns.len()];
    let cols = LEVELS.iter().sum::<u32>() as usize;
    noisy(name, matrix(rows, cols, columns, values)?)
}

/// Features that know nothing of each other: κ of about 4 once the columns are scaled.
pub fn independent(rows: usize) -> Result<Data> {
    one_hot("one-hot", rows, |rng, _| rng.random_range(0.0..1.0))
}

/// Features that all say where a row is: each level's position is the row's own up to ± `SPREAD`
/// (region, city and street of one address). Neighbouring levels of different features occur
/// together, so that the scaled normal matrix is like the Laplacian of a chain: many small
/// eigenvalues, of the order of SPREAD².
pub fn correlated(rows: usize) -> Result<Data> {
    const SPREAD: f64 = 0.07;
    one_hot("correlated", rows, |rng, t| {
        let moved = (t + rng.random_range(-SPREAD..SPREAD)).abs();
        // Reflected at both ends.
        if moved < 1.0 { moved } else { 2.0 - moved }
    })
}

/// A consistent system with many more equations than unknowns.
pub fn consistent(rows: usize, cols: usize) -> Result<Data> {
    let a = uniform_rows(rows, cols, 10)?;
    let b = a.multiply(Block::gaussian(cols, 1, 2).as_ref())?;
    Ok(Data { name: "consistent", a, b })
}
