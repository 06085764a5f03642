//! [`Recovered`]: a signal, with its proof.

use favard_engine::Info;
use favard_operator::{Block, Scalar, ops};

use crate::local::multiplied;

/// What [`PhaseRetrieval`](super::PhaseRetrieval) found.
///
/// # Example
/// ```
/// use favard_models::PhaseRetrieval;
/// use favard_operator::Dense;
/// // x = (1, 2): the squares of x₁, x₂ and x₁ + x₂.
/// let a = Dense::new(ndarray::array![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])?;
/// let found = PhaseRetrieval::new().solve(&a, &[1.0, 4.0, 9.0])?;
/// assert!(found.is_certified(), "{}", found.residual());
/// assert!((found.signal()[1] - 2.0_f64).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Recovered<T> {
    signal: Vec<T>,
    residual: f64,
    tolerance: f64,
    spectral: Info<T>,
    refinement: Info<T>,
}

impl<T: Scalar> Recovered<T> {
    /// The sign is fixed so that the entry of largest absolute value is positive.
    pub(super) fn new(
        mut z: Block<T>,
        residual: f64,
        tolerance: f64,
        spectral: Info<T>,
        refinement: Info<T>,
    ) -> Self {
        let mut largest = T::zero();
        for i in 0..z.rows() {
            let value = z.row(i)[0];
            if value.abs() > largest.abs() {
                largest = value;
            }
        }
        if largest < T::zero() {
            ops::scale(-T::one(), z.as_mut());
        }
        let signal = (0..z.rows()).map(|i| z.row(i)[0]).collect();
        Self { signal, residual, tolerance, spectral, refinement }
    }

    /// Of a signal that was multiplied by a power of two.
    pub(super) fn divided(mut self, factor: T) -> Self {
        self.signal.iter_mut().for_each(|value| *value /= factor);
        self.spectral.reason.push_str(&multiplied("the measurements of the signal", factor));
        self
    }

    /// x, d numbers. Intensities do not know its sign: the entry of largest absolute value is
    /// positive, the lowest index winning ties.
    #[must_use]
    pub fn signal(&self) -> &[T] {
        &self.signal
    }

    /// $\lVert |Ax|^2 - y \rVert / \lVert y \rVert$, recomputed from the operator.
    #[must_use]
    pub fn residual(&self) -> f64 {
        self.residual
    }

    /// Whether the residual is what was asked for. A descent that ended in a local minimum, or at
    /// the noise, is not certified.
    #[must_use]
    pub fn is_certified(&self) -> bool {
        self.residual <= self.tolerance
    }

    /// The spectral stage: why it stopped, what it cost, the eigenvalue and its residual.
    #[must_use]
    pub fn spectral(&self) -> &Info<T> {
        &self.spectral
    }

    /// The descent: why it stopped and what it cost. `ritz` has the two ends $h_1$, $h_d$ of the
    /// spectrum of H, `residuals` the certificate.
    #[must_use]
    pub fn refinement(&self) -> &Info<T> {
        &self.refinement
    }
}
