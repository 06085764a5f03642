//! [`State`]: a run of block Lanczos between a step and the look at its Ritz pairs.

use std::borrow::Cow;

use favard_engine::Record;
use favard_operator::{Block, Scalar};
use serde::{Deserialize, Serialize};

/// What a checkpoint carries: the basis, $T$, and the next panel with its R. The Ritz pairs follow
/// from them, and are looked at again.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
pub(super) struct State<'a, T: Scalar> {
    pub panels: Cow<'a, [Block<T>]>,
    pub coupled: usize,
    /// The next panel, orthonormal, and its R.
    pub image: Cow<'a, Block<T>>,
    pub r: Cow<'a, Block<T>>,
    pub rank: usize,
    /// T = VᵀAV, as large as V has columns.
    pub small: Block<T>,
    /// What products are multiplied by.
    pub factor: T,
    pub products: u64,
    pub check: u64,
    pub seen: Seen<T>,
    pub history: Cow<'a, [Record<T>]>,
}

/// The first Ritz value, the worst residual, and the product after which they were looked at.
pub(super) type Seen<T> = (T, T, u64);

impl<T: Scalar> State<'_, T> {
    /// `None` when the parts fit each other and a run of this dimension, panel and basis; else what
    /// does not.
    pub fn problem(&self, dim: usize, width: usize, room: usize) -> Option<&'static str> {
        let used: usize = self.panels.iter().map(Block::cols).sum();
        if self.panels.iter().any(|panel| panel.rows() != dim) {
            return Some("a panel of the basis has another number of rows");
        }
        if self.panels.last().is_none_or(|last| last.cols() != width) || used > room + width {
            return Some("the basis has other panels");
        }
        if self.image.shape() != (dim, width) || self.r.shape() != (width, width) {
            return Some("the next panel has another shape");
        }
        if self.small.shape() != (used, used) || self.coupled >= self.panels.len() {
            return Some("the projected matrix has another shape");
        }
        if !(self.factor.is_finite() && self.factor > T::zero()) {
            return Some("products are multiplied by no positive number");
        }
        None
    }
}
