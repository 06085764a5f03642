//! PCA against the exact eigenproblem.

use std::ops::ControlFlow;

use favard_engine::Record;
use favard_models::{Pca, Solver, TruncatedSvd};
use favard_operator::{Block, ColumnMoments, Csr, Dense, Scalar, Sparse};

use crate::support::*;

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
    // Eigenproblems of 450 and of 140, large enough for a parallel solver to differ.
    let square = csr(&sparse(900, 450, 6));
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

/// Few rows of many columns, stored by rows: a fit turns them, and gives what a fit to the transpose of the
/// transpose does, which is stored by columns already; to the bit, on any number of threads, with weights,
/// scaled and not, by every way of solving; scores and checks as for other data.
#[test]
fn wide_sparse_data_are_turned() {
    let (rows, cols) = (60, 30_000);
    let mut triplets = sprs::TriMat::new((rows, cols));
    for i in 0..rows {
        for e in 0..900_usize {
            let column = (i * 7919 + e * e * 104_729 + e * 37) % cols;
            let value =
                1.0 + ((i * 5 + e) % 7) as f64 + if column % 3 == i % 3 { 3.0 } else { 0.0 };
            triplets.add_triplet(i, column, value);
        }
    }
    let x = Csr::from_sprs(triplets.to_csr::<usize>()).unwrap();
    let turned = Sparse::from_columns(x.transposed());
    assert!(x.turned_bytes().is_some() && turned.turned_bytes().is_none());
    let weights: Vec<f64> = (0..rows).map(|i| 0.5 + (i % 3) as f64).collect();
    for solver in [Solver::Auto, Solver::Exact, Solver::Lanczos, Solver::Dynamic] {
        for scale in [false, true] {
            let pca = Pca::new(3).scale(scale).solver(solver).tolerance(1e-9);
            let on = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| pca.fit(&x).unwrap())
            };
            let fit = on(1);
            assert!(fit.is_certified(), "{solver} {scale}: {:?}", fit.residuals());
            assert!(on(2) == fit && on(4) == fit && pca.fit(&turned).unwrap() == fit);
            let weighted = pca.on(&x).weights(&weights).unwrap().run().unwrap();
            assert!(weighted.is_certified());
            // Variances of the scores, from the data as they are stored.
            let scores = fit.transform(&x).unwrap();
            for (j, variance) in fit.explained_variance().iter().enumerate() {
                let squares: f64 = (0..rows).map(|i| scores.row(i)[j].powi(2)).sum();
                let found = squares / (rows - 1) as f64;
                assert!((found - variance).abs() <= 1e-9 * fit.explained_variance()[0]);
            }
        }
    }
    let svd = TruncatedSvd::new(3).tolerance(1e-9);
    assert!(svd.fit(&x).unwrap() == svd.fit(&turned).unwrap());
}

/// Dense data whose spectrum is flat, so that an iteration that looked cheap has no end: it is given up
/// for the matrix. An easy spectrum of the same size is iterated on. Both report what was done.
#[test]
fn a_hard_dense_spectrum_is_given_up_for_the_matrix() {
    for (rows, cols) in [(8000, 400), (400, 8000)] {
        let noise = Block::<f64>::gaussian(8000, 400, 3);
        let mut x = noise.view().to_owned();
        x = if rows < cols { x.t().to_owned() } else { x };
        let (pca, mut ticks) = (Pca::new(1).tolerance(1e-8), Vec::new());
        let mut watch = |record: &Record<f64>| {
            ticks.push(record.tick);
            ControlFlow::Continue(())
        };
        let data = Dense::new(x.view()).unwrap();
        let fit = pca.fit_watched(&data, &mut watch).unwrap();
        let (method, reason) = fit.method();
        assert!(method == Solver::Exact && reason.contains("were not enough"), "{reason}");
        assert!(fit.is_certified());
        let exact = pca.clone().solver(Solver::Exact).fit(&data).unwrap();
        let gap = fit.explained_variance()[0] - exact.explained_variance()[0];
        // The same matrix, formed in two ways: each is off by at most m ε trace.
        assert!(gap.abs() <= 2.0 * 8000.0 * f64::EPSILON * fit.total_variance(), "{gap:e}");
        let info = fit.info();
        assert!(info.applications > exact.info().applications && info.passes > 10.0);
        let passes: Vec<f64> = info.history.iter().map(|record| record.passes).collect();
        assert!(passes.is_sorted() && passes.len() == ticks.len(), "{passes:?}");

        // Now with a direction that stands out.
        x.rows_mut().into_iter().enumerate().for_each(|(i, mut row)| {
            let size = if i % 2 == 0 { 1.0 } else { -1.0 };
            row.iter_mut().for_each(|value| *value += size);
        });
        let fit = pca.fit(&Dense::new(x.view()).unwrap()).unwrap();
        assert!(fit.method().0 == Solver::Lanczos && fit.is_certified(), "{:?}", fit.method());
    }
}

/// Every solver by its name, on data that is tall and data that is wide: the exact variances, to the
/// tolerance that was asked for, or for those that sample without reducing the noise, to their
/// noise; and residuals that tell the truth.
#[test]
fn every_named_solver() {
    for (rows, cols) in [(3000, 40), (40, 300)] {
        let variances: Vec<f64> =
            (0..rows.min(cols)).map(|i| 4.0 * (-0.5 * i as f64).exp() + 0.05).collect();
        let x = with_variances(rows.max(cols), &variances, 5);
        let x = if rows < cols { x.t().to_owned() } else { x };
        let exact = exact_variances(&x, false);
        for solver in Solver::ALL {
            let noisy = matches!(
                solver,
                Solver::Oja | Solver::OjaMomentum | Solver::AdaOja | Solver::MiniBatch
            );
            let tolerance = if noisy { 0.1 } else { 1e-6 };
            let pca = Pca::new(2).solver(solver).tolerance(tolerance).products(3000);
            let fit = pca.fit(&Dense::new(x.view()).unwrap()).unwrap();
            let (method, reason) = fit.method();
            assert!(solver == Solver::Auto || (method == solver && reason == "asked for"));
            for (j, found) in fit.explained_variance().iter().enumerate() {
                // |λ − λ̂| ≤ ‖r‖ for some eigenvalue, and the gaps here are larger than that.
                let allowed = fit.residuals()[j] + 1e-12 * exact[0];
                assert!((found - exact[j]).abs() <= allowed, "{solver} {rows}: {found}");
            }
            assert!(fit.is_certified() || noisy, "{solver} {rows}: {:?}", fit.residuals());
        }
    }
}

/// A first component far above the others, which a stage of the inhomogeneous recurrence amplifies by
/// 3e21 in 16 steps: the second one is found all the same, also in f32.
#[test]
fn inhomogeneous_stages_keep_the_columns_apart() {
    let mut variances: Vec<f64> = (0..40).map(|i| 0.9 - 0.02 * f64::from(i)).collect();
    variances.splice(0..0, [10.0, 1.0]);
    let x = with_variances(200, &variances, 3);
    let pca = Pca::new(2).solver(Solver::Inhomogeneous).products(2000);
    let fit = pca.clone().tolerance(1e-8).fit(&Dense::new(x.view()).unwrap()).unwrap();
    assert!(fit.is_certified(), "{:?}", fit.info().stop);
    assert!(gap(&fit.explained_variance(), &[10.0, 1.0]) <= 10.0 * 1e-8);
    let narrow = Dense::new(x.mapv(f32::of)).unwrap();
    let fit = pca.tolerance(1e-4).fit(&narrow).unwrap();
    assert!(fit.is_certified(), "{:?}", fit.info().stop);
    assert!(gap(&fit.explained_variance(), &[10.0, 1.0]) <= 10.0 * 1e-4);
}

/// More components than the rank, by the inhomogeneous recurrence: zeros, and no error.
#[test]
fn inhomogeneous_beyond_the_rank() {
    let left = Block::<f64>::gaussian(200, 2, 1);
    let right = Block::<f64>::gaussian(80, 2, 2);
    let x = Dense::new(left.view().dot(&right.view().t())).unwrap();
    let fit = Pca::new(4).solver(Solver::Inhomogeneous).fit(&x).unwrap();
    let variances = fit.explained_variance();
    assert!(variances[1] > 1.0);
    assert!(variances[2..].iter().all(|&value| value == 0.0), "{variances:?}");
}
