//! The products in both precisions, compiled here once.
//!
//! Little optimised builds, those of tests, share the instances of generic code that a crate below has
//! compiled. Without these, every test program would compile all kernels for itself.
//! Nothing here is called; optimised builds have none of it.

use crate::{
    AdjointOperator, Block, BlockRef, ColumnMoments, Csr, Dense, Orthonormalizer, Result,
    RowOperator, Scalar, Sparse, Workspace, ops,
};

/// The sparse and dense operators.
type Operators<'a, T> = (&'a Csr<'static, T>, &'a Sparse<'static, T>, &'a Dense<'static, T>);

/// What names them.
pub type All<T> = fn(Operators<'_, T>, BlockRef<'_, T>, &mut Workspace<T>) -> Result<usize>;

/// Names every method of the operators, and the arithmetic on blocks.
fn all<T: Scalar>(
    (csr, sparse, dense): Operators<'_, T>,
    x: BlockRef<'_, T>,
    ws: &mut Workspace<T>,
) -> Result<usize> {
    let adjoint: [&dyn AdjointOperator<T>; 3] = [csr, sparse, dense];
    let rows: [&dyn RowOperator<T>; 3] = [csr, sparse, dense];
    let moments: [&dyn ColumnMoments<T>; 2] = [csr, dense];
    let (mut y, mut r) = (Block::zeros(x.rows(), x.cols()), Block::zeros(x.cols(), x.cols()));
    ops::copy(x, y.as_mut())?;
    ops::axpby(T::one(), x, T::one(), y.as_mut())?;
    ops::column_norms(x, &mut [], ws)?;
    ops::column_dots(x, y.as_ref(), &mut [], ws)?;
    ops::cross_panels(&[x], y.as_ref(), r.as_mut(), ws)?;
    ops::right_multiply_panels(T::one(), &[x], r.as_ref(), T::one(), y.as_mut())?;
    let mut qr = Orthonormalizer::new(x.cols());
    qr.orthonormalize(&mut [&mut y], ws)?;
    Ok(adjoint.len() + rows.len() + moments.len())
}

/// The instances: what is named by a static is compiled.
pub static ALL: (All<f32>, All<f64>) = (all, all);
