//! Arithmetic on blocks, with the same bits on any number of threads.

use crate::{Block, BlockMut, BlockRef, Result, Scalar, Workspace};

/// y ← x.
///
/// # Errors
/// When the shapes differ.
pub fn copy<T: Scalar>(x: BlockRef<'_, T>, y: BlockMut<'_, T>) -> Result<()> {
    T::block_copy(x, y)
}

/// y ← a x + b y. With b = 0 the old y is not read.
///
/// # Errors
/// When the shapes differ.
pub fn axpby<T: Scalar>(a: T, x: BlockRef<'_, T>, b: T, y: BlockMut<'_, T>) -> Result<()> {
    T::block_axpby(a, x, b, y)
}

/// y ← b y. With b = 0 the old y is not read.
pub fn scale<T: Scalar>(b: T, y: BlockMut<'_, T>) {
    T::block_scale(b, y);
}

/// Column j of y times `factors[j]`.
///
/// # Errors
/// When the number of factors is not the number of columns.
pub fn scale_columns<T: Scalar>(factors: &[T], y: BlockMut<'_, T>) -> Result<()> {
    T::block_scale_columns(factors, y)
}

/// `out[j]` ← ⟨column j of x, column j of y⟩. Reads both blocks once.
///
/// # Errors
/// When the shapes differ or `out` has another length than the columns.
pub fn column_dots<T: Scalar>(
    x: BlockRef<'_, T>,
    y: BlockRef<'_, T>,
    out: &mut [T],
    ws: &mut Workspace<T>,
) -> Result<()> {
    T::block_column_dots(x, y, out, ws)
}

/// `out[j]` ← ‖column j of x‖₂, without overflow: when the sum of squares leaves the range, the
/// column is scaled by its largest entry first. A NaN or infinite entry gives a non-finite norm.
///
/// # Errors
/// When `out` has another length than the columns.
pub fn column_norms<T: Scalar>(
    x: BlockRef<'_, T>,
    out: &mut [T],
    ws: &mut Workspace<T>,
) -> Result<()> {
    T::block_column_norms(x, out, ws)
}

/// `out[j]` ← ‖column j of y − `values[j]` × column j of x‖₂, without overflow: y is an image of x, and both
/// are read once. Only where a sum of squares leaves the range, y is overwritten with the differences.
///
/// # Errors
/// When the blocks have different shapes, or the lists other lengths than their columns.
///
/// # Example
/// ```
/// use favard_operator::{Block, Workspace, ops};
/// let (x, mut y) = (Block::column(&[1.0, 2.0]), Block::column(&[5.0, 7.0]));
/// let mut norm = [0.0];
/// ops::residual_norms(x.as_ref(), &[2.0], y.as_mut(), &mut norm, &mut Workspace::new())?;
/// assert_eq!(norm[0], (9.0_f64 + 9.0).sqrt());
/// # Ok::<(), favard_operator::Error>(())
/// ```
pub fn residual_norms<T: Scalar>(
    x: BlockRef<'_, T>,
    values: &[T],
    y: BlockMut<'_, T>,
    out: &mut [T],
    ws: &mut Workspace<T>,
) -> Result<()> {
    T::block_residual_norms(x, values, y, out, ws)
}

/// (row, column) of the first entry that is NaN or infinite.
#[must_use]
pub fn find_non_finite<T: Scalar>(x: BlockRef<'_, T>) -> Option<(usize, usize)> {
    T::block_find_non_finite(x)
}

/// out ← xᵀ y, a small matrix: both blocks are read once.
///
/// # Errors
/// When the blocks have different rows, or `out` is not `x.cols() × y.cols()`.
pub fn cross<T: Scalar>(
    x: BlockRef<'_, T>,
    y: BlockRef<'_, T>,
    out: BlockMut<'_, T>,
    ws: &mut Workspace<T>,
) -> Result<()> {
    cross_panels(&[x], y, out, ws)
}

/// $\mathrm{out} \leftarrow (X_1\; X_2 \dots)^T y$ for panels of one tall matrix: everything is read
/// once.
///
/// # Errors
/// When a panel has other rows than y, or `out` does not have a row for each of their columns and
/// the columns of y.
///
/// # Example
/// ```
/// use favard_operator::{Block, Workspace, ops};
/// let (a, b) = (Block::column(&[1.0, 0.0]), Block::column(&[0.0, 2.0]));
/// let (y, mut out) = (Block::column(&[3.0, 5.0]), Block::zeros(2, 1));
/// ops::cross_panels(&[a.as_ref(), b.as_ref()], y.as_ref(), out.as_mut(), &mut Workspace::new())?;
/// assert_eq!([out.row(0)[0], out.row(1)[0]], [3.0, 10.0]);
/// # Ok::<(), favard_operator::Error>(())
/// ```
pub fn cross_panels<T: Scalar>(
    panels: &[BlockRef<'_, T>],
    y: BlockRef<'_, T>,
    out: BlockMut<'_, T>,
    ws: &mut Workspace<T>,
) -> Result<()> {
    T::block_cross(panels, y, out, ws)
}

/// y ← a x R + b y, with R small: both blocks are moved once. With b = 0 the old y is not read.
///
/// # Errors
/// When the shapes do not fit.
pub fn right_multiply<T: Scalar>(
    a: T,
    x: BlockRef<'_, T>,
    r: BlockRef<'_, T>,
    b: T,
    y: BlockMut<'_, T>,
) -> Result<()> {
    right_multiply_panels(a, &[x], r, b, y)
}

/// $y \leftarrow a\, (X_1\; X_2 \dots) R + b y$ for panels of one tall matrix: the panels are read
/// once. With b = 0 the old y is not read.
///
/// # Errors
/// When the shapes do not fit.
///
/// # Example
/// ```
/// use favard_operator::{Block, ops};
/// let (u, v) = (Block::column(&[1.0, 0.0]), Block::column(&[0.0, 2.0]));
/// let (r, mut y) = (Block::column(&[3.0, 5.0]), Block::zeros(2, 1));
/// ops::right_multiply_panels(1.0, &[u.as_ref(), v.as_ref()], r.as_ref(), 0.0, y.as_mut())?;
/// assert_eq!([y.row(0)[0], y.row(1)[0]], [3.0, 10.0]);
/// # Ok::<(), favard_operator::Error>(())
/// ```
pub fn right_multiply_panels<T: Scalar>(
    a: T,
    panels: &[BlockRef<'_, T>],
    r: BlockRef<'_, T>,
    b: T,
    y: BlockMut<'_, T>,
) -> Result<()> {
    T::block_right_multiply(a, panels, r, b, y)
}

/// Replaces the first panels by $(X_1\; X_2 \dots) R$, cut into panels of their widths; the panels
/// behind are left as they are. Memory: a chunk of rows for each thread.
///
/// # Errors
/// When R does not have a row for each column of the panels, when its columns do not fill whole
/// panels, or when the panels differ in their rows.
///
/// # Example
/// ```
/// use favard_operator::{Block, ops};
/// let mut panels = vec![Block::column(&[1.0, 0.0]), Block::column(&[0.0, 2.0])];
/// ops::rotate_panels(&mut panels, Block::column(&[3.0, 5.0]).as_ref())?;
/// assert_eq!([panels[0].row(0)[0], panels[0].row(1)[0]], [3.0, 10.0]);
/// # Ok::<(), favard_operator::Error>(())
/// ```
pub fn rotate_panels<T: Scalar>(panels: &mut [Block<T>], r: BlockRef<'_, T>) -> Result<()> {
    T::block_rotate(panels, r)
}
