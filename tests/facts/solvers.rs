//! Every solver on one small problem with known eigenpairs: f32 and f64, one and three components.

use std::ops::ControlFlow;

use favard_engine::recurrence::{Legendre, Start, Tabulated};
use favard_models::solvers::{
    AdaOja, BestHeavyBall, DynamicMomentum, Eigensolver, Inhomogeneous, Method, MiniBatchMomentum,
    Oja, OjaMomentum, Power, PowerMomentum, ShiftedChebyshev, VrMomentum, VrPca,
};
use favard_models::{Eigen, solvers::Rule};
use favard_operator::{Dense, Gram, Scalar};
use ndarray::Array2;

use crate::dense::basis;

type Op<T> = Gram<Dense<'static, T>>;

const ROWS: usize = 4000;
const SPECTRUM: [f64; 12] = [1.0, 0.8, 0.6, 0.3, 0.25, 0.2, 0.2, 0.15, 0.1, 0.1, 0.05, 0.0];

/// Gaussian rows with XᵀX/n = V diag(λ) Vᵀ up to rounding.
fn problem<T: Scalar>() -> (Op<T>, Array2<f64>) {
    let (q, v) = (basis(ROWS, 12, 1), basis(12, 12, 2).view().to_owned());
    let size = |j: usize| (ROWS as f64 * SPECTRUM[j]).sqrt();
    let x = Array2::from_shape_fn((ROWS, 12), |(i, j)| q.row(i)[j] * size(j)).dot(&v.t());
    (Gram::new(Dense::new(x.mapv(T::of)).expect("finite")), v)
}

/// What rounding the data does to an eigenvalue: n terms are added, each known to ε.
fn rounding<T: Scalar>() -> f64 {
    ROWS as f64 * T::EPSILON.as_f64()
}

fn solve<T: Scalar, M: Method<T, Op<T>>>(method: M, components: usize, tolerance: f64) -> Eigen<T> {
    let (op, _) = problem::<T>();
    Eigensolver::new(method, components).tolerance(tolerance).solve(&op).expect("a run")
}

/// The pairs have small residuals and belong to the k largest eigenvalues.
#[track_caller]
fn assert_pairs<T: Scalar>(name: &str, found: &Eigen<T>, components: usize, residual: f64) {
    assert_eq!(found.values.len(), components, "{name}");
    for (j, exact) in SPECTRUM.into_iter().enumerate().take(components) {
        let (value, off) = (found.values[j].as_f64(), found.residuals[j].as_f64());
        assert!(off <= residual + rounding::<T>(), "{name}, {components}: residual {off:e}");
        // Some eigenvalue is within the residual of the value; the next one is 0.2 away.
        let gap = (value - exact).abs();
        assert!(gap <= off + rounding::<T>(), "{name}, {components}: {value} for {exact}");
    }
    let (_, v) = problem::<T>();
    for j in 0..components {
        let along: f64 = (0..12).map(|i| v[[i, j]] * found.vectors.row(i)[j].as_f64()).sum();
        // sin θ ≤ residual / gap (Davis and Kahan).
        let sine = (residual + rounding::<T>()) / 0.2;
        let least = 1.0 - (sine * sine).min(0.5);
        assert!(along * along >= least - rounding::<T>(), "{name}, {components}: {along}");
    }
}

fn measure<T: Scalar>(components: usize) -> Inhomogeneous<Tabulated<T>> {
    let (upper, point) = (SPECTRUM[components], SPECTRUM[components - 1]);
    let family = favard_theory::Family::legendre(30)
        .and_then(|family| family.on_interval(0.0, upper))
        .expect("an interval");
    Inhomogeneous::of_measure(&family, point).expect("coefficients")
}

fn exact_methods<T: Scalar>(tolerance: f64) {
    for k in [1, 3] {
        let check = |name, found: Eigen<T>| {
            assert_eq!(found.info.stop, favard_engine::Stop::Converged, "{name}, {k}");
            assert_pairs(name, &found, k, tolerance);
        };
        let beta = SPECTRUM[k] * SPECTRUM[k] / 4.0;
        check("power", solve(Power, k, tolerance));
        check("U", solve(PowerMomentum::default().beta(beta), k, tolerance));
        check("T", solve(PowerMomentum::default().beta(beta).start(Start::T), k, tolerance));
        check("auto", solve(PowerMomentum::default(), k, tolerance));
        check("dynamic", solve(DynamicMomentum, k, tolerance));
        check("shifted", solve(ShiftedChebyshev::default().upper(SPECTRUM[k]), k, tolerance));
        check("shifted auto", solve(ShiftedChebyshev::default(), k, tolerance));
        check("best heavy ball", solve(BestHeavyBall, k, tolerance));
        check("inhomogeneous", solve(measure::<T>(k), k, tolerance));
        let given = VrMomentum::default().beta(beta).batch(1000).epoch(6);
        check("VR momentum", solve(given, k, tolerance));
        check("VR momentum, β from anchors", solve(given_without_beta(), k, tolerance));
        check("VR momentum, planned", solve(VrMomentum::default(), k, tolerance));
        check("VR-PCA", solve(VrPca::default().step(0.3).batch(50), k, tolerance));
        check("VR-PCA, planned", solve(VrPca::default(), k, tolerance));
    }
}

fn given_without_beta() -> VrMomentum {
    VrMomentum::default().batch(1000).epoch(6)
}

#[test]
fn methods_with_exact_residuals_f64() {
    exact_methods::<f64>(1e-9);
}

#[test]
fn methods_with_exact_residuals_f32() {
    exact_methods::<f32>(1e-3);
}

/// Sampled methods with planned parameters: half of ε = tol² is for the noise ball, half for the
/// rest. Twice the residual means sin² = 4ε, seven times the mean of the ball: one chi-square
/// variable exceeds seven times its mean with probability 0.8 %, several of them far less.
fn sampled_methods<T: Scalar>() {
    for k in [1, 3] {
        let check = |name, tolerance: f64, found: Eigen<T>| {
            assert_pairs(name, &found, k, 2.0 * tolerance);
        };
        check("mini-batch", 0.1, solve(MiniBatchMomentum::default(), k, 0.1));
        check("Oja", 0.1, solve(Oja::default(), k, 0.1));
        check("Oja+M", 0.2, solve(OjaMomentum::default().batch(50), k, 0.2));
        // After a pass of 400 batches of 10: η ≈ 1/√(400 · 1.5 k), the ball is (κ/s) η/(2Δ) with
        // κ ≤ k · 4 and Δ ≥ .2: at most .09 for k = 1 and .16 for k = 3.
        check("AdaOja", 0.4, solve(AdaOja::default(), k, 0.4));
    }
}

#[test]
fn sampled_methods_f64() {
    sampled_methods::<f64>();
}

#[test]
fn sampled_methods_f32() {
    sampled_methods::<f32>();
}

/// The theorem's recipe is there when asked for: a batch that is far larger than the data makes the
/// run exact, so it only has to agree.
#[test]
fn the_guaranteed_recipe() {
    let rule = Rule::Guaranteed { delta: 0.1 };
    let found = solve::<f64, _>(MiniBatchMomentum::default().rule(rule), 1, 1e-3);
    assert_pairs("mini-batch, guaranteed", &found, 1, 1e-3);
    let found = solve::<f64, _>(VrMomentum::default().rule(rule), 1, 1e-6);
    assert_pairs("VR, guaranteed", &found, 1, 1e-6);
}

/// A warm start from an earlier result is at its end at once: one product to see it, one to prove.
#[test]
fn warm_start() {
    let (op, _) = problem::<f64>();
    let solver = Eigensolver::new(PowerMomentum::default(), 3).tolerance(1e-9);
    let cold = solver.solve(&op).expect("a run");
    let mut records = 0;
    let warm = solver
        .solve_watched(&op, Some(&cold.vectors), &mut |_| {
            records += 1;
            ControlFlow::Continue(())
        })
        .expect("a run");
    assert_eq!((warm.info.applications, records), (2, 1));
    assert!(cold.info.applications > 10);
}

/// A budget that is too small is a reason to stop, and the pairs come back with their residuals.
#[test]
fn a_budget_is_kept() {
    let (op, _) = problem::<f64>();
    for passes in [3.0, 10.0] {
        let solver = Eigensolver::new(Power, 1).guard(0).tolerance(1e-14).passes(passes);
        let found = solver.solve(&op).expect("a run");
        assert_eq!(found.info.stop, favard_engine::Stop::Passes);
        assert!(found.info.passes <= passes && found.residuals[0] > 0.0);
    }
}

/// Whatever reason a callback gives, the run ends there: the stages of the inhomogeneous recurrence
/// end for a reason of the same name and go on.
#[test]
fn a_callback_ends_the_run() {
    let (op, _) = problem::<f64>();
    for reason in [favard_engine::Stop::Iterations, favard_engine::Stop::Requested] {
        let mut ticks = 0;
        let found = Eigensolver::new(Inhomogeneous::new(Legendre, 1.1).stage(4), 1)
            .tolerance(0.0)
            .passes(100.0)
            .solve_watched(&op, None, &mut |_| {
                ticks += 1;
                if ticks < 7 { ControlFlow::Continue(()) } else { ControlFlow::Break(reason) }
            })
            .expect("a run");
        assert_eq!((ticks, found.info.stop), (7, reason));
    }
}
