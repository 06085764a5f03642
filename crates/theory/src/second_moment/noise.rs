//! Noise as a map $P\mapsto\mathbb E[NPN^T]$: all that the second moment needs to know of it.

use ndarray::{Array1, Array2, ArrayView2};

use crate::{check, error::Result};

/// The second-order description of a mean-zero random matrix $N$: the map $P\mapsto\mathbb E[NPN^T]$.
///
/// Laws: linear in $P$, and completely positive (in particular $\mathbb E[NPN^T]\succeq0$ for
/// $P\succeq0$). Implement [`apply`](Noise::apply) in $O(d^3)$ and every exact recursion of this module
/// costs $O(d^3)$ a step; nothing forms a Kronecker product.
///
/// # Example
/// ```
/// use favard_theory::second_moment::Noise;
/// use ndarray::{Array2, ArrayView2};
///
/// /// Independent entries of variance `v`: E[N P Nᵀ] = v · tr(P) · I.
/// struct White { dim: usize, v: f64 }
/// impl Noise for White {
///     fn dim(&self) -> usize { self.dim }
///     fn apply(&self, p: ArrayView2<f64>) -> Array2<f64> {
///         Array2::eye(self.dim) * (self.v * p.diag().sum())
///     }
/// }
/// assert_eq!(White { dim: 2, v: 0.5 }.apply(Array2::eye(2).view())[[0, 0]], 1.0);
/// ```
///
/// # Reference
/// De Sa et al., appendix C with $\Sigma=\mathbb E[N\otimes N]$ read as a map.
pub trait Noise {
    /// $d$, the dimension of the square matrix $N$.
    fn dim(&self) -> usize;

    /// $\mathbb E[NPN^T]$ for any square $P$, symmetric or not.
    fn apply(&self, p: ArrayView2<f64>) -> Array2<f64>;
}

impl<N: Noise + ?Sized> Noise for &N {
    fn dim(&self) -> usize {
        (**self).dim()
    }

    fn apply(&self, p: ArrayView2<f64>) -> Array2<f64> {
        (**self).apply(p)
    }
}

/// Noise given by a closure $P\mapsto\mathbb E[NPN^T]$.
///
/// # Example
/// ```
/// use favard_theory::second_moment::{Noise, NoiseFn};
/// use ndarray::Array2;
/// // N = g·I with a scalar g of variance 0.01.
/// let noise = NoiseFn::new(3, |p| &p * 0.01);
/// assert_eq!(noise.apply(Array2::eye(3).view())[[2, 2]], 0.01);
/// ```
///
/// # Reference
/// As [`Noise`].
#[derive(Debug, Clone, Copy)]
pub struct NoiseFn<F> {
    dim: usize,
    map: F,
}

impl<F: Fn(ArrayView2<f64>) -> Array2<f64>> NoiseFn<F> {
    /// Noise of dimension `dim` given by `map`.
    ///
    /// # Example
    /// ```
    /// use favard_theory::second_moment::{Noise, NoiseFn};
    /// assert_eq!(NoiseFn::new(3, |p| p.to_owned()).dim(), 3);
    /// ```
    pub fn new(dim: usize, map: F) -> Self {
        Self { dim, map }
    }
}

impl<F: Fn(ArrayView2<f64>) -> Array2<f64>> Noise for NoiseFn<F> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn apply(&self, p: ArrayView2<f64>) -> Array2<f64> {
        (self.map)(p)
    }
}

/// Noise with its second moment multiplied by a factor: $1/s$ for a batch of $s$, $\eta^2$ for a step.
///
/// With replacement $\Sigma_s=\Sigma_1/s$ exactly; without replacement the factor is
/// $\frac1s\cdot\frac{n-s}{n-1}$.
///
/// # Example
/// ```
/// use favard_theory::second_moment::{GaussianRows, Noise, Scaled};
/// use ndarray::array;
/// let rows = GaussianRows::new(array![[1.0]].view())?;
/// let batch = Scaled::new(&rows, 1.0 / 50.0)?;
/// assert!((batch.apply(array![[1.0]].view())[[0, 0]] - 0.04).abs() < 1e-16);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// Erratum 3.1.
#[derive(Debug, Clone, Copy)]
pub struct Scaled<N> {
    noise: N,
    factor: f64,
}

impl<N: Noise> Scaled<N> {
    /// `noise` with its second moment times `factor`.
    ///
    /// # Errors
    /// `OutOfRange` or `NonFinite` if `factor` is negative or not finite.
    ///
    /// # Example
    /// ```
    /// use favard_theory::second_moment::{NoiseFn, Scaled};
    /// assert!(Scaled::new(NoiseFn::new(1, |p| p.to_owned()), -1.0).is_err());
    /// ```
    pub fn new(noise: N, factor: f64) -> Result<Self> {
        check::non_negative("factor", factor)?;
        Ok(Self { noise, factor })
    }
}

impl<N: Noise> Noise for Scaled<N> {
    fn dim(&self) -> usize {
        self.noise.dim()
    }

    fn apply(&self, p: ArrayView2<f64>) -> Array2<f64> {
        self.noise.apply(p) * self.factor
    }
}

/// The noise of a variance-reduced step: $N(I-ww^T)$ with the anchor $w$.
///
/// # Example
/// ```
/// use favard_theory::second_moment::{Anchored, Noise, NoiseFn};
/// use ndarray::{Array2, array};
/// let noise = Anchored::new(NoiseFn::new(2, |p| p.to_owned()), array![1.0, 0.0])?;
/// assert_eq!(noise.apply(Array2::eye(2).view()), array![[0.0, 0.0], [0.0, 1.0]]);
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// De Sa et al., equations (vr2) and (AtSVRG); erratum 3.14.
#[derive(Debug, Clone)]
pub struct Anchored<N> {
    noise: N,
    anchor: Array1<f64>,
}

impl<N: Noise> Anchored<N> {
    /// `noise` behind the projector that removes `anchor`, which is normalised here.
    ///
    /// # Errors
    /// `Shape` if the anchor has another length; `OutOfRange` if it is zero; `NonFinite`.
    ///
    /// # Example
    /// ```
    /// use favard_theory::second_moment::{Anchored, NoiseFn};
    /// use ndarray::array;
    /// assert!(Anchored::new(NoiseFn::new(2, |p| p.to_owned()), array![0.0, 0.0]).is_err());
    /// ```
    pub fn new(noise: N, anchor: Array1<f64>) -> Result<Self> {
        check::size("anchor", anchor.len(), noise.dim())?;
        check::all_finite("anchor", &anchor)?;
        let norm = check::positive("norm of the anchor", anchor.dot(&anchor).sqrt())?;
        Ok(Self { noise, anchor: anchor / norm })
    }
}

impl<N: Noise> Noise for Anchored<N> {
    fn dim(&self) -> usize {
        self.noise.dim()
    }

    fn apply(&self, p: ArrayView2<f64>) -> Array2<f64> {
        self.noise.apply(project(&self.anchor, p).view())
    }
}

/// $(I-ww^T)P(I-ww^T)$ for a unit $w$, in $O(d^2)$.
pub(crate) fn project(w: &Array1<f64>, p: ArrayView2<f64>) -> Array2<f64> {
    let mut out = p.to_owned();
    let rows = w.dot(&out); // wᵀP
    for (i, &wi) in w.iter().enumerate() {
        out.row_mut(i).scaled_add(-wi, &rows);
    }
    let cols = out.dot(w);
    for (j, &wj) in w.iter().enumerate() {
        out.column_mut(j).scaled_add(-wj, &cols);
    }
    out
}

/// The noise $xx^T-H$ of one Gaussian row $x\sim\mathcal N(0,H)$.
///
/// $\mathbb E[NPN^T]=HP^TH+\mathrm{tr}(PH)H$, two products.
///
/// # Example
/// ```
/// use favard_theory::second_moment::{GaussianRows, Noise};
/// use ndarray::array;
/// let rows = GaussianRows::new(array![[1.0, 0.0], [0.0, 0.5]].view())?;
/// let out = rows.apply(array![[1.0, 0.0], [0.0, 0.0]].view());
/// assert_eq!((out[[0, 0]], out[[1, 1]]), (2.0, 0.5));
/// # Ok::<(), favard_theory::Error>(())
/// ```
///
/// # Reference
/// Isserlis (1918); κ_i = λ₁λ_i of the facts about the noise ball follows from it.
#[derive(Debug, Clone)]
pub struct GaussianRows {
    covariance: Array2<f64>,
}

impl GaussianRows {
    /// The noise of rows with covariance $H$.
    ///
    /// # Errors
    /// `Shape` or `NotSymmetric` unless $H$ is a symmetric matrix; `NonFinite`.
    ///
    /// # Example
    /// ```
    /// use favard_theory::second_moment::GaussianRows;
    /// assert!(GaussianRows::new(ndarray::array![[1.0, 2.0]].view()).is_err());
    /// ```
    pub fn new(covariance: ArrayView2<f64>) -> Result<Self> {
        check::symmetric("covariance", covariance)?;
        Ok(Self { covariance: covariance.to_owned() })
    }
}

impl Noise for GaussianRows {
    fn dim(&self) -> usize {
        self.covariance.nrows()
    }

    fn apply(&self, p: ArrayView2<f64>) -> Array2<f64> {
        let h = &self.covariance;
        let trace = (&p * h).sum(); // tr(PH), H symmetric
        h.dot(&p.t()).dot(h) + h * trace
    }
}
