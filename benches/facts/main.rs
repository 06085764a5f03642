//! What does the method reach, at full size? The tables that the tests of `tests/facts` hold at sizes
//! fit for every run, with the same code.
//!
//! ```text
//! cargo bench -p favard-benches --bench facts -- [f1 f2 f3 f4 f5 f7 plan]
//! ```
//!
//! "±" is the standard deviation over seeds. F3, F4 and F5 take 10⁶ rows and some minutes. The tests of
//! F8 and F9 have the full sizes already.

#[path = "../../tests/facts/cases/mod.rs"]
mod cases;

use std::ops::ControlFlow;

use cases::counts::{lanczos_products, products, ticks_until};
use cases::data::{gram, kappas, paper_rows};
use cases::problems::{flat, sin2, slope, spaced, spread, start};
use favard_engine::Stop;
use favard_engine::observe::Step;
use favard_engine::recurrence::Start;
use favard_models::solvers::{
    AdaOja, BestHeavyBall, DynamicMomentum, Eigensolver, Method, MiniBatchMomentum, Oja,
    OjaMomentum, Power, PowerMomentum, ShiftedChebyshev, VrMomentum, VrPca,
};
use favard_operator::{Dense, Diagonal, Gram, LinearOperator};
use favard_theory::{Growth, noise_ball};

const EPSILON: f64 = 1e-10;
const BETA: f64 = 0.9 * 0.9 / 4.0;

type Tail = fn(usize, f64) -> Vec<f64>;

fn main() {
    if favard_benches::help(include_str!("main.rs")) {
        return;
    }
    let asked: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let all: [(&str, fn()); 7] =
        [("f1", f1), ("f2", f2), ("f3", f3), ("f4", f4), ("f5", f5), ("f7", f7), ("plan", planned)];
    for (name, table) in all {
        if asked.is_empty() || asked.iter().any(|a| a == name) {
            table();
            println!();
        }
    }
}

/// Products to sin² ≤ 1e−10 over seeds.
fn counts<M: Method<f64, Diagonal<f64>> + Copy>(
    spectrum: &[f64],
    method: M,
    seeds: u64,
) -> Vec<f64> {
    let op = Diagonal::new(spectrum.to_vec()).expect("finite");
    (0..seeds).map(|seed| products(method, &op, &start(spectrum.len(), seed), EPSILON)).collect()
}

fn cell(values: &[f64]) -> String {
    let (mean, deviation) = spread(values);
    format!("{mean:.1}±{deviation:.1}")
}

/// Power, U, T, shifted U, shifted T with the best parameters.
fn deterministic(spectrum: &[f64], seeds: u64) -> [Vec<f64>; 5] {
    let second = spectrum[1];
    let momentum = PowerMomentum::default().beta(second * second / 4.0);
    let shifted = ShiftedChebyshev::default().upper(second);
    [
        counts(spectrum, Power, seeds),
        counts(spectrum, momentum, seeds),
        counts(spectrum, momentum.start(Start::T), seeds),
        counts(spectrum, shifted.start(Start::U), seeds),
        counts(spectrum, shifted, seeds),
    ]
}

fn f1() {
    println!("F1. products to sin² ≤ 1e−10 at Δ = 0.1, 20 seeds");
    println!("| problem | power | U | T | shifted U | shifted T |\n|---|---|---|---|---|---|");
    let problems: [(&str, Tail, usize); 3] = [
        ("paper, d = 10", flat, 10),
        ("spaced, d = 1000", spaced, 1000),
        ("flat, d = 1000", flat, 1000),
    ];
    for (name, tail, dim) in problems {
        let found = deterministic(&tail(dim, 0.1), 20);
        println!("| {name} | {} |", found.map(|values| cell(&values)).join(" | "));
    }
}

fn f2() {
    println!("F2. products against the gap, d = 1000, 5 seeds");
    println!("| tail, Δ | power | U | T | shifted U | shifted T |\n|---|---|---|---|---|---|");
    let tails: [(&str, Tail); 2] = [("spaced", spaced), ("flat", flat)];
    for (name, tail) in tails {
        let mut points: [Vec<(f64, f64)>; 5] = Default::default();
        for gap in [0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4] {
            let found = deterministic(&tail(1000, gap), 5);
            for (list, values) in points.iter_mut().zip(&found) {
                list.push((gap, spread(values).0));
            }
            println!("| {name}, {gap} | {} |", found.map(|values| cell(&values)).join(" | "));
        }
        let slopes = points.map(|list| format!("{:.3}", slope(&list[2..])));
        println!("| {name}, slope for Δ ≤ .01 | {} |", slopes.join(" | "));
    }
}

fn f3() {
    println!("F3. noise ball, 1e6 rows, 10 seeds of 200 ticks");
    println!("| s | power | formula | momentum | formula | ratio |\n|---|---|---|---|---|---|");
    let rows = paper_rows(1_000_000, 10, 1);
    let (op, others) = (gram(&rows), kappas(&rows));
    let others: Vec<(f64, f64)> = others.into_iter().map(|kappa| (0.9, kappa)).collect();
    for batch in [1000, 3000, 10_000, 30_000] {
        let balls = [0.0, BETA].map(|beta| {
            let means: Vec<f64> = (0..10)
                .map(|seed| {
                    let (mut sum, burn_in, ticks) = (0.0, 150, 200);
                    let mut watch = |step: &Step<'_, f64>| {
                        sum += if step.tick > burn_in { sin2(step.block) } else { 0.0 };
                        ControlFlow::<Stop>::Continue(())
                    };
                    let method = MiniBatchMomentum::default().beta(beta).batch(batch);
                    Eigensolver::new(method.steps(burn_in + ticks), 1)
                        .tolerance(0.0)
                        .passes(f64::INFINITY)
                        .seed(seed)
                        .solve_observed(&op, None, &mut watch)
                        .expect("a run");
                    sum / ticks as f64
                })
                .collect();
            let growth = Growth::new(1.0, 0.9, beta).expect("in range");
            (spread(&means), noise_ball(&growth, &others, batch).expect("in range"))
        });
        let [((power, a), formula), ((momentum, b), formula_momentum)] = balls;
        let ratio = momentum / power;
        println!(
            "| {batch} | {power:.5}±{a:.5} | {formula:.5} | {momentum:.5}±{b:.5} \
             | {formula_momentum:.5} | {ratio:.2} |"
        );
    }
}

/// sin² in the mean over a window behind a burn-in, and the first tick with at most twice `ball`.
fn stationary<'a, M: Method<f64, Gram<Dense<'a, f64>>>>(
    method: M,
    op: &Gram<Dense<'a, f64>>,
    seed: u64,
    (burn_in, window): (u64, u64),
    ball: f64,
) -> (f64, f64) {
    let (mut sum, mut first) = (0.0, f64::NAN);
    let mut watch = |step: &Step<'_, f64>| {
        let error = sin2(step.block);
        if error <= 2.0 * ball && first.is_nan() {
            first = step.tick as f64;
        }
        sum += if step.tick > burn_in { error } else { 0.0 };
        ControlFlow::<Stop>::Continue(())
    };
    Eigensolver::new(method, 1)
        .tolerance(0.0)
        .passes(f64::INFINITY)
        .seed(seed)
        .solve_observed(op, Some(&start(10, seed)), &mut watch)
        .expect("a run");
    (sum / window as f64, first)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // ticks below 2^53
fn f4() {
    println!(
        "F4. Oja with momentum on single rows, 1e6 rows, 40 runs; ticks to twice the ball, median"
    );
    println!(
        "| Oja | formula | ticks | Oja+M | formula | ticks | ratio |\n|---|---|---|---|---|---|---|"
    );
    let rows = paper_rows(1_000_000, 10, 1);
    let (op, kappa) = (gram(&rows), kappas(&rows).iter().sum::<f64>());
    for (plain, momentum) in [(2.24e-3, 1e-6), (7.07e-4, 1e-7), (2.24e-4, 1e-8)] {
        // κη/(2Δ) and κη²/(2ηΔ)^{3/2}; the memory of the slower process is 1/(2ηΔ) ticks.
        let rate = 0.2 * plain;
        let formulas =
            [kappa * plain / 0.2, kappa * momentum * momentum / (0.2_f64 * momentum).powf(1.5)];
        let ticks = ((12.0 / rate) as u64, (40.0 / rate) as u64);
        let steps = ticks.0 + ticks.1;
        let beta = (1.0 + 0.9 * momentum).powi(2) / 4.0;
        let (oja, accelerated) = (
            Oja::default().step(plain).steps(steps),
            OjaMomentum::default().step(momentum).beta(beta).steps(steps),
        );
        let runs: [Vec<(f64, f64)>; 2] = [
            (0..40).map(|seed| stationary(oja, &op, seed, ticks, formulas[0])).collect(),
            (0..40).map(|seed| stationary(accelerated, &op, seed, ticks, formulas[1])).collect(),
        ];
        let cells = runs.map(|runs| {
            let (balls, first): (Vec<f64>, Vec<f64>) = runs.into_iter().unzip();
            let (mean, deviation) = spread(&balls);
            (format!("{mean:.4}±{:.4} (s.e.)", deviation / 40.0_f64.sqrt()), median(first))
        });
        let [(ball, first), (ball_with, first_with)] = cells;
        let ([formula, formula_with], ratio) = (formulas, first / first_with);
        println!(
            "| {ball} | {formula:.4} | {first} | {ball_with} | {formula_with:.4} | {first_with} \
             | {ratio:.2} |"
        );
    }
}

fn f5() {
    println!("F5. variance reduction, 1e6 rows, T = 10, epochs to sin² ≤ 1e−12, 10 seeds");
    println!("| s | VR power | VR Power+M | passes of VR Power+M |\n|---|---|---|---|");
    let rows = paper_rows(1_000_000, 10, 1);
    let op = gram(&rows);
    for batch in [100, 300, 1000, 3000, 10_000] {
        let [power, momentum] = [0.0, BETA].map(|beta| {
            let method = VrMomentum::default().beta(beta).batch(batch).epoch(10);
            let counts: Option<Vec<f64>> = (0..10)
                .map(|seed| ticks_until(method, &op, &start(10, seed), 1e-12, (10, 10, 300)))
                .map(|ticks| ticks.map(|ticks| (ticks / 10) as f64))
                .collect();
            counts
        });
        let shown = |counts: &Option<Vec<f64>>| {
            counts.as_deref().map_or("not in 30 epochs".to_string(), cell)
        };
        let epoch = 1.0 + 10.0 * batch as f64 / 1e6;
        let passes = momentum.as_deref().map(|counts| spread(counts).0 * epoch);
        let passes = passes.map_or("–".to_string(), |passes| format!("{passes:.1}"));
        println!("| {batch} | {} | {} | {passes} |", shown(&power), shown(&momentum));
    }
    let exact = PowerMomentum::default().beta(BETA);
    let exact: Vec<f64> =
        (0..10).map(|seed| products(exact, &op, &start(10, seed), 1e-12)).collect();
    println!("exact Power+M: {} passes", cell(&exact));
}

fn f7() {
    println!("F7. products to sin² ≤ 1e−10, d = 1000, 10 seeds");
    println!("| method | all .5 | 0….5 | all .999 | 0….999 |\n|---|---|---|---|---|");
    let spectra = [flat(1000, 0.5), spaced(1000, 0.5), flat(1000, 1e-3), spaced(1000, 1e-3)];
    let beta = |spectrum: &[f64]| spectrum[1] * spectrum[1] / 4.0;
    let momentum = |spectrum: &[f64]| PowerMomentum::default().beta(beta(spectrum));
    let interval =
        |spectrum: &[f64]| ShiftedChebyshev::default().lower(spectrum[999]).upper(spectrum[1]);
    let rounds = |spectrum: &[f64]| -> Vec<f64> {
        let op = Diagonal::new(spectrum.to_vec()).expect("finite");
        let run = |seed| {
            ticks_until(BestHeavyBall, &op, &start(1000, seed), EPSILON, (51, 50, 1_000_000))
        };
        (0..10).map(|seed| run(seed).expect("it converges") as f64).collect()
    };
    let line = |name: &str, count: &dyn Fn(&[f64]) -> Vec<f64>| {
        let cells: Vec<String> = spectra.iter().map(|spectrum| cell(&count(spectrum))).collect();
        println!("| {name} | {} |", cells.join(" | "));
    };
    line("power", &|s| counts(s, Power, 10));
    line("M, best β, U", &|s| counts(s, momentum(s), 10));
    line("M, best β, T", &|s| counts(s, momentum(s).start(Start::T), 10));
    line("shifted Chebyshev, T", &|s| counts(s, interval(s), 10));
    line("best heavy ball", &rounds);
    line("dynamic momentum", &|s| counts(s, DynamicMomentum, 10));
    line("Lanczos", &|s| {
        let op = Diagonal::new(s.to_vec()).expect("finite");
        (0..10).map(|seed| lanczos_products(&op, &start(1000, seed), EPSILON, 250)).collect()
    });
}

/// Nothing given but the tolerance: what every method costs, its estimates included.
fn planned() {
    println!("Solvers that find their own parameters, 1e6 rows, d = 10, one component");
    println!(
        "| method | tolerance | passes | residual / λ₁ | sin² | stop |\n|---|---|---|---|---|---|"
    );
    let rows = paper_rows(1_000_000, 10, 1);
    let op = gram(&rows);
    for tolerance in [1e-2, 1e-4, 1e-8] {
        row("Power", Power, &op, tolerance);
        row("PowerMomentum", PowerMomentum::default(), &op, tolerance);
        row("ShiftedChebyshev", ShiftedChebyshev::default(), &op, tolerance);
        row("DynamicMomentum", DynamicMomentum, &op, tolerance);
        row("VrMomentum", VrMomentum::default(), &op, tolerance);
        row("VrPca", VrPca::default(), &op, tolerance);
    }
    row("MiniBatchMomentum", MiniBatchMomentum::default(), &op, 1e-2);
    row("AdaOja", AdaOja::default(), &op, 1e-2);
}

fn row<A: LinearOperator<f64>, M: Method<f64, A>>(name: &str, method: M, op: &A, tolerance: f64) {
    let found = Eigensolver::new(method, 1).guard(2).tolerance(tolerance).solve(op).expect("a run");
    let (passes, stop) = (found.info.passes, found.info.stop);
    let residual = found.residuals[0] / found.values[0];
    let error = sin2(&found.vectors);
    println!("| {name} | {tolerance:e} | {passes:.2} | {residual:.1e} | {error:.1e} | {stop:?} |");
}
