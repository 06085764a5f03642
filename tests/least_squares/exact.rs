//! The exact methods against the singular value decomposition.

use favard_engine::Stop;
use favard_models::LeastSquares;
use favard_models::least_squares::{Method, Scaling, Solution};
use favard_operator::{Block, Dense, LinearOperator, Scalar};
use ndarray::{Array2, Axis, concatenate};
use proptest::prelude::*;

use crate::support::{
    array, assert_exact, csr, exact, geometric, orthonormal, uneven, with_singular_values,
};

const METHODS: [Method; 6] = [
    Method::Auto,
    Method::Direct,
    Method::Cg,
    Method::Lsmr,
    Method::HeavyBall { bounds: None },
    Method::Chebyshev { bounds: None },
];

/// Well-conditioned, dense: every method, one and several right-hand sides.
#[test]
fn every_method_solves_a_well_conditioned_problem() {
    let a = with_singular_values(300, &geometric(40, 10.0), 3);
    for cols in [1, 3] {
        let b = Block::<f64>::gaussian(300, cols, 9);
        let wanted = exact(&a, &array(&b), 0.0);
        for method in METHODS {
            let plan = LeastSquares::new().method(method).tolerance(1e-10);
            let found = plan.solve(&Dense::new(a.view()).unwrap(), &b).unwrap();
            assert_exact(&found, &wanted, &format!("{method:?}"));
            assert_eq!(found.info.stop, Stop::Converged);
            assert_eq!(found.x.shape(), (40, cols));
            assert!(found.info.passes > 0.0 && !found.info.history.is_empty());
        }
    }
}

/// Columns of one length are not divided by what chance makes of their estimated lengths: an operator
/// that cannot tell its columns takes about as many steps as one that can (five times as many when
/// they were).
#[test]
fn estimated_lengths_do_not_spoil_even_columns() {
    let (rows, cols, each) = (6000, 400, 8);
    // Entry e of row i in column (i + 53 e + e²) mod 400, with a sign that looks random.
    let a = Array2::from_shape_fn((rows, cols), |(i, j)| {
        let is_here = (0..each).any(|e| (i + 53 * e + e * e) % cols == j);
        let sign = if (i * 7919 + j * 104_729) % 31 < 15 { 1.0 } else { -1.0 };
        if is_here { sign * (1.0 + ((i * 31 + j * 17) % 7) as f64 / 7.0) } else { 0.0 }
    });
    let b = Block::<f64>::gaussian(rows, 1, 4);
    let plan = LeastSquares::new().method(Method::Cg).tolerance(1e-8);
    let sparse = csr::<f64>(&a);
    let told = plan.fit(&sparse, &b).unwrap().info.iterations;
    let estimated = plan.solve(&sparse, &b).unwrap().info.iterations;
    assert!(estimated <= told + told / 4, "{estimated} steps, {told} with the lengths known");
}

/// κ = 1e4 and columns whose norms differ by a thousand; sparse; `fit` and `solve`.
#[test]
fn ill_conditioned_and_unevenly_scaled() {
    let steep = with_singular_values(400, &geometric(60, 1e4), 5);
    let b = Block::<f64>::gaussian(400, 2, 1);
    let wanted = exact(&steep, &array(&b), 0.0);
    for method in [Method::Auto, Method::Direct, Method::Cg, Method::Lsmr] {
        let plan = LeastSquares::new().method(method);
        let found = plan.fit(&Dense::new(steep.view()).unwrap(), &b).unwrap();
        assert_exact(&found, &wanted, &format!("steep, {method:?}"));
    }
    let a = uneven(1000, 200, 7);
    let b = Block::<f64>::gaussian(1000, 1, 2);
    let wanted = exact(&a, &array(&b), 0.0);
    let sparse = csr::<f64>(&a);
    for method in [Method::Auto, Method::Cg, Method::Lsmr] {
        let plan = LeastSquares::new().method(method);
        let fitted = plan.fit(&sparse, &b).unwrap();
        assert_exact(&fitted, &wanted, &format!("uneven, fit, {method:?}"));
        let probed = plan.solve(&sparse, &b).unwrap();
        assert_exact(&probed, &wanted, &format!("uneven, solve, {method:?}"));
        // The scaling is the point: without it the same method needs many times the passes.
        let raw = plan.clone().scaling(Scaling::Off).fit(&sparse, &b).unwrap();
        let (with, without) = (fitted.info.passes, raw.info.passes);
        assert!(4.0 * with < without, "{method:?}: {with} against {without}");
    }
}

/// κ = 1e9: the normal equations hold no digits of the small end; `Auto` says so and LSMR ends it.
#[test]
fn auto_falls_back_to_lsmr() {
    let mut sigma = geometric(150, 10.0);
    for (i, value) in sigma.iter_mut().enumerate().skip(147) {
        *value = 1e-9 * (i - 146) as f64;
    }
    let a = with_singular_values(500, &sigma, 3);
    // A consistent system whose solution is large along the small end, and a residual.
    let truth = Block::<f64>::gaussian(150, 1, 4);
    let noise = Block::<f64>::gaussian(500, 1, 5);
    let image = a.dot(&truth.view());
    let b = Block::from_fn(500, 1, |i, _| image[[i, 0]] + 1e-9 * noise.row(i)[0]);
    let found = LeastSquares::new()
        .scaling(Scaling::Off)
        .tolerance(1e-12)
        .solve(&Dense::new(a.view()).unwrap(), &b)
        .unwrap();
    assert!(found.reason.contains("Lsmr from there"), "{}", found.reason);
    // No method has a smaller certificate than what rounding does to r = b − Ax: δr is at most
    // n ε ‖|A|‖ ‖x‖ ≤ n ε ‖A‖_F ‖x‖, and ‖Aᵀδr‖ ≤ ‖A‖ ‖δr‖. The tolerance lies below that, LSMR does not
    // stop far above.
    let frobenius = sigma.iter().map(|v| v * v).sum::<f64>().sqrt();
    let size = (0..150).map(|i| found.x.row(i)[0].powi(2)).sum::<f64>().sqrt();
    let floor = 150.0 * f64::EPSILON * frobenius * size / found.residuals[0];
    assert!(largest(&found.certificates) <= floor, "{:?} {floor:e}", found.certificates);
}

fn largest<T: Scalar>(values: &[T]) -> f64 {
    values.iter().fold(0.0, |m, v| f64::max(m, v.as_f64()))
}

/// Ridge, weights and intercept together and alone are the plain problem of the explicit matrix
/// ( √W (A − 1μᵀ) ; √λ I ).
#[test]
fn ridge_weights_and_intercept_are_the_explicit_problem() {
    let (rows, cols) = (250, 30);
    let a = uneven(rows, cols, 4) + 0.5;
    let b = Block::<f64>::gaussian(rows, 2, 8);
    let weights: Vec<f64> = (0..rows).map(|i| (i % 5) as f64 * 0.5).collect();
    for (ridge, weighted, intercept) in
        [(0.7_f64, false, false), (0.0, true, false), (0.0, false, true), (3.0, true, true)]
    {
        let w = |i: usize| if weighted { weights[i] } else { 1.0 };
        let total: f64 = (0..rows).map(w).sum();
        let mean = |x: &Array2<f64>, j: usize| {
            let sum: f64 = (0..rows).map(|i| w(i) * x[[i, j]]).sum();
            if intercept { sum / total } else { 0.0 }
        };
        let shifted = |x: &Array2<f64>| {
            let means: Vec<f64> = (0..x.ncols()).map(|j| mean(x, j)).collect();
            Array2::from_shape_fn(x.raw_dim(), |(i, j)| w(i).sqrt() * (x[[i, j]] - means[j]))
        };
        let root = Array2::<f64>::eye(cols) * ridge.sqrt();
        let explicit = concatenate(Axis(0), &[shifted(&a).view(), root.view()]).unwrap();
        let zeros = Array2::zeros((cols, 2));
        let target = concatenate(Axis(0), &[shifted(&array(&b)).view(), zeros.view()]).unwrap();
        let wanted = exact(&explicit, &target, 0.0);
        for method in [Method::Direct, Method::Cg, Method::Lsmr] {
            let mut plan = LeastSquares::new().method(method).ridge(ridge).intercept(intercept);
            if weighted {
                plan = plan.weights(weights.clone());
            }
            for found in [plan.fit(&csr::<f64>(&a), &b), plan.solve(&csr::<f64>(&a), &b)] {
                let found = found.unwrap();
                let what = format!("{method:?}, ridge {ridge}, {weighted}, {intercept}");
                assert_exact(&found, &wanted, &what);
                // ‖r‖ is that of the explicit problem.
                let r = &target - &explicit.dot(&array(&found.x));
                for j in 0..2 {
                    let norm = r.column(j).dot(&r.column(j)).sqrt();
                    assert!((norm - found.residuals[j]).abs() <= 1e3 * f64::EPSILON * norm * 10.0);
                }
                check_intercept(&found, &a, &b, mean, intercept);
            }
        }
    }
}

/// c = b̄ − μᵀx, and `predict` adds it.
fn check_intercept(
    found: &Solution<f64>,
    a: &Array2<f64>,
    b: &Block<f64>,
    mean: impl Fn(&Array2<f64>, usize) -> f64,
    intercept: bool,
) {
    let predicted = found.predict(&Dense::new(a.view()).unwrap()).unwrap();
    for j in 0..2 {
        let slope: f64 = (0..a.ncols()).map(|i| mean(a, i) * found.x.row(i)[j]).sum();
        let wanted = if intercept { mean(&array(b), j) - slope } else { 0.0 };
        let size: f64 = (0..a.ncols()).map(|i| (mean(a, i) * found.x.row(i)[j]).abs()).sum();
        let allowed = 1e3 * f64::EPSILON * (size + 1.0);
        assert!((found.intercept[j] - wanted).abs() <= allowed);
        let direct: f64 = (0..a.ncols()).map(|i| a[[3, i]] * found.x.row(i)[j]).sum();
        assert!((predicted.row(3)[j] - direct - wanted).abs() <= allowed * 100.0);
    }
}

/// Of all solutions, the one of smallest ‖x‖ without scaling and of smallest ‖D x‖ with it.
#[test]
fn rank_deficient_problems_give_the_minimum_norm() {
    // 200 × 60 of rank 20, columns of different lengths.
    let left = with_singular_values(200, &geometric(20, 5.0), 3);
    let right = orthonormal(60, 20, 6);
    let stretch: Vec<f64> = (0..60).map(|j| 1.0 + f64::from(j % 7)).collect();
    let plain = left.dot(&right.t());
    let a = Array2::from_shape_fn(plain.raw_dim(), |(i, j)| plain[[i, j]] * stretch[j]);
    let b = Block::<f64>::gaussian(200, 2, 1);
    let wanted = exact(&a, &array(&b), 1e-10);
    let op = Dense::new(a.view()).unwrap();
    for method in [Method::Lsmr, Method::Cg, Method::Direct] {
        let plan = LeastSquares::new().method(method).scaling(Scaling::Off).tolerance(1e-10);
        assert_exact(&plan.solve(&op, &b).unwrap(), &wanted, &format!("{method:?}"));
    }
    // The norms of the columns as scales: D x is the minimum-norm solution of A D⁻¹.
    let norms: Vec<f64> = a.columns().into_iter().map(|c| c.dot(&c).sqrt()).collect();
    let scaled = Array2::from_shape_fn(a.raw_dim(), |(i, j)| a[[i, j]] / norms[j]);
    let wanted = exact(&scaled, &array(&b), 1e-10);
    let mut found = LeastSquares::new().method(Method::Lsmr).tolerance(1e-10).fit(&op, &b).unwrap();
    for (i, norm) in norms.iter().enumerate() {
        found.x.row_mut(i).iter_mut().for_each(|x| *x *= norm);
    }
    // The bound of the scaled problem: ‖D⁻¹Aᵀr‖ ≤ ‖Aᵀr‖ / min(d).
    let least = norms.iter().copied().fold(f64::INFINITY, f64::min);
    found.certificates.iter_mut().for_each(|c| *c *= found.norm / least);
    (found.norm, found.tolerance) = (1.0, 1.0);
    assert_exact(&found, &wanted, "scaled");
}

/// A wide, full-rank system: infinitely many solutions, LSMR and CG give the smallest.
#[test]
fn wide_systems() {
    let tall = with_singular_values(120, &geometric(25, 20.0), 2);
    let a = tall.t().to_owned();
    let b = Block::<f64>::gaussian(25, 1, 3);
    let wanted = exact(&a, &array(&b), 0.0);
    for method in [Method::Auto, Method::Lsmr, Method::Cg] {
        let plan = LeastSquares::new().method(method).scaling(Scaling::Off).tolerance(1e-11);
        let found = plan.solve(&Dense::new(a.view()).unwrap(), &b).unwrap();
        // Consistent: the residual is the proof, ‖x − x*‖ ≤ ‖r‖ / σ.
        assert!(found.is_certified(), "{}", found.reason);
        let gap = (0..120).map(|i| (found.x.row(i)[0] - wanted.x[[i, 0]]).powi(2)).sum::<f64>();
        let allowed = found.residuals[0] / wanted.smallest + 1e4 * f64::EPSILON;
        assert!(gap.sqrt() <= allowed, "{method:?}: {:e} {allowed:e}", gap.sqrt());
    }
}

/// `f32` reaches what `f32` can: certificates of 1e-4 on κ = 10.
#[test]
fn single_precision() {
    let a = with_singular_values(300, &geometric(150, 10.0), 3);
    let b64 = Block::<f64>::gaussian(300, 2, 9);
    let b = Block::from_fn(300, 2, |i, j| f32::of(b64.row(i)[j]));
    let wanted = exact(&a.mapv(|v| f32::of(v).as_f64()), &array(&b64), 0.0);
    for method in METHODS {
        let plan = LeastSquares::new().method(method).tolerance(1e-4);
        let found = plan.fit(&csr::<f32>(&a), &b).unwrap();
        assert_exact(&found, &wanted, &format!("f32, {method:?}"));
    }
}

/// More right-hand sides than unknowns, in every method.
#[test]
fn more_right_hand_sides_than_unknowns() {
    let a = with_singular_values(50, &[2.0, 1.0, 0.5], 3);
    let b = Block::<f64>::gaussian(50, 11, 1);
    let wanted = exact(&a, &array(&b), 0.0);
    for method in METHODS {
        let plan = LeastSquares::new().method(method).tolerance(1e-11);
        let found = plan.fit(&Dense::new(a.view()).unwrap(), &b).unwrap();
        assert_exact(&found, &wanted, &format!("{method:?}"));
        assert_eq!(found.info.residuals.len(), 11);
    }
}

/// Given bounds are used: Polyak's rate, (√κ − 1)/(√κ + 1) a step for the error, up to the factor t
/// of the double root.
#[test]
fn given_bounds_give_the_rate() {
    let a = with_singular_values(200, &geometric(30, 10.0), 3);
    let b = Block::<f64>::gaussian(200, 1, 9);
    let op = Dense::new(a.view()).unwrap();
    for method in [
        Method::HeavyBall { bounds: Some((0.01, 1.0)) },
        Method::Chebyshev { bounds: Some((0.01, 1.0)) },
    ] {
        let plan = LeastSquares::new().method(method).scaling(Scaling::Off).tolerance(1e-9);
        let found = plan.solve(&op, &b).unwrap();
        assert!(found.is_certified(), "{}", found.reason);
        // ln(1e9 · 100 t) / ln(11/9) steps for t in the hundreds: below 180.
        assert!(found.info.iterations < 180, "{method:?}: {}", found.info.iterations);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Any shape, any scale, any number of right-hand sides: `Auto` certifies, and a stranger's
    /// recomputation of the certificate agrees.
    #[test]
    fn certificates_are_true(
        rows in 1..60_usize,
        cols in 1..40_usize,
        rhs in 1..4_usize,
        power in -3..4_i32,
        seed in 0..1000_u64,
    ) {
        let a = Block::<f64>::gaussian(rows, cols, seed);
        let a = Array2::from_shape_fn((rows, cols), |(i, j)| {
            a.row(i)[j] * 10f64.powi(power * i32::try_from(j % 3).unwrap())
        });
        let b = Block::<f64>::gaussian(rows, rhs, seed + 1);
        let found = LeastSquares::new().fit(&Dense::new(a.view()).unwrap(), &b).unwrap();
        prop_assert!(found.is_certified(), "{} {:?}", found.reason, found.certificates);
        let r = array(&b) - a.dot(&array(&found.x));
        let g = a.t().dot(&r);
        let norm = a.iter().map(|v| v * v).sum::<f64>().sqrt();
        for j in 0..rhs {
            let (r, g) = (r.column(j), g.column(j));
            let (r, g) = (r.dot(&r).sqrt(), g.dot(&g).sqrt());
            let x = (0..cols).map(|i| found.x.row(i)[j].powi(2)).sum::<f64>().sqrt();
            // Rounding of either computation: a few ε of ‖A‖(‖A‖‖x‖ + ‖b‖).
            let rounding = 100.0 * f64::EPSILON * (norm * x + found.sizes[j]);
            prop_assert!((r - found.residuals[j]).abs() <= rounding);
            let told = found.certificates[j] * found.norm * found.residuals[j];
            prop_assert!((g - told).abs() <= rounding * norm, "{g:e} {told:e}");
        }
    }
}

/// The operator's own product, for the example of a stranger's check.
#[test]
fn the_residual_is_that_of_the_operator() {
    let a = csr::<f64>(&uneven(500, 200, 3));
    let b = Block::<f64>::gaussian(500, 1, 4);
    let found = LeastSquares::new().fit(&a, &b).unwrap();
    let product = a.multiply(found.x.as_ref()).unwrap();
    let square: f64 = (0..500).map(|i| (b.row(i)[0] - product.row(i)[0]).powi(2)).sum();
    assert!((square.sqrt() - found.residuals[0]).abs() <= 1e3 * f64::EPSILON * square.sqrt());
}
