//! `eigen`: eigenpairs at the ends of a symmetric operator, or in its middle.

use std::ops::ControlFlow;

use favard_engine::{Info, RayleighRitz, Record, Stop};
use favard_models::{Eigen, Lanczos, exact_eigen};
use favard_operator::{
    AdjointOperator, Block, LinearOperator, Multiple, Product, Scalar, Shifted, Workspace, ops,
};
use ndarray::Array2;
use numpy::{Element, IntoPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data;
use crate::error::{Failure, check_memory};
use crate::info::{array, put_info, put_method};
use crate::source::Source;
use crate::talk::{self, Line};

/// The residual, relative to the values that matter, from which the first Ritz value of an end says
/// where that end is: its error is then a square, 1e-4 of them.
const SETTLED: f64 = 1e-2;

/// How pairs are looked for.
#[derive(Debug, Clone, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Search {
    pub components: usize,
    pub which: String,
    pub tolerance: f64,
    pub products: u64,
    pub seed: u64,
    pub basis: usize,
}

/// Operators up to this dimension are formed and solved, whatever is asked of them.
pub const SMALL: usize = 64;

/// The same when the pairs asked for are those that an iteration finds last.
const INNER: usize = 1000;

impl Search {
    pub fn lanczos(&self, components: usize) -> Lanczos {
        let lanczos = Lanczos::new(components).tolerance(self.tolerance).basis(self.basis);
        lanczos.products(self.products).seed(self.seed)
    }

    /// Whether the whole matrix is cheaper than an iteration, or the only sure way.
    pub fn is_small(&self, dim: usize) -> bool {
        let inner = self.which == "SM";
        dim <= SMALL || 3 * self.components >= dim || inner && dim <= INNER
    }
}

/// Pairs with what they cost.
pub struct Pairs<T> {
    pub values: Vec<T>,
    pub vectors: Array2<T>,
    pub residuals: Vec<T>,
    pub info: Info<T>,
}

impl<T: Scalar> Pairs<T> {
    /// Some columns of some results, in this order.
    fn pick(sources: &[(&Eigen<T>, T, T)], order: &[(usize, usize)], info: Info<T>) -> Self {
        let rows = sources[0].0.vectors.rows();
        let value = |&(s, j): &(usize, usize)| {
            let (eigen, sign, shift) = sources[s];
            // θ of ±A + ρ
            sign * (eigen.values[j] - shift)
        };
        let entry = |(i, c): (usize, usize)| sources[order[c].0].0.vectors.row(i)[order[c].1];
        Self {
            values: order.iter().map(value).collect(),
            vectors: Array2::from_shape_fn((rows, order.len()), entry),
            residuals: order.iter().map(|&(s, j)| sources[s].0.residuals[j]).collect(),
            info,
        }
    }
}

/// The cost of both, and the reason of the one that did not converge.
fn join<T: Scalar>(mut first: Info<T>, other: &Info<T>) -> Info<T> {
    if first.stop == Stop::Converged {
        first.stop = other.stop;
    }
    first.iterations += other.iterations;
    first.applications += other.applications;
    first.passes += other.passes;
    first.history.extend(&other.history);
    first
}

/// The largest pairs of A + ρ or of −A + ρ. Residuals are judged against the largest value found; ρ
/// is a typical eigenvalue, so that values near zero are not asked to be exact to themselves.
struct Ends<'a, T: Scalar> {
    op: &'a dyn LinearOperator<T>,
    search: &'a Search,
    start: Option<&'a Block<T>>,
    line: &'a Line<T>,
    shift: T,
    /// The sign of the trace, as far as the probe shows it: the end that is likely to reach further.
    sign: T,
}

impl<'a, T: Scalar> Ends<'a, T> {
    fn new(
        op: &'a dyn LinearOperator<T>,
        search: &'a Search,
        start: Option<&'a Block<T>>,
        line: &'a Line<T>,
    ) -> Result<Self, Failure> {
        // E ‖A z‖² = Σ λ² for a unit vector z times √n
        let probe = Block::gaussian(op.shape().0, 1, search.seed);
        let image = op.multiply(probe.as_ref())?;
        let (mut norms, mut ws) = ([T::zero(); 2], Workspace::new());
        ops::column_norms(probe.as_ref(), &mut norms[..1], &mut ws)?;
        ops::column_norms(image.as_ref(), &mut norms[1..], &mut ws)?;
        let mut trace = [T::zero()];
        ops::column_dots(probe.as_ref(), image.as_ref(), &mut trace, &mut ws)?;
        let sign = if trace[0] < T::zero() { -T::one() } else { T::one() };
        Ok(Self { op, search, start, line, shift: norms[1] / norms[0], sign })
    }

    /// The pairs at one end, with the sign of the operator; `enough` may end the search early.
    fn find(
        &self,
        sign: T,
        count: usize,
        enough: &dyn Fn(&Record<T>) -> bool,
    ) -> Result<Eigen<T>, Failure> {
        let signed = Multiple::new(sign, self.op)?;
        let shifted = Shifted::new(signed, -self.shift)?;
        let lanczos = self.search.lanczos(count);
        check_memory(lanczos.memory::<T>(self.op.shape().0))?;
        let mut watch = |record: &Record<T>| match self.line.watch(record) {
            ControlFlow::Continue(()) if enough(record) => ControlFlow::Break(Stop::Converged),
            told => told,
        };
        Ok(lanczos.solve_watched(&shifted, self.start, &mut watch)?)
    }

    /// Both ends, or one: their pairs in descending order of the values.
    fn both(&self, high: usize, low: usize) -> Result<Pairs<T>, Failure> {
        let (one, never) = (T::one(), |_: &Record<T>| false);
        let top = if high > 0 { Some(self.find(one, high, &never)?) } else { None };
        let bottom = if low > 0 { Some(self.find(-one, low, &never)?) } else { None };
        let count = |found: &Option<Eigen<T>>| found.as_ref().map_or(0, |e| e.values.len());
        let order: Vec<(usize, usize)> = (0..count(&top))
            .map(|j| (0, j))
            .chain((0..count(&bottom)).rev().map(|j| (usize::from(top.is_some()), j)))
            .collect();
        let info = match (&top, &bottom) {
            (Some(top), Some(bottom)) => join(top.info.clone(), &bottom.info),
            (Some(only), None) | (None, Some(only)) => only.info.clone(),
            (None, None) => return Err(components(0, self.op.shape().0)),
        };
        let mut sources = Vec::new();
        sources.extend(top.as_ref().map(|found| (found, one, self.shift)));
        sources.extend(bottom.as_ref().map(|found| (found, -one, self.shift)));
        Ok(Pairs::pick(&sources, &order, info))
    }

    /// The pairs of largest |λ|: those at one end; those at the other only if it reaches as far,
    /// which a search for its first value shows long before it has converged.
    fn largest(&self) -> Result<Pairs<T>, Failure> {
        let (sign, count) = (self.sign, self.search.components);
        let near = self.find(sign, count, &|_| false)?;
        let least = near.values.last().map_or(T::zero(), |&value| value - self.shift);
        let settled = |record: &Record<T>| {
            let reach = record.ritz + record.residual - self.shift;
            reach < least && record.residual <= T::of(SETTLED) * least
        };
        let mut probe = self.find(-sign, 1, &settled)?;
        let reach = probe.values[0] + probe.residuals[0] - self.shift;
        // It was stopped because it was good enough.
        probe.info.stop = near.info.stop;
        let mut info = join(near.info.clone(), &probe.info);
        if reach < least {
            let order: Vec<(usize, usize)> = (0..near.values.len()).map(|j| (0, j)).collect();
            return Ok(Pairs::pick(&[(&near, sign, self.shift)], &order, info));
        }
        let far = self.find(-sign, count, &|_| false)?;
        info = join(info, &far.info);
        let sources = [(&near, sign, self.shift), (&far, -sign, self.shift)];
        let size = |&(s, j): &(usize, usize)| (sources[s].0.values[j] - self.shift).as_f64().abs();
        let mut order: Vec<(usize, usize)> =
            (0..2).flat_map(|s| (0..sources[s].0.values.len()).map(move |j| (s, j))).collect();
        order.sort_by(|a, b| size(b).total_cmp(&size(a)));
        order.truncate(count);
        Ok(Pairs::pick(&sources, &order, info))
    }

    /// The pairs of smallest |λ|: the largest of c² − A², turned to the eigenvectors of A in their
    /// span.
    fn smallest(&self, op: &dyn AdjointOperator<T>) -> Result<Pairs<T>, Failure> {
        let one = T::one();
        let ends = [self.find(one, 1, &|_| false)?, self.find(-one, 1, &|_| false)?];
        let reach = |e: &Eigen<T>| (e.values[0] + e.residuals[0] - self.shift).abs();
        let bound = reach(&ends[0]).max(reach(&ends[1]));
        let square = Multiple::new(-one, Product::new(op, op)?)?;
        let folded = Shifted::new(square, -bound * bound)?;
        let lanczos = self.search.lanczos(self.search.components);
        let mut watch = |record: &Record<T>| self.line.watch(record);
        let found = lanczos.solve_watched(&folded, self.start, &mut watch)?;
        let info = join(join(found.info, &ends[0].info), &ends[1].info);
        pairs_in(op, &found.vectors, info)
    }
}

/// The Ritz pairs of an operator in the span of orthonormal columns.
fn pairs_in<T: Scalar>(
    op: &dyn AdjointOperator<T>,
    span: &Block<T>,
    info: Info<T>,
) -> Result<Pairs<T>, Failure> {
    let (mut ritz, mut ws) = (RayleighRitz::new(span.cols()), Workspace::new());
    let image = op.multiply(span.as_ref())?;
    ritz.compute(span.as_ref(), image.as_ref(), info.iterations, &mut ws)?;
    let mut vectors = Block::zeros(span.rows(), ritz.measure().ritz.len());
    ritz.rotate(span.as_ref(), vectors.as_mut())?;
    let measure = ritz.measure();
    Ok(Pairs {
        values: measure.ritz.clone(),
        residuals: measure.residuals.clone(),
        vectors: crate::info::dense(&vectors),
        info,
    })
}

fn components(value: usize, most: usize) -> Failure {
    let (name, of) = ("components", "the dimension of the operator");
    favard_models::ErrorKind::Count { name, value, most, of }.into()
}

/// All pairs at once, of which some are wanted.
fn formed<T: Scalar>(op: &dyn LinearOperator<T>, search: &Search) -> Result<Pairs<T>, Failure> {
    let (dim, count) = (op.shape().0, search.components);
    check_memory(dim.saturating_mul(dim).saturating_mul(6 * size_of::<T>()))?;
    let found = exact_eigen(op, dim)?;
    let mut order: Vec<(usize, usize)> = (0..dim).map(|j| (0, j)).collect();
    let size = |&(_, j): &(usize, usize)| found.values[j].as_f64().abs();
    match search.which.as_str() {
        "SA" => drop(order.drain(..dim - count)),
        "BE" => drop(order.drain(count - count / 2..dim - count / 2)),
        "LM" => order.sort_by(|a, b| size(b).total_cmp(&size(a))),
        "SM" => order.sort_by(|a, b| size(a).total_cmp(&size(b))),
        _ => {}
    }
    order.truncate(count);
    let info = found.info.clone();
    Ok(Pairs::pick(&[(&found, T::one(), T::zero())], &order, info))
}

/// The pairs that a search asks for.
pub fn solve<T: Scalar>(
    op: &dyn AdjointOperator<T>,
    search: &Search,
    start: Option<&Block<T>>,
    line: &Line<T>,
) -> Result<Pairs<T>, Failure> {
    let ((rows, cols), count) = (op.shape(), search.components);
    if rows != cols {
        let kind = favard_operator::ErrorKind::NotSquare { what: "eigenvalues", rows, cols };
        return Err(favard_operator::Error::from(kind).into());
    }
    if count == 0 || count > rows {
        return Err(components(count, rows));
    }
    if search.is_small(rows) {
        return formed(&op, search);
    }
    // Before the probe is drawn, which may be the first vector that cannot be had.
    check_memory(search.lanczos(count).memory::<T>(rows))?;
    let plain: &dyn LinearOperator<T> = &op;
    let ends = Ends::new(plain, search, start, line)?;
    match search.which.as_str() {
        "LA" => ends.both(count, 0),
        "SA" => ends.both(0, count),
        "BE" => ends.both(count - count / 2, count / 2),
        "SM" => ends.smallest(op),
        _ => ends.largest(),
    }
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
    let (pairs, raised) = talk::run(py, &mut answers, job)?;
    let dict = PyDict::new(py);
    dict.set_item("values", pairs.values.into_pyarray(py))?;
    dict.set_item("vectors", array(py, pairs.vectors))?;
    dict.set_item("residuals", pairs.residuals.into_pyarray(py))?;
    let info = PyDict::new(py);
    put_info(&info, &pairs.info)?;
    put_method(&info, &pairs.info)?;
    dict.set_item("info", info)?;
    dict.set_item("raised", raised)?;
    Ok(dict.unbind())
}

/// Eigenpairs of a symmetric matrix or operator (see `Source`), as a dictionary.
#[pyfunction]
#[pyo3(signature = (x, search, *, start=None, callback=None))]
pub fn eigen(
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
