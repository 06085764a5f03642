//! What a run reports, as a dictionary.

use favard_engine::{Info, Stop};
use favard_models::Certificate;
use favard_operator::{Block, Scalar};
use ndarray::{Array2, Axis};
use numpy::{Element, IntoPyArray, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

/// The stop's name in small letters.
pub fn stop_name(stop: Stop) -> String {
    format!("{stop:?}").to_lowercase()
}

/// `stop`, `iterations`, `applications`, `passes`, `history`.
pub fn put_info<T: Scalar>(dict: &Bound<'_, PyDict>, info: &Info<T>) -> PyResult<()> {
    let py = dict.py();
    dict.set_item("stop", stop_name(info.stop))?;
    dict.set_item("iterations", info.iterations)?;
    dict.set_item("applications", info.applications)?;
    dict.set_item("passes", info.passes)?;
    let history = Array2::from_shape_fn((info.history.len(), 4), |(i, j)| {
        let record = &info.history[i];
        match j {
            0 => record.tick as f64,
            1 => record.passes,
            2 => record.ritz.as_f64(),
            _ => record.residual.as_f64(),
        }
    });
    dict.set_item("history", history.into_pyarray(py))
}

/// The method of a search.
pub fn put_method<T: Scalar>(dict: &Bound<'_, PyDict>, info: &Info<T>) -> PyResult<()> {
    dict.set_item("solver", &info.method)
}

/// `certified`, `complete`, `tolerance`, `value_bounds`, `angle_bounds`, `clusters`,
/// `orthogonality`.
pub fn put_certificate(dict: &Bound<'_, PyDict>, proof: &Certificate) -> PyResult<()> {
    let py = dict.py();
    dict.set_item("certified", proof.is_certified())?;
    dict.set_item("complete", proof.is_complete())?;
    dict.set_item("tolerance", proof.tolerance())?;
    dict.set_item("residuals", proof.residuals().to_vec().into_pyarray(py))?;
    dict.set_item("value_bounds", proof.value_bounds().to_vec().into_pyarray(py))?;
    let angles: Vec<f64> =
        proof.angle_bounds().iter().map(|angle| angle.unwrap_or(f64::NAN)).collect();
    dict.set_item("angle_bounds", angles.into_pyarray(py))?;
    let clusters = proof.clusters().iter().map(|c| (c.range.start, c.range.end));
    dict.set_item("clusters", clusters.collect::<Vec<_>>())?;
    dict.set_item("orthogonality", proof.orthogonality())
}

/// A block as an array without gaps.
pub fn dense<T: Scalar>(block: &Block<T>) -> Array2<T> {
    Array2::from_shape_fn(block.shape(), |(i, j)| block.row(i)[j])
}

/// Rows that one task writes: as many as a first-level cache has of a few columns.
const TASK: usize = 512;

/// Its transpose: columns of the block are rows of the array. The block is read once, not once for each column.
pub fn transposed<T: Scalar>(block: &Block<T>) -> Array2<T> {
    let mut array = Array2::zeros((block.cols(), block.rows()));
    let parts = array.axis_chunks_iter_mut(Axis(1), TASK).into_par_iter().enumerate();
    parts.for_each(|(number, mut part)| {
        for (i, mut row) in part.rows_mut().into_iter().enumerate() {
            let rows = number * TASK..;
            row.iter_mut().zip(rows).for_each(|(to, j)| *to = block.row(j)[i]);
        }
    });
    array
}

/// An array of Python.
pub fn array<T: Element>(py: Python<'_>, array: Array2<T>) -> Bound<'_, PyArray2<T>> {
    array.into_pyarray(py)
}
