//! [`estimate`]: the top of the spectrum and the noise of a stochastic operator.

use favard_engine::Engine;
use favard_engine::gauge::AugmentedQr;
use favard_engine::map::Exact;
use favard_engine::observe::Tolerance;
use favard_engine::recurrence::Dynamic;
use favard_operator::{Batch, Block, Sampler, Scalar, StochasticOperator, Workspace, ops};
use favard_theory::planner::Estimates;

use crate::Eigen;
use crate::error::{ErrorKind, Result};

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
    /// Terms drawn at random, for the noise; each is used twice in each of eight rounds.
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
    /// Exact block products used.
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
///   mean. The same number stands for $\lVert \Sigma \rVert$, which it bounds from above
///   ($\langle Q, \mathbb{E}(NPN) \rangle \le \lVert \mathbb{E} N^2 \rVert$ by Cauchy and Schwarz).
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
    let kappa = spread(op, &batch, &top.vector)?;
    let s_op = second_moment(op, &batch, effort.seed)?;
    // Each sampled term: once for κ, twice in each round of the power iteration.
    let used = effort.samples as f64 * (1.0 + 2.0 * ROUNDS as f64) / terms as f64;
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
        products: top.products,
        passes: top.products as f64 + 2.0 * ROUNDS as f64 + used,
    })
}

/// Power iterations on E[Ã²] − A².
const ROUNDS: usize = 8;

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

/// κ = mean over the sample of ‖Ãv − v(vᵀÃv)‖², Ã = N A_i.
fn spread<T: Scalar, A: StochasticOperator<T> + ?Sized>(
    op: &A,
    batch: &Batch<T>,
    v: &Block<T>,
) -> Result<f64> {
    let (mut ws, mut y) = (Workspace::new(), Block::zeros(v.rows(), 1));
    let (mut total, all) = (0.0, T::of_count(op.terms()));
    let mut one = Batch { terms: vec![0], weights: vec![all] };
    for &term in &batch.terms {
        one.terms[0] = term;
        op.apply_terms(&one, T::one(), v.as_ref(), T::zero(), y.as_mut(), &mut ws)?;
        let mut along = [T::zero()];
        ops::column_dots(v.as_ref(), y.as_ref(), &mut along, &mut ws)?;
        ops::axpby(-along[0], v.as_ref(), T::one(), y.as_mut())?;
        let mut rest = [T::zero()];
        ops::column_norms(y.as_ref(), &mut rest, &mut ws)?;
        total += rest[0].as_f64().powi(2);
    }
    Ok(total / batch.len() as f64)
}

/// ‖E[Ã²] − A²‖ by power iteration, the expectation over the sample.
fn second_moment<T: Scalar, A: StochasticOperator<T> + ?Sized>(
    op: &A,
    batch: &Batch<T>,
    seed: u64,
) -> Result<f64> {
    let dim = op.shape().0;
    let mut ws = Workspace::new();
    let mut v = Block::gaussian(dim, 1, seed ^ 0x5eed);
    let zeros = || Block::<T>::zeros(dim, 1);
    let (mut y, mut once, mut sum) = (zeros(), zeros(), zeros());
    let mut norm = [T::zero()];
    let share = T::of_count(batch.len()).recip();
    let mut one = Batch { terms: vec![0], weights: vec![T::of_count(op.terms())] };
    let mut found = 0.0;
    for _ in 0..ROUNDS {
        ops::column_norms(v.as_ref(), &mut norm, &mut ws)?;
        if norm[0] == T::zero() {
            return Ok(0.0);
        }
        ops::scale(norm[0].recip(), v.as_mut());
        // sum = (1/m) Σ Ã(Ãv) − A(Av)
        op.apply(T::one(), v.as_ref(), T::zero(), once.as_mut(), &mut ws)?;
        op.apply(-T::one(), once.as_ref(), T::zero(), sum.as_mut(), &mut ws)?;
        for &term in &batch.terms {
            one.terms[0] = term;
            op.apply_terms(&one, T::one(), v.as_ref(), T::zero(), y.as_mut(), &mut ws)?;
            op.apply_terms(&one, share, y.as_ref(), T::one(), sum.as_mut(), &mut ws)?;
        }
        ops::column_norms(sum.as_ref(), &mut norm, &mut ws)?;
        found = norm[0].as_f64();
        std::mem::swap(&mut v, &mut sum);
    }
    Ok(found)
}
