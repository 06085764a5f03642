//! `favard plan`: what to run, practical and guaranteed side by side.

use std::fmt::Write;

use favard_models::{Effort, estimate};
use favard_theory::planner::{Estimates, Pair, Quantity, Recipe, Target, plan};
use serde::Serialize;

use crate::Outcome;
use crate::args::PlanArgs;
use crate::covariance::Covariance;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::{memory, shown};

/// What `--json` prints.
#[derive(Serialize)]
struct Answer {
    estimates: Known,
    epsilon: f64,
    delta: f64,
    breaking_variance: f64,
    mini_batch: Both,
    /// `null` without a number of rows.
    variance_reduced: Option<Both>,
}

/// The numbers that the plan is made from.
#[derive(Serialize)]
struct Known {
    lambda1: f64,
    lambda2: f64,
    dim: usize,
    sigma_norm: f64,
    s_op: f64,
    kappa: f64,
    rows: Option<usize>,
    cos2: f64,
    /// Of λ₁ and λ₂, where they were estimated.
    residuals: Option<[f64; 2]>,
}

/// Practical and guaranteed.
#[derive(Serialize)]
struct Both {
    practical: Numbers,
    guaranteed: Option<Numbers>,
    /// Why there is no guarantee.
    why_not: Option<String>,
}

#[derive(Serialize)]
struct Numbers {
    beta: f64,
    iterations: f64,
    batch: f64,
    epochs: f64,
    passes: Option<f64>,
    noise_ball: f64,
}

pub fn run(args: &PlanArgs) -> Result<Outcome> {
    let (about, estimates, residuals) = known(args)?;
    let target =
        Target { largest_batch: args.largest_batch, ..Target::new(args.epsilon, args.delta) };
    let found = plan(&estimates, &target)?;
    if args.json {
        let Estimates { lambda1, lambda2, dim, sigma_norm, s_op, kappa, terms, cos2, .. } =
            estimates;
        let rows = terms;
        shown::print_json(&Answer {
            estimates: Known {
                lambda1,
                lambda2,
                dim,
                sigma_norm,
                s_op,
                kappa,
                rows,
                cos2,
                residuals,
            },
            epsilon: args.epsilon,
            delta: args.delta,
            breaking_variance: found.breaking_variance.value,
            mini_batch: both(&found.mini_batch),
            variance_reduced: found.variance_reduced.as_ref().map(both),
        })?;
        return Ok(Outcome::Met);
    }
    let mut text = about;
    let breaking = &found.breaking_variance;
    let end = format!("the mini-batch run survives ‖Σ‖ of a step up to {breaking}\n");
    describe(&mut text, "mini-batches, one run", &found.mini_batch)
        .and_then(|()| match &found.variance_reduced {
            Some(pair) => describe(&mut text, "variance-reduced, epochs with an anchor", pair),
            None => Ok(()),
        })
        .map_err(std::io::Error::other)?;
    shown::print(&(text + &end))?;
    Ok(Outcome::Met)
}

/// The numbers given, or those of a file, and a line about them.
fn known(args: &PlanArgs) -> Result<(String, Estimates, Option<[f64; 2]>)> {
    let (start, mut estimates, residuals) = match (&args.file, args.lambda1, args.lambda2) {
        (None, Some(lambda1), Some(lambda2)) => {
            let (dim, s_op) = (args.dim, args.noise);
            let given =
                Estimates { lambda1, lambda2, dim, s_op, terms: args.rows, ..Estimates::default() };
            // Each is at most s_op.
            let bounded =
                Estimates { sigma_norm: s_op, kappa: s_op, cos2: 1.0 / dim.max(1) as f64, ..given };
            ("given".to_string(), bounded, None)
        }
        (Some(path), None, None) => {
            let data = Data::load(Some(path), &args.data)?;
            // Blocks of 8 under momentum and its QR, and samples of the noise, 64 side by side.
            let blocks = 15 * 8 + 3 * 64;
            let needed = memory::vectors(data.shape().1, blocks);
            memory::check(&data.name, "the estimates", needed)?;
            let covariance = Covariance::new(&data, !args.no_center, args.scale)?;
            let effort = Effort { seed: args.seed, ..Effort::default() };
            let found = estimate(&covariance.gram()?, &effort).map_err(Error::of(&data.name))?;
            let start = format!("{}\nestimated in {:.1} passes", data.about(), found.passes);
            (start, found.estimates, Some(found.residuals))
        }
        _ => {
            let problem = "give either FILE, or --lambda1 and --lambda2";
            return Err(Error::argument("spectrum", problem));
        }
    };
    if let Some(kappa) = args.kappa {
        estimates.kappa = kappa;
    }
    if let Some(cos2) = args.cos2 {
        estimates.cos2 = cos2;
    }
    let Estimates { lambda1, lambda2, s_op, kappa, cos2, .. } = estimates;
    let about = format!(
        "{start}: λ₁ = {}, λ₂ = {}, noise of one row s_op = {}, κ = {}, cos² of the start = {}\n\
         asked for: sin² ≤ {:e} with probability {}\n",
        shown::number(lambda1),
        shown::number(lambda2),
        shown::number(s_op),
        shown::number(kappa),
        shown::number(cos2),
        args.epsilon,
        1.0 - args.delta,
    );
    Ok((about, estimates, residuals))
}

fn both(pair: &Pair) -> Both {
    let numbers = |recipe: &Recipe| Numbers {
        beta: recipe.beta.value,
        iterations: recipe.iterations.value,
        batch: recipe.batch.value,
        epochs: recipe.epochs.value,
        passes: recipe.passes.map(|passes| passes.value),
        noise_ball: recipe.noise_ball.value,
    };
    Both {
        practical: numbers(&pair.practical),
        guaranteed: pair.guaranteed.as_ref().ok().map(numbers),
        why_not: pair.guaranteed.as_ref().err().map(ToString::to_string),
    }
}

/// A name and how to find its number in a recipe.
type Line = (&'static str, fn(&Recipe) -> Option<Quantity>);

/// A table: one line for each number, practical and guaranteed, and the practical formula.
fn describe(text: &mut String, title: &str, pair: &Pair) -> std::fmt::Result {
    writeln!(
        text,
        "\n{title}\n{:<12}{:>12}{:>12}  practical formula",
        "", "practical", "guaranteed"
    )?;
    let numbers: [Line; 6] = [
        ("β", |recipe| Some(recipe.beta)),
        ("steps", |recipe| Some(recipe.iterations)),
        ("batch", |recipe| Some(recipe.batch)),
        ("epochs", |recipe| Some(recipe.epochs)),
        ("passes", |recipe| recipe.passes),
        ("noise ball", |recipe| Some(recipe.noise_ball)),
    ];
    for (name, of) in numbers {
        let Some(practical) = of(&pair.practical) else { continue };
        let value = |recipe| of(recipe).map(|quantity| shown::number(quantity.value));
        let guaranteed = pair.guaranteed.as_ref().ok().and_then(value);
        writeln!(
            text,
            "{name:<12}{:>12}{:>12}  {} ({})",
            shown::number(practical.value),
            guaranteed.unwrap_or_else(|| "–".to_string()),
            practical.formula,
            practical.pessimism,
        )?;
    }
    if let Err(error) = &pair.guaranteed {
        writeln!(text, "no guarantee: {error}")?;
    }
    Ok(())
}
