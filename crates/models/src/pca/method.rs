//! A method by its name, on an operator.

use favard_engine::recurrence::{Tabulated, Triple};
use favard_operator::{Block, LinearOperator, Scalar, StochasticOperator};

use super::solver::Watch;
use super::{Plan, Solver};
use crate::checkpoint::Keeper;
use crate::error::Result;
use crate::solvers::{
    AdaOja, BestHeavyBall, DynamicMomentum, Eigensolver, Eye, Inhomogeneous, Method,
    MiniBatchMomentum, Oja, OjaMomentum, Power, PowerMomentum, ShiftedChebyshev, VrMomentum, VrPca,
};
use crate::{Eigen, Lanczos};

/// A method with the parameters that a plan gives.
macro_rules! given {
    ($plan:expr, $method:ty $(, $parameter:ident)*) => {{
        let method = <$method>::default();
        $(let method = $plan.$parameter.map_or(method, |value| method.$parameter(value));)*
        method
    }};
}

impl Plan {
    /// A method of [`solvers`](crate::solvers) with everything that the plan says.
    fn eigensolver<M>(&self, method: M) -> Eigensolver<M> {
        Eigensolver::new(method, self.components)
            .tolerance(self.tolerance)
            .passes(self.products as f64)
            .seed(self.seed)
    }

    fn run<T: Scalar, A: LinearOperator<T> + ?Sized, M: Method<T, A>>(
        &self,
        method: M,
        op: &A,
        start: Option<&Block<T>>,
        keeper: &mut Keeper,
        watch: &mut Watch<'_, T>,
    ) -> Result<Eigen<T>> {
        self.eigensolver(method).solve_kept(op, start, keeper, Eye::Records(watch))
    }

    /// The leading eigenpairs of a symmetric operator by a method that uses all of it.
    pub(super) fn solve<T: Scalar>(
        &self,
        method: Solver,
        op: &dyn LinearOperator<T>,
        start: Option<&Block<T>>,
        keeper: &mut Keeper,
        watch: &mut Watch<'_, T>,
    ) -> Result<Eigen<T>> {
        match method {
            Solver::Power => self.run(Power, op, start, keeper, watch),
            Solver::Momentum => {
                self.run(given!(self, PowerMomentum, beta, start), op, start, keeper, watch)
            }
            Solver::Dynamic => self.run(DynamicMomentum, op, start, keeper, watch),
            Solver::Chebyshev => {
                self.run(given!(self, ShiftedChebyshev, start), op, start, keeper, watch)
            }
            Solver::HeavyBall => self.run(BestHeavyBall, op, start, keeper, watch),
            Solver::Inhomogeneous => match uniform_tail(op, self)? {
                Some(method) => self.run(method, op, start, keeper, watch),
                // Beyond the rank there is nothing to amplify: the rest are zeros.
                None => from_columns(self.lanczos(), start).solve_kept(op, start, keeper, watch),
            },
            _ => from_columns(self.lanczos(), start).solve_kept(op, start, keeper, watch),
        }
    }

    /// The leading eigenpairs of a symmetric operator by a method that samples its terms.
    pub(super) fn solve_sampled<T: Scalar>(
        &self,
        method: Solver,
        op: &dyn StochasticOperator<T>,
        start: Option<&Block<T>>,
        keeper: &mut Keeper,
        watch: &mut Watch<'_, T>,
    ) -> Result<Eigen<T>> {
        /// Runs the method with the parameters that the plan gives.
        macro_rules! run {
            ($($method:tt)*) => {
                self.run(given!(self, $($method)*), op, start, keeper, watch)
            };
        }
        match method {
            Solver::Oja => run!(Oja, batch),
            Solver::OjaMomentum => run!(OjaMomentum, batch, beta),
            Solver::AdaOja => run!(AdaOja, batch),
            Solver::MiniBatch => run!(MiniBatchMomentum, batch, beta, rule),
            Solver::VrPca => run!(VrPca, batch, epoch),
            _ => run!(VrMomentum, batch, beta, epoch, start, rule),
        }
    }
}

/// All columns of a start in the first panel, where none is added to another.
fn from_columns<T: Scalar>(plan: Lanczos, start: Option<&Block<T>>) -> Lanczos {
    match start {
        Some(start) if start.cols() > T::LANE / 2 => {
            plan.width(start.cols().next_multiple_of(T::LANE / 2))
        }
        _ => plan,
    }
}

/// Degrees whose coefficients are tabulated; from there on they hardly change.
const DEGREES: usize = 200;

/// The inhomogeneous recurrence for eigenvalues that are uniform on (0, h) below the components: the
/// Legendre polynomials there. h is the Ritz value behind the components after a few products. `None`
/// when the last component is rounding.
///
/// A step multiplies the contrast between the first and the last component by
/// $e^{\text{arccosh} z_1 - \text{arccosh} z_k}$, $z = 2\lambda/h - 1$: a stage ends before that makes
/// the columns dependent, at a contrast of $\epsilon^{-1/2}$.
fn uniform_tail<T: Scalar>(
    op: &dyn LinearOperator<T>,
    plan: &Plan,
) -> Result<Option<Inhomogeneous<Tabulated<T>>>> {
    let (dim, k) = (op.shape().0, plan.components);
    let ahead = Lanczos::new((k + 1).min(dim)).seed(plan.seed).products(6 + k as u64 / 2);
    let found = ahead.tolerance(1e-3).solve(op)?;
    let value = |j: usize| found.values.get(j).map_or(0.0, |value| value.as_f64());
    // Without a gap behind the components the point would lie on the measure.
    let (point, high) = (value(k - 1), value(k).min(0.999 * value(k - 1)).max(0.0));
    if point <= found.rounding() {
        return Ok(None);
    }
    let half = if high > 0.0 { 0.5 * high } else { 0.5 * point.max(f64::MIN_POSITIVE) };
    let triple = |n: usize| {
        // (n+1) P_{n+1} = (2n+1) (x/h₀ − 1) P_n − n P_{n−1}, normalised by √(2n+1)
        let n = n as f64;
        let root = |m: f64| (2.0 * m + 1.0).sqrt();
        let a = root(n + 1.0) * root(n) / (n + 1.0);
        let c = if n == 0.0 { 0.0 } else { n / (n + 1.0) * root(n + 1.0) / root(n - 1.0) };
        Triple { a: T::of(a / half), b: T::of(-a), c: T::of(c) }
    };
    let method = Inhomogeneous::new(Tabulated::new((0..DEGREES).map(triple).collect())?, point);
    let growth = |lambda: f64| (lambda / half - 1.0).max(1.0).acosh();
    let contrast = growth(value(0)) - growth(point);
    Ok(Some(if k == 1 { method } else { method.contrast::<T>(contrast) }))
}
