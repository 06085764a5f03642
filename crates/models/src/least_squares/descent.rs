//! The methods that are points of the engine: heavy ball, Chebyshev, and Newton for few unknowns.

use std::ops::ControlFlow;

use faer::{Accum, Mat};
use favard_engine::map::StepMap;
use favard_engine::recurrence::{Chebyshev, HeavyBall, Normalized, Recurrence};
use favard_engine::{Advance, Checkpoint, Engine, Stop};
use favard_operator::{Block, Gram, Scalar, Workspace, small};
use serde::{Deserialize, Serialize};

use super::columns::{largest, scale_rows};
use super::gradient::Gradient;
use super::monitor::{Checked, Monitor, Outcome, refuse_non_finite};
use super::newton::Newton;
use super::spectrum::Ends;
use super::state::{Kept, Phase, Prelude};
use crate::error::Result;
use crate::symmetric::symmetric_eigen;

/// How far the certificate may rise above its first value before a run counts as diverged.
const DIVERGED: f64 = 1e6;

/// Newton steps at most: the first solves, each further one gains the digits that the Gram matrix
/// holds.
const REFINEMENTS: u64 = 6;

/// A map that remembers the gradient and the residuals of the block it has evaluated last.
pub(super) trait Evaluated<T: Scalar>: StepMap<T> {
    fn seen(&self) -> (&Block<T>, &[T]);
}

impl<T: Scalar> Evaluated<T> for Gradient<'_, T> {
    fn seen(&self) -> (&Block<T>, &[T]) {
        (&self.last, &self.residuals)
    }
}

impl<T: Scalar> Evaluated<T> for Newton<'_, T> {
    fn seen(&self) -> (&Block<T>, &[T]) {
        (&self.gradient, &self.residuals)
    }
}

/// What a checkpoint carries: the engine's own, and the first certificate.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
struct State<T: Scalar> {
    engine: Checkpoint<T>,
    first: Option<T>,
}

/// Steps until the block that was evaluated last is solved; the engine holds it as its older block.
fn run<T: Scalar, M: Evaluated<T>, R: Recurrence<T>>(
    engine: &mut Engine<T, M, R>,
    monitor: &mut Monitor<'_, T>,
    limit: u64,
    ws: &mut Workspace<T>,
) -> Result<Stop> {
    run_kept(engine, monitor, limit, (None, None), ws)
}

/// The same, from where it was saved, and saved with a prelude.
fn run_kept<T: Scalar, M: Evaluated<T>, R: Recurrence<T>>(
    engine: &mut Engine<T, M, R>,
    monitor: &mut Monitor<'_, T>,
    limit: u64,
    (kept, prelude): (Option<Kept<T>>, Option<&Prelude>),
    ws: &mut Workspace<T>,
) -> Result<Stop> {
    let mut first = None;
    if let Some(Kept { known, mut stored, .. }) = kept {
        let state: State<T> = stored.read()?;
        engine.resume(state.engine)?;
        first = state.first;
        monitor.restore(known)?;
        if monitor.is_spent() {
            return Ok(Stop::Passes);
        }
    }
    for _ in 0..limit {
        let before = engine.map().cost();
        let advanced = engine.advance()?;
        let cost = engine.map().cost();
        monitor.count(cost.applications - before.applications, cost.passes - before.passes);
        let (gradient, residuals) = engine.map().seen();
        monitor.judge(gradient, residuals, ws)?;
        let flow = monitor.tick();
        if monitor.all_solved(residuals) {
            return Ok(Stop::Converged);
        }
        if let Advance::Ended(stop) = advanced {
            // A pair of zeros that is no solution: the gradient is not zero, and what it was
            // multiplied with is.
            return Ok(if stop == Stop::Breakdown { Stop::Stagnated } else { stop });
        }
        let worst = largest(&monitor.certificates);
        let limit = T::of(DIVERGED) * *first.get_or_insert(worst);
        if worst.is_nan() || worst > limit {
            return Ok(Stop::Stagnated);
        }
        if let Some(prelude) = prelude {
            let state = || State { engine: engine.checkpoint(), first };
            monitor.keep(flow, (Phase::Descent, prelude), state)?;
        }
        if let ControlFlow::Break(stop) = flow {
            return Ok(stop);
        }
    }
    Ok(Stop::Stagnated)
}

/// D⁻¹ y for the block y that was evaluated last.
fn unscaled<T: Scalar, M, R>(engine: &Engine<T, M, R>, factors: &[T]) -> Block<T> {
    let mut x = engine.previous().clone();
    scale_rows(factors, &mut x);
    x
}

/// The polynomial of an exact method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Polynomial {
    HeavyBall,
    Chebyshev,
}

impl Polynomial {
    /// Its name in a report.
    pub fn name(self) -> &'static str {
        match self {
            Self::HeavyBall => "HeavyBall",
            Self::Chebyshev => "Chebyshev",
        }
    }
}

/// Heavy ball with Polyak's parameters, or the Chebyshev semi-iteration, for a spectrum within the
/// given ends.
pub(super) fn solve<T: Scalar>(
    monitor: &mut Monitor<'_, T>,
    polynomial: Polynomial,
    ends: &Ends,
    kept: Option<Kept<T>>,
    ws: &mut Workspace<T>,
) -> Result<Outcome<T>> {
    let system = monitor.system;
    let (dim, cols) = (system.op.shape().1, system.rhs.cols());
    let mut image = Block::zeros(dim, cols);
    system.op.apply_adjoint(T::one(), system.rhs.as_ref(), T::zero(), image.as_mut(), ws)?;
    monitor.count(1, 1.0);
    refuse_non_finite(&image)?;
    let (low, high) = (T::of(ends.low), T::of(ends.high));
    let map = Gradient::new(system.op, &image, &monitor.sizes);
    let start = Block::zeros(dim, cols);
    let prelude = Prelude { ends: Some(*ends), reason: String::new() };
    let saved = (kept, Some(&prelude));
    // One point is no interval: heavy ball has no momentum there, and needs one step.
    let flat = high <= low * (T::one() + T::EPSILON.sqrt());
    if polynomial == Polynomial::Chebyshev && !flat {
        let semi = Normalized::new(Chebyshev::new(low, high)?, T::zero())?;
        let mut engine = Engine::new(map, semi, start)?;
        let stop = run_kept(&mut engine, monitor, u64::MAX, saved, ws)?;
        Ok(Outcome { x: unscaled(&engine, system.factors), stop, checked: None })
    } else {
        let mut engine = Engine::new(map, HeavyBall::polyak(low, high)?, start)?;
        let stop = run_kept(&mut engine, monitor, u64::MAX, saved, ws)?;
        Ok(Outcome { x: unscaled(&engine, system.factors), stop, checked: None })
    }
}

/// The eigenvalues of G = MᵀM, formed by n / 32 block products, and its pseudo-inverse.
pub(super) struct Formed<T> {
    inverse: Mat<T>,
    pub ends: Option<Ends>,
    pub rank: usize,
}

/// Forms G and inverts it on the eigenvalues above rounding, nε of the largest.
pub(super) fn form<T: Scalar>(monitor: &mut Monitor<'_, T>) -> Result<Formed<T>> {
    let dim = monitor.system.op.shape().1;
    let dense = Gram::new(monitor.system.op).with_scale(1.0)?.to_dense()?;
    let products = dim.div_ceil(4 * T::LANE) as u64;
    monitor.count(products, products as f64);
    if let Some(((row, column), value)) = dense.indexed_iter().find(|(_, v)| !v.is_finite()) {
        let (what, value) = ("product of the operator", value.as_f64());
        let kind = favard_operator::ErrorKind::NonFinite { what, row, column, value };
        return Err(favard_operator::Error::from(kind).into());
    }
    let half = T::of(0.5);
    let matrix = Mat::from_fn(dim, dim, |i, j| (dense[[i, j]] + dense[[j, i]]) * half);
    let (values, vectors) = symmetric_eigen(matrix.as_ref())?;
    let high = values.first().copied().unwrap_or(T::zero()).max(T::zero());
    let least = T::of_count(dim) * T::EPSILON * high;
    let rank = values.iter().take_while(|&&value| value > least).count();
    // G⁺ = V Λ⁺ Vᵀ
    let scaled = Mat::from_fn(dim, rank, |i, j| vectors[(i, j)] / values[j]);
    let leading = vectors.as_ref().subcols(0, rank);
    let mut inverse = Mat::<T>::zeros(dim, dim);
    let (left, right) = (scaled.as_ref(), leading.transpose());
    small::multiply(inverse.as_mut(), Accum::Replace, left, right, T::one());
    let ends = (rank > 0).then(|| Ends {
        low: values[rank - 1].as_f64(),
        high: high.as_f64(),
        steps: products,
    });
    monitor.scaled_norm = high.sqrt();
    Ok(Formed { inverse, ends, rank })
}

/// Plain steps of the Newton map: the solution, and a refinement or two.
pub(super) fn direct<T: Scalar>(
    monitor: &mut Monitor<'_, T>,
    formed: &Formed<T>,
    ws: &mut Workspace<T>,
) -> Result<Outcome<T>> {
    let system = monitor.system;
    let (dim, cols) = (system.op.shape().1, system.rhs.cols());
    let map = Newton::new(system.op, system.rhs.as_ref(), &formed.inverse);
    let plain = HeavyBall::new(T::one(), T::zero())?;
    let mut engine = Engine::new(map, plain, Block::zeros(dim, cols))?;
    let stop = run(&mut engine, monitor, REFINEMENTS, ws)?;
    let checked = Checked {
        residuals: engine.map().residuals.clone(),
        gradients: monitor.gradients().to_vec(),
    };
    Ok(Outcome { x: unscaled(&engine, system.factors), stop, checked: Some(checked) })
}
