//! The generating function $G_x(a,b)=\sum_kp_k(a)p_k(b)\,x^{-k-1}$ of the noise-free recurrence.

use std::f64::consts::FRAC_PI_2;

use ndarray::{Array1, Array2};

use crate::momentum::Root;

/// One eigenvalue, seen from the recurrence.
#[derive(Debug, Clone, Copy)]
enum Point {
    /// $|a|>2\sqrt\beta$: the sign of $a$ and the root of $|a|$.
    Growth { is_negative: bool, root: Root },
    /// $|a|\le2\sqrt\beta$: the angle $\arccos(a/2\sqrt\beta)$.
    Calm { angle: f64 },
}

/// $G_x$ on all pairs of eigenvalues, with $x=x_0(1+e)$ and $x_0$ the noise-free mean-square rate.
///
/// The poles of $G_x$ are the products of the roots of two eigenvalues, and $x_0$ is the largest; taking
/// $e$ as the variable keeps the distance to it exact. Every factor below is a sum of squares or an
/// `exp_m1`, so nothing cancels at the edge $2\sqrt\beta$, where roots meet.
pub(super) struct Kernel {
    points: Vec<Point>,
    beta: f64,
    /// $\ln x_0$, $x_0=\max(\beta,\mu_{\max}^2)$.
    ln_base: f64,
    /// $\ln(\beta/x_0)$.
    ln_beta_base: f64,
}

impl Kernel {
    pub(super) fn new(eigenvalues: &Array1<f64>, beta: f64) -> Self {
        let points: Vec<Point> = eigenvalues
            .iter()
            .map(|&a| {
                // 4β − a² with one rounding.
                let inside = (-a).mul_add(a, 4.0 * beta);
                if inside > 0.0 {
                    Point::Calm { angle: FRAC_PI_2 - a.atan2(inside.sqrt()) }
                } else {
                    Point::Growth { is_negative: a < 0.0, root: Root::new(a.abs(), beta) }
                }
            })
            .collect();
        let (mut ln_base, mut ln_beta_base) = (beta.ln(), 0.0);
        for point in &points {
            if let Point::Growth { root, .. } = point
                && 2.0 * root.ln_mu > ln_base
            {
                (ln_base, ln_beta_base) = (2.0 * root.ln_mu, root.ln_ratio);
            }
        }
        Self { points, beta, ln_base, ln_beta_base }
    }

    /// $x_0$, zero only if $\beta$ and the spectrum are.
    pub(super) fn base(&self) -> f64 {
        self.ln_base.exp()
    }

    /// The matrix $G_x(\lambda_i,\lambda_j)$ at $x=x_0(1+e)$, $e>0$.
    pub(super) fn at(&self, excess: f64) -> Array2<f64> {
        let n = self.points.len();
        let mut out = Array2::zeros((n, n));
        for i in 0..n {
            for j in 0..=i {
                let value = self.pair(self.points[i], self.points[j], excess);
                out[[i, j]] = value;
                out[[j, i]] = value;
            }
        }
        out
    }

    fn pair(&self, left: Point, right: Point, excess: f64) -> f64 {
        let step = excess.ln_1p();
        let x = self.base() * (1.0 + excess);
        // ln(y/x) for ln y: the base is taken off first, so that a tiny excess is not rounded away.
        let below = |ln_y: f64| (ln_y - self.ln_base) - step;
        // ln(β/x)
        let shrink = self.ln_beta_base - step;
        // 1 − (β/x)²
        let top = -(2.0 * shrink).exp_m1();
        match (left, right) {
            (
                Point::Growth { is_negative: s, root: a },
                Point::Growth { is_negative: t, root: b },
            ) => {
                // 1 − σ e^l with σ the sign of the product of the eigenvalues.
                let factor = |l: f64| if s == t { -l.exp_m1() } else { 1.0 + l.exp() };
                let leading = factor(below(a.ln_mu + b.ln_mu));
                if self.beta == 0.0 {
                    return 1.0 / (x * leading);
                }
                let apart = a.ln_mu - b.ln_mu;
                let rest = factor(shrink + 0.5 * (a.ln_ratio + b.ln_ratio))
                    * factor(shrink + apart)
                    * factor(shrink - apart);
                top / (x * leading * rest)
            }
            (Point::Calm { angle: a }, Point::Calm { angle: b }) => {
                // w − w± over x, with w = x + β²/x: (1 − β/x)² + 4 (β/x) sin²((a ∓ b)/2)
                let square = shrink.exp_m1() * shrink.exp_m1();
                let (d, s) = ((0.5 * (a - b)).sin(), (0.5 * (a + b)).sin());
                let ratio = 4.0 * shrink.exp();
                top / (x * (square + ratio * d * d) * (square + ratio * s * s))
            }
            (Point::Growth { is_negative, root }, Point::Calm { angle })
            | (Point::Calm { angle }, Point::Growth { is_negative, root }) => {
                // |1 − (μ√β/x) e^{iφ}|² and the same with ν, φ counted from the sign of a.
                let half = 0.5 * if is_negative { std::f64::consts::PI - angle } else { angle };
                let modulus = |l: f64| {
                    let gap = l.exp_m1();
                    gap * gap + 4.0 * l.exp() * half.sin() * half.sin()
                };
                // √β = μ √(ν/μ) in logarithms: ln(μ√β/x) and ln(ν√β/x)
                let big = below(2.0 * root.ln_mu + 0.5 * root.ln_ratio);
                top / (x * modulus(big) * modulus(big + root.ln_ratio))
            }
        }
    }
}
