//! What a sampled method has to know of its problem, and where its parameters come from.

use favard_operator::{Batch, Block, Sampler, Scalar, StochasticOperator, ops};
use favard_theory::planner::{Estimates, Pair, Plan, Recipe, Target, plan};
use favard_theory::{Growth, Spread, Start, ball_coefficient, epoch_factor_bound, tan2};

use super::sample::Sample;
use super::{DynamicMomentum, Eigensolver, Task};
use crate::error::{ErrorKind, Result};
use crate::noise::Noise;

/// Where a sampled method takes the parameters from that it was not given.
///
/// # Example
/// ```
/// use favard_models::solvers::{Eigensolver, MiniBatchMomentum, Rule};
/// use favard_operator::{Block, Dense, Gram};
/// let mut rows = Block::<f64>::gaussian(4000, 3, 5).view().to_owned();
/// rows.column_mut(0).mapv_inplace(|v| 1.5 * v);
/// let op = Gram::new(Dense::new(rows)?);
/// let passes = |rule| -> favard_models::Result<f64> {
///     let method = MiniBatchMomentum::default().rule(rule);
///     Ok(Eigensolver::new(method, 1).tolerance(0.2).solve(&op)?.info.passes)
/// };
/// assert!(passes(Rule::Practical)? < passes(Rule::Guaranteed { delta: 0.1 })?);
/// # Ok::<(), favard_models::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Rule {
    /// Formulas that are exact to leading order: the noise ball and the epoch factor.
    #[default]
    Practical,
    /// The paper's theorems, corrected: they hold with probability 1 − δ for a start with
    /// $\cos^2\theta \ge 1/4$ (1/2 for the variance-reduced ones), which the caller vouches for,
    /// and ask for batches that are 10⁴ to 10⁵ times larger.
    Guaranteed {
        /// δ.
        delta: f64,
    },
}

impl Rule {
    fn recipe(self, pair: Pair) -> Result<Recipe> {
        match self {
            Self::Practical => Ok(pair.practical),
            Self::Guaranteed { .. } => Ok(pair.guaranteed?),
        }
    }
}

/// What was found out about the problem from a sample of its terms.
pub(super) struct Tuned<T> {
    pub estimates: Estimates,
    /// Ritz vectors of the sample: where the run starts unless the caller knows better. A run that
    /// is taken up has started.
    pub vectors: Option<Block<T>>,
}

/// Products with the sample at most, for its spectrum.
const PRODUCTS: f64 = 60.0;

/// Single terms looked at for the noise, at most.
const TERMS: usize = 200;

/// Relative residuals to which the eigenvectors of the sample are found.
pub const SAMPLE_TOLERANCE: f64 = 1e-4;

/// Terms of the sample that a method with parameters to choose looks at, and from whose eigenvectors it
/// starts: max(1000, 4n) of N, or all when that is more than half of them.
///
/// # Example
/// ```
/// use favard_models::solvers::sample_terms;
/// assert_eq!(sample_terms(10, 50_000), 1000);
/// assert_eq!(sample_terms(1000, 50_000), 4000);
/// assert_eq!(sample_terms(1000, 5000), 5000);
/// ```
#[must_use]
pub fn sample_terms(dim: usize, terms: usize) -> usize {
    let size = dim.saturating_mul(4).max(1000);
    if size > terms / 2 { terms } else { size }
}

/// Measures $\lambda_k$, $\lambda_{k+1}$ and the noise on max(1000, 4n) of the terms.
///
/// The cost, in passes over all of the data, is charged to the task. For k > 1 the noise towards
/// all k vectors is added up, which bounds the noise ball of the subspace from above.
///
/// # Errors
/// [`ErrorKind::NoGap`] when $\lambda_k$ is no larger than $\lambda_{k+1}$, or than rounding.
pub(super) fn tune<T, A>(task: &mut Task<'_, T, A>) -> Result<Tuned<T>>
where
    T: Scalar,
    A: StochasticOperator<T> + ?Sized,
{
    let (dim, terms) = (task.op.shape().0, task.op.terms());
    let (components, seed) = (task.options.components, task.options.seed);
    if terms == 0 {
        let need = "must be at least 1";
        return Err(ErrorKind::Parameter { name: "terms", value: 0.0, need }.into());
    }
    if let Some(numbers) = task.carried.tuned {
        return Ok(Tuned { estimates: estimates(numbers, dim, terms), vectors: None });
    }
    let sample = Sample::new(task.op, sample_terms(dim, terms), seed)?;
    let share = sample.terms() as f64 / terms as f64;
    let count = (components + 1).min(dim);
    let top = Eigensolver::new(DynamicMomentum, count)
        .tolerance(SAMPLE_TOLERANCE)
        .passes(PRODUCTS)
        .seed(seed)
        .solve(&sample)?;
    let value = |j: usize| top.values.get(j).map_or(0.0, |value| value.as_f64());

    let mut batch = Batch::default();
    Sampler::uniform(sample.terms(), TERMS, seed)?.draw(0, &mut batch);
    let mut noise = Noise::new(&sample, &batch, seed);
    let mut kappa = 0.0;
    for j in 0..components.min(top.vectors.cols()) {
        let mut column = Block::zeros(dim, 1);
        ops::copy(top.vectors.as_ref().cols_range(j..j + 1), column.as_mut())?;
        kappa += noise.spread(&column)?;
    }
    let (s_op, _) = noise.second_moment()?;
    let products = top.info.applications + noise.products;
    let passes = share * (top.info.passes + noise.products as f64);
    task.spend(products, passes + noise.sampled as f64 / terms as f64);
    let numbers = [value(components - 1), value(components).max(0.0), s_op, kappa];
    let [last, next, ..] = numbers;
    if last <= next.max(top.rounding()) {
        return Err(ErrorKind::NoGap { components, last, next }.into());
    }
    task.carried.tuned = Some(numbers);
    let estimates = estimates(numbers, dim, terms);
    Ok(Tuned { estimates, vectors: Some(top.vectors) })
}

/// The estimates from what was measured.
fn estimates([lambda1, lambda2, s_op, kappa]: [f64; 4], dim: usize, terms: usize) -> Estimates {
    let cos2 = 1.0 / dim as f64;
    let (lower, sigma_norm, terms) = (None, s_op, Some(terms));
    Estimates { lambda1, lambda2, lower, dim, sigma_norm, s_op, kappa, terms, cos2 }
}

/// $\sin^2\theta$ at which the residuals of an operator without negative eigenvalues are within a
/// tolerance: $\lVert A v - \theta v \rVert \le \lambda_1 \sin\theta$.
pub(super) fn epsilon(tolerance: f64) -> f64 {
    let least = f64::MIN_POSITIVE.sqrt();
    (tolerance * tolerance).clamp(least, 0.5)
}

/// Plans for the tolerance of the task.
fn planned(estimates: &Estimates, tolerance: f64, rule: Rule, cos2: f64) -> Result<Plan> {
    let (delta, cos2) = match rule {
        Rule::Practical => (0.1, estimates.cos2),
        Rule::Guaranteed { delta } => (delta, cos2),
    };
    Ok(plan(&Estimates { cos2, ..*estimates }, &Target::new(epsilon(tolerance), delta))?)
}

/// The largest batch that is planned; larger ones are all of the data anyway.
const LARGEST: f64 = (1_u64 << 40) as f64;

/// The recipe of a mini-batch run.
pub(super) fn mini_batch(estimates: &Estimates, tolerance: f64, rule: Rule) -> Result<Recipe> {
    let growth = Growth::optimal(estimates.lambda1, estimates.lambda2)?;
    // s = 2C/ε
    let constant = estimates.kappa * ball_coefficient(&growth, estimates.lambda2)?;
    let reachable = (2.0 * constant / LARGEST).sqrt();
    let plan = planned(estimates, tolerance.max(reachable), rule, 0.25)?;
    let mut recipe = rule.recipe(plan.mini_batch)?;
    if rule == Rule::Practical {
        let ticks = growth.iterations(Start::U, tan2(estimates.cos2)?, epsilon(tolerance) / 2.0)?;
        recipe.iterations.value = ticks as f64;
    }
    Ok(recipe)
}

/// The recipe of a variance-reduced run.
pub(super) fn variance_reduced(
    estimates: &Estimates,
    tolerance: f64,
    rule: Rule,
) -> Result<Recipe> {
    // The noise ball that κ is for does not exist here, and must not bound what can be planned.
    let plan = planned(&Estimates { kappa: 0.0, ..*estimates }, tolerance, rule, 0.5)?;
    match plan.variance_reduced {
        Some(pair) => rule.recipe(pair),
        // The number of terms was given to the planner.
        None => rule.recipe(plan.mini_batch),
    }
}

/// The longest epoch for which lengths and batches are tried out.
const LONGEST: u64 = 1 << 12;

/// The batch and epoch of a variance-reduced run that need the fewest passes,
///
/// $$ \min_{s, T} \frac{1 + Ts/N}{-\ln \text{factor}(s, T)}, $$
///
/// with the factor of one epoch by [`epoch_factor_bound`], over s and T in steps of about √2 up to
/// the N terms and twice the `planned` length. What is given stays. The planned numbers when no
/// combination contracts.
pub(super) fn fewest_passes(
    known: &Estimates,
    given: (Option<u64>, Option<u64>),
    planned: (u64, u64),
) -> Result<(u64, u64)> {
    let growth = Growth::optimal(known.lambda1, known.lambda2)?;
    let terms = known.terms.unwrap_or(1) as u64;
    let fallback = (given.0.unwrap_or(planned.0), given.1.unwrap_or(planned.1));
    if fallback.1 > LONGEST {
        return Ok(fallback);
    }
    let steps = |given: Option<u64>, largest: u64| -> Vec<u64> {
        let mut steps = given.map_or(vec![1, 2], |value| vec![value]);
        while let [.., value] = steps[..]
            && given.is_none()
            && value < largest
        {
            steps.push((value + (value / 2).max(1)).min(largest));
        }
        steps
    };
    let mut best = (f64::INFINITY, fallback);
    for &ticks in &steps(given.1, 2 * planned.1) {
        for &batch in &steps(given.0, terms) {
            let noise = known.s_op / batch.max(1) as f64;
            let length = usize::try_from(ticks).unwrap_or(usize::MAX);
            let Ok(factor) = epoch_factor_bound(&growth, noise, length, Spread::Flat) else {
                continue;
            };
            let passes = (1.0 + ticks as f64 * batch as f64 / terms as f64) / -factor.ln();
            if factor < 1.0 && passes < best.0 {
                best = (passes, (batch, ticks));
            }
        }
    }
    Ok(best.1)
}

/// A planned number as a count.
// Planned counts are whole numbers; a float cast saturates.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn count(value: f64) -> u64 {
    value.ceil().max(1.0) as u64
}

/// $\lambda_k - \lambda_{k+1}$, if there is a gap.
pub(super) fn gap(estimates: &Estimates) -> Result<f64> {
    Growth::optimal(estimates.lambda1, estimates.lambda2)?;
    Ok(estimates.lambda1 - estimates.lambda2)
}

/// A sampler of batches: independent terms, or all of them when the batch is as large as that.
pub(super) fn sampler<T: Scalar>(terms: usize, batch: u64, seed: u64) -> Result<Sampler<T>> {
    let size = usize::try_from(batch).unwrap_or(usize::MAX);
    if size >= terms {
        return Ok(Sampler::distinct(terms, terms, seed)?);
    }
    Ok(Sampler::uniform(terms, size, seed)?)
}
