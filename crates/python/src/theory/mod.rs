//! `favard._core.theory`: the numbers behind `favard.theory`, as functions of numbers.
//!
//! The types of `favard-theory` are dataclasses in Python: here each of their methods takes the
//! numbers that the type is made of.

mod demands;
mod growth;
mod moments;
mod noise;
mod plan;
mod polynomials;

use favard_theory::{Error, Growth, Start};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::Failure;
use crate::source;
use crate::talk::{self, Line};

/// λ₁, λ₂ and β.
type Regime = (f64, f64, f64);

fn failed(error: Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn regime((lambda1, lambda2, beta): Regime) -> PyResult<Growth> {
    Growth::new(lambda1, lambda2, beta).map_err(failed)
}

fn start(name: &str) -> PyResult<Start> {
    match name {
        "T" => Ok(Start::T),
        "U" => Ok(Start::U),
        other => {
            Err(PyValueError::new_err(format!("start must be 'T' or 'U', got {other:?} instead")))
        }
    }
}

/// Work that may take long: off the interpreter's lock, and Ctrl-C is heard.
fn work<R: Send + 'static>(
    py: Python<'_>,
    job: impl FnOnce() -> Result<R, Error> + Send + 'static,
) -> PyResult<R> {
    let job = move |_: &Line<f64>| job().map_err(|e| Failure::Model(e.into()));
    let (found, raised) = talk::run(py, &mut source::Python::default(), job)?;
    raised.map_or(Ok(found), Err)
}

/// Adds the module `theory`.
pub fn add_to(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "theory")?;
    polynomials::add_to(&module)?;
    growth::add_to(&module)?;
    noise::add_to(&module)?;
    demands::add_to(&module)?;
    moments::add_to(&module)?;
    plan::add_to(&module)?;
    parent.add_submodule(&module)
}

/// Functions of a module, added to another.
macro_rules! functions {
    ($($name:ident),* $(,)?) => {
        /// Adds the functions of this module.
        pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}
use functions;
