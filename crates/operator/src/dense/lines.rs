//! [`Lines`]: rows at a fixed distance, as the kernels read them.

// Inlining carries the instruction set of a kernel into what it calls: see `kernel::lanes`.
#![allow(clippy::inline_always)]

use ndarray::ArrayView2;

use crate::{Block, Scalar};

/// Rows of numbers, `stride` apart, the first at the start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lines<'a, T> {
    data: &'a [T],
    stride: usize,
}

impl<'a, T: Scalar> Lines<'a, T> {
    pub fn new(data: &'a [T], stride: usize) -> Self {
        Self { data, stride }
    }

    /// The same rows without their first numbers.
    #[inline(always)]
    pub fn skip(self, numbers: usize) -> Self {
        Self { data: &self.data[numbers..], ..self }
    }

    /// The same without the first rows.
    #[inline(always)]
    pub fn skip_rows(self, rows: usize) -> Self {
        self.skip(rows * self.stride)
    }

    /// The first numbers of row i.
    #[inline(always)]
    pub fn row(self, i: usize, numbers: usize) -> &'a [T] {
        &self.data[i * self.stride..][..numbers]
    }

    /// The first N numbers of row i, or what follows in memory if it has fewer.
    #[inline(always)]
    pub fn at<const N: usize>(self, i: usize) -> [T; N] {
        let from = i * self.stride;
        let mut numbers = [T::zero(); N];
        numbers.copy_from_slice(&self.data[from..from + N]);
        numbers
    }
}

/// A matrix of any strides as pieces of rows that can be read as [`Lines`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a, T> {
    array: ArrayView2<'a, T>,
    /// All of it, when its rows follow one another in memory.
    slice: Option<&'a [T]>,
}

impl<'a, T: Scalar> Source<'a, T> {
    pub fn new(array: ArrayView2<'a, T>) -> Self {
        Self { array, slice: array.to_slice() }
    }

    /// `len` rows from row `from` on, each with `width` numbers that can be read, the matrix's own
    /// first: in place, or where the memory is another one or ends with them, as a copy.
    pub fn lines<'b>(
        &self,
        (from, len): (usize, usize),
        width: usize,
        copy: &'b mut Block<T>,
    ) -> Lines<'b, T>
    where
        'a: 'b,
    {
        let cols = self.array.ncols();
        if let Some(slice) = self.slice
            && len > 0
            && (from + len - 1) * cols + width <= slice.len()
        {
            return Lines::new(&slice[from * cols..], cols);
        }
        if copy.rows() < len || copy.cols() != width {
            copy.reshape(len, width);
        }
        let strides = self.array.strides();
        if strides[0].unsigned_abs() >= strides[1].unsigned_abs() {
            for i in 0..len {
                let row = copy.row_mut(i).iter_mut();
                row.zip(self.array.row(from + i)).for_each(|(to, &value)| *to = value);
            }
        } else {
            for (j, column) in self.array.columns().into_iter().enumerate() {
                let numbers = column.iter().skip(from).take(len);
                numbers.enumerate().for_each(|(i, &value)| copy.row_mut(i)[j] = value);
            }
        }
        let stride = copy.stride();
        Lines::new(copy.as_ref().data(), stride)
    }
}
