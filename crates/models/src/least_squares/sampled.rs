//! [`Sampled`]: mini-batch heavy ball and SVRG with momentum.

use std::ops::ControlFlow;

use favard_engine::map::Svrg;
use favard_engine::recurrence::HeavyBall;
use favard_engine::{Engine, Record, Stop};
use favard_operator::{
    AdjointOperator, Block, Centered, Gram, RowOperator, Sampler, Scalar, Shifted, Weighted,
    Workspace,
};

use super::monitor::{Monitor, System, Watch};
use super::plan::{ANCHORED_GAIN, GAIN, Momentum, Plan};
use super::problem::{Problem, Target};
use super::row_gradient::RowGradient;
use super::short::{SHORT, short_rows};
use super::spectrum::Ends;
use super::state::{Kept, LEAST_SQUARES, Prelude};
use super::stochastic::{self, Ended};
use super::{LeastSquares, Solution, parts, sample};
use crate::Checkpoints;
use crate::checkpoint::Keeper;
use crate::error::{ErrorKind, Result};

/// The sampled methods of [`LeastSquares::solve_rows`]: they read a few rows a step.
///
/// | method | for | limit |
/// |---|---|---|
/// | [`mini_batch`](Self::mini_batch) | consistent systems | a noise floor when the residual is not zero |
/// | [`svrg`](Self::svrg) | inconsistent systems | an exact gradient once an epoch |
/// | [`auto`](Self::auto) | | mini-batches where they read less than conjugate gradients would, else those |
///
/// Step and momentum come from the ends of the spectrum and the size of the rows, both from a
/// sample (mapping: keep γ, let the step grow with the batch until it saturates), unless given.
///
/// # Example
/// ```
/// use favard_models::LeastSquares;
/// use favard_models::least_squares::Sampled;
/// use favard_operator::{Block, Dense, LinearOperator};
/// let a = Dense::new(Block::<f64>::gaussian(20_000, 10, 1).view().to_owned())?;
/// let truth = Block::from_fn(10, 1, |i, _| i as f64);
/// let b = a.multiply(truth.as_ref())?;
/// let found = LeastSquares::new().solve_rows(&a, &b, &Sampled::mini_batch(64))?;
/// assert!(found.is_certified() && found.info.passes < 6.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    kind: Kind,
    batch: usize,
    momentum: Momentum,
    bounds: Option<(f64, f64)>,
    epoch: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Auto,
    MiniBatch,
    Svrg,
}

impl Sampled {
    fn new(kind: Kind, batch: usize) -> Self {
        Self { kind, batch, momentum: Momentum::Auto, bounds: None, epoch: None }
    }

    /// Heavy ball on batches of s uniform rows.
    #[must_use]
    pub fn mini_batch(batch: usize) -> Self {
        Self::new(Kind::MiniBatch, batch)
    }

    /// SVRG (Johnson and Zhang, 2013) with momentum, batches of s uniform rows.
    #[must_use]
    pub fn svrg(batch: usize) -> Self {
        Self::new(Kind::Svrg, batch)
    }

    /// Chosen from the estimates; the batch size as well.
    #[must_use]
    pub fn auto() -> Self {
        Self::new(Kind::Auto, 1)
    }

    /// The momentum; [`Momentum::Auto`] unless said otherwise.
    #[must_use]
    pub fn momentum(self, momentum: Momentum) -> Self {
        Self { momentum, ..self }
    }

    /// The ends (low, high) of the spectrum of $A^T A / m + \lambda / m$; estimated unless given.
    #[must_use]
    pub fn bounds(self, low: f64, high: f64) -> Self {
        Self { bounds: Some((low, high)), ..self }
    }

    /// Ticks of an SVRG epoch; as many as the slowest mode needs to halve unless given.
    #[must_use]
    pub fn epoch(self, ticks: u64) -> Self {
        Self { epoch: Some(ticks), ..self }
    }
}

/// The line of a checkpoint that says what the batches of `auto` had done when they stalled, and
/// what stands between its parts.
const BEFORE: &str = "batches before";
const PASSES: &str = " passes: ";

/// What is known before the run.
struct Known {
    ends: Ends,
    /// R² = Σ‖a‖⁴ / Σ‖a‖².
    row_square: f64,
    rows_read: u64,
}

impl LeastSquares {
    /// Solves by reading a few rows a step. Columns are not scaled here: wrap the operator in
    /// [`Scaled`](favard_operator::Scaled) when their norms differ.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit); when the batch is 0; [`ErrorKind::Diverges`] when given
    /// parameters diverge in mean square for this batch.
    pub fn solve_rows<T, A>(&self, a: &A, rhs: &Block<T>, sampled: &Sampled) -> Result<Solution<T>>
    where
        T: Scalar,
        A: RowOperator<T>,
    {
        self.solve_rows_watched(a, rhs, sampled, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`solve_rows`](Self::solve_rows), with a callback after every window of steps that can
    /// stop it; its residual is $\lVert r \rVert / \lVert b \rVert$ estimated from the batches, or
    /// the last certificate.
    ///
    /// # Errors
    /// Those of [`solve_rows`](Self::solve_rows).
    pub fn solve_rows_watched<T, A>(
        &self,
        a: &A,
        rhs: &Block<T>,
        sampled: &Sampled,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Solution<T>>
    where
        T: Scalar,
        A: RowOperator<T>,
    {
        self.rows_kept(a, rhs, sampled, Keeper::default(), watch)
    }

    /// As [`solve_rows_watched`](Self::solve_rows_watched), saved as it goes, or taken up where it
    /// was saved, to the bit: see [`Checkpoints`], whose steps are the windows. Only the budget may
    /// differ from the run that is taken up.
    ///
    /// Not saved is a run with more right-hand sides than unknowns, which is done in parts.
    ///
    /// # Errors
    /// Those of [`solve_rows`](Self::solve_rows), and those of the files.
    ///
    /// # Example
    /// ```
    /// use std::ops::ControlFlow;
    /// use favard_engine::{Record, Stop};
    /// use favard_models::{Checkpoints, LeastSquares, least_squares::Sampled};
    /// use favard_operator::{Block, Dense};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("run.favard");
    /// let a = Dense::new(Block::<f64>::gaussian(2000, 10, 1).view().to_owned())?;
    /// let b = Block::gaussian(2000, 1, 2);
    /// let (plan, svrg) = (LeastSquares::new(), Sampled::svrg(50));
    /// let stop = &mut |_: &Record<f64>| ControlFlow::Break(Stop::Requested);
    /// plan.solve_rows_saved(&a, &b, &svrg, &Checkpoints::new().save(&path), stop)?;
    /// let go_on = &mut |_: &Record<f64>| ControlFlow::Continue(());
    /// let from = Checkpoints::new().resume(&path);
    /// let resumed = plan.solve_rows_saved(&a, &b, &svrg, &from, go_on)?;
    /// assert_eq!(resumed, plan.solve_rows(&a, &b, &svrg)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn solve_rows_saved<T, A>(
        &self,
        a: &A,
        rhs: &Block<T>,
        sampled: &Sampled,
        checkpoints: &Checkpoints,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Solution<T>>
    where
        T: Scalar,
        A: RowOperator<T>,
    {
        let keeper = Keeper::open::<T>(checkpoints, LEAST_SQUARES)?;
        self.rows_kept(a, rhs, sampled, keeper, watch)
    }

    fn rows_kept<T, A>(
        &self,
        a: &A,
        rhs: &Block<T>,
        sampled: &Sampled,
        mut keeper: Keeper,
        watch: &mut Watch<'_, T>,
    ) -> Result<Solution<T>>
    where
        T: Scalar,
        A: RowOperator<T>,
    {
        self.check()?;
        if sampled.batch == 0 {
            let (name, value, need) = ("batch", 0.0, "must be at least 1");
            return Err(ErrorKind::Parameter { name, value, need }.into());
        }
        let (rows, dim) = a.shape();
        if rhs.cols() > dim && dim > 0 {
            // The engine takes no more columns than there are unknowns.
            return parts::solve(dim, rhs, &mut |part| {
                self.rows_kept(a, part, sampled, Keeper::default(), watch)
            });
        }
        let problem = Problem::new(&a, rhs, &self.terms)?;
        let Target { weights, rhs: target, .. } = self.terms.target(rhs);
        let mut op: Box<dyn RowOperator<T> + '_> = Box::new(a);
        if self.terms.intercept {
            op = Box::new(Centered::new(op, problem.mean().to_vec())?);
        }
        if let Some(weights) = weights {
            op = Box::new(Weighted::new(op, weights)?);
        }
        let Some(row_square) = self.row_square(&op) else {
            // A = 0: whatever the batches, zero is the solution of smallest norm. Unless the squares
            // alone are zero, and no step can be planned with them.
            let mut found = self.solve_watched(a, rhs, watch)?;
            if !short_rows(&op, &(0..rows).collect::<Vec<_>>())?.is_empty() {
                found.explain(format!("{SHORT}; {}", found.reason));
            }
            return Ok(found);
        };
        keeper.mark("sampling", format!("{sampled:?}"))?;
        keeper.mark("tolerance", self.tolerance)?;
        keeper.mark("mean square of the rows", row_square)?;
        let ones = vec![T::one(); dim];
        let mut kept = None;
        if sampled.kind != Kind::Auto {
            self.mark(&a, rhs, &ones, &mut keeper)?;
            kept = Kept::of(&mut keeper)?;
        }
        let seen = kept.as_ref().and_then(|kept: &Kept<T>| kept.prelude.ends);
        let Some(known) = self.know(&op, sampled, row_square, seen)? else {
            return self.solve_watched(a, rhs, watch);
        };
        let mut plan = sampled.clone();
        let (mut why, mut later) = ("asked for".to_string(), Keeper::default());
        if sampled.kind == Kind::Auto {
            if let Some(text) = keeper.found(BEFORE).map(str::to_string) {
                return self.after_batches(&a, rhs, &text, keeper, watch);
            }
            later = keeper.fork();
            match choose::<T>(&known, rows, self.tolerance)? {
                Ok((batch, text)) => {
                    (plan.kind, plan.batch, why) = (Kind::MiniBatch, batch, text);
                    self.mark(&a, rhs, &ones, &mut keeper)?;
                    kept = Kept::of(&mut keeper)?;
                }
                Err(text) => {
                    let mut found = self.run(&a, rhs, None, keeper, watch)?;
                    found.info.passes += known.rows_read as f64 / rows as f64;
                    found.explain(format!("{text}; {}", found.reason));
                    return Ok(found);
                }
            }
        }
        let saved = (keeper, kept);
        let found = self.run_rows(&op, &target, &problem, (&plan, &why), &known, saved, watch)?;
        if sampled.kind == Kind::Auto && !found.is_certified() && found.info.stop == Stop::Stagnated
        {
            let text = format!("{:?}{PASSES}{}", found.info.passes, found.reason);
            return self.after_batches(&a, rhs, &text, later, watch);
        }
        Ok(found)
    }

    /// An exact method, for batches that have stalled: `text` has their passes and their reason.
    fn after_batches<T: Scalar>(
        &self,
        op: &dyn AdjointOperator<T>,
        rhs: &Block<T>,
        text: &str,
        mut keeper: Keeper,
        watch: &mut Watch<'_, T>,
    ) -> Result<Solution<T>> {
        keeper.mark(BEFORE, text)?;
        let parts = text.split_once(PASSES);
        let parts = parts.and_then(|(passes, reason)| Some((passes.parse::<f64>().ok()?, reason)));
        let problem = "what the batches have done is not said";
        let (passes, reason) = parts.ok_or(ErrorKind::Damaged { problem })?;
        let mut found = self.run(op, rhs, None, keeper, watch)?;
        found.info.passes += passes;
        found.explain(format!("{reason}; then {}", found.reason));
        Ok(found)
    }

    /// R² with its share of the ridge; `None` when all rows are zero.
    fn row_square<T: Scalar>(&self, op: &dyn RowOperator<T>) -> Option<f64> {
        let rows = op.shape().0;
        let squares: Vec<f64> = (0..rows).map(|row| op.row_norm_squared(row).as_f64()).collect();
        // Over the largest, whose own square may be no number.
        let largest = squares.iter().copied().fold(0.0, f64::max);
        let shares = || squares.iter().map(|square| square / largest);
        let (fourth, second) =
            (shares().map(|share| share * share).sum::<f64>(), shares().sum::<f64>());
        (largest > 0.0).then(|| largest * (fourth / second) + self.terms.ridge / rows as f64)
    }

    /// The spectrum, given, seen by an earlier run, or estimated. `None` when it is zero.
    fn know<T: Scalar>(
        &self,
        op: &dyn RowOperator<T>,
        sampled: &Sampled,
        row_square: f64,
        seen: Option<Ends>,
    ) -> Result<Option<Known>> {
        let given = sampled.bounds.map(Ends::given).transpose()?;
        if let Some(ends) = given.or(seen) {
            return Ok(Some(Known { ends, row_square, rows_read: 0 }));
        }
        let rows = op.shape().0;
        let draw = |size: usize| Ok(Sampler::distinct(rows, size, self.seed)?);
        let (scale, shift) = ((rows as f64).recip(), self.terms.ridge / rows as f64);
        let (ends, rows_read) = sample::ends(op, draw, scale, shift, self.seed)?;
        Ok(ends.map(|ends| Known { ends, row_square, rows_read }))
    }

    #[allow(clippy::too_many_arguments)] // the parts of a problem that was taken apart
    fn run_rows<T: Scalar>(
        &self,
        op: &dyn RowOperator<T>,
        target: &Block<T>,
        problem: &Problem<'_, T>,
        (sampled, why): (&Sampled, &str),
        known: &Known,
        (keeper, kept): (Keeper, Option<Kept<T>>),
        watch: &mut Watch<'_, T>,
    ) -> Result<Solution<T>> {
        let ((rows, dim), cols) = (op.shape(), target.cols());
        let ones = vec![T::one(); dim];
        let system = System {
            base: &problem.op,
            op: &problem.op,
            rhs: &problem.rhs,
            scale: &ones,
            factors: &ones,
            tolerance: self.tolerance,
            passes: self.passes,
        };
        let mut ws = Workspace::new();
        let mut monitor = Monitor::new(&system, T::zero(), watch, &mut ws)?;
        monitor.keeper = keeper;
        let prelude = Prelude { ends: Some(known.ends), reason: String::new() };
        let saved = (kept, &prelude);
        let setup = known.rows_read as f64 / rows as f64 + problem.products as f64;
        monitor.count(problem.products, setup);
        let share = if sampled.kind == Kind::Svrg { ANCHORED_GAIN } else { GAIN };
        let batch = sampled.batch.min(rows);
        let plan = Plan::new(sampled.momentum, &known.ends, known.row_square, batch, share)?;
        let ball = HeavyBall::new(T::of(plan.step), T::of(plan.gamma))?;
        let pace = (batch, plan.warm_up());
        let (scale, shift) = ((rows as f64).recip(), self.terms.ridge / rows as f64);
        let sampler = Sampler::uniform(rows, batch, self.seed)?;
        let start = Block::zeros(dim, cols);
        let (y, ended, name, remarks) = if sampled.kind == Kind::Svrg {
            let mut image = Block::zeros(dim, cols);
            let c = T::of(scale);
            op.apply_adjoint(c, target.as_ref(), T::zero(), image.as_mut(), &mut ws)?;
            monitor.count(1, 1.0);
            let hessian = Shifted::new(Gram::new(op), -T::of(shift))?;
            let epoch = sampled.epoch.unwrap_or_else(|| plan.epoch(rows, batch));
            let map = Svrg::new(hessian, image, sampler, epoch)?;
            let mut engine = Engine::new(map, ball, start)?;
            let ended = stochastic::run(&mut engine, &mut monitor, pace, saved, &mut ws)?;
            (engine.block().clone(), ended, "Svrg", format!(", epochs of {epoch} ticks"))
        } else {
            let map = RowGradient::new(op, target, T::of(scale), T::of(shift), sampler)?;
            let mut engine = Engine::new(map, ball, start)?;
            let ended = stochastic::run(&mut engine, &mut monitor, pace, saved, &mut ws)?;
            (engine.block().clone(), ended, "MiniBatch", String::new())
        };
        let mut reason =
            format!("{name}{remarks}: {why}; batches of {batch}, {}", plan.remark(batch));
        remark(&mut reason, &ended, sampled.kind == Kind::MiniBatch);
        let spectrum = Some((known.ends.low, known.ends.high));
        let intercept = problem.intercept(&y);
        let Ended { stop, ticks, checked, .. } = ended;
        let why = (name, reason);
        let mut found = Solution::of_check(y, intercept, stop, checked, &mut monitor, why);
        (found.spectrum, found.info.seed) = (spectrum, Some(self.seed));
        found.info.iterations = ticks;
        Ok(found)
    }
}

/// What went wrong, when something did.
fn remark<T>(reason: &mut String, ended: &Ended<T>, consistent_only: bool) {
    if ended.diverged {
        reason.push_str("; it diverged: the spectrum's upper end was too low, or a row is large");
    } else if ended.stop == Stop::Stagnated && consistent_only {
        reason.push_str(
            "; the residual stopped falling at its noise floor: the right-hand side lies outside \
             the range of the operator; use Svrg, a larger batch or LeastSquares::solve",
        );
    }
}

/// Batches, when they read fewer rows than conjugate gradients would; else why not.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // positive and capped
fn choose<T: Scalar>(
    known: &Known,
    rows: usize,
    tolerance: f64,
) -> Result<std::result::Result<(usize, String), String>> {
    let half = Plan::new(Momentum::Auto, &known.ends, known.row_square, 1, GAIN)?.half;
    let batch = (half.ceil().clamp(1.0, rows as f64)) as usize;
    let plan = Plan::new(Momentum::Auto, &known.ends, known.row_square, batch, GAIN)?;
    let digits = (2.0 / tolerance.max(T::EPSILON.as_f64())).ln();
    let sampled = digits / -plan.rate.ln() * batch as f64 / rows as f64;
    // ½ √κ ln(2/ε)
    let exact = 0.5 * known.ends.condition().sqrt() * digits;
    let text = format!(
        "κ about {:.1e}, batches of {batch} would take {sampled:.1} passes, conjugate gradients \
         {exact:.1}",
        known.ends.condition()
    );
    Ok(if sampled + 2.0 < exact { Ok((batch, text)) } else { Err(text) })
}
