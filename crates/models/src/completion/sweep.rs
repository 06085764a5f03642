//! [`sweep`]: one pass over the observed entries.

use favard_operator::{BlockMut, BlockRef, Csr, Scalar};
use rayon::prelude::*;

/// Rows of a task.
const TASK: usize = 256;

/// $g_i \leftarrow c \sum_{j \in \Omega_i} \rho_{ij} q_j$ and $m_i \leftarrow \sum_j \rho_{ij}^2$
/// with $\rho_{ij}$ = `entry(i, j, value)` over the stored entries of row i.
///
/// Rows are independent of each other: the bits do not depend on the number of threads.
pub(super) fn sweep<T: Scalar>(
    matrix: &Csr<'_, T>,
    q: BlockRef<'_, T>,
    scale: T,
    mut g: BlockMut<'_, T>,
    mut misfit: BlockMut<'_, T>,
    entry: impl Fn(usize, usize, T) -> T + Sync,
) {
    let (stride, cols) = (g.stride(), g.cols());
    let task = |index: usize, part: &mut [T], sums: &mut [T]| {
        for (place, (row, sum)) in part.chunks_mut(stride).zip(sums).enumerate() {
            let i = index * TASK + place;
            let row = &mut row[..cols];
            row.fill(T::zero());
            *sum = T::zero();
            let (columns, values) = matrix.row(i);
            for (&j, &value) in columns.iter().zip(values) {
                let rho = entry(i, j as usize, value);
                *sum += rho * rho;
                row.iter_mut().zip(q.row(j as usize)).for_each(|(g, &q)| *g += rho * q);
            }
            row.iter_mut().for_each(|g| *g *= scale);
        }
    };
    let rows = g.rows();
    // One number a row: the block of one column is dense.
    let sums = &mut misfit.data_mut()[..rows];
    if rows <= TASK {
        task(0, g.data_mut(), sums);
    } else {
        let parts = g.data_mut().par_chunks_mut(TASK * stride).zip(sums.par_chunks_mut(TASK));
        parts.enumerate().for_each(|(index, (part, sums))| task(index, part, sums));
    }
}
