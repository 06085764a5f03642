//! [`Loaded`]: what was in a file.

use favard_operator::{Csr, Dense, Scalar};
use ndarray::Array2;

use crate::csr::zeros;
use crate::error::{ErrorKind, Result};

/// A matrix, sparse or dense, as the file has it.
///
/// # Example
/// ```
/// use favard_io::{Format, Matrix, ReadOptions, read_bytes};
/// let options = ReadOptions::new().format(Format::Csv);
/// let loaded = read_bytes::<f64>("a.csv", b"1,0\n0,2\n", &options)?;
/// assert_eq!((loaded.matrix.shape(), loaded.matrix.entries()), ((2, 2), 4));
/// // Moved into an operator, not copied.
/// let dense = loaded.matrix.into_dense()?;
/// assert_eq!(dense.view()[[1, 1]], 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub enum Matrix<T: Scalar> {
    /// Stored by rows, entries with value zero included where the file has them.
    Sparse(Csr<'static, T>),
    /// Stored in full, by rows or by columns as the file is. All values are finite.
    Dense(Array2<T>),
}

impl<T: Scalar> Matrix<T> {
    /// (rows, columns).
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::Sparse(csr) => csr.shape(),
            Self::Dense(array) => array.dim(),
        }
    }

    /// Stored entries.
    #[must_use]
    pub fn entries(&self) -> usize {
        match self {
            Self::Sparse(csr) => csr.entries(),
            Self::Dense(array) => array.len(),
        }
    }

    /// Whether the matrix is stored sparsely.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        matches!(self, Self::Sparse(_))
    }

    /// Bytes the matrix takes in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Sparse(csr) => {
                csr.entries() * (size_of::<u32>() + size_of::<T>()) + size_of_val(csr.pointers())
            }
            Self::Dense(array) => array.len() * size_of::<T>(),
        }
    }

    /// The sparse operator: moved when the matrix is sparse; a dense one gives up its zeros, in
    /// one pass and a second copy of the rest.
    ///
    /// # Errors
    /// Those of [`Csr::new`]: more than $2^{32}$ columns.
    pub fn into_csr(self) -> favard_operator::Result<Csr<'static, T>> {
        let array = match self {
            Self::Sparse(csr) => return Ok(csr),
            Self::Dense(array) => array,
        };
        let (mut pointers, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in array.rows() {
            for (column, &value) in (0_u32..).zip(row) {
                if value != T::zero() {
                    columns.push(column);
                    values.push(value);
                }
            }
            pointers.push(columns.len());
        }
        Csr::new(array.dim(), pointers, columns, values)
    }

    /// The dense operator: moved when the matrix is dense; a sparse one is written out in full,
    /// which takes rows × columns numbers.
    ///
    /// # Errors
    /// Those of [`Dense::new`]; [`ErrorKind::Memory`], with the bytes, when a sparse matrix is too
    /// large to be written out.
    pub fn into_dense(self) -> Result<Dense<'static, T>, ErrorKind> {
        let csr = match self {
            Self::Dense(array) => return Ok(Dense::new(array)?),
            Self::Sparse(csr) => csr,
        };
        let (rows, cols) = csr.shape();
        let all = zeros("the dense matrix", T::zero(), rows.saturating_mul(cols))?;
        let mut array = Array2::from_shape_vec((rows, cols), all).map_err(|_| {
            let found = format!("{rows} × {cols}");
            ErrorKind::Unsupported { what: "shape", found }
        })?;
        for (i, mut row) in array.rows_mut().into_iter().enumerate() {
            let (columns, values) = csr.row(i);
            for (&column, &value) in columns.iter().zip(values) {
                row[column as usize] = value;
            }
        }
        Ok(Dense::new(array)?)
    }
}

/// A matrix with the names that came with it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loaded<T: Scalar> {
    /// The matrix.
    pub matrix: Matrix<T>,
    /// One name for each row, where the file has them.
    pub row_names: Option<Vec<String>>,
    /// One name for each column, where the file has them.
    pub column_names: Option<Vec<String>>,
    /// One number for each row: the labels of a libsvm file.
    pub labels: Option<Vec<T>>,
}

impl<T: Scalar> Loaded<T> {
    /// A matrix without names.
    #[must_use]
    pub fn unnamed(matrix: Matrix<T>) -> Self {
        Self { matrix, row_names: None, column_names: None, labels: None }
    }
}
