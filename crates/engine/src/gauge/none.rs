//! [`NoGauge`]: the pair as it comes.

use favard_operator::{Block, Result as OperatorResult, Scalar, Workspace};

use super::{Gauge, GaugeFits};

/// Leaves the pair alone. The iterate may then overflow, which the engine reports as an error with
/// the tick and the column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NoGauge;

impl<T: Scalar> Gauge<T> for NoGauge {
    fn name(&self) -> &'static str {
        "none"
    }

    fn fix(
        &mut self,
        _: u64,
        _: &[T],
        _: &mut Block<T>,
        _: &mut Block<T>,
        _: &mut Workspace<T>,
    ) -> OperatorResult<()> {
        Ok(())
    }
}

impl<M> GaugeFits<M> for NoGauge {}
