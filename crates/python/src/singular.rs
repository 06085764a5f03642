//! `singular`: singular triplets of any operator with its adjoint, the largest or the smallest.

use favard_engine::{Info, Record};
use favard_models::{Eigen, exact_eigen};
use favard_operator::{
    Adjoint, AdjointOperator, Block, Gram, LinearOperator, Multiple, Orthonormalizer, Scalar,
    Shifted, Workspace,
};
use ndarray::Array2;
use numpy::Element;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data;
use crate::eigen::{SMALL, Search};
use crate::error::{Failure, check_memory, check_numbers};
use crate::info::{array, dense, put_info, put_method};
use crate::source::Source;
use crate::talk::{self, Line};

/// The vectors W of the smaller side, and the factors of the product with them, A W = Q R or
/// Aᵀ W = Q R: the singular values are those of R, exact to rounding of the largest where the roots of
/// the eigenvalues of AᵀA would have lost half of the digits.
struct Factors<T> {
    side: Array2<T>,
    other: Array2<T>,
    small: Array2<T>,
    wide: bool,
    residual: T,
    /// The largest eigenvalue, to which residuals are relative.
    scale: T,
    info: Info<T>,
}

fn solve<T: Scalar>(
    op: &dyn AdjointOperator<T>,
    search: &Search,
    start: Option<&Block<T>>,
    line: &Line<T>,
) -> Result<Factors<T>, Failure> {
    let (rows, cols) = op.shape();
    let wide = rows < cols;
    // The vectors of the larger side, and the product that they are the factor of; all pairs if there
    // are no more than a few.
    let pairs = search.components.max(rows.min(cols).min(SMALL));
    check_numbers(rows.max(cols), pairs.saturating_mul(2))?;
    let (found, scale) = if wide {
        let gram = Gram::new(Adjoint::new(op)).with_scale(1.0)?;
        side(&gram, search, start, line)?
    } else {
        side(&Gram::new(op).with_scale(1.0)?, search, start, line)?
    };
    let (w, mut ws) = (&found.vectors, Workspace::new());
    let mut other = Block::zeros(rows.max(cols), w.cols());
    let (one, zero) = (T::one(), T::zero());
    if wide {
        op.apply_adjoint(one, w.as_ref(), zero, other.as_mut(), &mut ws)?;
    } else {
        op.apply(one, w.as_ref(), zero, other.as_mut(), &mut ws)?;
    }
    let mut qr = Orthonormalizer::new(w.cols());
    qr.orthonormalize(&mut [&mut other], &mut ws)?;
    let residual = found.residuals.iter().fold(zero, |most, &r| most.max(r));
    let mut info = found.info;
    info.passes += 0.5;
    let (side, other, small) = (dense(w), dense(&other), dense(qr.r()));
    Ok(Factors { side, other, small, wide, residual, scale, info })
}

/// The pairs of a Gram operator, and its largest eigenvalue or a bound on it.
fn side<T: Scalar>(
    gram: &dyn LinearOperator<T>,
    search: &Search,
    start: Option<&Block<T>>,
    line: &Line<T>,
) -> Result<(Eigen<T>, T), Failure> {
    let (dim, count) = (gram.shape().0, search.components);
    let mut watch = |record: &Record<T>| line.watch(record);
    let lanczos = search.lanczos(count);
    let smallest = search.which == "SM";
    if search.is_small(dim) {
        check_memory(dim.saturating_mul(dim).saturating_mul(6 * size_of::<T>()))?;
        let mut found = exact_eigen(gram, dim)?;
        let scale = found.values[0];
        let wanted = if smallest { dim - count..dim } else { 0..count };
        found.vectors = found.vectors.as_ref().cols_range(wanted.clone()).to_owned();
        found.residuals = found.residuals[wanted].to_vec();
        return Ok((found, scale));
    }
    check_memory(lanczos.memory::<T>(dim))?;
    if !smallest {
        let found = lanczos.solve_watched(gram, start, &mut watch)?;
        let scale = found.values[0];
        return Ok((found, scale));
    }
    // c − AᵀA with c at least the largest eigenvalue: a coarse one will do.
    let top = search.lanczos(1).tolerance(1e-2).solve_watched(gram, None, &mut watch)?;
    let bound = top.values[0] + top.residuals[0];
    let folded = Shifted::new(Multiple::new(-T::one(), gram)?, -bound)?;
    let mut found = lanczos.solve_watched(&folded, start, &mut watch)?;
    found.info.applications += top.info.applications;
    found.info.passes += top.info.passes;
    Ok((found, bound))
}

fn run<T: Scalar + Element>(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    search: Search,
    start: Option<&Bound<'_, PyAny>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    let (source, mut answers) = Source::<T>::new(x, callback)?;
    let start = start.map(|start| data::block::<T>(start, "v0")).transpose()?;
    let job =
        move |line: &Line<T>| source.with(line, |op| solve(op, &search, start.as_ref(), line));
    let (found, raised) = talk::run(py, &mut answers, job)?;
    let dict = PyDict::new(py);
    dict.set_item("side", array(py, found.side))?;
    dict.set_item("other", array(py, found.other))?;
    dict.set_item("small", array(py, found.small))?;
    dict.set_item("wide", found.wide)?;
    dict.set_item("residual", found.residual.as_f64())?;
    dict.set_item("scale", found.scale.as_f64())?;
    let info = PyDict::new(py);
    put_info(&info, &found.info)?;
    put_method(&info, &found.info)?;
    dict.set_item("info", info)?;
    dict.set_item("raised", raised)?;
    Ok(dict.unbind())
}

/// Singular triplets of a matrix or operator (see `Source`) as factors, in a dictionary.
#[pyfunction]
#[pyo3(signature = (x, search, *, start=None, callback=None))]
pub fn singular(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    search: Search,
    start: Option<&Bound<'_, PyAny>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    if data::is_single(x) {
        run::<f32>(py, x, search, start, callback)
    } else {
        run::<f64>(py, x, search, start, callback)
    }
}
