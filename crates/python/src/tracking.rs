//! `Tracker`: the leading subspace of a stream that drifts.

use std::sync::{Arc, Mutex, TryLockError};

use favard_engine::Record;
use favard_models::{SubspaceTracker, Tracked, TrackingMomentum, TrackingStep};
use favard_operator::{Block, LinearOperator, Scalar};
use ndarray::Array2;
use numpy::{Element, IntoPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::{self, Data};
use crate::error::{Failure, check_numbers, to_python};
use crate::info::{array, transposed};
use crate::matrix::Matrix;
use crate::source;
use crate::talk::{self, Line};

/// A tracker that a job and its owner share: a job that was left behind may still work on it.
type Shared<T> = Arc<Mutex<Option<SubspaceTracker<T>>>>;

enum State {
    Single(Shared<f32>),
    Double(Shared<f64>),
}

/// The state of a `SubspaceTracker`.
#[pyclass(module = "favard._core")]
pub struct Tracker(State);

/// What is asked for.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Task {
    dim: usize,
    components: usize,
    /// Oja's step; a power step without it.
    step: Option<f64>,
    momentum: bool,
    /// Whether momentum is chosen while tracking.
    auto: bool,
    beta: Option<f64>,
}

fn start<T: Scalar + Element>(
    task: &Task,
    basis: Option<&Bound<'_, PyAny>>,
) -> PyResult<Shared<T>> {
    let momentum = match (task.beta, task.auto, task.momentum) {
        (Some(beta), ..) => TrackingMomentum::Fixed(beta),
        (None, true, _) => TrackingMomentum::Auto,
        (None, false, true) => TrackingMomentum::Always,
        (None, false, false) => TrackingMomentum::Never,
    };
    // The basis, the one before and what a batch makes of it.
    check_numbers(task.dim, task.components.saturating_mul(3)).map_err(to_python)?;
    let failed = |error: favard_models::Error| to_python(error.into());
    let tracker = SubspaceTracker::<T>::new(task.dim, task.components).map_err(failed)?;
    let tracker = tracker.momentum(momentum);
    let tracker = tracker.step(task.step.map_or(TrackingStep::Power, TrackingStep::Oja));
    let tracker = match basis {
        None => tracker,
        Some(basis) => {
            let basis = data::block::<T>(basis, "basis")?;
            tracker.from_basis(basis.as_ref()).map_err(failed)?
        }
    };
    Ok(Arc::new(Mutex::new(Some(tracker))))
}

/// The basis as rows, what the batch said, and whether the callback wants no more.
type Answer<T> = (Array2<T>, Tracked<T>, bool);

/// Whether entries may be missing, and the share that is seen, if it is known.
type Missing = (bool, Option<f64>);

/// Takes a batch in; an error leaves the tracker as it was. So does a batch that comes while another one
/// is taken in: from a callback, say, for which that one waits.
fn update<T: Scalar + Element>(
    shared: &Shared<T>,
    rows: &Data<T>,
    missing: Missing,
    line: &Line<T>,
) -> Result<Answer<T>, Failure> {
    let mut held = match shared.try_lock() {
        Ok(held) => held,
        Err(TryLockError::Poisoned(broken)) => broken.into_inner(),
        Err(TryLockError::WouldBlock) => {
            let text = "SubspaceTracker: a batch came while another one is being taken in";
            return Err(Failure::Value(text.to_owned()));
        }
    };
    let tracker = held.take().ok_or_else(|| {
        favard_operator::Error::external("an earlier batch broke the tracker: start a new one")
    })?;
    let tracker = held.insert(match missing {
        (false, _) => tracker,
        (true, probability) => tracker.missing(probability),
    });
    let report = match rows {
        // As it is: a NaN may be an entry that was not seen.
        Data::Dense(array) => tracker.update(Block::from_array(array.view()).as_ref())?,
        Data::Sparse { .. } | Data::OnDisk { .. } => match rows.open()? {
            Matrix::Sparse(sparse) => tracker.update_sparse(&sparse.into_csr())?,
            Matrix::Long(sparse) => tracker.update_sparse(&sparse.into_csr().into_short()?)?,
            other => tracker.update(other.to_block()?.as_ref())?,
        },
    };
    let report = report.clone();
    let residual = report.residuals.iter().copied().fold(T::zero(), T::max);
    let ritz = report.ritz.first().copied().unwrap_or(T::zero());
    let passes = report.batches as f64;
    let told = line.watch(&Record { tick: report.batches, passes, ritz, residual });
    Ok((transposed(tracker.basis()), report, told.is_break()))
}

fn to_dict<T: Scalar + Element>(
    py: Python<'_>,
    (basis, report, stopped): Answer<T>,
) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("report", report.to_string())?;
    dict.set_item("basis", array(py, basis))?;
    dict.set_item("stopped", stopped)?;
    dict.set_item("batches", report.batches)?;
    dict.set_item("values", report.ritz.into_pyarray(py))?;
    dict.set_item("residuals", report.residuals.into_pyarray(py))?;
    dict.set_item("momentum", report.momentum)?;
    dict.set_item("beta", report.beta)?;
    let weighing = report.weighing.map(|weighing| {
        let dict = PyDict::new(py);
        dict.set_item("speed", weighing.speed)?;
        dict.set_item("lag2", weighing.lag2)?;
        dict.set_item("ball", weighing.ball)?;
        dict.set_item("plain", weighing.plain)?;
        dict.set_item("momentum", weighing.momentum)?;
        PyResult::Ok(dict)
    });
    dict.set_item("weighing", weighing.transpose()?)?;
    Ok(dict)
}

fn take<'py, T: Scalar + Element>(
    py: Python<'py>,
    shared: &Shared<T>,
    batch: &Bound<'py, PyAny>,
    missing: Missing,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let rows = Data::<T>::new(batch)?;
    let shared = Arc::clone(shared);
    let mut answers = source::Python::callback(callback);
    let job = move |line: &Line<T>| update(&shared, &rows, missing, line);
    let (answer, raised) = talk::run(py, &mut answers, job)?;
    let dict = to_dict(py, answer)?;
    dict.set_item("raised", raised)?;
    Ok(dict)
}

#[pymethods]
impl Tracker {
    #[new]
    #[pyo3(signature = (task, single, basis=None))]
    fn new(task: Task, single: bool, basis: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let state = if single {
            State::Single(start(&task, basis)?)
        } else {
            State::Double(start(&task, basis)?)
        };
        Ok(Self(state))
    }

    /// Takes a batch in. With `missing`, entries may be missing; `probability` is the share seen.
    #[pyo3(signature = (batch, *, missing, probability=None, callback=None))]
    fn update<'py>(
        &self,
        py: Python<'py>,
        batch: &Bound<'py, PyAny>,
        missing: bool,
        probability: Option<f64>,
        callback: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let missing = (missing, probability);
        match &self.0 {
            State::Single(shared) => take(py, shared, batch, missing, callback),
            State::Double(shared) => take(py, shared, batch, missing, callback),
        }
    }

    /// Whether it works in single precision.
    fn is_single(&self) -> bool {
        matches!(self.0, State::Single(_))
    }
}
