//! `favard lstsq`: linear least squares.

use favard_models::LeastSquares;
use favard_models::least_squares::Method;
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

pub fn run(args: &LstsqArgs) -> Result<Outcome> {
    let system = System::load(&args.system)?;
    let mut problem = LeastSquares::new()
        .method(match args.method {
            LstsqMethod::Auto => Method::Auto,
            LstsqMethod::Direct => Method::Direct,
            LstsqMethod::Cg => Method::Cg,
            LstsqMethod::Lsmr => Method::Lsmr,
            LstsqMethod::HeavyBall => Method::HeavyBall { bounds: None },
            LstsqMethod::Chebyshev => Method::Chebyshev { bounds: None },
        })
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
    let found = problem
        .fit_saved(&system.data.rows(), &system.rhs, &args.save.checkpoints(), &mut watch)
        .map_err(Error::of(&system.data.name))?;
    let time = progress.finish();
    let keys = Keys {
        ridge: args.ridge,
        intercept: args.intercept.then(|| found.intercept.clone()),
        weighted: args.weights.is_some(),
    };
    let own = Own { keys, line: None, intercept: args.intercept, save: &args.save };
    system.finish(&found, &args.system, own, time)
}
