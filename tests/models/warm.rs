//! Starting from an earlier fit, extending one, and watching one.

use std::ops::ControlFlow;

use favard_engine::{Record, Stop};
use favard_models::{Pca, Solver, TruncatedSvd};
use favard_operator::{Block, Dense};
use ndarray::Array2;

use crate::support::*;

/// Tall and wide data with a slowly decaying spectrum.
fn data(rows: usize, cols: usize) -> Array2<f64> {
    let dim = rows.min(cols);
    let variances: Vec<f64> = (0..dim).map(|i| 1.0 / (1.0 + 0.1 * i as f64)).collect();
    let x = with_variances(rows.max(cols), &variances, 31);
    if rows < cols { x.t().to_owned() } else { x }
}

fn pca(components: usize) -> Pca {
    Pca::new(components).solver(Solver::Lanczos).tolerance(1e-7)
}

/// From the answer itself the fit is a check; from that of similar data it is shorter.
#[test]
fn warm_starts_are_shorter() {
    for (rows, cols) in [(500, 300), (300, 500)] {
        let x = data(rows, cols);
        let fresh = pca(6).fit(&Dense::new(x.view()).unwrap()).unwrap();
        let again = pca(6).fit_from(&Dense::new(x.view()).unwrap(), &fresh).unwrap();
        assert!(fresh.is_certified() && again.is_certified());
        assert!(again.info().applications <= 3, "{}", again.info().applications);
        assert!(fresh.info().applications > 6);
        let near = &x
            * &Array2::from_shape_fn((rows, cols), |(i, j)| {
                1.0 + 1e-5 * ((i * 31 + j * 17) % 7) as f64
            });
        let near = Dense::new(near.view()).unwrap();
        let (cold, warm) = (pca(6).fit(&near).unwrap(), pca(6).fit_from(&near, &fresh).unwrap());
        assert!(warm.is_certified());
        assert!(warm.info().applications < cold.info().applications);
        let difference = gap(&warm.explained_variance(), &cold.explained_variance());
        assert!(difference <= 2e-7 * cold.explained_variance()[0]);
        // Another number of components, more and fewer.
        for components in [3, 9] {
            let fit = pca(components).fit_from(&near, &fresh).unwrap();
            assert!(fit.is_certified() && fit.components().cols() == components);
        }
    }
}

/// More components cost less than all of them from the start.
#[test]
fn extending_costs_less() {
    for (rows, cols) in [(700, 500), (500, 700)] {
        let x = data(rows, cols);
        let x = Dense::new(x.view()).unwrap();
        let ten = pca(20).fit(&x).unwrap();
        let more = pca(24).extend(&x, &ten).unwrap();
        let fresh = pca(24).fit(&x).unwrap();
        assert!(more.is_certified() && more.components().cols() == 24);
        assert!(
            more.info().applications < fresh.info().applications,
            "{} {}",
            more.info().applications,
            fresh.info().applications
        );
        let difference = gap(&more.explained_variance(), &fresh.explained_variance());
        assert!(difference <= 2e-7 * fresh.explained_variance()[0]);
        assert!(more.certificate().orthogonality() <= 1e-10);
    }
}

/// Only a fit of the same data with fewer components can be extended.
#[test]
fn extensions_are_checked() {
    let x = sparse(60, 20, 3);
    let fit = Pca::new(3).fit(&csr(&x)).unwrap();
    let text = Pca::new(3).extend(&csr(&x), &fit).unwrap_err().to_string();
    assert!(text.starts_with("components: 3 must be more than the earlier fit has"), "{text}");
    let text = Pca::new(4).extend(&csr(&(&x * 2.0)), &fit).unwrap_err().to_string();
    assert!(text.contains("only a fit to the same data can be extended"), "{text}");
    let text = Pca::new(4).fit_from(&csr(&sparse(60, 21, 3)), &fit).unwrap_err().to_string();
    assert!(text.contains("expected 21, found 20"), "{text}");
}

/// An interrupted fit gives what it has, with true residuals, and no certificate; going on from it
/// finishes the work.
#[test]
fn interrupted_fits_lose_nothing() {
    for (rows, cols) in [(500, 300), (300, 500)] {
        let x = data(rows, cols);
        let x = Dense::new(x.view()).unwrap();
        for solver in [Solver::Lanczos, Solver::Dynamic] {
            let pca = pca(6).solver(solver).products(20_000);
            let mut seen = Vec::new();
            let mut watch = |record: &Record<f64>| {
                seen.push(record.residual);
                if seen.len() < 4 {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(Stop::Cancelled)
                }
            };
            let cut = pca.fit_watched(&x, &mut watch).unwrap();
            assert_eq!((cut.info().stop, seen.len()), (Stop::Cancelled, 4));
            assert!(!cut.is_certified());
            assert_eq!(cut.components().shape(), (cols, 6));
            // The residuals are those of the components: recomputed here.
            let centred = &x.view() - &ndarray::Array1::from(cut.mean().to_vec());
            let v = cut.components().view();
            let image = centred.t().dot(&centred.dot(&v)) / (rows - 1) as f64;
            for (j, value) in cut.explained_variance().iter().enumerate() {
                let r = &image.column(j) - &(&v.column(j) * *value);
                let gap = (r.dot(&r).sqrt() - cut.residuals()[j]).abs();
                assert!(gap <= 1e-10, "{gap:e}");
            }
            let whole = pca.fit_from(&x, &cut).unwrap();
            assert!(whole.is_certified());
        }
    }
}

/// The exact solver has one step to watch.
#[test]
fn exact_fits_report_once() {
    let mut steps = 0;
    let mut watch = |_: &Record<f64>| {
        steps += 1;
        ControlFlow::Break(Stop::Requested)
    };
    let fit = Pca::new(2).solver(Solver::Exact).fit_watched(&csr(&sparse(50, 20, 1)), &mut watch);
    assert!(fit.unwrap().is_certified());
    assert_eq!(steps, 1);
}

/// Plain columns are a start: those of the answer, mixed and scaled, leave only a check; columns that
/// do not fit are named.
#[test]
fn columns_are_a_start() {
    for (rows, cols) in [(500, 300), (300, 500)] {
        let x = data(rows, cols);
        let x = Dense::new(x.view()).unwrap();
        let fresh = pca(6).fit(&x).unwrap();
        let v = fresh.components();
        let mixed = Block::from_fn(cols, 6, |i, j| {
            let row = v.row(i);
            3.0 * row[j] + row[(j + 1) % 6]
        });
        let again = pca(6).fit_from_columns(&x, &mixed).unwrap();
        assert!(again.is_certified());
        assert!(again.info().applications <= 3, "{}", again.info().applications);
        let text =
            |columns: &Block<f64>| pca(6).fit_from_columns(&x, columns).unwrap_err().to_string();
        let short = text(&Block::zeros(cols - 1, 2));
        assert!(short.ends_with(&format!("expected {cols}, found {}", cols - 1)), "{short}");
        assert!(text(&Block::zeros(cols, 0)).starts_with("columns of the start: 0"));
        assert!(text(&Block::zeros(cols, 301)).starts_with("columns of the start: 301"));
        let bad = Block::from_fn(cols, 1, |i, _| if i == 7 { f64::NAN } else { 1.0 });
        assert_eq!(text(&bad), "start: value NaN at row 7, column 0 is not finite");
    }
}

/// A singular value decomposition starts from an earlier one, and is extended.
#[test]
fn decompositions_start_and_extend() {
    for (rows, cols) in [(500, 300), (300, 500)] {
        let x = data(rows, cols);
        let x = Dense::new(x.view()).unwrap();
        let svd = |k: usize| TruncatedSvd::new(k).solver(Solver::Lanczos).tolerance(1e-7);
        let six = svd(6).fit(&x).unwrap();
        let again = svd(6).fit_from(&x, &six).unwrap();
        assert!(six.is_certified() && again.is_certified());
        assert!(again.info().applications <= 3, "{}", again.info().applications);
        let (ten, more) = (svd(10).fit(&x).unwrap(), svd(10).extend(&x, &six).unwrap());
        assert!(more.is_certified());
        assert!(more.info().applications < ten.info().applications);
        for (a, b) in more.singular_values().iter().zip(ten.singular_values()) {
            // |σ² − σ̂²| ≤ tol σ₁² each
            assert!((a * a - b * b).abs() <= 2e-7 * six.singular_values()[0].powi(2));
        }
        let error = svd(6).extend(&x, &six).unwrap_err().to_string();
        assert!(error.starts_with("components: 6 must be more"), "{error}");
        let other = Dense::new(data(rows, cols) * 2.0).unwrap();
        let error = svd(10).extend(&other, &six).unwrap_err().to_string();
        assert!(error.contains("only a fit to the same data can be extended"), "{error}");
    }
}
