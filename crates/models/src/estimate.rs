//! [`estimate`]: the top of the spectrum and the noise of a stochastic operator.

use favard_engine::Engine;
use favard_engine::gauge::AugmentedQr;
use favard_engine::map::Exact;
use favard_engine::observe::Tolerance;
use favard_engine::recurrence::Dynamic;
use favard_operator::{Batch, Block, Sampler, Scalar, StochasticOperator};
use favard_theory::planner::Estimates;

use crate::Eigen;
use crate::error::{ErrorKind, Result};
use crate::noise::Noise;

/// How much an [`estimate`] may cost.
///
/// # Example
/// ```
/// use favard_models::Effort;
/// let thorough = Effort { products: 100, samples: 5_000, ..Effort::default() };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Exact block products at most, for the spectrum.
    pub products: u64,
    /// Terms drawn at random, for the noise; each is used 17 times.
    pub samples: usize,
    /// The seed of the start block and of the draws.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { products: 30, samples: 500, seed: 1 }
    }
}

/// What [`estimate`] found.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The numbers in the form that [`plan`](favard_theory::planner::plan) takes.
    pub estimates: Estimates,
    /// $\lVert A v_j - \theta_j v_j \rVert$ for j = 1, 2: there is an eigenvalue within that
    /// distance of each of the two.
    pub residuals: [f64; 2],
    /// Between which numbers $\lVert \Sigma \rVert$ lies, up to sampling error; the planner is told
    /// the upper one.
    pub sigma_range: [f64; 2],
    /// $\sigma^2 = \mathbb{E} \lVert N \rVert^2$.
    pub sigma2: f64,
    /// Exact block products used for the spectrum.
    pub products: u64,
    /// Passes over the data used, samples included.
    pub passes: f64,
}

/// Measures what a planner has to know of a symmetric operator $A = \sum_i A_i$, from a few exact
/// products and a sample of its terms, for uniform sampling of single terms
/// ($\tilde A = N A_i$, $i$ uniform):
///
/// - $\lambda_1$, $\lambda_2$: Ritz values of a block of four columns under dynamic momentum. They
///   approach from below, with the residuals as error bars.
/// - $s_{op} = \lVert \mathbb{E}(\tilde A^2) - A^2 \rVert$: eight power iterations on the sample's
///   mean.
/// - $\lVert \Sigma \rVert$, $\Sigma = \mathbb{E}(N \otimes N)$: at most $s_{op}$
///   ($\langle Q, \mathbb{E}(NPN) \rangle \le \lVert \mathbb{E} N^2 \rVert$ by Cauchy and Schwarz),
///   and at least $\lVert \mathbb{E}(N v v^T N) \rVert_F$ for the direction v that $s_{op}$ belongs
///   to, from the pairs of up to 64 of the sampled terms.
/// - $\sigma^2 = \mathbb{E} \lVert N \rVert^2$: eight power iterations on each of up to 64 of the
///   sampled $N_i$, side by side in one block; from below.
/// - $\kappa = \mathbb{E} \lVert (I - v_1 v_1^T) \tilde A v_1 \rVert^2$: the mean over the sample.
///
/// The sampled numbers have a relative error of the order of $\sqrt{\text{kurtosis} / \text{samples}}$.
///
/// # Errors
/// When the operator is not square, has fewer than two dimensions or no terms, when the effort is
/// zero, or when the operator fails.
///
/// # Example
/// ```
/// use favard_models::{Effort, estimate};
/// use favard_operator::{Block, Dense, Gram};
/// use favard_theory::planner::{Target, plan};
///
/// let rows = Block::from_fn(2000, 5, |i, j| {
///     Block::<f64>::gaussian(1, 1, (i * 5 + j) as u64).row(0)[0] * [1.0, 0.7, 0.5, 0.3, 0.1][j]
/// });
/// let op = Gram::new(Dense::new(rows.view())?);
/// let found = estimate(&op, &Effort::default())?;
/// assert!((found.estimates.lambda1 - 1.0).abs() < 0.2);
/// let plan = plan(&found.estimates, &Target::new(1e-2, 0.1))?;
/// assert!(plan.mini_batch.practical.batch.value > 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn estimate<T, A>(op: &A, effort: &Effort) -> Result<Estimate>
where
    T: Scalar,
    A: StochasticOperator<T> + ?Sized,
{
    let (dim, terms) = (op.shape().0, op.terms());
    let need = |name, value: usize, least: usize, need| {
        if value >= least {
            Ok(())
        } else {
            Err(ErrorKind::Parameter { name, value: value as f64, need })
        }
    };
    need("dimension", dim, 2, "must be at least 2: one eigenvalue has no gap")?;
    need("terms", terms, 1, "must be at least 1")?;
    need("samples", effort.samples, 1, "must be at least 1")?;
    need("products", usize::from(effort.products > 0), 1, "must be at least 1")?;

    let top = spectrum(op, dim.min(4), effort)?;
    let sampler = Sampler::uniform(terms, effort.samples, effort.seed)?;
    let mut batch = Batch::default();
    sampler.draw(0, &mut batch);
    let mut noise = Noise::new(op, &batch, effort.seed);
    let kappa = noise.spread(&top.vector)?;
    let (s_op, direction) = noise.second_moment()?;
    let sigma_low = noise.sigma_low(&direction)?.min(s_op);
    let sigma2 = noise.sigma2()?;
    let passes = noise.products as f64 + noise.sampled as f64 / terms as f64;
    Ok(Estimate {
        estimates: Estimates {
            lambda1: top.values[0],
            lambda2: top.values[1],
            lower: None,
            dim,
            sigma_norm: s_op,
            s_op,
            kappa,
            terms: Some(terms),
            cos2: 1.0 / dim as f64,
        },
        residuals: top.residuals,
        sigma_range: [sigma_low, s_op],
        sigma2,
        products: top.products,
        passes: top.products as f64 + passes,
    })
}

struct Top<T> {
    values: [f64; 2],
    residuals: [f64; 2],
    vector: Block<T>,
    products: u64,
}

/// λ₁, λ₂ and v₁ from a block under dynamic momentum.
fn spectrum<T: Scalar, A: StochasticOperator<T> + ?Sized>(
    op: &A,
    cols: usize,
    effort: &Effort,
) -> Result<Top<T>> {
    let dim = op.shape().0;
    let start = Block::gaussian(dim, cols, effort.seed);
    let map = Exact::new(op)?;
    let mut engine =
        Engine::new(map, Dynamic::default(), start)?.with_gauge(AugmentedQr::new(cols));
    let tolerance = &mut Tolerance::new(T::EPSILON.as_f64().sqrt(), 2)?;
    let info = engine.run(effort.products, tolerance)?;
    let found = Eigen::of_span(op, engine.block(), 2, info)?;
    let at = |values: &[T], j: usize| values.get(j).map_or(0.0, |value| value.as_f64());
    let column = found.vectors.as_ref();
    let first = |i: usize, _| column.row(i).first().copied().unwrap_or(T::zero());
    Ok(Top {
        values: [at(&found.values, 0), at(&found.values, 1)],
        residuals: [at(&found.residuals, 0), at(&found.residuals, 1)],
        vector: Block::from_fn(dim, 1, first),
        products: found.info.applications,
    })
}
