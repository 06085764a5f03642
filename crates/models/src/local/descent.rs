//! [`Descent`]: gradient descent with momentum, safeguarded.

use std::cell::RefCell;

use favard_engine::recurrence::HeavyBall;
use favard_engine::{Engine, ErrorKind as EngineKind, Info, Stop};
use favard_operator::{Block, BlockMut, BlockRef, Result as OperatorResult, Scalar, Workspace};

use super::gradient::{Gradient, Reading, Seen};
use super::monitor::Monitor;
use super::round::{Round, Verdict};
use super::{Curvature, Runs};
use crate::error::{ErrorKind, Result};

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

    /// The numbers that its coordinates are chosen by; none when there is no choice.
    fn coordinates(&self) -> Vec<T> {
        Vec::new()
    }

    /// Takes up coordinates of an earlier run, and the curvature that was found in them.
    fn restore(&mut self, coordinates: &[T], ends: &Curvature) -> Result<()>;
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
    ///
    /// A descent that ends before it has converged gives the point of its last round with the least
    /// residual: momentum makes it rise and fall.
    ///
    /// A descent that was saved goes on in the middle of its round; `start` is then of no use.
    pub fn run<T: Scalar, P: Problem<T>>(
        &self,
        problem: &mut P,
        start: Block<T>,
        runs: &mut Runs<'_, T>,
    ) -> Result<(Block<T>, Info<T>)> {
        let (mut round, mut kept) = if let Some((checkpoint, round)) = runs.take_round() {
            if round.at.shape() != start.shape() {
                let problem = "the block of the descent has another shape";
                return Err(ErrorKind::Damaged { problem }.into());
            }
            problem.restore(&round.coordinates, &round.ends)?;
            (round, Some(checkpoint))
        } else {
            let mut at = start;
            let moves = problem.recentre(&mut at)?;
            let ends = problem.curvature(&at)?;
            (Round::new(at, moves, ends, problem.coordinates()), None)
        };
        let (mut stop, mut method) = (Stop::Stagnated, String::new());
        while round.number < ROUNDS {
            let best = RefCell::new(std::mem::take(&mut round.best));
            let seen = Seen { best, ..Seen::default() };
            let map = Gradient::new(&*problem, &seen);
            let recurrence = self.recurrence(&round.ends, round.share)?;
            let mut engine = Engine::new(map, recurrence, round.at.clone())?;
            if let Some(checkpoint) = kept.take() {
                engine.resume(checkpoint)?;
            }
            let mut info = self.go(&mut engine, &seen, &mut round, runs)?;
            method = std::mem::take(&mut info.method);
            round.ticks += info.iterations;
            round.applications += info.applications;
            match round.verdict {
                Verdict::Diverged => round.share *= 0.5,
                Verdict::Refresh => {
                    round.at = engine.block().clone();
                    drop(engine);
                    problem.recentre(&mut round.at)?;
                    round.ends = problem.curvature(&round.at)?;
                    round.coordinates = problem.coordinates();
                    round.applications += round.ends.products;
                    round.looks += 1;
                }
                Verdict::Open => {
                    (round.at, stop) = (engine.block().clone(), info.stop);
                    if stop != Stop::Converged {
                        round.applications += better(&*problem, &seen, &mut round.at)?;
                    }
                    break;
                }
            }
            round.renew();
        }
        let how = if self.momentum { "Polyak's momentum" } else { "no momentum" };
        let Curvature { low, high, .. } = round.ends;
        let info = Info {
            method,
            reason: format!("{how} for a curvature within [{low:.1e}, {high:.1e}]"),
            iterations: round.ticks,
            applications: round.applications,
            // A gradient and a product with the Hessian are one pass each.
            passes: round.applications as f64,
            history: round.history,
            ritz: vec![T::of(round.ends.high), T::of(round.ends.low)],
            ..Info::new(stop)
        };
        Ok((round.at, info))
    }

    /// Runs a round to its end, which its verdict then says. A round that was saved with one is at
    /// its end.
    fn go<T: Scalar, P: Problem<T>>(
        &self,
        engine: &mut Engine<T, Gradient<'_, T, P>, HeavyBall<T>>,
        seen: &Seen<T>,
        round: &mut Round<T>,
        runs: &mut Runs<'_, T>,
    ) -> Result<Info<T>> {
        if round.verdict != Verdict::Open {
            return Ok(engine.info(Stop::Iterations));
        }
        let hard = round.ends.root() * round.ends.root() > HARD;
        let again = round.moves && (round.looks == 0 || (hard && round.looks < 3));
        let limit = self.iterations.saturating_sub(round.ticks);
        let patience = self.patience(&round.ends);
        let mut monitor = Monitor {
            seen,
            runs,
            round,
            tolerance: self.tolerance,
            patience,
            refresh: again.then_some(REFRESH),
            limit,
        };
        match engine.run(limit.saturating_sub(engine.tick()), &mut monitor) {
            Ok(info) => Ok(info),
            // Far outside of the basin the iterate can overflow: that is divergence too.
            Err(error) if matches!(error.kind(), EngineKind::NonFinite { .. }) => {
                round.verdict = Verdict::Diverged;
                Ok(engine.info(Stop::Stagnated))
            }
            Err(error) => Err(error.into()),
        }
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

/// Replaces `at`, the point that follows the one read last, by the best one that was read, if that is
/// better; the gradients it took. What follows another one than the best is not looked at.
fn better<T: Scalar, P: Problem<T>>(problem: &P, seen: &Seen<T>, at: &mut Block<T>) -> Result<u64> {
    let best = seen.best.borrow();
    if best.at.shape() != at.shape() {
        return Ok(0);
    }
    let mut looked = 0;
    if best.is_last {
        let mut gradient = Block::zeros(at.rows(), at.cols());
        let found = problem.gradient(at.as_ref(), gradient.as_mut(), &mut Workspace::new())?;
        if found.residual <= best.residual {
            return Ok(1);
        }
        looked = 1;
    }
    at.assign(best.at.as_ref())?;
    Ok(looked)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::checkpoint::Keeper;

    /// f(x) = ½ (x₁² + 100 x₂²), whose residual is ‖x‖.
    struct Bowl;

    impl Problem<f64> for Bowl {
        fn dim(&self) -> usize {
            2
        }

        fn gradient(
            &self,
            x: BlockRef<'_, f64>,
            mut g: BlockMut<'_, f64>,
            _: &mut Workspace<f64>,
        ) -> OperatorResult<Reading> {
            let (first, second) = (x.row(0)[0], x.row(1)[0]);
            (g.row_mut(0)[0], g.row_mut(1)[0]) = (first, 100.0 * second);
            Ok(Reading { residual: first.hypot(second), slope: 1.0 })
        }

        fn curvature(&mut self, _: &Block<f64>) -> Result<Curvature> {
            Ok(Curvature { low: 1.0, high: 100.0, products: 0 })
        }

        fn restore(&mut self, _: &[f64], _: &Curvature) -> Result<()> {
            Ok(())
        }
    }

    /// Wherever the budget ends a descent whose residual rises and falls, no point that it has seen
    /// is better than the one it gives.
    #[test]
    fn the_best_point_is_given() {
        let mut fell_back = 0;
        for iterations in 1..40 {
            let descent = Descent { tolerance: 0.0, iterations, momentum: true };
            let watch = &mut |_: &favard_engine::Record<f64>| ControlFlow::Continue(());
            let mut runs = Runs::new(Keeper::default(), watch).unwrap();
            let start = Block::column(&[0.1, 1.0]);
            let (at, info) = descent.run(&mut Bowl, start, &mut runs).unwrap();
            assert_eq!((info.stop, info.iterations), (Stop::Iterations, iterations));
            let residuals = info.history.iter().map(|record| record.residual);
            let least = residuals.fold(f64::INFINITY, f64::min);
            assert!(at.row(0)[0].hypot(at.row(1)[0]) <= least, "after {iterations} steps");
            let last = info.history.last().map_or(0.0, |record| record.residual);
            fell_back += u32::from(last > least);
        }
        assert!(fell_back > 5);
    }
}
