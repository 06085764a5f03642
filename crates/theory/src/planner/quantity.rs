//! A number of a plan, with where it comes from.

use std::fmt;

/// How far a planned number is from what is really needed.
///
/// # Example
/// ```
/// use favard_theory::planner::Pessimism;
/// assert_eq!(Pessimism::Times(3.5e5).to_string(), "3.5e5 times the practical number");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Pessimism {
    /// No problem with these numbers needs less, or the value is an identity.
    Exact,
    /// Exact to leading order for a spectrum concentrated at $\lambda_2$; may err either way.
    LeadingOrder,
    /// Safe, and this many times the practical plan's number for the same quantity.
    Times(f64),
}

impl fmt::Display for Pessimism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => f.write_str("exact"),
            Self::LeadingOrder => f.write_str("exact to leading order"),
            Self::Times(factor) => write!(f, "{factor:.1e} times the practical number"),
        }
    }
}

/// A planned number, the formula it comes from, and how pessimistic that formula is.
///
/// # Example
/// ```
/// use favard_theory::planner::{Pessimism, Quantity};
/// let beta = Quantity {
///     value: 0.2025,
///     formula: "λ₂²/4",
///     source: "remark after Corollary convergence, erratum 2.5",
///     pessimism: Pessimism::Exact,
/// };
/// assert_eq!(beta.to_string(), "0.2025 = λ₂²/4 (remark after Corollary convergence, erratum 2.5; exact)");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    /// The number; counts are whole.
    pub value: f64,
    /// The formula, in Unicode.
    pub formula: &'static str,
    /// The theorem and the erratum.
    pub source: &'static str,
    /// How far from the truth.
    pub pessimism: Pessimism,
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} ({}; {})", self.value, self.formula, self.source, self.pessimism)
    }
}
