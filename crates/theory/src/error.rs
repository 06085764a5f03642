//! The one error of the crate: a kind with a name and numbers in it.

use thiserror::Error;

/// What went wrong, with the numbers that show it.
///
/// # Example
/// ```
/// use favard_theory::{ErrorKind, Growth};
/// // 2√β = 1 = λ₁: no eigenvalue is left outside the calm interval.
/// let error = Growth::new(1.0, 0.9, 0.25).unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::NoGap { .. }));
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An input is NaN or infinite.
    #[error("`{name}` must be finite, found {value}")]
    NonFinite {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// An input lies outside the range the formula is stated for.
    #[error("`{name}` = {value} {}", range(*lower, *upper))]
    OutOfRange {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The lower end of the range.
        lower: f64,
        /// The upper end of the range.
        upper: f64,
    },
    /// The wanted eigenvalue does not stand outside the interval that must stay calm.
    #[error("no gap: the top eigenvalue {lambda1} must exceed {edge}")]
    NoGap {
        /// The wanted eigenvalue.
        lambda1: f64,
        /// The largest of the other moduli and of $2\sqrt\beta$.
        edge: f64,
    },
    /// The variance is so large that no bound of this kind can hold.
    #[error("`{name}` = {variance} is beyond the breaking point {breaking}")]
    BeyondBreakingPoint {
        /// Which variance.
        name: &'static str,
        /// Its value.
        variance: f64,
        /// The largest value that still works.
        breaking: f64,
    },
    /// The batch a plan needs is larger than the batch that is available.
    #[error("a batch of {required} is needed, at most {available} is available")]
    BatchTooLarge {
        /// The batch needed.
        required: f64,
        /// The batch available.
        available: f64,
    },
    /// Two sizes that must agree do not.
    #[error("`{name}` must have size {expected}, found {found}")]
    Shape {
        /// The parameter.
        name: &'static str,
        /// The size wanted.
        expected: usize,
        /// The size given.
        found: usize,
    },
    /// A count lies outside the range the algorithm allows.
    #[error("`{name}` = {value} must lie between {lower} and {upper}")]
    Count {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: usize,
        /// The smallest count allowed.
        lower: usize,
        /// The largest count allowed.
        upper: usize,
    },
    /// A matrix that must be symmetric is not.
    #[error("`{name}` must be symmetric: entry ({row}, {col}) differs from its mirror by {gap}")]
    NotSymmetric {
        /// The parameter.
        name: &'static str,
        /// The row of the worst entry.
        row: usize,
        /// The column of the worst entry.
        col: usize,
        /// The absolute difference from the mirror entry.
        gap: f64,
    },
    /// The moments or samples do not determine an orthogonal polynomial of this degree.
    #[error("the measure has no orthogonal polynomial of degree {degree}: squared norm {norm}")]
    Degenerate {
        /// The degree at which the squared norm stops being positive.
        degree: usize,
        /// The squared norm found.
        norm: f64,
    },
    /// The start has no component along the wanted direction.
    #[error("the start is orthogonal to the wanted space: cosine {cosine}")]
    Orthogonal {
        /// The cosine of the angle.
        cosine: f64,
    },
    /// A dense decomposition did not converge.
    #[error("the decomposition of `{name}` did not converge")]
    Decomposition {
        /// The matrix.
        name: &'static str,
    },
    /// A bounded search or iteration ended without an answer.
    #[error("`{name}` found no answer within {limit} steps")]
    Exhausted {
        /// What was searched for.
        name: &'static str,
        /// The bound on the steps.
        limit: usize,
    },
}

/// The error of every function here: one kind, see [`ErrorKind`].
///
/// # Example
/// ```
/// let error = favard_theory::chebyshev::t(3, f64::NAN).unwrap_err();
/// assert!(error.to_string().contains("must be finite"));
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{kind}")]
pub struct Error {
    kind: ErrorKind,
}

impl Error {
    /// The kind, for matching on.
    ///
    /// # Example
    /// ```
    /// use favard_theory::{ErrorKind, chebyshev};
    /// let error = chebyshev::t(3, f64::INFINITY).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::NonFinite { name: "x", .. }));
    /// ```
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self { kind }
    }
}

/// The result of every fallible function here.
pub type Result<T> = std::result::Result<T, Error>;

/// The range in words: its ends may be those of the numbers there are, which have hundreds of digits.
fn range(lower: f64, upper: f64) -> String {
    let number = |x: f64| {
        let is_short = x == 0.0 || (1e-6..1e9).contains(&x.abs());
        if is_short { x.to_string() } else { format!("{x:e}") }
    };
    match (lower, upper) {
        (f64::MIN_POSITIVE, f64::MAX) => "must be above 0".to_string(),
        (lower, f64::MAX) => format!("must be at least {}", number(lower)),
        (f64::MIN_POSITIVE, upper) => format!("must be above 0 and at most {}", number(upper)),
        (lower, upper) => format!("must lie between {} and {}", number(lower), number(upper)),
    }
}
