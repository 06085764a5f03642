//! The talk between a job and the thread of Python that waits for it.
//!
//! The job runs on the pool, without the interpreter's lock. What it needs of Python (a callback, a
//! product of a Python operator) it asks for, and the waiting thread answers: Python code runs on the
//! thread that called, in order. In between that thread looks for signals. After Ctrl-C the job stops
//! at its next step, and what it has found comes back; a step that takes too long is left behind.

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use favard_engine::{Record, Stop};
use favard_operator::Scalar;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::apart::Apart;
use crate::error::{Failure, to_python};
use crate::pool;

/// How often signals are looked for, and how long workers are held apart.
const LOOK: Duration = Duration::from_millis(50);

/// How long a job may take to stop.
const PATIENCE: Duration = Duration::from_millis(500);

/// A product that a job asks Python for.
pub struct Product<T> {
    /// Of the adjoint?
    pub adjoint: bool,
    /// The block, row by row, and its columns.
    pub values: Vec<T>,
    pub columns: usize,
}

enum Ask<T, R> {
    Step(Record<T>),
    Product(Product<T>),
    Done(Result<R, Failure>),
    Panic(Box<dyn Any + Send>),
}

enum Answer<T> {
    GoOn,
    Stop(Stop),
    Product(Vec<T>),
    /// Python raised: the exception is with the thread that waits.
    Failed,
}

/// A job's end of the line.
pub struct Line<T> {
    ask: Box<dyn Fn(Question<T>) -> Option<Answer<T>> + Send + Sync>,
    cancel: Arc<AtomicBool>,
    watched: bool,
}

enum Question<T> {
    Step(Record<T>),
    Product(Product<T>),
}

impl<T: Scalar> Line<T> {
    /// What a model calls after every step.
    pub fn watch(&self, record: &Record<T>) -> ControlFlow<Stop> {
        if self.cancel.load(Ordering::Relaxed) {
            return ControlFlow::Break(Stop::Cancelled);
        }
        if !self.watched {
            return ControlFlow::Continue(());
        }
        match (self.ask)(Question::Step(*record)) {
            Some(Answer::GoOn) => ControlFlow::Continue(()),
            Some(Answer::Stop(stop)) => ControlFlow::Break(stop),
            _ => ControlFlow::Break(Stop::Cancelled),
        }
    }

    /// A product by Python; `None` when Python raised or no longer waits.
    pub fn product(&self, product: Product<T>) -> Option<Vec<T>> {
        match (self.ask)(Question::Product(product)) {
            Some(Answer::Product(values)) => Some(values),
            _ => None,
        }
    }
}

/// What Python does for a job.
pub trait Answers<T> {
    /// Whether there is anything to say after a step.
    fn is_watching(&self) -> bool {
        false
    }

    /// After a step: whether to stop.
    fn step(&mut self, _: Python<'_>, _: &Record<T>) -> PyResult<bool> {
        Ok(false)
    }

    /// A product.
    fn product(&mut self, _: Python<'_>, _: Product<T>) -> PyResult<Vec<T>> {
        Err(PyRuntimeError::new_err("there is no operator to multiply with"))
    }
}

fn lock<G>(mutex: &Mutex<G>) -> std::sync::MutexGuard<'_, G> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn line<T: Scalar, R: Send + 'static>(
    ask: Sender<Ask<T, R>>,
    answer: Receiver<Answer<T>>,
    cancel: Arc<AtomicBool>,
    watched: bool,
) -> Line<T> {
    let (ask, answer) = (Mutex::new(ask), Mutex::new(answer));
    let put = move |question: Question<T>| {
        let answer = lock(&answer);
        let asked = match question {
            Question::Step(record) => Ask::Step(record),
            Question::Product(product) => Ask::Product(product),
        };
        lock(&ask).send(asked).ok()?;
        answer.recv().ok()
    };
    Line { ask: Box::new(put), cancel, watched }
}

/// Runs a job and answers it. The second part is the exception that stopped it early (Ctrl-C, or one
/// that a callback raised), when it could still hand over what it had.
pub fn run<T: Scalar, R: Send + 'static>(
    py: Python<'_>,
    answers: &mut dyn Answers<T>,
    job: impl FnOnce(&Line<T>) -> Result<R, Failure> + Send + 'static,
) -> PyResult<(R, Option<PyErr>)> {
    let ((ask, asked), (reply, answered)) = (channel(), channel());
    let cancel = Arc::new(AtomicBool::new(false));
    let watched = answers.is_watching();
    let end = ask.clone();
    let line = line::<T, R>(ask, answered, Arc::clone(&cancel), watched);
    let pool = pool::pool()?;
    let apart = Apart::new(&pool);
    let begin = apart.beginning();
    pool.spawn(move || {
        begin();
        let last = match catch_unwind(AssertUnwindSafe(|| job(&line))) {
            Ok(result) => Ask::Done(result),
            Err(panic) => Ask::Panic(panic),
        };
        // Nobody waits any more after an interrupt.
        let _ = end.send(last);
    });
    let (asked, begun) = (Mutex::new(asked), Instant::now());
    let mut raised: Option<(PyErr, Instant)> = None;
    loop {
        let answer = match py.detach(|| lock(&asked).recv_timeout(LOOK)) {
            Ok(Ask::Done(Ok(found))) => return Ok((found, raised.map(|(error, _)| error))),
            Ok(Ask::Done(Err(failure))) => {
                return Err(raised.map_or_else(|| to_python(failure), |(error, _)| error));
            }
            Ok(Ask::Panic(panic)) => return Err(broken(panic.as_ref())),
            Ok(Ask::Step(_)) if raised.is_some() => Some(Ok(Answer::Stop(Stop::Cancelled))),
            Ok(Ask::Step(record)) => {
                let told = pool::answering(|| answers.step(py, &record));
                let answer = |stop| if stop { Answer::Stop(Stop::Requested) } else { Answer::GoOn };
                Some(told.map(answer))
            }
            Ok(Ask::Product(product)) => {
                Some(pool::answering(|| answers.product(py, product)).map(Answer::Product))
            }
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the job ended without a word"));
            }
        };
        if let Some(answer) = answer {
            let answer = answer.unwrap_or_else(|error| {
                raised.get_or_insert((error, Instant::now()));
                Answer::Failed
            });
            // A job that does not listen is about to end.
            let _ = reply.send(answer);
        }
        if begun.elapsed() >= LOOK {
            apart.let_go();
        }
        if let Err(error) = py.check_signals() {
            raised.get_or_insert((error, Instant::now()));
        }
        if let Some((_, since)) = &raised {
            cancel.store(true, Ordering::Relaxed);
            if since.elapsed() > PATIENCE
                && let Some((error, _)) = raised.take()
            {
                return Err(error);
            }
        }
    }
}

fn broken(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    let text = text.unwrap_or_else(|| "(no message)".to_owned());
    PyRuntimeError::new_err(format!("a mistake in favard, please report it: {text}"))
}
