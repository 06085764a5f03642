//! [`Violation`]: which law an operator breaks, and with which numbers.

use std::fmt;

/// A law that does not hold, the case that shows it, and the numbers.
///
/// # Example
/// ```
/// use favard_operator::{BlockMut, BlockRef, LinearOperator, Result, Workspace};
/// use favard_testkit::check_linear;
///
/// /// x ↦ x + 1, which is not linear.
/// struct PlusOne;
///
/// impl LinearOperator<f64> for PlusOne {
///     fn shape(&self) -> (usize, usize) {
///         (1, 1)
///     }
///     fn apply(
///         &self,
///         alpha: f64,
///         x: BlockRef<'_, f64>,
///         gamma: f64,
///         mut y: BlockMut<'_, f64>,
///         _: &mut Workspace<f64>,
///     ) -> Result<()> {
///         self.check_apply(x, &y)?;
///         for j in 0..x.cols() {
///             let old = if gamma == 0.0 { 0.0 } else { gamma * y.row(0)[j] };
///             y.row_mut(0)[j] = alpha * (x.row(0)[j] + 1.0) + old;
///         }
///         Ok(())
///     }
/// }
///
/// let violation = check_linear(&PlusOne).unwrap_err();
/// assert_eq!(violation.law(), "linearity");
/// println!("{violation}");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    law: &'static str,
    subject: &'static str,
    case: String,
    kind: Box<ViolationKind>,
}

/// What was found instead of what the law says.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ViolationKind {
    /// A number is further from its expected value than rounding explains.
    #[error(
        "entry ({row}, {column}) is {found:e}, expected {expected:e}, tolerance {tolerance:.2e}"
    )]
    Differs {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// The value by the law.
        expected: f64,
        /// The value that came out.
        found: f64,
        /// The largest difference that rounding explains.
        tolerance: f64,
    },
    /// Two runs that have to agree in every bit do not.
    #[error("entry ({row}, {column}) is {found:e}, expected the very bits of {expected:e}")]
    Bits {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// The value of the first run.
        expected: f64,
        /// The value of the second.
        found: f64,
    },
    /// The operator wrote to memory behind or between the rows of its block.
    #[error("position {position} of the slice was written, which is outside of the block")]
    Outside {
        /// Where in the slice that holds the block.
        position: usize,
    },
    /// Bad input came back with `Ok`.
    #[error("came back with Ok, an error was due")]
    Accepted,
    /// Bad input was refused, but only after the output had been written.
    #[error("entry ({row}, {column}) was written before the error came back")]
    Touched {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
    },
    /// The operator returned an error where it has to work.
    #[error("failed: {message}")]
    Failed {
        /// The error's message.
        message: String,
    },
    /// The operator panicked.
    #[error("panicked: {message}")]
    Panicked {
        /// The panic's message.
        message: String,
    },
}

impl Violation {
    pub(crate) fn new(law: &'static str, case: impl Into<String>, kind: ViolationKind) -> Self {
        Self { law, subject: "", case: case.into(), kind: Box::new(kind) }
    }

    /// The same violation, of a product other than `apply`.
    pub(crate) fn of(mut self, subject: &'static str) -> Self {
        self.subject = subject;
        self
    }

    /// The law, by the name of its function in [`laws`](crate::laws).
    #[must_use]
    pub fn law(&self) -> &'static str {
        self.law
    }

    /// The product that breaks it: `apply` when empty, else another method.
    #[must_use]
    pub fn subject(&self) -> &'static str {
        self.subject
    }

    /// The shapes and factors of the case.
    #[must_use]
    pub fn case(&self) -> &str {
        &self.case
    }

    /// What was found.
    #[must_use]
    pub fn kind(&self) -> &ViolationKind {
        &self.kind
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { law, subject, case, kind } = self;
        let of = if subject.is_empty() { "" } else { " of " };
        write!(f, "{law}{of}{subject} ({case}): {kind}")
    }
}

impl std::error::Error for Violation {}
