//! Y ← α A_S X + γ Y.

use rayon::join;

use super::lanes::{combine, gather};
use super::{Pick, Rows};
use crate::{BlockMut, BlockRef, Scalar};

/// Entries (times columns of the block) below which a range of rows is not split again.
const GRAIN: usize = 1 << 15;

/// Y ← α A_S X + γ Y, one row of Y for each picked row. Shapes fit.
pub(crate) fn forward<T: Scalar>(
    a: Rows<'_, T>,
    pick: impl Pick,
    alpha: T,
    x: BlockRef<'_, T>,
    gamma: T,
    y: BlockMut<'_, T>,
) {
    let rows = y.rows();
    if rows * y.cols() > 0 {
        range(a, pick, alpha, x, gamma, y, 0);
    }
}

fn range<T: Scalar>(
    a: Rows<'_, T>,
    pick: impl Pick,
    alpha: T,
    x: BlockRef<'_, T>,
    gamma: T,
    mut y: BlockMut<'_, T>,
    first: usize,
) {
    let ((rows, cols), stride) = (y.shape(), y.stride());
    let mean = a.values.len() / a.rows().max(1) + 1;
    if rows > 1 && rows * cols * mean > GRAIN {
        let half = rows / 2;
        let (top, bottom) = y.data_mut().split_at_mut(half * stride);
        let top = BlockMut::from_parts(top, half, cols, stride);
        let bottom = BlockMut::from_parts(bottom, rows - half, cols, stride);
        join(
            || range(a, pick, alpha, x, gamma, top, first),
            || range(a, pick, alpha, x, gamma, bottom, first + half),
        );
        return;
    }
    for i in 0..rows {
        let (columns, values) = a.row(pick.at(first + i));
        for (j, out) in y.row_mut(i).iter_mut().enumerate() {
            // yᵢ ← α Σ_c a_ic x_c + γ yᵢ
            let sum = gather(columns, values, x, j);
            *out = combine(alpha, sum, gamma, *out);
        }
    }
}
