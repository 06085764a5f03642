//! [`OnDisk`] as an operator: what [`Csr`](favard_operator::Csr) does, part by part.

use std::mem::replace;

use favard_operator::{
    AdjointOperator, Between, BlockMut, BlockRef, ColumnMoments, LinearOperator, Moments, Result,
    RowOperator, Scalar, WeightedMoments, Workspace, check_dim, check_weights,
};

use super::OnDisk;

impl<T: Scalar> LinearOperator<T> for OnDisk<T> {
    fn shape(&self) -> (usize, usize) {
        OnDisk::shape(self)
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
        // Y_p ← α A_p X + γ Y_p
        self.each(|rows, a| a.apply(alpha, x, gamma, y.reborrow().rows_range(rows), ws))
    }

    fn work(&self) -> f64 {
        self.entries() as f64
    }
}

impl<T: Scalar> AdjointOperator<T> for OnDisk<T> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        mut gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_adjoint(x, &y)?;
        // Y ← α Σ_p A_pᵀ X_p + γ Y
        self.each(|rows, a| {
            a.apply_adjoint(alpha, x.rows_range(rows), gamma, y.reborrow(), ws)?;
            gamma = T::one();
            Ok(())
        })
    }

    fn apply_normal(
        &self,
        alpha: T,
        x: BlockRef<'_, T>,
        between: Between<'_, T>,
        mut gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        self.check_normal(x, &between, &y)?;
        let Between { weights, offset, sums } = between;
        let mut total = ws.take_zeros(2, x.cols());
        // Y ← α Σ_p A_pᵀ W_p (A_p X − 1 mᵀ) + γ Y
        self.each(|rows, a| {
            let mut view = total.as_mut();
            let weights = weights.map(|weights| &weights[rows]);
            let part = Between { weights, offset, sums: sums.is_some().then(|| view.row_mut(0)) };
            a.apply_normal(alpha, x, part, gamma, y.reborrow(), ws)?;
            gamma = T::one();
            for j in 0..total.cols() {
                let sum = total.row(0)[j];
                total.row_mut(1)[j] += sum;
            }
            Ok(())
        })?;
        if let Some(sums) = sums {
            sums.copy_from_slice(total.row(1));
        }
        ws.give(total);
        Ok(())
    }
}

impl<T: Scalar> RowOperator<T> for OnDisk<T> {
    fn apply_rows(
        &self,
        rows: &[usize],
        x: BlockRef<'_, T>,
        mut z: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        check_dim("rows of z", rows.len(), z.rows())?;
        self.check_rows(rows)?;
        self.picked(rows, |part, a| {
            a.apply(T::one(), x, T::zero(), z.reborrow().rows_range(part), ws)
        })
    }

    fn apply_rows_adjoint(
        &self,
        rows: &[usize],
        alpha: T,
        z: BlockRef<'_, T>,
        mut gamma: T,
        mut y: BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        check_dim("rows of z", rows.len(), z.rows())?;
        self.check_rows(rows)?;
        self.picked(rows, |part, a| {
            a.apply_adjoint(alpha, z.rows_range(part), gamma, y.reborrow(), ws)?;
            gamma = T::one();
            Ok(())
        })
    }

    fn row_norm_squared(&self, row: usize) -> T {
        self.one(row, |a| a.row_norm_squared(0))
    }

    fn entry(&self, row: usize, col: usize) -> T {
        assert!(col < self.cols, "column {col} of {}", self.cols);
        self.one(row, |a| a.entry(0, col))
    }
}

impl<T: Scalar> ColumnMoments<T> for OnDisk<T> {
    fn column_moments(&self) -> Result<Moments> {
        let mut all = Moments::empty(self.cols);
        self.each(|rows, a| {
            if !rows.is_empty() {
                all = replace(&mut all, Moments::empty(0)).merge(&a.column_moments()?);
            }
            Ok(())
        })?;
        Ok(all)
    }

    fn column_squares(&self) -> Result<Vec<f64>> {
        let mut all = vec![0.0; self.cols];
        self.each(|_, a| {
            all.iter_mut().zip(a.column_squares()?).for_each(|(all, part)| *all += part);
            Ok(())
        })?;
        Ok(all)
    }
}

impl<T: Scalar> WeightedMoments<T> for OnDisk<T> {
    fn weighted_moments(&self, weights: &[f64]) -> Result<Moments> {
        check_dim("row weights", OnDisk::shape(self).0, weights.len())?;
        check_weights(weights)?;
        let (mut all, mut total) = (Moments::empty(self.cols), 0.0);
        self.each(|rows, a| {
            let weights = &weights[rows];
            let weight: f64 = weights.iter().sum();
            // Weights that are all zero have no moments.
            let part = if weight > 0.0 {
                a.weighted_moments(weights)?
            } else {
                Moments { count: weights.len(), ..Moments::empty(self.cols) }
            };
            all = replace(&mut all, Moments::empty(0)).merge_weighted(total, &part, weight);
            total += weight;
            Ok(())
        })?;
        Ok(all)
    }
}
