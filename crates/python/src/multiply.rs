//! `multiply`: a matrix times a few columns.

use favard_operator::{LinearOperator, Scalar, Workspace};
use ndarray::Array2;
use numpy::{Element, PyArray2};
use pyo3::prelude::*;

use crate::data::{self, Data};
use crate::error::Failure;
use crate::info::{array, dense};
use crate::source;
use crate::talk::{self, Line};

fn run<'py, T: Scalar + Element>(
    py: Python<'py>,
    x: &Bound<'_, PyAny>,
    columns: &Bound<'_, PyAny>,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let (data, columns) = (Data::<T>::new(x)?, data::block::<T>(columns, "columns")?);
    let job = move |_: &Line<T>| -> Result<Array2<T>, Failure> {
        let matrix = data.open()?;
        let mut image = favard_operator::Block::zeros(matrix.shape().0, columns.cols());
        let (one, zero) = (T::one(), T::zero());
        matrix.apply(one, columns.as_ref(), zero, image.as_mut(), &mut Workspace::new())?;
        Ok(dense(&image))
    };
    let (image, raised) = talk::run(py, &mut source::Python::default(), job)?;
    raised.map_or_else(|| Ok(array(py, image)), Err)
}

/// A matrix (see `Data`) times the columns of an array of its type.
#[pyfunction]
pub fn multiply<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    columns: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    if data::is_single(x) {
        run::<f32>(py, x, columns).map(Bound::into_any)
    } else {
        run::<f64>(py, x, columns).map(Bound::into_any)
    }
}
