//! Bad input is a named error with its numbers; a failed step changes nothing.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use favard_engine::gauge::{Norm, PeriodicQr};
use favard_engine::map::{Affine, Exact, StepMap, Svrg, VarianceReduced};
use favard_engine::observe::{Stagnation, Tolerance};
use favard_engine::readout::Optimal;
use favard_engine::recurrence::{
    Chebyshev, HeavyBall, Legendre, Momentum, Oja, Power, Start, Tabulated, Triple,
};
use favard_engine::{Certificate, Engine, ErrorKind, Evidence};
use favard_operator::{
    Block, BlockMut, BlockRef, Dense, Diagonal, FnOperator, LinearOperator, Result, Sampler,
    Workspace,
};
use ndarray::Array2;

use crate::support::{gram, rows};

fn text<T: std::fmt::Debug, E: std::fmt::Display>(result: std::result::Result<T, E>) -> String {
    result.err().map(|error| error.to_string()).expect("an error")
}

#[test]
fn parameters() {
    assert_eq!(text(Momentum::new(-0.1, Start::U)), "beta: -0.1 must be finite and at least 0");
    assert!(text(Momentum::new(f64::NAN, Start::U)).starts_with("beta: NaN"));
    assert!(text(Momentum::new(f32::INFINITY, Start::T)).starts_with("beta: inf"));
    assert!(text(Oja::new(f64::NAN, 0.0)).starts_with("step: NaN"));
    assert!(text(HeavyBall::polyak(0.0, 1.0)).starts_with("low: 0 must be finite and above 0"));
    assert!(text(HeavyBall::polyak(2.0, 1.0)).starts_with("high: 1"));
    assert!(text(Chebyshev::new(1.0, 1.0)).starts_with("high: 1"));
    assert!(text(Tabulated::<f64>::new(vec![])).contains("at least one"));
    let zero = Triple { a: 0.0, b: 0.0, c: 0.0 };
    assert!(text(Tabulated::new(vec![zero])).starts_with("a: 0"));
    assert!(text(Tolerance::new(-1.0, 1)).starts_with("tolerance: -1"));
    assert!(text(Tolerance::new(0.1, 0)).starts_with("components: 0"));
    assert!(text(Stagnation::after(0)).starts_with("patience: 0"));
    assert!(text(PeriodicQr::<f64>::new(2, 0)).starts_with("every: 0"));
    let sampler = Sampler::uniform(40, 2, 1).unwrap();
    assert!(text(VarianceReduced::new(gram(&rows()), sampler, 0)).starts_with("epoch: 0"));
}

#[test]
fn shapes() {
    let wide = Dense::new(Array2::<f64>::zeros((2, 3))).unwrap();
    assert_eq!(text(Exact::new(wide)), "exact map: needs a square operator, found 2 × 3");
    let empty = Dense::new(Array2::<f64>::zeros((0, 0))).unwrap();
    assert_eq!(text(Exact::new(empty)), "exact map: is empty (0 × 0)");
    let start = |rows, cols| {
        let map = Exact::new(Diagonal::new(vec![1.0, 2.0, 3.0]).unwrap()).unwrap();
        text(Engine::new(map, Power, Block::gaussian(rows, cols, 1)))
    };
    assert_eq!(start(784, 1), "rows of the start block: expected 3, found 784");
    assert_eq!(start(3, 0), "start block: 3 × 0 needs at least one column");
    assert!(start(3, 4).starts_with("start block: 3 × 4 has more columns"));
    let map = Exact::new(Diagonal::new(vec![1.0, 2.0]).unwrap()).unwrap();
    let bad = Block::column(&[1.0, f64::NAN]);
    let found = text(Engine::new(map, Power, bad));
    assert_eq!(found, "start block: value NaN at row 1, column 0 is not finite");
}

/// A right-hand side is checked when the map is made, and against the start when the engine is.
#[test]
fn right_hand_sides() {
    let sampler = || Sampler::uniform(40, 2, 1).unwrap();
    let bad = || Block::from_fn(6, 2, |i, j| if (i, j) == (4, 1) { f64::NAN } else { 1.0 });
    let expected = "right-hand side: value NaN at row 4, column 1 is not finite";
    assert_eq!(text(Svrg::new(gram(&rows()), bad(), sampler(), 3)), expected);
    assert_eq!(text(Affine::new(Exact::new(gram(&rows())).unwrap(), bad())), expected);
    let found = text(Svrg::new(gram(&rows()), Block::zeros(5, 2), sampler(), 3));
    assert_eq!(found, "rows of the right-hand side: expected 6, found 5");
    let ball = || HeavyBall::new(0.05, 0.3).unwrap();
    let expected = "columns of the start block: expected 2, found 1";
    let svrg = Svrg::new(gram(&rows()), Block::zeros(6, 2), sampler(), 3).unwrap();
    assert_eq!(text(Engine::new(svrg, ball(), Block::zeros(6, 1))), expected);
    let affine = Affine::new(Exact::new(gram(&rows())).unwrap(), Block::zeros(6, 2)).unwrap();
    assert_eq!(text(Engine::new(affine, ball(), Block::zeros(6, 1))), expected);
}

/// The point of an optimal combination lies above the support of its measure: elsewhere it would be
/// divided by polynomials that change their sign.
#[test]
fn points_inside_of_a_measure_are_refused() {
    for inside in [-1.5, 0.0, 0.9, 0.999] {
        let found = text(Optimal::new(Legendre, inside));
        assert!(
            found.starts_with(&format!("point: {inside} must be above the support")),
            "{found}"
        );
    }
    assert!(text(Optimal::new(Legendre, f64::NAN)).starts_with("at: NaN"));
    for above in [1.0, 1.000_1, 7.0] {
        assert!(Optimal::new(Legendre, above).is_ok());
    }
    assert!(Optimal::new(Chebyshev::new(2.0, 5.0).unwrap(), 4.9).is_err());
    assert!(Optimal::new(Chebyshev::new(2.0, 5.0).unwrap(), 5.1).is_ok());
}

/// Entries that are finite and a norm that is not: the error names the entry.
#[test]
fn a_norm_that_overflows_has_a_place() {
    let map = Exact::new(Diagonal::new(vec![1.0, 1.5e308, 1.6e308]).unwrap()).unwrap();
    let start = Block::from_fn(3, 2, |i, j| [[1.0, 1.0], [1.0, 1.0], [0.0, 1.0]][i][j]);
    let mut engine = Engine::new(map, Power, start).unwrap();
    let error = engine.advance().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NonFinite { tick: 0, row: 2, column: 1 }), "{error}");
}

/// Without a gauge the iterate overflows: an error with the tick, and the last finite block stays.
#[test]
fn overflow_is_named_and_the_last_block_stays() {
    let map = Exact::new(Diagonal::new(vec![1e100, 1.0]).unwrap()).unwrap();
    let mut engine = Engine::new(map, Power, Block::column(&[1.0, 1.0])).unwrap();
    for _ in 0..3 {
        engine.advance().unwrap();
    }
    let error = engine.advance().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NonFinite { tick: 3, row: 0, column: 0 }), "{error}");
    let found: f64 = engine.block().row(0)[0];
    assert!((found / 1e300 - 1.0).abs() <= 4.0 * f64::EPSILON);
    assert_eq!(engine.tick(), 3);
    let error = engine.advance().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Broken { tick: 3 }), "{error}");
}

/// NaN from a closure names tick, row and column; the state before the step is kept, and a closure
/// that has recovered goes on.
#[test]
fn closures_that_return_nan_or_panic_lose_nothing() {
    let calls = AtomicU64::new(0);
    let op = FnOperator::new((3, 3), |x: BlockRef<'_, f64>, mut y: BlockMut<'_, f64>| {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        assert!(call != 2, "call two is bad");
        for i in 0..3 {
            y.row_mut(i)[0] = x.row(i)[0] * (1.0 + i as f64);
        }
        if call == 4 {
            y.row_mut(1)[0] = f64::NAN;
        }
    });
    let start = Block::column(&[1.0, 1.0, 1.0]);
    let recurrence = Momentum::new(0.25, Start::U).unwrap();
    let mut engine =
        Engine::new(Exact::new(op).unwrap(), recurrence, start.clone()).unwrap().with_gauge(Norm);
    let plain = Exact::new(Diagonal::new(vec![1.0, 2.0, 3.0]).unwrap()).unwrap();
    let mut healthy = Engine::new(plain, recurrence, start).unwrap().with_gauge(Norm);

    let mut errors = Vec::new();
    while engine.tick() < 6 {
        match engine.advance() {
            Ok(_) => {
                healthy.advance().unwrap();
                for i in 0..3 {
                    let gap = (engine.block().row(i)[0] - healthy.block().row(i)[0]).abs();
                    assert!(gap <= 64.0 * f64::EPSILON, "after a failure: {gap:e}");
                }
            }
            Err(error) => errors.push(error.to_string()),
        }
        assert!(errors.len() <= 2);
    }
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[0].starts_with("tick 2: ") && errors[0].contains("call two is bad"));
    assert!(errors[1].starts_with("tick 3: ") && errors[1].contains("row 1, column 0"));
}

/// A user's own operator that panics in the middle of the product: the engine is as it was.
#[test]
fn a_panicking_operator_does_not_poison_the_engine() {
    struct Moody(AtomicU64);
    impl LinearOperator<f64> for Moody {
        fn shape(&self) -> (usize, usize) {
            (2, 2)
        }
        fn apply(
            &self,
            alpha: f64,
            x: BlockRef<'_, f64>,
            gamma: f64,
            mut y: BlockMut<'_, f64>,
            _: &mut Workspace<f64>,
        ) -> Result<()> {
            for i in 0..2 {
                let old = if gamma == 0.0 { 0.0 } else { gamma * y.row(i)[0] };
                y.row_mut(i)[0] = alpha * x.row(i)[0] / (1.0 + i as f64) + old;
                assert!(self.0.fetch_add(1, Ordering::Relaxed) != 4, "half done");
            }
            Ok(())
        }
    }
    let map = Exact::new(Moody(AtomicU64::new(0))).unwrap();
    let recurrence = Momentum::new(0.1, Start::U).unwrap();
    let mut engine =
        Engine::new(map, recurrence, Block::column(&[1.0, 1.0])).unwrap().with_gauge(Norm);
    engine.advance().unwrap();
    engine.advance().unwrap();
    let state = (engine.tick(), engine.block().clone(), engine.previous().clone());
    assert!(catch_unwind(AssertUnwindSafe(|| engine.advance())).is_err());
    assert_eq!(state, (engine.tick(), engine.block().clone(), engine.previous().clone()));
    engine.advance().unwrap();
    assert_eq!(engine.tick(), 3);
}

/// An infallible map is updated in place: one evaluation with γ = −β, no image.
#[test]
fn infallible_maps_are_fused() {
    struct Counting<'a>(Exact<Diagonal<f64>>, &'a Cell<u64>);
    impl StepMap<f64> for Counting<'_> {
        fn name(&self) -> &'static str {
            "counting"
        }
        fn dim(&self) -> usize {
            self.0.dim()
        }
        fn eval(
            &mut self,
            alpha: f64,
            x: BlockRef<'_, f64>,
            gamma: f64,
            y: BlockMut<'_, f64>,
            ws: &mut Workspace<f64>,
        ) -> Result<()> {
            if gamma == -0.2 {
                self.1.set(self.1.get() + 1);
            }
            self.0.eval(alpha, x, gamma, y, ws)
        }
        fn is_infallible(&self) -> bool {
            self.0.is_infallible()
        }
        fn cost(&self) -> favard_engine::map::Cost {
            self.0.cost()
        }
    }
    let fused = Cell::new(0);
    let map = Exact::new(Diagonal::new(vec![1.0, 0.5]).unwrap()).unwrap();
    let recurrence = Momentum::new(0.2, Start::U).unwrap();
    let start = Block::column(&[1.0, 1.0]);
    let mut engine = Engine::new(Counting(map, &fused), recurrence, start).unwrap();
    for _ in 0..5 {
        engine.advance().unwrap();
    }
    assert_eq!(fused.get(), 5);
}

/// Evidence with fewer residuals than values is refused by its numbers, not by an index.
#[test]
#[should_panic(expected = "a certificate of 2 values needs as many residuals, not 1")]
fn residuals_of_a_certificate() {
    let _ = Certificate::new(&Evidence {
        values: &[2.0, 1.0],
        residuals: &[0.1],
        rounding: 0.0,
        guard: None,
        rest: None,
        orthogonality: 0.0,
        orthogonality_rounding: 0.0,
        tolerance: 0.5,
        wanted: 2,
    });
}
