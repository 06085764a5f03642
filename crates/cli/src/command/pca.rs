//! `favard pca`: principal components.

use std::path::Path;

use favard_models::Pca;
use favard_operator::Block;

use crate::Outcome;
use crate::args::PcaArgs;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::fit::{Fit, Run, check_memory, components};
use crate::watch::{Watcher, catch_interrupts};
use crate::{again, memory, output, shown};

pub fn run(args: &PcaArgs) -> Result<Outcome> {
    let fit = &args.fit;
    let _made = output::prepare(fit.output.as_deref())?;
    // It may be in that folder.
    output::check_place(fit.report.as_deref())?;
    let data = Data::load(fit.file.as_deref(), &fit.data)?;
    tracing::info!(shape = ?data.shape(), entries = data.entries(), "loaded");
    let earlier = match &args.start {
        Some(folder) => Some(earlier(folder, data.shape().1)?),
        None => None,
    };
    let mut pca = Pca::new(components(fit, &data))
        .center(!args.no_center)
        .scale(args.scale)
        .solver(fit.solver)
        .tolerance(fit.tol)
        .products(fit.max_passes)
        .seed(fit.seed);
    if let Some(batch) = fit.batch {
        pca = pca.batch(batch.get());
    }
    if let Some(beta) = fit.beta {
        pca = pca.beta(beta);
    }
    check_memory(fit, &data, || pca.memory(&data.rows()))?;
    let checkpoints = fit.save.checkpoints();
    catch_interrupts()?;
    let watcher = Watcher::new(fit);
    let x = data.rows();
    let fitted = {
        let mut watch = |record: &_| watcher.step(record);
        let fitting = pca.on(&x);
        let fitting = match &earlier {
            Some(columns) => fitting.start_from(columns),
            None => fitting,
        };
        let fitting = fitting.watch(&mut watch).checkpoints(&checkpoints);
        fitting.run().map_err(Error::of(&data.name))?
    };
    let run = Run { data: &data, args: fit, time: watcher.finish() };
    let found = run.pca(&fitted, (!args.no_center, args.scale)).map_err(Error::of(&data.name))?;
    let found = Fit { warm: earlier.is_some(), ..found };
    let outcome = output::finish(&found, &data, fit)?;
    let otherwise = go_on(fit.output.as_deref());
    again::say(&fit.save, &found.summary.stop, "--max-passes", &otherwise);
    Ok(outcome)
}

/// How an interrupted run that was not saved is taken up again.
fn go_on(folder: Option<&Path>) -> String {
    match folder {
        Some(folder) => {
            let folder = shown::one_line(&folder.display().to_string());
            format!("to go on from here, run the same command with --start {folder}")
        }
        None => "with --checkpoint FILE it could go on from here".to_string(),
    }
}

/// The components that an earlier run wrote.
fn earlier(folder: &Path, cols: usize) -> Result<Block<f64>> {
    let path = folder.join("components.npy");
    let name = path.display().to_string();
    let matrix = favard_io::read::<f64>(&path)?.matrix;
    let (dim, count) = matrix.shape();
    if count == 0 || count > dim {
        let problem = format!("{dim} × {count} are no components: expected a column for each");
        return Err(Error::argument(name, problem));
    }
    if dim != cols {
        return Err(Error::argument(name, format!("rows: expected {cols}, found {dim}")));
    }
    memory::check(&name, "a start of so many components", memory::vectors(dim, 2 * count))?;
    let vectors = matrix.into_dense().map_err(|kind| favard_io::Error::new(&path, kind))?;
    Ok(Block::from_fn(dim, count, |i, j| vectors.view()[[i, j]]))
}
