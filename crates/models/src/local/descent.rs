//! [`Descent`]: gradient descent with momentum, safeguarded.

use std::cell::Cell;

use favard_engine::recurrence::HeavyBall;
use favard_engine::{Engine, ErrorKind as EngineKind, Info, Record, Stop};
use favard_operator::{Block, BlockMut, BlockRef, Result as OperatorResult, Scalar, Workspace};

use super::gradient::{Gradient, Reading};
use super::monitor::{Monitor, Verdict};
use super::{Curvature, Watch};
use crate::error::Result;

/// Polyak's step is for the Hessian at the solution; a tenth less leaves room for the difference.
const SAFETY: f64 = 0.9;

/// Rounds at most: each but the first follows a refresh or halves the step.
const ROUNDS: usize = 20;

/// The residual falls to this share before the curvature is looked at again: once, and for a hard
/// problem, whose curvature far from the solution misleads, twice more.
const REFRESH: f64 = 0.1;

/// A hard problem has a condition number above this.
const HARD: f64 = 50.0;

/// A smooth function with a gradient and the curvature of its locally linear model.
pub(crate) trait Problem<T: Scalar> {
    /// Rows of the block that is descended on.
    fn dim(&self) -> usize;

    /// g ← ∇f(x), with the reading at x.
    fn gradient(
        &self,
        x: BlockRef<'_, T>,
        g: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<Reading>;

    /// The ends of the spectrum of the Hessian at (or near) `at`.
    fn curvature(&mut self, at: &Block<T>) -> Result<Curvature>;

    /// Chooses new coordinates around `at` and rewrites it in them; returns whether it did.
    fn recentre(&mut self, at: &mut Block<T>) -> Result<bool> {
        let _ = at;
        Ok(false)
    }
}

/// How to descend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Descent {
    pub tolerance: f64,
    pub iterations: u64,
    /// Whether β is Polyak's, or 0 with the best step for it.
    pub momentum: bool,
}

impl Descent {
    /// (η, β) for the given curvature, and a share of the step.
    ///
    /// With momentum $\eta = 0.9 \cdot 4/(\sqrt{h_1}+\sqrt{h_d})^2$ and Polyak's β; without,
    /// $\eta = 0.9 \cdot 2/(h_1 + h_d)$.
    fn recurrence<T: Scalar>(&self, ends: &Curvature, share: f64) -> Result<HeavyBall<T>> {
        let root = ends.root();
        let (step, beta) = if self.momentum {
            let sum = ends.high.sqrt() + ends.low.sqrt();
            (4.0 / (sum * sum), ((root - 1.0) / (root + 1.0)).powi(2))
        } else {
            (2.0 / (ends.high + ends.low), 0.0)
        };
        Ok(HeavyBall::new(T::of(SAFETY * share * step), T::of(beta))?)
    }

    /// Descends from `start` in rounds: each takes the curvature where it starts and runs one
    /// engine. A round that diverges is undone and repeated with half the step.
    ///
    /// A new round also starts where the residual is a tenth of the last one's, if the problem has
    /// better coordinates there: once, or up to three times when it is badly conditioned.
    pub fn run<T: Scalar, P: Problem<T>>(
        &self,
        problem: &mut P,
        start: Block<T>,
        watch: &mut Watch<'_, T>,
    ) -> Result<(Block<T>, Info<T>)> {
        let (mut at, mut share) = (start, 1.0);
        let (mut ticks, mut applications) = (0, 0);
        let mut history: Vec<Record<T>> = Vec::new();
        let moves = problem.recentre(&mut at)?;
        let mut ends = problem.curvature(&at)?;
        applications += ends.products;
        let (mut looks, mut stop) = (0, Stop::Stagnated);
        for _ in 0..ROUNDS {
            let hard = ends.root() * ends.root() > HARD;
            let again = moves && (looks == 0 || (hard && looks < 3));
            let reading = Cell::new(Reading::default());
            let map = Gradient::new(&*problem, &reading);
            let mut engine = Engine::new(map, self.recurrence(&ends, share)?, at.clone())?;
            let mut monitor = Monitor {
                reading: &reading,
                watch: &mut *watch,
                history: &mut history,
                before: (ticks, applications as f64),
                high: ends.high,
                tolerance: self.tolerance,
                patience: self.patience(&ends),
                refresh: again.then_some(REFRESH),
                first: None,
                least: (f64::INFINITY, 0),
                verdict: Verdict::Open,
            };
            let ran = engine.run(self.iterations.saturating_sub(ticks), &mut monitor);
            let mut verdict = monitor.verdict;
            let info = match ran {
                Ok(info) => info,
                // Far outside of the basin the iterate can overflow: that is divergence too.
                Err(error) if matches!(error.kind(), EngineKind::NonFinite { .. }) => {
                    verdict = Verdict::Diverged;
                    engine.info(Stop::Stagnated)
                }
                Err(error) => return Err(error.into()),
            };
            ticks += info.iterations;
            applications += info.applications;
            match verdict {
                Verdict::Diverged => share *= 0.5,
                Verdict::Refresh => {
                    at = engine.block().clone();
                    drop(engine);
                    problem.recentre(&mut at)?;
                    ends = problem.curvature(&at)?;
                    (applications, looks) = (applications + ends.products, looks + 1);
                }
                Verdict::Open => {
                    (at, stop) = (engine.block().clone(), info.stop);
                    break;
                }
            }
        }
        let info = Info {
            iterations: ticks,
            applications,
            // A gradient and a product with the Hessian are one pass each.
            passes: applications as f64,
            history,
            ritz: vec![T::of(ends.high), T::of(ends.low)],
            ..Info::new(stop)
        };
        Ok((at, info))
    }

    /// Steps without a new minimum that count as stagnation: several times what it takes to halve
    /// the error, which goes with √κ for the heavy ball and with κ without momentum.
    // A condition number of at most 1e6.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn patience(&self, ends: &Curvature) -> u64 {
        let root = ends.root();
        50 + (10.0 * if self.momentum { root } else { root * root }) as u64
    }
}
