//! `Stream`: components of rows that come in batches.

use favard_models::StreamingPca;
use favard_operator::{LinearOperator, Scalar};
use numpy::{Element, IntoPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::data::Data;
use crate::error::{check_memory, check_numbers, to_python};
use crate::info::transposed;
use crate::pca::to_dict;
use crate::source;
use crate::talk::{self, Line};

enum State {
    Single(StreamingPca<f32>),
    Double(StreamingPca<f64>),
}

/// Runs the same code on either.
macro_rules! on {
    ($state:expr, $stream:ident => $body:expr) => {
        match $state {
            State::Single($stream) => $body,
            State::Double($stream) => $body,
        }
    };
}

/// Columns from which on it is asked whether the directions can be had.
const WIDE: usize = 1 << 20;

/// What pickle makes the state from again: a function and its arguments.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, bool));

/// The state of an `IncrementalPCA`.
#[pyclass(module = "favard._core")]
pub struct Stream(State);

/// The stream with one more batch. The old one stays as it is until the new one is there.
fn absorb<T: Scalar + Element>(
    py: Python<'_>,
    stream: &StreamingPca<T>,
    batch: &Bound<'_, PyAny>,
) -> PyResult<StreamingPca<T>> {
    let (data, mut next) = (Data::<T>::new(batch)?, stream.clone());
    let job = move |_: &Line<T>| {
        let matrix = data.open()?;
        // Mean and squares, of the batch and of all rows, before anything is asked of them.
        check_numbers(matrix.shape().1, 4)?;
        if matrix.shape().1 > WIDE {
            // One product more, which narrow batches need not wait for.
            check_memory(next.memory(&matrix)?)?;
        }
        next.partial_fit(&matrix)?;
        Ok(next)
    };
    let (next, raised) = talk::run(py, &mut source::Python::default(), job)?;
    raised.map_or(Ok(next), Err)
}

fn snapshot<'py, T: Scalar + Element>(
    py: Python<'py>,
    stream: &StreamingPca<T>,
) -> PyResult<Bound<'py, PyDict>> {
    let fit = stream.snapshot().map_err(|e| to_python(e.into()))?;
    let dict = to_dict(py, &fit, transposed(fit.components()))?;
    dict.set_item("variances", stream.variances().into_pyarray(py))?;
    dict.set_item("rows", stream.rows())?;
    dict.set_item("discarded", stream.discarded_variance())?;
    dict.set_item("error_bound", stream.error_bound())?;
    Ok(dict)
}

#[pymethods]
impl Stream {
    #[new]
    fn new(components: usize, oversampling: usize, tolerance: f64, single: bool) -> Self {
        /// A stream of one precision.
        macro_rules! stream {
            () => {
                StreamingPca::new(components).oversampling(oversampling).tolerance(tolerance)
            };
        }
        Self(if single { State::Single(stream!()) } else { State::Double(stream!()) })
    }

    /// Takes the rows of a batch in.
    fn partial_fit(&mut self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0 = match &self.0 {
            State::Single(stream) => State::Single(absorb(py, stream, batch)?),
            State::Double(stream) => State::Double(absorb(py, stream, batch)?),
        };
        Ok(())
    }

    /// The components so far.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        on!(&self.0, stream => snapshot(py, stream))
    }

    /// Rows seen.
    fn rows(&self) -> usize {
        on!(&self.0, stream => stream.rows())
    }

    /// Whether it works in single precision.
    fn is_single(&self) -> bool {
        matches!(self.0, State::Single(_))
    }

    /// The state as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = on!(&self.0, stream => postcard::to_stdvec(stream));
        let bytes = bytes.map_err(|e| PyValueError::new_err(format!("state: {e}")))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The state from bytes.
    #[staticmethod]
    fn from_bytes(bytes: &[u8], single: bool) -> PyResult<Self> {
        let state = if single {
            postcard::from_bytes(bytes).map(State::Single)
        } else {
            postcard::from_bytes(bytes).map(State::Double)
        };
        Ok(Self(state.map_err(|e| PyValueError::new_err(format!("state: {e}")))?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let class = py.get_type::<Self>();
        Ok((class.getattr("from_bytes")?, (self.to_bytes(py)?, self.is_single())))
    }
}
