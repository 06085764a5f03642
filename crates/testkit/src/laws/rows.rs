//! What the rows of an operator have to do with the whole.

use favard_operator::{Block, BlockRef, RowOperator, Scalar, Workspace};
use ndarray::Axis;

use super::linear::fused_tolerance;
use crate::Rounding;
use crate::case::{Case, Verdict, values};

/// Rows and columns that [`entries`] and [`row_norms`] look at, at most, spread evenly.
const SAMPLED: usize = 64;

fn spread(len: usize) -> impl Iterator<Item = usize> {
    (0..len).step_by(len.div_ceil(SAMPLED).max(1))
}

/// $A_S X$ is the rows S of $A X$, repeats and order kept; Z is handed over full of NaN.
///
/// Tolerance $2 c\,\varepsilon\,B_S|X|$: two products.
///
/// # Errors
/// The violation, or a product that fails.
pub fn rows<T: Scalar, A: RowOperator<T> + ?Sized>(
    op: &A,
    rows: &[usize],
    x: BlockRef<'_, T>,
    rounding: &Rounding,
) -> Verdict {
    let case = Case::new("rows", op.shape(), x.cols()).with(&format!("{} rows", rows.len()));
    let whole = values(case.run(|| op.multiply(x))?.as_ref());
    let mut found = Block::from_fn(rows.len(), x.cols(), |_, _| T::nan());
    case.run(|| op.apply_rows(rows, x, found.as_mut(), &mut Workspace::new()))?;
    let tolerance = rounding.rows(rows).image(&values(x)) * (2.0 * rounding.unit::<T>());
    case.near(&whole.select(Axis(0), rows), &values(found.as_ref()), &tolerance)
}

/// $A_S^T Z$ is $A^T$ of the rows of Z put in their places, those of a repeated row added.
///
/// Tolerance $(2c + 4)\,\varepsilon\,(|\alpha| B_S^T|Z| + |\gamma||Y|)$, c counting the rows of S too.
///
/// # Errors
/// The violation, or a product that fails.
pub fn rows_adjoint<T: Scalar, A: RowOperator<T> + ?Sized>(
    op: &A,
    rows: &[usize],
    alpha: T,
    z: BlockRef<'_, T>,
    gamma: T,
    y: BlockRef<'_, T>,
    rounding: &Rounding,
) -> Verdict {
    let case = Case::new("rows_adjoint", op.shape(), z.cols());
    let case = case.with(&format!("{} rows, α = {alpha}, γ = {gamma}", rows.len()));
    let mut scattered = Block::zeros(op.shape().0, z.cols());
    for (position, &row) in rows.iter().enumerate() {
        let sums = scattered.row_mut(row).iter_mut();
        sums.zip(z.row(position)).for_each(|(sum, &value)| *sum += value);
    }
    let back = values(case.run(|| op.multiply_adjoint(scattered.as_ref()))?.as_ref());
    let expected = back * alpha.as_f64() + values(y) * gamma.as_f64();
    let mut found = y.to_owned();
    let mut ws = Workspace::new();
    case.run(|| op.apply_rows_adjoint(rows, alpha, z, gamma, found.as_mut(), &mut ws))?;
    let tolerance = fused_tolerance(alpha, z, gamma, y, &rounding.rows(rows).adjoint());
    case.near(&expected, &values(found.as_ref()), &tolerance)
}

/// $A_{ij}$ is entry i of $A e_j$, for at most 64 columns.
///
/// Tolerance $2 c\,\varepsilon\,B_{ij}$.
///
/// # Errors
/// The violation, or a product that fails.
pub fn entries<T: Scalar, A: RowOperator<T> + ?Sized>(op: &A, rounding: &Rounding) -> Verdict {
    let (rows, cols) = op.shape();
    let columns: Vec<usize> = spread(cols).collect();
    let case = Case::new("entries", op.shape(), columns.len());
    let unit = |i, j: usize| if i == columns[j] { T::one() } else { T::zero() };
    let x = Block::from_fn(cols, columns.len(), unit);
    let image = case.run(|| op.multiply(x.as_ref()))?;
    for i in 0..rows {
        for (at, &j) in columns.iter().enumerate() {
            let found = case.run(|| Ok(op.entry(i, j)))?.as_f64();
            let tolerance = 2.0 * rounding.unit::<T>() * rounding.entry(i, j);
            case.near_one((i, j), image.row(i)[at].as_f64(), found, tolerance)?;
        }
    }
    Ok(())
}

/// $\lVert a_i \rVert^2 = \sum_j A_{ij}^2$, for at most 64 rows.
///
/// Tolerance $4 c\,\varepsilon \sum_j B_{ij}^2$: a square doubles the relative error of an entry.
///
/// # Errors
/// The violation.
pub fn row_norms<T: Scalar, A: RowOperator<T> + ?Sized>(op: &A, rounding: &Rounding) -> Verdict {
    let (rows, cols) = op.shape();
    let case = Case::new("row_norms", op.shape(), 0);
    for i in spread(rows) {
        let found = case.run(|| Ok(op.row_norm_squared(i)))?.as_f64();
        let square = |j| op.entry(i, j).as_f64().powi(2);
        let expected = case.run(|| Ok((0..cols).map(square).sum::<f64>()))?;
        let tolerance = 4.0 * rounding.unit::<T>() * rounding.row_squared(i);
        case.near_one((i, 0), expected, found, tolerance)?;
    }
    Ok(())
}

/// A row number that is too large, and blocks that do not fit the list of rows, are refused
/// before the output is touched.
///
/// # Errors
/// The violation.
pub fn row_numbers<T: Scalar, A: RowOperator<T> + ?Sized>(op: &A) -> Verdict {
    let (rows, cols) = op.shape();
    let (one, half) = (T::one(), T::of(0.5));
    let block = |rows, value| Block::from_fn(rows, 2, |_, _| value);
    for outside in [rows, usize::MAX] {
        let case = Case::new("row_numbers", op.shape(), 2).with(&format!("row {outside}"));
        let list: Vec<usize> = (0..rows.min(1)).chain([outside]).collect();
        let (x, mut z) = (block(cols, one), block(list.len(), half));
        case.with("apply_rows").refuse(&mut z, |z| {
            op.apply_rows(&list, x.as_ref(), z.as_mut(), &mut Workspace::new())
        })?;
        let (z, mut y) = (block(list.len(), one), block(cols, half));
        case.with("apply_rows_adjoint").refuse(&mut y, |y| {
            let mut ws = Workspace::new();
            op.apply_rows_adjoint(&list, one, z.as_ref(), one, y.as_mut(), &mut ws)
        })?;
    }
    Ok(())
}
