//! Laws of PCA: what must not change the answer, and by how much rounding may.

use std::sync::atomic::{AtomicU64, Ordering};

use favard_models::{Pca, PcaFit, Solver};
use favard_operator::{
    AdjointOperator, Between, Block, BlockMut, BlockRef, ColumnMoments, Dense, LinearOperator,
    Moments, RowOperator, Scalar, Sparse, WeightedMoments, Workspace,
};
use ndarray::{Array2, Axis};
use proptest::prelude::*;

use crate::support::*;

/// Two fits of problems that are equal up to rounding: variances within the residuals of both and
/// the rounding of the covariance, components of separated values likewise.
fn assert_same(a: &PcaFit<f64>, b: &PcaFit<f64>, tolerance: f64) {
    let largest = a.explained_variance()[0].max(b.explained_variance()[0]);
    let allowed = (2.0 * tolerance + 1e3 * f64::EPSILON) * largest;
    let difference = gap(&a.explained_variance(), &b.explained_variance());
    assert!(difference <= allowed, "{difference:e} {allowed:e}");
    assert!((a.total_variance() - b.total_variance()).abs() <= 1e4 * f64::EPSILON * largest);
    for j in 0..a.components().cols() {
        let (Some(x), Some(y)) = (a.angle_bounds()[j], b.angle_bounds()[j]) else { continue };
        let (u, v) = (a.components().view(), b.components().view());
        let (u, v) = (u.column(j), v.column(j));
        // ‖u − v‖ ≤ √2 (sin + sin); signs are fixed by the same rule. The two covariances differ
        // by rounding, which an angle bound of each carries already.
        let distance = (&u - &v).mapv(|d| d * d).sum().sqrt();
        assert!(distance <= 2.0 * (x + y), "{j}: {distance:e} {x:e} {y:e}");
    }
}

/// Whole weights are repeated rows: variances, ratios, mean, scale, noise, singular values.
#[test]
fn whole_weights_are_repeated_rows() {
    for (rows, cols) in [(80, 30), (25, 60)] {
        let x = sparse(rows, cols, 11);
        let weights: Vec<f64> = (0..rows).map(|i| (i * i % 4) as f64).collect();
        let repeats: Vec<usize> =
            (0..rows).flat_map(|i| std::iter::repeat_n(i, (i * i) % 4)).collect();
        let repeated = rows_of(&x, &repeats);
        for (scale, center) in [(false, true), (true, true), (false, false), (true, false)] {
            for solver in [Solver::Exact, Solver::Lanczos] {
                let pca = Pca::new(3).scale(scale).center(center).solver(solver).tolerance(1e-10);
                let plain = pca.fit(&csr(&repeated)).unwrap();
                let weighted = pca.fit_weighted(&csr(&x), &weights).unwrap();
                assert!(weighted.is_certified());
                assert_same(&weighted, &plain, 1e-10);
                let size = plain.total_variance();
                assert!(gap(weighted.mean(), plain.mean()) <= 1e3 * f64::EPSILON * size.sqrt());
                assert!(gap(weighted.scale(), plain.scale()) <= 1e3 * f64::EPSILON * size.sqrt());
                let noise = (weighted.noise_variance() - plain.noise_variance()).abs();
                assert!(noise <= 1e-9 * size, "{noise:e}");
                let values = gap(&weighted.singular_values(), &plain.singular_values());
                // √ of a variance: relative error halves, so 1e-10 stays below 1e-9.
                assert!(values <= 1e-9 * plain.singular_values()[0]);
                let dense = Dense::new(x.view()).unwrap();
                assert_same(&pca.fit_weighted(&dense, &weights).unwrap(), &plain, 1e-10);
            }
        }
    }
}

/// Equal weights of one change nothing, not even a bit of the moments.
#[test]
fn unit_weights_change_nothing() {
    let x = csr(&sparse(70, 20, 2));
    let (plain, weighted) =
        (Pca::new(2).fit(&x).unwrap(), Pca::new(2).fit_weighted(&x, &[1.0; 70]));
    let weighted = weighted.unwrap();
    assert_eq!((plain.mean(), plain.weight()), (weighted.mean(), weighted.weight()));
    assert_same(&plain, &weighted, 1e-6);
}

/// The order of the rows does not matter.
#[test]
fn rows_may_be_permuted() {
    let x = sparse(120, 40, 21);
    let order: Vec<usize> = (0..120).map(|i| (i * 77 + 5) % 120).collect();
    let pca = Pca::new(4).tolerance(1e-10);
    let (a, b) = (pca.fit(&csr(&x)).unwrap(), pca.fit(&csr(&rows_of(&x, &order))).unwrap());
    assert_same(&a, &b, 1e-10);
}

/// Centring and scaling without touching the data is centring and scaling the data.
#[test]
fn implicit_is_explicit() {
    let x = sparse(90, 35, 4);
    for scale in [false, true] {
        let mut explicit = &x - &x.mean_axis(Axis(0)).unwrap();
        if scale {
            for mut column in explicit.columns_mut() {
                let deviation = (column.dot(&column) / 89.0).sqrt();
                column /= deviation;
            }
        }
        let pca = Pca::new(3).tolerance(1e-10);
        let implicit = pca.clone().scale(scale).fit(&csr(&x)).unwrap();
        let plain = pca.center(false).fit(&Dense::new(explicit).unwrap()).unwrap();
        assert_same(&implicit, &plain, 1e-10);
    }
}

/// A matrix stored by columns gives what one stored by rows gives, weighted too.
#[test]
fn columns_and_rows() {
    let x = sparse(110, 45, 8);
    let by_columns = Sparse::from_sprs(sprs::CsMat::csc_from_dense(x.view(), 0.0)).unwrap();
    assert!(by_columns.is_by_columns());
    let weights: Vec<f64> = (0..110).map(|i| 0.5 + f64::from(i % 3)).collect();
    let pca = Pca::new(3).scale(true).solver(Solver::Lanczos).tolerance(1e-10);
    assert_same(&pca.fit(&by_columns).unwrap(), &pca.fit(&csr(&x)).unwrap(), 1e-10);
    let weighted = pca.fit_weighted(&by_columns, &weights).unwrap();
    assert_same(&weighted, &pca.fit_weighted(&csr(&x), &weights).unwrap(), 1e-10);
}

/// Rank-deficient data, tall and wide, f64 and f32: the variances beyond the rank are zeros.
#[test]
fn beyond_the_rank_there_is_nothing() {
    for (rows, cols) in [(200, 80), (60, 150)] {
        let (left, right) = (Block::<f64>::gaussian(rows, 2, 1), Block::gaussian(cols, 2, 2));
        let x: Array2<f64> = left.view().dot(&right.view().t());
        for solver in [Solver::Exact, Solver::Lanczos, Solver::Dynamic] {
            let pca = Pca::new(5).solver(solver);
            let fit = pca.fit(&Dense::new(x.view()).unwrap()).unwrap();
            let variances = fit.explained_variance();
            assert!(variances[1] > 1.0 && variances[2..] == [0.0; 3], "{variances:?}");
            assert_eq!(fit.singular_values()[2..], [0.0; 3]);
            let single = pca.fit(&Dense::new(x.mapv(f32::of)).unwrap()).unwrap();
            // Rounding the data to f32 adds a variance of ε² per entry, below what f32 resolves.
            assert_eq!(single.explained_variance()[2..], [0.0; 3]);
        }
    }
}

/// Single precision: the variances of the same numbers within its rounding, tall and wide.
#[test]
fn single_precision() {
    for (rows, cols) in [(150, 60), (60, 150)] {
        let x = sparse(rows, cols, 17).mapv(f32::of);
        let double = Pca::new(3).tolerance(1e-10).fit(&csr(&x.mapv(f64::from))).unwrap();
        let matrix = sprs::CsMat::csr_from_dense(x.view(), 0.0_f32);
        let single = favard_operator::Csr::from_sprs(matrix).unwrap();
        for solver in [Solver::Exact, Solver::Lanczos] {
            let fit = Pca::new(3).solver(solver).tolerance(1e-4).fit(&single).unwrap();
            assert!(fit.is_certified());
            let difference = gap(&fit.explained_variance(), &double.explained_variance());
            let bounds = fit.certificate().value_bounds();
            // The rounding of n products a column in f32, relative to λ₁, comes on top.
            let rounding = f64::from(f32::EPSILON) * (rows as f64).sqrt() * 8.0;
            let allowed = bounds.iter().copied().fold(0.0, f64::max)
                + rounding * double.explained_variance()[0];
            assert!(difference <= allowed, "{difference:e} {allowed:e}");
        }
    }
}

/// k = min(n, d), wide: the centred rows span one dimension less, and the ratios add up to one.
#[test]
fn all_components_of_wide_data() {
    let x = sparse(20, 70, 3);
    let fit = Pca::new(20).fit(&csr(&x)).unwrap();
    let sum: f64 = fit.explained_variance_ratio().iter().sum();
    assert!((sum - 1.0).abs() <= 1e3 * f64::EPSILON, "{sum}");
    assert!(fit.explained_variance()[19] <= 1e3 * f64::EPSILON * fit.total_variance());
    let back = fit.inverse_transform(fit.transform(&csr(&x)).unwrap().as_ref()).unwrap();
    for ((i, j), value) in x.indexed_iter() {
        assert!((back.row(i)[j] - value).abs() <= 1e3 * f64::EPSILON * 20.0);
    }
}

/// In each component the entry of largest absolute value is positive.
#[test]
fn signs_follow_the_rule() {
    let fit = Pca::new(6).fit(&csr(&sparse(100, 30, 14))).unwrap();
    for column in fit.components().view().columns() {
        let largest = column.iter().fold(0.0_f64, |m, v| if v.abs() > m.abs() { *v } else { m });
        assert!(largest > 0.0);
    }
}

/// A matrix that counts its products.
struct Counted {
    inner: Dense<'static, f64>,
    normal: AtomicU64,
    others: AtomicU64,
}

impl LinearOperator<f64> for Counted {
    fn shape(&self) -> (usize, usize) {
        self.inner.shape()
    }
    fn apply(
        &self,
        alpha: f64,
        x: BlockRef<'_, f64>,
        gamma: f64,
        y: BlockMut<'_, f64>,
        ws: &mut Workspace<f64>,
    ) -> favard_operator::Result<()> {
        self.others.fetch_add(1, Ordering::Relaxed);
        self.inner.apply(alpha, x, gamma, y, ws)
    }
}

impl AdjointOperator<f64> for Counted {
    fn apply_adjoint(
        &self,
        alpha: f64,
        x: BlockRef<'_, f64>,
        gamma: f64,
        y: BlockMut<'_, f64>,
        ws: &mut Workspace<f64>,
    ) -> favard_operator::Result<()> {
        self.others.fetch_add(1, Ordering::Relaxed);
        self.inner.apply_adjoint(alpha, x, gamma, y, ws)
    }
    fn apply_normal(
        &self,
        alpha: f64,
        x: BlockRef<'_, f64>,
        between: Between<'_, f64>,
        gamma: f64,
        y: BlockMut<'_, f64>,
        ws: &mut Workspace<f64>,
    ) -> favard_operator::Result<()> {
        self.normal.fetch_add(1, Ordering::Relaxed);
        self.inner.apply_normal(alpha, x, between, gamma, y, ws)
    }
}

impl RowOperator<f64> for Counted {
    fn apply_rows(
        &self,
        rows: &[usize],
        x: BlockRef<'_, f64>,
        z: BlockMut<'_, f64>,
        ws: &mut Workspace<f64>,
    ) -> favard_operator::Result<()> {
        self.inner.apply_rows(rows, x, z, ws)
    }
    fn apply_rows_adjoint(
        &self,
        rows: &[usize],
        alpha: f64,
        z: BlockRef<'_, f64>,
        gamma: f64,
        y: BlockMut<'_, f64>,
        ws: &mut Workspace<f64>,
    ) -> favard_operator::Result<()> {
        self.inner.apply_rows_adjoint(rows, alpha, z, gamma, y, ws)
    }
    fn row_norm_squared(&self, row: usize) -> f64 {
        self.inner.row_norm_squared(row)
    }
    fn entry(&self, row: usize, col: usize) -> f64 {
        self.inner.entry(row, col)
    }
}

impl ColumnMoments<f64> for Counted {
    fn column_moments(&self) -> favard_operator::Result<Moments> {
        self.inner.column_moments()
    }
}

impl WeightedMoments<f64> for Counted {
    fn weighted_moments(&self, weights: &[f64]) -> favard_operator::Result<Moments> {
        self.inner.weighted_moments(weights)
    }
}

/// Weighted, centred and scaled: every product with the covariance is one normal product with the
/// data, as many as `Info` says, and nothing else.
#[test]
fn one_pass_a_product() {
    let (normal, others) = (AtomicU64::new(0), AtomicU64::new(0));
    let inner = Dense::new(sparse(400, 120, 5)).unwrap();
    let x = Counted { inner, normal, others };
    let weights: Vec<f64> = (0..400).map(|i| 0.5 + f64::from(i % 3)).collect();
    for solver in [Solver::Exact, Solver::Lanczos, Solver::Dynamic] {
        let before = x.normal.load(Ordering::Relaxed);
        let pca = Pca::new(3).scale(true).solver(solver);
        let fit = pca.fit_weighted(&x, &weights).unwrap();
        let made = x.normal.load(Ordering::Relaxed) - before;
        assert_eq!((made, x.others.load(Ordering::Relaxed)), (fit.info().applications, 0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    /// Data made for a spectrum has it, with every solver, and reproduces itself from all scores.
    #[test]
    fn random_spectra(
        values in prop::collection::vec(0..=1000_u32, 12..=40),
        solver in prop::sample::select(vec![Solver::Auto, Solver::Exact, Solver::Lanczos]),
        seed in 0..1000_u64,
    ) {
        let mut values = values;
        values.sort_unstable_by(|a, b| b.cmp(a));
        let variances: Vec<f64> = values.iter().map(|v| f64::from(*v) / 100.0).collect();
        prop_assume!(variances[0] > 0.0);
        let x = with_variances(90, &variances, seed);
        let fit = Pca::new(6).solver(solver).tolerance(1e-9).fit(&Dense::new(x).unwrap()).unwrap();
        prop_assert!(fit.is_certified());
        let rounding = 1e3 * f64::EPSILON * (variances[0] + 9.0 * variances.len() as f64);
        let total: f64 = variances.iter().sum();
        prop_assert!((fit.total_variance() - total).abs() <= rounding * variances.len() as f64);
        for (j, found) in fit.explained_variance().iter().enumerate() {
            let allowed = fit.certificate().value_bounds()[j] + rounding;
            prop_assert!((found - variances[j]).abs() <= allowed, "{} {}", found, variances[j]);
        }
    }
}

/// The exact solver of dense data gets mean, scale and matrix from one pass; of sparse data from two
/// and from products. With and without weights, centring and scaling the fits are the same.
#[test]
fn formed_in_one_pass_is_formed_by_products() {
    for (rows, cols) in [(400, 9), (700, 40), (60, 60)] {
        let x = sparse(rows, cols, 21);
        let weights: Vec<f64> = (0..rows).map(|i| (i % 3) as f64).collect();
        for (center, scale) in [(true, false), (true, true), (false, false), (false, true)] {
            let pca = Pca::new(4).center(center).scale(scale).solver(Solver::Exact);
            let dense = Dense::new(&x).unwrap();
            assert_same(&pca.fit(&dense).unwrap(), &pca.fit(&csr(&x)).unwrap(), 1e-12);
            let weighted = pca.fit_weighted(&dense, &weights).unwrap();
            assert!(weighted.is_certified());
            assert_same(&weighted, &pca.fit_weighted(&csr(&x), &weights).unwrap(), 1e-12);
        }
    }
}
