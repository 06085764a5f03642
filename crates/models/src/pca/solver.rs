//! [`Solver`]: how the eigenpairs are found.

use std::ops::ControlFlow;

use favard_engine::gauge::AugmentedQr;
use favard_engine::map::Exact;
use favard_engine::observe::{Step, Tolerance};
use favard_engine::recurrence::Dynamic;
use favard_engine::{Engine, Record, Stop};
use favard_operator::{Block, LinearOperator, Scalar};

use crate::error::Result;
use crate::{Eigen, Lanczos, exact_eigen};

/// What is called after every step of a fit: it sees how far the fit is, and can stop it.
pub type Watch<'a, T> = dyn FnMut(&Record<T>) -> ControlFlow<Stop> + 'a;

/// The methods of [`Pca`](super::Pca) and [`TruncatedSvd`](crate::TruncatedSvd).
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

/// The eigenpairs, the method that was used and why.
pub(crate) struct Solution<T> {
    pub eigen: Eigen<T>,
    pub method: Solver,
    pub reason: String,
}

impl Solver {
    /// The method for `components` pairs of a matrix of this size, and why.
    pub(crate) fn choose<T: Scalar>(self, dim: usize, components: usize) -> (Self, String) {
        let (forming, iterating) = (dim.div_ceil(T::LANE), components + 24);
        if self != Self::Auto {
            (self, "asked for".to_string())
        } else if forming <= iterating {
            let reason = format!(
                "forming the {dim} × {dim} matrix takes {forming} block products, \
                 an iteration about {iterating}"
            );
            (Self::Exact, reason)
        } else {
            let reason = format!(
                "an iteration takes about {iterating} block products, \
                 forming the {dim} × {dim} matrix {forming}"
            );
            (Self::Lanczos, reason)
        }
    }

    /// The leading eigenpairs of a symmetric operator, from given columns if there are any.
    pub(crate) fn solve<T: Scalar>(
        self,
        op: &dyn LinearOperator<T>,
        plan: &Lanczos,
        start: Option<&Block<T>>,
        watch: &mut Watch<'_, T>,
    ) -> Result<Solution<T>> {
        let (dim, components) = (op.shape().0, plan.components());
        let (method, reason) = self.choose::<T>(dim, components);
        let eigen = match method {
            Self::Exact => exact(op, components, watch)?,
            Self::Dynamic => dynamic(op, plan, start, watch)?,
            Self::Auto | Self::Lanczos => {
                let plan = match start {
                    // All columns of a start in the first panel, where none is added to another.
                    Some(start) if start.cols() > T::LANE / 2 => {
                        plan.clone().width(start.cols().next_multiple_of(T::LANE / 2))
                    }
                    _ => plan.clone(),
                };
                plan.solve_watched(op, start, watch)?
            }
        };
        Ok(Solution { eigen, method, reason })
    }
}

/// All eigenvalues come at once: one more than wanted is the guard, and there is one step to watch.
fn exact<T: Scalar>(
    op: &dyn LinearOperator<T>,
    components: usize,
    watch: &mut Watch<'_, T>,
) -> Result<Eigen<T>> {
    let guarded = if components < op.shape().0 { components + 1 } else { components };
    let mut found = exact_eigen(op, guarded)?;
    found.truncate(components);
    if let Some(record) = found.info.history.last() {
        // There is nothing left to stop.
        let _ = watch(record);
    }
    Ok(found)
}

/// Momentum whose β follows the residuals, on a block with guard columns.
fn dynamic<T: Scalar>(
    op: &dyn LinearOperator<T>,
    plan: &Lanczos,
    start: Option<&Block<T>>,
    watch: &mut Watch<'_, T>,
) -> Result<Eigen<T>> {
    let (dim, components) = (op.shape().0, plan.components());
    // Guard columns up to the next cache line, at least two where there is room.
    let width = (components + 2).next_multiple_of(T::LANE).min(dim);
    let (tolerance, products, seed) = plan.limits();
    let mut block = Block::gaussian(dim, width, seed);
    if let Some(start) = start {
        for i in 0..dim {
            block.row_mut(i).iter_mut().zip(start.row(i)).for_each(|(to, &from)| *to = from);
        }
    }
    let mut engine = Engine::new(Exact::new(op)?, Dynamic::default(), block)?
        .with_gauge(AugmentedQr::new(width));
    let report = |step: &Step<'_, T>| {
        let Some(measure) = step.measure.filter(|measure| !measure.ritz.is_empty()) else {
            return ControlFlow::Continue(());
        };
        let leading = measure.residuals.iter().take(components);
        let residual = leading.fold(T::zero(), |m, &r| m.max(r));
        let (tick, passes) = (step.tick, step.cost.passes);
        watch(&Record { tick, passes, ritz: measure.ritz[0], residual })
    };
    let info = engine.run(products, &mut (Tolerance::new(tolerance, components)?, report))?;
    let block = engine.block().clone();
    drop(engine);
    let mut found = Eigen::of_span(op, &block, components, info)?;
    if found.info.stop == Stop::Iterations && found.meets(tolerance) {
        found.info.stop = Stop::Converged;
    }
    Ok(found)
}
