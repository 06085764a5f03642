//! [`Choice`]: which method, and why.

use favard_operator::{AdjointOperator, Forming, Scalar, Side};

use super::{Plan, Solver};
use crate::Lanczos;

/// What the choice of a method depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    /// The smaller side and the larger.
    dim: usize,
    inner: usize,
    /// Multiplications of a product with the data and one with its transpose, with one column.
    work: f64,
    /// What forming the Gram matrix takes, if it is worth a look.
    forming: Option<Forming>,
    /// Bytes of a number.
    scalar: usize,
}

/// Forming is sure, the number of steps is not.
const MARGIN: f64 = 1.5;

/// The same for dense data, where the iteration is given up for the matrix, so that little is lost.
const DENSE_MARGIN: f64 = 1.2;

/// And for sparse data, where it is given up too, but their steps vary more: for the alleles of 1,000 people 12
/// were expected and 30 not enough.
const SPARSE_MARGIN: f64 = 1.75;

/// Bytes of a block that stays in cache.
const CACHE: f64 = 1.5e6;

/// Up to this many times the cost of an iteration as expected, the matrix is what it is given up for.
const NEAR: f64 = 4.0;

impl Choice {
    pub fn new<T: Scalar>(op: &dyn AdjointOperator<T>) -> Self {
        let (rows, cols) = op.shape();
        let side = if rows < cols { Side::Rows } else { Side::Columns };
        let (dim, inner, scalar) = (rows.min(cols), rows.max(cols), size_of::<T>());
        Self { dim, inner, work: 2.0 * op.work(), forming: op.forming(side), scalar }
    }

    /// What forming the matrix takes, where the data know how.
    pub fn forming(&self) -> Option<Forming> {
        self.forming
    }

    /// Nanoseconds of a product with so many columns.
    fn product(&self, columns: f64) -> f64 {
        let is_dense = self.forming.is_some_and(|forming| forming.is_dense());
        let each = if is_dense { 0.15 + 0.027 * columns } else { 0.65 + 0.06 * columns };
        let block = self.inner as f64 * columns * self.scalar as f64;
        let is_across = self.forming.is_some_and(|forming| forming.across);
        // Each entry fetches its lines of a block that is in no cache.
        let lines = (columns * self.scalar as f64 / 64.0).max(1.0);
        self.work * if is_across && block > CACHE { each + 2.0 * lines } else { each }
    }

    /// Nanoseconds to form the matrix and to solve it.
    fn exact(&self) -> f64 {
        let n = self.dim as f64;
        let form = match self.forming {
            Some(Forming { dense, scattered, .. }) => dense / 58.0 + 0.6 * scattered,
            None => n / 8.0 * self.product(8.0),
        };
        form + 0.12 * n.powi(3)
    }

    /// Nanoseconds and steps of block Lanczos.
    fn krylov<T: Scalar>(&self, plan: &Lanczos) -> (f64, f64) {
        let (b, m) = plan.sizes::<T>(self.dim, self.work);
        let (b, k, n) = (b as f64, plan.components() as f64, self.dim as f64);
        let digits = -plan.limits().0.clamp(1e-16, 0.1).log10();
        let steps = (9.0 + 4.0 * k / b) * (0.4 + 0.075 * digits);
        let basis = (0.5 * steps * b).min(0.75 * m as f64);
        let orthogonal = n * b * (basis + 8.0) / 6.0;
        // The last product recomputes the residuals of all components.
        (steps * (self.product(b) + orthogonal) + self.product(8.0) * k / 8.0, steps)
    }

    /// The method for a plan, and why.
    pub fn choose<T: Scalar>(&self, plan: &Plan) -> (Solver, String) {
        if plan.solver != Solver::Auto {
            return (plan.solver, "asked for".to_string());
        }
        let (exact, (krylov, steps)) = (self.exact(), self.krylov::<T>(&plan.lanczos()));
        let n = self.dim;
        let ratio = krylov / exact;
        let margin = match self.forming {
            None => MARGIN,
            Some(forming) if forming.is_dense() => DENSE_MARGIN,
            Some(_) => SPARSE_MARGIN,
        };
        if exact <= margin * krylov {
            let reason = format!(
                "the {n} × {n} matrix is formed and solved: about {steps:.0} block products of an \
                 iteration would cost {ratio:.1} times as much"
            );
            (Solver::Exact, reason)
        } else {
            let times = 1.0 / ratio;
            let reason = format!(
                "block Lanczos, about {steps:.0} block products: forming and solving the {n} × {n} \
                 matrix would cost {times:.1} times as much"
            );
            (Solver::Lanczos, reason)
        }
    }
    /// The steps after which block Lanczos, chosen for a plan, has cost what forming and solving the
    /// matrix costs: then that is done instead. `None` where it is out of the question: for data that
    /// does not form it at the speed of a matrix product, where that is far more than the steps should
    /// take, so that its memory is not asked for, or where the budget ends before.
    pub fn patience<T: Scalar>(&self, plan: &Plan) -> Option<u64> {
        let (exact, (krylov, steps)) = (self.exact(), self.krylov::<T>(&plan.lanczos()));
        let is_near =
            self.forming.is_some() && plan.solver == Solver::Auto && exact <= NEAR * krylov;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a few thousand at most
        let patience = (steps * exact / krylov).max(steps).ceil() as u64;
        let budget = plan.lanczos().limits().1;
        is_near.then_some(patience).filter(|&patience| patience < budget)
    }
}
