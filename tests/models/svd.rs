//! The truncated singular value decomposition against the dense one.

use favard_models::{Solver, TruncatedSvd};
use favard_operator::{Csr, Dense, Weighted};
use ndarray::{Array2, Axis};

use crate::support::*;

fn dense_svd(x: &Array2<f64>) -> Vec<f64> {
    let matrix = faer::Mat::from_fn(x.nrows(), x.ncols(), |i, j| x[[i, j]]);
    matrix.singular_values().unwrap()
}

/// Values, both kinds of vectors, scores, and scikit-learn's explained variance (of the scores).
#[test]
fn triplets_are_right() {
    for (rows, cols) in [(300, 90), (90, 300)] {
        let x = sparse(rows, cols, 6);
        let exact = dense_svd(&x);
        for solver in [Solver::Auto, Solver::Exact, Solver::Lanczos, Solver::Dynamic] {
            let svd = TruncatedSvd::new(4).solver(solver).tolerance(1e-10).products(5000);
            let fit = svd.fit(&csr(&x)).unwrap();
            assert!(fit.is_certified());
            for (j, value) in fit.singular_values().iter().enumerate() {
                // |σ² − σ̂²| ≤ r
                let bound = fit.certificate().value_bounds()[j];
                assert!((value * value - exact[j] * exact[j]).abs() <= bound);
            }
            let scores = fit.transform(&csr(&x)).unwrap();
            let left = fit.left_vectors(&csr(&x)).unwrap();
            let (u, s, v) = (left.view(), fit.singular_values(), fit.components().view());
            // Uᵀ U = I and X V = U Σ up to residual / σ
            let gram = u.t().dot(&u);
            for ((i, j), value) in gram.indexed_iter() {
                let one = if i == j { 1.0 } else { 0.0 };
                assert!((value - one).abs() <= 1e3 * f64::EPSILON * rows as f64);
            }
            let spread = (x.dot(&v) - &u * &ndarray::Array1::from(s.clone())).mapv(|d| d * d).sum();
            assert!(spread.sqrt() <= 4.0 * 1e-10 * s[0] * s[0] / s[3]);
            let scores = scores.view();
            let mean = scores.mean_axis(Axis(0)).unwrap();
            let variances = (&scores - &mean).mapv(|d| d * d).mean_axis(Axis(0)).unwrap();
            let found = fit.explained_variance();
            assert!(
                gap(found, variances.as_slice().unwrap()) <= 1e3 * f64::EPSILON * variances.sum()
            );
            let total = x.var_axis(Axis(0), 0.0).sum();
            assert!((fit.explained_variance_ratio()[0] - found[0] / total).abs() <= 1e-13);
            assert!(fit.energy_ratio().iter().sum::<f64>() <= 1.0);
        }
    }
}

/// All components: the data comes back, and the energies add up to one.
#[test]
fn nothing_is_lost_with_all_components() {
    let x = sparse(40, 15, 12);
    let fit = TruncatedSvd::new(15).fit(&csr(&x)).unwrap();
    assert!((fit.energy_ratio().iter().sum::<f64>() - 1.0).abs() <= 1e3 * f64::EPSILON);
    let back = fit.inverse_transform(fit.transform(&csr(&x)).unwrap().as_ref()).unwrap();
    for ((i, j), value) in x.indexed_iter() {
        assert!((back.row(i)[j] - value).abs() <= 1e3 * f64::EPSILON * 15.0);
    }
}

/// Whole weights are repeated rows.
#[test]
fn weights_repeat_rows() {
    let x = sparse(60, 25, 9);
    let weights: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
    let repeats: Vec<usize> = (0..60).flat_map(|i| std::iter::repeat_n(i, i % 3)).collect();
    let svd = TruncatedSvd::new(3).tolerance(1e-10);
    let plain = svd.fit(&csr(&rows_of(&x, &repeats))).unwrap();
    let weighted = svd.fit_weighted(&csr(&x), &weights).unwrap();
    let size = plain.singular_values()[0];
    assert!(gap(&weighted.singular_values(), &plain.singular_values()) <= 1e-9 * size);
    assert!(gap(weighted.explained_variance(), plain.explained_variance()) <= 1e-9 * size * size);
    let left = weighted.left_vectors(&Weighted::new(csr(&x), weights).unwrap()).unwrap();
    assert_eq!(left.shape(), (60, 3));
}

/// One row, one column, zeros, bad numbers.
#[test]
fn edges() {
    let row = Dense::new(ndarray::array![[3.0, 4.0]]).unwrap();
    let fit = TruncatedSvd::new(1).fit(&row).unwrap();
    assert!((fit.singular_values()[0] - 5.0).abs() <= 10.0 * f64::EPSILON);
    assert_eq!(fit.explained_variance_ratio(), [0.0]);
    let zeros = Dense::new(Array2::<f64>::zeros((6, 3))).unwrap();
    let fit = TruncatedSvd::new(2).fit(&zeros).unwrap();
    assert!(fit.is_certified());
    assert_eq!((fit.singular_values(), fit.energy_ratio()), (vec![0.0; 2], vec![0.0; 2]));
    assert_eq!(fit.left_vectors(&zeros).unwrap().shape(), (6, 2));
    let text = TruncatedSvd::new(3).fit(&row).unwrap_err().to_string();
    assert!(text.starts_with("components: 3 must be at least 1 and at most"), "{text}");
    assert!(fit.left_vectors(&row).unwrap_err().to_string().contains("expected 6, found 1"));
}

/// Values below $8 \epsilon \sqrt d \sigma_1^2$, 2e-4 for f32 and 50,000 columns, are kept where their
/// residuals say that they are not noise.
#[test]
fn small_values_of_wide_data_are_kept() {
    let sigma = [1.0_f32, 0.01, 0.005];
    let places = vec![10_u32, 20_000, 49_999];
    let x = Csr::new((3, 50_000), vec![0, 1, 2, 3], places, sigma.to_vec()).unwrap();
    let fit = TruncatedSvd::new(3).fit(&x).unwrap();
    for (found, exact) in fit.singular_values().iter().zip(sigma) {
        let gap = (found * found - f64::from(exact).powi(2)).abs();
        assert!(gap <= 8.0 * f64::from(f32::EPSILON), "{found} for {exact}");
    }
}
