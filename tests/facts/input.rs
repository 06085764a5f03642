//! Bad input gives a named error with its numbers, or the documented result.

use favard_engine::Stop;
use favard_engine::recurrence::Legendre;
use favard_models::Error;
use favard_models::solvers::{
    AdaOja, BestHeavyBall, DynamicMomentum, Eigensolver, Inhomogeneous, Method, MiniBatchMomentum,
    Oja, OjaMomentum, Power, PowerMomentum, ShiftedChebyshev, VrMomentum, VrPca,
};
use favard_operator::{Block, Dense, Diagonal, Gram};
use ndarray::Array2;

type Op = Gram<Dense<'static, f64>>;

fn op() -> Op {
    let mut rows = Block::<f64>::gaussian(50, 4, 1).view().to_owned();
    rows.column_mut(0).mapv_inplace(|v| 2.0 * v);
    Gram::new(Dense::new(rows).expect("finite"))
}

#[track_caller]
fn refused<M: Method<f64, Op>>(solver: &Eigensolver<M>, needle: &str) {
    let error = solver.solve(&op()).map(|found| found.info).expect_err("refused").to_string();
    assert!(error.contains(needle), "{error}");
}

#[test]
fn options_out_of_range() {
    refused(&Eigensolver::new(Power, 0), "components: 0");
    refused(&Eigensolver::new(Power, 5), "components: 5");
    refused(&Eigensolver::new(Oja::default(), 0), "components: 0");
    refused(&Eigensolver::new(VrPca::default(), 5), "components: 5");
    refused(&Eigensolver::new(Power, 1).tolerance(-1.0), "tolerance: -1");
    refused(&Eigensolver::new(Power, 1).tolerance(f64::NAN), "tolerance: NaN");
    refused(&Eigensolver::new(Power, 1).passes(0.0), "passes: 0");
    refused(&Eigensolver::new(Power, 1).passes(f64::NAN), "passes: NaN");
    let wide = Dense::new(Array2::<f64>::zeros((2, 3))).expect("finite");
    let error = Eigensolver::new(Power, 1).solve(&wide).expect_err("refused").to_string();
    assert_eq!(error, "eigensolver: needs a square operator, found 2 × 3");
    let start = Block::<f64>::zeros(3, 1);
    let error = Eigensolver::new(Power, 1)
        .solve_watched(&op(), Some(&start), &mut |_| std::ops::ControlFlow::Continue(()))
        .expect_err("refused");
    assert_eq!(error.to_string(), "rows of the start block: expected 4, found 3");
    let start = Block::column(&[1.0, f64::NAN, 0.0, 0.0]);
    assert!(
        Eigensolver::new(Power, 1)
            .solve_watched(&op(), Some(&start), &mut |_| std::ops::ControlFlow::Continue(()))
            .is_err()
    );
}

#[test]
fn parameters_out_of_range() {
    refused(&Eigensolver::new(PowerMomentum::default().beta(-1.0), 1), "beta: -1");
    refused(&Eigensolver::new(PowerMomentum::default().beta(f64::NAN), 1), "beta: NaN");
    refused(&Eigensolver::new(PowerMomentum::default(), 1).guard(0), "guard: 0");
    refused(&Eigensolver::new(ShiftedChebyshev::default(), 1).guard(0), "guard: 0");
    refused(&Eigensolver::new(ShiftedChebyshev::default().upper(-1.0), 1), "upper: -1");
    refused(&Eigensolver::new(ShiftedChebyshev::default().lower(f64::NAN), 1), "lower: NaN");
    refused(&Eigensolver::new(Inhomogeneous::new(Legendre, f64::NAN), 1), "NaN");
    refused(&Eigensolver::new(Oja::default().step(f64::INFINITY), 1), "step: inf");
    refused(&Eigensolver::new(Oja::default().step(0.1).batch(0), 1), "batch size: 0");
    refused(&Eigensolver::new(OjaMomentum::default().step(0.1).beta(-0.5), 1), "beta: -0.5");
    refused(&Eigensolver::new(AdaOja::default().scale(0.0), 1), "scale: 0");
    refused(&Eigensolver::new(AdaOja::default().batch(0), 1), "batch size: 0");
    let mini = MiniBatchMomentum::default();
    refused(&Eigensolver::new(mini.beta(0.1).batch(0), 1), "batch size: 0");
    refused(&Eigensolver::new(mini.beta(-1.0), 1), "beta: -1");
    refused(&Eigensolver::new(VrPca::default().step(f64::NAN), 1), "step: NaN");
    refused(&Eigensolver::new(VrPca::default().step(0.1).batch(0), 1), "batch size: 0");
    refused(&Eigensolver::new(VrMomentum::default().beta(0.1).batch(9).epoch(0), 1), "epoch: 0");
    refused(&Eigensolver::new(VrMomentum::default().beta(-0.1).batch(9).epoch(5), 1), "beta: -0.1");
}

/// An operator that is zero: eigenvalue 0, orthonormal vectors, residual 0.
#[test]
fn the_zero_operator() {
    fn zero<M: Method<f64, Diagonal<f64>>>(method: M) {
        let op = Diagonal::new(vec![0.0; 6]).expect("finite");
        let found = Eigensolver::new(method, 2).passes(50.0).solve(&op).expect("a run");
        assert_eq!((&found.values[..], &found.residuals[..]), (&[0.0; 2][..], &[0.0; 2][..]));
        let v = found.vectors.view();
        let gram = v.t().dot(&v);
        assert!((&gram - &Array2::<f64>::eye(2)).iter().all(|g| g.abs() <= 20.0 * f64::EPSILON));
        assert!(matches!(found.info.stop, Stop::Breakdown | Stop::Converged));
    }
    zero(Power);
    zero(PowerMomentum::default());
    zero(PowerMomentum::default().beta(0.1));
    zero(DynamicMomentum);
    zero(ShiftedChebyshev::default());
    zero(BestHeavyBall);
    zero(Inhomogeneous::new(Legendre, 1.1));
}

/// A sampled method that has to plan needs a gap to plan with, and says so.
#[test]
fn nothing_to_plan_with() {
    let op = Gram::new(Dense::new(Array2::<f64>::zeros((50, 4))).expect("finite"));
    let error = Eigensolver::new(MiniBatchMomentum::default(), 1).solve(&op).expect_err("refused");
    assert!(error.to_string().contains("gap") || error.to_string().contains("lambda1"), "{error}");
    let error = Eigensolver::new(VrMomentum::default(), 1).solve(&op).expect_err("refused");
    assert!(error.to_string().contains("gap") || error.to_string().contains("lambda1"), "{error}");
    // With given parameters the answer is the documented one.
    let given = MiniBatchMomentum::default().beta(0.1).batch(10);
    let found = Eigensolver::new(given, 1).solve(&op).expect("a run");
    assert_eq!((found.values[0], found.residuals[0]), (0.0, 0.0));
}

/// As many components as dimensions, and a rank below them: all pairs, the rest zero.
#[test]
fn all_components_of_a_deficient_operator() {
    let op = Diagonal::new(vec![2.0, 1.0, 0.0, 0.0]).expect("finite");
    for found in [
        Eigensolver::new(Power, 4).solve(&op).expect("a run"),
        Eigensolver::new(PowerMomentum::default(), 4).solve(&op).expect("a run"),
        Eigensolver::new(DynamicMomentum, 4).solve(&op).expect("a run"),
    ] {
        assert_eq!(found.info.stop, Stop::Converged);
        for (value, exact) in found.values.iter().zip([2.0_f64, 1.0, 0.0, 0.0]) {
            assert!((value - exact).abs() <= 2e-8, "{:?}", found.values);
        }
    }
}

/// More components than the rank: a sampled method has no gap to plan with, and says which.
#[test]
fn no_gap_behind_the_components() {
    let left = Block::<f64>::gaussian(200, 2, 1);
    let right = Block::<f64>::gaussian(8, 2, 2);
    let op = Gram::new(Dense::new(left.view().dot(&right.view().t())).expect("finite"));
    let refused = |error: Option<Error>| {
        let text = error.expect("refused").to_string();
        assert!(text.starts_with("no gap: eigenvalue 4 of a sample is"), "{text}");
    };
    refused(Eigensolver::new(MiniBatchMomentum::default(), 4).solve(&op).err());
    refused(Eigensolver::new(VrMomentum::default(), 4).solve(&op).err());
    refused(Eigensolver::new(VrPca::default(), 4).solve(&op).err());
    refused(Eigensolver::new(Oja::default(), 4).solve(&op).err());
}
