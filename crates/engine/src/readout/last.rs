//! [`Last`]: the iterate itself.

use favard_operator::{Block, Result as OperatorResult, Scalar};

use super::{Readout, ReadoutFits};

/// The answer is the last iterate $F_t$.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Last;

impl<T: Scalar> Readout<T> for Last {
    fn name(&self) -> &'static str {
        "last"
    }

    fn absorb(&mut self, _: u64, _: &Block<T>) -> OperatorResult<()> {
        Ok(())
    }

    fn answer<'a>(&'a self, cur: &'a Block<T>) -> &'a Block<T> {
        cur
    }
}

impl<G> ReadoutFits<G> for Last {}
