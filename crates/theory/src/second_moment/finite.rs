//! A finite distribution of matrices.

use ndarray::{Array2, ArrayView2};

use super::noise::Noise;
use crate::{check, dense, error::Result};

/// A random matrix that takes finitely many values.
///
/// Everything exact follows from it: the mean, $\Sigma=\mathbb E[N\otimes N]$, $\mathbb EN^TN$,
/// $\sigma^2=\mathbb E\|N\|^2$, and the map $P\mapsto\mathbb E[NPN^T]$ (it implements [`Noise`]).
///
/// # Example
/// ```
/// use favard_theory::second_moment::Finite;
/// use ndarray::array;
/// # fn main() -> favard_theory::Result<()> {
/// let coin = Finite::new(vec![array![[0.8]], array![[1.2]]], vec![0.5, 0.5])?;
/// assert!((coin.mean()[[0, 0]] - 1.0).abs() < 1e-15);
/// assert!((coin.sigma_norm()? - 0.04).abs() < 1e-15);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., Theorem nonsvrg (definition of $\Sigma$).
#[derive(Debug, Clone)]
pub struct Finite {
    mean: Array2<f64>,
    deviations: Vec<Array2<f64>>,
    probabilities: Vec<f64>,
}

impl Finite {
    /// The distribution of `points` with `probabilities` (normalised to sum to one).
    ///
    /// # Errors
    /// `Count` if there are no points; `Shape` if the lists or matrices differ in size; `OutOfRange`
    /// for a negative probability or a zero total; `NonFinite`.
    ///
    /// # Example
    /// ```
    /// use favard_theory::second_moment::Finite;
    /// assert!(Finite::new(vec![], vec![]).is_err());
    /// ```
    pub fn new(points: Vec<Array2<f64>>, mut probabilities: Vec<f64>) -> Result<Self> {
        check::count("points", points.len(), 1, check::MAX_COUNT)?;
        check::size("probabilities", probabilities.len(), points.len())?;
        let dim = check::square("point", points[0].view())?;
        for point in &points {
            check::size("point", check::square("point", point.view())?, dim)?;
        }
        for &probability in &probabilities {
            check::non_negative("probability", probability)?;
        }
        let total = check::positive("total probability", probabilities.iter().sum())?;
        for probability in &mut probabilities {
            *probability /= total;
        }
        let mut mean = Array2::zeros((dim, dim));
        for (point, &p) in points.iter().zip(&probabilities) {
            mean.scaled_add(p, point);
        }
        let deviations = points.into_iter().map(|point| point - &mean).collect();
        Ok(Self { mean, deviations, probabilities })
    }

    /// $A=\mathbb E\tilde A$.
    ///
    /// # Example
    /// ```
    /// use favard_theory::second_moment::Finite;
    /// let sure = Finite::new(vec![ndarray::array![[2.0]]], vec![1.0])?;
    /// assert_eq!(sure.mean()[[0, 0]], 2.0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn mean(&self) -> &Array2<f64> {
        &self.mean
    }

    /// $\|\Sigma\|=\|\mathbb E[N\otimes N]\|$, one singular value problem of size $d^2$.
    ///
    /// # Errors
    /// `Decomposition` if the singular values do not converge.
    ///
    /// # Example
    /// ```
    /// use favard_theory::second_moment::Finite;
    /// let sure = Finite::new(vec![ndarray::array![[2.0]]], vec![1.0])?;
    /// assert_eq!(sure.sigma_norm()?, 0.0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., Lemma covbound.
    pub fn sigma_norm(&self) -> Result<f64> {
        let d = self.dim();
        let mut sigma = Array2::zeros((d * d, d * d));
        for (n, &p) in self.deviations.iter().zip(&self.probabilities) {
            for ((i, k), &left) in n.indexed_iter() {
                for ((j, l), &right) in n.indexed_iter() {
                    sigma[[i * d + j, k * d + l]] += p * left * right;
                }
            }
        }
        dense::norm("Sigma", sigma.view())
    }

    /// $\mathbb E[N^TN]$, whose norm $s_{op}$ replaces $\sqrt d\|\Sigma\|$.
    ///
    /// # Example
    /// ```
    /// use favard_theory::second_moment::Finite;
    /// let coin = Finite::new(vec![ndarray::array![[0.0]], ndarray::array![[2.0]]], vec![1.0, 1.0])?;
    /// assert_eq!(coin.gram()[[0, 0]], 1.0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 3.7.
    #[must_use]
    pub fn gram(&self) -> Array2<f64> {
        let mut gram = Array2::zeros(self.mean.raw_dim());
        for (n, &p) in self.deviations.iter().zip(&self.probabilities) {
            gram.scaled_add(p, &n.t().dot(n));
        }
        gram
    }

    /// $s_{op}=\|\mathbb EN^TN\|$.
    ///
    /// # Errors
    /// `Decomposition` if the singular values do not converge.
    ///
    /// # Example
    /// ```
    /// use favard_theory::second_moment::Finite;
    /// let coin = Finite::new(vec![ndarray::array![[0.0]], ndarray::array![[2.0]]], vec![1.0, 1.0])?;
    /// assert_eq!(coin.s_op()?, 1.0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 3.7.
    pub fn s_op(&self) -> Result<f64> {
        dense::norm("E[NᵀN]", self.gram().view())
    }

    /// $\|\mathbb EN^TN\|_F$, of the hybrid total-variance bound.
    ///
    /// # Example
    /// ```
    /// use favard_theory::second_moment::Finite;
    /// let coin = Finite::new(vec![ndarray::array![[0.0]], ndarray::array![[2.0]]], vec![1.0, 1.0])?;
    /// assert_eq!(coin.frobenius(), 1.0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Erratum 3.7.
    #[must_use]
    pub fn frobenius(&self) -> f64 {
        self.gram().iter().map(|v| v * v).sum::<f64>().sqrt()
    }

    /// $\sigma^2=\mathbb E\|N\|^2$ with the spectral norm.
    ///
    /// # Errors
    /// `Decomposition` if singular values do not converge.
    ///
    /// # Example
    /// ```
    /// use favard_theory::second_moment::Finite;
    /// let coin = Finite::new(vec![ndarray::array![[0.0]], ndarray::array![[2.0]]], vec![1.0, 1.0])?;
    /// assert_eq!(coin.sigma2()?, 1.0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., definition (def); erratum 3.1 (it does not scale like $1/s$).
    pub fn sigma2(&self) -> Result<f64> {
        let mut sum = 0.0;
        for (n, &p) in self.deviations.iter().zip(&self.probabilities) {
            let norm = dense::norm("deviation", n.view())?;
            sum += p * norm * norm;
        }
        Ok(sum)
    }

    /// The deviations $N$ and their probabilities.
    ///
    /// # Example
    /// ```
    /// use favard_theory::second_moment::Finite;
    /// let coin = Finite::new(vec![ndarray::array![[0.0]], ndarray::array![[2.0]]], vec![1.0, 1.0])?;
    /// assert_eq!(coin.deviations().map(|(n, p)| n[[0, 0]] * p).sum::<f64>(), 0.0);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    pub fn deviations(&self) -> impl Iterator<Item = (&Array2<f64>, f64)> {
        self.deviations.iter().zip(self.probabilities.iter().copied())
    }
}

impl Noise for Finite {
    fn dim(&self) -> usize {
        self.mean.nrows()
    }

    fn apply(&self, p: ArrayView2<f64>) -> Array2<f64> {
        let mut out = Array2::zeros(self.mean.raw_dim());
        for (n, &probability) in self.deviations.iter().zip(&self.probabilities) {
            out.scaled_add(probability, &n.dot(&p).dot(&n.t()));
        }
        out
    }
}
