//! `favard svd`: singular values and vectors.

use favard_models::TruncatedSvd;

use crate::Outcome;
use crate::args::SvdArgs;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::fit::{Run, check_memory, components};
use crate::watch::{Watcher, catch_interrupts};
use crate::{again, output};

pub fn run(args: &SvdArgs) -> Result<Outcome> {
    let fit = &args.fit;
    let _made = output::prepare(fit.output.as_deref())?;
    // It may be in that folder.
    output::check_place(fit.report.as_deref())?;
    let data = Data::load(fit.file.as_deref(), &fit.data)?;
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
    check_memory(fit, &data, || svd.memory(&data.rows()))?;
    let checkpoints = fit.save.checkpoints();
    catch_interrupts()?;
    let watcher = Watcher::new(fit);
    let x = data.rows();
    let found = {
        let mut watch = |record: &_| watcher.step(record);
        let fitting = svd.on(&x).watch(&mut watch).checkpoints(&checkpoints);
        fitting.run().map_err(Error::of(&data.name))?
    };
    let run = Run { data: &data, args: fit, time: watcher.finish() };
    let found = run.svd(&found).map_err(Error::of(&data.name))?;
    let outcome = output::finish(&found, &data, fit)?;
    let otherwise = "with --checkpoint FILE it could go on from here";
    again::say(&fit.save, &found.summary.stop, "--max-passes", otherwise);
    Ok(outcome)
}
