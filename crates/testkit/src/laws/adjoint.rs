//! What an operator and its transpose have to do with each other.

use favard_operator::{AdjointOperator, Between, Block, BlockRef, Scalar, Workspace};
use ndarray::{Array1, Axis};

use crate::Rounding;
use crate::case::{Case, Verdict, values};

/// $\langle A x_j, y_j \rangle = \langle x_j, A^T y_j \rangle$ for each column.
///
/// Tolerance $2 c\,\varepsilon\,|y|^T B |x|$, one share for each side; the inner products
/// themselves are taken in `f64` and are n and m of the roundings in c.
///
/// # Errors
/// The violation, or a product that fails.
pub fn adjoint_identity<T: Scalar, A: AdjointOperator<T> + ?Sized>(
    op: &A,
    x: BlockRef<'_, T>,
    y: BlockRef<'_, T>,
    rounding: &Rounding,
) -> Verdict {
    let case = Case::new("adjoint_identity", op.shape(), x.cols());
    let forward = values(case.run(|| op.multiply(x))?.as_ref());
    let backward = values(case.run(|| op.multiply_adjoint(y))?.as_ref());
    let (x, y) = (values(x), values(y));
    let tolerance = rounding.pairing(&x, &y) * (2.0 * rounding.unit::<T>());
    let left: Array1<f64> = (forward * &y).sum_axis(Axis(0));
    let right: Array1<f64> = (backward * &x).sum_axis(Axis(0));
    for j in 0..left.len() {
        case.near_one((0, j), left[j], right[j], tolerance[j])?;
    }
    Ok(())
}

/// What lies between the two halves of a normal product: the readable part of
/// [`Between`](favard_operator::Between), and whether the sums are asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Middle<'a, T> {
    /// One number a row of the operator.
    pub weights: Option<&'a [T]>,
    /// One number a column of the block.
    pub offset: Option<&'a [T]>,
    /// Whether `sums` is given.
    pub sums: bool,
}

impl<T> Middle<'_, T> {
    fn name(&self) -> String {
        let flag = |given, name| if given { name } else { "no " };
        let weights = flag(self.weights.is_some(), "");
        let offset = flag(self.offset.is_some(), "");
        format!("{weights}weights, {offset}offset, {}sums", flag(self.sums, ""))
    }
}

/// `apply_normal` is two products: $Y \leftarrow \alpha A^T Z + \gamma Y$ with
/// $z_i = w_i (A X - \mathbf{1} m^T)_i$, and the sums are $\mathbf{1}^T Z$.
///
/// The sums are handed over full of NaN: they receive, they do not add.
///
/// Tolerance: with $S = |w|(B|X| + \mathbf{1}|m|^T)$ the size of Z, an entry of Z is within
/// $(c + 2)\varepsilon S$, and Y within $(4c + 8)\,\varepsilon\,(|\alpha| B^T S + |\gamma||Y|)$ for
/// the two ways together; the sums within $(2c + 2m + 4)\,\varepsilon\,\mathbf{1}^T S$.
///
/// # Errors
/// The violation, or a product that fails.
pub fn normal<T: Scalar, A: AdjointOperator<T> + ?Sized>(
    op: &A,
    alpha: T,
    x: BlockRef<'_, T>,
    middle: Middle<'_, T>,
    gamma: T,
    y: BlockRef<'_, T>,
    rounding: &Rounding,
) -> Verdict {
    let (rows, _) = op.shape();
    let case = Case::new("normal", op.shape(), x.cols());
    let case = case.with(&format!("{}, α = {alpha}, γ = {gamma}", middle.name()));
    let weight = |i: usize| middle.weights.map_or(T::one(), |weights| weights[i]);
    let offset = |j: usize| middle.offset.map_or(T::zero(), |offset| offset[j]);

    // z ← w (A x − 1 mᵀ)
    let image = case.run(|| op.multiply(x))?;
    let z = Block::from_fn(rows, x.cols(), |i, j| weight(i) * (image.row(i)[j] - offset(j)));
    let back = values(case.run(|| op.multiply_adjoint(z.as_ref()))?.as_ref());
    let expected = back * alpha.as_f64() + values(y) * gamma.as_f64();

    let mut found = y.to_owned();
    let mut sums = vec![T::nan(); x.cols()];
    let wanted = middle.sums.then_some(sums.as_mut_slice());
    let between = Between { weights: middle.weights, offset: middle.offset, sums: wanted };
    let mut ws = Workspace::new();
    case.run(|| op.apply_normal(alpha, x, between, gamma, found.as_mut(), &mut ws))?;

    let epsilon = <T as Scalar>::EPSILON.as_f64();
    let mut size = rounding.image(&values(x));
    for ((i, j), s) in size.indexed_iter_mut() {
        *s = weight(i).as_f64().abs() * (*s + offset(j).as_f64().abs());
    }
    let product = rounding.adjoint().image(&size) * alpha.as_f64().abs();
    let tolerance = product + values(y).mapv(|v| (v * gamma.as_f64()).abs());
    let unit = 4.0 * rounding.unit::<T>() + 8.0 * epsilon;
    case.near(&expected, &values(found.as_ref()), &(tolerance * unit))?;

    if middle.sums {
        let case = case.with("the sums");
        let unit = 2.0 * rounding.unit::<T>() + (2 * rows + 4) as f64 * epsilon;
        let (expected, size) = (values(z.as_ref()).sum_axis(Axis(0)), size.sum_axis(Axis(0)));
        for (j, sum) in sums.iter().enumerate() {
            case.near_one((0, j), expected[j], sum.as_f64(), size[j] * unit)?;
        }
    }
    Ok(())
}

/// `apply_normal` refuses weights, offsets and sums of a wrong length, before Y is touched.
///
/// # Errors
/// The violation.
pub fn normal_shapes<T: Scalar, A: AdjointOperator<T> + ?Sized>(op: &A) -> Verdict {
    let (rows, cols) = op.shape();
    let width = 2;
    let x = Block::from_fn(cols, width, |_, _| T::one());
    let case = Case::new("normal_shapes", op.shape(), width);
    let numbers = vec![T::one(); rows.max(width) + 1];
    let mut sums = vec![T::one(); width + 1];
    for (name, weights, offset, of_sums) in [
        ("weights", rows + 1, width, width),
        ("offset", rows, width + 1, width),
        ("sums", rows, width, width + 1),
        ("sums", rows, width, width - 1),
    ] {
        let mut y = Block::from_fn(cols, width, |_, _| T::of(0.5));
        let between = Between {
            weights: Some(&numbers[..weights]),
            offset: Some(&numbers[..offset]),
            sums: Some(&mut sums[..of_sums]),
        };
        case.with(&format!("{name} of a wrong length")).refuse(&mut y, |y| {
            let mut ws = Workspace::new();
            op.apply_normal(T::one(), x.as_ref(), between, T::one(), y.as_mut(), &mut ws)
        })?;
    }
    Ok(())
}
