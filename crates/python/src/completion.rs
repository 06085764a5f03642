//! `completion`: a matrix of low rank from some of its entries.

use favard_engine::Record;
use favard_models::{Completed, CompletionSpectral, MatrixCompletion};
use favard_operator::{Csr, Scalar};
use ndarray::Array2;
use numpy::{Element, IntoPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::{self, Data};
use crate::error::{Failure, check_numbers};
use crate::info::{array, dense, put_info};
use crate::matrix::Matrix;
use crate::source;
use crate::talk::{self, Line};

/// What is asked for.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Problem {
    rank: usize,
    symmetric: bool,
    held_out: f64,
    spectral: String,
    spectral_tolerance: f64,
    momentum: bool,
    tolerance: f64,
    products: u64,
    iterations: u64,
    seed: u64,
    batch: Option<usize>,
    epoch: Option<u64>,
}

impl Problem {
    fn model(&self) -> PyResult<MatrixCompletion> {
        let spectral = match (self.spectral.as_str(), self.batch, self.epoch) {
            ("auto", ..) => CompletionSpectral::Auto,
            ("exact", ..) => CompletionSpectral::Exact,
            ("variance-reduced", Some(batch), Some(epoch)) => {
                CompletionSpectral::Batches { batch, epoch }
            }
            ("variance-reduced", ..) => CompletionSpectral::VarianceReduced,
            (other, ..) => {
                let text = format!("spectral: {other} is none of auto, exact, variance-reduced");
                return Err(PyValueError::new_err(text));
            }
        };
        let model = MatrixCompletion::new(self.rank).symmetric(self.symmetric).spectral(spectral);
        let model = model.held_out(self.held_out).spectral_tolerance(self.spectral_tolerance);
        let model = model.momentum(self.momentum).tolerance(self.tolerance);
        Ok(model.products(self.products).iterations(self.iterations).seed(self.seed))
    }
}

/// The stored entries of a sparse matrix, in place where they are stored by rows and with columns of
/// 32 bits.
fn entries<T: Scalar + Element>(data: &Data<T>) -> Result<Csr<'_, T>, Failure> {
    match data.open()? {
        Matrix::Sparse(sparse) => Ok(sparse.into_csr()),
        Matrix::Long(sparse) => Ok(sparse.into_csr().into_short()?),
        Matrix::Dense(_) | Matrix::OnDisk(_) => {
            let text = "X: the observed entries are those that a sparse matrix in memory stores";
            Err(favard_operator::Error::external(text).into())
        }
    }
}

fn solve<T: Scalar + Element>(
    data: &Data<T>,
    model: &MatrixCompletion,
    line: &Line<T>,
) -> Result<(Completed<T>, [Array2<T>; 2]), Failure> {
    let mut watch = |record: &Record<T>| line.watch(record);
    let found = model.solve_watched(&entries(data)?, &mut watch)?;
    let factors = [dense(found.left()), dense(found.right())];
    Ok((found, factors))
}

fn run<T: Scalar + Element>(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    model: MatrixCompletion,
    tolerance: f64,
    callback: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    let data = Data::<T>::new(x)?;
    let mut answers = source::Python::callback(callback);
    let job = move |line: &Line<T>| solve(&data, &model, line);
    let ((found, [left, right]), raised) = talk::run(py, &mut answers, job)?;
    let dict = PyDict::new(py);
    dict.set_item("left", array(py, left))?;
    dict.set_item("values", found.values().to_vec().into_pyarray(py))?;
    dict.set_item("right", array(py, right))?;
    dict.set_item("held_out_error", found.held_out_error())?;
    dict.set_item("held_out_entries", found.held_out_entries())?;
    let (rows, cols) = found.undetermined();
    dict.set_item("undetermined", (rows.to_vec(), cols.to_vec()))?;
    let (info, spectral) = (PyDict::new(py), PyDict::new(py));
    put_info(&info, found.refinement())?;
    put_info(&spectral, found.spectral())?;
    info.set_item("certified", found.is_certified())?;
    info.set_item("tolerance", tolerance)?;
    info.set_item("residuals", vec![found.residual()].into_pyarray(py))?;
    info.set_item("reason", found.method())?;
    dict.set_item("info", info)?;
    dict.set_item("spectral", spectral)?;
    dict.set_item("raised", raised)?;
    Ok(dict.unbind())
}

/// Completes a sparse matrix (see `Data`) whose stored entries are those observed.
#[pyfunction]
#[pyo3(signature = (x, problem, *, callback=None))]
pub fn completion(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    problem: Problem,
    callback: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    let (model, tolerance) = (problem.model()?, problem.tolerance);
    if data::is_single(x) {
        run::<f32>(py, x, model, tolerance, callback)
    } else {
        run::<f64>(py, x, model, tolerance, callback)
    }
}

/// Entries (row, column, value) as `(indptr, indices, data)` of a matrix stored by rows; an entry
/// that is given twice is an error.
#[pyfunction]
pub fn completion_entries<'py>(
    py: Python<'py>,
    shape: (usize, usize),
    rows: &Bound<'py, PyAny>,
    columns: &Bound<'py, PyAny>,
    values: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    if data::is_single(values) {
        by_rows::<f32>(py, shape, rows, columns, values)
    } else {
        by_rows::<f64>(py, shape, rows, columns, values)
    }
}

fn by_rows<'py, T: Scalar + Element>(
    py: Python<'py>,
    shape: (usize, usize),
    rows: &Bound<'py, PyAny>,
    columns: &Bound<'py, PyAny>,
    values: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let rows = data::vector::<i64>(rows, "rows")?;
    let columns = data::vector::<i64>(columns, "columns")?;
    let values = data::vector::<T>(values, "values")?;
    if rows.len() != columns.len() || rows.len() != values.len() {
        let (r, c, v) = (rows.len(), columns.len(), values.len());
        let text = format!("entries: {r} rows, {c} columns and {v} values must be as many");
        return Err(PyValueError::new_err(text));
    }
    let job = move |_: &Line<T>| {
        // A negative index is beyond every shape.
        let index = |at: i64| usize::try_from(at).unwrap_or(usize::MAX);
        let places = rows.iter().zip(&columns).map(|(&i, &j)| (index(i), index(j)));
        let entries: Vec<_> = places.zip(&values).map(|((i, j), &v)| (i, j, v)).collect();
        check_numbers(shape.0, 4)?;
        let matrix = MatrixCompletion::entries(shape, &entries)?;
        let signed = |at: usize| i64::try_from(at).unwrap_or(i64::MAX);
        let pointers: Vec<i64> = matrix.pointers().iter().map(|&p| signed(p)).collect();
        let columns: Vec<i64> = matrix.columns().iter().map(|&c| i64::from(c)).collect();
        Ok((pointers, columns, matrix.values().to_vec()))
    };
    let (found, raised) = talk::run(py, &mut source::Python::default(), job)?;
    if let Some(raised) = raised {
        return Err(raised);
    }
    let (pointers, columns, values) = found;
    let parts = (pointers.into_pyarray(py), columns.into_pyarray(py), values.into_pyarray(py));
    Ok(parts.into_pyobject(py)?.into_any())
}
