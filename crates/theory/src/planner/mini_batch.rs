//! The plan of a single mini-batch run.

use super::{Estimates, Pair, Pessimism, Quantity, Recipe, Target, affordable, beta, times};
use crate::{
    check,
    deterministic::{Growth, tan2},
    error::Result,
    minibatch::MiniBatch,
    momentum::Start,
    noise_ball::ball_coefficient,
};

/// Steps until the noiseless error is $\epsilon/2$; the other half is for the noise ball.
pub(super) fn practical_iterations(
    growth: &Growth,
    estimates: &Estimates,
    target: &Target,
) -> Result<usize> {
    growth.iterations(Start::U, tan2(estimates.cos2)?, target.epsilon / 2.0)
}

/// Both recipes.
pub(super) fn pair(
    growth: &Growth,
    estimates: &Estimates,
    target: &Target,
    ticks: usize,
    breaking: f64,
) -> Result<Pair> {
    let practical = practical(growth, estimates, target, ticks, breaking)?;
    let guaranteed = guaranteed(growth, estimates, target, &practical);
    Ok(Pair { practical, guaranteed })
}

fn practical(
    growth: &Growth,
    estimates: &Estimates,
    target: &Target,
    ticks: usize,
    breaking: f64,
) -> Result<Recipe> {
    // E v² ≤ C/s with all of Σκ at λ₂, where the coefficient is largest.
    let constant = estimates.kappa * ball_coefficient(growth, growth.lambda2())?;
    let for_ball = 2.0 * constant / target.epsilon;
    // The relative variance must stay below 1 during the run as well.
    let for_mean = estimates.sigma_norm / breaking;
    let batch = check::ceil_count("batch", for_ball.max(for_mean))?.max(1);
    let leading = Pessimism::LeadingOrder;
    let formula = if for_ball >= for_mean { "2C/ε" } else { "‖Σ‖ over its breaking point" };
    Ok(Recipe {
        beta: beta(growth),
        iterations: Quantity {
            value: ticks as f64,
            formula: "min{t : tan²θ₀ · ((t+1)/U_t(z))² ≤ ε/2}",
            source: "Theorem 1, errata 1.1 and 2.4",
            pessimism: Pessimism::Exact,
        },
        batch: Quantity {
            value: batch as f64,
            formula,
            source: "AR(2) noise ball",
            pessimism: leading,
        },
        epochs: one_epoch(),
        passes: passes(estimates, ticks, batch, leading),
        noise_ball: ball(constant, batch),
    })
}

fn guaranteed(
    growth: &Growth,
    estimates: &Estimates,
    target: &Target,
    practical: &Recipe,
) -> Result<Recipe> {
    // The theorem needs |u₁ᵀw₀| ≥ ½ and fails with probability 2δ.
    check::within("cos2", estimates.cos2, 0.25, 1.0)?;
    let demand = MiniBatch::new(growth, target.delta / 2.0, target.epsilon)?;
    let batch = demand.batch(estimates.s_op)?;
    affordable(batch, target)?;
    let ticks = demand.iterations();
    let pessimism = times(batch as f64, practical.batch.value);
    let constant = estimates.kappa * ball_coefficient(growth, growth.lambda2())?;
    Ok(Recipe {
        beta: beta(growth),
        iterations: Quantity {
            value: ticks as f64,
            formula: "min{t : (U_t(z)/(t+1))² ≥ 32/(δε)}, failing with probability 2δ",
            source: "Theorem nonsvrg, erratum 3.8",
            pessimism: times(ticks as f64, practical.iterations.value),
        },
        batch: Quantity {
            value: batch as f64,
            formula: "64 T s_op/(Dδε)",
            source: "Corollary nonsvrg, errata 3.5, 3.7 and 3.8",
            pessimism,
        },
        epochs: one_epoch(),
        passes: passes(estimates, ticks, batch, pessimism),
        noise_ball: ball(constant, batch),
    })
}

fn one_epoch() -> Quantity {
    let (formula, source) = ("a single run", "Algorithm 1");
    Quantity { value: 1.0, formula, source, pessimism: Pessimism::Exact }
}

fn passes(
    estimates: &Estimates,
    ticks: usize,
    batch: usize,
    pessimism: Pessimism,
) -> Option<Quantity> {
    estimates.terms.map(|terms| Quantity {
        value: ticks as f64 * batch as f64 / terms as f64,
        formula: "T s/n",
        source: "one batch a step",
        pessimism,
    })
}

fn ball(constant: f64, batch: usize) -> Quantity {
    Quantity {
        value: constant / batch as f64,
        formula: "(1/s) Σκ (1−a₂)/(μ²(1+a₂)((1−a₂)²−a₁²)), a₁ = λ₂/μ, a₂ = −β/μ²",
        source: "AR(2) noise ball",
        pessimism: Pessimism::LeadingOrder,
    }
}
