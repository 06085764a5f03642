//! [`AdaOja`]: Oja's rule with a step that nobody has to choose.

use favard_operator::Scalar;

use super::{Progress, Recurrence, Triple};
use crate::error::{Result, check};
use crate::{Measure, Memory};

/// $F_{t+1} = F_t + \eta_t \Phi_t(F_t)$ with
/// $\eta_t = \eta_0 / \sqrt{\sum_{s \le t} \lVert G_s \rVert_F^2}$,
/// $G_s = \Phi_s(Q_s)$ for an orthonormal basis $Q_s$ of the block.
///
/// The step falls like $1/\sqrt t$ and does not change when the operator is multiplied by a number,
/// so $\eta_0 = 1$ suits all. The norm comes from the Ritz values and residuals of the step,
/// $\lVert G \rVert_F^2 = \sum_j \theta_j^2 + r_j^2$ (a residual is orthogonal to the block), at no
/// further product. Use a gauge that keeps the block orthonormal.
///
/// # Example
/// ```
/// use favard_engine::{Engine, gauge::PeriodicQr, map::MiniBatch, recurrence::AdaOja};
/// use favard_operator::{Block, Dense, Gram, Sampler};
/// let mut rows = Block::<f64>::gaussian(2000, 3, 5).view().to_owned();
/// rows.column_mut(0).mapv_inplace(|v| 3.0 * v); // variances 9, 1, 1
/// let op = Gram::new(Dense::new(rows)?);
/// let map = MiniBatch::new(op, Sampler::uniform(2000, 10, 1)?)?;
/// let mut engine = Engine::new(map, AdaOja::new(1.0)?, Block::column(&[0.5, 0.6, 0.6]))?
///     .with_gauge(PeriodicQr::new(1, 1)?);
/// for _ in 0..400 {
///     engine.advance()?;
/// }
/// assert!(engine.block().row(0)[0].abs() > 0.99);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// Henriksen, Ward, "AdaOja: Adaptive learning rates for streaming PCA", 2019 (its step for the
/// whole block; the one with a step for every column is no three-term recurrence).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdaOja<T> {
    scale: T,
    /// A power of two near the largest number that was squared: a square itself may be beyond the
    /// largest number, or below the smallest.
    unit: T,
    /// $\sum \lVert G_s \rVert_F^2$ in squares of the unit.
    total: T,
}

impl<T: Scalar> AdaOja<T> {
    /// With $\eta_0$ = `scale`.
    ///
    /// # Errors
    /// Unless it is finite and positive.
    pub fn new(scale: T) -> Result<Self> {
        check("scale", scale.as_f64(), scale > T::zero(), "must be finite and above 0")?;
        Ok(Self { scale, unit: T::zero(), total: T::zero() })
    }

    /// The step of the last tick; infinite before the first product that is not zero.
    pub fn step(&self) -> T {
        if self.total > T::zero() {
            self.scale / self.unit / self.total.sqrt()
        } else {
            T::infinity()
        }
    }

    /// total ← total + Σ θ² + r²
    fn add(&mut self, Measure { ritz, residuals }: &Measure<T>) {
        let largest = ritz.iter().chain(residuals).fold(T::zero(), |m, v| m.max(v.abs()));
        let unit = binade(largest).max(self.unit);
        if unit == T::zero() {
            return;
        }
        // Powers of two: nothing is rounded that would not be without them.
        let (share, squares) = (self.unit / unit, ritz.iter().zip(residuals));
        let square =
            |(&ritz, &r): (&T, &T)| (ritz / unit) * (ritz / unit) + (r / unit) * (r / unit);
        self.total = self.total * (share * share) + squares.map(square).sum::<T>();
        self.unit = unit;
    }
}

/// The largest power of two that is at most `value`, more or less where numbers lose their digits;
/// zero for zero.
fn binade<T: Scalar>(value: T) -> T {
    // Whatever the rounding of a logarithm, it is a power of two, and near.
    let exponent = value.as_f64().log2().floor().clamp(-1000.0, 1000.0);
    if value > T::zero() { T::of(exponent.exp2()) } else { T::zero() }
}

impl<T: Scalar> Recurrence<T> for AdaOja<T> {
    fn name(&self) -> &'static str {
        "adaptive oja"
    }

    fn wants_measure(&self) -> bool {
        true
    }

    fn triple(&mut self, progress: &Progress<'_, T>) -> Triple<T> {
        if let Some(measure) = progress.measure {
            self.add(measure);
        }
        // While all products are zero, any step will do.
        let step = if self.total > T::zero() { self.step() } else { T::zero() };
        Triple { a: step, b: T::one(), c: T::zero() }
    }

    fn memory(&self) -> Memory<T> {
        Memory::of("adaptive oja").scalars([self.scale, self.unit, self.total])
    }

    fn restore(&mut self, mut memory: Memory<T>) -> Result<()> {
        let state = memory.scalars.split_off(memory.scalars.len().min(1));
        memory.check_same(&Memory::of("adaptive oja").scalars([self.scale]))?;
        if let [unit, total] = state[..] {
            (self.unit, self.total) = (unit, total);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// η_t = η₀/√(Σ ‖G‖²), ‖G‖² = Σ θ² + r², and a restored run goes on where it was.
    #[test]
    fn the_step_is_that_of_all_products() {
        let mut oja = AdaOja::<f64>::new(2.0).unwrap();
        let measure = Measure { ritz: vec![1.0, 2.0], residuals: vec![2.0, 0.0] };
        let progress = |tick| Progress { tick, phase: tick, measure: Some(&measure) };
        assert_eq!(oja.triple(&progress(0)), Triple { a: 2.0 / 3.0, b: 1.0, c: 0.0 });
        let mut again = AdaOja::new(2.0).unwrap();
        again.restore(oja.memory()).unwrap();
        assert_eq!(again.triple(&progress(1)), oja.triple(&progress(1)));
        assert_eq!(oja.triple(&progress(2)).a.to_bits(), (2.0 / 27.0_f64.sqrt()).to_bits());
        assert!(AdaOja::new(1.0).unwrap().restore(oja.memory()).is_err());
    }

    /// The step goes with 1/‖A‖ also where a square leaves the range of the numbers.
    #[test]
    fn squares_may_leave_the_range() {
        let steps = |size: f32| {
            let measure = Measure { ritz: vec![3.0 * size], residuals: vec![4.0 * size] };
            let mut oja = AdaOja::new(1.0).unwrap();
            let step = |tick| {
                oja.triple(&Progress { tick, phase: tick, measure: Some(&measure) }).a * size
            };
            [0, 1].map(step).map(f32::to_bits)
        };
        for exponent in [-100, -70, 70, 100] {
            assert_eq!(steps(2.0_f32.powi(exponent)), steps(1.0));
        }
    }

    /// Nothing but zeros so far: no step, and no NaN.
    #[test]
    fn zero_products() {
        let measure = Measure { ritz: vec![0.0], residuals: vec![0.0] };
        let progress = Progress { tick: 0, phase: 0, measure: Some(&measure) };
        let triple = AdaOja::new(1.0).unwrap().triple(&progress);
        assert_eq!(triple, Triple { a: 0.0, b: 1.0, c: 0.0 });
    }
}
