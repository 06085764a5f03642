//! [`Method`], [`Scaling`]: how a least-squares problem is solved.

/// The methods of [`LeastSquares`](super::LeastSquares) that need only the operator and its adjoint.
///
/// | method | what it is | passes a step |
/// |---|---|---|
/// | [`Direct`](Self::Direct) | the Gram matrix formed, pseudo-inverted, refined | n / 32 once, then 2 |
/// | [`Cg`](Self::Cg) | conjugate gradients on the normal equations | 1 |
/// | [`Lsmr`](Self::Lsmr) | LSMR | 2 |
/// | [`HeavyBall`](Self::HeavyBall), [`Chebyshev`](Self::Chebyshev) | fixed polynomials of the engine | 1 |
///
/// `Auto` is `Direct` when the Gram matrix takes fewer passes to form than an iteration would take
/// steps, else `Cg`, which takes half the passes of `Lsmr`. Either shows the ends of the spectrum on
/// its way, the eigenvalues of the Gram matrix or the Ritz values of the first 300 steps, and either
/// is good for certificates down to $\epsilon \kappa \min(\kappa, \lVert b \rVert / \lVert r
/// \rVert)$, with $\kappa = \kappa(M)$ from those ends and the noise $\lVert r \rVert / \lVert b
/// \rVert$ from the residual. `Cg` gives up at the first recomputed certificate that fails when this is
/// above the tolerance, and at the third whatever the estimates say; `Auto` goes on with `Lsmr` from
/// there. None of this takes a pass of its own, and [`Solution::reason`](super::Solution::reason)
/// states the ends, κ, the noise and the digits.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Method {
    /// Chosen by the rule above.
    #[default]
    Auto,
    /// $G = M^T M$ formed, its pseudo-inverse, and Newton steps on the engine until the certificate
    /// holds. For few unknowns.
    Direct,
    /// Conjugate gradients with the fused product $M^T(Mp)$: one pass a step and no block of the
    /// length of the data, the fastest for a tall matrix. Loses digits from
    /// $\kappa(M) \approx \epsilon^{-1/2}$ on.
    Cg,
    /// LSMR (Fong and Saunders, 2011): two passes a step, the certificate falls monotonically, works
    /// up to $\kappa(M) \approx 1/\epsilon$.
    Lsmr,
    /// Polyak's heavy ball on the engine. The bounds are those of the spectrum of the scaled
    /// $M^T M$, estimated when not given; a lower bound that is too high slows it down, an upper one
    /// that is too low makes it diverge.
    HeavyBall {
        /// (low, high).
        bounds: Option<(f64, f64)>,
    },
    /// The Chebyshev semi-iteration on the engine, with bounds as for heavy ball: the best
    /// polynomial for an interval, and no inner products.
    Chebyshev {
        /// (low, high).
        bounds: Option<(f64, f64)>,
    },
}

/// The scaling D of the columns: the methods work on $A D^{-1}$.
///
/// Dividing the columns by their norms is within $\sqrt{n}$ of the best diagonal scaling (van der
/// Sluis, 1969). On one-hot data it is what makes the problem easy.
///
/// Of a matrix with dependent columns the methods find the solution of smallest $\lVert D x \rVert$:
/// with `Off` that is the minimum-norm solution.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum Scaling {
    /// By the norms of the columns: exact in [`fit`](super::LeastSquares::fit); in
    /// [`solve`](super::LeastSquares::solve) estimated from one product of the adjoint with eight
    /// columns of random signs, each norm within about a quarter.
    #[default]
    Auto,
    /// None.
    Off,
    /// By these numbers, one a column.
    Given(Vec<f64>),
}
