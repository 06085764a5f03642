//! [`Source`]: a matrix, or an operator that Python knows by its products.

use favard_engine::Record;
use favard_operator::check_dim;
use favard_operator::{AdjointOperator, BlockMut, BlockRef, Error, FnOperator, Result, Scalar};
use ndarray::{Array2, Ix2};
use numpy::{Element, IntoPyArray, PyArray};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::data::{Borrowed, Data};
use crate::error::Failure;
use crate::talk::{Answers, Line, Product};

/// What a job works on.
pub enum Source<T: 'static> {
    /// A matrix.
    Matrix(Data<T>),
    /// An operator of this shape; its products are asked for.
    Python((usize, usize)),
}

/// What Python answers: a callback after each step, called as `callback(tick, passes, residual)`
/// (true stops), and the products of an operator.
#[derive(Default)]
pub struct Python {
    callback: Option<Py<PyAny>>,
    products: Option<[Py<PyAny>; 2]>,
}

impl Python {
    /// The answers of a callback alone.
    pub fn callback(callback: Option<Py<PyAny>>) -> Self {
        Self { callback, products: None }
    }
}

impl<T: Scalar + Element> Answers<T> for Python {
    fn is_watching(&self) -> bool {
        self.callback.is_some()
    }

    fn step(&mut self, py: pyo3::Python<'_>, record: &Record<T>) -> PyResult<bool> {
        let Some(callback) = &self.callback else {
            return Ok(false);
        };
        let told = callback.call1(py, (record.tick, record.passes, record.residual.as_f64()))?;
        told.bind(py).is_truthy()
    }

    fn product(&mut self, py: pyo3::Python<'_>, product: Product<T>) -> PyResult<Vec<T>> {
        let Some(functions) = &self.products else {
            return Err(PyTypeError::new_err("there is no operator to multiply with"));
        };
        let Product { adjoint, values, columns } = product;
        let rows = values.len() / columns.max(1);
        let block = Array2::from_shape_vec((rows, columns), values);
        let block = block.map_err(|e| PyTypeError::new_err(e.to_string()))?.into_pyarray(py);
        let image = functions[usize::from(adjoint)].call1(py, (block,))?;
        let image = image.bind(py).cast::<PyArray<T, Ix2>>().map_err(|_| {
            PyTypeError::new_err("the product of an operator is not an array of its own type")
        })?;
        Ok(Borrowed::new(image)?.view().iter().copied().collect())
    }
}

impl<T: Scalar + Element> Source<T> {
    /// Rows and columns; zeros for a matrix that stays in its file, whose header is read later.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::Matrix(data) => data.shape(),
            Self::Python(shape) => *shape,
        }
    }

    /// From a matrix, as `Data` takes it, or from `("operator", shape, matmat, rmatmat, example)`,
    /// the example being an array of the operator's type.
    pub fn new(object: &Bound<'_, PyAny>, callback: Option<Py<PyAny>>) -> PyResult<(Self, Python)> {
        type Parts<'py> = (String, (usize, usize), Py<PyAny>, Py<PyAny>, Bound<'py, PyAny>);
        match object.extract::<Parts<'_>>() {
            Ok((kind, shape, forward, adjoint, _)) if kind == "operator" => {
                let answers = Python { callback, products: Some([forward, adjoint]) };
                Ok((Self::Python(shape), answers))
            }
            _ => Ok((Self::Matrix(Data::new(object)?), Python { callback, products: None })),
        }
    }

    /// Runs `f` on the operator.
    pub fn with<R>(
        &self,
        line: &Line<T>,
        f: impl FnOnce(&dyn AdjointOperator<T>) -> std::result::Result<R, Failure>,
    ) -> std::result::Result<R, Failure> {
        match self {
            Self::Matrix(data) => f(&data.open()?),
            Self::Python(shape) => f(&operator(*shape, line)),
        }
    }
}

/// The operator behind a line.
pub fn operator<T: Scalar>(shape: (usize, usize), line: &Line<T>) -> impl AdjointOperator<T> + '_ {
    let forward = move |x: BlockRef<'_, T>, y: BlockMut<'_, T>| ask(line, false, x, y);
    let adjoint = move |x: BlockRef<'_, T>, y: BlockMut<'_, T>| ask(line, true, x, y);
    FnOperator::<T>::fallible(shape, forward).with_fallible_adjoint(adjoint)
}

fn ask<T: Scalar>(
    line: &Line<T>,
    adjoint: bool,
    x: BlockRef<'_, T>,
    mut y: BlockMut<'_, T>,
) -> Result<()> {
    let columns = x.cols();
    let values = (0..x.rows()).flat_map(|i| x.row(i).iter().copied()).collect();
    let product = line.product(Product { adjoint, values, columns });
    let values = product.ok_or_else(|| Error::external("the operator raised an exception"))?;
    check_dim("numbers of the operator's product", y.rows() * columns, values.len())?;
    for (i, row) in values.chunks(columns.max(1)).enumerate() {
        y.row_mut(i).copy_from_slice(row);
    }
    Ok(())
}
