//! What a certificate says is true: bounds against exact spectra.

use favard_engine::{Info, Stop};
use favard_models::solvers::{Eigensolver, PowerMomentum};
use favard_models::{Lanczos, Pca, Solver, TruncatedSvd, exact_eigen};
use favard_operator::{
    AdjointOperator, Block, BlockMut, BlockRef, ColumnMoments, Dense, Forming, LinearOperator,
    Moments, Result, RowOperator, Side, Standardized, Workspace,
};
use proptest::prelude::*;

use crate::support::*;

/// A basis of eigenvectors is known: rows of the data are ± unit vectors.
fn axes(variances: &[f64]) -> ndarray::Array2<f64> {
    let dim = variances.len();
    let freedom = (2 * dim - 1) as f64;
    ndarray::Array2::from_shape_fn((2 * dim, dim), |(i, j)| {
        let sign = if i < dim { 1.0 } else { -1.0 };
        // Σ x² = 2 a² = (n − 1) λ
        if i % dim == j { sign * (freedom * variances[j] / 2.0).sqrt() } else { 0.0 }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Whatever the spectrum and the tolerance: each variance is within its bound of an exact one,
    /// and each angle within its bound of the exact eigenvector. The exact eigenvectors are axes.
    /// Gaps are estimates, as the certificate says: where a value was passed over (with a tolerance of
    /// 1e-2 and gaps of that size it happens), what rests on a gap is not claimed, and the residual
    /// alone bounds the variance.
    #[test]
    fn bounds_hold(
        steps in prop::collection::vec(1..=400_u32, 60),
        solver in prop::sample::select(vec![Solver::Exact, Solver::Lanczos, Solver::Dynamic]),
        tolerance in prop::sample::select(vec![1e-2, 1e-4, 1e-8]),
        seed in 0..100_u64,
    ) {
        let mut variances: Vec<f64> = vec![0.0; 60];
        let mut sum = 0.0;
        for (value, step) in variances.iter_mut().rev().zip(steps) {
            sum += f64::from(step) / 100.0;
            *value = sum;
        }
        let x = Dense::new(axes(&variances)).unwrap();
        let pca = Pca::new(4).solver(solver).tolerance(tolerance).seed(seed).products(3000);
        let fit = pca.fit(&x).unwrap();
        prop_assert!(fit.is_certified());
        let certificate = fit.certificate();
        prop_assert!(certificate.orthogonality() <= tolerance);
        let (ritz, residuals) = (&fit.info().ritz, &fit.info().residuals);
        let own = |j: usize| (ritz[j] - variances[j]).abs() <= residuals[j] * (1.0 + 1e-9);
        let guarded = ritz.len() < 5 || ritz[4] + residuals[4] >= variances[4];
        let sound = guarded && (0..4).all(own);
        for (j, found) in fit.explained_variance().iter().enumerate() {
            let near = variances.iter().map(|v| (v - found).abs()).fold(f64::INFINITY, f64::min);
            let bound = certificate.value_bounds()[j];
            let bound = if sound { bound } else { bound.max(residuals[j]) };
            prop_assert!(near <= bound, "{} {:e}", j, near);
            prop_assert!(certificate.residuals()[j] <= tolerance * variances[0] * (1.0 + 1e-9));
            if let Some(bound) = certificate.angle_bounds()[j].filter(|_| sound) {
                let others = (0..60).filter(|&i| i != j).map(|i| fit.components().row(i)[j]);
                let sine = others.map(|v| v * v).sum::<f64>().sqrt();
                prop_assert!(sine <= bound, "{}: {:e} {:e}", j, sine, bound);
            }
        }
        for cluster in certificate.clusters() {
            if let Some(bound) = cluster.angle_bound.filter(|_| sound) {
                let range = cluster.range.clone();
                let found = fit.components().as_ref().cols_range(range.clone()).to_owned();
                let exact = Block::from_fn(60, range.len(), |i, j| {
                    if i == range.start + j { 1.0 } else { 0.0 }
                });
                let (angle, rounding) = (sine(&found, &exact), 60.0 * f64::EPSILON);
                prop_assert!(angle <= bound + rounding, "{:e} {:e}", angle, bound);
            }
        }
    }
}

/// A repeated variance is a cluster: no vector of it has an angle, their space has.
#[test]
fn repeated_variances_are_clusters() {
    let mut variances: Vec<f64> = (0..50).map(|i| 1.0 / (1.0 + f64::from(i))).collect();
    variances[..5].copy_from_slice(&[4.0, 2.0, 2.0, 2.0, 1.5]);
    let x = Dense::new(axes(&variances)).unwrap();
    for solver in [Solver::Exact, Solver::Lanczos] {
        let fit = Pca::new(5).solver(solver).tolerance(1e-9).fit(&x).unwrap();
        assert!(fit.is_certified());
        let certificate = fit.certificate();
        let clusters = certificate.clusters();
        assert_eq!((clusters.len(), clusters[0].range.clone()), (1, 1..4));
        // ‖R‖ ≤ √3 tol λ₁, and the gap below is ½.
        assert!(clusters[0].angle_bound.unwrap() <= 3.0_f64.sqrt() * 1e-9 * 4.0 / 0.49);
        let known: Vec<bool> = fit.angle_bounds().iter().map(Option::is_some).collect();
        assert_eq!(known[..4], [true, false, false, false]);
    }
    // A cut through the cluster: even the space is not determined.
    let fit = Pca::new(3).solver(Solver::Exact).fit(&x).unwrap();
    let cluster = &fit.certificate().clusters()[0];
    assert_eq!((cluster.range.clone(), cluster.angle_bound), (1..3, None));
}

/// The trace proves that nothing was missed where little is left, and does not claim it elsewhere.
#[test]
fn the_trace_is_a_proof() {
    let steep: Vec<f64> = (0..40).map(|i| 0.2_f64.powi(i)).collect();
    let fit = Pca::new(3).fit(&Dense::new(axes(&steep)).unwrap()).unwrap();
    assert!(fit.certificate().is_complete());
    let flat: Vec<f64> = (0..40).map(|i| 1.0 - 0.01 * f64::from(i)).collect();
    let fit = Pca::new(3).fit(&Dense::new(axes(&flat)).unwrap()).unwrap();
    assert!(fit.is_certified() && !fit.certificate().is_complete());
}

/// All of the space is found: the last gap is infinite, every angle is known.
#[test]
fn all_components_have_angles() {
    let variances: Vec<f64> = (1..=8).rev().map(f64::from).collect();
    let fit = Pca::new(8).fit(&Dense::new(axes(&variances)).unwrap()).unwrap();
    assert!(fit.angle_bounds().iter().all(Option::is_some));
    assert!(fit.certificate().is_complete());
}

/// The certificate of an eigenproblem alone, with a guard or without.
#[test]
fn eigen_has_a_certificate() {
    let spectrum: Vec<f64> = (0..300).map(|i| 1.0 / (1.0 + f64::from(i))).collect();
    let op = Dense::new(with_spectrum(&spectrum, 8)).unwrap();
    let found = Lanczos::new(3).tolerance(1e-9).solve(&op).unwrap();
    assert!(found.certificate(1e-9).is_certified() && !found.certificate(1e-18).is_certified());
    assert!(found.certificate(1e-9).angle_bounds()[0].unwrap() <= 1e-9 / 0.49);
    for (j, bound) in found.certificate(1e-9).value_bounds().iter().enumerate() {
        assert!((found.values[j] - spectrum[j]).abs() <= *bound);
    }
}

/// `Info` has the method, the reason, and for every component the residual, the error bound, the
/// angle bound and whether it is certified, whichever way the pairs were found.
#[test]
fn info_carries_the_proof() {
    let check = |info: &Info<f64>, method: &str, count: usize| {
        assert!(info.method.contains(method), "{} for {method}", info.method);
        assert!(!info.reason.is_empty());
        let proof = &info.certificate;
        assert!(proof.is_certified());
        assert_eq!(proof.certified(), vec![true; count]);
        let lengths =
            [proof.residuals().len(), proof.value_bounds().len(), proof.angle_bounds().len()];
        assert_eq!(lengths, [count; 3]);
    };
    let spectrum: Vec<f64> = (0..300).map(|i| 1.0 / (1.0 + f64::from(i))).collect();
    let op = Dense::new(with_spectrum(&spectrum, 8)).unwrap();
    check(&Lanczos::new(3).solve(&op).unwrap().info, "krylov", 3);
    check(&exact_eigen(&op, 3).unwrap().info, "exact", 3);
    let momentum = Eigensolver::new(PowerMomentum::default(), 2).solve(&op).unwrap();
    check(&momentum.info, "calm interval", 2);
    let x = Dense::new(with_variances(200, &spectrum[..40], 3)).unwrap();
    for solver in [Solver::Auto, Solver::Exact, Solver::Lanczos, Solver::Momentum] {
        let fit = Pca::new(4).solver(solver).fit(&x).unwrap();
        let (method, reason) = fit.method();
        assert_eq!(
            (fit.info().method.as_str(), fit.info().reason.as_str()),
            (method.name(), reason)
        );
        check(fit.info(), method.name(), 4);
        assert_eq!(fit.certificate(), &fit.info().certificate);
        let fit = TruncatedSvd::new(4).solver(solver).fit(&x).unwrap();
        check(fit.info(), fit.method().0.name(), 4);
    }
    // Of a run that was cut short some are certified, and some are not.
    let cut = Pca::new(20).solver(Solver::Momentum).tolerance(1e-6).products(12).fit(&x).unwrap();
    let each = cut.info().certificate.certified();
    assert!(each.contains(&true) && each.contains(&false), "{each:?}");
    assert!(!cut.is_certified());
    let text = serde_json::to_string(cut.info()).unwrap();
    assert_eq!(&serde_json::from_str::<Info<f64>>(&text).unwrap(), cut.info());
}

/// An operator that is not symmetric has no certificate: the residuals are those of the operator,
/// not of the symmetric matrix that was made of it.
#[test]
fn operators_that_are_not_symmetric_are_not_certified() {
    let mut crooked =
        with_spectrum(&(0..40).map(|i| 1.0 / f64::from(i + 1)).collect::<Vec<_>>(), 3);
    crooked[[2, 30]] += 0.5;
    // ‖A v − θ v‖ with ‖A − Aᵀ‖ ≥ ½ cannot be small for all of the 40 vectors.
    let op = Dense::new(crooked).unwrap();
    let found = exact_eigen(&op, 40).unwrap();
    assert!(!found.info.certificate.is_certified());
    assert_eq!(found.info.stop, Stop::Stagnated);
    let found = Lanczos::new(40).solve(&op).unwrap();
    assert_eq!(found.info.method, "exact");
    assert!(!found.info.certificate.is_certified());
}

/// Data that forms another Gram matrix than the one it multiplies with.
struct Liar(Dense<'static, f64>);

impl LinearOperator<f64> for Liar {
    fn shape(&self) -> (usize, usize) {
        self.0.shape()
    }

    fn apply(
        &self,
        alpha: f64,
        x: BlockRef<'_, f64>,
        gamma: f64,
        y: BlockMut<'_, f64>,
        ws: &mut Workspace<f64>,
    ) -> Result<()> {
        self.0.apply(alpha, x, gamma, y, ws)
    }
}

impl AdjointOperator<f64> for Liar {
    fn apply_adjoint(
        &self,
        alpha: f64,
        x: BlockRef<'_, f64>,
        gamma: f64,
        y: BlockMut<'_, f64>,
        ws: &mut Workspace<f64>,
    ) -> Result<()> {
        self.0.apply_adjoint(alpha, x, gamma, y, ws)
    }

    fn forming(&self, side: Side) -> Option<Forming> {
        self.0.forming(side)
    }

    fn form_gram(&self, side: Side, by: Standardized<'_, f64>) -> Result<Option<Block<f64>>> {
        let mut formed = self.0.form_gram(side, by)?;
        if let Some(matrix) = &mut formed {
            matrix.row_mut(0)[0] *= 2.0;
        }
        Ok(formed)
    }
}

impl RowOperator<f64> for Liar {
    fn apply_rows(
        &self,
        rows: &[usize],
        x: BlockRef<'_, f64>,
        z: BlockMut<'_, f64>,
        ws: &mut Workspace<f64>,
    ) -> Result<()> {
        self.0.apply_rows(rows, x, z, ws)
    }

    fn apply_rows_adjoint(
        &self,
        rows: &[usize],
        alpha: f64,
        z: BlockRef<'_, f64>,
        gamma: f64,
        y: BlockMut<'_, f64>,
        ws: &mut Workspace<f64>,
    ) -> Result<()> {
        self.0.apply_rows_adjoint(rows, alpha, z, gamma, y, ws)
    }

    fn row_norm_squared(&self, row: usize) -> f64 {
        self.0.row_norm_squared(row)
    }

    fn entry(&self, row: usize, col: usize) -> f64 {
        self.0.entry(row, col)
    }
}

impl ColumnMoments<f64> for Liar {
    fn column_moments(&self) -> Result<Moments> {
        self.0.column_moments()
    }
}

/// The exact solver is believed only by the operator's own products, tall and wide; and it says what
/// it cost: the matrix in one pass, and the product that checks it.
#[test]
fn a_formed_matrix_is_checked() {
    let x = with_variances(60, &[5.0, 4.0, 3.0, 2.0, 1.0, 0.5], 4);
    for x in [x.clone(), x.t().to_owned()] {
        let pca = Pca::new(2).solver(Solver::Exact);
        let right = pca.fit(&Dense::new(x.clone()).unwrap()).unwrap();
        assert!(right.is_certified());
        let wide = x.nrows() < x.ncols();
        // Wide: U, then V = AᵀU at half a product, checked by one.
        let cost = (right.info().applications, right.info().passes);
        assert_eq!(cost, if wide { (2, 2.5) } else { (2, 2.0) });
        let wrong = pca.fit(&Liar(Dense::new(x).unwrap())).unwrap();
        assert!(!wrong.is_certified());
        assert_eq!(wrong.info().stop, Stop::Stagnated);
    }
}
