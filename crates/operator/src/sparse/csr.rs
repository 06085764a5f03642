//! [`Csr`]: a sparse matrix stored by rows.

use std::borrow::Cow;

use rayon::prelude::*;
use sprs::{CsMatI, CsMatViewI};

use super::check::check_count;
use super::index::SparseIndex;
use crate::kernel::Stored;
use crate::{Column, Result, Scalar};

/// A sparse matrix stored by rows, owned or borrowed.
///
/// Row i holds the pairs $(c, a_{ic})$ at positions `pointers[i]..pointers[i + 1]` of `columns` and
/// `values`, the columns increasing. Columns are `u32`, so that an `f64` entry is 12 bytes, unless
/// they come as `i64` and shall not be copied ([`Csr::with_long_columns`]); pointers are `usize`, so that there may be more than $2^{31}$ entries. A list that has this layout is
/// borrowed or moved, never copied ([`SparseIndex`] says which have).
///
/// All products read the entries in the order of the rows; their cost is the module's matter:
/// one pass over the entries (`8 + 4` bytes each for `f64`) for every 16 columns of a block, for
/// $X^T Z$ every cache line of them; $X^T X W$ ([`Gram`](crate::Gram)) is one such pass while the rows
/// of 16 columns that the entries name stay near, and else both products.
/// The values of a matrix of zeros and ones are not read at all: 4 bytes an entry, and the same bits.
///
/// # Example
/// ```
/// use favard_operator::{Block, BlockRef, Csr, LinearOperator};
/// // ( 1 . 2 )
/// // ( . . . )
/// // ( . 3 . )
/// let a = Csr::new((3, 3), vec![0, 2, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0])?;
/// let y = a.multiply(BlockRef::column(&[1.0, 10.0, 100.0]))?;
/// assert_eq!(y, Block::column(&[201.0, 0.0, 30.0]));
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Csr<'a, T: Scalar, I: Column = u32> {
    shape: (usize, usize),
    pointers: Cow<'a, [usize]>,
    columns: Cow<'a, [I]>,
    values: Cow<'a, [T]>,
    /// Whether all values are one: then the products do not read them.
    ones: bool,
}

impl<'a, T: Scalar> Csr<'a, T> {
    /// A matrix from its three lists, each a vector (moved) or a slice (borrowed).
    ///
    /// Every entry is checked, in parallel: one pass over the lists.
    ///
    /// # Errors
    /// - [`Shape`](crate::ErrorKind::Shape): the lists do not have `rows + 1` pointers and as many
    ///   values as columns.
    /// - [`Pointers`](crate::ErrorKind::Pointers): they do not rise from 0 to the number of entries.
    /// - [`Unsorted`](crate::ErrorKind::Unsorted): the columns of a row do not increase (a column
    ///   that appears twice included).
    /// - [`Index`](crate::ErrorKind::Index): a column is not below `cols`, or `cols` exceeds $2^{32}$.
    /// - [`NonFinite`](crate::ErrorKind::NonFinite): a value is NaN or infinite.
    pub fn new(
        shape: (usize, usize),
        pointers: impl Into<Cow<'a, [usize]>>,
        columns: impl Into<Cow<'a, [u32]>>,
        values: impl Into<Cow<'a, [T]>>,
    ) -> Result<Self> {
        Self::checked(shape, pointers.into(), columns.into(), values.into())
    }

    /// The same from lists with other integers, which are converted where they have to be.
    ///
    /// # Errors
    /// Those of [`Csr::new`]; a negative or too large integer is an
    /// [`Index`](crate::ErrorKind::Index) error.
    ///
    /// # Example
    /// ```
    /// use favard_operator::Csr;
    /// // As SciPy has them: int32, borrowed. Only the pointers are converted.
    /// let (indptr, indices, data) = ([0_i32, 1, 2], [1_i32, 0], [0.5_f32, 0.25]);
    /// let a = Csr::from_parts((2, 2), &indptr[..], &indices[..], &data[..])?;
    /// assert_eq!(a.columns(), &[1, 0]);
    /// # Ok::<(), favard_operator::Error>(())
    /// ```
    pub fn from_parts<P: SparseIndex, I: SparseIndex>(
        shape: (usize, usize),
        pointers: impl Into<Cow<'a, [P]>>,
        columns: impl Into<Cow<'a, [I]>>,
        values: impl Into<Cow<'a, [T]>>,
    ) -> Result<Self> {
        Self::new(shape, P::pointers(pointers.into())?, I::columns(columns.into())?, values)
    }

    /// A `sprs` matrix. One that is stored by rows is moved; one that is stored by columns is
    /// rewritten by rows, in one pass and a second copy of the entries ([`Sparse::from_sprs`] does
    /// without, but does not give access to single rows).
    ///
    /// # Errors
    /// Those of [`Csr::new`], for values that are not finite and structures that were built
    /// without checks.
    ///
    /// # Example
    /// ```
    /// use favard_operator::{Csr, RowOperator};
    /// let mut triplets = sprs::TriMatI::<f64, u32>::new((2, 3));
    /// triplets.add_triplet(0, 1, 5.0);
    /// triplets.add_triplet(1, 2, 7.0);
    /// let a = Csr::from_sprs(triplets.to_csr::<usize>())?;
    /// assert_eq!(a.entry(1, 2), 7.0);
    /// # Ok::<(), favard_operator::Error>(())
    /// ```
    ///
    /// [`Sparse::from_sprs`]: crate::Sparse::from_sprs
    pub fn from_sprs<I: SparseIndex, P: SparseIndex>(matrix: CsMatI<T, I, P>) -> Result<Self> {
        let (stored, by_columns) = Self::stored(matrix)?;
        Ok(if by_columns { stored.transposed() } else { stored })
    }

    /// A borrowed `sprs` matrix that is stored by rows; one stored by columns is rewritten as in
    /// [`Csr::from_sprs`].
    ///
    /// # Errors
    /// Those of [`Csr::from_sprs`].
    pub fn from_sprs_view<I: SparseIndex, P: SparseIndex>(
        matrix: CsMatViewI<'a, T, I, P>,
    ) -> Result<Self> {
        let (stored, by_columns) = Self::stored_view(matrix)?;
        Ok(if by_columns { stored.transposed() } else { stored })
    }

    /// The matrix as `sprs` stores it, read by rows, and whether that is the transpose.
    pub(super) fn stored<I: SparseIndex, P: SparseIndex>(
        matrix: CsMatI<T, I, P>,
    ) -> Result<(Self, bool)> {
        let (shape, by_columns) = stored_shape(matrix.shape(), matrix.is_csc());
        // The pointers of a slice of a matrix start above zero; only then are they copied.
        let moved = (!matrix.indptr().is_proper()).then(|| matrix.proper_indptr().into_owned());
        let (pointers, columns, values) = matrix.into_raw_storage();
        let csr = Self::from_parts(shape, moved.unwrap_or(pointers), columns, values)?;
        Ok((csr, by_columns))
    }

    /// The same for a view.
    pub(super) fn stored_view<I: SparseIndex, P: SparseIndex>(
        matrix: CsMatViewI<'a, T, I, P>,
    ) -> Result<(Self, bool)> {
        let (shape, by_columns) = stored_shape(matrix.shape(), matrix.is_csc());
        let moved =
            (!matrix.indptr().is_proper()).then(|| Cow::Owned(matrix.proper_indptr().into_owned()));
        let (pointers, columns, values) = matrix.into_raw_storage();
        let pointers = moved.unwrap_or(Cow::Borrowed(pointers));
        Ok((Self::from_parts(shape, pointers, columns, values)?, by_columns))
    }
}

impl<'a, T: Scalar> Csr<'a, T, i64> {
    /// A matrix from its three lists with columns of 64 bits, which are read in place: no copy of
    /// 4 bytes an entry is made, and every product reads 4 bytes an entry more.
    ///
    /// # Errors
    /// Those of [`Csr::new`]; a negative column is an [`Index`](crate::ErrorKind::Index) error.
    ///
    /// # Example
    /// ```
    /// use favard_operator::{Block, BlockRef, Csr, LinearOperator};
    /// let columns = [0_i64, 2, 1];
    /// let a = Csr::with_long_columns((2, 3), vec![0, 2, 3], &columns[..], vec![1.0, 2.0, 3.0])?;
    /// let y = a.multiply(BlockRef::column(&[1.0, 10.0, 100.0]))?;
    /// assert_eq!(y, Block::column(&[201.0, 30.0]));
    /// # Ok::<(), favard_operator::Error>(())
    /// ```
    pub fn with_long_columns(
        shape: (usize, usize),
        pointers: impl Into<Cow<'a, [usize]>>,
        columns: impl Into<Cow<'a, [i64]>>,
        values: impl Into<Cow<'a, [T]>>,
    ) -> Result<Self> {
        Self::checked(shape, pointers.into(), columns.into(), values.into())
    }

    /// The same matrix with columns of 32 bits: a copy of the columns, nothing else.
    ///
    /// # Errors
    /// [`Index`](crate::ErrorKind::Index) for a column that 32 bits do not hold, or more than
    /// $2^{32}$ columns.
    ///
    /// # Example
    /// ```
    /// use favard_operator::Csr;
    /// let long = Csr::with_long_columns((1, 3), vec![0, 1], vec![2], vec![5.0])?;
    /// assert_eq!(long.into_short()?.columns(), &[2_u32]);
    /// # Ok::<(), favard_operator::Error>(())
    /// ```
    pub fn into_short(self) -> Result<Csr<'a, T>> {
        let Self { shape, pointers, columns, values, ones } = self;
        let columns = i64::columns(columns)?;
        check_count::<u32>(shape.1)?;
        Ok(Csr { shape, pointers, columns, values, ones })
    }
}

impl<'a, T: Scalar, I: Column> Csr<'a, T, I> {
    fn checked(
        shape: (usize, usize),
        pointers: Cow<'a, [usize]>,
        columns: Cow<'a, [I]>,
        values: Cow<'a, [T]>,
    ) -> Result<Self> {
        (T::kernels::<I>().check)(shape, &pointers, &columns, &values)?;
        let ones =
            values.par_chunks(1 << 14).all(|part| part.iter().all(|&value| value == T::one()));
        Ok(Self { shape, pointers, columns, values, ones })
    }

    /// (rows, columns).
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }

    /// The number of stored entries.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// Where each row starts, and where the last one ends.
    #[must_use]
    pub fn pointers(&self) -> &[usize] {
        &self.pointers
    }

    /// The column of each entry.
    #[must_use]
    pub fn columns(&self) -> &[I] {
        &self.columns
    }

    /// The value of each entry.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The columns and the values of row i.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn row(&self, i: usize) -> (&[I], &[T]) {
        let range = self.pointers[i]..self.pointers[i + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// A matrix that borrows this one.
    #[must_use]
    pub fn view(&self) -> Csr<'_, T, I> {
        Csr {
            shape: self.shape,
            pointers: Cow::Borrowed(&self.pointers),
            columns: Cow::Borrowed(&self.columns),
            values: Cow::Borrowed(&self.values),
            ones: self.ones,
        }
    }

    /// The transpose, stored by rows: a counting sort, with a second copy of the entries.
    ///
    /// Products with $A^T$ do not need it ([`AdjointOperator`](crate::AdjointOperator)); access to
    /// the columns one by one does.
    ///
    /// # Example
    /// ```
    /// use favard_operator::Csr;
    /// let a = Csr::new((1, 3), vec![0, 2], vec![0, 2], vec![1.0, 2.0])?;
    /// let t = a.transposed();
    /// assert_eq!((t.shape(), t.pointers(), t.columns()), ((3, 1), &[0, 1, 1, 2][..], &[0, 0][..]));
    /// # Ok::<(), favard_operator::Error>(())
    /// ```
    ///
    /// # Panics
    /// When there are more rows than columns can be numbered, $2^{32}$ with `u32`: they would be the
    /// columns.
    #[must_use]
    pub fn transposed(&self) -> Csr<'static, T, I> {
        let (rows, cols) = self.shape;
        let mut pointers = vec![0_usize; cols + 1];
        for &column in self.columns.iter() {
            pointers[column.at() + 1] += 1;
        }
        for column in 0..cols {
            pointers[column + 1] += pointers[column];
        }
        let mut next = pointers.clone();
        let mut columns = self.columns.to_vec();
        let mut values = vec![T::zero(); self.entries()];
        for row in 0..rows {
            let number = I::of(row).expect("rows that columns can be numbered by");
            let (from, entries) = self.row(row);
            for (&column, &value) in from.iter().zip(entries) {
                let position = &mut next[column.at()];
                (columns[*position], values[*position]) = (number, value);
                *position += 1;
            }
        }
        Csr {
            shape: (cols, rows),
            pointers: pointers.into(),
            columns: columns.into(),
            values: values.into(),
            ones: self.ones,
        }
    }

    /// The transpose with lists that are known to be right.
    pub(super) fn from_trusted<J: Column>(
        shape: (usize, usize),
        pointers: Vec<usize>,
        columns: Vec<I>,
        values: Vec<T>,
        of: &Csr<'_, T, J>,
    ) -> Self {
        let (pointers, columns, values) = (pointers.into(), columns.into(), values.into());
        Self { shape, pointers, columns, values, ones: of.ones }
    }

    /// Whether rows are fewer than columns, and may be columns of 32 bits.
    pub(crate) fn has_long_rows(&self) -> bool {
        let (rows, cols) = self.shape;
        rows < cols && u32::try_from(rows).is_ok()
    }

    /// The matrix as the kernels see it: values that are all one are not read.
    pub(crate) fn as_stored(&self) -> Stored<'_, T, I> {
        let values = (!self.ones).then_some(&*self.values);
        Stored { pointers: &self.pointers, columns: &self.columns, values, cols: self.shape.1 }
    }
}

fn stored_shape((rows, cols): (usize, usize), by_columns: bool) -> ((usize, usize), bool) {
    (if by_columns { (cols, rows) } else { (rows, cols) }, by_columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Matrices of ones are known as such, however they are looked at, and no others are.
    #[test]
    fn ones_are_found() {
        let of = |values: Vec<f64>| Csr::new((1, 2), vec![0, 2], vec![0, 1], values).unwrap();
        let ones = of(vec![1.0, 1.0]);
        assert!(ones.ones && ones.view().ones && ones.transposed().ones);
        assert!(!of(vec![1.0, -1.0]).ones);
    }
}
