//! `favard kaczmarz`: a linear system by row projections.

use favard_models::Kaczmarz;
use favard_models::least_squares::Momentum;
use serde::Serialize;

use crate::Outcome;
use crate::args::KaczmarzArgs;
use crate::error::{Error, Result};
use crate::progress::{Progress, flow};
use crate::system::{Own, System, show};
use crate::watch::catch_interrupts;

/// The keys that only this command has.
#[derive(Serialize)]
struct Keys {
    batch: usize,
    blocks: bool,
    inconsistent: bool,
    /// Rows of A that were read, those of checks included.
    rows_read: f64,
}

pub fn run(args: &KaczmarzArgs) -> Result<Outcome> {
    let system = System::load(&args.system)?;
    system.check_saved(&args.system, &args.save)?;
    let (rows, _) = system.data.shape();
    // More rows than there are is a pass over all of them.
    let batch = args.batch.get().min(rows.max(1));
    let mut method = Kaczmarz::new()
        .inconsistent(args.inconsistent)
        .momentum(match (args.step, args.momentum) {
            (Some(step), Some(gamma)) => Momentum::Given { step, gamma },
            (None, Some(0.0)) => Momentum::Off,
            (None, Some(gamma)) => {
                let problem = format!("{gamma} without --step: give both, or 0 for none");
                return Err(Error::argument("--momentum", problem));
            }
            _ => Momentum::Auto,
        })
        .tolerance(args.system.tol)
        .passes(args.system.max_passes as f64)
        .seed(args.system.seed);
    method = if args.blocks { method.blocks(batch) } else { method.batch(batch) };
    catch_interrupts()?;
    let progress = Progress::new();
    let mut watch = |record: &_| {
        show(&progress, &args.system, record);
        flow()
    };
    let found = method
        .solve_saved(&system.data.rows(), &system.rhs, &args.save.checkpoints(), &mut watch)
        .map_err(Error::of(&system.data.name))?;
    let time = progress.finish();
    let rows_read = (found.info.passes * rows as f64).round();
    let (blocks, inconsistent) = (args.blocks, args.inconsistent);
    let keys = Keys { batch, blocks, inconsistent, rows_read };
    let line = format!("{rows_read} rows read, {batch} a step, of {rows}");
    let own = Own { keys, line: Some(line), intercept: false, save: &args.save };
    system.finish(&found, &args.system, own, time)
}
