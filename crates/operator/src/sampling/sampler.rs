//! [`Sampler`]: which terms a tick uses.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::Distribution;
use rand_distr::weighted::WeightedAliasIndex;

use super::distinct::{self, below};
use crate::error::ErrorKind;
use crate::{Batch, Result, Scalar, StochasticOperator};

/// Draws batches of terms whose expectation is the whole operator:
///
/// $$ \mathbb{E} \sum_{j=1}^{s} w_j A_{t_j} = \sum_{i=1}^{N} A_i = A. $$
///
/// A batch is a pure function of the seed and the tick (the tick is the stream of a `ChaCha8`
/// generator), so that a run can be repeated, resumed, or looked at from any tick. Terms come
/// sorted, for the sake of the caches.
///
/// | constructor | terms of a batch | weights |
/// |---|---|---|
/// | [`uniform`](Self::uniform) | s independent ones | $N/s$ |
/// | [`distinct`](Self::distinct) | a uniform subset of s | $N/s$ |
/// | [`weighted`](Self::weighted), [`by_norm`](Self::by_norm) | s independent ones, i with probability $p_i$ | $1/(s p_i)$ |
/// | [`window`](Self::window) | s consecutive ones from a uniform start, wrapping around | $N/s$ |
///
/// Distinct terms have the smaller variance, by the factor $(N-s)/(N-1)$. Weights proportional to
/// the norms of the terms minimise the variance among all $p$. Windows read memory and files in
/// order, at the price of a variance that depends on how neighbours resemble each other.
///
/// # Cost
/// $O(s \log s)$ a draw, without allocation once the batch has grown to its size.
///
/// # Example
/// ```
/// use favard_operator::{Batch, Sampler};
/// let sampler = Sampler::<f64>::distinct(1000, 10, 42)?;
/// let (mut batch, mut again) = (Batch::default(), Batch::default());
/// sampler.draw(7, &mut batch);
/// sampler.draw(7, &mut again);
/// assert_eq!(batch, again);
/// assert_eq!(batch.len(), 10);
/// assert_eq!(batch.weights[0], 100.0);
/// # Ok::<(), favard_operator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sampler<T> {
    terms: usize,
    size: usize,
    seed: u64,
    rule: Rule<T>,
}

#[derive(Debug, Clone)]
enum Rule<T> {
    Uniform,
    Distinct,
    Window,
    /// The table to draw from, and wᵢ = 1/(s pᵢ).
    Weighted(WeightedAliasIndex<f64>, Vec<T>),
}

fn parameter(name: &'static str, value: usize, need: &'static str) -> Result<()> {
    Err(ErrorKind::Parameter { name, value: value as f64, need }.into())
}

impl<T: Scalar> Sampler<T> {
    fn checked(terms: usize, size: usize, seed: u64, rule: Rule<T>) -> Result<Self> {
        if terms == 0 {
            parameter("terms", terms, "must be at least 1")?;
        }
        if size == 0 {
            parameter("batch size", size, "must be at least 1")?;
        }
        let repeats = matches!(rule, Rule::Uniform | Rule::Weighted(..));
        if !repeats && size > terms {
            parameter("batch size", size, "must not exceed the number of terms")?;
        }
        Ok(Self { terms, size, seed, rule })
    }

    /// `size` independent uniform terms out of `terms`, repeats allowed.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] when either is 0.
    pub fn uniform(terms: usize, size: usize, seed: u64) -> Result<Self> {
        Self::checked(terms, size, seed, Rule::Uniform)
    }

    /// `size` different terms out of `terms`, all subsets equally likely.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] when either is 0 or `size` exceeds `terms`.
    pub fn distinct(terms: usize, size: usize, seed: u64) -> Result<Self> {
        Self::checked(terms, size, seed, Rule::Distinct)
    }

    /// `size` consecutive terms out of `terms` from a uniform start; a window that runs over the
    /// end goes on at the beginning.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] when either is 0 or `size` exceeds `terms`.
    pub fn window(terms: usize, size: usize, seed: u64) -> Result<Self> {
        Self::checked(terms, size, seed, Rule::Window)
    }

    /// `size` independent terms, term i with probability $p_i = v_i / \sum_j v_j$.
    ///
    /// # Errors
    /// [`ErrorKind::Weight`] with the first $v_i$ that is not positive and finite (a term that is
    /// never drawn would bias the batch), or that is too small for the weight $1/(s p_i)$ to be
    /// finite. [`ErrorKind::Parameter`] when there is no term, more than $2^{32} - 1$, or `size`
    /// is 0.
    pub fn weighted(values: &[T], size: usize, seed: u64) -> Result<Self> {
        if let Some(index) = values.iter().position(|v| !(v.is_finite() && *v > T::zero())) {
            let (value, need) = (values[index].as_f64(), "must be positive and finite");
            return Err(ErrorKind::Weight { index, value, need }.into());
        }
        Self::by_values(values.iter().map(|v| v.as_f64()).collect(), size, seed)
    }

    /// `size` independent terms of `op`, with probabilities proportional to
    /// [`term_norm`](StochasticOperator::term_norm). Terms of norm zero are never drawn.
    ///
    /// # Errors
    /// [`ErrorKind::Weight`] with the first norm that is negative or not finite, or when all are
    /// zero; else those of [`Sampler::weighted`].
    pub fn by_norm<A>(op: &A, size: usize, seed: u64) -> Result<Self>
    where
        A: StochasticOperator<T> + ?Sized,
    {
        let norms: Vec<f64> = (0..op.terms()).map(|term| op.term_norm(term).as_f64()).collect();
        if let Some(index) = norms.iter().position(|v| !(v.is_finite() && *v >= 0.0)) {
            let (value, need) = (norms[index], "as a norm must be finite and not negative");
            return Err(ErrorKind::Weight { index, value, need }.into());
        }
        if !norms.is_empty() && norms.iter().all(|v| *v == 0.0) {
            let need = "and all other norms are zero, one must be positive";
            return Err(ErrorKind::Weight { index: 0, value: 0.0, need }.into());
        }
        Self::by_values(norms, size, seed)
    }

    fn by_values(mut values: Vec<f64>, size: usize, seed: u64) -> Result<Self> {
        let terms = values.len();
        if u32::try_from(terms).is_err() {
            parameter("terms", terms, "must be below 2^32 for weighted sampling")?;
        }
        // Checks the counts.
        Self::checked(terms, size, seed, Rule::Uniform)?;
        // Relative to the largest, so that no sum overflows.
        let largest = values.iter().copied().fold(0.0, f64::max);
        for value in &mut values {
            *value /= largest;
        }
        let total: f64 = values.iter().sum();
        // wᵢ = 1 / (s pᵢ); a term of norm zero is the zero operator and has no weight.
        let weight = |v: &f64| {
            if *v == 0.0 { 0.0 } else { total / (size as f64 * v) }
        };
        let weights: Vec<T> = values.iter().map(|v| T::of(weight(v))).collect();
        if let Some(index) = weights.iter().position(|w| !w.is_finite()) {
            let need = "of the largest is too small a share to draw with";
            return Err(ErrorKind::Weight { index, value: values[index], need }.into());
        }
        let table = WeightedAliasIndex::new(values).map_err(crate::Error::external)?;
        Self::checked(terms, size, seed, Rule::Weighted(table, weights))
    }

    /// Replaces the contents of `batch` by the batch of a tick.
    pub fn draw(&self, tick: u64, batch: &mut Batch<T>) {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(tick);
        let Self { terms: bound, size, .. } = *self;
        let Batch { terms, weights } = batch;
        terms.clear();
        weights.clear();
        match &self.rule {
            Rule::Uniform => terms.extend((0..size).map(|_| below(&mut rng, bound))),
            Rule::Distinct => distinct::fill(&mut rng, bound, size, terms),
            Rule::Weighted(table, _) => terms.extend((0..size).map(|_| table.sample(&mut rng))),
            Rule::Window => {
                let start = below(&mut rng, bound);
                let wrapped = (start + size).saturating_sub(bound);
                terms.extend((0..wrapped).chain(start..start + size - wrapped));
            }
        }
        terms.sort_unstable();
        match &self.rule {
            Rule::Weighted(_, all) => weights.extend(terms.iter().map(|&term| all[term])),
            _ => weights.resize(size, T::of(bound as f64 / size as f64)),
        }
    }

    /// The number N of terms to choose from.
    #[must_use]
    pub fn terms(&self) -> usize {
        self.terms
    }

    /// The number s of terms in a batch, repeats counted.
    #[must_use]
    pub fn batch_size(&self) -> usize {
        self.size
    }

    /// The seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }
}
