//! [`Compiled`]: what is compiled with this crate, once for each precision.
//!
//! Generic code is compiled where it is used. Left to that, every program with a sparse product would compile
//! all kernels, each for three instruction sets, and faer's factorisations, again at every change of its
//! own. The functions of this trait are not generic.
//! They are compiled here, and the generic ones that everybody sees only call them. What is generic in the
//! integers of a sparse matrix as well has its own table: [`Kernels`](crate::kernel::Kernels).

use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::evd::EvdError;
use faer::linalg::svd::SvdError;
use faer::traits::RealField;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::ArrayView2;

use crate::kernel::Kernels;
use crate::{
    Between, Block, BlockMut, BlockRef, Column, Dense, Moments, Orthonormalizer, Result, Scalar,
    Scatter, Side, Standardized, Workspace, block, dense, row_ops, small, wrap,
};

/// Declares the functions, and compiles them for both precisions.
macro_rules! compiled {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $(-> $result:ty)? = $body:path;)*) => {
        /// Functions of a precision that are compiled in this crate.
        pub trait Compiled: RealField {
            /// The products of sparse matrices with this kind of columns.
            fn kernels<I: Column>() -> &'static Kernels<Self, I>
            where
                Self: Scalar;

            $(
                #[doc = concat!("`", stringify!($body), "`")]
                #[allow(clippy::too_many_arguments)] // those of the function
                fn $name($($argument: $kind),*) $(-> $result)?
                where
                    Self: Scalar;
            )*
        }

        compiled!(@for f32, 0, $(fn $name($($argument: $kind),*) $(-> $result)? = $body;)*);
        compiled!(@for f64, 1, $(fn $name($($argument: $kind),*) $(-> $result)? = $body;)*);
    };
    (@for $scalar:ty, $place:tt, $(fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)? = $body:path;)*) => {
        impl Compiled for $scalar {
            fn kernels<I: Column>() -> &'static Kernels<Self, I> {
                &I::tables().$place
            }

            $(
                #[inline(never)]
                fn $name($($argument: $kind),*) $(-> $result)? {
                    $body($($argument),*)
                }
            )*
        }
    };
}

compiled! {
    fn small_multiply(
        product: MatMut<'_, Self>, accum: Accum, left: MatRef<'_, Self>, right: MatRef<'_, Self>, alpha: Self,
    ) = small::body::multiply;
    fn small_eigen(
        matrix: MatRef<'_, Self>, values: &mut [Self], vectors: MatMut<'_, Self>, par: Par, stack: &mut MemStack,
    ) -> Result<(), EvdError> = small::body::symmetric_eigen;
    fn small_eigen_scratch(dim: usize, par: Par) -> StackReq = small::body::symmetric_eigen_scratch::<Self>;
    fn small_svd(
        matrix: MatRef<'_, Self>, values: &mut [Self], left: MatMut<'_, Self>, right: MatMut<'_, Self>,
        stack: &mut MemStack,
    ) -> Result<(), SvdError> = small::body::svd;
    fn small_svd_scratch(dim: usize) -> StackReq = small::body::svd_scratch::<Self>;

    fn block_copy(x: BlockRef<'_, Self>, y: BlockMut<'_, Self>) -> Result<()> = block::body::copy;
    fn block_axpby(a: Self, x: BlockRef<'_, Self>, b: Self, y: BlockMut<'_, Self>) -> Result<()>
        = block::body::axpby;
    fn block_scale(b: Self, y: BlockMut<'_, Self>) = block::body::scale;
    fn block_scale_columns(factors: &[Self], y: BlockMut<'_, Self>) -> Result<()>
        = block::body::scale_columns;
    fn block_column_dots(
        x: BlockRef<'_, Self>, y: BlockRef<'_, Self>, out: &mut [Self], ws: &mut Workspace<Self>,
    ) -> Result<()> = block::body::column_dots;
    fn block_column_norms(x: BlockRef<'_, Self>, out: &mut [Self], ws: &mut Workspace<Self>) -> Result<()>
        = block::body::column_norms;
    fn block_residual_norms(
        x: BlockRef<'_, Self>, values: &[Self], y: BlockMut<'_, Self>, out: &mut [Self],
        ws: &mut Workspace<Self>,
    ) -> Result<()> = block::body::residual_norms;
    fn block_find_non_finite(x: BlockRef<'_, Self>) -> Option<(usize, usize)>
        = block::body::find_non_finite;
    fn block_cross(
        panels: &[BlockRef<'_, Self>], y: BlockRef<'_, Self>, out: BlockMut<'_, Self>, ws: &mut Workspace<Self>,
    ) -> Result<()> = block::body::cross_panels;
    fn block_right_multiply(
        a: Self, panels: &[BlockRef<'_, Self>], r: BlockRef<'_, Self>, b: Self, y: BlockMut<'_, Self>,
    ) -> Result<()> = block::body::right_multiply_panels;
    fn block_rotate(panels: &mut [Block<Self>], r: BlockRef<'_, Self>) -> Result<()>
        = block::body::rotate_panels;
    fn qr_new(cols: usize) -> Orthonormalizer<Self> = Orthonormalizer::<Self>::made;
    fn qr_orthonormalize(
        qr: &mut Orthonormalizer<Self>, blocks: &mut [&mut Block<Self>], ws: &mut Workspace<Self>,
    ) -> Result<usize> = Orthonormalizer::<Self>::factorize;
    fn qr_apply_inverse(
        qr: &mut Orthonormalizer<Self>, x: BlockRef<'_, Self>, y: BlockMut<'_, Self>,
    ) -> Result<()> = Orthonormalizer::<Self>::divide;

    fn rows_multiply(factors: &[Self], x: BlockRef<'_, Self>, z: BlockMut<'_, Self>)
        = row_ops::body::multiply_rows;
    fn rows_scale(factors: &[Self], y: BlockMut<'_, Self>) = row_ops::body::scale_rows;
    fn rows_combine(
        alpha: Self, factors: &[Self], z: BlockRef<'_, Self>, gamma: Self, y: BlockMut<'_, Self>,
    ) = row_ops::body::combine_rows;
    fn rows_subtract(alpha: Self, r: &[Self], y: BlockMut<'_, Self>) = row_ops::body::subtract_row;
    fn rows_subtract_outer(alpha: Self, c: &[Self], r: &[Self], y: BlockMut<'_, Self>)
        = row_ops::body::subtract_outer;
    fn rows_sums(x: BlockRef<'_, Self>, out: &mut [Self], ws: &mut Workspace<Self>)
        = row_ops::body::column_sums;

    fn dense_multiply(
        p: MatRef<'_, Self>, alpha: Self, x: BlockRef<'_, Self>, gamma: Self, y: BlockMut<'_, Self>,
        ws: &mut Workspace<Self>,
    ) = dense::multiply;
    fn dense_normal(
        p: MatRef<'_, Self>, alpha: Self, x: BlockRef<'_, Self>, between: Between<'_, Self>, gamma: Self,
        y: BlockMut<'_, Self>, ws: &mut Workspace<Self>,
    ) = dense::normal;
    fn dense_narrow_normal(
        p: &[Self], alpha: Self, x: BlockRef<'_, Self>, between: Between<'_, Self>, gamma: Self,
        y: BlockMut<'_, Self>, ws: &mut Workspace<Self>,
    ) = dense::narrow_normal;
    fn dense_gram(a: ArrayView2<'_, Self>, side: Side, by: &Standardized<'_, Self>) -> Block<Self>
        = dense::form;
    fn dense_scatter(a: ArrayView2<'_, Self>, weights: Option<&[f64]>) -> Scatter<Self> = dense::scatter;
    fn dense_moments(a: &Dense<'_, Self>, weights: Option<&[f64]>) -> Moments = wrap::dense_moments;
    fn dense_find_non_finite(a: &ArrayView2<'_, Self>) -> Option<(usize, usize)> = dense::find_non_finite;
}
