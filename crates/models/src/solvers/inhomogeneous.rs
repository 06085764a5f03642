//! [`Inhomogeneous`]: the best combination of all iterates for a spectral measure.

use favard_engine::map::{Exact, StepMap};
use favard_engine::readout::Optimal;
use favard_engine::recurrence::{Family, Normalized, Tabulated, Triple};
use favard_engine::{Engine, Stop};
use favard_operator::{LinearOperator, Orthonormalizer, Scalar, Workspace};

use super::tuning::count;
use super::{Method, Task};
use crate::Eigen;
use crate::error::Result;

/// The paper's inhomogeneous recurrence: when the unwanted eigenvalues are spread like a measure μ,
/// the polynomial of degree t with value 1 at $\tilde\lambda$ and the least mean square over μ,
///
/// $$ f_t = \frac{\sum_{j \le t} q_j(\tilde\lambda)\, q_j}{\sum_{j \le t} q_j(\tilde\lambda)^2}, $$
///
/// with q the orthonormal polynomials of μ, in the ratio form that cannot overflow (erratum 4.8).
///
/// A sum of iterates allows no gauge, so the columns of a block lose their independence as fast as
/// the first eigenvector wins. For k > 1 the run is therefore one of stages: after so many steps
/// the combination is orthonormalised and the next stage starts from it. One column runs in one
/// stage.
///
/// It stops when the last iterate's residual is small, and then looks at the combination's own,
/// which costs a product; if that one is not small enough it goes on.
///
/// # Example
/// ```
/// use favard_engine::recurrence::Legendre;
/// use favard_models::solvers::{Eigensolver, Inhomogeneous};
/// use favard_operator::Diagonal;
/// // One eigenvalue above a tail that is uniform on [−1, 1].
/// let tail = (0..200).map(|i| -1.0 + 0.01 * f64::from(i));
/// let op = Diagonal::new(std::iter::once(1.01).chain(tail).collect())?;
/// let found = Eigensolver::new(Inhomogeneous::new(Legendre, 1.01), 1).guard(0).solve(&op)?;
/// assert!((found.values[0] - 1.01).abs() < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// De Sa et al., Theorem optimal and Algorithm 5; errata 4.5 to 4.8.
#[derive(Debug, Clone, PartialEq)]
pub struct Inhomogeneous<F> {
    family: F,
    point: f64,
    stage: Option<u64>,
}

/// Steps of a stage for a block of several columns.
const STAGE: u64 = 16;

impl<F> Inhomogeneous<F> {
    /// For the measure of an orthonormal `family` and the point $\tilde\lambda$ above its support:
    /// an estimate of $\lambda_k$, better too small than too large. A point that is not above the
    /// support is an error of the run.
    pub fn new(family: F, point: f64) -> Self {
        Self { family, point, stage: None }
    }

    /// The length of a stage; without end for one column and 16 steps for a block unless said
    /// otherwise. Where the polynomial of that degree is more than $\epsilon^{-1/2}$ times larger at
    /// $\lambda_1$ than at $\lambda_k$, the stage should be shorter.
    #[must_use]
    pub fn stage(self, steps: u64) -> Self {
        Self { stage: Some(steps.max(1)), ..self }
    }

    /// Stages for a block whose first column outgrows the last by a factor $e^c$ a step: they end
    /// at $\epsilon^{-1/2}$.
    pub(crate) fn contrast<T: Scalar>(self, c: f64) -> Self {
        // e^{cs} ≤ ϵ^{−1/2}
        let steps = -0.5 * T::EPSILON.as_f64().ln() / c;
        self.stage(count(steps.floor()).min(STAGE))
    }
}

impl<T: Scalar> Inhomogeneous<Tabulated<T>> {
    /// For a measure by its orthonormal polynomials, as [`favard_theory::measure`] makes them from
    /// samples or moments. Beyond its degree the last coefficients are used again.
    ///
    /// # Errors
    /// When the family has degree 0.
    ///
    /// # Example
    /// ```
    /// use favard_models::solvers::{Eigensolver, Inhomogeneous};
    /// use favard_operator::Diagonal;
    /// // The tail's own spectrum as the measure.
    /// let tail: Vec<f64> = (0..60).map(|i| 0.9 * (1.0 - (f64::from(i) / 60.0).powi(2))).collect();
    /// let family = favard_theory::measure::from_samples(&tail, &[1.0; 60], 20)?;
    /// let op = Diagonal::new(std::iter::once(1.0).chain(tail).collect())?;
    /// let method = Inhomogeneous::of_measure(&family, 1.0)?;
    /// let found = Eigensolver::new(method, 1).guard(0).solve(&op)?;
    /// assert!((found.values[0] - 1.0_f64).abs() < 1e-8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_measure(family: &favard_theory::Family, point: f64) -> Result<Self> {
        let recurrence = family.recurrence();
        let row =
            |t: &favard_theory::Triple| Triple { a: T::of(t.a), b: T::of(t.b), c: T::of(t.c) };
        let rows = recurrence.triples().iter().map(row).collect();
        Ok(Self::new(Tabulated::new(rows)?, point))
    }
}

impl<T, A, F> Method<T, A> for Inhomogeneous<F>
where
    T: Scalar,
    A: LinearOperator<T> + ?Sized,
    F: Family<T> + Clone,
{
    fn run(&self, mut task: Task<'_, T, A>) -> Result<Eigen<T>> {
        let mut block = task.block(task.guard(0))?;
        let endless = if block.cols() == 1 { u64::MAX } else { STAGE };
        let stage = self.stage.unwrap_or(endless);
        let (wanted, point) = (task.options.tolerance, T::of(self.point));
        // A run that is taken up may have become more strict.
        task.options.tolerance = wanted * 0.5_f64.powi(task.carried.halvings);
        let mut qr = Orthonormalizer::new(block.cols());
        loop {
            let recurrence = Normalized::new(self.family.clone(), point)?;
            let readout = Optimal::new(self.family.clone(), point)?;
            let map = Exact::new(task.op)?;
            let mut engine = Engine::new(map, recurrence, block)?.with_readout(readout)?;
            task.steps = stage;
            while engine.tick() < stage {
                let mut info = task.drive(&mut engine)?;
                task.carried.history.append(&mut info.history);
                // A callback may ask for this stop, too: then it is not the stage that has ended.
                if info.stop == Stop::Iterations && engine.tick() >= stage {
                    break;
                }
                let met = info.stop == Stop::Converged;
                info.iterations += task.carried.ticks;
                let mut found = task.finish(engine.answer(), info)?;
                if !met || found.info.stop == Stop::Converged || found.meets(wanted) {
                    found.info.stop = if met { Stop::Converged } else { found.info.stop };
                    found.info.history = task.carried.history;
                    return Ok(found);
                }
                // The iterate met the tolerance and the combination did not: on, more strictly.
                task.spend(1, 1.0);
                task.options.tolerance *= 0.5;
                task.carried.halvings += 1;
            }
            // The next stage starts from the orthonormalised combination.
            let cost = engine.map().cost();
            task.spend(cost.applications, cost.passes);
            task.carried.ticks += engine.tick();
            block = engine.answer().clone();
            qr.orthonormalize(&mut [&mut block], &mut Workspace::new())?;
        }
    }
}
