//! Errors of the models as exceptions of Python.

use favard_models::{Error, Lanczos};
use favard_operator::{ErrorKind as Kind, Scalar};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// What goes wrong in a job.
pub enum Failure {
    /// A model's error.
    Model(Error),
    /// So many bytes cannot be had.
    Memory(usize),
    /// Parameters that do not go together.
    Value(String),
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Model(error.into())
    }
}

/// `ValueError`: what the models refuse is input. A panic of theirs is our mistake.
pub fn to_python(failure: Failure) -> PyErr {
    let error = match failure {
        Failure::Model(error) => error,
        Failure::Value(text) => return PyValueError::new_err(text),
        Failure::Memory(bytes) => {
            let gib = bytes as f64 / f64::from(1 << 30);
            return PyMemoryError::new_err(format!(
                "this takes {gib:.1} GiB beside the data, which cannot be had"
            ));
        }
    };
    let text = error.to_string();
    match error.kind() {
        favard_models::ErrorKind::Operator(operator)
            if matches!(operator.kind(), Kind::Panicked { .. }) =>
        {
            PyRuntimeError::new_err(text)
        }
        _ => PyValueError::new_err(text),
    }
}

/// `Err` when the allocator would not give so many bytes: Rust ends the process where Python raises
/// `MemoryError`.
pub fn check_memory(bytes: usize) -> Result<(), Failure> {
    let mut probe = Vec::<u8>::new();
    probe.try_reserve_exact(bytes).map_err(|_| Failure::Memory(bytes))
}

/// The same for lists of `count` numbers, `each` of them beside each other; short ones are not asked for.
pub fn check_numbers(count: usize, each: usize) -> Result<(), Failure> {
    let bytes = count.saturating_mul(each).saturating_mul(size_of::<f64>());
    if bytes <= LARGE { Ok(()) } else { check_memory(bytes) }
}

/// A fit whose smaller Gram matrix takes more bytes than this asks first whether they can be had.
const LARGE: usize = 1 << 28;

/// The same for a decomposition on the smaller side, by whichever of both ways takes less: the Gram
/// matrix and its eigenvectors, or the basis of block Lanczos. Small ones are not asked for.
pub fn check_decomposition<T: Scalar>(
    (rows, cols): (usize, usize),
    components: usize,
) -> Result<(), Failure> {
    // The sums of each column, its mean and its deviation.
    check_numbers(cols, 4)?;
    let side = rows.min(cols);
    let formed = side.saturating_mul(side).saturating_mul(5 * size_of::<T>());
    if formed <= LARGE {
        return Ok(());
    }
    // Lanczos would have a basis of about so many columns before it is asked.
    let basis = side.saturating_mul(components).saturating_mul(2 * size_of::<T>());
    check_memory(basis.min(formed))?;
    check_memory(Lanczos::new(components).memory::<T>(side).min(formed))
}
