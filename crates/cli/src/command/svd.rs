//! `favard svd`: singular values and vectors.

use favard_models::TruncatedSvd;

use crate::Outcome;
use crate::args::SvdArgs;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::fit::{Run, components};
use crate::output;
use crate::watch::{Watcher, catch_interrupts, interrupted};

pub fn run(args: &SvdArgs) -> Result<Outcome> {
    let fit = &args.fit;
    output::prepare(fit.output.as_deref())?;
    let data = Data::load(fit.file.as_deref())?;
    tracing::info!(shape = ?data.shape(), entries = data.entries(), "loaded");
    let mut svd = TruncatedSvd::new(components(fit, &data))
        .solver(fit.solver)
        .tolerance(fit.tol)
        .products(fit.max_passes)
        .seed(fit.seed);
    if let Some(batch) = fit.batch {
        svd = svd.batch(batch.get());
    }
    if let Some(beta) = fit.beta {
        svd = svd.beta(beta);
    }
    catch_interrupts()?;
    let mut watcher = Watcher::new(fit);
    let found = svd
        .fit_watched(&data.rows(), &mut |record| watcher.step(record))
        .map_err(Error::of(&data.name))?;
    let run = Run { data: &data, args: fit, time: watcher.finish() };
    let outcome = output::finish(&run.svd(&found).map_err(Error::of(&data.name))?, &data, fit)?;
    if interrupted() {
        eprintln!("favard: interrupted; these are the vectors found so far");
    }
    Ok(outcome)
}
