//! What the numbers of `apply` have to be.

use favard_operator::{Block, BlockRef, LinearOperator, Scalar, Workspace};
use ndarray::{Array2, s};

use crate::Rounding;
use crate::case::{Case, Verdict, values};

/// $A(a X + b Z) = a A X + b A Z$.
///
/// Tolerance $(2c + 4)\,\varepsilon\,B(|a||X| + |b||Z|)$: three products of c roundings each, of
/// which two only carry their share, and the roundings of the two sums.
///
/// # Errors
/// The violation, or a product that fails.
pub fn linearity<T: Scalar, A: LinearOperator<T> + ?Sized>(
    op: &A,
    a: T,
    x: BlockRef<'_, T>,
    b: T,
    z: BlockRef<'_, T>,
    rounding: &Rounding,
) -> Verdict {
    let case = Case::new("linearity", op.shape(), x.cols()).with(&format!("a = {a}, b = {b}"));
    let sum = Block::from_fn(x.rows(), x.cols(), |i, j| a * x.row(i)[j] + b * z.row(i)[j]);
    let found = values(case.run(|| op.multiply(sum.as_ref()))?.as_ref());
    let image_x = values(case.run(|| op.multiply(x))?.as_ref());
    let image_z = values(case.run(|| op.multiply(z))?.as_ref());

    let (a, b) = (a.as_f64(), b.as_f64());
    let expected = image_x * a + image_z * b;
    let size = values(x).mapv(f64::abs) * a.abs() + values(z).mapv(f64::abs) * b.abs();
    let unit = 2.0 * rounding.unit::<T>() + 4.0 * <T as Scalar>::EPSILON.as_f64();
    case.near(&expected, &found, &(rounding.image(&size) * unit))
}

/// The fused product is the plain one: $Y \leftarrow \alpha A X + \gamma Y$ from $A X$ and $Y$.
///
/// Tolerance $(2c + 4)\,\varepsilon\,(|\alpha| B|X| + |\gamma||Y|)$: two products and their sum.
///
/// # Errors
/// The violation, or a product that fails.
pub fn fused<T: Scalar, A: LinearOperator<T> + ?Sized>(
    op: &A,
    alpha: T,
    x: BlockRef<'_, T>,
    gamma: T,
    y: BlockRef<'_, T>,
    rounding: &Rounding,
) -> Verdict {
    let case = Case::new("fused", op.shape(), x.cols());
    let case = case.with(&format!("α = {alpha}, γ = {gamma}"));
    let plain = values(case.run(|| op.multiply(x))?.as_ref());
    let mut found = y.to_owned();
    case.run(|| op.apply(alpha, x, gamma, found.as_mut(), &mut Workspace::new()))?;

    // α A x + γ y
    let expected = plain * alpha.as_f64() + values(y) * gamma.as_f64();
    let tolerance = fused_tolerance(alpha, x, gamma, y, rounding);
    case.near(&expected, &values(found.as_ref()), &tolerance)
}

/// $(2c + 4)\,\varepsilon\,(|\alpha| B|X| + |\gamma||Y|)$, for two ways to compute one product.
pub(super) fn fused_tolerance<T: Scalar>(
    alpha: T,
    x: BlockRef<'_, T>,
    gamma: T,
    y: BlockRef<'_, T>,
    rounding: &Rounding,
) -> Array2<f64> {
    let unit = 2.0 * rounding.unit::<T>() + 4.0 * <T as Scalar>::EPSILON.as_f64();
    let product = rounding.image(&values(x)) * alpha.as_f64().abs();
    (product + values(y).mapv(|v| (v * gamma.as_f64()).abs())) * unit
}

/// A block's product is that of its columns, one by one.
///
/// Tolerance $2 c\,\varepsilon\,B|X|$: the order of the sums may depend on the width.
///
/// # Errors
/// The violation, or a product that fails.
pub fn columns<T: Scalar, A: LinearOperator<T> + ?Sized>(
    op: &A,
    x: BlockRef<'_, T>,
    rounding: &Rounding,
) -> Verdict {
    let case = Case::new("columns", op.shape(), x.cols());
    let found = values(case.run(|| op.multiply(x))?.as_ref());
    let mut expected = Array2::zeros(found.dim());
    for j in 0..x.cols() {
        let column = x.cols_range(j..j + 1).to_owned();
        let image = case.run(|| op.multiply(column.as_ref()))?;
        expected.slice_mut(s![.., j..=j]).assign(&values(image.as_ref()));
    }
    let tolerance = rounding.image(&values(x)) * (2.0 * rounding.unit::<T>());
    case.near(&expected, &found, &tolerance)
}

/// The operator is the given matrix: $A X = M X$.
///
/// Tolerance $2 c\,\varepsilon\,B|X|$: the operator's product and the reference, which is an inner
/// product of n terms in `f64` (and c is at least n unless it was set lower).
///
/// # Errors
/// The violation, or a product that fails.
pub fn matrix<T: Scalar, A: LinearOperator<T> + ?Sized>(
    op: &A,
    expected: &Array2<f64>,
    x: BlockRef<'_, T>,
    rounding: &Rounding,
) -> Verdict {
    let case = Case::new("matrix", op.shape(), x.cols());
    let (rows, cols) = expected.dim();
    let shape = [(0, rows, op.shape().0), (1, cols, op.shape().1)];
    for (axis, expected, found) in shape {
        let case = case.with("the operator's shape");
        case.near_one((axis, 0), expected as f64, found as f64, 0.0)?;
    }
    let found = values(case.run(|| op.multiply(x))?.as_ref());
    let x = values(x);
    let tolerance = rounding.image(&x) * (2.0 * rounding.unit::<T>());
    case.near(&expected.dot(&x), &found, &tolerance)
}
