//! The plan of a variance-reduced run.

use super::{Estimates, Pair, Pessimism, Quantity, Recipe, Target, affordable, beta, times};
use crate::{
    check,
    deterministic::{Growth, tan2},
    epoch_bound::{MAX_TICKS, Spread, epoch_factor_bound},
    error::{ErrorKind, Result},
    momentum::Start,
    variance_reduced::VarianceReduced,
};

/// The noiseless factor a practical epoch aims at.
///
/// At Δ = 0.1 it gives T = 10, the length the epoch-length sweep found best; longer epochs let the noise
/// grow, shorter ones pay for the full product too often.
const EPOCH_FACTOR: f64 = 4e-3;

/// $c=1/49$: the largest constant for which an epoch gains the factor 9 that the paper promises.
const C: f64 = 1.0 / 49.0;

/// Both recipes.
pub(super) fn pair(
    growth: &Growth,
    estimates: &Estimates,
    target: &Target,
    terms: usize,
) -> Result<Pair> {
    let practical = practical(growth, estimates, target, terms)?;
    let guaranteed = guaranteed(growth, estimates, target, terms, &practical);
    Ok(Pair { practical, guaranteed })
}

fn practical(
    growth: &Growth,
    estimates: &Estimates,
    target: &Target,
    terms: usize,
) -> Result<Recipe> {
    let ticks = check::first_count("epoch length", 1, MAX_TICKS, |tick| {
        Ok(growth.ln_envelope(Start::U, tick)? <= EPOCH_FACTOR.ln())
    })?;
    let factor = |batch: usize| {
        epoch_factor_bound(growth, estimates.s_op / batch as f64, ticks, Spread::Flat)
    };
    // The smallest batch whose noise at most doubles the noiseless factor, or the largest there is.
    let noiseless = epoch_factor_bound(growth, 0.0, ticks, Spread::Flat)?;
    let wanted = |batch: usize| Ok(factor(batch).is_ok_and(|f| f <= 2.0 * noiseless));
    let ideal = check::first_count("batch", 1, check::MAX_COUNT, wanted)?;
    let batch = target.largest_batch.map_or(ideal, |largest| ideal.min(largest));
    let gain = factor(batch)?;
    if gain >= 1.0 {
        // s_op/batch at which an epoch stops contracting, found on the batch axis.
        let contracts = |batch: usize| Ok(factor(batch).is_ok_and(|f| f < 1.0));
        let needed = check::first_count("batch", 1, check::MAX_COUNT, contracts)?;
        let (variance, breaking) = (estimates.s_op / batch as f64, estimates.s_op / needed as f64);
        let name = "s_op / batch";
        return Err(ErrorKind::BeyondBreakingPoint { name, variance, breaking }.into());
    }
    let distance = (tan2(estimates.cos2)?.ln() - target.epsilon.ln()).max(0.0);
    let epochs = check::ceil_count("epochs", distance / -gain.ln())?.max(1);
    let leading = Pessimism::LeadingOrder;
    Ok(Recipe {
        beta: beta(growth),
        iterations: Quantity {
            value: ticks as f64,
            formula: "min{t : ((t+1)/U_t(z))² ≤ 1/250}",
            source: "erratum 1.1 and the epoch-length sweep",
            pessimism: leading,
        },
        batch: Quantity {
            value: batch as f64,
            formula: "min{s : epoch factor ≤ 2 · noiseless factor}",
            source: "epoch factor of a flat spectrum, erratum 3.7",
            pessimism: leading,
        },
        epochs: Quantity {
            value: epochs as f64,
            formula: "⌈ln(tan²θ₀/ε)/ln(1/factor)⌉",
            source: "exact epoch recursion",
            pessimism: leading,
        },
        passes: Some(passes(epochs, ticks, batch, terms, leading)),
        noise_ball: no_ball(),
    })
}

fn guaranteed(
    growth: &Growth,
    estimates: &Estimates,
    target: &Target,
    terms: usize,
    practical: &Recipe,
) -> Result<Recipe> {
    // The theorem needs θ₀ ≤ ½ and fails with probability 2Kδ.
    check::within("cos2", estimates.cos2, 0.5, 1.0)?;
    let theta = (1.0 - estimates.cos2).max(f64::MIN_POSITIVE);
    let epochs =
        VarianceReduced::new(growth, target.delta, C)?.epochs(theta, target.epsilon)?.max(1);
    let demand = VarianceReduced::new(growth, target.delta / (2.0 * epochs as f64), C)?;
    let batch = demand.batch(estimates.s_op)?;
    affordable(batch, target)?;
    let ticks = demand.iterations();
    let pessimism = times(batch as f64, practical.batch.value);
    Ok(Recipe {
        beta: beta(growth),
        iterations: Quantity {
            value: ticks as f64,
            formula: "min{t : (U_t(z)/(t+1))² ≥ 1/(cδ)}, c = 1/49, failing with probability 2Kδ",
            source: "Theorem svrg, errata 3.8 and 3.10",
            pessimism: times(ticks as f64, practical.iterations.value),
        },
        batch: Quantity {
            value: batch as f64,
            formula: "8 T s_op/(Dcδ)",
            source: "Theorem svrg, errata 3.5, 3.7, 3.10 and 3.11",
            pessimism,
        },
        epochs: Quantity {
            value: epochs as f64,
            formula: "⌈ln(θ₀/ε)/ln(1/q)⌉, q = 4c/(1−√c)² = 1/9",
            source: "Theorem svrg, erratum 3.11",
            pessimism: times(epochs as f64, practical.epochs.value),
        },
        passes: Some(passes(epochs, ticks, batch, terms, pessimism)),
        noise_ball: no_ball(),
    })
}

fn passes(
    epochs: usize,
    ticks: usize,
    batch: usize,
    terms: usize,
    pessimism: Pessimism,
) -> Quantity {
    Quantity {
        value: epochs as f64 * (1.0 + ticks as f64 * batch as f64 / terms as f64),
        formula: "K (1 + T s/n)",
        source: "one full product an epoch, one batch a step",
        pessimism,
    }
}

fn no_ball() -> Quantity {
    Quantity {
        value: 0.0,
        formula: "the noise vanishes with the distance to the anchor",
        source: "Lemma svrgvar",
        pessimism: Pessimism::Exact,
    }
}
