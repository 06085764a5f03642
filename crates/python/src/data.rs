//! Arrays of NumPy and SciPy as operators, without a copy.

use std::borrow::Cow;
use std::path::PathBuf;

use favard_io::OnDisk;
use favard_operator::{Block, Column, Csr, Dense, Result, Scalar, Sparse, SparseIndex};
use ndarray::{ArrayView1, ArrayView2, Dimension, Ix1, Ix2};
use numpy::{
    Element, PyArray, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::matrix::Matrix;

/// The memory of an array of Python, with the array, which keeps it alive.
///
/// A job reads it while Python goes on. Python code that writes into the array meanwhile changes what
/// the job reads, as with every library that releases the interpreter's lock: the result is then
/// worth nothing, but every index was checked and is checked again where it is used.
pub struct Borrowed<T: 'static, D: Dimension> {
    view: ndarray::ArrayView<'static, T, D>,
    _owner: Py<PyUntypedArray>,
}

impl<T: Element, D: Dimension> Borrowed<T, D> {
    pub fn new(array: &Bound<'_, PyArray<T, D>>) -> PyResult<Self> {
        let size = size_of::<T>().cast_signed();
        let whole = array.strides().iter().all(|stride| stride % size == 0);
        if !whole || !array.data().is_aligned() {
            return Err(PyValueError::new_err("array: its memory is not aligned"));
        }
        // SAFETY: the numbers are aligned, of the array's own type (checked when it was cast) and
        // shape, and live as long as the owner, which is dropped with the view.
        let view = unsafe { array.as_raw_array().deref_into_view() };
        Ok(Self { view, _owner: array.as_untyped().clone().unbind() })
    }
}

impl<T: Element, D: Dimension> Borrowed<T, D> {
    /// The numbers.
    pub fn view(&self) -> ndarray::ArrayView<'_, T, D> {
        self.view.view()
    }
}

impl<T> Borrowed<T, Ix1> {
    fn slice(&self) -> &[T] {
        // Contiguous: checked by `list`.
        self.view.to_slice().unwrap_or(&[])
    }
}

/// A list without gaps.
fn list<T: Element>(array: &Bound<'_, PyAny>, name: &str) -> PyResult<Borrowed<T, Ix1>> {
    let array = array.cast::<PyArray<T, Ix1>>().map_err(|_| wrong(array, name))?;
    if !array.is_c_contiguous() {
        return Err(PyValueError::new_err(format!("{name}: must be contiguous")));
    }
    Borrowed::new(array)
}

fn wrong(array: &Bound<'_, PyAny>, name: &str) -> PyErr {
    let what = array.get_type().name().map(|n| n.to_string()).unwrap_or_default();
    let dtype = array.getattr("dtype").map(|d| d.to_string()).unwrap_or_default();
    PyTypeError::new_err(format!("{name}: {what} {dtype} is not an array of the kind needed here"))
}

/// Row pointers or columns, as SciPy has them.
pub enum Indices {
    Short(Borrowed<i32, Ix1>),
    Long(Borrowed<i64, Ix1>),
}

impl Indices {
    fn new(array: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        match list(array, name) {
            Ok(short) => Ok(Self::Short(short)),
            Err(_) => list(array, name).map(Self::Long),
        }
    }
}

/// A matrix that Python holds.
pub enum Data<T: 'static> {
    Dense(Borrowed<T, Ix2>),
    Sparse {
        shape: (usize, usize),
        pointers: Indices,
        columns: Indices,
        values: Borrowed<T, Ix1>,
        by_columns: bool,
    },
    /// One that stays in its file, of which so many entries are read at a time.
    OnDisk {
        path: PathBuf,
        entries: usize,
    },
}

/// A sparse matrix as it comes: format, shape, row pointers, columns, values; for one in a file
/// `"disk"`, shape, path, entries of a part, an array of its type.
type Parts<'py> = (String, (usize, usize), Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

impl<T: Scalar + Element> Data<T> {
    /// From a two-dimensional array, or from `(format, shape, indptr, indices, data)` with the
    /// format `"csr"`, `"csc"` or `"disk"`.
    pub fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(array) = object.cast::<PyArray<T, Ix2>>() {
            return Ok(Self::Dense(Borrowed::new(array)?));
        }
        let parts: Parts<'_> = object.extract().map_err(|_| wrong(object, "X"))?;
        let (format, shape, pointers, columns, values) = parts;
        if format == "disk" {
            return Ok(Self::OnDisk { path: pointers.extract()?, entries: columns.extract()? });
        }
        Ok(Self::Sparse {
            shape,
            pointers: Indices::new(&pointers, "indptr")?,
            columns: Indices::new(&columns, "indices")?,
            values: list(&values, "data")?,
            by_columns: format == "csc",
        })
    }

    /// Rows and columns; zeros for one that stays in its file, whose header is read later.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::Dense(array) => array.view().dim(),
            Self::Sparse { shape, .. } => *shape,
            Self::OnDisk { .. } => (0, 0),
        }
    }

    /// The operator, for a model that takes the moments of all rows first: whether dense numbers are
    /// finite is seen then.
    pub fn open_deferred(&self) -> Result<Matrix<'_, T>> {
        match self {
            Self::Dense(array) => Ok(Matrix::Dense(Dense::deferred(array.view()))),
            Self::Sparse { .. } | Self::OnDisk { .. } => self.open(),
        }
    }

    /// The operator; reads all of it once, unless it stays in its file.
    pub fn open(&self) -> Result<Matrix<'_, T>> {
        match self {
            Self::Dense(array) => Ok(Matrix::Dense(Dense::new(array.view())?)),
            Self::OnDisk { path, entries } => {
                let matrix = OnDisk::open(path).map_err(favard_operator::Error::external)?;
                Ok(Matrix::OnDisk(Box::new(matrix.with_part_entries(*entries))))
            }
            Self::Sparse { shape, pointers, columns, values, by_columns } => {
                let shape = if *by_columns { (shape.1, shape.0) } else { *shape };
                let values = values.slice();
                let pointers = match pointers {
                    Indices::Short(list) => i32::pointers(Cow::Borrowed(list.slice()))?,
                    Indices::Long(list) => i64::pointers(Cow::Borrowed(list.slice()))?,
                };
                Ok(match columns {
                    Indices::Short(columns) => {
                        let columns = i32::columns(Cow::Borrowed(columns.slice()))?;
                        let csr = Csr::new(shape, pointers, columns, values)?;
                        Matrix::Sparse(stored(csr, *by_columns))
                    }
                    Indices::Long(columns) => {
                        let columns = columns.slice();
                        let csr = Csr::with_long_columns(shape, pointers, columns, values)?;
                        Matrix::Long(stored(csr, *by_columns))
                    }
                })
            }
        }
    }
}

/// What is stored by rows, or by columns when it is the transpose.
fn stored<T: Scalar, I: Column>(csr: Csr<'_, T, I>, by_columns: bool) -> Sparse<'_, T, I> {
    if by_columns { Sparse::from_columns(csr) } else { csr.into() }
}

/// Numbers of weights, start vectors, right-hand sides: copied, for they are few.
pub fn vector<T: Element + Copy + 'static>(
    array: &Bound<'_, PyAny>,
    name: &str,
) -> PyResult<Vec<T>> {
    let array = array.cast::<PyArray<T, Ix1>>().map_err(|_| wrong(array, name))?;
    let borrowed = Borrowed::new(array)?;
    let view: ArrayView1<'_, T> = borrowed.view();
    Ok(view.iter().copied().collect())
}

/// A block of columns, copied into cache-line rows.
pub fn block<T: Scalar + Element>(array: &Bound<'_, PyAny>, name: &str) -> PyResult<Block<T>> {
    let array = array.cast::<PyArray<T, Ix2>>().map_err(|_| wrong(array, name))?;
    let borrowed = Borrowed::new(array)?;
    let view: ArrayView2<'_, T> = borrowed.view();
    Ok(Block::from_array(view))
}

/// Whether an array, or the values of a sparse matrix, are of `f32`.
pub fn is_single(object: &Bound<'_, PyAny>) -> bool {
    if let Ok(array) = object.cast::<PyUntypedArray>() {
        return array.dtype().is_equiv_to(&numpy::dtype::<f32>(object.py()));
    }
    object.get_item(4).is_ok_and(|values| is_single_list(&values))
}

fn is_single_list(values: &Bound<'_, PyAny>) -> bool {
    values.cast::<PyArray<f32, Ix1>>().is_ok()
}
