//! Figure 1(c): variance reduction, epochs of ten steps.

use favard_models::solvers::VrMomentum;
use favard_theory::second_moment::{Epoch, GaussianRows, Scaled};
use favard_theory::{Growth, Start, as_printed};
use ndarray::{Array1, Array2};

use super::bench::{Bench, Findings, Plot, Sheet};
use super::claim::{Check, Claim};
use super::measure::{Sampled, Until, basis, course, gram, largest, mean, paper_rows};
use crate::error::Result;
use crate::report::lines::{Lines, Series};

const BETA: f64 = 0.9 * 0.9 / 4.0;
const EPOCH: usize = 10;
/// sin² that is asked for.
const EPSILON: f64 = 1e-12;
/// Epochs at most.
const MOST: usize = 30;

/// One batch size, without and with momentum.
struct Batch {
    size: usize,
    /// sin² after each epoch, of the first run.
    errors: [Vec<f64>; 2],
    /// Mean epochs to 1e−12; infinite when a run does not get there.
    epochs: [f64; 2],
    /// The factor of an epoch by the exact recursion, of the worst direction.
    exact: [f64; 2],
}

pub fn run(bench: &Bench) -> Result<Findings> {
    let rows = paper_rows(bench.size(20_000, 1_000_000), 10, 0.1, bench.seed)?;
    let op = gram(&rows)?;
    let runs = bench.size(4, 10);
    let sizes: &[usize] = bench.size(&[100, 1000, 5000], &[100, 300, 1000, 3000, 10_000]);
    let mut batches = Vec::new();
    for &size in sizes {
        let mut batch = Batch {
            size,
            errors: Default::default(),
            epochs: [0.0; 2],
            exact: [factor(size, 0.0)?, factor(size, BETA)?],
        };
        for (i, beta) in [0.0, BETA].into_iter().enumerate() {
            bench.doing(format!("fig1c: batches of {size}, β = {beta}"));
            let mut courses = bench.runs(runs, |seed| follow(&*op, beta, size, EPSILON, seed))?;
            let count = |errors: &Vec<f64>| match errors.last() {
                Some(last) if *last <= EPSILON => errors.len() as f64,
                _ => f64::INFINITY,
            };
            batch.epochs[i] = mean(&courses.iter().map(count).collect::<Vec<_>>());
            batch.errors[i] = courses.swap_remove(0);
        }
        batches.push(batch);
    }
    bench.doing("fig1c: twice as far");
    let far = follow(&*op, BETA, 1000, EPSILON * EPSILON, bench.seed)?;
    let half = far.iter().position(|e| *e <= EPSILON).map_or(f64::INFINITY, |k| (k + 1) as f64);
    let reached = far.last().is_some_and(|last| *last <= EPSILON * EPSILON);
    let whole = if reached { far.len() as f64 } else { f64::INFINITY };
    Ok(Findings {
        about: format!(
            "Rows {} × 10 with XᵀX/n = diag(1, .9, …, .9), epochs of T = 10 steps, {runs} runs. The \
             paper does not give its batch sizes.",
            rows.nrows()
        ),
        claims: claims(bench, &rows, &batches, (half, whole))?,
        plots: vec![plot(&batches)],
        sheets: sheets(&batches),
    })
}

/// sin² after each epoch.
fn follow(op: &Sampled<'_>, beta: f64, batch: usize, epsilon: f64, seed: u64) -> Result<Vec<f64>> {
    let method = VrMomentum::default().beta(beta).batch(batch).epoch(EPOCH as u64);
    let until = Until { error: epsilon, ticks: (MOST * EPOCH) as u64, every: EPOCH as u64 };
    let errors = course(method, op, &basis(10, 1, seed)?, seed, until)?;
    Ok(errors.chunks_exact(EPOCH).map(|epoch| epoch[EPOCH - 1]).collect())
}

/// The factor of sin² in an epoch, of the worst direction, for Gaussian rows.
fn factor(batch: usize, beta: f64) -> Result<f64> {
    let mean = Array2::from_diag(&Array1::from_shape_fn(10, |i| if i == 0 { 1.0 } else { 0.9 }));
    let noise = Scaled::new(GaussianRows::new(mean.view())?, 1.0 / batch as f64)?;
    Ok(Epoch::new(noise, mean.view(), beta, Start::U, EPOCH)?.worst()?)
}

/// The least batch at which momentum has the smaller factor.
fn crossing() -> Result<usize> {
    let (mut low, mut high) = (50, 5000);
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if factor(middle, BETA)? < factor(middle, 0.0)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(high)
}

fn claims(
    bench: &Bench,
    rows: &Array2<f64>,
    batches: &[Batch],
    (half, whole): (f64, f64),
) -> Result<Vec<Claim>> {
    let growth = Growth::optimal(1.0, 0.9)?;
    let length = |delta: f64| {
        Ok::<f64, crate::error::Error>(
            as_printed::svrg_iterations(&growth, delta, 1.0 / 16.0)?.ceil(),
        )
    };
    let ratio = |batch: &Batch| batch.epochs[1] / batch.epochs[0];
    let largest_batch = batches.last().map_or(f64::NAN, ratio);
    let from = crossing()?;
    // Below the crossing the other way round: the worse of both sides, below 1 when all agree.
    let sided = largest(
        batches
            .iter()
            .map(|batch| if batch.size >= from { ratio(batch) } else { ratio(batch).recip() }),
    );
    // A and 2A are the same problem: the batch must not change.
    let double = Growth::optimal(2.0, 1.8)?;
    let printed = as_printed::svrg_batch(&double, 0.01, 1.0 / 16.0, 10, 4.0)?
        / as_printed::svrg_batch(&growth, 0.01, 1.0 / 16.0, 10, 1.0)?;
    let three_halves = as_printed::svrg_batch_three_halves(&double, 0.01, 1.0 / 16.0, 10, 4.0)?
        / as_printed::svrg_batch_three_halves(&growth, 0.01, 1.0 / 16.0, 10, 1.0)?;
    let scaled = scaled_errors(bench, rows)?;
    Ok(vec![
        Claim::new(
            "Figure 1(c), caption",
            "the epoch length T = 10 follows from Theorem 3 with δ = 1 % and c = 1/16",
            Check::between("⌈T⌉ by the theorem's formula", length(0.01)?, 10.0, 10.0),
        )
        .corrected(
            "4.10",
            "it follows with δ = .1 %",
            Check::between("⌈T⌉ with δ = .1 %", length(1e-3)?, 10.0, 10.0),
        ),
        Claim::new(
            "Figure 1(c); section 3.3",
            "the variance-reduced method with momentum reaches an accelerated linear convergence \
             with a batch much smaller than the data",
            Check::at_most(
                "epochs to 1e−12 with momentum over those without, the largest batch",
                largest_batch,
                0.75,
            ),
        ),
        Claim::new(
            "Table 1, VR Power+M",
            "it takes a batch of a size that the variance sets, and no larger one, to be \
             accelerated",
            Check::at_most(
                format!(
                    "epochs with momentum over those without for batches of at least {from} (where \
                     the exact recursion has both alike), the inverse for smaller ones, largest"
                ),
                sided,
                1.0,
            ),
        ),
        Claim::new(
            "section 3.3",
            "no noise ball: the batch does not depend on the error that is asked for",
            Check::at_most(
                "epochs to 1e−24 over epochs to 1e−12, batches of 1000",
                whole / half,
                2.5,
            ),
        ),
        Claim::new(
            "Theorem 3",
            "the batch s ≥ 32√d√β σ²/(c(λ₁² − 4β)δ) log(1/(cδ))",
            Check::at_most(
                "relative change of the formula's batch from A to 2A, which is the same run",
                (printed - 1.0).abs(),
                1e-9,
            ),
        )
        .corrected(
            "3.11",
            "with the power 3/2 of λ₁² − 4β, as in its own lemma and in Table 1",
            Check::at_most(
                "the same with 3/2, and the relative change of the error after three epochs",
                (three_halves - 1.0).abs().max((scaled - 1.0).abs()),
                1e-9,
            ),
        ),
    ])
}

/// The error of a run on 2A (and 4β) over that of the run on A, after three epochs.
fn scaled_errors(bench: &Bench, rows: &Array2<f64>) -> Result<f64> {
    let doubled = rows * 2.0_f64.sqrt();
    let until = Until::after(3 * EPOCH as u64);
    let start = basis(10, 1, bench.seed)?;
    let run = |rows: &Array2<f64>, beta: f64| {
        let method = VrMomentum::default().beta(beta).batch(1000).epoch(EPOCH as u64);
        let errors = course(method, &*gram(rows)?, &start, bench.seed, until)?;
        Ok::<f64, crate::error::Error>(errors.last().copied().unwrap_or(f64::NAN))
    };
    Ok(run(&doubled, 4.0 * BETA)? / run(rows, BETA)?)
}

fn plot(batches: &[Batch]) -> Plot {
    let points = |errors: &[f64]| (1_u32..).map(f64::from).zip(errors.iter().copied()).collect();
    let series = batches.iter().enumerate().flat_map(|(i, batch)| {
        let name = |method: &str| format!("{method}, s = {}", batch.size);
        [
            Series::new(name("VR power"), i, points(&batch.errors[0])),
            Series::new(name("VR Power+M"), i, points(&batch.errors[1])).dashed(),
        ]
    });
    Plot {
        lines: Lines {
            across: ("epochs".to_string(), false),
            up: ("sin²".to_string(), true),
            series: series.collect(),
            floor: None,
        },
        caption: "One run each; dashed: with momentum. There is no noise ball, and below some 500 \
                  rows momentum is the slower one."
            .to_string(),
    }
}

fn sheets(batches: &[Batch]) -> Vec<Sheet> {
    // A run that did not get there in 30 epochs is given as 31.
    let count = |epochs: f64| epochs.min((MOST + 1) as f64);
    let column = |name: &str, of: &dyn Fn(&Batch) -> f64| {
        (name.to_string(), batches.iter().map(of).collect::<Vec<f64>>())
    };
    let table = vec![
        column("VR power, epochs (31: not in 30)", &|batch| count(batch.epochs[0])),
        column("VR Power+M, epochs", &|batch| count(batch.epochs[1])),
        column("exact factor, power", &|batch| batch.exact[0]),
        column("exact factor, momentum", &|batch| batch.exact[1]),
    ];
    let names = batches.iter().map(|batch| format!("s = {}", batch.size)).collect();
    let mut sheets = vec![Sheet::table("fig1c_epochs", names, table)];
    for batch in batches {
        for (name, errors) in ["power", "momentum"].into_iter().zip(&batch.errors) {
            let epochs = (1..=errors.len()).map(|k| k as f64).collect();
            let columns = vec![("epoch".to_string(), epochs), ("sin2".to_string(), errors.clone())];
            sheets.push(Sheet::new(&format!("fig1c_{name}_s{}", batch.size), columns));
        }
    }
    sheets
}
