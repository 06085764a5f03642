//! `phase`: a signal from the squares of linear measurements.

use favard_engine::Record;
use favard_models::{PhaseRetrieval, PhaseSpectral, Recovered};
use favard_operator::Scalar;
use numpy::{Element, IntoPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data;
use crate::error::Failure;
use crate::info::put_info;
use crate::source::Source;
use crate::talk::{self, Line};

/// What is asked for.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Problem {
    spectral: String,
    spectral_tolerance: f64,
    momentum: bool,
    tolerance: f64,
    products: u64,
    iterations: u64,
    seed: u64,
}

impl Problem {
    fn model(&self) -> PyResult<PhaseRetrieval> {
        let spectral = match self.spectral.as_str() {
            "momentum" => PhaseSpectral::Momentum,
            "chebyshev" => PhaseSpectral::Chebyshev,
            "power" => PhaseSpectral::Power,
            other => {
                let text = format!("spectral: {other} is none of momentum, chebyshev, power");
                return Err(PyValueError::new_err(text));
            }
        };
        let model = PhaseRetrieval::new().spectral(spectral).momentum(self.momentum);
        let model = model.spectral_tolerance(self.spectral_tolerance).tolerance(self.tolerance);
        Ok(model.products(self.products).iterations(self.iterations).seed(self.seed))
    }
}

struct Job<T: 'static> {
    source: Source<T>,
    model: PhaseRetrieval,
    intensities: Vec<T>,
    start: Option<Vec<T>>,
}

impl<T: Scalar + Element> Job<T> {
    fn run(&self, line: &Line<T>) -> Result<Recovered<T>, Failure> {
        let mut watch = |record: &Record<T>| line.watch(record);
        let y = &self.intensities;
        self.source.with(line, |a| match &self.start {
            None => Ok(self.model.solve_watched(a, y, &mut watch)?),
            Some(start) => Ok(self.model.solve_from(a, y, start, &mut watch)?),
        })
    }
}

fn run<T: Scalar + Element>(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
    problem: &Problem,
    start: Option<&Bound<'_, PyAny>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    let (source, mut answers) = Source::<T>::new(a, callback)?;
    let intensities = data::vector::<T>(y, "y")?;
    let start = start.map(|start| data::vector::<T>(start, "start")).transpose()?;
    let job = Job { source, model: problem.model()?, intensities, start };
    let (found, raised) = talk::run(py, &mut answers, move |line: &Line<T>| job.run(line))?;
    let dict = PyDict::new(py);
    dict.set_item("signal", found.signal().to_vec().into_pyarray(py))?;
    let (info, spectral) = (PyDict::new(py), PyDict::new(py));
    put_info(&info, found.refinement())?;
    put_info(&spectral, found.spectral())?;
    info.set_item("certified", found.is_certified())?;
    info.set_item("tolerance", problem.tolerance)?;
    info.set_item("residuals", vec![found.residual()].into_pyarray(py))?;
    dict.set_item("info", info)?;
    dict.set_item("spectral", spectral)?;
    dict.set_item("raised", raised)?;
    Ok(dict.unbind())
}

/// The signal behind intensities of the rows of a matrix or operator (see `Source`).
#[pyfunction]
#[pyo3(signature = (a, y, problem, *, start=None, callback=None))]
pub fn phase(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
    problem: Problem,
    start: Option<&Bound<'_, PyAny>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    if data::is_single(a) {
        run::<f32>(py, a, y, &problem, start, callback)
    } else {
        run::<f64>(py, a, y, &problem, start, callback)
    }
}
