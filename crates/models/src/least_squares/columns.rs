//! Arithmetic with a coefficient for each column: right-hand sides are solved side by side.
//!
//! Blocks of up to [`PIECE`] numbers are worked on by one thread, since waking another costs more;
//! larger ones in pieces that depend on the shape alone, whose sums are added in their order.

use favard_operator::{Block, Result, Scalar, Workspace, ops};
use rayon::prelude::*;

/// Numbers in a piece: 2 MiB of `f64`.
const PIECE: usize = 256 * 1024;

/// Rows that one task looks at.
const PART: usize = 1 << 15;

/// Runs `f(first row, rows of y, their sums)` over pieces of y, and adds the sums up in order.
fn pieces<T: Scalar>(
    y: &mut Block<T>,
    sums: &mut [T],
    ws: &mut Workspace<T>,
    f: impl Fn(usize, &mut [T], &mut [T]) + Sync,
) {
    let stride = y.stride().max(1);
    let step = PIECE.div_ceil(stride);
    sums.fill(T::zero());
    let mut view = y.as_mut();
    let data = view.data_mut();
    if data.len() <= step * stride {
        return f(0, data, sums);
    }
    let parts = data.par_chunks_mut(step * stride);
    let mut partial = ws.take_zeros(parts.len(), sums.len());
    let width = partial.stride();
    let (count, mut view) = (sums.len(), partial.as_mut());
    let own = view.data_mut().par_chunks_mut(width);
    parts.zip(own).enumerate().for_each(|(index, (part, own))| {
        f(index * step, part, &mut own[..count]);
    });
    for index in 0..partial.rows() {
        sums.iter_mut().zip(partial.row(index)).for_each(|(sum, &part)| *sum += part);
    }
    ws.give(partial);
}

/// Runs `f(first row, rows of y)` over the same pieces.
fn rows_of_pieces<T: Scalar>(y: &mut Block<T>, f: impl Fn(usize, &mut [T]) + Sync) {
    let stride = y.stride().max(1);
    let step = PIECE.div_ceil(stride);
    let mut view = y.as_mut();
    let data = view.data_mut();
    if data.len() <= step * stride {
        return f(0, data);
    }
    let parts = data.par_chunks_mut(step * stride).enumerate();
    parts.for_each(|(index, part)| f(index * step, part));
}

/// y ← f(a, x, y) for the numbers of two blocks of one shape, a being that of the column.
fn zip_numbers<T: Scalar>(
    a: &[T],
    x: &Block<T>,
    y: &mut Block<T>,
    f: impl Fn(T, T, T) -> T + Sync,
) {
    let (cols, stride) = (y.cols(), y.stride().max(1));
    rows_of_pieces(y, |first, part| {
        if cols == 1 {
            // A loop over rows of one number each takes many times as long as one over the numbers.
            let x = &x.as_ref().data()[first..];
            return part.iter_mut().zip(x).for_each(|(y, &x)| *y = f(a[0], x, *y));
        }
        for (i, row) in part.chunks_mut(stride).enumerate() {
            let numbers = row[..cols].iter_mut().zip(x.row(first + i));
            numbers.zip(a).for_each(|((y, &x), &a)| *y = f(a, x, *y));
        }
    });
}

/// Σᵢ f(xᵢ, yᵢ), N sums at once, of two lists of one length. Entry i goes to sum i mod 8: one alone would
/// wait for its own additions.
fn sums_of<T: Scalar, const N: usize>(x: &[T], y: &[T], f: impl Fn(T, T) -> [T; N]) -> [T; N] {
    let mut sums = [[T::zero(); 8]; N];
    let mut add = |lane: usize, x: T, y: T| {
        let terms = f(x, y);
        (0..N).for_each(|n| sums[n][lane] += terms[n]);
    };
    let ((x, last_x), (y, last_y)) = (x.as_chunks::<8>(), y.as_chunks::<8>());
    for (x, y) in x.iter().zip(y) {
        (0..8).for_each(|lane| add(lane, x[lane], y[lane]));
    }
    last_x.iter().zip(last_y).enumerate().for_each(|(lane, (&x, &y))| add(lane, x, y));
    sums.map(|sums| sums.into_iter().sum())
}

/// yⱼ ← yⱼ + aⱼ xⱼ for each column j.
pub(super) fn add<T: Scalar>(a: &[T], x: &Block<T>, y: &mut Block<T>) {
    zip_numbers(a, x, y, |a, x, y| y + a * x);
}

/// yⱼ ← xⱼ + bⱼ yⱼ for each column j.
pub(super) fn scale_add<T: Scalar>(b: &[T], x: &Block<T>, y: &mut Block<T>) {
    zip_numbers(b, x, y, |b, x, y| x + b * y);
}

/// pⱼ ← D² gⱼ + bⱼ pⱼ for each column j, with D = diag(d).
pub(super) fn turn<T: Scalar>(d: &[T], g: &Block<T>, b: &[T], p: &mut Block<T>) {
    let (cols, stride) = (p.cols(), p.stride().max(1));
    rows_of_pieces(p, |first, part| {
        if cols == 1 {
            let g = &g.as_ref().data()[first..];
            let numbers = part.iter_mut().zip(g).zip(&d[first..]);
            return numbers.for_each(|((p, &g), &d)| *p = d * d * g + b[0] * *p);
        }
        for (i, row) in part.chunks_mut(stride).enumerate() {
            let square = d[first + i] * d[first + i];
            let numbers = row[..cols].iter_mut().zip(g.row(first + i));
            for ((p, &g), &b) in numbers.zip(b) {
                *p = square * g + b * *p;
            }
        }
    });
}

/// g ← g + a q with a number for each column, and the sums ‖g‖² and ‖D g‖² of the new columns.
pub(super) fn add_and_measure<T: Scalar>(
    a: &[T],
    q: &Block<T>,
    d: &[T],
    g: &mut Block<T>,
    sums: &mut [T],
    ws: &mut Workspace<T>,
) {
    let (cols, stride) = (g.cols(), g.stride().max(1));
    pieces(g, sums, ws, |first, part, sums| {
        if cols == 1 {
            let range = first..first + part.len();
            let q = &q.as_ref().data()[range.clone()];
            part.iter_mut().zip(q).for_each(|(g, &q)| *g += a[0] * q);
            let squares = |g: T, d: T| [g * g, (d * g) * (d * g)];
            sums.copy_from_slice(&sums_of(part, &d[range], squares));
            return;
        }
        let (plain, scaled) = sums.split_at_mut(cols);
        for (i, row) in part.chunks_mut(stride).enumerate() {
            let d = d[first + i];
            let q = q.row(first + i);
            for (j, g) in row[..cols].iter_mut().enumerate() {
                *g += a[j] * q[j];
                plain[j] += *g * *g;
                scaled[j] += (d * *g) * (d * *g);
            }
        }
    });
}

/// For each column j: pⱼᵀqⱼ, ‖pⱼ‖² and ‖pⱼ/d‖², in `sums` one after the other.
pub(super) fn curves<T: Scalar>(
    p: &mut Block<T>,
    q: &Block<T>,
    d: &[T],
    sums: &mut [T],
    ws: &mut Workspace<T>,
) {
    let (cols, stride) = (p.cols(), p.stride().max(1));
    pieces(p, sums, ws, |first, part, sums| {
        if cols == 1 {
            let range = first..first + part.len();
            [sums[0]] = sums_of(part, &q.as_ref().data()[range.clone()], |p, q| [p * q]);
            let squares = |p: T, d: T| [p * p, (p / d) * (p / d)];
            sums[1..].copy_from_slice(&sums_of(part, &d[range], squares));
            return;
        }
        let (dots, rest) = sums.split_at_mut(cols);
        let (plain, scaled) = rest.split_at_mut(cols);
        for (i, row) in part.chunks_mut(stride).enumerate() {
            let factor = d[first + i].recip();
            let q = q.row(first + i);
            for (j, &p) in row[..cols].iter().enumerate() {
                dots[j] += p * q[j];
                plain[j] += p * p;
                scaled[j] += (factor * p) * (factor * p);
            }
        }
    });
}

/// yᵢ ← fᵢ yᵢ for each row i.
pub(super) fn scale_rows<T: Scalar>(factors: &[T], y: &mut Block<T>) {
    let stride = y.stride().max(1);
    rows_of_pieces(y, |first, part| {
        let rows = part.chunks_mut(stride).zip(&factors[first..]);
        rows.for_each(|(y, &factor)| y.iter_mut().for_each(|y| *y *= factor));
    });
}

/// ‖D xⱼ‖ for each column j, with D = diag(d).
pub(super) fn scaled_norms<T: Scalar>(
    d: &[T],
    x: &Block<T>,
    out: &mut [T],
    ws: &mut Workspace<T>,
) -> Result<()> {
    let mut scaled = ws.take(x.rows(), x.cols());
    scaled.assign(x.as_ref())?;
    scale_rows(d, &mut scaled);
    ops::column_norms(scaled.as_ref(), out, ws)?;
    ws.give(scaled);
    Ok(())
}

/// max |xᵢⱼ|, numbers that are none apart.
pub(super) fn largest_entry<T: Scalar>(x: &Block<T>) -> T {
    let widest = |m: T, v: &T| if v.abs() > m { v.abs() } else { m };
    let part = |first: usize| {
        let rows = first..x.rows().min(first + PART);
        // Eight side by side: one alone would wait for its own comparisons.
        let mut most = [T::zero(); 8];
        if x.cols() == 1 {
            let (lines, rest) = x.as_ref().data()[rows].as_chunks::<8>();
            for line in lines.iter().map(|line| &line[..]).chain([rest]) {
                most.iter_mut().zip(line).for_each(|(m, v)| *m = widest(*m, v));
            }
        } else {
            most[0] = rows.flat_map(|i| x.row(i)).fold(T::zero(), widest);
        }
        most.iter().fold(T::zero(), widest)
    };
    let parts = (0..x.rows()).into_par_iter().step_by(PART).map(part);
    parts.reduce(T::zero, |a, b| widest(a, &b))
}

/// The largest of some numbers of which none is negative; NaN when one of them is.
pub(super) fn largest<T: Scalar>(values: &[T]) -> T {
    values.iter().fold(T::zero(), |m, &v| if v > m || v.is_nan() { v } else { m })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One column has loops of its own: they give what it gives beside another one, to the bit where nothing
    /// is summed, and to the rounding of n additions where something is.
    #[test]
    fn one_column_is_worked_on_as_one_of_two() {
        for rows in [1, 7, 8, 1003, PIECE + 5] {
            let wide = |seed| Block::<f64>::gaussian(rows, 2, seed);
            let first = |block: &Block<f64>| Block::from_fn(rows, 1, |i, _| block.row(i)[0]);
            let same = |one: &Block<f64>, two: &Block<f64>| {
                assert!((0..rows).all(|i| one.row(i)[0].to_bits() == two.row(i)[0].to_bits()));
            };
            let d: Vec<f64> = (0..rows).map(|i| 0.5 + (i % 5) as f64).collect();
            let (a, mut ws) = ([0.75, -0.5], Workspace::new());
            let (x, mut y) = (wide(1), wide(2));
            let (one, mut other) = (first(&x), first(&y));
            add(&a, &x, &mut y);
            add(&a[..1], &one, &mut other);
            same(&other, &y);
            scale_add(&a, &x, &mut y);
            scale_add(&a[..1], &one, &mut other);
            same(&other, &y);
            turn(&d, &x, &a, &mut y);
            turn(&d, &one, &a[..1], &mut other);
            same(&other, &y);
            // Quotients and products by the inverse differ by four ε beside that.
            let bound = 2.0 * (rows as f64 + 4.0) * f64::EPSILON;
            let near = |one: f64, two: f64, size: f64| {
                assert!((one - two).abs() <= bound * size, "{rows}: {one} {two}");
            };
            let (mut sums, mut few) = ([0.0; 4], [0.0; 2]);
            add_and_measure(&a, &x, &d, &mut y, &mut sums, &mut ws);
            add_and_measure(&a[..1], &one, &d, &mut other, &mut few, &mut ws);
            same(&other, &y);
            (0..2).for_each(|n| near(few[n], sums[2 * n], sums[2 * n]));
            let (mut sums, mut few) = ([0.0; 6], [0.0; 3]);
            curves(&mut y, &x, &d, &mut sums, &mut ws);
            curves(&mut other, &one, &d, &mut few, &mut ws);
            let sizes: f64 = (0..rows).map(|i| (x.row(i)[0] * y.row(i)[0]).abs()).sum();
            near(few[0], sums[0], sizes);
            (1..3).for_each(|n| near(few[n], sums[2 * n], sums[2 * n]));
            let largest = (0..rows).flat_map(|i| y.row(i)).fold(0.0_f64, |m, v| m.max(v.abs()));
            assert_eq!(largest_entry(&y).to_bits(), largest.to_bits());
            let largest = (0..rows).fold(0.0_f64, |m, i| m.max(other.row(i)[0].abs()));
            assert_eq!(largest_entry(&other).to_bits(), largest.to_bits());
        }
    }
}
