//! Closures as operators: of a vector, of a block, fused, and over the terms of a batch.

use favard_operator::{
    Batch, BlockMut, BlockRef, FnOperator, FusedFn, Scalar, StochasticFn, VectorFn,
};
use ndarray::Array2;

use crate::support::{Checked, Data, over_data};

over_data! {
    closures(32): check_closures;
    stochastic(32): check_stochastic;
}

/// y ← α A x + γ y by plain loops.
fn product<T: Scalar>(
    a: &Array2<T>,
    alpha: T,
    x: BlockRef<'_, T>,
    gamma: T,
    mut y: BlockMut<'_, T>,
) {
    for i in 0..a.nrows() {
        for j in 0..x.cols() {
            let sum: T = (0..a.ncols()).map(|l| a[[i, l]] * x.row(l)[j]).sum();
            let old = if gamma == T::zero() { T::zero() } else { gamma * y.row(i)[j] };
            y.row_mut(i)[j] = alpha * sum + old;
        }
    }
}

fn check_closures<T: Scalar>(data: &Data<T>) -> Checked {
    let (reference, trial) = (data.of_dense(), data.trial());
    let (a, shape) = (&data.matrix, data.matrix.dim());
    let turned = a.t().to_owned();
    let (one, zero) = (T::one(), T::zero());

    let block = FnOperator::<T>::new(shape, |x, y| product(a, one, x, zero, y));
    reference.check_linear(&block, &trial)?;
    let block = block.with_adjoint(|x, y| product(&turned, one, x, zero, y));
    reference.check_adjoint(&block, &trial)?;

    let column = |a: &Array2<T>, x: &[T], y: &mut [T]| {
        product(a, T::one(), BlockRef::column(x), T::zero(), BlockMut::column(y));
    };
    let vector = VectorFn::<T>::new(shape, |x, y| column(a, x, y));
    reference.check_linear(&vector, &trial)?;
    let vector = vector.with_adjoint(|x, y| column(&turned, x, y));
    reference.check_adjoint(&vector, &trial)?;

    let fused = FusedFn::<T>::new(shape, |alpha, x, gamma, y| {
        product(a, alpha, x, gamma, y);
        Ok(())
    });
    reference.check_linear(&fused, &trial)?;
    let fused = fused.with_adjoint(|alpha, x, gamma, y| {
        product(&turned, alpha, x, gamma, y);
        Ok(())
    });
    reference.check_adjoint(&fused, &trial)
}

/// The terms are the rows of the matrix, each in its place.
fn check_stochastic<T: Scalar>(data: &Data<T>) -> Checked {
    let a = &data.matrix;
    let op = StochasticFn::new(a.dim(), a.nrows(), |batch: &Batch<T>, x, mut y| {
        for (&term, &weight) in batch.terms.iter().zip(&batch.weights) {
            for j in 0..x.cols() {
                let sum: T = (0..a.ncols()).map(|l| a[[term, l]] * x.row(l)[j]).sum();
                y.row_mut(term)[j] += weight * sum;
            }
        }
        Ok(())
    });
    data.of_dense().check_stochastic(&op, &data.trial())
}
