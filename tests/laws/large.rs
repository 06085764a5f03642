//! Matrices large enough that the kernels cut them into chunks: the same laws, and the same bits
//! on 1, 2 and 4 threads where there is something to share out.

use favard_operator::{Adjoint, Centered, Csr, Dense, Gram, Scalar, Scaled, Sparse, Weighted};
use favard_testkit::Trial;
use ndarray::Array2;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::support::{Checked, Rows};

/// About `per_row` entries a row, quarters between −4 and 4, every tenth row empty.
fn sparse<T: Scalar>(rows: usize, cols: usize, per_row: usize, seed: u64) -> Csr<'static, T> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut pointers, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..rows {
        let count = if i % 10 == 3 { 0 } else { per_row };
        let mut row: Vec<u32> =
            (0..count).map(|_| rng.next_u32() % u32::try_from(cols).unwrap()).collect();
        row.sort_unstable();
        row.dedup();
        values.extend(row.iter().map(|_| quarter::<T>(&mut rng)));
        columns.extend(row);
        pointers.push(columns.len());
    }
    Csr::new((rows, cols), pointers, columns, values).unwrap()
}

fn quarter<T: Scalar>(rng: &mut ChaCha8Rng) -> T {
    T::of(f64::from(rng.next_u32() % 33) / 4.0 - 4.0)
}

fn dense<T: Scalar>(rows: usize, cols: usize, seed: u64) -> Dense<'static, T> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Dense::new(Array2::from_shape_simple_fn((rows, cols), || quarter(&mut rng))).unwrap()
}

fn column<T: Scalar>(len: usize, seed: u64) -> Vec<T> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..len).map(|_| T::of(5.0) + quarter::<T>(&mut rng)).collect()
}

fn check_sparse<T: Scalar>(shape: (usize, usize)) -> Checked {
    let op = sparse::<T>(shape.0, shape.1, 12, 1);
    let trial = Trial::new(1);
    trial.clone().with_widths(&[1, T::LANE + 3]).rows(&op)?;
    trial.clone().with_widths(&[2]).adjoint(&Sparse::from_columns(op.view()))?;
    trial.clone().with_widths(&[T::LANE]).adjoint(&Gram::new(Adjoint::new(&op as Rows<'_, T>)))?;
    Ok(())
}

fn check_dense<T: Scalar>(shape: (usize, usize)) -> Checked {
    let op = dense::<T>(shape.0, shape.1, 2);
    Trial::new(2).with_widths(&[1, T::LANE + 3]).adjoint(&op)?;
    let turned = Dense::new(op.view().reversed_axes())?;
    Trial::new(3).with_widths(&[2]).adjoint(&turned)?;
    Ok(())
}

/// Wrappers with chunks of their own. The numbers subtracted are no larger than the matrix, so
/// that the measured bound holds.
fn check_wrappers<T: Scalar>() -> Checked {
    let (rows, cols) = (9000, 600);
    let op = sparse::<T>(rows, cols, 8, 4);
    let op = Centered::by_mean(&op as Rows<'_, T>)?;
    let op = Scaled::new(&op as Rows<'_, T>, column(cols, 5))?;
    let op = Weighted::new(&op as Rows<'_, T>, column(rows, 6))?;
    Trial::new(7).with_widths(&[T::LANE]).adjoint(&op)?;
    Ok(())
}

#[test]
fn tall_sparse() {
    check_sparse::<f64>((20_000, 300)).unwrap();
    check_sparse::<f32>((20_000, 300)).unwrap();
}

#[test]
fn wide_sparse() {
    check_sparse::<f64>((900, 20_000)).unwrap();
    check_sparse::<f32>((900, 20_000)).unwrap();
}

#[test]
fn tall_dense() {
    check_dense::<f64>((5000, 40)).unwrap();
    check_dense::<f32>((5000, 40)).unwrap();
}

#[test]
fn wide_dense() {
    check_dense::<f64>((40, 5000)).unwrap();
    check_dense::<f32>((40, 5000)).unwrap();
}

#[test]
fn wrappers() {
    check_wrappers::<f64>().unwrap();
    check_wrappers::<f32>().unwrap();
}
