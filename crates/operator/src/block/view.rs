//! [`BlockRef`] and [`BlockMut`], which borrow a block or a range of its rows or columns.

use std::ops::Range;

use faer::{MatMut, MatRef};
use ndarray::{ArrayView2, ArrayViewMut2, ShapeBuilder};

use crate::error::{ErrorKind, Result};
use crate::{Block, Scalar};

/// A block to read: rows of `cols` contiguous numbers, `stride` apart.
///
/// It is a slice with a shape, rather than an `ArrayView2`, because a kernel has to see the whole
/// block as one slice, which an `ArrayView2` with padded rows does not give without `unsafe`.
/// [`BlockRef::into_view`] turns it into one at no cost.
///
/// # Example
/// ```
/// use favard_operator::BlockRef;
/// let x = BlockRef::column(&[1.0, 2.0, 3.0]);
/// assert_eq!(x.shape(), (3, 1));
/// assert_eq!(x.rows_range(1..3).row(0), &[2.0]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct BlockRef<'a, T> {
    data: &'a [T],
    rows: usize,
    cols: usize,
    stride: usize,
}

/// A block to write: rows of `cols` contiguous numbers, `stride` apart.
///
/// # Example
/// ```
/// use favard_operator::BlockMut;
/// let mut y = [0.0; 3];
/// BlockMut::column(&mut y).row_mut(2)[0] = 5.0;
/// assert_eq!(y, [0.0, 0.0, 5.0]);
/// ```
#[derive(Debug)]
pub struct BlockMut<'a, T> {
    data: &'a mut [T],
    rows: usize,
    cols: usize,
    stride: usize,
}

/// The last row needs no padding behind it.
fn check_parts(len: usize, rows: usize, cols: usize, stride: usize) -> Result<()> {
    if cols > stride {
        return Err(ErrorKind::Shape { what: "row stride", expected: cols, found: stride }.into());
    }
    let extent = || rows.saturating_sub(1).checked_mul(stride)?.checked_add(cols);
    // A block too large to count is too large for any slice.
    let expected = if rows == 0 { 0 } else { extent().unwrap_or(usize::MAX) };
    if len < expected {
        return Err(ErrorKind::Shape { what: "block length", expected, found: len }.into());
    }
    Ok(())
}

impl<'a, T: Scalar> BlockRef<'a, T> {
    /// The caller has made sure that the slice is long enough.
    pub(crate) fn from_parts(data: &'a [T], rows: usize, cols: usize, stride: usize) -> Self {
        debug_assert!(check_parts(data.len(), rows, cols, stride).is_ok());
        Self { data, rows, cols, stride }
    }

    /// A slice seen as a block.
    ///
    /// # Errors
    /// When the slice is shorter than the shape, or the stride than a row.
    pub fn new(data: &'a [T], rows: usize, cols: usize, stride: usize) -> Result<Self> {
        check_parts(data.len(), rows, cols, stride)?;
        let len = data.len().min(rows.saturating_mul(stride));
        Ok(Self { data: &data[..len], rows, cols, stride })
    }

    /// A vector seen as a block of one column.
    #[must_use]
    pub fn column(data: &'a [T]) -> Self {
        Self { data, rows: data.len(), cols: 1, stride: 1 }
    }

    /// A row-major array seen as a block, or `None` when its layout is another one
    /// ([`Block::from_array`] then copies it).
    #[must_use]
    pub fn from_view(view: ArrayView2<'a, T>) -> Option<Self> {
        let (rows, cols) = view.dim();
        Some(Self { data: view.to_slice()?, rows, cols, stride: cols.max(1) })
    }

    /// (rows, columns).
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    #[must_use]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The distance between the starts of two rows.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The slice behind the block: entry (i, j) is at `i * stride + j`.
    #[must_use]
    pub fn data(&self) -> &'a [T] {
        self.data
    }

    /// Row i.
    #[must_use]
    pub fn row(&self, i: usize) -> &'a [T] {
        &self.data[i * self.stride..][..self.cols]
    }

    /// A range of the rows.
    ///
    /// # Panics
    /// When the range leaves the block.
    #[must_use]
    pub fn rows_range(&self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.rows, "rows {range:?} of a block");
        let rows = range.len();
        let from = (range.start * self.stride).min(self.data.len());
        let data = &self.data[from..];
        Self { data: &data[..data.len().min(rows * self.stride)], rows, ..*self }
    }

    /// A range of the columns.
    ///
    /// # Panics
    /// When the range leaves the block.
    #[must_use]
    pub fn cols_range(&self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.cols, "columns {range:?} of a block");
        let from = range.start.min(self.data.len());
        Self { data: &self.data[from..], cols: range.len(), ..*self }
    }

    /// The block as an `ndarray` view.
    #[must_use]
    // A block is a valid strided array: the `expect`s cannot fail.
    #[allow(clippy::missing_panics_doc)]
    pub fn into_view(self) -> ArrayView2<'a, T> {
        if self.rows * self.cols == 0 {
            // ndarray accepts no explicit strides for an array without entries.
            return ArrayView2::from_shape((self.rows, self.cols), &[]).expect("an empty array");
        }
        let shape = (self.rows, self.cols).strides((self.stride, 1));
        ArrayView2::from_shape(shape, self.data).expect("a block is a valid strided array")
    }

    /// The block as a faer matrix.
    pub(crate) fn as_mat(&self) -> MatRef<'a, T> {
        MatRef::from_row_major_slice_with_stride(self.data, self.rows, self.cols, self.stride)
    }

    /// A copy that owns its memory.
    #[must_use]
    pub fn to_owned(&self) -> Block<T> {
        Block::from_fn(self.rows, self.cols, |i, j| self.data[i * self.stride + j])
    }
}

impl<'a, T: Scalar> BlockMut<'a, T> {
    /// The caller has made sure that the slice is long enough.
    pub(crate) fn from_parts(data: &'a mut [T], rows: usize, cols: usize, stride: usize) -> Self {
        debug_assert!(check_parts(data.len(), rows, cols, stride).is_ok());
        Self { data, rows, cols, stride }
    }

    /// A slice seen as a block.
    ///
    /// # Errors
    /// When the slice is shorter than the shape, or the stride than a row.
    pub fn new(data: &'a mut [T], rows: usize, cols: usize, stride: usize) -> Result<Self> {
        check_parts(data.len(), rows, cols, stride)?;
        let len = data.len().min(rows.saturating_mul(stride));
        Ok(Self { data: &mut data[..len], rows, cols, stride })
    }

    /// A vector seen as a block of one column.
    #[must_use]
    pub fn column(data: &'a mut [T]) -> Self {
        Self { rows: data.len(), data, cols: 1, stride: 1 }
    }

    /// (rows, columns).
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    #[must_use]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The distance between the starts of two rows.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The numbers, for as long as the block is borrowed.
    pub(crate) fn into_data(self) -> &'a mut [T] {
        self.data
    }

    /// The slice behind the block: entry (i, j) is at `i * stride + j`.
    pub fn data_mut(&mut self) -> &mut [T] {
        self.data
    }

    /// Row i.
    #[must_use]
    pub fn row(&self, i: usize) -> &[T] {
        &self.data[i * self.stride..][..self.cols]
    }

    /// Row i, to write.
    pub fn row_mut(&mut self, i: usize) -> &mut [T] {
        &mut self.data[i * self.stride..][..self.cols]
    }

    /// The block to read.
    #[must_use]
    pub fn as_ref(&self) -> BlockRef<'_, T> {
        BlockRef { data: self.data, rows: self.rows, cols: self.cols, stride: self.stride }
    }

    /// A shorter borrow of the same block.
    pub fn reborrow(&mut self) -> BlockMut<'_, T> {
        BlockMut { data: self.data, rows: self.rows, cols: self.cols, stride: self.stride }
    }

    /// A range of the rows.
    ///
    /// # Panics
    /// When the range leaves the block.
    #[must_use]
    pub fn rows_range(self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.rows, "rows {range:?} of a block");
        let rows = range.len();
        let from = (range.start * self.stride).min(self.data.len());
        let data = &mut self.data[from..];
        let len = data.len().min(rows * self.stride);
        Self { data: &mut data[..len], rows, cols: self.cols, stride: self.stride }
    }

    /// A range of the columns.
    ///
    /// # Panics
    /// When the range leaves the block.
    #[must_use]
    pub fn cols_range(self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.cols, "columns {range:?} of a block");
        let from = range.start.min(self.data.len());
        Self {
            data: &mut self.data[from..],
            rows: self.rows,
            cols: range.len(),
            stride: self.stride,
        }
    }

    /// The block as an `ndarray` view.
    #[must_use]
    // A block is a valid strided array: the `expect`s cannot fail.
    #[allow(clippy::missing_panics_doc)]
    pub fn into_view(self) -> ArrayViewMut2<'a, T> {
        if self.rows * self.cols == 0 {
            let shape = (self.rows, self.cols);
            return ArrayViewMut2::from_shape(shape, &mut []).expect("an empty array");
        }
        let shape = (self.rows, self.cols).strides((self.stride, 1));
        ArrayViewMut2::from_shape(shape, self.data).expect("a block is a valid strided array")
    }

    /// The block as a faer matrix.
    pub(crate) fn into_mat(self) -> MatMut<'a, T> {
        // Not `from_row_major_slice_with_stride_mut`: faer 0.24.4 exchanges its strides.
        let (rows, cols) = (self.rows, self.cols);
        MatMut::from_column_major_slice_with_stride_mut(self.data, cols, rows, self.stride)
            .transpose_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slice that does not hold the block is refused, however large the numbers.
    #[test]
    fn impossible_parts_are_refused() {
        assert!(BlockRef::new(&[1.0], 1, 1, 0).is_err());
        assert!(BlockRef::new(&[1.0], usize::MAX, 2, 2).is_err());
        assert!(BlockMut::new(&mut [1.0, 2.0, 3.0], 2, 2, 2).is_err());
        assert!(BlockRef::new(&[1.0, 2.0, 3.0], 2, 1, 2).is_ok());
        assert!(BlockRef::<f64>::new(&[], 4, 0, 0).is_ok());
    }

    /// Blocks without entries have views too, of the right shape.
    #[test]
    fn empty_blocks_have_views() {
        for (rows, cols) in [(0, 0), (0, 1), (0, 3), (0, 9), (1, 0), (4, 0)] {
            let mut block = Block::<f64>::zeros(rows, cols);
            assert_eq!(block.view().dim(), (rows, cols));
            assert_eq!(block.view_mut().dim(), (rows, cols));
        }
    }
}
