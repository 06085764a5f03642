//! The cheap estimator against exact numbers, and the plan it leads to against a run.

use favard_engine::Engine;
use favard_engine::gauge::Norm;
use favard_engine::map::MiniBatch;
use favard_engine::recurrence::{Momentum, Start};
use favard_models::{Effort, estimate};
use favard_operator::{Block, Dense, Gram, Sampler};
use favard_theory::planner::{Target, plan};
use ndarray::Array2;

use crate::support::{finite, operator, points};

/// λ₁, λ₂, s_op and κ of a finite distribution, of which every term is drawn many times.
#[test]
fn estimates_of_a_finite_distribution() {
    let points = points(0.2);
    let finite = finite(&points);
    let op = operator(points.clone());
    let effort = Effort { products: 60, samples: 20_000, seed: 3 };
    let found = estimate(&op, &effort).unwrap();
    let known = found.estimates;
    assert!((known.lambda1 - 1.0).abs() <= found.residuals[0] + 8.0 * f64::EPSILON);
    assert!((known.lambda2 - 0.8).abs() <= found.residuals[1] + 8.0 * f64::EPSILON);
    // κ = E (u₂ᵀ N u₁)²: the mean of six values, of which 20,000 draws are a sample. The mean of m
    // draws of numbers within [0, b] is off by more than b √(ln(2/δ)/2m) with probability below δ
    // (Hoeffding); δ = 1e−6.
    let squares: Vec<f64> = points.iter().map(|p| p[[1, 0]].powi(2)).collect();
    let kappa = squares.iter().sum::<f64>() / 6.0;
    let largest = squares.iter().copied().fold(0.0, f64::max);
    let slack = largest * (2e6_f64.ln() / (2.0 * 20_000.0)).sqrt();
    assert!((known.kappa - kappa).abs() <= slack, "{} {kappa}", known.kappa);
    // s_op within the same relative sampling error, and eight rounds of power iteration from below.
    let exact = finite.s_op().unwrap();
    assert!(known.s_op <= exact * 1.1 && known.s_op >= exact * 0.8, "{} {exact}", known.s_op);
    // ‖Σ‖ lies in its range. The lower end is a mean over the 2016 pairs of 64 draws, each term of
    // it at most (max ‖N_i v‖²)², so it may exceed its expectation, by Hoeffding for U-statistics
    // (32 independent pairs) and δ = 1e−6, by at most the slack under the root.
    let sigma = finite.sigma_norm().unwrap();
    let most = finite.deviations().map(|(n, _)| (n * n).sum()).fold(0.0, f64::max).powi(2);
    let slack = most * (1e6_f64.ln() / 64.0).sqrt();
    let [low, high] = found.sigma_range;
    assert!(sigma <= exact * (1.0 + 1e-12) && sigma <= high * 1.25, "{sigma} {high}");
    assert!(low * low <= sigma * sigma + slack && low > 0.0, "{low} {sigma}");
    // σ² is a mean over 64 draws of numbers of at most max ‖N‖²; from below in the iteration.
    let sigma2 = finite.sigma2().unwrap();
    let largest = finite.deviations().map(|(n, _)| (n * n).sum()).fold(0.0, f64::max);
    let slack = largest * (2e6_f64.ln() / 128.0).sqrt();
    assert!((found.sigma2 - sigma2).abs() <= slack, "{} {sigma2}", found.sigma2);
    assert!(found.sigma2 > 0.0 && slack < sigma2, "the test says something: {slack} {sigma2}");
}

/// From data to a plan to a run: the mini-batch run ends in a noise ball of the predicted size.
#[test]
fn a_practical_plan_reaches_its_target() {
    let scale = [1.0, 0.8, 0.6, 0.4, 0.2];
    let mut rows: Array2<f64> = Block::gaussian(20_000, 5, 8).view().to_owned();
    for (mut column, scale) in rows.columns_mut().into_iter().zip(scale) {
        column *= scale;
    }
    let op = Gram::new(Dense::new(rows).unwrap());
    let found = estimate(&op, &Effort { samples: 2000, ..Effort::default() }).unwrap();
    let epsilon = 0.01;
    let plan = plan(&found.estimates, &Target::new(epsilon, 0.1)).unwrap();
    let recipe = &plan.mini_batch.practical;
    let batch = recipe.batch.value.ceil() as usize;
    let beta = recipe.beta.value;
    // u₁ from the exact operator, by a long run.
    let exact = favard_engine::map::Exact::new(&op).unwrap();
    let start = Block::gaussian(5, 1, 2);
    let mut truth = Engine::new(exact, favard_engine::recurrence::Power, start.clone())
        .unwrap()
        .with_gauge(Norm);
    for _ in 0..300 {
        truth.advance().unwrap();
    }
    let u = truth.block().view().column(0).to_owned();
    let sampler = Sampler::uniform(20_000, batch, 4).unwrap();
    let map = MiniBatch::new(&op, sampler).unwrap();
    let recurrence = Momentum::new(beta, Start::U).unwrap();
    let mut engine = Engine::new(map, recurrence, start).unwrap().with_gauge(Norm);
    for _ in 0..recipe.iterations.value.ceil() as u64 {
        engine.advance().unwrap();
    }
    // The mean error over the run's tail: the ball is an average.
    let mut total = 0.0;
    for _ in 0..200 {
        engine.advance().unwrap();
        total += 1.0 - u.dot(&engine.block().view().column(0)).powi(2);
    }
    let ball = total / 200.0;
    // The practical rule s = 2C/ε puts the ball at ε/2 for Gaussian rows; a quarter to the target
    // itself is what the estimate of κ from 2000 rows and 200 correlated steps leave open.
    assert!(ball <= epsilon && ball >= epsilon / 8.0, "ball {ball:e}, target {epsilon:e}");
}
