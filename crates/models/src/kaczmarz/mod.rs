//! [`Kaczmarz`]: row projections, averaged or in blocks, with momentum.

mod block_projection;
mod extended;
mod extended_projection;
mod rows;

pub use block_projection::BlockProjection;
pub use extended_projection::ExtendedProjection;

use std::ops::ControlFlow;

use favard_engine::map::Svrg;
use favard_engine::recurrence::HeavyBall;
use favard_engine::{Engine, Record, Stop};
use favard_operator::{Block, Gram, RowOperator, Sampler, Scalar, Workspace};

use crate::checkpoint::{self, Keeper};
use crate::error::{ErrorKind, Result};
use crate::least_squares::monitor::{Monitor, System, Watch};
use crate::least_squares::plan::{ANCHORED_GAIN, GAIN, Plan};
use crate::least_squares::spectrum::Ends;
use crate::least_squares::state::{Kept, Prelude};
use crate::least_squares::stochastic::{self, Ended, Estimated};
use crate::least_squares::{Momentum, RowGradient, Solution};
use crate::least_squares::{parts, problem::check_rhs, sample, short::SHORT};
use crate::{Checkpoints, LeastSquares};
use rows::Rows;

/// The kind of file that the runs are saved to.
const KACZMARZ: &str = "kaczmarz";

/// The randomized Kaczmarz method for $A x = b$, with heavy-ball momentum.
///
/// Rows are drawn with probability $\lVert a_i \rVert^2 / \lVert A \rVert_F^2$ and the step is the
/// average of s projections,
///
/// $$ x_{t+1} = x_t - \frac\omega s \sum_j \frac{a_j (a_j^T x_t - b_j)}{\lVert a_j \rVert^2}
///    + \gamma (x_t - x_{t-1}), $$
///
/// which in the error of a consistent system is $e_{t+1} = A_t e_t - \gamma e_{t-1}$ with
/// $A_t = (1 + \gamma) I - \omega H_t$ and $\mathbb E H_t = A^T A / \lVert A \rVert_F^2$.
///
/// | setting | method |
/// |---|---|
/// | `new()` | Strohmer and Vershynin's: one row a step |
/// | [`batch(s)`](Self::batch) | s rows a step, averaged |
/// | [`blocks(s)`](Self::blocks) | the projection onto s equations at once |
/// | [`inconsistent(true)`](Self::inconsistent) | SVRG with the same rows: the least-squares solution |
/// | [`solve_extended`](Self::solve_extended) | Zouzias and Freris': rows and columns, the least-squares solution |
///
/// Momentum accelerates the *mean* for any batch, but the mean square only from a batch on that
/// grows with the condition number; below it, the parameters that accelerate the mean diverge in
/// mean square. ω and γ are chosen accordingly, given ones are checked
/// ([`ErrorKind::Diverges`]), and [`Solution::reason`] warns where momentum cannot help, naming the
/// batch from which it does.
///
/// # Example
/// ```
/// use favard_models::Kaczmarz;
/// use favard_operator::{Block, Dense, LinearOperator};
/// let a = Dense::new(Block::<f64>::gaussian(5000, 10, 1).view().to_owned())?;
/// let truth = Block::from_fn(10, 1, |i, _| i as f64);
/// let b = a.multiply(truth.as_ref())?;
/// let found = Kaczmarz::new().batch(32).tolerance(1e-10).solve(&a, &b)?;
/// assert!(found.is_certified());
/// assert!((found.x.row(7)[0] - 7.0).abs() < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// Strohmer and Vershynin, "A randomized Kaczmarz algorithm with exponential convergence" (2009);
/// Loizou and Richtárik, arXiv 1712.09677, for momentum in expectation.
#[derive(Debug, Clone, PartialEq)]
pub struct Kaczmarz {
    batch: usize,
    in_blocks: bool,
    is_inconsistent: bool,
    momentum: Momentum,
    bounds: Option<(f64, f64)>,
    tolerance: f64,
    passes: f64,
    seed: u64,
}

impl Default for Kaczmarz {
    fn default() -> Self {
        Self::new()
    }
}

impl Kaczmarz {
    /// One row a step, for a consistent system.
    #[must_use]
    pub fn new() -> Self {
        Self {
            batch: 1,
            in_blocks: false,
            is_inconsistent: false,
            momentum: Momentum::Auto,
            bounds: None,
            tolerance: 1e-8,
            passes: 1e3,
            seed: 1,
        }
    }

    /// s rows a step, at most all, their projections averaged.
    #[must_use]
    pub fn batch(self, batch: usize) -> Self {
        Self { batch, in_blocks: false, ..self }
    }

    /// The projection onto the equations of one of m / size blocks of rows a step. Blocks
    /// decorrelate the rows by themselves: there is no momentum unless it is given, since the best
    /// one gains 1.02 to 1.07.
    #[must_use]
    pub fn blocks(self, size: usize) -> Self {
        Self { batch: size, in_blocks: true, ..self }
    }

    /// Whether $A x = b$ may have no solution: then SVRG over the same rows finds the one of least
    /// squares. A consistent method stalls on such a system, which the certificate shows.
    #[must_use]
    pub fn inconsistent(self, inconsistent: bool) -> Self {
        Self { is_inconsistent: inconsistent, ..self }
    }

    /// Relaxation and momentum; [`Momentum::Auto`] unless said otherwise.
    #[must_use]
    pub fn momentum(self, momentum: Momentum) -> Self {
        Self { momentum, ..self }
    }

    /// The ends (low, high) of the spectrum of $A^T A / \lVert A \rVert_F^2$; estimated from a sample
    /// of the rows unless given.
    #[must_use]
    pub fn bounds(self, low: f64, high: f64) -> Self {
        Self { bounds: Some((low, high)), ..self }
    }

    /// $\lVert A x - b \rVert / \lVert b \rVert$ asked for, or the certificate of least squares for an
    /// inconsistent system; 1e-8 unless said otherwise. With 0 the whole budget is used.
    #[must_use]
    pub fn tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// Passes' worth of rows at most; 1000 unless said otherwise. Running out of them is a
    /// [`Stop`].
    #[must_use]
    pub fn passes(self, passes: f64) -> Self {
        Self { passes, ..self }
    }

    /// The seed of the sampling.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Solves for one or many right-hand sides.
    ///
    /// A zero row is never drawn; one whose right-hand side is not zero has no solution, and the
    /// reason counts them. Of a system with many solutions the one nearest to zero is found. An
    /// operator of zeros gives zero.
    ///
    /// # Errors
    /// When A is empty, when a shape does not fit, when a number is not finite or a parameter out
    /// of range, when the operator fails, and [`ErrorKind::Diverges`] when a given momentum diverges
    /// in mean square for the batch.
    pub fn solve<T: Scalar, A: RowOperator<T>>(
        &self,
        a: &A,
        rhs: &Block<T>,
    ) -> Result<Solution<T>> {
        self.solve_watched(a, rhs, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`solve`](Self::solve), with a callback after every window of steps that can stop it; its
    /// residual is $\lVert r \rVert / \lVert b \rVert$ estimated from the batches.
    ///
    /// # Errors
    /// Those of [`solve`](Self::solve).
    pub fn solve_watched<T: Scalar, A: RowOperator<T>>(
        &self,
        a: &A,
        rhs: &Block<T>,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Solution<T>> {
        self.solve_kept(a, rhs, Keeper::default(), watch)
    }

    /// As [`solve_watched`](Self::solve_watched), saved as it goes, or taken up where it was saved,
    /// to the bit: see [`Checkpoints`], whose steps are the windows. Only the budget may differ from
    /// the run that is taken up. Not saved is a run with more right-hand sides than unknowns, which
    /// is done in parts.
    ///
    /// # Errors
    /// Those of [`solve`](Self::solve), and those of the files.
    ///
    /// # Example
    /// ```
    /// use std::ops::ControlFlow;
    /// use favard_engine::{Record, Stop};
    /// use favard_models::{Checkpoints, Kaczmarz};
    /// use favard_operator::{Block, Dense, LinearOperator};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("run.favard");
    /// let a = Dense::new(Block::<f64>::gaussian(2000, 10, 1).view().to_owned())?;
    /// let b = a.multiply(Block::gaussian(10, 1, 2).as_ref())?;
    /// let plan = Kaczmarz::new().batch(8);
    /// let stop = &mut |_: &Record<f64>| ControlFlow::Break(Stop::Requested);
    /// plan.solve_saved(&a, &b, &Checkpoints::new().save(&path), stop)?;
    /// let go_on = &mut |_: &Record<f64>| ControlFlow::Continue(());
    /// let resumed = plan.solve_saved(&a, &b, &Checkpoints::new().resume(&path), go_on)?;
    /// assert_eq!(resumed, plan.solve(&a, &b)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn solve_saved<T: Scalar, A: RowOperator<T>>(
        &self,
        a: &A,
        rhs: &Block<T>,
        checkpoints: &Checkpoints,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Solution<T>> {
        self.solve_kept(a, rhs, Keeper::open::<T>(checkpoints, KACZMARZ)?, watch)
    }

    fn solve_kept<T: Scalar, A: RowOperator<T>>(
        &self,
        a: &A,
        rhs: &Block<T>,
        mut keeper: Keeper,
        watch: &mut Watch<'_, T>,
    ) -> Result<Solution<T>> {
        self.check()?;
        check_rhs(a.shape(), rhs)?;
        let rows = Rows::look(a, rhs)?;
        self.mark(self.name(), &a, rhs, &rows, &mut keeper)?;
        if rows.total == 0.0 {
            return self.solve_zero(a, rhs, &rows, watch);
        }
        let dim = a.shape().1;
        in_parts(dim, rhs, keeper, &mut |part, keeper| self.run(a, part, &rows, keeper, watch))
    }

    /// The variant.
    fn name(&self) -> &'static str {
        match (self.is_inconsistent, self.in_blocks) {
            (true, _) => "SVRG",
            (false, true) => "blocks",
            (false, false) => "averaged",
        }
    }

    /// The fingerprint.
    fn mark<T: Scalar>(
        &self,
        method: &str,
        op: &dyn RowOperator<T>,
        rhs: &Block<T>,
        rows: &Rows,
        keeper: &mut Keeper,
    ) -> Result<()> {
        if keeper.is_idle() {
            return Ok(());
        }
        keeper.mark("method", method)?;
        keeper.mark("rows", op.shape().0)?;
        keeper.mark("columns", op.shape().1)?;
        keeper.mark("work of a product", op.work())?;
        keeper.mark("sum of the squares", rows.total)?;
        keeper.mark("right-hand sides", checkpoint::hash(rhs))?;
        keeper.mark("batch", self.batch)?;
        keeper.mark("momentum", format!("{:?}", self.momentum))?;
        keeper.mark("bounds", format!("{:?}", self.bounds))?;
        keeper.mark("tolerance", self.tolerance)?;
        keeper.mark("seed", self.seed)
    }

    /// The answer for an operator without a row that could be drawn: one of zeros, or one whose rows
    /// are so short that the squares of their lengths are.
    fn solve_zero<T: Scalar, A: RowOperator<T>>(
        &self,
        a: &A,
        rhs: &Block<T>,
        rows: &Rows,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Solution<T>> {
        let why = if rows.short == 0 { "all rows are zero" } else { SHORT };
        let mut found =
            LeastSquares::new().tolerance(self.tolerance).solve_watched(a, rhs, watch)?;
        found.explain(format!("{why}; {}", found.reason));
        Ok(found)
    }

    /// The system as given, and ‖A‖ ≥ ‖A‖_F / √min(m, n).
    fn system<'a, T: Scalar>(
        &self,
        op: &'a &'a dyn RowOperator<T>,
        rhs: &'a Block<T>,
        ones: &'a [T],
        rows: &Rows,
    ) -> (System<'a, T>, T) {
        let (count, dim) = op.shape();
        let system = System {
            base: op,
            op,
            rhs,
            scale: ones,
            factors: ones,
            tolerance: self.tolerance,
            passes: self.passes,
        };
        (system, T::of((rows.total / count.min(dim) as f64).sqrt()))
    }

    fn run<T: Scalar>(
        &self,
        op: &dyn RowOperator<T>,
        rhs: &Block<T>,
        rows: &Rows,
        mut keeper: Keeper,
        watch: &mut Watch<'_, T>,
    ) -> Result<Solution<T>> {
        let ((count, dim), cols) = (op.shape(), rhs.cols());
        let kept = Kept::of(&mut keeper)?;
        let ones = vec![T::one(); dim];
        let (system, norm) = self.system(&op, rhs, &ones, rows);
        let mut ws = Workspace::new();
        let mut monitor = Monitor::new(&system, norm, watch, &mut ws)?;
        monitor.keeper = keeper;
        // The norms of the rows take a pass.
        monitor.count(0, 1.0);
        // More rows than there are would be read more than once a step.
        let batch = self.batch.min(count);
        let start = Block::zeros(dim, cols);
        let scale = T::of(rows.total.recip());
        let (y, ended, mut reason, spectrum) = if self.in_blocks && !self.is_inconsistent {
            let (ball, warm_up, remark) = self.block_parameters(batch)?;
            let pace = (batch, warm_up);
            let map = BlockProjection::new(op, rhs, batch, self.seed)?;
            let mut engine = Engine::new(map, ball, start)?;
            let saved = (kept, &Prelude::default());
            let ended = stochastic::run(&mut engine, &mut monitor, pace, saved, &mut ws)?;
            (engine.block().clone(), ended, remark, None)
        } else {
            let ends = self.ends(op, rows, kept.as_ref(), &mut monitor)?;
            let prelude = Prelude { ends: Some(ends), reason: String::new() };
            let saved = (kept, &prelude);
            let share = if self.is_inconsistent { ANCHORED_GAIN } else { GAIN };
            // Rows of length one: R² = 1.
            let plan = Plan::new(self.momentum, &ends, 1.0, batch, share)?;
            let ball = HeavyBall::new(T::of(plan.step), T::of(plan.gamma))?;
            let pace = (batch, plan.warm_up());
            let hessian = Gram::new(op).with_scale(rows.total.recip())?;
            let sampler = Sampler::by_norm(&hessian, batch, self.seed)?;
            let remark = plan.remark(batch);
            let spectrum = Some((ends.low, ends.high));
            if self.is_inconsistent {
                let mut image = Block::zeros(dim, cols);
                op.apply_adjoint(scale, rhs.as_ref(), T::zero(), image.as_mut(), &mut ws)?;
                monitor.count(1, 1.0);
                let epoch = plan.epoch(count, batch);
                let mut engine =
                    Engine::new(Svrg::new(hessian, image, sampler, epoch)?, ball, start)?;
                let ended = stochastic::run(&mut engine, &mut monitor, pace, saved, &mut ws)?;
                let remark =
                    format!("SVRG over norm-weighted rows, epochs of {epoch} ticks; {remark}");
                (engine.block().clone(), ended, remark, spectrum)
            } else {
                let map = RowGradient::new(op, rhs, scale, T::zero(), sampler)?;
                let mut engine = Engine::new(map, ball, start)?;
                let ended = stochastic::run(&mut engine, &mut monitor, pace, saved, &mut ws)?;
                let remark = format!("averaged Kaczmarz, batches of {batch}; {remark}");
                (engine.block().clone(), ended, remark, spectrum)
            }
        };
        self.comment(&mut reason, &ended, rows);
        let intercept = vec![T::zero(); cols];
        let Ended { stop, ticks, checked, .. } = ended;
        let name = format!("Kaczmarz, {}", self.name());
        let why = (name.as_str(), reason);
        let mut found = Solution::of_check(y, intercept, stop, checked, &mut monitor, why);
        (found.spectrum, found.info.seed) = (spectrum, Some(self.seed));
        found.info.iterations = ticks;
        Ok(found)
    }

    /// ω = 1 and no momentum unless given.
    fn block_parameters<T: Scalar>(&self, size: usize) -> Result<(HeavyBall<T>, u64, String)> {
        let Momentum::Given { step, gamma } = self.momentum else {
            let remark = format!(
                "projections onto blocks of {size}; ω = 1, no momentum: on blocks the best gains \
                 1.02 to 1.07"
            );
            return Ok((HeavyBall::new(T::one(), T::zero())?, 0, remark));
        };
        // A projection has P² = P: R² = 1, one of them a step.
        let unit = Ends { low: 1.0, high: 1.0, steps: 0 };
        let plan = Plan::new(self.momentum, &unit, 1.0, 1, GAIN)?;
        let remark = format!("projections onto blocks of {size}; {}", plan.remark(usize::MAX));
        Ok((HeavyBall::new(T::of(step), T::of(gamma))?, plan.warm_up(), remark))
    }

    /// The ends of the spectrum of AᵀA/‖A‖_F², given, seen by an earlier run, or from a sample.
    fn ends<T: Scalar>(
        &self,
        op: &dyn RowOperator<T>,
        rows: &Rows,
        kept: Option<&Kept<T>>,
        monitor: &mut Monitor<'_, T>,
    ) -> Result<Ends> {
        if let Some(bounds) = self.bounds {
            return Ends::given(bounds);
        }
        if let Some(ends) = kept.and_then(|kept| kept.prelude.ends) {
            return Ok(ends);
        }
        let gram = Gram::new(op);
        let draw = |size: usize| Ok(Sampler::by_norm(&gram, size, self.seed)?);
        let (ends, read) = sample::ends(op, draw, rows.total.recip(), 0.0, self.seed)?;
        monitor.count(0, read as f64 / op.shape().0 as f64);
        // Rows that are not zero have a Gram matrix that is not, up to underflow.
        Ok(ends.unwrap_or(Ends { low: 1.0, high: 1.0, steps: 0 }))
    }

    fn comment<T>(&self, reason: &mut String, ended: &Ended<T>, rows: &Rows) {
        rows.remark(reason);
        if ended.diverged {
            reason.push_str("; it diverged: the bounds of the spectrum do not fit");
        } else if ended.stop == Stop::Stagnated && !self.is_inconsistent {
            reason.push_str(
                "; the residual stopped falling: the right-hand side lies outside the range of the \
                 operator, use inconsistent(true)",
            );
        }
    }

    fn check(&self) -> Result<()> {
        let bad = |name, value, need| Err(ErrorKind::Parameter { name, value, need }.into());
        if self.batch == 0 {
            return bad("batch", 0.0, "must be at least 1");
        }
        if !(self.tolerance.is_finite() && self.tolerance >= 0.0) {
            return bad("tolerance", self.tolerance, "must be finite and at least 0");
        }
        if !self.passes.is_finite() || self.passes <= 0.0 {
            return bad("passes", self.passes, "must be finite and above 0");
        }
        if let Some(bounds) = self.bounds {
            Ends::given(bounds)?;
        }
        Ok(())
    }
}

/// Solves for some right-hand sides, saved by a keeper.
type Part<'a, T> = dyn FnMut(&Block<T>, Keeper) -> Result<Solution<T>> + 'a;

/// Solves for `dim` right-hand sides at a time: the engine takes no more columns than there are
/// unknowns. Only what is solved at once is saved.
fn in_parts<T: Scalar>(
    dim: usize,
    rhs: &Block<T>,
    keeper: Keeper,
    solve: &mut Part<'_, T>,
) -> Result<Solution<T>> {
    if rhs.cols() <= dim {
        return solve(rhs, keeper);
    }
    parts::solve(dim, rhs, &mut |part| solve(part, Keeper::default()))
}

impl<T: Scalar, A: RowOperator<T> + ?Sized> Estimated<T> for BlockProjection<'_, T, A> {
    fn estimates(&self) -> Option<&[T]> {
        Some(self.residuals())
    }
}
