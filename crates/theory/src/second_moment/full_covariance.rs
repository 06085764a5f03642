//! The exact covariance of the matrix $F_t$ itself, for small dimensions.

use ndarray::{Array2, ArrayView2};

use super::{noise::Noise, propagation::Propagation};
use crate::{check, dense, error::Result, momentum::Start};

/// The exact covariance $\mathbb E[F_t\otimes F_t]-\mathbb EF_t\otimes\mathbb EF_t$, one step at a time.
///
/// Propagates the $d^2$ elementary starts $X=e_ke_l^T$: $O(d^5)$ a step for the Kronecker-sized object
/// itself. For the small $d$ at which its norm is a question one asks.
///
/// # Example
/// ```
/// use favard_theory::second_moment::{Finite, FullCovariance};
/// use ndarray::array;
/// # fn main() -> favard_theory::Result<()> {
/// let coin = Finite::new(vec![array![[0.8]], array![[1.2]]], vec![0.5, 0.5])?;
/// let mut run = FullCovariance::new(&coin, coin.mean().view(), 0.2025)?;
/// run.advance()?;
/// assert!((run.norm()? - 0.04).abs() < 1e-16);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., Lemma covbound (its left side).
#[derive(Debug, Clone)]
pub struct FullCovariance<N> {
    starts: Vec<Propagation<N>>,
    dim: usize,
}

impl<N: Noise + Clone> FullCovariance<N> {
    /// The covariance of $F_t$ from $F_0=I$, $F_{-1}=0$ (the U start, as in the lemma).
    ///
    /// # Errors
    /// As [`Propagation::new`]; `Count` if the dimension exceeds 32.
    ///
    /// # Example
    /// ```
    /// use favard_theory::second_moment::{FullCovariance, NoiseFn};
    /// let none = NoiseFn::new(2, |p| &p * 0.0);
    /// assert!(FullCovariance::new(none, ndarray::array![[1.0]].view(), 0.1).is_err());
    /// ```
    pub fn new(noise: N, mean: ArrayView2<f64>, beta: f64) -> Result<Self> {
        let dim = check::count("dim", check::square("mean", mean)?, 1, 32)?;
        let unit = |k: usize| Array2::from_shape_fn((dim, 1), |(i, _)| f64::from(u8::from(i == k)));
        let mut starts = Vec::with_capacity(dim * dim);
        for k in 0..dim {
            for l in 0..dim {
                let factors = [unit(k), unit(l)];
                starts.push(Propagation::from_factors(
                    noise.clone(),
                    mean,
                    beta,
                    Start::U,
                    factors,
                )?);
            }
        }
        Ok(Self { starts, dim })
    }

    /// One step.
    ///
    /// # Errors
    /// As [`Propagation::advance`].
    ///
    /// # Example
    /// ```
    /// use favard_theory::second_moment::{FullCovariance, NoiseFn};
    /// let mut run =
    ///     FullCovariance::new(NoiseFn::new(1, |p| &p * 0.2), ndarray::array![[1.0]].view(), 0.1)?;
    /// run.advance()?;
    /// assert!((run.norm()? - 0.2).abs() < 1e-16);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    pub fn advance(&mut self) -> Result<()> {
        self.starts.iter_mut().try_for_each(Propagation::advance)
    }

    /// The $d^2\times d^2$ matrix, entry $((i,j),(k,l))$ being $\mathrm{Cov}(F_{ik},F_{jl})$.
    ///
    /// # Example
    /// ```
    /// use favard_theory::second_moment::{FullCovariance, NoiseFn};
    /// let run =
    ///     FullCovariance::new(NoiseFn::new(1, |p| &p * 0.2), ndarray::array![[1.0]].view(), 0.1)?;
    /// assert_eq!(run.matrix()[[0, 0]], 0.0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn matrix(&self) -> Array2<f64> {
        let d = self.dim;
        Array2::from_shape_fn((d * d, d * d), |(row, col)| {
            self.starts[col].covariance()[[row / d, row % d]]
        })
    }

    /// Its spectral norm, one singular value problem of size $d^2$.
    ///
    /// # Errors
    /// `Decomposition` if the singular values do not converge.
    ///
    /// # Example
    /// ```
    /// use favard_theory::second_moment::{FullCovariance, NoiseFn};
    /// let run =
    ///     FullCovariance::new(NoiseFn::new(1, |p| &p * 0.2), ndarray::array![[1.0]].view(), 0.1)?;
    /// assert_eq!(run.norm()?, 0.0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Lemma covbound.
    pub fn norm(&self) -> Result<f64> {
        dense::norm("covariance", self.matrix().view())
    }
}
