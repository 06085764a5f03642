//! [`TangentHessian`]: the curvature of the misfit in the directions that change the product.

use favard_operator::{Block, BlockMut, BlockRef, LinearOperator, Result, Scalar, Workspace, ops};

use super::factors::Factors;
use super::sweep::sweep;

/// The Gauss–Newton Hessian of [`Factors`] on the space orthogonal to its gauge,
///
/// $$ P H P, \qquad H (dX, dY) = \tfrac1p (dR\, Q_V,\; dR^T Q_U), \qquad
///    dR = P_\Omega(dX\, Q_V^T + Q_U\, dY^T), $$
///
/// or $P (c I - H) P$. The gauge directions $(Q_U G, -Q_V G^T)$ leave the product as it is; without
/// P they would be eigenvectors of eigenvalue zero.
///
/// A column of its argument is the (m + n) × r block, row by row. One product is one pass over the
/// entries by rows and one by columns.
pub(super) struct TangentHessian<'a, T: Scalar> {
    factors: &'a Factors<'a, T>,
    /// $(Q_U; Q_V)$.
    frame: Block<T>,
    flip: Option<T>,
}

impl<'a, T: Scalar> TangentHessian<'a, T> {
    /// At a block whose coordinates have just been chosen.
    pub fn new(factors: &'a Factors<'a, T>, at: &Block<T>) -> Result<Self> {
        let mut frame = Block::zeros(at.rows(), at.cols());
        factors.unscaled(at.as_ref(), &mut frame)?;
        Ok(Self { factors, frame, flip: None })
    }

    /// $P (c I - H) P$.
    pub fn flipped(&self, c: T) -> Self {
        Self { factors: self.factors, frame: self.frame.clone(), flip: Some(c) }
    }

    fn halves<'b>(&self, block: BlockRef<'b, T>) -> (BlockRef<'b, T>, BlockRef<'b, T>) {
        let (m, n) = self.factors.shape();
        (block.rows_range(0..m), block.rows_range(m..m + n))
    }

    /// (A, B) ← (A − Q_U C, B + Q_V Cᵀ) with C = (Q_Uᵀ A − (Q_Vᵀ B)ᵀ)/2.
    fn project(&self, d: &mut Block<T>, ws: &mut Workspace<T>) -> Result<()> {
        let rank = d.cols();
        let (m, n) = self.factors.shape();
        let (p, q) = self.halves(self.frame.as_ref());
        let (mut first, mut second) = (ws.take(rank, rank), ws.take(rank, rank));
        let (a, b) = self.halves(d.as_ref());
        ops::cross(p, a, first.as_mut(), ws)?;
        ops::cross(q, b, second.as_mut(), ws)?;
        let c =
            Block::from_fn(rank, rank, |i, j| (first.row(i)[j] - second.row(j)[i]) * T::of(0.5));
        for i in 0..rank {
            for j in 0..rank {
                second.row_mut(i)[j] = c.row(j)[i];
            }
        }
        let above = d.as_mut().rows_range(0..m);
        ops::right_multiply(-T::one(), p, c.as_ref(), T::one(), above)?;
        let below = d.as_mut().rows_range(m..m + n);
        ops::right_multiply(T::one(), q, second.as_ref(), T::one(), below)?;
        ws.give(first);
        ws.give(second);
        Ok(())
    }

    /// h ← H d.
    fn product(&self, d: &Block<T>, h: &mut Block<T>, ws: &mut Workspace<T>) {
        let ((m, n), scale) = (self.factors.shape(), self.factors.scale());
        let data = self.factors.data;
        let (p, q) = self.halves(self.frame.as_ref());
        let (dx, dy) = self.halves(d.as_ref());
        let dot = |a: &[T], b: &[T]| -> T { a.iter().zip(b).map(|(&a, &b)| a * b).sum() };
        let change = |i: usize, j: usize| dot(dx.row(i), q.row(j)) + dot(p.row(i), dy.row(j));
        let mut unused = ws.take(m.max(n), 1);
        let above = h.as_mut().rows_range(0..m);
        sweep(&data.train, q, scale, above, unused.as_mut(), |i, j, _| change(i, j));
        let below = h.as_mut().rows_range(m..m + n);
        sweep(&data.transposed, p, scale, below, unused.as_mut(), |j, i, _| change(i, j));
        ws.give(unused);
    }
}

impl<T: Scalar> LinearOperator<T> for TangentHessian<'_, T> {
    fn shape(&self) -> (usize, usize) {
        let dim = self.frame.rows() * self.frame.cols();
        (dim, dim)
    }

    fn apply(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_apply(x, &y)?;
        let (rows, rank) = self.frame.shape();
        let (mut d, mut h) = (ws.take(rows, rank), ws.take(rows, rank));
        for column in 0..x.cols() {
            for i in 0..rows {
                for (j, entry) in d.row_mut(i).iter_mut().enumerate() {
                    *entry = x.row(i * rank + j)[column];
                }
            }
            self.project(&mut d, ws)?;
            self.product(&d, &mut h, ws);
            if let Some(c) = self.flip {
                // h ← c d − h
                ops::axpby(c, d.as_ref(), -T::one(), h.as_mut())?;
            }
            self.project(&mut h, ws)?;
            for i in 0..rows {
                for (j, &entry) in h.row(i).iter().enumerate() {
                    let out = &mut y.row_mut(i * rank + j)[column];
                    let old = if gamma == T::zero() { T::zero() } else { gamma * *out };
                    *out = alpha * entry + old;
                }
            }
        }
        ws.give(d);
        ws.give(h);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::MatrixCompletion;
    use super::super::observed::Observed;
    use super::*;
    use crate::exact_eigen;
    use crate::local::Problem;

    /// A 9 × 7 matrix of rank 2, and its entries where `keep` says so.
    fn problem(keep: impl Fn(usize, usize) -> bool) -> (Observed<f64>, Block<f64>, Block<f64>) {
        let (u, v) = (Block::<f64>::gaussian(9, 2, 1), Block::<f64>::gaussian(7, 2, 2));
        let entry = |i: usize, j: usize| u.row(i)[0] * v.row(j)[0] + u.row(i)[1] * v.row(j)[1];
        let all = (0..9).flat_map(|i| (0..7).map(move |j| (i, j)));
        let known: Vec<_> =
            all.filter(|&(i, j)| keep(i, j)).map(|(i, j)| (i, j, entry(i, j))).collect();
        let observed = MatrixCompletion::entries((9, 7), &known).unwrap();
        (Observed::new(&observed, 2, false, 0.0, 1).unwrap(), u, v)
    }

    /// With all entries observed the Hessian at the solution has the eigenvalue 2 on the r² changes
    /// of the core, 1 on the (m + n − 2r) r others, and 0 along the r² gauge directions, whatever
    /// the condition of the matrix is.
    #[test]
    fn full_observation_has_eigenvalues_one_and_two() {
        let (data, u, v) = problem(|_, _| true);
        let (mut factors, mut at) = Factors::new(&data, &u, &v, 1);
        factors.recentre(&mut at).unwrap();
        let hessian = TangentHessian::new(&factors, &at).unwrap();
        let found = exact_eigen(&hessian, 32).unwrap();
        let expected = [vec![2.0; 4], vec![1.0; 24], vec![0.0; 4]].concat();
        for (value, expected) in found.values.iter().zip(expected) {
            assert!((value - expected).abs() < 1e3 * f64::EPSILON, "{:?}", found.values);
        }
    }

    /// At a solution H is the derivative of the gradient, and the gradient that of the misfit: both
    /// against central differences of step h, whose error is O(h²) and O(ε/h).
    #[test]
    fn the_hessian_is_the_derivative_of_the_gradient() {
        let (data, u, v) = problem(|i, j| (i + 2 * j) % 4 != 0);
        let (mut factors, mut at) = Factors::new(&data, &u, &v, 1);
        factors.recentre(&mut at).unwrap();
        let hessian = TangentHessian::new(&factors, &at).unwrap();
        let mut ws = Workspace::new();
        let mut d = Block::<f64>::gaussian(16, 2, 3);
        hessian.project(&mut d, &mut ws).unwrap();
        let mut moved = |by: f64| {
            let x = Block::from_fn(16, 2, |i, j| at.row(i)[j] + by * d.row(i)[j]);
            let mut g = Block::zeros(16, 2);
            let reading = factors.gradient(x.as_ref(), g.as_mut(), &mut ws).unwrap();
            (g, (reading.residual * data.norm).powi(2) / 2.0 / data.share)
        };
        let step = 1e-5;
        let ((above, _), (below, _)) = (moved(step), moved(-step));
        let mut h = Block::zeros(16, 2);
        hessian.product(&d, &mut h, &mut Workspace::new());
        let size = 1.0 + (0..16).flat_map(|i| h.row(i)).fold(0.0_f64, |m, v| m.max(v.abs()));
        for i in 0..16 {
            for j in 0..2 {
                let slope = (above.row(i)[j] - below.row(i)[j]) / (2.0 * step);
                assert!((slope - h.row(i)[j]).abs() < 1e-7 * size, "{slope} {}", h.row(i)[j]);
            }
        }
        // d f/dt along d at a point away from the solution is ⟨g, d⟩.
        let (g, _) = moved(0.3);
        let slope = (moved(0.3 + step).1 - moved(0.3 - step).1) / (2.0 * step);
        let exact: f64 =
            (0..16).map(|i| g.row(i).iter().zip(d.row(i)).map(|(g, d)| g * d).sum::<f64>()).sum();
        assert!((slope - exact).abs() < 1e-7 * (1.0 + exact.abs()), "{slope} {exact}");
    }
}
