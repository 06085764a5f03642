//! [`Expansion`]: a function of the operator, applied to the start block.

use favard_operator::{Block, Result as OperatorResult, Scalar, ops};

use super::{Readout, ReadoutFits, take_block};
use crate::Memory;
use crate::error::{Result, check};
use crate::gauge::NoGauge;
use crate::memory::foreign;

/// The answer is $\sum_{s \le t} \alpha_s F_s$.
///
/// With Chebyshev's recurrence on an interval that holds the spectrum, $F_s = T_s(\tilde A) F_0$,
/// and with the Chebyshev coefficients of a function f ([`Expansion::of_function`]) the answer
/// converges to $f(A) F_0$ as fast as the series of f does.
///
/// # Example
/// $e^{A} v$ for a 1 × 1 matrix:
/// ```
/// use favard_engine::{Engine, map::Exact, readout::Expansion, recurrence::{Chebyshev, Orthogonal}};
/// use favard_operator::{Block, Dense};
/// let op = Dense::new(ndarray::array![[0.3]])?;
/// let family = Orthogonal::new(Chebyshev::new(-1.0, 1.0)?);
/// let exp = Expansion::of_function(f64::exp, -1.0, 1.0, 20)?;
/// let mut engine = Engine::new(Exact::new(op)?, family, Block::column(&[1.0]))?.with_readout(exp)?;
/// for _ in 0..20 {
///     engine.advance()?;
/// }
/// assert!((engine.answer().row(0)[0] - 0.3_f64.exp()).abs() < 4.0 * f64::EPSILON);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Expansion<T> {
    coefficients: Vec<T>,
    sum: Block<T>,
}

impl<T: Scalar> Expansion<T> {
    /// With given coefficients; those of later steps are zero.
    ///
    /// # Errors
    /// When one is not finite.
    pub fn new(coefficients: Vec<T>) -> Result<Self> {
        for &coefficient in &coefficients {
            check("coefficient", coefficient.as_f64(), true, "must be finite")?;
        }
        Ok(Self { coefficients, sum: Block::zeros(0, 0) })
    }

    /// With the first `degree + 1` Chebyshev coefficients of `f` on `[low, high]`, from its values
    /// at the Chebyshev points: exact for polynomials up to the degree. O(degree²).
    ///
    /// # Errors
    /// Unless low < high are finite and f is finite between them.
    pub fn of_function(f: impl Fn(f64) -> f64, low: f64, high: f64, degree: u32) -> Result<Self> {
        check("low", low, true, "must be finite")?;
        check("high", high, high > low, "must be finite and above the lower end")?;
        let points = u64::from(degree) + 1;
        let angle = |i: u64| std::f64::consts::PI * (i as f64 + 0.5) / points as f64;
        let value = |i| f(f64::midpoint(high, low) + (high - low) / 2.0 * angle(i).cos());
        let values: Vec<f64> = (0..points).map(value).collect();
        // α_j = (2 − δ_j0)/N Σ_i f(x_i) cos(j θ_i)
        let coefficient = |j: u64| {
            let terms = (0..points).zip(&values).map(|(i, v)| v * (j as f64 * angle(i)).cos());
            let twice = if j == 0 { 1.0 } else { 2.0 };
            T::of(twice / points as f64 * terms.sum::<f64>())
        };
        Self::new((0..points).map(coefficient).collect())
    }
}

impl<T: Scalar> Readout<T> for Expansion<T> {
    fn name(&self) -> &'static str {
        "expansion"
    }

    fn absorb(&mut self, tick: u64, cur: &Block<T>) -> OperatorResult<()> {
        if self.sum.shape() != cur.shape() {
            self.sum = Block::zeros(cur.rows(), cur.cols());
        }
        // S ← S + α_t F_t
        match usize::try_from(tick).ok().and_then(|tick| self.coefficients.get(tick)) {
            Some(&alpha) => ops::axpby(alpha, cur.as_ref(), T::one(), self.sum.as_mut()),
            None => Ok(()),
        }
    }

    fn answer<'a>(&'a self, _: &'a Block<T>) -> &'a Block<T> {
        &self.sum
    }

    fn memory(&self) -> Memory<T> {
        let coefficients = self.coefficients.iter().copied();
        Memory::of("expansion").scalars(coefficients).blocks([self.sum.clone()])
    }

    fn restore(&mut self, memory: Memory<T>) -> Result<()> {
        memory.check_name("expansion")?;
        if memory.scalars != self.coefficients {
            return Err(foreign("coefficients", &self.coefficients, &memory.scalars));
        }
        take_block(memory, &mut self.sum);
        Ok(())
    }
}

impl<T> ReadoutFits<NoGauge> for Expansion<T> {}
