//! [`Density`]: how the eigenvalues of a symmetric operator are spread, from Chebyshev moments.

use std::f64::consts::PI;

use favard_engine::Engine;
use favard_engine::map::Exact;
use favard_engine::recurrence::{Chebyshev, Orthogonal};
use favard_models::Result;
use favard_operator::{Block, LinearOperator, Workspace, ops};

/// The moments $\mu_s = \operatorname{tr} T_s(\tilde A) / n$ of an operator whose spectrum is in
/// $(0, h)$, $\tilde A = 2A/h - I$, estimated with random vectors.
///
/// # Reference
/// Weiße, Wellein, Alvermann and Fehske 2006, the kernel polynomial method.
pub struct Density {
    moments: Vec<f64>,
    high: f64,
}

impl Density {
    /// Twice as many moments as products, $T_{2t} = 2T_t^2 - 1$ and $T_{2t+1} = 2T_{t+1}T_t - T_1$.
    /// The relative error of a share is about $\sqrt{2 / (n \cdot \text{probes})}$ at most.
    pub fn measure(
        op: &dyn LinearOperator<f64>,
        high: f64,
        products: usize,
        probes: usize,
        seed: u64,
    ) -> Result<Self> {
        let start = Block::gaussian(op.shape().0, probes, seed);
        let family = Orthogonal::new(Chebyshev::new(0.0, high)?);
        let mut engine = Engine::new(Exact::new(op)?, family, start)?;
        let mut ws = Workspace::new();
        // Σ_j ⟨x_j, y_j⟩ over the columns
        let mut trace = |x: &Block<f64>, y: &Block<f64>| -> favard_operator::Result<f64> {
            let mut dots = vec![0.0; probes];
            ops::column_dots(x.as_ref(), y.as_ref(), &mut dots, &mut ws)?;
            Ok(dots.iter().sum())
        };
        // ⟨F_0, F_0⟩ and ⟨F_1, F_0⟩
        let size = trace(engine.block(), engine.block())?;
        engine.advance()?;
        let first = trace(engine.block(), engine.previous())?;
        let mut moments = vec![size, first];
        for _ in 1..products {
            // μ_{2t} = 2⟨F_t, F_t⟩ − μ_0,  μ_{2t+1} = 2⟨F_{t+1}, F_t⟩ − μ_1
            moments.push(2.0 * trace(engine.block(), engine.block())? - size);
            engine.advance()?;
            moments.push(2.0 * trace(engine.block(), engine.previous())? - first);
        }
        moments.iter_mut().for_each(|moment| *moment /= size);
        Ok(Self { moments, high })
    }

    /// The share of the eigenvalues between two numbers within $(0, h)$: the integral of the series,
    /// damped by Jackson's kernel so that it is not negative.
    pub fn share(&self, from: f64, to: f64) -> f64 {
        let angle = |value: f64| (2.0 * value / self.high - 1.0).clamp(-1.0, 1.0).acos();
        let (wide, narrow) = (angle(from), angle(to));
        let n = self.moments.len() as f64 + 1.0;
        let mut sum = wide - narrow;
        for (k, moment) in self.moments.iter().enumerate().skip(1) {
            let k = k as f64;
            // g_k = ((N−k) cos(πk/N) + sin(πk/N) cot(π/N)) / N
            let (sin, cos) = (PI * k / n).sin_cos();
            let jackson = ((n - k) * cos + sin / (PI / n).tan()) / n;
            sum += 2.0 * jackson * moment * ((k * wide).sin() - (k * narrow).sin()) / k;
        }
        sum / PI
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use favard_operator::Diagonal;

    /// Three quarters of the eigenvalues are near .2, one quarter near .8; the kernel's width is
    /// π/N ≈ .05 of the interval, the distances to .5 six times that. With 16 vectors of 400 the
    /// deviation of a share is at most √(2/6400) ≈ .018; .1 is five of them (probability 1e-6).
    #[test]
    fn shares_of_two_heaps() {
        let values = (0..400).map(|i| if i < 300 { 0.2 } else { 0.8 }).collect();
        let density = Density::measure(&Diagonal::new(values).unwrap(), 1.0, 30, 16, 3).unwrap();
        assert!((density.share(0.0, 0.5) - 0.75).abs() < 0.1);
        assert!((density.share(0.5, 1.0) - 0.25).abs() < 0.1);
        // sin kπ is zero up to rounding, for each of 60 terms
        assert!((density.share(0.0, 1.0) - 1.0).abs() < 60.0 * 60.0 * f64::EPSILON);
    }
}
