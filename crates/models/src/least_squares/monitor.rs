//! [`Monitor`]: when is a right-hand side solved?

use std::borrow::Cow;
use std::ops::ControlFlow;

use favard_engine::{Record, Stop};
use favard_operator::{AdjointOperator, Block, Result, Scalar, Workspace, ops};
use serde::Serialize;

use super::columns::{largest, scaled_norms};
use super::state::{Known, Phase, Prelude, check_shapes};
use crate::checkpoint::Keeper;

/// The callback of a watched run.
pub(crate) type Watch<'a, T> = dyn FnMut(&Record<T>) -> ControlFlow<Stop> + 'a;

/// The scaled problem: minimise ‖A D⁻¹ y − b‖, and what the run may cost.
pub(crate) struct System<'a, T> {
    /// A, with the rows of the ridge below.
    pub base: &'a dyn AdjointOperator<T>,
    /// A D⁻¹.
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
    pub x: Block<T>,
    pub stop: Stop,
    /// The check of `x`, when the method ended with one.
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
    /// Saves the run; idle unless it is replaced.
    pub keeper: Keeper,
    gradients: Vec<T>,
    scratch: (Vec<T>, Vec<T>),
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
            // Room for the records of most runs, so that steps do not allocate.
            history: Vec::with_capacity(1024),
            ticks: 0,
            applications: 0,
            passes: 0.0,
            certificates: vec![T::infinity(); cols],
            keeper: Keeper::default(),
            gradients: vec![T::zero(); cols],
            scratch: (vec![T::zero(); cols], vec![T::zero(); cols]),
        })
    }

    /// Counts products that read the data `passes` times.
    pub fn count(&mut self, applications: u64, passes: f64) {
        self.applications += applications;
        self.passes += passes;
    }

    /// Learns from ‖A D⁻¹ pⱼ‖ for each column: lower bounds on both norms.
    pub fn learn(&mut self, p: &Block<T>, lengths: &[T], ws: &mut Workspace<T>) -> Result<()> {
        let (mut plain, mut scaled) = self.lend();
        ops::column_norms(p.as_ref(), &mut scaled, ws)?;
        scaled_norms(self.system.factors, p, &mut plain, ws)?;
        self.learn_lengths(lengths, &plain, &scaled);
        self.scratch = (plain, scaled);
        Ok(())
    }

    /// Learns from ‖A pⱼ‖, ‖pⱼ‖ and ‖D pⱼ‖.
    pub fn learn_lengths(&mut self, lengths: &[T], plain: &[T], scaled: &[T]) {
        for ((&length, &plain), &scaled) in lengths.iter().zip(plain).zip(scaled) {
            if length > T::zero() && plain > T::zero() && scaled > T::zero() {
                self.norm = raised(self.norm, length / plain);
                self.scaled_norm = raised(self.scaled_norm, length / scaled);
            }
        }
    }

    /// The larger of both certificates for each right-hand side, from D⁻¹Aᵀr and ‖r‖.
    pub fn judge(&mut self, g: &Block<T>, residuals: &[T], ws: &mut Workspace<T>) -> Result<()> {
        let (mut plain, mut scaled) = self.lend();
        ops::column_norms(g.as_ref(), &mut scaled, ws)?;
        scaled_norms(self.system.scale, g, &mut plain, ws)?;
        self.judge_norms(&plain, &scaled, residuals);
        self.scratch = (plain, scaled);
        Ok(())
    }

    /// The two lists of norms, to be given back.
    fn lend(&mut self) -> (Vec<T>, Vec<T>) {
        std::mem::take(&mut self.scratch)
    }

    /// The same from ‖Aᵀr‖, ‖D⁻¹Aᵀr‖ and ‖r‖. A zero gradient is a solution whatever the residual.
    pub fn judge_norms(&mut self, plain: &[T], scaled: &[T], residuals: &[T]) {
        self.gradients.copy_from_slice(plain);
        for ((&plain, &scaled), &residual) in plain.iter().zip(scaled).zip(residuals) {
            // ‖A‖ ≥ ‖Aᵀr‖ / ‖r‖ too
            if residual > T::zero() {
                self.norm = raised(self.norm, plain / residual);
                self.scaled_norm = raised(self.scaled_norm, scaled / residual);
            }
        }
        for (j, &residual) in residuals.iter().enumerate() {
            let given = share(plain[j], self.norm, residual);
            let inner = share(scaled[j], self.scaled_norm, residual);
            self.certificates[j] = largest(&[given, inner]);
        }
    }

    /// As [`judge`](Self::judge) for a method that knows only ‖D⁻¹Aᵀr‖: then
    /// ‖Aᵀr‖ ≤ max(d) ‖D⁻¹Aᵀr‖.
    pub fn judge_estimates(&mut self, gradient: impl Fn(usize) -> T, residuals: &[T]) {
        let widest = largest(self.system.scale);
        for (j, &residual) in residuals.iter().enumerate() {
            let gradient = gradient(j);
            if residual > T::zero() {
                self.scaled_norm = raised(self.scaled_norm, gradient / residual);
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
        if self.is_spent() { ControlFlow::Break(Stop::Passes) } else { ControlFlow::Continue(()) }
    }

    /// Whether the budget is used up. One that is NaN is: it is no licence to go on for ever.
    pub fn is_spent(&self) -> bool {
        self.is_spent_after(0.0)
    }

    /// Whether it is after so many passes more.
    pub fn is_spent_after(&self, passes: f64) -> bool {
        let left = self.passes + passes < self.system.passes;
        !left
    }

    /// Saves the run when that is due after a tick, and when the tick ended it.
    pub fn keep<S: Serialize>(
        &mut self,
        flow: ControlFlow<Stop>,
        (phase, prelude): (Phase, &Prelude),
        state: impl FnOnce() -> S,
    ) -> favard_engine::Result<()> {
        if !(self.keeper.is_due() || flow.is_break() && self.keeper.saves()) {
            return Ok(());
        }
        let known = Known {
            norm: self.norm,
            scaled_norm: self.scaled_norm,
            history: Cow::Borrowed(&self.history),
            ticks: self.ticks,
            applications: self.applications,
            passes: self.passes,
            certificates: Cow::Borrowed(&self.certificates),
        };
        self.keeper.save::<T>(&((phase, prelude, known), state()))
    }

    /// Takes up what an earlier run knew.
    pub fn restore(&mut self, known: Known<'_, T>) -> crate::Result<()> {
        check_shapes::<T>(&[], (0, self.certificates.len()), &[known.certificates.len()])?;
        (self.norm, self.scaled_norm) = (known.norm, known.scaled_norm);
        (self.ticks, self.applications) = (known.ticks, known.applications);
        self.passes = known.passes;
        self.history.extend_from_slice(&known.history);
        self.certificates.copy_from_slice(&known.certificates);
        Ok(())
    }

    /// r ← b − A x and g ← Aᵀ r from the operator, judged: two passes.
    pub fn check(
        &mut self,
        x: &Block<T>,
        g: &mut Block<T>,
        ws: &mut Workspace<T>,
    ) -> Result<Checked<T>> {
        let system = self.system;
        let mut r = ws.take(system.rhs.rows(), x.cols());
        r.assign(system.rhs.as_ref())?;
        system.base.apply(-T::one(), x.as_ref(), T::one(), r.as_mut(), ws)?;
        system.base.apply_adjoint(T::one(), r.as_ref(), T::zero(), g.as_mut(), ws)?;
        self.count(2, 2.0);
        let mut residuals = vec![T::zero(); x.cols()];
        ops::column_norms(r.as_ref(), &mut residuals, ws)?;
        ws.give(r);
        refuse_non_finite(g)?;
        let (mut plain, mut scaled) = (residuals.clone(), residuals.clone());
        ops::column_norms(g.as_ref(), &mut plain, ws)?;
        scaled_norms(system.factors, g, &mut scaled, ws)?;
        self.judge_norms(&plain, &scaled, &residuals);
        Ok(Checked { residuals, gradients: plain })
    }
}

/// ‖Aᵀr‖ / (‖A‖ ‖r‖); zero for a zero gradient. The product of the norms may be no number where
/// both are: it is not formed.
pub(crate) fn share<T: Scalar>(gradient: T, norm: T, residual: T) -> T {
    if gradient == T::zero() { gradient } else { gradient / residual / norm }
}

/// A lower bound with another one, which counts if it is finite: a length beyond the largest number
/// would make every certificate zero.
fn raised<T: Scalar>(norm: T, bound: T) -> T {
    if bound.is_finite() { norm.max(bound) } else { norm }
}

/// An error that names the first entry that is not finite.
pub(crate) fn refuse_non_finite<T: Scalar>(block: &Block<T>) -> Result<()> {
    let Some((row, column)) = ops::find_non_finite(block.as_ref()) else {
        return Ok(());
    };
    let (what, value) = ("product of the operator", block.row(row)[column].as_f64());
    Err(favard_operator::ErrorKind::NonFinite { what, row, column, value }.into())
}
