//! [`Monitor`]: when is a right-hand side solved?

use std::ops::ControlFlow;

use favard_engine::{Record, Stop};
use favard_operator::{AdjointOperator, Block, Result, Scalar, Workspace, ops};

use super::columns::{largest, scaled_norms};

/// The callback of a watched run.
pub(crate) type Watch<'a, T> = dyn FnMut(&Record<T>) -> ControlFlow<Stop> + 'a;

/// The scaled problem: minimise ‖A D⁻¹ y − b‖, and what the run may cost.
pub(crate) struct System<'a, T> {
    /// A D⁻¹, with the rows of the ridge below.
    pub op: &'a dyn AdjointOperator<T>,
    /// b, with zeros below.
    pub rhs: &'a Block<T>,
    /// D.
    pub scale: &'a [T],
    /// D⁻¹.
    pub factors: &'a [T],
    /// The relative tolerance of the certificates.
    pub tolerance: f64,
    /// Passes over the data at most.
    pub passes: f64,
}

/// ‖b − Ax‖ and the norms of Aᵀ(b − Ax), from the operator.
#[derive(Debug, Clone)]
pub(crate) struct Checked<T> {
    pub residuals: Vec<T>,
    /// Of the problem as given.
    pub gradients: Vec<T>,
}

/// What a method gives back.
pub(crate) struct Outcome<T> {
    /// D x.
    pub y: Block<T>,
    pub stop: Stop,
    /// The check of `y`, when the method ended with one.
    pub checked: Option<Checked<T>>,
}

/// The convergence test of all methods, their history and their cost.
///
/// A right-hand side counts as solved when
/// $\lVert A^T r \rVert \le \epsilon \lVert A \rVert \lVert r \rVert$, asked of the problem as given
/// and of the scaled one, or when $\lVert r \rVert \le \epsilon \lVert b \rVert$. The norms of the
/// operators are lower bounds from the products that were made, so the test errs on the safe side.
pub(crate) struct Monitor<'a, T> {
    pub system: &'a System<'a, T>,
    watch: &'a mut Watch<'a, T>,
    /// ‖bⱼ‖.
    pub sizes: Vec<T>,
    /// Lower bounds on ‖A‖ and ‖A D⁻¹‖.
    pub norm: T,
    pub scaled_norm: T,
    pub history: Vec<Record<T>>,
    pub ticks: u64,
    pub applications: u64,
    pub passes: f64,
    /// The certificates judged last, one a right-hand side.
    pub certificates: Vec<T>,
    gradients: Vec<T>,
    scaled: Vec<T>,
}

impl<'a, T: Scalar> Monitor<'a, T> {
    pub fn new(
        system: &'a System<'a, T>,
        norm: T,
        watch: &'a mut Watch<'a, T>,
        ws: &mut Workspace<T>,
    ) -> Result<Self> {
        let cols = system.rhs.cols();
        let mut sizes = vec![T::zero(); cols];
        ops::column_norms(system.rhs.as_ref(), &mut sizes, ws)?;
        Ok(Self {
            system,
            watch,
            sizes,
            norm,
            scaled_norm: T::zero(),
            history: Vec::new(),
            ticks: 0,
            applications: 0,
            passes: 0.0,
            certificates: vec![T::infinity(); cols],
            gradients: vec![T::zero(); cols],
            scaled: vec![T::zero(); cols],
        })
    }

    /// Counts products that read the data `passes` times.
    pub fn count(&mut self, applications: u64, passes: f64) {
        self.applications += applications;
        self.passes += passes;
    }

    /// Learns from ‖A D⁻¹ pⱼ‖² for each column: lower bounds on both norms.
    pub fn learn(&mut self, p: &Block<T>, squares: &[T], ws: &mut Workspace<T>) -> Result<()> {
        ops::column_norms(p.as_ref(), &mut self.scaled, ws)?;
        scaled_norms(self.system.factors, p, &mut self.gradients, ws)?;
        for (j, square) in squares.iter().enumerate() {
            let length = square.max(T::zero()).sqrt();
            if length > T::zero() {
                self.scaled_norm = self.scaled_norm.max(length / self.scaled[j]);
                self.norm = self.norm.max(length / self.gradients[j]);
            }
        }
        Ok(())
    }

    /// The larger of both certificates for each right-hand side, from D⁻¹Aᵀr and ‖r‖. A zero
    /// gradient is a solution whatever the residual.
    pub fn judge(&mut self, g: &Block<T>, residuals: &[T], ws: &mut Workspace<T>) -> Result<()> {
        ops::column_norms(g.as_ref(), &mut self.scaled, ws)?;
        scaled_norms(self.system.scale, g, &mut self.gradients, ws)?;
        for j in 0..residuals.len() {
            // ‖A‖ ≥ ‖Aᵀr‖ / ‖r‖ too
            let residual = residuals[j];
            if residual > T::zero() {
                self.norm = self.norm.max(self.gradients[j] / residual);
                self.scaled_norm = self.scaled_norm.max(self.scaled[j] / residual);
            }
        }
        for (j, &residual) in residuals.iter().enumerate() {
            let share = |gradient: T, norm: T| {
                if gradient == T::zero() { gradient } else { gradient / (norm * residual) }
            };
            let given = share(self.gradients[j], self.norm);
            self.certificates[j] = largest(&[given, share(self.scaled[j], self.scaled_norm)]);
        }
        Ok(())
    }

    /// As [`judge`](Self::judge) for a method that knows only ‖D⁻¹Aᵀr‖: then
    /// ‖Aᵀr‖ ≤ max(d) ‖D⁻¹Aᵀr‖.
    pub fn judge_estimates(&mut self, gradient: impl Fn(usize) -> T, residuals: &[T]) {
        let widest = largest(self.system.scale);
        for (j, &residual) in residuals.iter().enumerate() {
            let gradient = gradient(j);
            if residual > T::zero() {
                self.scaled_norm = self.scaled_norm.max(gradient / residual);
            }
            let factor = largest(&[widest / self.norm, self.scaled_norm.recip()]);
            let zero = gradient == T::zero();
            self.certificates[j] = if zero { gradient } else { gradient * factor / residual };
        }
    }

    /// ‖Aᵀr‖ of the problem as given, as judged last.
    pub fn gradients(&self) -> &[T] {
        &self.gradients
    }

    /// Whether right-hand side j is solved, as far as the last judgement goes.
    pub fn is_solved(&self, j: usize, residual: T) -> bool {
        let tolerance = T::of(self.system.tolerance);
        self.certificates[j] <= tolerance || residual <= tolerance * self.sizes[j]
    }

    /// Whether all are.
    pub fn all_solved(&self, residuals: &[T]) -> bool {
        residuals.iter().enumerate().all(|(j, &residual)| self.is_solved(j, residual))
    }

    /// Writes a line of history, asks the watcher and looks at the budget.
    pub fn tick(&mut self) -> ControlFlow<Stop> {
        self.ticks += 1;
        let record = Record {
            tick: self.ticks,
            passes: self.passes,
            ritz: self.scaled_norm * self.scaled_norm,
            residual: largest(&self.certificates),
        };
        self.history.push(record);
        (self.watch)(&record)?;
        // A budget that is NaN stops at once: it is no licence to go on for ever.
        if self.passes < self.system.passes {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(Stop::Passes)
        }
    }

    /// r ← b − A D⁻¹ y and g ← D⁻¹Aᵀ r from the operator, judged: two passes.
    pub fn check(
        &mut self,
        y: &Block<T>,
        g: &mut Block<T>,
        ws: &mut Workspace<T>,
    ) -> Result<Checked<T>> {
        let mut r = ws.take(self.system.rhs.rows(), y.cols());
        self.residual(y, &mut r, ws)?;
        self.system.op.apply_adjoint(T::one(), r.as_ref(), T::zero(), g.as_mut(), ws)?;
        self.count(1, 1.0);
        let mut residuals = vec![T::zero(); y.cols()];
        ops::column_norms(r.as_ref(), &mut residuals, ws)?;
        ws.give(r);
        refuse_non_finite(g)?;
        self.judge(g, &residuals, ws)?;
        Ok(Checked { residuals, gradients: self.gradients.clone() })
    }

    /// r ← b − A D⁻¹ y: one pass.
    pub fn residual(
        &mut self,
        y: &Block<T>,
        r: &mut Block<T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        r.assign(self.system.rhs.as_ref())?;
        self.system.op.apply(-T::one(), y.as_ref(), T::one(), r.as_mut(), ws)?;
        self.count(1, 1.0);
        Ok(())
    }
}

/// An error that names the first entry that is not finite.
pub(crate) fn refuse_non_finite<T: Scalar>(block: &Block<T>) -> Result<()> {
    let Some((row, column)) = ops::find_non_finite(block.as_ref()) else {
        return Ok(());
    };
    let (what, value) = ("product of the operator", block.row(row)[column].as_f64());
    Err(favard_operator::ErrorKind::NonFinite { what, row, column, value }.into())
}
