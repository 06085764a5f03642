//! The reference traces of `golden/traces.json`, which were computed with 40 and more digits by an
//! independent program; their tolerance is 1e-13 (1 + |x|), as stated with them.

use favard_engine::gauge::Norm;
use favard_engine::map::{Exact, MiniBatch, VarianceReduced};
use favard_engine::readout::Optimal;
use favard_engine::recurrence::{BestHeavyBall, Legendre, Momentum, Normalized, Start};
use favard_engine::{Advance, Engine};
use favard_operator::{Batch, Block, BlockRef, Diagonal, StochasticFn};
use ndarray::Array2;
use serde_json::Value;

fn traces() -> Value {
    serde_json::from_str(include_str!("../golden/traces.json")).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

fn vector(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn matrix(value: &Value) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = value.as_array().unwrap().iter().map(vector).collect();
    Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, j)| rows[i][j])
}

fn assert_close(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        let allowed = 1e-13 * (1.0 + b.abs());
        assert!((a - b).abs() <= allowed, "{what}, entry {i}: {a:e}, reference {b:e}");
    }
}

fn column(block: &Block<f64>) -> Vec<f64> {
    (0..block.rows()).map(|i| block.row(i)[0]).collect()
}

/// A sum of given matrices as a stochastic operator, each divided by their number.
fn finite_set(matrices: Vec<Array2<f64>>) -> impl favard_operator::StochasticOperator<f64> {
    let (terms, dim) = (matrices.len(), matrices[0].nrows());
    StochasticFn::new(
        (dim, dim),
        terms,
        move |batch: &Batch<f64>,
              x: BlockRef<'_, f64>,
              mut y: favard_operator::BlockMut<'_, f64>| {
            let mut sum = Array2::<f64>::zeros((dim, x.cols()));
            for (&term, &weight) in batch.terms.iter().zip(&batch.weights) {
                sum = sum + matrices[term].dot(&x.into_view()) * (weight / terms as f64);
            }
            for i in 0..dim {
                y.row_mut(i).copy_from_slice(sum.row(i).as_slice().unwrap());
            }
            Ok(())
        },
    )
}

/// Algorithm 1, mini-batches of two given matrices a step, U start.
#[test]
fn algorithm_1() {
    let traces = traces();
    let inputs = &traces["alg1_inputs"];
    let steps: Vec<Vec<Array2<f64>>> = inputs["matrices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step.as_array().unwrap().iter().map(matrix).collect())
        .collect();
    let size = steps[0].len();
    let op = finite_set(steps.concat());
    let terms = steps.len() * size;
    // Step t uses its own two matrices; the weights make their mean of the sum of all.
    let sampler = move |tick: u64, batch: &mut Batch<f64>| {
        let first = usize::try_from(tick).unwrap() * size;
        batch.terms = (first..first + size).collect();
        batch.weights = vec![terms as f64 / size as f64; size];
    };
    let beta = Momentum::new(number(&inputs["beta"]), Start::U).unwrap();
    let start = Block::column(&vector(&inputs["w0"]));
    let map = MiniBatch::new(op, sampler).unwrap();
    let mut engine = Engine::new(map, beta, start).unwrap().with_gauge(Norm);
    for row in traces["alg1_U"].as_array().unwrap() {
        assert_eq!(engine.advance().unwrap(), Advance::Moved);
        assert_close("w", &column(engine.block()), &vector(&row["w"]));
        assert_close("w_prev", &column(engine.previous()), &vector(&row["w_prev"]));
    }
    assert_eq!(engine.tick(), 6);
}

/// Algorithm 2 with the corrected indices (erratum 3.12).
#[test]
fn algorithm_2() {
    let traces = traces();
    let trace = &traces["alg2"];
    let set: Vec<Array2<f64>> =
        trace["finite_set"].as_array().unwrap().iter().map(matrix).collect();
    let terms = set.len();
    let batches: Vec<Vec<usize>> = trace["batches"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|epoch| epoch.as_array().unwrap().clone())
        .map(|batch| {
            let batch = batch.as_array().unwrap();
            batch.iter().map(|t| usize::try_from(t.as_u64().unwrap()).unwrap()).collect()
        })
        .collect();
    let sampler = move |tick: u64, batch: &mut Batch<f64>| {
        batch.terms = batches[usize::try_from(tick).unwrap()].clone();
        batch.weights = vec![terms as f64 / batch.terms.len() as f64; batch.terms.len()];
    };
    let start = Block::column(&vector(&trace["anchor_1"]));
    let beta = Momentum::new(number(&trace["beta"]), Start::U).unwrap();
    let map = VarianceReduced::new(finite_set(set), sampler, 3).unwrap();
    let mut engine = Engine::new(map, beta, start).unwrap().with_gauge(Norm);
    for row in trace["rows"].as_array().unwrap() {
        // α is the component along the anchor before the step.
        let before = column(engine.block());
        engine.advance().unwrap();
        let anchor = column(engine.map().anchor());
        let alpha = before.iter().zip(&anchor).map(|(a, b)| a * b).sum::<f64>();
        assert_close("alpha", &[alpha], &[number(&row["alpha"])]);
        assert_close("w", &column(engine.block()), &vector(&row["w"]));
    }
    assert_eq!(engine.tick(), 6);
}

/// Algorithm 5 over the Legendre measure, in ratio form (errata 4.6 and 4.8).
#[test]
fn algorithm_5_legendre() {
    let traces = traces();
    let trace = &traces["alg5_legendre"];
    let lambda = number(&trace["lambda1_tilde"]);
    let op = Diagonal::new(vector(&trace["A_diag"])).unwrap();
    let start = Block::column(&vector(&trace["w0"]));
    let recurrence = Normalized::new(Legendre, lambda).unwrap();
    let mut engine = Engine::new(Exact::new(op).unwrap(), recurrence, start)
        .unwrap()
        .with_readout(Optimal::new(Legendre, lambda).unwrap())
        .unwrap();
    for row in trace["rows"].as_array().unwrap() {
        engine.advance().unwrap();
        assert_close("gamma", &[engine.readout().gamma()], &[number(&row["gamma"])]);
        assert_close("f", &column(engine.answer()), &vector(&row["f"]));
    }
}

/// Best Heavy Ball in restart form (erratum 4.4): 50 products a round.
#[test]
fn best_heavy_ball() {
    let traces = traces();
    let trace = &traces["best_heavy_ball_restart"];
    let op = Diagonal::new(vector(&trace["A_diag"])).unwrap();
    let start = Block::column(&vector(&trace["w0"]));
    let map = Exact::new(op).unwrap();
    let mut engine = Engine::new(map, BestHeavyBall::default(), start).unwrap().with_gauge(Norm);
    engine.advance().unwrap();
    for row in trace["rows"].as_array().unwrap() {
        for _ in 0..50 {
            engine.advance().unwrap();
        }
        let (beta, quotient) = engine.recurrence().best().unwrap();
        assert_close("beta", &[beta], &[number(&row["beta"])]);
        assert_close("rq", &[quotient], &[number(&row["rq"])]);
        let winner = column(engine.recurrence().block().unwrap());
        assert_close("w", &winner, &vector(&row["w"]));
    }
    // The first product belongs to the start, the rest to the rounds.
    assert_eq!(engine.info(favard_engine::Stop::Iterations).applications, 151);
}
