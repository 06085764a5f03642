//! How fast is least squares against scipy's `lsmr` and `lsqr`, and how many rows does Kaczmarz read?
//!
//! ```text
//! cargo bench -p favard-benches --bench least_squares -- [--rows N] [--rounds N] [--quick]
//!                                                        [--no-scipy] [--only PROBLEM]
//! ```
//!
//! Three sparse tall problems, one well-conditioned, two one-hot, each solved to a certificate of
//! 1e-8 on two threads by `Auto`, by conjugate gradients and by LSMR, and by scipy on the matrix
//! with the same column scaling, which scipy is given for free. The certificate ‖Aᵀr‖/(‖A‖‖r‖) of
//! every answer is recomputed with the same norm, and scipy runs with the loosest tolerance of a
//! ladder that reaches 1e-8. Rounds are interleaved and the best one counts.

mod data;
mod scipy;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use data::Data;
use favard_benches::Outcome;
use favard_models::least_squares::{Method, Momentum, Solution};
use favard_models::{Kaczmarz, LeastSquares};
use favard_operator::{AdjointOperator, Between, Block, ColumnMoments, LinearOperator, Workspace};
use scipy::Scipy;

const TOLERANCE: f64 = 1e-8;

/// The threads of the BLAS behind SciPy spin for some 30 ms after its last run, on cores that are needed.
const CALM: Duration = Duration::from_millis(100);

/// A problem of a given number of rows.
type Problem = fn(usize) -> favard_operator::Result<Data>;

struct Options {
    rows: usize,
    rounds: usize,
    scipy: bool,
    only: Option<String>,
}

fn options(args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { rows: 200_000, rounds: 7, scipy: true, only: None };
    let mut args = args;
    while let Some(flag) = args.next() {
        let mut number = || {
            let value = args.next().ok_or_else(|| format!("{flag}: a number is missing"))?;
            value.parse::<usize>().map_err(|_| format!("{flag}: {value} is no number"))
        };
        match flag.as_str() {
            "--rows" => options.rows = number()?.max(1000),
            "--rounds" => options.rounds = number()?.max(1),
            "--quick" => (options.rows, options.rounds) = (20_000, 2),
            "--no-scipy" => options.scipy = false,
            "--only" => options.only = Some(args.next().ok_or("--only: a name is missing")?),
            "--bench" => {}
            _ => return Err(format!("{flag}: not known")),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    if favard_benches::help(include_str!("main.rs")) {
        return ExitCode::SUCCESS;
    }
    let run = || -> Outcome<()> {
        let options = options(std::env::args().skip(1))?;
        rayon::ThreadPoolBuilder::new().num_threads(2).build_global()?;
        let asked = |name: &str| options.only.as_deref().is_none_or(|only| only == name);
        let problems: [(&str, Problem); 3] = [
            ("well", data::well),
            ("one-hot", data::independent),
            ("correlated", data::correlated),
        ];
        for (name, problem) in problems {
            if asked(name) {
                against_scipy(&problem(2 * options.rows)?, &options)?;
            }
        }
        if asked("consistent") {
            rows_read(5 * options.rows)?;
        }
        Ok(())
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// ‖Aᵀr‖ / (‖A‖ ‖r‖) with a given norm.
fn certificate(data: &Data, x: &Block<f64>, norm: f64) -> Outcome<f64> {
    let product = data.a.multiply(x.as_ref())?;
    let r = Block::from_fn(product.rows(), 1, |i, _| data.b.row(i)[0] - product.row(i)[0]);
    let g = data.a.multiply_adjoint(r.as_ref())?;
    let length =
        |block: &Block<f64>| block.as_ref().data().iter().map(|v| v * v).sum::<f64>().sqrt();
    Ok(length(&g) / norm / length(&r))
}

/// One line of the table.
#[derive(Clone)]
struct Line {
    name: String,
    seconds: f64,
    steps: f64,
    certificate: f64,
}

fn against_scipy(data: &Data, options: &Options) -> Outcome<()> {
    let (rows, cols) = data.a.shape();
    println!(
        "\n{}: {rows} × {cols}, {} entries, two threads, best of {}",
        data.name,
        data.a.entries(),
        options.rounds
    );
    let moments = data.a.column_moments()?;
    let square = |(s, m): (&f64, &f64)| (s + rows as f64 * m * m).sqrt();
    let mut scale: Vec<f64> = moments.squares.iter().zip(&moments.mean).map(square).collect();
    scale.iter_mut().filter(|s| **s == 0.0).for_each(|s| *s = 1.0);
    let mut scipy = match options.scipy.then(|| Scipy::start(data, &scale)) {
        None => None,
        Some(Ok(scipy)) => Some(scipy),
        Some(Err(error)) => {
            println!("scipy is not measured: {error}");
            None
        }
    };
    if let Some(scipy) = &scipy {
        println!("scipy {} on one thread, as it always runs", scipy.version);
    }
    let methods = [
        ("Auto", Method::Auto, 2),
        ("Cg", Method::Cg, 2),
        ("Cg, 1 thread", Method::Cg, 1),
        ("Lsmr", Method::Lsmr, 2),
    ];
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut lines: Vec<Line> = Vec::new();
    let mut best = |name: &str, seconds: f64, steps: f64, certificate: f64| match lines
        .iter_mut()
        .find(|line| line.name == name)
    {
        Some(line) => line.seconds = line.seconds.min(seconds),
        None => lines.push(Line { name: name.into(), seconds, steps, certificate }),
    };
    let mut auto: Option<Solution<f64>> = None;
    let mut loosest = [None; 2];
    for _ in 0..options.rounds {
        if scipy.is_some() {
            std::thread::sleep(CALM);
        }
        for (name, method, threads) in methods {
            // The norms of the columns are part of the time.
            let plan = LeastSquares::new().method(method).tolerance(TOLERANCE);
            let fit = || {
                let start = Instant::now();
                plan.fit(&data.a, &data.b).map(|found| (found, start.elapsed().as_secs_f64()))
            };
            let (found, seconds) = if threads == 1 { alone.install(fit) } else { fit() }?;
            let truth = certificate(data, &found.x, found.norm)?;
            best(name, seconds, found.info.iterations as f64, truth);
            auto.get_or_insert(found);
        }
        let norm = auto.as_ref().map_or(1.0, |found| found.norm);
        if let Some(scipy) = scipy.as_mut() {
            for (method, loosest) in ["lsmr", "lsqr"].into_iter().zip(&mut loosest) {
                let tolerance = match *loosest {
                    Some(tolerance) => tolerance,
                    None => *loosest.insert(reach(data, scipy, method, norm)?),
                };
                let (seconds, steps) = scipy.solve(method, tolerance)?;
                let truth = certificate(data, &scipy.solution()?, norm)?;
                best(&format!("scipy {method}"), seconds, steps, truth);
            }
        }
    }
    let ours = lines.first().map_or(f64::NAN, |line| line.seconds);
    println!(
        "{:12} {:>9} {:>7} {:>12} {:>12}",
        "method", "seconds", "steps", "certificate", "Auto is"
    );
    for Line { name, seconds, steps, certificate } in lines {
        let ratio = seconds / ours;
        println!("{name:12} {seconds:9.3} {steps:7} {certificate:12.1e} {ratio:11.2}×");
    }
    if let Some(found) = auto {
        println!("Auto: {}", found.reason);
        shares(data, &scale, &found, ours)?;
    }
    Ok(())
}

/// The loosest tolerance of scipy's, in half decades around 1e-8, with which the answer has the
/// certificate.
fn reach(data: &Data, scipy: &mut Scipy, method: &str, norm: f64) -> Outcome<f64> {
    let value = |step: i32| 10f64.powf(-f64::from(step) / 2.0);
    let mut reaches = |step: i32| -> Outcome<bool> {
        scipy.solve(method, value(step))?;
        Ok(certificate(data, &scipy.solution()?, norm)? <= TOLERANCE)
    };
    let mut step = 16;
    if reaches(step)? {
        while step > 8 && reaches(step - 1)? {
            step -= 1;
        }
    } else {
        step += 1;
        while !reaches(step)? {
            step += 1;
            if step > 30 {
                return Err(format!("scipy {method} does not reach {TOLERANCE:e}").into());
            }
        }
    }
    println!("scipy {method}: atol = btol = {:.1e}", value(step));
    Ok(value(step))
}

/// Seconds of the fastest of five calls.
fn fastest(mut call: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        call()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// Where Auto's time goes: its parts, each timed alone, as shares of the whole.
fn shares(data: &Data, scale: &[f64], found: &Solution<f64>, whole: f64) -> Outcome<()> {
    let cols = data.a.shape().1;
    let (x, mut ws) = (Block::<f64>::gaussian(cols, 1, 7), Workspace::new());
    let mut y = Block::zeros(cols, 1);
    let product = fastest(|| {
        let between = Between::default();
        Ok(data.a.apply_normal(1.0, x.as_ref(), between, 0.0, y.as_mut(), &mut ws)?)
    })?;
    let scaling = fastest(|| data.a.column_moments().map(|_| ()).map_err(Into::into))?;
    let check = fastest(|| certificate(data, &x, 1.0).map(|_| ()))?;
    let steps = found.info.iterations as f64;
    let parts = [
        ("normal products", steps * product),
        ("norms of the columns", scaling),
        ("Aᵀb and the certificate", 1.5 * check),
    ];
    let sum: f64 = parts.iter().map(|part| part.1).sum();
    for (name, seconds) in parts.into_iter().chain([("vectors and the rest", whole - sum)]) {
        println!("  {name:26} {seconds:8.4} s {:5.1} %", 100.0 * seconds / whole);
    }
    println!("  a normal product takes {:.2} ms, {} columns", 1e3 * product, scale.len());
    Ok(())
}

/// Rows read by Kaczmarz on a consistent system, in passes, against methods that make whole passes.
fn rows_read(rows: usize) -> Outcome<()> {
    let data = data::consistent(rows, 100)?;
    println!("\nconsistent: {rows} × 100, 10 entries a row, ‖Ax − b‖ ≤ 1e-8 ‖b‖");
    println!(
        "{:34} {:>8} {:>12} {:>12} {:>9}",
        "method", "passes", "rows read", "in steps", "seconds"
    );
    let print = |name: &str, batch: usize, found: &Solution<f64>, seconds: f64| {
        let passes = found.info.passes;
        let read = passes * rows as f64;
        let steps = found.info.iterations * batch as u64;
        let mark = if found.is_certified() { "" } else { "  not certified" };
        println!("{name:34} {passes:8.2} {read:12.0} {steps:12} {seconds:9.3}{mark}");
    };
    for batch in [1, 16, 64, 256] {
        for (name, momentum) in [("momentum", Momentum::Auto), ("plain", Momentum::Off)] {
            let start = Instant::now();
            let plan = Kaczmarz::new().batch(batch).momentum(momentum).tolerance(TOLERANCE);
            let found = plan.solve(&data.a, &data.b)?;
            let seconds = start.elapsed().as_secs_f64();
            print(&format!("Kaczmarz, batches of {batch}, {name}"), batch, &found, seconds);
        }
    }
    for (name, method) in [
        ("conjugate gradients", Method::Cg),
        ("LSMR", Method::Lsmr),
        ("heavy ball", Method::HeavyBall { bounds: None }),
        ("Auto", Method::Auto),
    ] {
        let start = Instant::now();
        let found =
            LeastSquares::new().method(method).tolerance(TOLERANCE).fit(&data.a, &data.b)?;
        print(name, rows, &found, start.elapsed().as_secs_f64());
    }
    println!(
        "(Kaczmarz: one pass for the norms of the rows, two for the certificate, a sample for ω)"
    );
    Ok(())
}
