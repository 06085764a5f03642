//! [`Norm`]: columns of length one.

use favard_operator::{Block, Result as OperatorResult, Scalar, Workspace, ops};

use super::{Gauge, GaugeFits};
use crate::map::Homogeneous;

/// Divides each column of the pair by the length of that column of $F_t$, taken before either block
/// changes (erratum 3.13).
///
/// For one column it is all that is needed. The columns of a wider block all turn towards the first
/// eigenvector: use [`AugmentedQr`](super::AugmentedQr) there. A column that has become zero is left
/// as it is: with momentum it can come back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Norm;

impl<T: Scalar> Gauge<T> for Norm {
    fn name(&self) -> &'static str {
        "norm"
    }

    fn fix(
        &mut self,
        _: u64,
        norms: &[T],
        cur: &mut Block<T>,
        prev: &mut Block<T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<()> {
        let mut factors = ws.take(1, norms.len());
        for (factor, &norm) in factors.row_mut(0).iter_mut().zip(norms) {
            let inverse = norm.recip();
            *factor = if inverse.is_finite() { inverse } else { T::one() };
        }
        ops::scale_columns(factors.row(0), cur.as_mut())?;
        ops::scale_columns(factors.row(0), prev.as_mut())?;
        ws.give(factors);
        Ok(())
    }
}

impl<M: Homogeneous> GaugeFits<M> for Norm {}
