//! [`Solution`]: solved right-hand sides with their proof.

use favard_engine::{Info, Stop};
use favard_operator::{Block, LinearOperator, Scalar, ops};

use super::columns::largest;
use super::monitor::{Checked, Monitor, share};
use crate::error::Result;

/// The solution of a least-squares problem for each right-hand side, with its proof.
///
/// $\bar A$ stands for the problem as given: rows weighted, centred when an intercept was asked for,
/// with the rows $\sqrt\lambda I$ of the ridge below; $r = \bar b - \bar A x$.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Solution<T> {
    /// The solutions, one a column: n × k.
    pub x: Block<T>,
    /// The intercept of each right-hand side; zero unless one was asked for.
    pub intercept: Vec<T>,
    /// $\lVert r_j \rVert$, recomputed from the operator.
    pub residuals: Vec<T>,
    /// $\lVert \bar A^T r_j \rVert / (\lVert \bar A \rVert \lVert r_j \rVert)$, recomputed from the
    /// operator, with a lower bound for $\lVert \bar A \rVert$: an upper bound of the certificate.
    /// Zero at an exact solution.
    pub certificates: Vec<T>,
    /// $\lVert \bar b_j \rVert$.
    pub sizes: Vec<T>,
    /// The lower bound on $\lVert \bar A \rVert$.
    pub norm: T,
    /// The ends of the spectrum of the scaled $M^T M$ as far as the run has seen them.
    pub spectrum: Option<(f64, f64)>,
    /// The tolerance that was asked for.
    pub tolerance: f64,
    /// The method, why it was used (the reason below), why it stopped and what it cost; its
    /// residuals are the certificates.
    pub info: Info<T>,
    /// The method that was used, and why; what went wrong, when something did.
    pub reason: String,
}

impl<T: Scalar> Solution<T> {
    /// Whether right-hand side j meets the tolerance: its certificate does, or
    /// $\lVert r_j \rVert \le \epsilon \lVert b_j \rVert$ (the system is consistent, and $A^T r$ is
    /// then all rounding).
    #[must_use]
    pub fn is_solved(&self, j: usize) -> bool {
        let tolerance = T::of(self.tolerance);
        self.certificates[j] <= tolerance || self.residuals[j] <= tolerance * self.sizes[j]
    }

    /// Whether all do.
    #[must_use]
    pub fn is_certified(&self) -> bool {
        (0..self.residuals.len()).all(|j| self.is_solved(j))
    }

    /// $A x + \mathbf{1} c^T$: the predictions for the rows of `a`, c the intercepts.
    ///
    /// # Errors
    /// When `a` has another number of columns than the data of the fit, or fails.
    pub fn predict(&self, a: &(impl LinearOperator<T> + ?Sized)) -> Result<Block<T>> {
        let mut y = a.multiply(self.x.as_ref())?;
        for i in 0..y.rows() {
            y.row_mut(i).iter_mut().zip(&self.intercept).for_each(|(y, &c)| *y += c);
        }
        Ok(y)
    }

    /// The solution that a check belongs to.
    pub(crate) fn of_check(
        x: Block<T>,
        intercept: Vec<T>,
        stop: Stop,
        checked: Checked<T>,
        monitor: &mut Monitor<'_, T>,
        (method, mut reason): (&str, String),
    ) -> Self {
        let pairs = checked.gradients.iter().zip(&checked.residuals);
        let certificates: Vec<T> =
            pairs.map(|(&gradient, &residual)| share(gradient, monitor.norm, residual)).collect();
        let info = Info {
            method: method.to_string(),
            iterations: monitor.ticks,
            applications: monitor.applications,
            passes: monitor.passes,
            history: std::mem::take(&mut monitor.history),
            ritz: vec![monitor.scaled_norm * monitor.scaled_norm],
            residuals: certificates.clone(),
            ..Info::new(stop)
        };
        let mut solution = Self {
            x,
            intercept,
            residuals: checked.residuals,
            certificates,
            sizes: monitor.sizes.clone(),
            norm: monitor.norm,
            spectrum: None,
            tolerance: monitor.system.tolerance,
            info,
            reason: String::new(),
        };
        if !solution.is_certified() {
            if stop == Stop::Converged {
                solution.info.stop = Stop::Stagnated;
            }
            let worst = largest(&solution.certificates);
            let text = format!("; not certified: the worst certificate is {worst:.1e}");
            reason.push_str(&text);
        }
        solution.explain(reason);
        solution
    }

    /// Says why, here and in the report.
    pub(crate) fn explain(&mut self, reason: String) {
        self.info.reason.clone_from(&reason);
        self.reason = reason;
    }

    /// The solution for the right-hand sides divided by a power of two.
    pub(super) fn divided(mut self, factor: T) -> Self {
        ops::scale(factor.recip(), self.x.as_mut());
        let lists = [&mut self.intercept, &mut self.residuals, &mut self.sizes];
        lists.into_iter().flatten().for_each(|number| *number /= factor);
        self
    }

    /// Takes what is said of further right-hand sides, all but their x; the cost is added up.
    pub(super) fn append(&mut self, other: &Self) {
        self.intercept.extend(&other.intercept);
        self.residuals.extend(&other.residuals);
        self.certificates.extend(&other.certificates);
        self.sizes.extend(&other.sizes);
        self.norm = self.norm.max(other.norm);
        let info = &mut self.info;
        if info.stop == Stop::Converged {
            info.stop = other.info.stop;
        }
        info.iterations += other.info.iterations;
        info.applications += other.info.applications;
        info.passes += other.info.passes;
        info.residuals.extend(&other.info.residuals);
        info.history.extend(&other.info.history);
    }
}
