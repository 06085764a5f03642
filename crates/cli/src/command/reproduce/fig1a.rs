//! Figure 1(a): Oja's rule with momentum, single rows.

use favard_models::solvers::{Method, Oja, OjaMomentum};

use super::bench::{Bench, Findings, Plot, Sheet};
use super::claim::{Check, Claim};
use super::measure::{
    Sampled, Until, basis, course, gram, kappas, log_grid, mean, mean_course, paper_rows, points,
    reaches,
};
use crate::error::Result;
use crate::report::lines::{Lines, Series};

/// Steps of Oja and of Oja with momentum that lead to the same noise ball.
const STEPS: [(f64, f64); 3] = [(2.24e-3, 1e-6), (7.07e-4, 1e-7), (2.24e-4, 1e-8)];
/// The paper's figure is an average over ten runs.
const RUNS: u64 = 10;
const GAP: f64 = 0.1;

/// What a method does at one step size.
struct Course {
    name: String,
    /// The mean of sin² over the runs, tick by tick.
    errors: Vec<f64>,
    /// The mean of the last third.
    ball: f64,
    /// The ball that the theory gives, to leading order in the step.
    theory: f64,
}

pub fn run(bench: &Bench) -> Result<Findings> {
    let rows = paper_rows(bench.size(20_000, 1_000_000), 10, GAP, bench.seed)?;
    let op = gram(&rows)?;
    let kappa: f64 = kappas(&rows).iter().sum();
    let mut courses = Vec::new();
    for &(plain, momentum) in &STEPS[..bench.size(1, 3)] {
        // Twenty relaxation times of Oja's rule, 1/(2ηΔ).
        let ticks = ticks(20.0 / (2.0 * plain * GAP));
        bench.doing(format!("fig1a: Oja, η = {plain}, {ticks} steps"));
        let method = Oja::default().step(plain).steps(ticks);
        let ball = kappa * plain / (2.0 * GAP);
        courses.push(follow(bench, &*op, method, ticks, format!("Oja, η = {plain:e}"), ball)?);
        bench.doing(format!("fig1a: Oja with momentum, η = {momentum}, {ticks} steps"));
        let method = with_momentum(momentum).steps(ticks);
        let ball = kappa * momentum.sqrt() / (2.0 * GAP).powf(1.5);
        let name = format!("Oja+M, η = {momentum:e}");
        courses.push(follow(bench, &*op, method, ticks, name, ball)?);
    }
    let claims = claims(bench, &*op, kappa, &courses)?;
    let line = |(i, course): (usize, &Course)| {
        let series = Series::new(&course.name, i / 2, points(&course.errors));
        if i % 2 == 1 { series.dashed() } else { series }
    };
    let plot = Plot {
        lines: Lines {
            across: ("samples".to_string(), true),
            up: ("sin²".to_string(), true),
            series: courses.iter().enumerate().map(line).collect(),
            floor: None,
        },
        caption:
            "Mean of ten runs; dashed: with momentum. Steps of one colour end in the same ball: \
                  they get there at the same time."
                .to_string(),
    };
    let mut sheets = vec![Sheet::table(
        "fig1a_balls",
        courses.iter().map(|course| course.name.clone()).collect(),
        vec![
            ("noise ball".to_string(), courses.iter().map(|course| course.ball).collect()),
            ("theory".to_string(), courses.iter().map(|course| course.theory).collect()),
            (
                "samples to twice the theory's".to_string(),
                courses.iter().map(|course| reaches(&course.errors, 2.0 * course.theory)).collect(),
            ),
        ],
    )];
    for (level, pair) in courses.chunks(2).enumerate() {
        let shortest = pair.iter().map(|course| course.errors.len()).min().unwrap_or(0);
        let grid = log_grid(shortest, 400);
        let mut columns =
            vec![("samples".to_string(), grid.iter().map(|t| (t + 1) as f64).collect())];
        for course in pair {
            let values = grid.iter().map(|&t| course.errors[t]).collect();
            columns.push((course.name.clone(), values));
        }
        sheets.push(Sheet::new(&format!("fig1a_course{}", level + 1), columns));
    }
    Ok(Findings {
        about: format!(
            "Rows {} × 10 with XᵀX/n = diag(1, .9, …, .9), one row a step, ten runs. The paper does \
             not give its steps: these lead to the same noise ball in pairs.",
            rows.nrows()
        ),
        claims,
        plots: vec![plot],
        sheets,
    })
}

/// β = (1 + ηλ₂)²/4.
fn with_momentum(step: f64) -> OjaMomentum {
    OjaMomentum::default().step(step).beta((1.0 + step * (1.0 - GAP)).powi(2) / 4.0)
}

// A count of steps.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn ticks(count: f64) -> u64 {
    count as u64
}

fn follow<'a, M: Method<f64, Sampled<'a>> + Copy + Sync>(
    bench: &Bench,
    op: &Sampled<'a>,
    method: M,
    ticks: u64,
    name: String,
    theory: f64,
) -> Result<Course> {
    let runs = bench
        .runs(RUNS, |seed| course(method, op, &basis(10, 1, seed)?, seed, Until::after(ticks)))?;
    let errors = mean_course(&runs);
    let ball = mean(&errors[errors.len() - errors.len() / 3..]);
    Ok(Course { name, errors, ball, theory })
}

fn claims(bench: &Bench, op: &Sampled<'_>, kappa: f64, courses: &[Course]) -> Result<Vec<Claim>> {
    // The same step without momentum, until momentum has reached twice its ball.
    let (eta, with) = (STEPS[0].1, &courses[1]);
    let reached = reaches(&with.errors, 2.0 * with.theory);
    let there = ticks(reached.min(with.errors.len() as f64));
    bench.doing(format!("fig1a: Oja, η = {eta}, {there} steps"));
    let slow = Oja::default().step(eta).steps(there);
    let same = follow(bench, op, slow, there, String::new(), kappa * eta / (2.0 * GAP))?;
    let left = same.errors.last().copied().unwrap_or(f64::NAN);
    let arrived = with.errors.get(same.errors.len().wrapping_sub(1)).copied().unwrap_or(f64::NAN);
    // Of all pairs, the ratio that is farthest from one.
    let ratio = courses.chunks(2).fold(1.0_f64, |worst, pair| {
        let [plain, momentum] = [0, 1].map(|i| reaches(&pair[i].errors, 2.0 * pair[i].theory));
        let ratio = plain / momentum;
        if ratio.is_nan() || ratio.ln().abs() > worst.ln().abs() { ratio } else { worst }
    });
    Ok(vec![
        Claim::new(
            "Figure 1(a); section 3",
            "adding momentum does accelerate the convergence to the noise ball",
            Check::at_least(
                "error without momentum over the error with it, same step η = 1e−6, when momentum \
                 has come to twice its ball",
                left / arrived,
                2.0,
            ),
        ),
        Claim::new(
            "Figure 1(a); section 3",
            "it also increases the size of the noise ball",
            Check::at_least(
                "ball with momentum, as measured, over κη/(2Δ) without, same step η = 1e−6",
                with.ball / same.theory,
                10.0,
            ),
        ),
        Claim::new(
            "Figure 1(a); section 3",
            "decreasing the step to compensate roughly cancels the acceleration",
            Check::between(
                "samples to twice the ball without momentum over those with it, at steps with the \
                 same ball",
                ratio,
                0.5,
                2.0,
            ),
        ),
    ])
}
