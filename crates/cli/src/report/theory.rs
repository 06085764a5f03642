//! What the theory says about the course of a fit.

use favard_engine::Record;
use favard_models::Solver;
use favard_theory::{Growth, Start};

use super::sampled;
use crate::args::FitArgs;
use crate::data::Data;
use crate::error::Result;
use crate::fit::Fit;

/// The predicted course, or why there is none.
pub enum Prediction {
    /// Passes and relative residuals, and the formula.
    Line(Vec<(f64, f64)>, String),
    /// A relative residual below which a run does not come, and the formula.
    Level(f64, String),
    /// Passes and relative residuals without the noise that records of sampled solvers have, and the
    /// formula.
    Bound(Vec<(f64, f64)>, String),
    None(&'static str),
}

/// The polynomial of the solver on the gap behind the wanted eigenvalues: the residual falls like
/// $\sup_x |p_t(x)| / |p_t(\lambda_k)|$ over $|x| \le \lambda_{k+1}$. Its height depends on the
/// start, which nobody knows: it is set at the geometric mean of the course. Of solvers that sample,
/// see [`sampled`].
pub fn predict(fit: &Fit<'_>, data: &Data, args: &FitArgs) -> Result<Prediction> {
    let solver: Option<Solver> = fit.summary.solver.parse().ok();
    if let Some(solver) = solver.filter(|solver| solver.is_sampled()) {
        return sampled::predict(solver, fit, data, args);
    }
    let (Some(&last), Some(next)) = (fit.summary.eigenvalues.last(), fit.next) else {
        return Ok(Prediction::None("the eigenvalue behind the wanted ones is not known"));
    };
    let next = next.max(0.0);
    let (growth, polynomial) = match solver {
        Some(Solver::Power) => (Growth::new(last, next, 0.0), "the power iteration".to_string()),
        Some(Solver::Chebyshev) => (
            // The spectrum of a covariance starts at 0: the interval is (0, λₖ₊₁).
            Growth::optimal(last - next / 2.0, next / 2.0),
            "the shifted Chebyshev polynomial".to_string(),
        ),
        Some(Solver::Momentum) if args.beta.is_some() => {
            let beta = args.beta.unwrap_or_default();
            (Growth::new(last, next, beta), format!("momentum with β = {beta}"))
        }
        Some(
            Solver::Lanczos
            | Solver::Momentum
            | Solver::Dynamic
            | Solver::HeavyBall
            | Solver::Inhomogeneous,
        ) => (Growth::optimal(last, next), "momentum with β = λ²/4".to_string()),
        _ => return Ok(Prediction::None("a direct method has no course")),
    };
    let Ok(growth) = growth else {
        return Ok(Prediction::None("there is no gap behind the wanted eigenvalues"));
    };
    // ½ ln sup p_t(x)²/p_t(λ)²
    let envelope = |record: &Record<f64>| {
        let tick = usize::try_from(record.tick).ok()?;
        growth.ln_envelope(Start::U, tick).ok().map(|ln| 0.5 * ln)
    };
    Ok(match line(envelope, &fit.history) {
        Some(points) => {
            let name = format!("theory: {polynomial}, λ₊/λ = {:.4}", next / last);
            Prediction::Line(points, name)
        }
        None => Prediction::None("the course is too short"),
    })
}

/// The course with the given logarithms, up to a constant: it goes through the record at half the
/// height.
pub fn line(
    envelope: impl Fn(&Record<f64>) -> Option<f64>,
    history: &[Record<f64>],
) -> Option<Vec<(f64, f64)>> {
    let relative = |record: &Record<f64>| record.residual / record.ritz.abs();
    let seen = |record: &&Record<f64>| relative(record).is_finite() && relative(record) > 0.0;
    let logs = || history.iter().filter(seen).map(|record| relative(record).ln());
    let (low, high) =
        logs().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let middle = f64::midpoint(low, high);
    let anchor = history.iter().filter(seen).find(|record| relative(record).ln() <= middle)?;
    let height = relative(anchor).ln() - envelope(anchor)?;
    let point = |record: &Record<f64>| Some((record.passes, (height + envelope(record)?).exp()));
    history.iter().map(point).collect()
}
