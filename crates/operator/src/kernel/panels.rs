//! Y ← α (X₁ X₂ …) R + γ Y for packed panels as wide as Y.
//!
//! A general matrix product works on one panel after the other, and Y is moved once for each. Here
//! four to sixteen rows of Y stay in registers while all panels pass by: each is read once, and R, which is
//! small, comes from the first-level cache. What limits it is arithmetic, so that multiply-adds are fused
//! where the processor can, as in the matrix products of faer that it stands in for.

// Inlining carries the instruction set into the loops: see `lanes`.
#![allow(clippy::inline_always)]

use pulp::{Arch, Simd, WithSimd};

use super::lanes::combine;
use super::slab::{rows_of, rows_of_mut, with_lanes};
use crate::{BlockMut, BlockRef, Scalar};

/// Whether rows of so many numbers are a vector, or several.
fn is_vector<T: Scalar>(width: usize) -> bool {
    width.is_power_of_two() && (T::LANE / 4..=T::LANE).contains(&width)
}

/// Whether [`multiply_packed`] can do it: all rows are vectors one behind the other.
pub(crate) fn fits_packed<T: Scalar>(
    panels: &[BlockRef<'_, T>],
    r: BlockRef<'_, T>,
    width: usize,
    stride: usize,
) -> bool {
    let packed = |cols: usize, stride: usize| cols == width && stride == width;
    is_vector::<T>(width)
        && packed(width, stride)
        && packed(r.cols(), r.stride())
        && panels.iter().all(|x| packed(x.cols(), x.stride()))
}

/// Y ← α (X₁ X₂ …) R + γ Y, with the rows of the panels counted from `from`. The shapes fit.
pub(crate) fn multiply_packed<T: Scalar>(
    alpha: T,
    panels: &[BlockRef<'_, T>],
    from: usize,
    r: BlockRef<'_, T>,
    gamma: T,
    mut y: BlockMut<'_, T>,
) {
    let rows = y.rows();
    with_lanes!(y.cols(), W => Arch::new().dispatch(Multiply::<T, W> {
        alpha,
        panels,
        from,
        r: rows_of::<T, W>(r.data()),
        gamma,
        y: &mut rows_of_mut::<T, W>(y.data_mut())[..rows],
    }));
}

struct Multiply<'a, T, const W: usize> {
    alpha: T,
    panels: &'a [BlockRef<'a, T>],
    from: usize,
    r: &'a [[T; W]],
    gamma: T,
    y: &'a mut [[T; W]],
}

impl<T: Scalar, const W: usize> WithSimd for Multiply<'_, T, W> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        // Without the instruction a fused multiply-add is a function of a hundred others.
        match W {
            _ if S::IS_SCALAR => self.run::<false, 4>(),
            // A sum waits for the one before it: there are as many as registers hold.
            2 => self.run::<true, 16>(),
            4 => self.run::<true, 8>(),
            8.. if S::REGISTER_COUNT >= 32 => self.run::<true, 8>(),
            _ => self.run::<true, 4>(),
        }
    }
}

impl<T: Scalar, const W: usize> Multiply<'_, T, W> {
    #[inline(always)]
    fn run<const FUSED: bool, const ROWS: usize>(self) {
        let Self { alpha, panels, from, r, gamma, y } = self;
        let (groups, rest) = y.as_chunks_mut::<ROWS>();
        let whole = groups.len() * ROWS;
        for (group, y) in groups.iter_mut().enumerate() {
            let mut sums = [[T::zero(); W]; ROWS];
            for (x, r) in panels.iter().zip(r.as_chunks::<W>().0) {
                let first = from + group * ROWS;
                let x = &rows_of::<T, W>(x.data())[first..];
                if let Some(x) = x.first_chunk::<ROWS>() {
                    add::<T, ROWS, W, FUSED>(&mut sums, *x, r);
                }
            }
            combine(alpha, sums.as_flattened(), gamma, y.as_flattened_mut());
        }
        for (i, y) in rest.iter_mut().enumerate() {
            let mut sums = [[T::zero(); W]; 1];
            for (x, r) in panels.iter().zip(r.as_chunks::<W>().0) {
                let x = rows_of::<T, W>(x.data())[from + whole + i];
                add::<T, 1, W, FUSED>(&mut sums, [x], r);
            }
            combine(alpha, &sums[0], gamma, y);
        }
    }
}

/// sums ← sums + x R for U rows.
#[inline(always)]
fn add<T: Scalar, const U: usize, const W: usize, const FUSED: bool>(
    sums: &mut [[T; W]; U],
    x: [[T; W]; U],
    r: &[[T; W]; W],
) {
    for c in 0..W {
        for u in 0..U {
            for j in 0..W {
                sums[u][j] = if FUSED {
                    x[u][c].mul_add(r[c][j], sums[u][j])
                } else {
                    sums[u][j] + x[u][c] * r[c][j]
                };
            }
        }
    }
}
