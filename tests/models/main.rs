//! PCA and its solvers against exact small eigenproblems.

use favard_engine::Stop;
use favard_models::{Lanczos, Pca, PcaFit, Solver, exact_eigen};
use favard_operator::{Block, Csr, Dense, Diagonal, FnOperator, Orthonormalizer, Workspace};
use ndarray::{Array2, Axis};
use proptest::prelude::*;

/// A symmetric matrix with the given spectrum in a random orthonormal basis.
fn with_spectrum(spectrum: &[f64], seed: u64) -> Array2<f64> {
    let dim = spectrum.len();
    let mut basis = Block::<f64>::gaussian(dim, dim, seed);
    Orthonormalizer::new(dim).orthonormalize(&mut [&mut basis], &mut Workspace::new()).unwrap();
    let q = basis.view();
    let scaled = Array2::from_shape_fn((dim, dim), |(i, j)| q[[i, j]] * spectrum[j]);
    scaled.dot(&q.t())
}

/// The eigenvalues of the covariance of a small dense matrix, by faer.
fn exact_variances(x: &Array2<f64>, scale: bool) -> Vec<f64> {
    let mut centred = x - &x.mean_axis(Axis(0)).unwrap();
    if scale {
        for mut column in centred.columns_mut() {
            let deviation = (column.dot(&column) / (x.nrows() - 1) as f64).sqrt();
            if deviation > 0.0 {
                column /= deviation;
            }
        }
    }
    let c = centred.t().dot(&centred) / (x.nrows() - 1) as f64;
    let matrix = faer::Mat::from_fn(c.nrows(), c.ncols(), |i, j| c[[i, j]]);
    let mut values: Vec<f64> = matrix.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
    values.reverse();
    values
}

fn sparse(rows: usize, cols: usize, seed: u64) -> Array2<f64> {
    let noise = Block::<f64>::gaussian(rows, cols, seed);
    let size = |j: usize| 4.0 / (1.0 + j as f64);
    Array2::from_shape_fn((rows, cols), |(i, j)| {
        let v = noise.row(i)[j];
        if v > 0.7 { v * size(j) } else { 0.0 }
    })
}

fn csr(x: &Array2<f64>) -> Csr<'static, f64> {
    Csr::from_sprs(sprs::CsMat::csr_from_dense(x.view(), 0.0)).unwrap()
}

/// |λ − λ̂| is at most the residual, and the residual is what was asked for.
fn assert_right(fit: &PcaFit<f64>, exact: &[f64], tolerance: f64) {
    assert!(fit.is_certified(), "{:?}", fit.info());
    for (j, found) in fit.explained_variance().iter().enumerate() {
        let rounding = 100.0 * f64::EPSILON * exact[0] * exact.len() as f64;
        let gap = (found - exact[j].max(0.0)).abs();
        let allowed = fit.residuals()[j] + rounding;
        assert!(gap <= allowed, "{j}: {found} for {}, residual {:e}", exact[j], fit.residuals()[j]);
        assert!(fit.residuals()[j] <= tolerance * exact[0]);
    }
    let v = fit.components().view();
    let gram = v.t().dot(&v);
    for ((i, j), value) in gram.indexed_iter() {
        let one = if i == j { 1.0 } else { 0.0 };
        assert!(
            (value - one).abs() <= 1e3 * f64::EPSILON * v.nrows() as f64,
            "({i}, {j}): {value}"
        );
    }
}

/// Sparse and dense, tall and wide, scaled and not, every solver: the exact variances.
#[test]
fn pca_equals_the_exact_eigenproblem() {
    for (rows, cols) in [(400, 150), (150, 400)] {
        let x = sparse(rows, cols, 3);
        let total = |scale| exact_variances(&x, scale).iter().sum::<f64>();
        for scale in [false, true] {
            let exact = exact_variances(&x, scale);
            for solver in [Solver::Auto, Solver::Exact, Solver::Lanczos, Solver::Dynamic] {
                let pca = Pca::new(4).scale(scale).solver(solver).tolerance(1e-9).products(5000);
                let fit = pca.fit(&csr(&x)).unwrap();
                assert_right(&fit, &exact, 1e-9);
                let gap = (fit.total_variance() - total(scale)).abs();
                assert!(gap <= 1e3 * f64::EPSILON * total(scale) * cols as f64, "{gap:e}");
                let dense = pca.fit(&Dense::new(x.view()).unwrap()).unwrap();
                assert_right(&dense, &exact, 1e-9);
            }
        }
    }
}

/// Demand 16: over all components the ratios add up to one, whatever the data.
#[test]
fn ratios_over_all_components_add_up_to_one() {
    let x = sparse(60, 12, 9);
    let fit = Pca::new(12).fit(&csr(&x)).unwrap();
    let sum: f64 = fit.explained_variance_ratio().iter().sum();
    assert!((sum - 1.0).abs() <= 1e3 * f64::EPSILON, "{sum}");
    assert!(fit.noise_variance().abs() <= 1e3 * f64::EPSILON * fit.total_variance());
    // Scores reproduce the data when no component is left out.
    let scores = fit.transform(&csr(&x)).unwrap();
    let back = fit.inverse_transform(scores.as_ref()).unwrap();
    for ((i, j), value) in x.indexed_iter() {
        assert!((back.row(i)[j] - value).abs() <= 1e3 * f64::EPSILON * 12.0);
    }
}

/// Multiplicities 1 to 4 are all found (demand 14), and no vector of a cluster claims an angle.
#[test]
fn repeated_eigenvalues_are_found() {
    for multiplicity in 1..=4 {
        let mut spectrum = vec![0.5; 120];
        for (i, value) in spectrum.iter_mut().enumerate() {
            *value = if i < multiplicity { 2.0 } else { 1.0 / (1.0 + i as f64) };
        }
        let op = Dense::new(with_spectrum(&spectrum, 4)).unwrap();
        let found = Lanczos::new(5).width(4).tolerance(1e-10).solve(&op).unwrap();
        assert_eq!(found.info.stop, Stop::Converged);
        for (value, exact) in found.values.iter().zip(&spectrum) {
            assert!((value - exact).abs() <= 1e-10 * 2.0, "{multiplicity}: {value} for {exact}");
        }
    }
}

/// A gap of 1e-6 costs steps and does not hang; the budget is a stop and the vectors come back.
#[test]
fn tiny_gaps_and_small_budgets() {
    let mut spectrum: Vec<f64> = (0..500).map(|i| 1.0 - 1e-6 * f64::from(i.min(3))).collect();
    for (i, value) in spectrum.iter_mut().enumerate().skip(4) {
        *value = 0.9 / (1.0 + 0.01 * i as f64);
    }
    let op = Diagonal::new(spectrum.clone()).unwrap();
    let found = Lanczos::new(2).tolerance(1e-9).solve(&op).unwrap();
    assert_eq!(found.info.stop, Stop::Converged);
    assert!((found.values[0] - 1.0).abs() <= 1e-9);
    let cut = Lanczos::new(2).tolerance(1e-14).products(2).solve(&op).unwrap();
    assert_eq!((cut.info.stop, cut.info.iterations), (Stop::Iterations, 2));
    assert_eq!(cut.vectors.shape(), (500, 2));
}

/// Rank-deficient data gives zero variances, not noise.
#[test]
fn rank_deficient_data() {
    let left = Block::<f64>::gaussian(200, 2, 1);
    let right = Block::<f64>::gaussian(80, 2, 2);
    let x = left.view().dot(&right.view().t());
    for solver in [Solver::Exact, Solver::Lanczos] {
        let fit = Pca::new(5).solver(solver).fit(&Dense::new(x.view()).unwrap()).unwrap();
        let variances = fit.explained_variance();
        assert!(variances[1] > 1.0);
        for value in &variances[2..] {
            assert!(*value <= 200.0 * f64::EPSILON * variances[0], "{value:e}");
        }
    }
}

#[test]
fn bad_input_is_named() {
    let text = |result: Result<PcaFit<f64>, favard_models::Error>| result.unwrap_err().to_string();
    let x = Dense::new(Array2::<f64>::ones((5, 3))).unwrap();
    assert!(text(Pca::new(4).fit(&x)).starts_with("components: 4 must be at least 1 and at most"));
    assert!(text(Pca::new(0).fit(&x)).starts_with("components: 0"));
    let one = Dense::new(Array2::<f64>::ones((1, 3))).unwrap();
    assert!(text(Pca::new(1).fit(&one)).starts_with("rows: 1 must be at least 2"));
    assert!(text(Pca::new(1).tolerance(f64::NAN).solver(Solver::Lanczos).fit(&x)).contains("NaN"));
    // Constant data has no variance: zeros, certified, no error; so has constant data with scaling.
    for scale in [false, true] {
        let fit = Pca::new(2).scale(scale).fit(&x).unwrap();
        assert_eq!(fit.explained_variance(), [0.0, 0.0]);
        assert_eq!(fit.explained_variance_ratio(), [0.0, 0.0]);
    }
    let nan = FnOperator::new((60, 60), |_, mut y: favard_operator::BlockMut<'_, f64>| {
        y.row_mut(3)[0] = f64::NAN;
    });
    assert!(Lanczos::new(1).width(2).solve(&nan).unwrap_err().to_string().contains("row 3"));
    assert!(exact_eigen(&nan, 1).unwrap_err().to_string().contains("row 3"));
}

/// Demands 3 and 15: the same bits at 1, 2 and 4 threads, and one sign.
#[test]
fn fits_do_not_depend_on_threads() {
    let x = csr(&sparse(3000, 700, 5));
    let fit = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Pca::new(3).scale(true).solver(Solver::Lanczos).fit(&x).unwrap())
    };
    let one = fit(1);
    assert!(one == fit(2) && one == fit(4));
    // Eigenproblems of 300 and of 140, large enough for a parallel solver to differ.
    let square = csr(&sparse(900, 300, 6));
    let large = |threads: usize, solver: Solver| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Pca::new(50).solver(solver).fit(&square).unwrap())
    };
    for solver in [Solver::Exact, Solver::Lanczos] {
        assert!(large(1, solver) == large(2, solver) && large(1, solver) == large(4, solver));
    }
    for j in 0..3 {
        let column = one.components().view().column(j).to_owned();
        let largest = column.iter().fold(0.0_f64, |m, v| if v.abs() > m.abs() { *v } else { m });
        assert!(largest > 0.0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// Lanczos finds the top of any spectrum: each value within its residual, none missed.
    #[test]
    fn lanczos_on_random_spectra(
        mut spectrum in prop::collection::vec(-100..=100_i32, 60..=90),
        seed in 0..1000_u64,
        width in 1..=6_usize,
        wanted in 1..=5_usize,
    ) {
        spectrum.sort_unstable_by(|a, b| b.cmp(a));
        let values: Vec<f64> = spectrum.iter().map(|v| f64::from(*v) / 100.0).collect();
        let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        prop_assume!(largest > 0.0);
        let op = Dense::new(with_spectrum(&values, seed)).unwrap();
        let solver = Lanczos::new(wanted).width(width).tolerance(1e-9).seed(seed);
        let found = solver.solve(&op).unwrap();
        prop_assert_eq!(found.info.stop, Stop::Converged);
        // A multiplicity beyond the width of a block can be found only after rounding has mixed it
        // in; the value itself is never wrong. What is asked here: each found value is an eigenvalue.
        for (j, value) in found.values.iter().enumerate() {
            let nearest = values.iter().map(|v| (v - value).abs()).fold(f64::INFINITY, f64::min);
            let slack = found.residuals[j] + 1e3 * f64::EPSILON;
            prop_assert!(nearest <= slack, "{} is {:e} from the spectrum", value, nearest);
        }
        prop_assert!((found.values[0] - values[0]).abs() <= 2e-9);
    }
}
