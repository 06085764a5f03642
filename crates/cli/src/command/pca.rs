//! `favard pca`: principal components.

use std::path::Path;

use favard_models::{Pca, PcaFit, Solver};
use favard_operator::Dense;
use ndarray::Array2;

use crate::Outcome;
use crate::args::PcaArgs;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::fit::{Run, components};
use crate::watch::{Watcher, catch_interrupts};
use crate::{again, output, shown};

pub fn run(args: &PcaArgs) -> Result<Outcome> {
    let fit = &args.fit;
    output::prepare(fit.output.as_deref())?;
    let data = Data::load(fit.file.as_deref())?;
    tracing::info!(shape = ?data.shape(), entries = data.entries(), "loaded");
    let earlier = match &args.start {
        Some(folder) => Some(earlier(folder)?),
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
    let checkpoints = again::checkpoints(fit);
    catch_interrupts()?;
    let mut watcher = Watcher::new(fit);
    let x = data.rows();
    let found = {
        let mut watch = |record: &_| watcher.step(record);
        let fitting = pca.on(&x);
        let fitting = match &earlier {
            Some(earlier) => fitting.start(earlier),
            None => fitting,
        };
        let fitting = fitting.watch(&mut watch).checkpoints(&checkpoints);
        fitting.run().map_err(Error::of(&data.name))?
    };
    let run = Run { data: &data, args: fit, time: watcher.finish() };
    let found = run.pca(&found).map_err(Error::of(&data.name))?;
    let outcome = output::finish(&found, &data, fit)?;
    again::say(fit, &found.summary.stop, &go_on(fit.output.as_deref()));
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

/// The components that an earlier run wrote, as a fit that another can start from: the fit to the
/// rows $c_j v_j^T$, of which they are the components whatever $c_1 > c_2 > \dots$ are.
fn earlier(folder: &Path) -> Result<PcaFit<f64>> {
    let path = folder.join("components.npy");
    let name = path.display().to_string();
    let vectors = favard_io::read::<f64>(&path)?.matrix.into_dense().map_err(Error::of(&name))?;
    let (dim, count) = vectors.view().dim();
    if count == 0 || count > dim {
        let problem = format!("{dim} × {count} are no components: expected a column for each");
        return Err(Error::argument(name, problem));
    }
    // Another row, of zeros: one alone has no variance.
    let rows = Array2::from_shape_fn((count + 1, dim), |(j, i)| {
        if j == count { 0.0 } else { (2 * count - j) as f64 * vectors.view()[[i, j]] }
    });
    let rows = Dense::new(rows).map_err(Error::of(&name))?;
    let pca = Pca::new(count).center(false).solver(Solver::Exact);
    pca.fit(&rows).map_err(Error::of(&name))
}
