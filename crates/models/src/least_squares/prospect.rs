//! [`Prospect`]: how far the normal equations lead.

use favard_operator::Scalar;

use super::spectrum::Ends;

/// What the estimated ends of the spectrum and the noise say of a method that works with
/// $M^T M$: conjugate gradients, or the Gram matrix.
///
/// Its gradient is rounded by $\epsilon \lVert M \rVert^2 \lVert x \rVert$, and
/// $\lVert M \rVert \lVert x \rVert \le \kappa \lVert b \rVert$. The certificate
/// $\lVert M^T r \rVert / (\lVert M \rVert \lVert r \rVert)$ then goes down to about
/// $\epsilon \kappa \lVert b \rVert / \lVert r \rVert$; for a system that is consistent, what counts is
/// $\lVert r \rVert / \lVert b \rVert$, which goes down to $\epsilon \kappa^2$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Prospect {
    /// κ of M.
    condition: f64,
    /// $\epsilon \kappa \min(\kappa, \lVert b \rVert / \lVert r \rVert)$.
    floor: f64,
}

impl Prospect {
    /// For a spectrum of $M^T M$ and the least $\lVert r \rVert / \lVert b \rVert$, 1 where it is
    /// not known.
    pub fn new<T: Scalar>(ends: &Ends, noise: Option<f64>) -> Self {
        let condition = ends.condition().sqrt();
        // min(κ, ‖b‖/‖r‖), also for r = 0
        let share = noise.unwrap_or(1.0).recip().min(condition);
        Self { condition, floor: T::EPSILON.as_f64() * condition * share }
    }

    /// Whether the normal equations can be expected to give a certificate this small.
    pub fn reaches(&self, tolerance: f64) -> bool {
        self.floor <= tolerance
    }
}

impl std::fmt::Display for Prospect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { condition, floor } = self;
        write!(
            f,
            "κ of the scaled matrix about {condition:.1e}, the normal equations good for \
             certificates down to {floor:.0e}"
        )
    }
}

/// The least ‖r‖ / ‖b‖ of some right-hand sides; `None` when all of them are zero.
pub(super) fn noise<T: Scalar>(residuals: &[T], sizes: &[T]) -> Option<f64> {
    let pairs = residuals.iter().zip(sizes).filter(|(_, size)| **size > T::zero());
    pairs.map(|(r, size)| r.as_f64() / size.as_f64()).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// εκ/ρ with noise, εκ² without: at κ = 1e6 a noisy problem is solved to 1e-8 and a consistent
    /// one is not; at κ = 1e3 both are.
    #[test]
    fn noise_makes_it_easier() {
        let ends = |condition: f64| Ends { low: condition.powi(-2), high: 1.0, steps: 1 };
        for (condition, noise, reaches) in
            [(1e6, 0.5, true), (1e6, 0.0, false), (1e3, 0.0, true), (1e6, 1e-9, false)]
        {
            let prospect = Prospect::new::<f64>(&ends(condition), Some(noise));
            assert_eq!(prospect.reaches(1e-8), reaches, "{prospect}, noise {noise}");
        }
        assert!(!Prospect::new::<f32>(&ends(1e3), None).reaches(1e-5));
        assert_eq!(noise(&[1.0, 3.0, 0.0], &[4.0, 4.0, 0.0]), Some(0.25));
        assert_eq!(noise::<f64>(&[0.0], &[0.0]), None);
    }
}
