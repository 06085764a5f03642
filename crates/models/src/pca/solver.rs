//! [`Solver`]: how the eigenpairs are found.

use favard_engine::gauge::AugmentedQr;
use favard_engine::map::Exact;
use favard_engine::observe::Tolerance;
use favard_engine::recurrence::Dynamic;
use favard_engine::{Engine, Stop};
use favard_operator::{Block, LinearOperator, Scalar};

use crate::error::Result;
use crate::{Eigen, Lanczos, exact_eigen};

/// The methods of [`Pca`](super::Pca).
///
/// `Auto` forms the matrix when that takes no more block products than an iteration would:
/// n / 8 products against an expected k + 24, n the smaller side of the data; otherwise it is block
/// Lanczos. Dynamic momentum is for when a basis cannot be stored: three blocks of k + guard columns
/// instead of max(2k, k + 32) basis columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Solver {
    /// Chosen by the rule above.
    #[default]
    Auto,
    /// The matrix is formed and solved: [`exact_eigen`].
    Exact,
    /// Block Lanczos with thick restart: [`Lanczos`].
    Lanczos,
    /// Block power iteration with dynamic momentum on the engine, in the stable form (A'').
    Dynamic,
}

impl Solver {
    /// The eigenpairs, the method that was used and why.
    pub(super) fn solve<T: Scalar>(
        self,
        op: &dyn LinearOperator<T>,
        plan: Lanczos,
    ) -> Result<(Eigen<T>, Self, String)> {
        let dim = op.shape().0;
        let components = plan.components();
        let (forming, iterating) = (dim.div_ceil(T::LANE), components + 24);
        let asked = || "asked for".to_string();
        match self {
            Self::Auto if forming <= iterating => {
                let reason = format!(
                    "forming the {dim} × {dim} matrix takes {forming} block products, \
                     an iteration about {iterating}"
                );
                Ok((exact_eigen(op, components)?, Self::Exact, reason))
            }
            Self::Auto => {
                let reason = format!(
                    "an iteration takes about {iterating} block products, \
                     forming the {dim} × {dim} matrix {forming}"
                );
                Ok((plan.solve(op)?, Self::Lanczos, reason))
            }
            Self::Exact => Ok((exact_eigen(op, components)?, self, asked())),
            Self::Lanczos => Ok((plan.solve(op)?, self, asked())),
            Self::Dynamic => Ok((dynamic(op, &plan)?, self, asked())),
        }
    }
}

/// Momentum whose β follows the residuals, on a block with guard columns.
fn dynamic<T: Scalar>(op: &dyn LinearOperator<T>, plan: &Lanczos) -> Result<Eigen<T>> {
    let (dim, components) = (op.shape().0, plan.components());
    // Guard columns up to the next cache line, at least two where there is room.
    let width = (components + 2).next_multiple_of(T::LANE).min(dim);
    let (tolerance, products, seed) = plan.limits();
    let start = Block::gaussian(dim, width, seed);
    let mut engine = Engine::new(Exact::new(op)?, Dynamic::default(), start)?
        .with_gauge(AugmentedQr::new(width));
    let info = engine.run(products, &mut Tolerance::new(tolerance, components)?)?;
    let mut found = Eigen::of_span(op, engine.block(), components, info)?;
    if found.info.stop == Stop::Iterations && found.meets(tolerance) {
        found.info.stop = Stop::Converged;
    }
    Ok(found)
}
