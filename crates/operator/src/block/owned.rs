//! [`Block`], which owns its memory.

use ndarray::{ArrayView2, ArrayViewMut2};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::memory::Memory;
use super::{BlockMut, BlockRef};
use crate::ops::copy;
use crate::{Result, Scalar};

/// A dense block of `rows × cols` numbers, stored row by row, each row starting on a boundary that
/// keeps it within as few cache lines as its length allows.
///
/// $F \in \mathbb{R}^{n \times k}$ with the k numbers of a row next to each other: one entry of a
/// sparse matrix then drives k multiply-adds on one cache line. The memory starts on a 64-byte
/// boundary; rows are padded to a power of two up to one line and to whole lines beyond, so that a
/// row of at most a line never straddles two (measured at 1.5 times the speed of unaligned rows).
///
/// # Example
/// ```
/// use favard_operator::Block;
/// use ndarray::array;
///
/// let block = Block::from_array(array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]].view());
/// assert_eq!(block.shape(), (2, 3));
/// assert_eq!(block.stride(), 4); // three numbers, padded to four
/// assert_eq!(block.row(1), &[4.0, 5.0, 6.0]);
/// ```
#[derive(Debug)]
pub struct Block<T> {
    /// At least the rows, one behind the other: memory that was larger once stays as it is, so that going
    /// back and forth between shapes does not fill it with zeros each time.
    data: Memory<T>,
    rows: usize,
    cols: usize,
    stride: usize,
}

impl<T: Scalar> Block<T> {
    /// The distance between rows for a block of `cols` columns.
    #[must_use]
    pub fn stride_for(cols: usize) -> usize {
        if cols <= T::LANE { cols.next_power_of_two() } else { cols.next_multiple_of(T::LANE) }
    }

    pub(crate) fn len_for(rows: usize, cols: usize) -> usize {
        rows * Self::stride_for(cols)
    }

    /// A block of zeros.
    #[must_use]
    pub fn zeros(rows: usize, cols: usize) -> Self {
        let data = Memory::zeros(Self::len_for(rows, cols));
        Self { data, rows, cols, stride: Self::stride_for(cols) }
    }

    /// The block whose entry (i, j) is `f(i, j)`.
    #[must_use]
    pub fn from_fn(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> T) -> Self {
        let mut block = Self::zeros(rows, cols);
        for i in 0..rows {
            for (j, entry) in block.row_mut(i).iter_mut().enumerate() {
                *entry = f(i, j);
            }
        }
        block
    }

    /// A copy of an array of any layout.
    #[must_use]
    pub fn from_array(array: ArrayView2<'_, T>) -> Self {
        Self::from_fn(array.nrows(), array.ncols(), |i, j| array[[i, j]])
    }

    /// A block of one column.
    #[must_use]
    pub fn column(values: &[T]) -> Self {
        Self::from_fn(values.len(), 1, |i, _| values[i])
    }

    /// Independent standard normal entries, a pure function of the seed and the shape: the usual
    /// start of an iteration, which has a component along every eigenvector with probability one.
    #[must_use]
    pub fn gaussian(rows: usize, cols: usize, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Self::from_fn(rows, cols, |_, _| {
            let draw: f64 = StandardNormal.sample(&mut rng);
            T::of(draw)
        })
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

    /// How many numbers fit without a new allocation.
    pub(crate) fn capacity(&self) -> usize {
        self.data.len()
    }

    /// Another shape in the same memory, which grows when it must. The entries are unspecified.
    pub fn reshape(&mut self, rows: usize, cols: usize) {
        let len = Self::len_for(rows, cols);
        if len > self.data.len() {
            // The old entries are not wanted: not while there are new ones, and no copy.
            self.data = Memory::new();
            self.data = Memory::zeros(len);
        }
        (self.rows, self.cols, self.stride) = (rows, cols, Self::stride_for(cols));
    }

    /// Row i, its k numbers.
    #[must_use]
    pub fn row(&self, i: usize) -> &[T] {
        &self.data[i * self.stride..][..self.cols]
    }

    /// Row i, to write.
    pub fn row_mut(&mut self, i: usize) -> &mut [T] {
        &mut self.data[i * self.stride..][..self.cols]
    }

    /// Sets every entry, padding included.
    pub fn fill(&mut self, value: T) {
        self.as_mut().data_mut().fill(value);
    }

    /// The block to read.
    #[must_use]
    pub fn as_ref(&self) -> BlockRef<'_, T> {
        BlockRef::from_parts(
            &self.data[..self.rows * self.stride],
            self.rows,
            self.cols,
            self.stride,
        )
    }

    /// The block to write.
    pub fn as_mut(&mut self) -> BlockMut<'_, T> {
        let data = &mut self.data[..self.rows * self.stride];
        BlockMut::from_parts(data, self.rows, self.cols, self.stride)
    }

    /// The block as an `ndarray` view.
    #[must_use]
    pub fn view(&self) -> ArrayView2<'_, T> {
        self.as_ref().into_view()
    }

    /// The block as a mutable `ndarray` view.
    pub fn view_mut(&mut self) -> ArrayViewMut2<'_, T> {
        self.as_mut().into_view()
    }

    /// Copies the entries of another block of the same shape.
    ///
    /// # Errors
    /// When the shapes differ.
    pub fn assign(&mut self, other: BlockRef<'_, T>) -> Result<()> {
        copy(other, self.as_mut())
    }
}

/// A copy has the memory of its shape, not of what the block was before.
impl<T: Clone> Clone for Block<T> {
    fn clone(&self) -> Self {
        Self { data: Memory::copy_of(&self.data[..self.rows * self.stride]), ..*self }
    }
}

/// Equal shape and equal entries; the padding does not count.
impl<T: PartialEq> PartialEq for Block<T> {
    fn eq(&self, other: &Self) -> bool {
        let row = |block: &'_ Self, i: usize| i * block.stride..i * block.stride + block.cols;
        (self.rows, self.cols) == (other.rows, other.cols)
            && (0..self.rows).all(|i| self.data[row(self, i)] == other.data[row(other, i)])
    }
}

/// On disk a block is its shape and its entries row by row, without padding.
#[derive(Serialize, Deserialize)]
struct Packed<T> {
    rows: usize,
    cols: usize,
    entries: Vec<T>,
}

impl<T: Scalar> Serialize for Block<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entries = (0..self.rows).flat_map(|i| self.row(i)).copied().collect();
        Packed { rows: self.rows, cols: self.cols, entries }.serialize(serializer)
    }
}

impl<'de, T: Scalar> Deserialize<'de> for Block<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Packed { rows, cols, entries } = Packed::<T>::deserialize(deserializer)?;
        if rows.checked_mul(cols) != Some(entries.len()) {
            let found = entries.len();
            return Err(D::Error::custom(format!("block: {rows} × {cols} with {found} entries")));
        }
        Ok(Self::from_fn(rows, cols, |i, j| entries[i * cols + j]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block that was larger once shows, copies and fills what its shape says and nothing behind it.
    #[test]
    fn a_smaller_shape_is_all_there_is() {
        let mut block = Block::<f64>::from_fn(6, 8, |_, _| 7.0);
        block.reshape(2, 3);
        assert_eq!(block.as_ref().data().len(), 2 * block.stride());
        block.fill(1.0);
        let copy = block.clone();
        assert_eq!((&copy, copy.capacity()), (&block, 2 * block.stride()));
        // Back to the old shape: the memory behind was left as it was.
        block.reshape(6, 8);
        let last = block.as_ref().rows_range(5..6).to_owned();
        assert_eq!(last, Block::from_fn(1, 8, |_, _| 7.0));
        assert_eq!(copy, Block::from_fn(2, 3, |_, _| 1.0));
    }
}
