//! [`Factors`]: the misfit of a product of factors on the observed entries.

use favard_operator::{
    Block, BlockMut, BlockRef, Orthonormalizer, Result as OperatorResult, Scalar, Workspace, ops,
};

use super::hessian::TangentHessian;
use super::observed::Observed;
use super::small_svd::small_svd;
use super::sweep::sweep;
use crate::error::{ErrorKind, Result};
use crate::local::{Curvature, Problem, Reading};

/// Singular values below this share of the first count as zero when coordinates are chosen.
const FLOOR: f64 = 1e-8;

/// $f(X, Y) = \frac{1}{2p} \lVert P_\Omega(X S^{-1} Y^T - M) \rVert_F^2$ with a fixed diagonal S.
///
/// At the start of a round $X = Q_U S$ and $Y = Q_V S$ with orthonormal $Q$ and the singular values S
/// of the product, so that a small change of the product is $dX\, Q_V^T + Q_U\, dY^T$ whatever the
/// condition of M is: the Hessian of full observation has only the eigenvalues 1 and 2 (and 0
/// along the gauge), and that of a sample stays near them. These are the coordinates of scaled
/// gradient descent (Tong, Ma, Chi, 2021), kept for a round so that the recurrence is linear.
///
/// The block has the rows of X, then those of Y; it has r columns.
pub(super) struct Factors<'a, T: Scalar> {
    pub(super) data: &'a Observed<T>,
    /// The diagonal of $S^{-1}$.
    inverse: Vec<T>,
    /// The largest eigenvalue of the Hessian, once it is known.
    high: f64,
    seed: u64,
}

/// The product $U \mathrm{diag}(s) V^T$ with orthonormal U and V.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Thin<T> {
    pub left: Block<T>,
    pub values: Vec<T>,
    pub right: Block<T>,
}

impl<'a, T: Scalar> Factors<'a, T> {
    /// The product of given factors, $U V^T$, and the block that stands for it.
    pub fn new(data: &'a Observed<T>, u: &Block<T>, v: &Block<T>, seed: u64) -> (Self, Block<T>) {
        let (m, rank) = u.shape();
        let block =
            Block::from_fn(
                m + v.rows(),
                rank,
                |i, j| {
                    if i < m { u.row(i)[j] } else { v.row(i - m)[j] }
                },
            );
        (Self { data, inverse: vec![T::one(); rank], high: 1.0, seed }, block)
    }

    pub(super) fn shape(&self) -> (usize, usize) {
        self.data.train.shape()
    }

    /// (1/p) as a number of the data.
    pub(super) fn scale(&self) -> T {
        T::of(self.data.share.recip())
    }

    /// $U \mathrm{diag}(s) V^T = X S^{-1} Y^T$.
    pub fn thin(&self, at: &Block<T>) -> Result<Thin<T>> {
        let ((m, n), rank) = (self.shape(), at.cols());
        // U V^T with the weight on both sides: X S^{-1/2} and Y S^{-1/2}
        let root = |j: usize| self.inverse[j].sqrt();
        let mut left = Block::from_fn(m, rank, |i, j| at.row(i)[j] * root(j));
        let mut right = Block::from_fn(n, rank, |i, j| at.row(m + i)[j] * root(j));
        let (mut ws, mut qr) = (Workspace::new(), Orthonormalizer::new(rank));
        qr.orthonormalize(&mut [&mut left], &mut ws)?;
        let r_left = qr.r().clone();
        qr.orthonormalize(&mut [&mut right], &mut ws)?;
        // R_u R_vᵀ = P s Wᵀ
        let core = Block::from_fn(rank, rank, |i, j| {
            r_left.row(i).iter().zip(qr.r().row(j)).map(|(&a, &b)| a * b).sum()
        });
        let (p, values, w) = small_svd(&core)?;
        let turn = |q: &Block<T>, r: &Block<T>| -> Result<Block<T>> {
            let mut out = Block::zeros(q.rows(), rank);
            ops::right_multiply(T::one(), q.as_ref(), r.as_ref(), T::zero(), out.as_mut())?;
            Ok(out)
        };
        Ok(Thin { left: turn(&left, &p)?, values, right: turn(&right, &w)? })
    }

    /// (X S⁻¹, Y S⁻¹) of a block.
    pub(super) fn unscaled(&self, x: BlockRef<'_, T>, out: &mut Block<T>) -> OperatorResult<()> {
        out.assign(x)?;
        ops::scale_columns(&self.inverse, out.as_mut())
    }
}

impl<T: Scalar> Problem<T> for Factors<'_, T> {
    fn dim(&self) -> usize {
        let (m, n) = self.shape();
        m + n
    }

    fn gradient(
        &self,
        x: BlockRef<'_, T>,
        mut g: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> OperatorResult<Reading> {
        let ((m, n), scale) = (self.shape(), self.scale());
        let mut scaled = ws.take(m + n, x.cols());
        self.unscaled(x, &mut scaled)?;
        let (p, q) = (scaled.as_ref().rows_range(0..m), scaled.as_ref().rows_range(m..m + n));
        let y = x.rows_range(m..m + n);
        let mut misfit = ws.take(m.max(n), 1);
        // R = P_Ω(X S⁻¹ Yᵀ − M)/p: ∂X = R Y S⁻¹, ∂Y = Rᵀ X S⁻¹
        let dot = |a: &[T], b: &[T]| -> T { a.iter().zip(b).map(|(&a, &b)| a * b).sum() };
        let by_column = |j: usize, i: usize, v: T| dot(y.row(j), p.row(i)) - v;
        let below = g.reborrow().rows_range(m..m + n);
        sweep(&self.data.transposed, p, scale, below, misfit.as_mut(), by_column);
        let by_row = |i: usize, j: usize, v: T| dot(x.row(i), q.row(j)) - v;
        let above = g.reborrow().rows_range(0..m);
        sweep(&self.data.train, q, scale, above, misfit.as_mut(), by_row);
        let sum: f64 = (0..m).map(|i| misfit.row(i)[0].as_f64()).sum();
        ws.give(misfit);
        ws.give(scaled);
        let mut norms = ws.take(1, g.cols());
        ops::column_norms(g.as_ref(), norms.row_mut(0), ws)?;
        let length = norms.row(0).iter().map(|c| c.as_f64().powi(2)).sum::<f64>().sqrt();
        ws.give(norms);
        // With H = JᵀJ/p: ‖Jᵀr‖ = p ‖g‖ and ‖J‖² = p h₁
        let size = sum.sqrt();
        let bound = self.high.sqrt() * size;
        let slope = if bound > 0.0 { self.data.share.sqrt() * length / bound } else { 0.0 };
        Ok(Reading { residual: size / self.data.norm, slope })
    }

    fn curvature(&mut self, at: &Block<T>) -> Result<Curvature> {
        let hessian = TangentHessian::new(self, at)?;
        let ends = Curvature::of(&hessian, |c| Ok(hessian.flipped(c)), self.seed)?;
        self.high = ends.high;
        Ok(ends)
    }

    fn recentre(&mut self, at: &mut Block<T>) -> Result<bool> {
        let Thin { left, values, right } = self.thin(at)?;
        let m = left.rows();
        let least = values.first().map_or(0.0, |s| s.as_f64()) * FLOOR;
        let floored = |s: &T| s.as_f64().max(least).max(f64::MIN_POSITIVE);
        self.inverse = values.iter().map(|s| T::of(floored(s).recip())).collect();
        for i in 0..at.rows() {
            for (j, entry) in at.row_mut(i).iter_mut().enumerate() {
                // X = Q_U s and Y = Q_V max(s, floor): the product is Q_U s Q_Vᵀ
                *entry = if i < m {
                    left.row(i)[j] * values[j]
                } else {
                    right.row(i - m)[j] * T::of(floored(&values[j]))
                };
            }
        }
        Ok(true)
    }

    fn coordinates(&self) -> Vec<T> {
        self.inverse.clone()
    }

    fn restore(&mut self, coordinates: &[T], ends: &Curvature) -> Result<()> {
        if coordinates.len() != self.inverse.len() {
            let problem = "the coordinates are of another rank";
            return Err(ErrorKind::Damaged { problem }.into());
        }
        self.inverse.copy_from_slice(coordinates);
        self.high = ends.high;
        Ok(())
    }
}
