//! What can go wrong in a model.

/// The result of everything fallible in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a model, with the numbers that explain it in its [`ErrorKind`].
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error {
    // Boxed: a result should fit in a register pair.
    kind: Box<ErrorKind>,
}

impl Error {
    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }
}

impl<K: Into<ErrorKind>> From<K> for Error {
    fn from(kind: K) -> Self {
        Self { kind: Box::new(kind.into()) }
    }
}

/// The kinds of [`Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An operator failed.
    #[error(transparent)]
    Operator(#[from] favard_operator::Error),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] favard_engine::Error),
    /// The theory found no parameters for the problem (no gap, say).
    #[error(transparent)]
    Theory(#[from] favard_theory::Error),
    /// A name that nothing has.
    #[error("{what}: {name} is none of {known}")]
    Name {
        /// What it should name.
        what: &'static str,
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// A checkpoint belongs to another run.
    #[error("checkpoint: {what} is {found} in the file and {expected} here")]
    Foreign {
        /// What differs.
        what: String,
        /// What it is here.
        expected: String,
        /// What it is in the file.
        found: String,
    },
    /// The parts of a checkpoint do not fit each other: it was not written by this library.
    #[error("checkpoint: {problem}")]
    Damaged {
        /// What does not fit.
        problem: &'static str,
    },
    /// A parameter is outside its range.
    #[error("{name}: {value} {need}")]
    Parameter {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it has to be.
        need: &'static str,
    },
    /// A number of things that is 0, or more than there are.
    #[error("{name}: {value} must be at least 1 and at most {most}, {of}")]
    Count {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: usize,
        /// The largest it may be.
        most: usize,
        /// What that is.
        of: &'static str,
    },
    /// A parameter is given to a method that does not take it.
    #[error("{name} is given, and the solver {solver} takes none")]
    NotTaken {
        /// The parameter.
        name: &'static str,
        /// The method.
        solver: &'static str,
    },
    /// There are fewer data than unknowns.
    #[error("{what}: {found} are fewer than the {needed} that the unknowns need")]
    TooFew {
        /// What there is too little of.
        what: &'static str,
        /// How many there have to be.
        needed: usize,
        /// How many there are.
        found: usize,
    },
    /// A matrix that has to be symmetric is not.
    #[error("entry ({row}, {column}) differs from entry ({column}, {row})")]
    Asymmetric {
        /// The row of the first such entry.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// An entry of a matrix is given twice.
    #[error("entry ({row}, {column}) is given twice")]
    Duplicate {
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// Products of numbers this small leave the range of the precision.
    #[error(
        "the largest eigenvalue found is {largest:e}, and the squares of the data prove at least \
         {least:e}: their products are too small for this precision; multiply the data by a power of two"
    )]
    Underflow {
        /// What was found.
        largest: f64,
        /// What there must be.
        least: f64,
    },
    /// Squares of the data are outside of the range of the precision.
    #[error(
        "the squares of the data add up to {sum:e}, which this precision does not hold with all its \
         digits; {verb} the data by a power of two"
    )]
    Scale {
        /// What they add up to, as far as it is known.
        sum: f64,
        /// What has to be done to the data: multiply or divide it.
        verb: &'static str,
    },
    /// Nothing to plan a sampled method with: the last component asked for does not stand out from
    /// the next one, or there are more components than the rank.
    #[error(
        "no gap: eigenvalue {components} of a sample is {last:.2e} and the next one {next:.2e}; \
         sampling is planned by the gap between them: ask for fewer components, give the \
         parameters, or use a method that reads all rows"
    )]
    NoGap {
        /// The components asked for.
        components: usize,
        /// The eigenvalue of the last one.
        last: f64,
        /// The next eigenvalue.
        next: f64,
    },
    /// Momentum and step diverge in mean square for a batch this small.
    #[error(
        "batches of {batch}: the noise gain {gain:.2} of this step and momentum is not below 1, so \
         they diverge in mean square; they converge from batches of {needed:.0} on"
    )]
    Diverges {
        /// The batch size asked for.
        batch: usize,
        /// The noise gain, which would have to be below 1.
        gain: f64,
        /// The batch size from which the gain is below 1.
        needed: f64,
    },
}

/// `Ok` when a number of things is at least 1 and at most `most`, which is what `of` says.
pub(crate) fn check_count(
    name: &'static str,
    value: usize,
    most: usize,
    of: &'static str,
) -> Result<()> {
    if (1..=most).contains(&value) {
        return Ok(());
    }
    Err(ErrorKind::Count { name, value, most, of }.into())
}
