//! Y ← α A_Sᵀ Z + γ Y.

use rayon::join;

use super::{Pick, Rows};
use crate::{BlockMut, BlockRef, Scalar, ops};

/// Y ← α A_Sᵀ Z + γ Y, one row of Z for each picked row. Shapes fit.
///
/// Each number of Y is its old value times γ, plus v (α z) for its entries v in the order of the
/// rows: the bits do not depend on how the columns are shared out.
pub(crate) fn transpose<T: Scalar>(
    a: Rows<'_, T>,
    pick: impl Pick,
    alpha: T,
    z: BlockRef<'_, T>,
    gamma: T,
    mut y: BlockMut<'_, T>,
) {
    ops::scale(gamma, y.reborrow());
    if z.rows() * z.cols() > 0 && y.rows() > 0 {
        range(a, pick, alpha, z, y, 0);
    }
}

fn range<T: Scalar>(
    a: Rows<'_, T>,
    pick: impl Pick,
    alpha: T,
    z: BlockRef<'_, T>,
    mut y: BlockMut<'_, T>,
    first: usize,
) {
    let ((rows, cols), stride) = (y.shape(), y.stride());
    let wide = a.cols.div_ceil(rayon::current_num_threads());
    if rows > 1 && rows > wide {
        let half = rows / 2;
        let (top, bottom) = y.data_mut().split_at_mut(half * stride);
        let top = BlockMut::from_parts(top, half, cols, stride);
        let bottom = BlockMut::from_parts(bottom, rows - half, cols, stride);
        join(
            || range(a, pick, alpha, z, top, first),
            || range(a, pick, alpha, z, bottom, first + half),
        );
        return;
    }
    for i in 0..z.rows() {
        let (columns, values) = a.row(pick.at(i));
        let from = columns.partition_point(|&column| (column as usize) < first);
        let to = columns.partition_point(|&column| (column as usize) < first + rows);
        for (&column, &value) in columns[from..to].iter().zip(&values[from..to]) {
            let out = y.row_mut(column as usize - first);
            // y_c ← y_c + a_ic (α zᵢ)
            out.iter_mut().zip(z.row(i)).for_each(|(y, &z)| *y += value * (alpha * z));
        }
    }
}
