//! [`PhaseSpectral`]: the start of phase retrieval.

use favard_engine::gauge::{AugmentedQr, Norm};
use favard_engine::map::Exact;
use favard_engine::observe::Tolerance;
use favard_engine::recurrence::{Chebyshev, Dynamic, Orthogonal, Power, Recurrence};
use favard_engine::{Engine, Info, Stop};
use favard_operator::{AdjointOperator, Block, Gram, LinearOperator, Scalar, Weighted, Workspace};

use crate::Eigen;
use crate::error::{ErrorKind, Result};
use crate::local::Runs;

/// Intensities above this many times their mean are left out: a heavy tail would let single rows
/// decide the eigenvector.
const TRUNCATION: f64 = 9.0;

/// Products of the probe that finds the interval for Chebyshev's family.
const PROBE: u64 = 6;

/// The recurrence of the spectral stage of [`PhaseRetrieval`](super::PhaseRetrieval).
///
/// For Gaussian rows $\lambda_2 / \lambda_1$ tends to about 1/3 with m/d and is about 0.8 at
/// m/d = 6; the gain of momentum is between 2.4 and 1.6 times fewer steps, that of the shifted
/// family between 3.2 and 2.6.
///
/// # Example
/// ```
/// use favard_models::{PhaseRetrieval, PhaseSpectral};
/// let model = PhaseRetrieval::new().spectral(PhaseSpectral::Chebyshev);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PhaseSpectral {
    /// Momentum with β from the residuals ([`Dynamic`]).
    #[default]
    Momentum,
    /// Chebyshev's family on $[0, \lambda_2]$, with $\lambda_2$ from six products of momentum on a
    /// block of three columns.
    Chebyshev,
    /// The plain power iteration.
    Power,
}

/// What the stage found.
pub(super) struct Started<T> {
    /// The eigenvector, of the length that fits the intensities best.
    pub vector: Block<T>,
    pub info: Info<T>,
}

impl PhaseSpectral {
    /// The leading eigenvector of $\frac{1}{m} A^T \mathrm{diag}(w) A$ with the truncated weights,
    /// within a tolerance, a number of products, and from a seed.
    pub(super) fn start<T, A>(
        self,
        a: &A,
        intensities: &[T],
        (tolerance, products, seed): (f64, u64, u64),
        runs: &mut Runs<'_, T>,
    ) -> Result<Started<T>>
    where
        T: Scalar,
        A: AdjointOperator<T> + ?Sized,
    {
        let weights = truncated(intensities);
        let kept = weights.iter().filter(|&&weight| weight > T::zero()).count();
        let op = Gram::new(Weighted::new(a, weights)?);
        let dim = a.shape().1;
        let start = Block::gaussian(dim, 1, seed);
        let stage = Stage { op: &op, tolerance, products };
        let (vector, info) = match self {
            Self::Momentum => stage.run(Dynamic::default(), start, runs)?,
            Self::Power => stage.run(Power, start, runs)?,
            Self::Chebyshev => stage.shifted(Block::gaussian(dim, dim.min(3), seed), runs)?,
        };
        let found = Eigen::of_span(&op, &vector, 1, info)?;
        if found.values.is_empty() {
            let (name, value) = ("leading eigenvalue", 0.0);
            let need = "must be above 0: the rows with an intensity are zero";
            return Err(ErrorKind::Parameter { name, value, need }.into());
        }
        let mut vector = found.vectors;
        let mut ws = Workspace::new();
        scale(a, intensities, &mut vector, &mut ws)?;
        let how = match self {
            Self::Momentum => "dynamic momentum",
            Self::Power => "the power iteration",
            Self::Chebyshev => "Chebyshev's family below the leading eigenvalue",
        };
        let of = intensities.len();
        let reason =
            format!("{how} on {kept} of {of} intensities, those from 0 to 9 times the mean");
        Ok(Started { vector, info: Info { reason, ..found.info } })
    }
}

/// $w_i = y_i 1(y_i \le 9 \bar y)$, or y itself where nothing would be left.
fn truncated<T: Scalar>(intensities: &[T]) -> Vec<T> {
    let mean: f64 = intensities.iter().map(|y| y.as_f64()).sum::<f64>() / intensities.len() as f64;
    let keep = |y: &T| if y.as_f64() <= TRUNCATION * mean { *y } else { T::zero() };
    let weights: Vec<T> = intensities.iter().map(keep).collect();
    if weights.iter().all(|w| *w == T::zero()) { intensities.to_vec() } else { weights }
}

/// v ← s v with s² = Σ y u² / Σ u⁴, u = A v: the length that fits the intensities best.
fn scale<T, A>(a: &A, intensities: &[T], v: &mut Block<T>, ws: &mut Workspace<T>) -> Result<()>
where
    T: Scalar,
    A: AdjointOperator<T> + ?Sized,
{
    let mut u = ws.take(intensities.len(), 1);
    a.apply(T::one(), v.as_ref(), T::zero(), u.as_mut(), ws)?;
    let square = |i: usize| u.row(i)[0].as_f64().powi(2);
    let (mut over, mut under) = (0.0, 0.0);
    for (i, y) in intensities.iter().enumerate() {
        over += y.as_f64() * square(i);
        under += square(i).powi(2);
    }
    ws.give(u);
    let factor = if under > 0.0 { (over / under).sqrt() } else { 1.0 };
    favard_operator::ops::scale(T::of(factor), v.as_mut());
    Ok(())
}

/// One run of the engine on the weighted Gram operator.
struct Stage<'a, A> {
    op: &'a A,
    tolerance: f64,
    products: u64,
}

impl<A> Stage<'_, A> {
    fn run<T: Scalar, R: Recurrence<T>>(
        &self,
        recurrence: R,
        start: Block<T>,
        runs: &mut Runs<'_, T>,
    ) -> Result<(Block<T>, Info<T>)>
    where
        A: LinearOperator<T>,
    {
        let map = Exact::new(self.op)?;
        let mut engine = Engine::new(map, recurrence, start)?.with_gauge(Norm);
        let info = runs.run(&mut engine, self.products, Tolerance::new(self.tolerance, 1)?)?;
        Ok((engine.block().clone(), info))
    }

    /// A probe for λ₂, then Chebyshev's family on [0, λ₂] from the probe's best vector.
    fn shifted<T: Scalar>(
        &self,
        start: Block<T>,
        runs: &mut Runs<'_, T>,
    ) -> Result<(Block<T>, Info<T>)>
    where
        A: LinearOperator<T>,
    {
        let width = start.cols();
        let mut engine = Engine::new(Exact::new(self.op)?, Dynamic::default(), start)?
            .with_gauge(AugmentedQr::new(width));
        let tolerance = Tolerance::new(self.tolerance, 1)?;
        let probe = runs.run(&mut engine, PROBE.min(self.products), tolerance)?;
        let found = Eigen::of_span(self.op, engine.block(), 2, probe)?;
        let edge =
            |j: usize| found.values.get(j).map_or(T::zero(), |&value| value + found.residuals[j]);
        let first = found.vectors.as_ref().cols_range(0..1).to_owned();
        // Without a second eigenvalue below the first there is no interval, and nothing to gain.
        let done = found.info.stop != Stop::Iterations || edge(1) <= T::zero();
        if done || edge(1) >= edge(0) || self.products <= PROBE {
            return Ok((first, found.info));
        }
        let family = Orthogonal::new(Chebyshev::new(T::zero(), edge(1))?);
        let rest = Stage { products: self.products - PROBE, ..*self };
        let (vector, info) = rest.run(family, first, runs)?;
        let (before, mut info) = (found.info, info);
        info.iterations += before.iterations;
        info.applications += before.applications;
        info.passes += before.passes;
        info.history.splice(0..0, before.history);
        Ok((vector, info))
    }
}
