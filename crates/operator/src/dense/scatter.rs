//! The moments of the columns and Σ wᵢ (aᵢ − μ)(aᵢ − μ)ᵀ, in one pass over the rows.

use std::ops::Range;

use ndarray::ArrayView2;
use rayon::prelude::*;

use super::gram::{collect, partials};
use super::lines::Source;
use super::piece::Piece;
use super::square::{add_square, width};
use crate::wrap::{Group, SHORT, cut_dense};
use crate::{Block, Scalar, Scatter};

/// The rows that one partial sum is over.
#[derive(Debug)]
struct Part<T> {
    /// The sum of the squares of pieces about their own means, its lower triangle.
    sum: Block<T>,
    /// The moments, as [`ColumnMoments`](crate::ColumnMoments) groups them.
    groups: Vec<Group>,
    /// Weight and mean of each piece.
    weights: Vec<f64>,
    means: Vec<f64>,
}

/// Σ w (a − μ)(a − μ)ᵀ = Σ_c Σ_{i in c} w (a − μ_c)(a − μ_c)ᵀ + Σ_c W_c (μ_c − μ)(μ_c − μ)ᵀ over
/// pieces c of rows that stay in cache: sums of squares only, from which nothing is subtracted, so
/// that no mean is too large and no order of the rows is bad. The cuts depend on the shape alone.
///
/// # Reference
/// Chan, Golub, `LeVeque` 1983, eq. 2.1, for matrices.
pub(crate) fn scatter<T: Scalar>(a: ArrayView2<'_, T>, weights: Option<&[f64]>) -> Scatter<T> {
    let (rows, dim) = a.dim();
    if dim == 0 {
        let weight = weights.map_or(rows as f64, |weights| weights.iter().sum());
        let moments = Group::empty(0).into_moments(rows);
        return Scatter { moments, weight, matrix: Block::zeros(0, 0) };
    }
    let (source, ranges) = (Source::new(a), cut_dense((rows, dim)));
    let each = ranges.len().div_ceil(partials(dim, rows, SHORT)).max(1);
    let mut parts: Vec<Part<T>> =
        ranges.par_chunks(each).map(|ranges| within(&source, dim, ranges, weights)).collect();
    let groups = parts.iter().flat_map(|part| &part.groups);
    let group = groups.fold(Group::empty(dim), Group::merge);
    parts.par_iter_mut().for_each(|part| between(part, &group.mean));
    let sums: Vec<Block<T>> = parts.into_iter().map(|part| part.sum).collect();
    let weight = group.total;
    Scatter { moments: group.into_moments(rows), weight, matrix: collect(dim, &sums) }
}

/// The pieces of some ranges of rows, each about its own mean.
fn within<T: Scalar>(
    source: &Source<'_, T>,
    dim: usize,
    ranges: &[Range<usize>],
    weights: Option<&[f64]>,
) -> Part<T> {
    let width = width::<T>(dim);
    let pieces = ranges.iter().map(|range| range.len().div_ceil(SHORT)).sum();
    let mut part = Part {
        sum: Block::zeros(dim, dim),
        groups: Vec::with_capacity(ranges.len()),
        weights: Vec::with_capacity(pieces),
        means: Vec::with_capacity(pieces * dim),
    };
    let (mut piece, mut copy) = (Piece::new(SHORT, width), Block::zeros(0, width));
    for range in ranges {
        let mut group = Group::empty(dim);
        for from in range.clone().step_by(SHORT) {
            let len = SHORT.min(range.end - from);
            let lines = source.lines((from, len), width, &mut copy);
            piece.take(lines, len, weights.map(|weights| &weights[from..from + len]));
            if piece.weight > 0.0 {
                add_square(&piece.rows, len, part.sum.as_mut());
                group.add(piece.weight, &piece.mean[..dim], &piece.squares[..dim]);
                part.weights.push(piece.weight);
                part.means.extend_from_slice(&piece.mean[..dim]);
            }
        }
        part.groups.push(group);
    }
    part
}

/// sum ← sum + Σ_c W_c (μ_c − μ)(μ_c − μ)ᵀ
fn between<T: Scalar>(part: &mut Part<T>, mean: &[f64]) {
    let dim = mean.len();
    let Part { sum, weights, means, .. } = part;
    let mut rows = Block::zeros(SHORT.min(weights.len()), width::<T>(dim));
    for (weights, means) in weights.chunks(SHORT).zip(means.chunks(SHORT * dim)) {
        for (i, (weight, own)) in weights.iter().zip(means.chunks(dim)).enumerate() {
            let root = weight.sqrt();
            let gaps = own.iter().zip(mean).map(|(own, mean)| T::of(root * (own - mean)));
            rows.row_mut(i).iter_mut().zip(gaps).for_each(|(to, gap)| *to = gap);
        }
        add_square(&rows, weights.len(), sum.as_mut());
    }
}
