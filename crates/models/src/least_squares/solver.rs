//! The run of a [`LeastSquares`]: from the problem to the method and back.

use favard_engine::Stop;
use favard_operator::{AdjointOperator, Block, Scalar, Scaled, Workspace, small};

use super::columns::largest_entry;
use super::descent::{self, Polynomial};
use super::monitor::{Monitor, Outcome, System, Watch};
use super::problem::Problem;
use super::prospect::{Prospect, noise};
use super::spectrum::Ends;
use super::state::{Kept, Phase, Prelude};
use super::{LeastSquares, Method, Solution, cg, lsmr, parts};
use crate::checkpoint::{self, Keeper};
use crate::error::Result;

/// Cache lines of unknowns up to which `Auto` forms the Gram matrix, for one cache line of
/// right-hand sides: 32 block products of 32 columns cost about as much as 128 of one.
const FEW: usize = 16;

/// Unknowns from which it never does: the eigenproblem takes seconds.
const MANY: usize = 512;

/// Steps that estimate the spectrum for the methods that need bounds.
const STEPS: u64 = 40;

/// What a method found, the ends of the spectrum that it has seen, its name and why it was used.
type Ran<T> = (Outcome<T>, Option<Ends>, (&'static str, String));

/// What the Ritz value may be below the end of the spectrum.
const MARGIN: f64 = 1.05;

impl LeastSquares {
    /// Solves with the squared norms of the columns, where they are known (exactly, or nearly).
    pub(super) fn run<T: Scalar>(
        &self,
        op: &dyn AdjointOperator<T>,
        rhs: &Block<T>,
        squares: Option<(Vec<f64>, bool)>,
        mut keeper: Keeper,
        watch: &mut Watch<'_, T>,
    ) -> Result<Solution<T>> {
        self.check()?;
        // Mᵀb may be no number where b is small or large; x is linear in b.
        let factor = small::balance(largest_entry(rhs));
        if factor != T::one() {
            let entry = |i: usize, j: usize| factor * rhs.row(i)[j];
            let scaled = Block::from_fn(rhs.rows(), rhs.cols(), entry);
            return Ok(self.run(op, &scaled, squares, keeper, watch)?.divided(factor));
        }
        let dim = op.shape().1;
        let on_engine = !matches!(self.method, Method::Cg | Method::Lsmr | Method::Auto)
            || self.method == Method::Auto && forms::<T>(dim, rhs.cols());
        if on_engine && rhs.cols() > dim && dim > 0 {
            // The engine takes no more columns than there are unknowns. So few of them are not
            // worth a checkpoint.
            return parts::solve(dim, rhs, &mut |part| {
                self.run(op, part, squares.clone(), Keeper::default(), watch)
            });
        }
        let problem = Problem::new(op, rhs, &self.terms)?;
        let mut ws = Workspace::new();
        let (squares, exact) = squares.map_or((None, false), |(s, exact)| (Some(s), exact));
        let mut scales = problem.scales(&self.scaling, squares, self.seed, &mut ws)?;
        if !exact {
            scales.norm = T::zero();
        }
        let scaled = Scaled::new(&problem.op, scales.scale.clone())?;
        let unscaled = scales.scale.iter().all(|&scale| scale == T::one());
        let system = System {
            base: &problem.op,
            op: if unscaled { &problem.op } else { &scaled },
            rhs: &problem.rhs,
            scale: &scales.scale,
            factors: &scales.factors,
            tolerance: self.tolerance,
            passes: self.passes,
        };
        self.mark(op, rhs, &scales.scale, &mut keeper)?;
        let kept = Kept::of(&mut keeper)?;
        let mut monitor = Monitor::new(&system, scales.norm, watch, &mut ws)?;
        monitor.keeper = keeper;
        let setup = problem.products + scales.products;
        monitor.count(setup, setup as f64);
        let (outcome, ends, (name, mut reason)) = self.dispatch(&mut monitor, kept, &mut ws)?;
        let Outcome { x, stop, checked } = outcome;
        let checked = if let Some(checked) = checked {
            checked
        } else {
            let mut g = Block::zeros(dim, x.cols());
            monitor.check(&x, &mut g, &mut ws)?
        };
        let share = noise(&checked.residuals, &monitor.sizes);
        if let (Method::Auto, Some(share)) = (self.method, share) {
            let text = format!("; noise: ‖r‖ is {share:.1e} of ‖b‖");
            reason.push_str(&text);
        }
        let intercept = problem.intercept(&x);
        let why = (name, reason);
        let mut found = Solution::of_check(x, intercept, stop, checked, &mut monitor, why);
        found.spectrum = ends.map(|ends| (ends.low, ends.high));
        found.info.seed = Some(self.seed);
        Ok(found)
    }

    /// The fingerprint. The scales are the norms of the columns, unless the caller has others.
    pub(super) fn mark<T: Scalar>(
        &self,
        op: &dyn AdjointOperator<T>,
        rhs: &Block<T>,
        scale: &[T],
        keeper: &mut Keeper,
    ) -> Result<()> {
        if keeper.is_idle() {
            return Ok(());
        }
        let (rows, cols) = op.shape();
        let weights = self.terms.weights.as_ref();
        let weights = weights.map(|weights| checkpoint::hash_numbers(weights.iter().copied()));
        keeper.mark("method", format!("{:?}", self.method))?;
        keeper.mark("rows", rows)?;
        keeper.mark("columns", cols)?;
        keeper.mark("work of a product", op.work())?;
        keeper.mark("right-hand sides", checkpoint::hash(rhs))?;
        keeper.mark("ridge", self.terms.ridge)?;
        keeper.mark("intercept", self.terms.intercept)?;
        keeper.mark("weights", weights.unwrap_or_else(|| "none".to_string()))?;
        keeper.mark("seed", self.seed)?;
        keeper.mark("column scales", checkpoint::hash_numbers(scale.iter().copied()))
    }

    /// Runs the method.
    fn dispatch<T: Scalar>(
        &self,
        monitor: &mut Monitor<'_, T>,
        kept: Option<Kept<T>>,
        ws: &mut Workspace<T>,
    ) -> Result<Ran<T>> {
        let asked = |name: &'static str| (name, format!("{name}: asked for"));
        match self.method {
            Method::Auto => choose(monitor, kept, ws),
            Method::Direct => {
                let formed = descent::form(monitor)?;
                let outcome = descent::direct(monitor, &formed, ws)?;
                let (name, why) = asked("Direct");
                Ok((outcome, formed.ends, (name, format!("{why}, rank {}", formed.rank))))
            }
            Method::Cg => {
                let (outcome, coefficients) = cg::solve(monitor, false, kept, ws)?;
                Ok((outcome, Ends::of_coefficients(&coefficients)?, asked("Cg")))
            }
            Method::Lsmr => {
                let start = kept.map_or(lsmr::Start::Zero, lsmr::Start::Kept);
                let outcome = lsmr::solve(monitor, start, &Prelude::default(), ws)?;
                Ok((outcome, None, asked("Lsmr")))
            }
            Method::HeavyBall { bounds } => {
                self.descend(monitor, Polynomial::HeavyBall, bounds, kept, ws)
            }
            Method::Chebyshev { bounds } => {
                self.descend(monitor, Polynomial::Chebyshev, bounds, kept, ws)
            }
        }
    }

    fn descend<T: Scalar>(
        &self,
        monitor: &mut Monitor<'_, T>,
        polynomial: Polynomial,
        bounds: Option<(f64, f64)>,
        kept: Option<Kept<T>>,
        ws: &mut Workspace<T>,
    ) -> Result<Ran<T>> {
        let ends = if let Some(bounds) = bounds {
            Some(Ends::given(bounds)?)
        } else if let Some(kept) = &kept {
            kept.prelude.ends
        } else {
            let ends = Ends::estimate(monitor.system.op, STEPS, self.seed, ws)?;
            let steps = ends.map_or(0, |ends| ends.steps);
            monitor.count(steps, steps as f64);
            ends.map(|ends| Ends { high: ends.high * MARGIN, ..ends })
        };
        let name = polynomial.name();
        let Some(ends) = ends else {
            // A = 0: zero is the solution of smallest norm.
            let (dim, cols) = (monitor.system.op.shape().1, monitor.system.rhs.cols());
            let x = Block::zeros(dim, cols);
            let outcome = Outcome { x, stop: Stop::Converged, checked: None };
            let reason = format!("{name}: the operator is zero");
            return Ok((outcome, None, (name, reason)));
        };
        let outcome = descent::solve(monitor, polynomial, &ends, kept, ws)?;
        let origin = if bounds.is_some() { "given" } else { "estimated" };
        let reason = format!(
            "{name}: asked for; spectrum within [{:.2e}, {:.2e}], {origin}, κ = {:.1e}",
            ends.low,
            ends.high,
            ends.condition()
        );
        Ok((outcome, Some(ends), (name, reason)))
    }
}

/// `Auto`: forms the Gram matrix or runs conjugate gradients, and ends with LSMR when it must.
fn choose<T: Scalar>(
    monitor: &mut Monitor<'_, T>,
    kept: Option<Kept<T>>,
    ws: &mut Workspace<T>,
) -> Result<Ran<T>> {
    let (rows, dim) = monitor.system.op.shape();
    let kept = match kept {
        Some(kept) if kept.phase == Phase::Lsmr => {
            let prelude = kept.prelude.clone();
            let outcome = lsmr::solve(monitor, lsmr::Start::Kept(kept), &prelude, ws)?;
            return Ok((outcome, prelude.ends, ("Lsmr", prelude.reason)));
        }
        kept => kept,
    };
    let (outcome, ends, (name, mut reason)) = if forms::<T>(dim, monitor.system.rhs.cols()) {
        let formed = descent::form(monitor)?;
        let reason = format!(
            "Direct: {dim} unknowns, whose Gram matrix takes {} block products to form; \
             rank {}",
            dim.div_ceil(4 * T::LANE),
            formed.rank
        );
        (descent::direct(monitor, &formed, ws)?, formed.ends, ("Direct", reason))
    } else {
        let (outcome, coefficients) = cg::solve(monitor, true, kept, ws)?;
        let reason =
            format!("Cg: {rows} × {dim}, one pass over the data a step against two of Lsmr");
        (outcome, Ends::of_coefficients(&coefficients)?, ("Cg", reason))
    };
    if let Some(ends) = ends {
        let checked = outcome.checked.as_ref();
        let share = checked.and_then(|found| noise(&found.residuals, &monitor.sizes));
        let prospect = Prospect::new::<T>(&ends, share);
        let text = format!("; spectrum within [{:.1e}, {:.1e}], {prospect}", ends.low, ends.high);
        reason.push_str(&text);
    }
    if outcome.stop != Stop::Stagnated {
        return Ok((outcome, ends, (name, reason)));
    }
    let tolerance = monitor.system.tolerance;
    let text = format!("; its certificates stopped short of {tolerance:.0e}, so Lsmr from there");
    reason.push_str(&text);
    let prelude = Prelude { ends, reason };
    let outcome = lsmr::solve(monitor, lsmr::Start::At(outcome.x), &prelude, ws)?;
    Ok((outcome, ends, ("Lsmr", prelude.reason)))
}

/// Whether the Gram matrix is cheaper to form than an iteration is to run.
fn forms<T: Scalar>(dim: usize, cols: usize) -> bool {
    dim <= MANY && dim.div_ceil(T::LANE) <= FEW * cols.div_ceil(T::LANE)
}
