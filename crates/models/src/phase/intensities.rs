//! [`Intensities`]: the misfit of squared measurements, its gradient and its curvature.

use favard_operator::{
    AdjointOperator, Block, BlockMut, BlockRef, ErrorKind as OperatorKind, Gram, Multiple,
    Result as OperatorResult, Scalar, Shifted, Weighted, Workspace, check_dim, ops,
};

use crate::error::{ErrorKind, Result};
use crate::local::{Curvature, Problem, Reading, unit};

/// `Ok` when the intensities fit the operator and are what squares can be.
pub(super) fn check<T: Scalar>((rows, cols): (usize, usize), intensities: &[T]) -> Result<()> {
    check_dim("intensities", rows, intensities.len()).map_err(ErrorKind::from)?;
    let bad = |y: &T| !(y.is_finite() && *y >= T::zero());
    if let Some(index) = intensities.iter().position(bad) {
        let value = intensities[index].as_f64();
        let need = "as an intensity must be finite and not negative";
        return Err(
            favard_operator::Error::from(OperatorKind::Weight { index, value, need }).into()
        );
    }
    if cols == 0 {
        let kind = OperatorKind::Empty { what: "measurements", rows, cols };
        return Err(favard_operator::Error::from(kind).into());
    }
    let needed = 2 * cols - 1;
    if rows < needed {
        return Err(ErrorKind::TooFew { what: "intensities", needed, found: rows }.into());
    }
    if intensities.iter().all(|y| *y == T::zero()) {
        let (name, value) = ("largest intensity", 0.0);
        let need = "must be above 0: the signal is zero or orthogonal to every row";
        return Err(ErrorKind::Parameter { name, value, need }.into());
    }
    Ok(())
}

/// The intensities of the signal times a power of two, and the power, where powers of them would leave
/// the range of the precision.
pub(super) fn scaled<T: Scalar>(intensities: &[T]) -> Option<(Vec<T>, T)> {
    let largest = intensities.iter().copied().fold(T::zero(), T::max);
    let factor = unit(largest.sqrt());
    // Twice, for the square may be no number where both steps are.
    let all = || intensities.iter().map(|&y| factor * (factor * y)).collect();
    (factor != T::one()).then(|| (all(), factor))
}

/// u ← A z, and c ← u² − y with its norm over that of y.
fn residuals<T, A>(
    a: &A,
    intensities: &[T],
    z: BlockRef<'_, T>,
    ws: &mut Workspace<T>,
) -> OperatorResult<(Block<T>, Block<T>, f64)>
where
    T: Scalar,
    A: AdjointOperator<T> + ?Sized,
{
    let rows = intensities.len();
    let (mut u, mut c) = (ws.take(rows, 1), ws.take(rows, 1));
    a.apply(T::one(), z, T::zero(), u.as_mut(), ws)?;
    for (i, &y) in intensities.iter().enumerate() {
        c.row_mut(i)[0] = u.row(i)[0] * u.row(i)[0] - y;
    }
    let mut norms = [T::zero(), T::zero()];
    ops::column_norms(c.as_ref(), &mut norms[..1], ws)?;
    ops::column_norms(BlockRef::column(intensities), &mut norms[1..], ws)?;
    Ok((u, c, norms[0].as_f64() / norms[1].as_f64()))
}

/// ‖|Az|² − y‖ / ‖y‖.
pub(super) fn misfit<T, A>(
    a: &A,
    intensities: &[T],
    z: &Block<T>,
    ws: &mut Workspace<T>,
) -> Result<f64>
where
    T: Scalar,
    A: AdjointOperator<T> + ?Sized,
{
    let (u, c, residual) = residuals(a, intensities, z.as_ref(), ws)?;
    ws.give(u);
    ws.give(c);
    Ok(residual)
}

/// $f(z) = \frac{1}{4m} \sum_i ((a_i^T z)^2 - y_i)^2$.
pub(super) struct Intensities<'a, T, A: ?Sized> {
    a: &'a A,
    y: &'a [T],
    /// The largest eigenvalue of H, once it is known.
    high: f64,
    seed: u64,
}

impl<'a, T: Scalar, A: AdjointOperator<T> + ?Sized> Intensities<'a, T, A> {
    pub fn new(a: &'a A, y: &'a [T], seed: u64) -> Self {
        Self { a, y, high: 1.0, seed }
    }
}

impl<T: Scalar, A: AdjointOperator<T> + ?Sized> Problem<T> for Intensities<'_, T, A> {
    fn dim(&self) -> usize {
        self.a.shape().1
    }

    fn gradient(
        &self,
        x: BlockRef<'_, T>,
        mut g: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<Reading> {
        let (u, mut c, residual) = residuals(self.a, self.y, x, ws)?;
        let mut size = [T::zero()];
        ops::column_norms(c.as_ref(), &mut size, ws)?;
        for i in 0..u.rows() {
            c.row_mut(i)[0] *= u.row(i)[0];
        }
        // g ← (1/m) Aᵀ ((u² − y) u)
        let share = T::of_count(u.rows()).recip();
        self.a.apply_adjoint(share, c.as_ref(), T::zero(), g.reborrow(), ws)?;
        let mut length = [T::zero()];
        ops::column_norms(g.as_ref(), &mut length, ws)?;
        // c = u² − y has the Jacobian J = 2 diag(u) A: ‖Jᵀc‖ = 2m ‖g‖ and ‖J‖² = 2m h₁ at x
        let rows = 2.0 * u.rows() as f64;
        let scale = (rows * self.high).sqrt() * size[0].as_f64();
        let slope = if scale > 0.0 { rows * length[0].as_f64() / scale } else { 0.0 };
        ws.give(u);
        ws.give(c);
        Ok(Reading { residual, slope })
    }

    /// The ends of the spectrum of $H = \frac{2}{m} A^T \mathrm{diag}(y) A$, which is the Hessian at
    /// the solution: $(a_i^T x)^2 = y_i$ is given.
    fn curvature(&mut self, _: &Block<T>) -> Result<Curvature> {
        let scale = 2.0 / self.y.len() as f64;
        let hessian = Gram::new(Weighted::new(self.a, self.y.to_vec())?).with_scale(scale)?;
        let flip = |c: T| Ok(Shifted::new(Multiple::new(-T::one(), &hessian)?, -c)?);
        let ends = Curvature::of(&hessian, flip, self.seed)?;
        self.high = ends.high;
        Ok(ends)
    }

    fn restore(&mut self, _: &[T], ends: &Curvature) -> Result<()> {
        self.high = ends.high;
        Ok(())
    }
}
