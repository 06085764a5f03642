//! BᵀB and BBᵀ of a sparse matrix, formed from the pairs of entries that meet.
//!
//! Both are a sum over lines, the rows of B or its columns, of squares of one rank. With
//! B = √W (A − 1mᵀ) F, a line is c − t p: its entries, scaled, less a multiple t of a vector p that all
//! lines share, so that it stays sparse:
//!
//! $$ G = \sum_\ell (c_\ell - t_\ell p)(c_\ell - t_\ell p)^T
//!      = \sum_\ell c_\ell c_\ell^T - p q^T - q p^T + r\, p p^T, \quad
//!    q = \sum_\ell t_\ell c_\ell, \quad r = \sum_\ell t_\ell^2. $$
//!
//! A line of n numbers with e entries takes e²/2 multiply-adds instead of n²/2. Lines of middle length are added up
//! together, each of their entries times the line with its zeros ([`tile`]); full lines are written out,
//! c − t p and all, and squared as dense matrices are.
//!
//! What cancels in the second form is little: a column of A stored in a share s of its rows has squares
//! of at most 1/(1 − s) times those about its mean. Lines with more than a third of their entries are
//! written out, and numbers that more than half of the lines have are filled into all.
//!
//! # Bytes
//! The lines that A is not stored by are transposed a panel at a time, which stays in cache: A is read twice
//! (its columns are counted first), and nothing as large as a block of the longer side is touched. With
//! 10 million entries in 100 × 3,000,000 that is 0.16 GB; a product $A A^T Z$ with 16 columns writes and
//! reads a block of 0.38 GB, each row of it three times on average.

mod cut;
mod line;
mod panel;
mod sum;
mod tile;

use rayon::prelude::*;

use super::Csr;
use crate::adjoint::{Forming, Side, Standardized};
use crate::{Block, Column, Scalar};
use cut::Cut;
use line::Terms;
use panel::Panel;
use sum::Sum;

/// How a matrix is seen: as stored, or as its transpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    ByRows,
    ByColumns,
}

impl Stored {
    /// Whether the lines of a side are the rows of what is stored.
    fn are_lines(self, side: Side) -> bool {
        (self == Self::ByRows) == (side == Side::Columns)
    }
}

/// What forming takes.
pub(crate) fn forming<T: Scalar, I: Column>(
    a: &Csr<'_, T, I>,
    stored: Stored,
    side: Side,
) -> Forming {
    let rows_are_lines = stored.are_lines(side);
    cut::rough(a, rows_are_lines).unwrap_or_else(|| Cut::new(a, rows_are_lines).forming())
}

/// The matrix of inner products of a side. The groups of lines and the order in which they are added
/// depend on the matrix alone.
pub(crate) fn form<T: Scalar, I: Column>(
    a: &Csr<'_, T, I>,
    stored: Stored,
    side: Side,
    by: &Standardized<'_, T>,
) -> Block<T> {
    let cut = Cut::new(a, stored.are_lines(side));
    let terms = Terms::new(a, &cut, side, by);
    let sum_of = |lines: std::ops::Range<usize>| {
        let mut sum = Sum::new(cut.dim);
        if stored.are_lines(side) {
            for line in lines {
                let (at, values) = a.row(line);
                sum.add(&terms, line, at.iter().map(|at| at.at()).zip(values.iter().copied()));
            }
        } else {
            let mut panel = Panel::new(a, lines);
            while let Some(columns) = panel.advance(&cut) {
                for line in columns {
                    sum.add(&terms, line, panel.line(line));
                }
            }
        }
        sum.finish()
    };
    let sums: Vec<Sum<T>> = cut.groups().into_par_iter().map(sum_of).collect();
    terms.collect(&sums)
}
