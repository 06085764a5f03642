//! `kaczmarz`: a linear system by row projections.

use favard_engine::Record;
use favard_models::Kaczmarz;
use favard_models::least_squares::{Momentum, Solution};
use favard_operator::{Block, LinearOperator, Scalar};
use ndarray::Array2;
use numpy::{Element, IntoPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::{self, Data};
use crate::error::{Failure, check_numbers};
use crate::info::{array, put_info, transposed};
use crate::source;
use crate::talk::{self, Line};

/// What is asked for.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Problem {
    blocks: bool,
    batch: usize,
    inconsistent: bool,
    momentum: bool,
    /// Relaxation and momentum, when they are given.
    given: Option<(f64, f64)>,
    bounds: Option<(f64, f64)>,
    tolerance: f64,
    passes: f64,
    seed: u64,
}

impl Problem {
    fn model(&self) -> Kaczmarz {
        let momentum = match self.given {
            Some((step, gamma)) => Momentum::Given { step, gamma },
            None if self.momentum => Momentum::Auto,
            None => Momentum::Off,
        };
        let model = Kaczmarz::new().momentum(momentum).inconsistent(self.inconsistent);
        let model = if self.blocks { model.blocks(self.batch) } else { model.batch(self.batch) };
        let model = model.tolerance(self.tolerance).passes(self.passes).seed(self.seed);
        match self.bounds {
            Some((low, high)) => model.bounds(low, high),
            None => model,
        }
    }
}

/// A solution, its columns as rows, and the rows of the data.
type Solved<T> = (Solution<T>, Array2<T>, usize);

fn solve<T: Scalar + Element>(
    data: &Data<T>,
    rhs: &Block<T>,
    model: &Kaczmarz,
    line: &Line<T>,
) -> Result<Solved<T>, Failure> {
    let matrix = data.open()?.by_rows();
    // The iterate, the one before and their average.
    check_numbers(matrix.shape().1, rhs.cols().saturating_mul(3))?;
    let found = model.solve_watched(&matrix, rhs, &mut |record: &Record<T>| line.watch(record))?;
    let x = transposed(&found.x);
    Ok((found, x, matrix.shape().0))
}

fn run<T: Scalar + Element>(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    rhs: &Bound<'_, PyAny>,
    model: Kaczmarz,
    callback: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    let (data, rhs) = (Data::<T>::new(a)?, data::block::<T>(rhs, "b")?);
    let mut answers = source::Python::callback(callback);
    let job = move |line: &Line<T>| solve(&data, &rhs, &model, line);
    let ((found, x, rows), raised) = talk::run(py, &mut answers, job)?;
    let dict = PyDict::new(py);
    dict.set_item("x", array(py, x))?;
    dict.set_item("spectrum", found.spectrum)?;
    let info = PyDict::new(py);
    put_info(&info, &found.info)?;
    info.set_item("certified", found.is_certified())?;
    info.set_item("tolerance", found.tolerance)?;
    let wide: Vec<f64> = found.certificates.iter().map(|c| c.as_f64()).collect();
    info.set_item("residuals", wide.into_pyarray(py))?;
    // ‖Ax − b‖ / ‖b‖, and ‖Ax‖ where b = 0
    let share = |(r, b): (&T, &T)| if *b > T::zero() { (*r / *b).as_f64() } else { r.as_f64() };
    let misfits: Vec<f64> = found.residuals.iter().zip(&found.sizes).map(share).collect();
    info.set_item("misfits", misfits.into_pyarray(py))?;
    // A count, up to the rounding of the passes.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let read = (found.info.passes * rows as f64).round() as u64;
    info.set_item("rows_read", read)?;
    info.set_item("reason", found.reason.as_str())?;
    dict.set_item("info", info)?;
    dict.set_item("raised", raised)?;
    Ok(dict.unbind())
}

/// Solves a system with a matrix (see `Data`) for a block of right-hand sides.
#[pyfunction]
#[pyo3(signature = (a, rhs, problem, *, callback=None))]
pub fn kaczmarz(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    rhs: &Bound<'_, PyAny>,
    problem: Problem,
    callback: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    if data::is_single(a) {
        run::<f32>(py, a, rhs, problem.model(), callback)
    } else {
        run::<f64>(py, a, rhs, problem.model(), callback)
    }
}
