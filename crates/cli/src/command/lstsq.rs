//! `favard lstsq`: linear least squares.

use std::num::NonZeroUsize;

use favard_models::LeastSquares;
use favard_models::least_squares::{Method, Sampled};
use serde::Serialize;

use crate::Outcome;
use crate::args::{LstsqArgs, LstsqMethod};
use crate::error::{Error, Result};
use crate::progress::{Progress, flow};
use crate::system::{Own, System, columns, show};
use crate::watch::catch_interrupts;

/// The keys that only this command has.
#[derive(Serialize)]
struct Keys {
    ridge: f64,
    /// One for each right-hand side; `null` unless asked for.
    intercept: Option<Vec<f64>>,
    weighted: bool,
}

/// How the system is solved: by products with the whole matrix, or by a few rows a step.
enum Way {
    Whole(Method),
    Rows(Sampled),
}

/// Rows of a step unless given.
const BATCH: usize = 64;

impl Way {
    /// The way that is asked for.
    fn new(args: &LstsqArgs) -> Result<Self> {
        let batch = args.batch.map_or(BATCH, NonZeroUsize::get);
        let method = match args.method {
            LstsqMethod::Auto => Method::Auto,
            LstsqMethod::Direct => Method::Direct,
            LstsqMethod::Cg => Method::Cg,
            LstsqMethod::Lsmr => Method::Lsmr,
            LstsqMethod::HeavyBall => Method::HeavyBall { bounds: None },
            LstsqMethod::Chebyshev => Method::Chebyshev { bounds: None },
            LstsqMethod::Minibatch => return Ok(Self::Rows(Sampled::mini_batch(batch))),
            LstsqMethod::Svrg => return Ok(Self::Rows(Sampled::svrg(batch))),
        };
        match args.batch {
            None => Ok(Self::Whole(method)),
            Some(batch) => {
                let problem = format!("{batch} is for --method minibatch and svrg");
                Err(Error::argument("--batch", problem))
            }
        }
    }
}

pub fn run(args: &LstsqArgs) -> Result<Outcome> {
    let way = Way::new(args)?;
    let system = System::load(&args.system)?;
    if matches!(way, Way::Rows(_)) {
        system.check_saved(&args.system, &args.save)?;
    }
    let mut problem = LeastSquares::new()
        .ridge(args.ridge)
        .intercept(args.intercept)
        .tolerance(args.system.tol)
        .passes(args.system.max_passes as f64)
        .seed(args.system.seed);
    if let Some(path) = &args.weights {
        let rows = system.data.shape().0;
        let (weights, _) = columns(path, &args.system.data.read, rows, Some(1))?;
        problem = problem.weights(weights.column(0).to_vec());
    }
    catch_interrupts()?;
    let progress = Progress::new();
    let mut watch = |record: &_| {
        show(&progress, &args.system, record);
        flow()
    };
    let (rows, rhs, saved) = (&system.data.rows(), &system.rhs, &args.save.checkpoints());
    let found = match &way {
        Way::Whole(method) => problem.method(*method).fit_saved(rows, rhs, saved, &mut watch),
        Way::Rows(sampled) => problem.solve_rows_saved(rows, rhs, sampled, saved, &mut watch),
    };
    let found = found.map_err(Error::of(&system.data.name))?;
    let time = progress.finish();
    let keys = Keys {
        ridge: args.ridge,
        intercept: args.intercept.then(|| found.intercept.clone()),
        weighted: args.weights.is_some(),
    };
    let own = Own { keys, line: None, intercept: args.intercept, save: &args.save };
    system.finish(&found, &args.system, own, time)
}
