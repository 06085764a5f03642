//! [`Normalized`]: a family divided by its value at a point.

use favard_operator::Scalar;

use super::{Family, Progress, Recurrence, Triple};
use crate::Memory;
use crate::error::{Result, check};

/// The ratios $\tau_n = p_{n+1}(x) / p_n(x)$ of a family at a fixed point, one after the other.
///
/// The values $p_n(x)$ themselves overflow within a few thousand steps; their ratios do not:
/// $\tau_n = a_n x + b_n - c_n / \tau_{n-1}$.
///
/// # Example
/// ```
/// use favard_engine::recurrence::{Legendre, Ratios};
/// let mut ratios = Ratios::new(Legendre, 1.001)?;
/// assert!((ratios.next_ratio() - 1.7337828583764463_f64).abs() < 1e-15);
/// # Ok::<(), favard_engine::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratios<T, F> {
    family: F,
    at: T,
    degree: u64,
    last: T,
}

impl<T: Scalar, F: Family<T>> Ratios<T, F> {
    /// The ratios of `family` at the point `at`, which must not be a zero of any of its members:
    /// a point outside of the support of its measure never is.
    ///
    /// # Errors
    /// When the point is not finite.
    pub fn new(family: F, at: T) -> Result<Self> {
        check("at", at.as_f64(), true, "must be finite")?;
        Ok(Self { family, at, degree: 0, last: T::one() })
    }

    /// `Ok` when the point is above the support of the family's measure, as far as the first
    /// thousand members can tell: with $a_n > 0$ they are all positive there, and only there.
    ///
    /// # Errors
    /// When a member is not.
    pub fn check_above(&self) -> Result<()>
    where
        F: Clone,
    {
        const DEGREES: usize = 1000;
        let mut ratios =
            Self { family: self.family.clone(), at: self.at, degree: 0, last: T::one() };
        let need = "must be above the support of the measure, where no polynomial changes its sign";
        (0..DEGREES).try_for_each(|degree| {
            let slope = self.family.coefficients(degree as u64).a;
            let ratio = ratios.next_ratio();
            check("point", self.at.as_f64(), ratio * slope > T::zero(), need)
        })
    }

    /// $\tau_n$, and on to n + 1.
    pub fn next_ratio(&mut self) -> T {
        let Triple { a, b, c } = self.family.coefficients(self.degree);
        let carried = if self.degree == 0 { T::zero() } else { c / self.last };
        // τ_n = a_n x + b_n − c_n / τ_{n−1}
        self.last = a * self.at + b - carried;
        self.degree += 1;
        self.last
    }

    /// The ratio given last; 1 before the first.
    pub fn last(&self) -> T {
        self.last
    }

    /// Back to degree zero.
    pub fn reset(&mut self) {
        (self.degree, self.last) = (0, T::one());
    }

    pub(crate) fn memory(&self, name: &str) -> Memory<T> {
        let parameters = self.family.parameters();
        Memory::of(&format!("{name} {}", self.family.name()))
            .scalars([self.at])
            .scalars(parameters)
            .scalars([self.last])
            .counters([self.degree])
    }

    pub(crate) fn restore(&mut self, memory: &Memory<T>, name: &str) -> Result<()> {
        let mut own = self.memory(name);
        let mut found = memory.clone();
        let state = (found.counters.pop(), found.scalars.pop());
        own.counters.pop();
        own.scalars.pop();
        found.check_same(&own)?;
        if let (Some(degree), Some(last)) = state {
            (self.degree, self.last) = (degree, last);
        }
        Ok(())
    }
}

/// $F_t = p_t(A) F_0 / p_t(\tilde\lambda)$ for a [`Family`] p, in ratio form: nothing overflows.
///
/// With $\tilde\lambda$ just above the spectrum of the measure it drives the inhomogeneous optimal
/// combination ([`Optimal`](crate::readout::Optimal), erratum 4.8). With Chebyshev's family and the
/// point 0 on an [`Affine`](crate::map::Affine) map it is the Chebyshev semi-iteration for linear
/// systems: $p_t(0)/p_t(0) = 1$ is what keeps the solution a fixed point.
///
/// # Example
/// ```
/// use favard_engine::{Engine, map::{Affine, Exact}, recurrence::{Chebyshev, Normalized}};
/// use favard_operator::{Block, Dense};
/// let op = Dense::new(ndarray::array![[1.0, 0.0], [0.0, 4.0]])?;
/// let map = Affine::new(Exact::new(op)?, Block::column(&[3.0, 8.0]))?;
/// let semi = Normalized::new(Chebyshev::new(1.0, 4.0)?, 0.0)?;
/// let mut engine = Engine::new(map, semi, Block::zeros(2, 1))?;
/// for _ in 0..40 {
///     engine.advance()?;
/// }
/// assert!((engine.block().row(1)[0] - 2.0_f64).abs() < 1e-15 * 16.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Normalized<T, F> {
    ratios: Ratios<T, F>,
}

impl<T: Scalar, F: Family<T>> Normalized<T, F> {
    /// `family` divided by its value at the point `at`.
    ///
    /// # Errors
    /// When the point is not finite.
    pub fn new(family: F, at: T) -> Result<Self> {
        Ok(Self { ratios: Ratios::new(family, at)? })
    }
}

impl<T: Scalar, F: Family<T>> Recurrence<T> for Normalized<T, F> {
    fn name(&self) -> &'static str {
        "normalized"
    }

    fn triple(&mut self, progress: &Progress<'_, T>) -> Triple<T> {
        if progress.phase == 0 {
            self.ratios.reset();
        }
        let before = self.ratios.last();
        let Triple { a, b, c } = self.ratios.family.coefficients(self.ratios.degree);
        let tau = self.ratios.next_ratio();
        // p̂_{t+1} = ((a A + b) p̂_t − (c / τ_{t−1}) p̂_{t−1}) / τ_t
        Triple { a: a / tau, b: b / tau, c: c / (tau * before) }
    }

    fn memory(&self) -> Memory<T> {
        self.ratios.memory("normalized")
    }

    fn restore(&mut self, memory: Memory<T>) -> Result<()> {
        self.ratios.restore(&memory, "normalized")
    }
}
