//! [`Solver`]: the names of the methods.

use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;

use favard_engine::{Record, Stop};

use crate::error::{Error, ErrorKind};

/// What is called after every step of a fit: it sees how far the fit is, and can stop it.
pub type Watch<'a, T> = dyn FnMut(&Record<T>) -> ControlFlow<Stop> + 'a;

/// The methods of [`Pca`](super::Pca) and [`TruncatedSvd`](crate::TruncatedSvd), each of them a
/// solver of its own that takes any operator.
///
/// A name can be parsed and printed: `"vr-pca".parse::<Solver>()`.
///
/// # The choice of `Auto`
/// Either the smaller Gram matrix is formed and solved, or block Lanczos iterates. The cheaper one
/// by this model is taken, in nanoseconds of a machine with two cores, of which only ratios matter;
/// n is the smaller side, m the larger, e the entries, $e_\ell$ those of a row (of a column for wide
/// data), k the components, b the panel:
///
/// | work | cost |
/// |---|---|
/// | form, dense data | $m n^2 / 58$ |
/// | form, sparse data, n ≤ 443 (`f64`) | $0.3 \sum_\ell e_\ell^2 + 2.4 e$ |
/// | the same with larger n | $0.45 \sum_\ell e_\ell^2 + 2.4 e$ |
/// | of these, lines with $e_\ell > n / 10$ and at least 48 entries | $n e_\ell / 60$ each |
/// | of these, lines with $e_\ell > n / 3$ | $n^2 / 58$ each |
/// | of these, lines that are not stored as such | $2.4 e$ more |
/// | form, other data | $n/8$ products with 8 columns |
/// | solve the matrix | $0.12\, n^3$ |
/// | a product with b columns, sparse data | $2e\, (0.65 + 0.06 b)$ |
/// | the same across the lines, with a block of over 1.5 MB | $4e$ for each line of cache of b numbers more |
/// | a product with b columns, dense data | $2e\, (0.15 + 0.027 b)$ |
/// | orthogonalise in a step, basis of c columns | $n\, b\, (c + 8) / 6$ |
/// | steps | $(9 + 4 k / b)(0.4 + 0.075 \log_{10} 1/\tau)$ |
///
/// The number of steps is a mean over spectra of real data, and a hard one takes several times as
/// many: forming is preferred up to 1.5 times the cost. Dense and sparse matrices, and what wraps them, know
/// what forming takes: for dense data it is preferred up to 1.2 times, for sparse up to 1.75, because the iteration is
/// given up for the matrix once it has cost as much (unless the matrix is more than 4 times what the iteration
/// should take): however hard the spectrum, the fit takes about twice the cheaper way. A start that is given, or
/// a checkpoint, decides for Lanczos alone.
///
/// # Wide sparse data
/// Stored by rows that name millions of columns, every entry of a product fetches a line of a block that no cache
/// holds. Where the longer side of a sparse matrix in memory has more than 24,576 rows or columns (`f64`) and the matrix is stored by the
/// shorter one, a fit first makes a copy stored by the longer side, if that takes no more than
/// $2 (n + m)(k + 8)$ numbers; methods that sample do without. It costs as much as two products, and
/// a product then takes a fourth (1,000 × 1,500,000, 9 million entries).
///
/// # Sampled methods
/// They plan their batches and steps by the gap $\lambda_k - \lambda_{k+1}$ of a sample. Where there is
/// none, or the rank is below the components, they are refused with
/// [`NoGap`](crate::ErrorKind::NoGap) unless their parameters are given; the methods that read all
/// rows need no gap, and find zeros beyond the rank.
///
/// # Example
/// ```
/// use favard_models::Solver;
/// assert_eq!("krylov".parse::<Solver>()?, Solver::Lanczos);
/// assert_eq!(Solver::VrPca.to_string(), "vr-pca");
/// let wrong = "simplex".parse::<Solver>().unwrap_err().to_string();
/// assert!(wrong.starts_with("solver: simplex is none of auto, exact, krylov, power"));
/// # Ok::<(), favard_models::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Solver {
    /// Chosen by the model above.
    #[default]
    Auto,
    /// The matrix is formed and solved: [`exact_eigen`](crate::exact_eigen).
    Exact,
    /// Block Lanczos with thick restart: [`Lanczos`](crate::Lanczos).
    Lanczos,
    /// [`Power`](crate::solvers::Power).
    Power,
    /// [`PowerMomentum`](crate::solvers::PowerMomentum), β from the guard columns unless given.
    Momentum,
    /// [`DynamicMomentum`](crate::solvers::DynamicMomentum): no basis to store.
    Dynamic,
    /// [`ShiftedChebyshev`](crate::solvers::ShiftedChebyshev) on (0, guard).
    Chebyshev,
    /// [`BestHeavyBall`](crate::solvers::BestHeavyBall).
    HeavyBall,
    /// [`Inhomogeneous`](crate::solvers::Inhomogeneous) for a spectrum that is uniform below the
    /// components, its ends estimated by a few steps of Lanczos.
    Inhomogeneous,
    /// [`Oja`](crate::solvers::Oja): samples, to the accuracy that its noise allows.
    Oja,
    /// [`OjaMomentum`](crate::solvers::OjaMomentum).
    OjaMomentum,
    /// [`AdaOja`](crate::solvers::AdaOja).
    AdaOja,
    /// [`MiniBatchMomentum`](crate::solvers::MiniBatchMomentum).
    MiniBatch,
    /// [`VrPca`](crate::solvers::VrPca).
    VrPca,
    /// [`VrMomentum`](crate::solvers::VrMomentum).
    Vr,
}

impl Solver {
    /// All of them, in the order of their names' listing.
    pub const ALL: [Self; 15] = [
        Self::Auto,
        Self::Exact,
        Self::Lanczos,
        Self::Power,
        Self::Momentum,
        Self::Dynamic,
        Self::Chebyshev,
        Self::HeavyBall,
        Self::Inhomogeneous,
        Self::Oja,
        Self::OjaMomentum,
        Self::AdaOja,
        Self::MiniBatch,
        Self::VrPca,
        Self::Vr,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Exact => "exact",
            Self::Lanczos => "krylov",
            Self::Power => "power",
            Self::Momentum => "momentum",
            Self::Dynamic => "dynamic",
            Self::Chebyshev => "chebyshev",
            Self::HeavyBall => "heavy-ball",
            Self::Inhomogeneous => "inhomogeneous",
            Self::Oja => "oja",
            Self::OjaMomentum => "oja-momentum",
            Self::AdaOja => "ada-oja",
            Self::MiniBatch => "minibatch",
            Self::VrPca => "vr-pca",
            Self::Vr => "vr",
        }
    }

    /// Whether it works on samples of the rows.
    #[must_use]
    pub fn is_sampled(self) -> bool {
        matches!(
            self,
            Self::Oja | Self::OjaMomentum | Self::AdaOja | Self::MiniBatch | Self::VrPca | Self::Vr
        )
    }
}

impl fmt::Display for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Solver {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|solver| solver.name() == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|solver| solver.name()).collect();
            ErrorKind::Name { what: "solver", name: name.to_string(), known: names.join(", ") }
                .into()
        })
    }
}
