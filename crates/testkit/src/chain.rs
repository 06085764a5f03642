//! [`Chain`]: the paper's variance bounds, checked on a distribution of one's own.

use favard_operator::{Batch, Block, StochasticOperator, Workspace};
use favard_theory::second_moment::{Anchored, Finite, FullCovariance, Propagation};
use favard_theory::{Covariance, ErrorKind, Start, epoch_covariance};
use ndarray::{Array1, Array2};

/// A link of the chain that does not hold, or a reason why the chain cannot be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChainError {
    /// What is below a bound in theory is above it.
    #[error("tick {tick}: {smaller} = {found:e} exceeds {larger} = {bound:e}")]
    Broken {
        /// The tick.
        tick: usize,
        /// The name of the quantity that should be smaller.
        smaller: &'static str,
        /// Its value.
        found: f64,
        /// The name of the bound.
        larger: &'static str,
        /// Its value.
        bound: f64,
    },
    /// The theory refuses the input.
    #[error(transparent)]
    Theory(#[from] favard_theory::Error),
    /// The operator failed.
    #[error(transparent)]
    Operator(#[from] favard_operator::Error),
    /// The eigenproblem of the mean did not converge.
    #[error("the {0} × {0} eigenproblem of the mean did not converge")]
    Eigen(usize),
    /// The operator is too large to be written out.
    #[error("{what}: {found}, at most {most} for an exact check")]
    Size {
        /// Which number.
        what: &'static str,
        /// Its value.
        found: usize,
        /// The largest allowed.
        most: usize,
    },
}

/// The whole chain of variance bounds, on a distribution or an operator of one's own:
///
/// exact ‖Cov F_t‖ ≤ lemma's sum ≤ sharp binomial ≤ sharp exponential ≤ the paper's exponential,
///
/// the vector, scalar and total-variance corollaries along a given start and direction, and the
/// variance-reduced lemma with the start as its anchor. Everything is exact: the second moments are
/// propagated, not sampled, so a violation is a counterexample and not a fluctuation.
///
/// Costs $O(d^6)$ a tick for the full covariance: for d up to 12.
///
/// # Example
/// The rows of a small data set, drawn one at a time:
/// ```
/// use favard_operator::{Dense, Gram};
/// use favard_testkit::Chain;
/// use ndarray::array;
/// let rows = array![[1.0, 0.2], [0.8, -0.3], [-0.9, 0.1], [1.1, 0.4]];
/// let op = Gram::new(Dense::new(rows)?);
/// Chain::of_operator(&op)?.check(0.1, 30)?; // β = 0.1, 30 ticks
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Chain {
    noise: Finite,
    start: Array1<f64>,
}

/// Rounding of `ticks` steps of a few dozen operations each, as a share of the value.
fn slack(ticks: usize) -> f64 {
    256.0 * (ticks + 8) as f64 * f64::EPSILON
}

/// A bound beyond the range of `f64` is above anything; so is one that does not exist, as the
/// corollaries for $\lambda_1 \le 2\sqrt\beta$, where only the lemma speaks.
fn value(bound: favard_theory::Result<f64>) -> Result<f64, ChainError> {
    bound.or_else(|error| match error.kind() {
        ErrorKind::NonFinite { name: "bound", .. } | ErrorKind::NoGap { .. } => Ok(f64::INFINITY),
        _ => Err(error.into()),
    })
}

impl Chain {
    /// For a finite distribution of matrices, with a start along the sum of the axes.
    #[must_use]
    pub fn new(noise: Finite) -> Self {
        let dim = noise.mean().nrows();
        Self { noise, start: Array1::from_elem(dim, (dim as f64).sqrt().recip()) }
    }

    /// For a stochastic operator whose terms are drawn one at a time, uniformly: each term, times
    /// their number, is a matrix of the distribution.
    ///
    /// # Errors
    /// When the operator has more than 12 dimensions or 10,000 terms, is not square, or fails.
    pub fn of_operator<A>(op: &A) -> Result<Self, ChainError>
    where
        A: StochasticOperator<f64> + ?Sized,
    {
        let (dim, terms) = (op.shape().0, op.terms());
        for (what, found, most) in [("dimension", dim, 12), ("terms", terms, 10_000)] {
            if found > most {
                return Err(ChainError::Size { what, found, most });
            }
        }
        let identity = Block::from_fn(dim, dim, |i, j| if i == j { 1.0 } else { 0.0 });
        let mut ws = Workspace::new();
        let mut point = |term: usize| -> Result<Array2<f64>, ChainError> {
            let batch = Batch { terms: vec![term], weights: vec![terms as f64] };
            let mut matrix = Block::zeros(dim, dim);
            op.apply_terms(&batch, 1.0, identity.as_ref(), 0.0, matrix.as_mut(), &mut ws)?;
            Ok(matrix.view().to_owned())
        };
        let points = (0..terms).map(&mut point).collect::<Result<Vec<_>, _>>()?;
        Ok(Self::new(Finite::new(points, vec![(terms as f64).recip(); terms])?))
    }

    /// The same distribution with another start, of any length.
    #[must_use]
    pub fn with_start(self, start: Array1<f64>) -> Self {
        let length = start.dot(&start).sqrt();
        Self { start: start / length, ..self }
    }

    /// The distribution.
    #[must_use]
    pub fn noise(&self) -> &Finite {
        &self.noise
    }

    /// Checks every link at every tick.
    ///
    /// # Errors
    /// [`ChainError::Broken`] with the first link that does not hold and its numbers; otherwise what
    /// makes the check impossible.
    pub fn check(&self, beta: f64, ticks: usize) -> Result<(), ChainError> {
        let mean = self.noise.mean().view();
        let sigma = self.noise.sigma_norm()?;
        // ‖A‖ bounds the spectral radius, and is it for a symmetric mean.
        let (radius, leading) = top(self.noise.mean())?;
        let bound = Covariance::new(radius, beta, sigma)?;
        let total_bound = Covariance::new(radius, beta, self.noise.s_op()?)?;
        let theta = (1.0 - leading.dot(&self.start).powi(2)).clamp(0.0, 1.0);
        let mut full = FullCovariance::new(&self.noise, mean, beta)?;
        let mut run = Propagation::new(&self.noise, mean, beta, Start::U, self.start.view())?;
        let anchored = Anchored::new(&self.noise, self.start.clone())?;
        let mut epoch = Propagation::new(&anchored, mean, beta, Start::U, self.start.view())?;
        for tick in 0..=ticks {
            let room = 1.0 + slack(tick);
            let link = |smaller, found: f64, larger, bound: f64, extra: f64| {
                if found <= bound * room + extra {
                    Ok(())
                } else {
                    Err(ChainError::Broken { tick, smaller, found, larger, bound })
                }
            };
            let sum = value(bound.lemma_sum(tick))?;
            let binomial = value(bound.sharp_binomial(tick))?;
            let exponential = value(bound.sharp_exponential(tick))?;
            let paper = value(bound.paper_exponential(tick))?;
            link("the exact covariance", full.norm()?, "the lemma's sum", sum, 0.0)?;
            link("the lemma's sum", sum, "the sharp binomial", binomial, 0.0)?;
            link("the sharp binomial", binomial, "the sharp exponential", exponential, 0.0)?;
            link("the sharp exponential", exponential, "the paper's exponential", paper, 0.0)?;
            let vector = run.covariance_norm();
            link("the covariance of a vector", vector, "the lemma's sum", sum, 0.0)?;
            let along = run.variance_along(leading.view())?;
            link("the variance along u₁", along, "the lemma's sum", sum, 0.0)?;
            let total = value(total_bound.lemma_sum(tick))?;
            link("the total variance", run.total_variance(), "the sum with s_op", total, 0.0)?;
            let most = value(epoch_covariance(&bound, theta, tick))?;
            // The projector leaves a rounding of the whole sum behind.
            let rounding = slack(tick) * sum;
            let reduced = epoch.covariance_norm();
            link("the variance-reduced covariance", reduced, "Lemma svrgvar", most, rounding)?;
            full.advance()?;
            run.advance()?;
            epoch.advance()?;
        }
        Ok(())
    }
}

/// ‖A‖ and u₁ of a symmetric matrix.
fn top(a: &Array2<f64>) -> Result<(f64, Array1<f64>), ChainError> {
    let dim = a.nrows();
    let matrix = faer::Mat::from_fn(dim, dim, |i, j| f64::midpoint(a[[i, j]], a[[j, i]]));
    let failed = |_| ChainError::Eigen(dim);
    let eigen = matrix.self_adjoint_eigen(faer::Side::Lower).map_err(failed)?;
    let last = dim.saturating_sub(1);
    let radius = (0..dim).fold(0.0_f64, |m, j| m.max(eigen.S()[j].abs()));
    // The norm is known to rounding: take the upper end.
    let radius = radius * (1.0 + 64.0 * f64::EPSILON);
    Ok((radius, Array1::from_shape_fn(dim, |i| eigen.U()[(i, last)])))
}
