//! The orthonormal polynomials of a probability measure, by their Jacobi coefficients.

use ndarray::Array2;

use crate::{
    check, dense,
    error::{ErrorKind, Result},
    recurrence::{Recurrence, Triple},
};

/// The orthonormal polynomials $q_0, \dots, q_n$ of a probability measure.
///
/// Kept as Jacobi coefficients: $\sqrt{\beta_{k+1}}\,q_{k+1} = (x-\alpha_k)\,q_k -
/// \sqrt{\beta_k}\,q_{k-1}$ with $q_0 = 1$. Degree $n$ needs $\alpha_0,\dots,\alpha_{n-1}$ and
/// $\beta_1,\dots,\beta_n$. How to get them from moments or samples: see the constructors of
/// [`crate::measure`].
///
/// # Example
/// ```
/// use favard_theory::Family;
/// # fn main() -> favard_theory::Result<()> {
/// let legendre = Family::legendre(3)?; // uniform measure on [−1, 1]
/// let mean_square = legendre.expectation(|x| x * x)?;
/// assert!((mean_square - 1.0 / 3.0).abs() < 1e-15);
/// # Ok(()) }
/// ```
///
/// # Reference
/// De Sa et al., section "inhomogeneous"; Gautschi (2004), chapter 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    alpha: Vec<f64>,
    beta: Vec<f64>,
}

impl Family {
    /// A family from $\alpha_0,\dots,\alpha_{n-1}$ and $\beta_1,\dots,\beta_n$.
    ///
    /// # Errors
    /// `Shape` if the lists differ in length; `NonFinite` for a coefficient; `Degenerate` if some
    /// $\beta_k \le 0$ (by Favard's theorem there is then no such measure).
    ///
    /// # Example
    /// ```
    /// let family = favard_theory::Family::new(vec![0.0; 3], vec![0.25; 3])?; // Chebyshev, 2nd kind
    /// assert_eq!(family.degree(), 3);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    pub fn new(alpha: Vec<f64>, beta: Vec<f64>) -> Result<Self> {
        check::size("beta", beta.len(), alpha.len())?;
        check::all_finite("alpha", &alpha)?;
        check::all_finite("beta", &beta)?;
        if let Some(k) = beta.iter().position(|&b| b <= 0.0) {
            return Err(ErrorKind::Degenerate { degree: k + 1, norm: beta[k] }.into());
        }
        Ok(Self { alpha, beta })
    }

    /// Legendre: the uniform measure on $[-1, 1]$, $\beta_k = k^2/(4k^2-1)$.
    ///
    /// # Errors
    /// `Count` if `degree` exceeds $2^{52}$.
    ///
    /// # Example
    /// ```
    /// let family = favard_theory::Family::legendre(2)?;
    /// assert!((family.beta()[0] - 1.0 / 3.0).abs() < 1e-16);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// De Sa et al., example of section "inhomogeneous".
    pub fn legendre(degree: usize) -> Result<Self> {
        check::count("degree", degree, 0, check::MAX_COUNT)?;
        let beta = (1..=degree).map(|k| (k * k) as f64 / (4 * k * k - 1) as f64).collect();
        Self::new(vec![0.0; degree], beta)
    }

    /// Chebyshev of the first kind: the arcsine measure on $[-1, 1]$, $q_k = \sqrt2\,T_k$.
    ///
    /// # Errors
    /// As [`Family::legendre`].
    ///
    /// # Example
    /// ```
    /// let family = favard_theory::Family::chebyshev_t(3)?;
    /// let q = family.recurrence().values(0.5)?;
    /// assert!((q[3] + 2.0_f64.sqrt()).abs() < 1e-15); // T₃(½) = −1
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    pub fn chebyshev_t(degree: usize) -> Result<Self> {
        check::count("degree", degree, 0, check::MAX_COUNT)?;
        let beta = (1..=degree).map(|k| if k == 1 { 0.5 } else { 0.25 }).collect();
        Self::new(vec![0.0; degree], beta)
    }

    /// Chebyshev of the second kind: the semicircle measure on $[-1, 1]$, $q_k = U_k$.
    ///
    /// # Errors
    /// As [`Family::legendre`].
    ///
    /// # Example
    /// ```
    /// let q = favard_theory::Family::chebyshev_u(4)?.recurrence().values(1.0)?;
    /// assert_eq!(q, [1.0, 2.0, 3.0, 4.0, 5.0]);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    pub fn chebyshev_u(degree: usize) -> Result<Self> {
        check::count("degree", degree, 0, check::MAX_COUNT)?;
        Self::new(vec![0.0; degree], vec![0.25; degree])
    }

    /// The same measure carried from $[-1, 1]$ to $[\text{lower}, \text{upper}]$.
    ///
    /// # Errors
    /// `OutOfRange` if `upper` does not exceed `lower`; `NonFinite`.
    ///
    /// # Example
    /// ```
    /// let shifted = favard_theory::Family::legendre(2)?.on_interval(0.0, 1.0)?;
    /// assert_eq!(shifted.alpha()[0], 0.5);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    pub fn on_interval(&self, lower: f64, upper: f64) -> Result<Self> {
        check::finite("lower", lower)?;
        check::finite("upper", upper)?;
        let half = 0.5 * upper - 0.5 * lower;
        check::positive("upper - lower", half)?;
        let middle = f64::midpoint(lower, upper);
        Self::new(
            self.alpha.iter().map(|a| middle + half * a).collect(),
            self.beta.iter().map(|b| half * half * b).collect(),
        )
    }

    /// The highest degree the coefficients reach.
    ///
    /// # Example
    /// ```
    /// assert_eq!(favard_theory::Family::legendre(7)?.degree(), 7);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn degree(&self) -> usize {
        self.alpha.len()
    }

    /// $\alpha_0, \dots, \alpha_{n-1}$.
    ///
    /// # Example
    /// ```
    /// assert_eq!(favard_theory::Family::legendre(2)?.alpha(), [0.0, 0.0]);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    /// $\beta_1, \dots, \beta_n$.
    ///
    /// # Example
    /// ```
    /// assert_eq!(favard_theory::Family::chebyshev_u(2)?.beta(), [0.25, 0.25]);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn beta(&self) -> &[f64] {
        &self.beta
    }

    /// The orthonormal recurrence: $a_k = 1/\sqrt{\beta_{k+1}}$, $b_k = -\alpha_k a_k$, $c_k =
    /// a_k\sqrt{\beta_k}$.
    ///
    /// # Example
    /// ```
    /// let triples = favard_theory::Family::chebyshev_u(2)?.recurrence().triples().to_vec();
    /// assert_eq!((triples[1].a, triples[1].c), (2.0, 1.0));
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    #[must_use]
    pub fn recurrence(&self) -> Recurrence {
        let triples = (0..self.degree()).map(|k| {
            let a = 1.0 / self.beta[k].sqrt();
            let c = if k == 0 { 0.0 } else { (self.beta[k - 1] / self.beta[k]).sqrt() };
            Triple { a, b: -self.alpha[k] * a, c }
        });
        // Every β is finite and positive, so every coefficient is a number.
        Recurrence::trusted(triples.collect())
    }

    /// The Gauss rule with `degree` nodes: `(node, weight)` pairs, exact for degree
    /// $2\cdot\text{degree}-1$.
    ///
    /// One symmetric eigenproblem of that size.
    ///
    /// # Errors
    /// `Count` if the family has degree zero.
    ///
    /// # Example
    /// ```
    /// let rule = favard_theory::Family::legendre(2)?.gauss()?;
    /// assert!((rule[1].0 - 1.0 / 3.0_f64.sqrt()).abs() < 1e-15 && (rule[1].1 - 0.5).abs() < 1e-15);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    ///
    /// # Reference
    /// Golub and Welsch (1969).
    pub fn gauss(&self) -> Result<Vec<(f64, f64)>> {
        let n = check::count("degree", self.degree(), 1, check::MAX_COUNT)?;
        let mut jacobi = Array2::zeros((n, n));
        for k in 0..n {
            jacobi[[k, k]] = self.alpha[k];
            if k + 1 < n {
                let off = self.beta[k].sqrt();
                jacobi[[k, k + 1]] = off;
                jacobi[[k + 1, k]] = off;
            }
        }
        let (nodes, _) = dense::symmetric_eigen("Jacobi matrix", jacobi.view())?;
        Ok(nodes.iter().map(|&node| self.polish(node)).collect())
    }

    /// A zero of $q_n$ improved by one Newton step, and its weight $1/\sum_{k<n}q_k^2$.
    ///
    /// The eigenvalues err by $\epsilon$ times the largest node; a polynomial of degree $2n$ may change
    /// $n^2$ times faster than that, so the step is worth its $O(n)$.
    fn polish(&self, node: f64) -> (f64, f64) {
        let recurrence = self.recurrence();
        // (q_n, q_n', Σ_{k<n} q_k²) by the recurrence and its derivative.
        let evaluate = |x: f64| {
            let (mut prev, mut cur) = (0.0, 1.0);
            let (mut slope_prev, mut slope, mut sum) = (0.0, 0.0, 0.0);
            for step in recurrence.triples() {
                sum += cur * cur;
                let factor = step.a * x + step.b;
                let next = step.a * cur + factor * slope - step.c * slope_prev;
                (slope_prev, slope) = (slope, next);
                (prev, cur) = (cur, factor * cur - step.c * prev);
            }
            (cur, slope, sum)
        };
        let (value, slope, _) = evaluate(node);
        let shift = value / slope;
        let node = if shift.is_finite() { node - shift } else { node };
        (node, 1.0 / evaluate(node).2)
    }

    /// $\mathbb E f(X)$ by the Gauss rule; exact for polynomials of degree $2\cdot\text{degree}-1$.
    ///
    /// # Errors
    /// As [`Family::gauss`]; `NonFinite` if `function` returns such a value.
    ///
    /// # Example
    /// ```
    /// let fourth = favard_theory::Family::chebyshev_u(3)?.expectation(|x| x.powi(4))?;
    /// assert!((fourth - 0.125).abs() < 1e-15);
    /// # Ok::<(), favard_theory::Error>(())
    /// ```
    pub fn expectation(&self, function: impl Fn(f64) -> f64) -> Result<f64> {
        let mut sum = 0.0;
        for (node, weight) in self.gauss()? {
            sum += weight * check::finite("function value", function(node))?;
        }
        Ok(sum)
    }
}
