//! [`Kernels`]: the products of sparse matrices, compiled with this crate.

use super::{All, Middle, Ones, Rows, forward, normal, transpose};
use crate::adjoint::{Forming, Side, Standardized};
use crate::sparse::turned::turned;
use crate::sparse::{check, gram};
use crate::wrap::{columns_moments, csr_moments, csr_squares};
use crate::{Block, BlockMut, BlockRef, Column, Csr, Moments, Result, Scalar, Workspace};

/// A matrix stored by rows; without values all are one.
pub type Stored<'a, T, I> = Rows<'a, Option<&'a [T]>, I>;

/// $Y \leftarrow \alpha A X + \gamma Y$ or $\alpha A^T X + \gamma Y$ for all rows of A, or for those of a list.
type Product<T, I> = fn(
    Stored<'_, T, I>,
    Option<&[usize]>,
    T,
    BlockRef<'_, T>,
    T,
    BlockMut<'_, T>,
    &mut Workspace<T>,
);

/// $Y \leftarrow \alpha A^T Z + \gamma Y$, with what is in the [`Middle`].
type Normal<T, I> =
    fn(Stored<'_, T, I>, T, BlockRef<'_, T>, Middle<'_, T>, T, BlockMut<'_, T>, &mut Workspace<T>);

/// What is known of three lists that should be a matrix.
type Check<T, I> = fn((usize, usize), &[usize], &[I], &[T]) -> Result<()>;

/// The matrix of inner products of a side.
type Form<T, I> = fn(&Csr<'_, T, I>, gram::Stored, Side, &Standardized<'_, T>) -> Block<T>;

/// The functions of one precision and one kind of columns.
#[derive(Debug)]
pub struct Kernels<T: Scalar, I: Column> {
    pub forward: Product<T, I>,
    pub transpose: Product<T, I>,
    pub normal: Normal<T, I>,
    pub check: Check<T, I>,
    pub moments: fn(&Csr<'_, T, I>, Option<&[f64]>) -> Moments,
    /// Of a matrix stored by columns, given as its transpose.
    pub columns_moments: fn(&Csr<'_, T, I>, Option<&[f64]>) -> Moments,
    pub squares: fn(&Csr<'_, T, I>) -> Vec<f64>,
    pub forming: fn(&Csr<'_, T, I>, gram::Stored, Side) -> Forming,
    pub form: Form<T, I>,
    /// The transpose of a matrix of few long rows.
    pub turned: fn(&Csr<'_, T, I>) -> Csr<'static, T>,
}

impl<T: Scalar, I: Column> Kernels<T, I> {
    const ALL: Self = Self {
        forward: any_forward,
        transpose: any_transpose,
        normal: any_normal,
        check,
        moments: csr_moments,
        columns_moments,
        squares: csr_squares,
        forming: gram::forming,
        form: gram::form,
        turned,
    };
}

/// Runs a kernel on the values, or, where all are one, without reading any.
macro_rules! with_values {
    ($a:ident, $rows:ident => $run:expr) => {{
        let Rows { pointers, columns, values, cols } = $a;
        match values {
            Some(values) => {
                let $rows = Rows { pointers, columns, values, cols };
                $run
            }
            None => {
                let $rows = Rows { pointers, columns, values: Ones, cols };
                $run
            }
        }
    }};
}

/// A product for all rows, or for those of a list.
macro_rules! any_rows {
    ($name:ident, $kernel:ident) => {
        fn $name<T: Scalar, I: Column>(
            a: Stored<'_, T, I>,
            list: Option<&[usize]>,
            alpha: T,
            x: BlockRef<'_, T>,
            gamma: T,
            y: BlockMut<'_, T>,
            ws: &mut Workspace<T>,
        ) {
            with_values!(a, rows => match list {
                None => $kernel(rows, All, alpha, x, gamma, y, ws),
                Some(list) => $kernel(rows, list, alpha, x, gamma, y, ws),
            });
        }
    };
}
any_rows!(any_forward, forward);
any_rows!(any_transpose, transpose);

fn any_normal<T: Scalar, I: Column>(
    a: Stored<'_, T, I>,
    alpha: T,
    x: BlockRef<'_, T>,
    middle: Middle<'_, T>,
    gamma: T,
    y: BlockMut<'_, T>,
    ws: &mut Workspace<T>,
) {
    with_values!(a, rows => normal(rows, alpha, x, middle, gamma, y, ws));
}

/// An integer whose kernels are compiled here.
pub trait Tables: Sized {
    /// Those of `f32` and of `f64`.
    fn tables() -> &'static (Kernels<f32, Self>, Kernels<f64, Self>)
    where
        Self: Column;
}

macro_rules! tables {
    ($($column:ty),*) => {$(
        impl Tables for $column {
            fn tables() -> &'static (Kernels<f32, Self>, Kernels<f64, Self>) {
                static ALL: (Kernels<f32, $column>, Kernels<f64, $column>) = (Kernels::ALL, Kernels::ALL);
                &ALL
            }
        }
    )*};
}
tables!(u32, i64);
