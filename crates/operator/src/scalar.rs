//! The numbers an operator works on.

use std::fmt::{Debug, Display, LowerExp};
use std::iter::Sum;

use num_traits::{Float, NumAssign};
use serde::{Serialize, de::DeserializeOwned};

use crate::compiled::Compiled;

/// A real floating-point number: `f32` or `f64`.
///
/// The trait is sealed: what is heavy is compiled with this crate for both, and a program that is generic in
/// the scalar only calls it. The kernels are tuned for the number of scalars in a cache line
/// ([`Scalar::LANE`]), and every tolerance in the library is a multiple of [`Scalar::EPSILON`].
///
/// # Example
/// ```
/// use favard_operator::Scalar;
/// assert_eq!(f64::LANE, 8);
/// assert_eq!(f32::of(0.5), 0.5_f32);
/// assert_eq!(0.5_f32.as_f64(), 0.5);
/// ```
pub trait Scalar:
    Float
    + NumAssign
    + Sum
    + Debug
    + Display
    + LowerExp
    + Default
    + Send
    + Sync
    + Serialize
    + DeserializeOwned
    + Compiled
    + 'static
{
    /// The distance from 1 to the next larger number.
    const EPSILON: Self;

    /// How many scalars fill one cache line of 64 bytes.
    const LANE: usize = 64 / size_of::<Self>();

    /// The nearest number to `value`.
    fn of(value: f64) -> Self;

    /// The number as an `f64`, exactly.
    fn as_f64(self) -> f64;

    /// The nearest number to a count.
    #[must_use]
    fn of_count(count: usize) -> Self {
        Self::of(count as f64)
    }
}

impl Scalar for f64 {
    const EPSILON: Self = f64::EPSILON;
    fn of(value: f64) -> Self {
        value
    }
    fn as_f64(self) -> f64 {
        self
    }
}

impl Scalar for f32 {
    const EPSILON: Self = f32::EPSILON;
    // Rounding to the nearest f32 is what the method is for.
    #[allow(clippy::cast_possible_truncation)]
    fn of(value: f64) -> Self {
        value as f32
    }
    fn as_f64(self) -> f64 {
        f64::from(self)
    }
}
