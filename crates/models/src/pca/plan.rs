//! [`Plan`]: what every decomposition is told.

use favard_engine::recurrence::Start;

use super::Solver;
use crate::Lanczos;
use crate::checkpoint::Keeper;
use crate::error::{ErrorKind, Result, check_count};
use crate::solvers::Rule;

/// How many components, how they are found, how exactly, and at what cost.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    pub components: usize,
    pub solver: Solver,
    pub tolerance: f64,
    pub products: u64,
    pub seed: u64,
    /// For the methods that have them; their own choice without.
    pub batch: Option<usize>,
    pub beta: Option<f64>,
    pub epoch: Option<u64>,
    pub start: Option<Start>,
    pub rule: Option<Rule>,
}

impl Plan {
    pub fn new(components: usize) -> Self {
        Self {
            components,
            solver: Solver::Auto,
            tolerance: 1e-6,
            products: 1000,
            seed: 1,
            batch: None,
            beta: None,
            epoch: None,
            start: None,
            rule: None,
        }
    }

    /// Block Lanczos as the plan says.
    pub fn lanczos(&self) -> Lanczos {
        Lanczos::new(self.components)
            .tolerance(self.tolerance)
            .products(self.products)
            .seed(self.seed)
    }

    /// The same for `factor` times the operator: a momentum that is a squared eigenvalue changes with it,
    /// one of $I + \eta A$ does not.
    pub fn times(&self, factor: f64, method: Solver) -> Self {
        let is_square = matches!(method, Solver::Momentum | Solver::MiniBatch | Solver::Vr);
        let beta = self.beta.map(|beta| if is_square { beta * factor * factor } else { beta });
        Self { beta, ..self.clone() }
    }

    /// Its lines of a fingerprint, for the method that is used. Budget and tolerance may change from
    /// one part of a run to the next, unless the method has planned its steps by the tolerance.
    pub fn mark(&self, method: Solver, keeper: &mut Keeper) -> Result<()> {
        let own = || "the method's own".to_string();
        keeper.mark("solver", method)?;
        keeper.mark("components", self.components)?;
        keeper.mark("seed", self.seed)?;
        keeper.mark("batch", self.batch.map_or_else(own, |rows| rows.to_string()))?;
        keeper.mark("beta", self.beta.map_or_else(own, |beta| beta.to_string()))?;
        keeper.mark("epoch", self.epoch.map_or_else(own, |ticks| ticks.to_string()))?;
        keeper.mark("start of the momentum", self.start.map_or_else(own, |s| format!("{s:?}")))?;
        keeper.mark("rule", self.rule.map_or_else(own, |rule| format!("{rule:?}")))?;
        if method.is_sampled() {
            keeper.mark("tolerance", self.tolerance)?;
        }
        Ok(())
    }

    /// `Ok` when data of this shape has so many components.
    pub fn check(&self, (rows, cols): (usize, usize)) -> Result<()> {
        let bad = |name, value, need| Err(ErrorKind::Parameter { name, value, need }.into());
        let of = "the smaller side of the data";
        check_count("components", self.components, rows.min(cols), of)?;
        if !(self.tolerance.is_finite() && self.tolerance >= 0.0) {
            return bad("tolerance", self.tolerance, "must be finite and at least 0");
        }
        self.check_taken()
    }

    /// `Ok` when the method takes every parameter that is given: one that is not looked at would be
    /// a silent mistake.
    fn check_taken(&self) -> Result<()> {
        use Solver::{Chebyshev, MiniBatch, Momentum, OjaMomentum, Vr, VrPca};
        let solver = self.solver;
        let given = [
            ("batch", self.batch.is_some(), solver.is_sampled()),
            (
                "beta",
                self.beta.is_some(),
                matches!(solver, Momentum | OjaMomentum | MiniBatch | Vr),
            ),
            ("epoch", self.epoch.is_some(), matches!(solver, VrPca | Vr)),
            (
                "start of the momentum",
                self.start.is_some(),
                matches!(solver, Momentum | Chebyshev | Vr),
            ),
            ("rule", self.rule.is_some(), matches!(solver, MiniBatch | Vr)),
        ];
        match given.into_iter().find(|&(_, given, taken)| given && !taken) {
            None => Ok(()),
            Some((name, ..)) => Err(ErrorKind::NotTaken { name, solver: solver.name() }.into()),
        }
    }
}

/// The builder's methods for a model that has a `plan`.
macro_rules! plan_setters {
    () => {
        /// Which method; [`Solver::Auto`](crate::Solver::Auto) unless said otherwise.
        #[must_use]
        pub fn solver(mut self, solver: crate::Solver) -> Self {
            self.plan.solver = solver;
            self
        }

        /// The residual $\lVert C v - \lambda v \rVert$ asked for, relative to the largest
        /// eigenvalue; 1e-6 unless said otherwise.
        #[must_use]
        pub fn tolerance(mut self, tolerance: f64) -> Self {
            self.plan.tolerance = tolerance;
            self
        }

        /// Rows of a batch, for the methods that sample; chosen from the noise unless said
        /// otherwise. Like every parameter of a method, it is an error
        /// ([`ErrorKind::NotTaken`](crate::ErrorKind::NotTaken)) with a method that does not take
        /// it, [`Solver::Auto`](crate::Solver::Auto) included.
        #[must_use]
        pub fn batch(mut self, rows: usize) -> Self {
            self.plan.batch = Some(rows);
            self
        }

        /// The momentum β in units of squared eigenvalues, for
        /// [`Momentum`](crate::Solver::Momentum), [`OjaMomentum`](crate::Solver::OjaMomentum),
        /// [`MiniBatch`](crate::Solver::MiniBatch) and [`Vr`](crate::Solver::Vr); chosen from the
        /// Ritz values unless said otherwise.
        #[must_use]
        pub fn beta(mut self, beta: f64) -> Self {
            self.plan.beta = Some(beta);
            self
        }

        /// Ticks of an epoch, for [`VrPca`](crate::Solver::VrPca) and [`Vr`](crate::Solver::Vr);
        /// chosen from the noise unless said otherwise.
        #[must_use]
        pub fn epoch(mut self, ticks: u64) -> Self {
            self.plan.epoch = Some(ticks);
            self
        }

        /// Which of the two families of polynomials, for [`Momentum`](crate::Solver::Momentum),
        /// [`Chebyshev`](crate::Solver::Chebyshev) and [`Vr`](crate::Solver::Vr); the method's own
        /// unless said otherwise.
        #[must_use]
        pub fn momentum_start(mut self, start: favard_engine::recurrence::Start) -> Self {
            self.plan.start = Some(start);
            self
        }

        /// Where [`MiniBatch`](crate::Solver::MiniBatch) and [`Vr`](crate::Solver::Vr) take the
        /// parameters from that are not given; the practical formulas unless said otherwise.
        #[must_use]
        pub fn rule(mut self, rule: crate::solvers::Rule) -> Self {
            self.plan.rule = Some(rule);
            self
        }

        /// Block products, or passes over the data, at most; 1000 unless said otherwise.
        #[must_use]
        pub fn products(mut self, products: u64) -> Self {
            self.plan.products = products;
            self
        }

        /// The seed of the start.
        #[must_use]
        pub fn seed(mut self, seed: u64) -> Self {
            self.plan.seed = seed;
            self
        }
    };
}
pub(crate) use plan_setters;
