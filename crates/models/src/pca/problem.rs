//! [`Problem`]: the leading eigenpairs of $s A^T A$, found on the smaller side of A.

use std::ops::ControlFlow;

use favard_engine::{Info, Record, Stop};
use favard_operator::{
    Adjoint, AdjointOperator, Block, Gram, LinearOperator, Orthonormalizer, RowOperator, Scalar,
    Workspace, ops, small,
};

use super::choice::Choice;
use super::range::check_small;
use super::solver::Watch;
use super::{Plan, Solver};
use crate::Eigen;
use crate::checkpoint::{self, Keeper};
use crate::error::{ErrorKind, Result};
use crate::exact::solve_formed;

/// Where a fit starts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Start<'a, T> {
    /// From random columns.
    Random,
    /// From columns that should be close.
    Near(&'a Block<T>),
    /// From eigenpairs that are found already: only what is missing is looked for.
    Found(&'a Block<T>, &'a [T]),
}

impl<T: Scalar> Start<'_, T> {
    /// Its lines of a fingerprint.
    fn mark(&self, keeper: &mut Keeper) -> Result<()> {
        if keeper.is_idle() {
            return Ok(());
        }
        let text = match self {
            Start::Random => "random".to_string(),
            Start::Near(v) => checkpoint::hash(v),
            Start::Found(v, _) => format!("{}, as they are", checkpoint::hash(v)),
        };
        keeper.mark("start", text)
    }
}

/// The eigenproblem of $C = s A^T A$. With $\lambda$ and $u$ of $s A A^T$, the eigenvectors of C are
/// $A^T u$, so that the smaller of the two is iterated on.
pub(crate) struct Problem<'a, T> {
    op: &'a dyn AdjointOperator<T>,
    rows: Option<&'a dyn RowOperator<T>>,
    scale: f64,
    /// The power of two that C is multiplied by, so that the squares of its eigenvalues are numbers
    /// whatever the scale of the data: momentum is such a square.
    factor: T,
    wide: bool,
    /// C, when it is formed already.
    formed: Option<Block<T>>,
}

/// The eigenpairs, the method that was used and why.
pub(crate) struct Solution<T> {
    pub eigen: Eigen<T>,
    pub method: Solver,
    pub reason: String,
}

impl<T: Scalar> Solution<T> {
    /// `Ok` unless a run has converged to less than there must be: the largest of n eigenvalues is at least
    /// the n-th part of their sum, which the exact pass knows. Then products were too small for the precision.
    pub fn check_share(&self, total: f64, (rows, cols): (usize, usize)) -> Result<()> {
        let largest = self.eigen.values.first().map_or(0.0, |value| value.as_f64());
        check_small::<T>(largest, largest > 0.0)?;
        let least = total / rows.min(cols) as f64;
        // Half of it, for what rounding takes.
        if self.eigen.info.stop == Stop::Converged && largest < 0.5 * least {
            return Err(ErrorKind::Underflow { largest, least }.into());
        }
        Ok(())
    }
}

/// A record of the problem that is `factor` times as large.
pub(crate) fn over<T: Scalar>(record: &Record<T>, factor: T) -> Record<T> {
    Record { ritz: record.ritz / factor, residual: record.residual / factor, ..*record }
}

/// A method and why it was chosen.
type Way = (Solver, String);

impl<'a, T: Scalar> Problem<'a, T> {
    pub fn new(op: &'a dyn AdjointOperator<T>, scale: f64) -> Self {
        let (rows, cols) = op.shape();
        Self { op, rows: None, scale, factor: T::one(), wide: rows < cols, formed: None }
    }

    /// The same for an operator whose rows can be sampled.
    pub fn of_rows(op: &'a dyn RowOperator<T>, scale: f64) -> Self {
        Self { rows: Some(op), ..Self::new(op, scale) }
    }

    /// The same when the eigenvalues add up to `total`: where their squares would leave the range of the
    /// precision, the problem that is solved is a multiple of this one.
    pub fn balanced(self, total: f64) -> Self {
        Self { factor: small::balance(T::of(total)), ..self }
    }

    /// s times the factor.
    fn scaled(&self) -> f64 {
        self.scale * self.factor.as_f64()
    }

    /// The same with the matrix C, for the methods that want it; only of tall data.
    pub fn formed(self, formed: Option<Block<T>>) -> Self {
        Self { formed, ..self }
    }

    /// The method for a plan, and why: also that of the run that is taken up.
    fn choose(&self, plan: &Plan, start: &Start<'_, T>, keeper: &Keeper) -> (Solver, String) {
        let (method, reason) = Choice::new(self.op).choose::<T>(plan);
        let lanczos = |reason: String| (Solver::Lanczos, reason);
        match start {
            _ if method.is_sampled() => (method, reason),
            Start::Found(v, _) => lanczos(format!("{} components were known", v.cols())),
            _ if plan.solver != Solver::Auto => (method, reason),
            Start::Near(_) => lanczos("block Lanczos from the columns given".to_string()),
            // With another tolerance the choice may be another one.
            Start::Random if keeper.found("solver").is_some() && method == Solver::Exact => {
                lanczos("block Lanczos, as the run that is taken up".to_string())
            }
            Start::Random => (method, reason),
        }
    }

    /// The leading eigenpairs of C.
    pub fn solve(
        mut self,
        plan: &Plan,
        start: Start<'_, T>,
        keeper: &mut Keeper,
        watch: &mut Watch<'_, T>,
    ) -> Result<Solution<T>> {
        let (method, reason) = self.choose(plan, &start, keeper);
        start.mark(keeper)?;
        plan.mark(method, keeper)?;
        let factor = self.factor;
        if factor == T::one() {
            return self.solve_as_it_is(plan, (method, reason), start, keeper, watch);
        }
        if let Some(matrix) = &mut self.formed {
            ops::scale(factor, matrix.as_mut());
        }
        let plan = plan.times(factor.as_f64(), method);
        let known: Vec<T>;
        let start = match start {
            Start::Found(v, values) => {
                known = values.iter().map(|&value| value * factor).collect();
                Start::Found(v, &known)
            }
            start => start,
        };
        let mut scaled = |record: &Record<T>| watch(&over(record, factor));
        let way = (method, reason);
        let mut found = self.solve_as_it_is(&plan, way, start, keeper, &mut scaled)?;
        found.eigen.divide(factor);
        Ok(found)
    }

    fn solve_as_it_is(
        mut self,
        plan: &Plan,
        (method, reason): Way,
        start: Start<'_, T>,
        keeper: &mut Keeper,
        watch: &mut Watch<'_, T>,
    ) -> Result<Solution<T>> {
        if let (true, Some(rows)) = (method.is_sampled(), self.rows) {
            // Samples are rows: the larger side, if need be.
            let covariance = Gram::new(rows).with_scale(self.scaled())?;
            let start = match start {
                Start::Random => None,
                Start::Near(v) | Start::Found(v, _) => Some(v),
            };
            let eigen = plan.solve_sampled(method, &covariance, start, keeper, watch)?;
            return Ok(Solution { eigen, method, reason });
        }
        let random = matches!(start, Start::Random);
        let way = (method, reason);
        if self.wide {
            let outer = Gram::new(Adjoint::new(self.op)).with_scale(self.scaled())?;
            let found = self.on_side(&outer, plan, way, start, keeper, watch)?;
            let mut eigen = self.right_vectors(found.eigen, plan)?;
            // V is half a product with C, and so is A V of a start.
            eigen.info.passes += if random { 0.5 } else { 1.0 };
            Ok(Solution { eigen, ..found })
        } else {
            let covariance = Gram::new(self.op).with_scale(self.scaled())?;
            self.on_side(&covariance, plan, way, start, keeper, watch)
        }
    }

    /// The eigenpairs of one of the two Gram operators, and how they were found in the end.
    fn on_side(
        &mut self,
        gram: &dyn LinearOperator<T>,
        plan: &Plan,
        way: Way,
        start: Start<'_, T>,
        keeper: &mut Keeper,
        watch: &mut Watch<'_, T>,
    ) -> Result<Solution<T>> {
        let (method, reason) = way;
        let eigen = match start {
            // One step: there is nothing to save, and a run that is taken up starts again.
            _ if method == Solver::Exact => self.exact(gram, plan, watch),
            Start::Random if method == Solver::Lanczos && keeper.is_idle() => {
                return self.patiently(gram, plan, reason, keeper, watch);
            }
            Start::Random => plan.solve(method, gram, None, keeper, watch),
            Start::Near(v) => plan.solve(method, gram, Some(&self.to_side(v)?), keeper, watch),
            Start::Found(v, values) => {
                plan.lanczos().extend_kept(gram, (values, &self.to_side(v)?), keeper, watch)
            }
        };
        let eigen = self.measured(eigen?, method, gram, plan)?;
        Ok(Solution { eigen, method, reason })
    }

    /// The pairs of Lanczos or of the matrix with residuals recomputed from the operator, unless the right
    /// vectors still have to be made, which are then what is measured. Other methods have measured theirs.
    fn measured(
        &self,
        mut found: Eigen<T>,
        method: Solver,
        gram: &dyn LinearOperator<T>,
        plan: &Plan,
    ) -> Result<Eigen<T>> {
        if !self.wide && matches!(method, Solver::Lanczos | Solver::Exact) {
            found.recompute(gram, plan.tolerance)?;
        }
        Ok(found)
    }

    /// Block Lanczos, given up for the matrix once it has cost as much as that: see
    /// [`Choice::patience`].
    fn patiently(
        &mut self,
        gram: &dyn LinearOperator<T>,
        plan: &Plan,
        reason: String,
        keeper: &mut Keeper,
        watch: &mut Watch<'_, T>,
    ) -> Result<Solution<T>> {
        let patience = Choice::new(self.op).patience::<T>(plan).unwrap_or(u64::MAX);
        let mut is_given_up = false;
        let mut patient = |record: &Record<T>| {
            watch(record)?;
            is_given_up = record.tick >= patience;
            if is_given_up {
                ControlFlow::Break(Stop::Iterations)
            } else {
                ControlFlow::Continue(())
            }
        };
        let eigen = plan.solve(Solver::Lanczos, gram, None, keeper, &mut patient)?;
        // The last step may have been the one that was needed.
        if !is_given_up || eigen.info.stop == Stop::Converged {
            let method = Solver::Lanczos;
            let eigen = self.measured(eigen, method, gram, plan)?;
            return Ok(Solution { eigen, method, reason });
        }
        let before = eigen.info;
        let mut exact = self.exact(gram, plan, watch)?;
        for record in &mut exact.info.history {
            record.tick += before.iterations;
            record.passes += before.passes;
        }
        exact.info.iterations += before.iterations;
        exact.info.applications += before.applications;
        exact.info.passes += before.passes;
        exact.info.history.splice(0..0, before.history);
        let (n, _) = gram.shape();
        let reason = format!(
            "the {n} × {n} matrix is formed and solved: {} block products of an iteration, about as \
             much work, were not enough",
            before.applications
        );
        let method = Solver::Exact;
        let eigen = self.measured(exact, method, gram, plan)?;
        Ok(Solution { eigen, method, reason })
    }

    /// The matrix formed and solved, in one step to watch.
    fn exact(
        &mut self,
        gram: &dyn LinearOperator<T>,
        plan: &Plan,
        watch: &mut Watch<'_, T>,
    ) -> Result<Eigen<T>> {
        let formed = self.formed.take().filter(|_| !self.wide);
        let found = solve_formed(gram, formed, plan.components)?;
        if let Some(record) = found.info.history.last() {
            // There is nothing left to stop.
            let _ = watch(record);
        }
        Ok(found)
    }

    /// Orthonormal columns on the side that is iterated on: V itself, or A V.
    fn to_side(&self, v: &Block<T>) -> Result<Block<T>> {
        let (mut start, mut ws) = (v.clone(), Workspace::new());
        if self.wide {
            start = Block::zeros(self.op.shape().0, v.cols());
            self.op.apply(T::one(), v.as_ref(), T::zero(), start.as_mut(), &mut ws)?;
        }
        Orthonormalizer::new(v.cols()).orthonormalize(&mut [&mut start], &mut ws)?;
        Ok(start)
    }

    /// From left singular vectors to right ones, $v_j = A^T u_j / \sigma_j$, with the residuals of C itself.
    ///
    /// They are orthonormal as far as $U^T A A^T U$ is diagonal, which takes one pass over V to see. Only where
    /// rounding is too large beside the smallest of the values, or a residual is, they are
    /// orthonormalised, and the best pairs in their span taken.
    fn right_vectors(&self, left: Eigen<T>, plan: &Plan) -> Result<Eigen<T>> {
        let (cols, count) = (self.op.shape().1, left.values.len());
        let guard = left.guard();
        let Eigen { values, vectors: mut u, info, .. } = left;
        let scale = T::of(self.scaled());
        let reciprocal = |&value: &T| {
            let sigma = (value / scale).sqrt();
            if sigma > T::zero() { sigma.recip() } else { T::one() }
        };
        let reciprocals: Vec<T> = values.iter().map(reciprocal).collect();
        ops::scale_columns(&reciprocals, u.as_mut())?;
        let (mut v, mut ws) = (Block::zeros(cols, count), Workspace::new());
        self.op.apply_adjoint(T::one(), u.as_ref(), T::zero(), v.as_mut(), &mut ws)?;
        drop(u);
        let covariance = Gram::new(self.op).with_scale(self.scaled())?;
        let (residuals, stop) = (vec![T::zero(); count], info.stop);
        let mut found = Eigen { values, vectors: v, residuals, info };
        if found.is_orthonormal() {
            found.recompute(&covariance, plan.tolerance)?;
            if found.info.stop == stop {
                return Ok(found);
            }
            found.info.stop = stop;
        }
        let Eigen { vectors, info, .. } = found;
        v = vectors;
        Orthonormalizer::new(count).orthonormalize(&mut [&mut v], &mut ws)?;
        let mut found = Eigen::of_span_in(&covariance, &v, count, info, &mut ws)?;
        if let Some((value, residual)) = guard.filter(|_| found.values.len() == count) {
            // The nonzero eigenvalues of the two sides are the same.
            found.info.ritz.push(value);
            found.info.residuals.push(residual);
        }
        found.keep_word(plan.tolerance);
        Ok(found)
    }
}

/// Data without any variance: every vector is an eigenvector of $C = 0$, exactly.
pub(crate) fn nothing<T: Scalar>(dim: usize, count: usize) -> Solution<T> {
    let zeros = vec![T::zero(); count];
    let vectors = Block::from_fn(dim, count, |i, j| if i == j { T::one() } else { T::zero() });
    let (ritz, residuals) = (zeros.clone(), zeros.clone());
    let info = Info { ritz, residuals, ..Info::new(Stop::Converged) };
    let eigen = Eigen { values: zeros.clone(), vectors, residuals: zeros, info };
    let reason = "the data has no variance: there is nothing to find".to_string();
    Solution { eigen, method: Solver::Auto, reason }
}
