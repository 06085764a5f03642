//! Copies of an eigenvalue that a panel was too narrow to find.

use std::ops::ControlFlow;

use favard_engine::{Info, Record, Stop};
use favard_operator::{LinearOperator, Scalar};

use super::doubt::doubtful_gap;
use super::run::Run;
use super::{Lanczos, go};
use crate::Eigen;
use crate::checkpoint::Keeper;
use crate::error::Result;

/// The residual, relative to the largest eigenvalue, that shows a copy far from the other values.
const ROUGH: f64 = 1e-3;

impl Lanczos {
    /// The same pairs, or, while an eigenvalue has more copies than panels of this width can find,
    /// those that wider panels find. That part of a run is not saved: taken up, it follows again
    /// from what is.
    pub(super) fn without_doubt<T: Scalar>(
        &self,
        op: &(impl LinearOperator<T> + ?Sized),
        mut found: Eigen<T>,
        mut width: usize,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Eigen<T>> {
        while width <= self.components && found.info.stop == Stop::Converged {
            let guard = found.guard().map(|(value, _)| value);
            let known: Vec<f64> = found.values.iter().chain(&guard).map(|v| v.as_f64()).collect();
            let Some(gap) = doubtful_gap(&known, width, found.rounding()) else {
                break;
            };
            let scale = known.iter().fold(0.0_f64, |m, value| m.max(value.abs()));
            let more = self.to_one_more(width, gap / scale).later(op, &found, true, watch)?;
            // A copy that was missed stands where a smaller value had been.
            let is_hidden = |(more, known): (&T, &f64)| more.as_f64() - known > 0.5 * gap;
            let hides = more.values.iter().zip(&known).any(is_hidden);
            add_cost(&mut found.info, more.info);
            if !hides || found.info.stop != Stop::Converged {
                break;
            }
            width *= 2;
            let again = Self { width, ..self.clone() }.later(op, &found, false, watch)?;
            let Eigen { values, vectors, residuals, info } = again;
            let (ritz, measured) = (info.ritz.clone(), info.residuals.clone());
            add_cost(&mut found.info, info);
            // Otherwise what had converged is worth more, but the search was not finished.
            if found.info.stop == Stop::Converged {
                let info = Info { ritz, residuals: measured, ..found.info };
                found = Eigen { values, vectors, residuals, info };
            }
        }
        Ok(found)
    }

    /// For one more pair, to a quarter of a gap relative to the largest value if that is less than
    /// [`ROUGH`], with another random panel: of the first one, nothing of the copies is left beside those
    /// that it has found.
    fn to_one_more(&self, width: usize, gap: f64) -> Self {
        Self {
            components: self.components + 1,
            width,
            tolerance: (0.25 * gap).clamp(self.tolerance, ROUGH.max(self.tolerance)),
            seed: self.seed.wrapping_add(1),
            ..self.clone()
        }
    }

    /// A further run for the same problem with the products that are left: from the pairs that were
    /// found, or from nothing.
    fn later<T: Scalar>(
        &self,
        op: &(impl LinearOperator<T> + ?Sized),
        found: &Eigen<T>,
        goes_on: bool,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Eigen<T>> {
        let (before, dim) = (found.info.iterations, op.shape().0);
        let products = self.products.saturating_sub(before);
        if products == 0 {
            return Ok(Eigen { info: Info::new(Stop::Iterations), ..found.clone() });
        }
        let plan = Self { products, ..self.clone() };
        let later = |record: &Record<T>| {
            let (tick, passes) = (record.tick + before, record.passes + before as f64);
            Record { tick, passes, ..*record }
        };
        let watch = &mut |record: &Record<T>| watch(&later(record));
        let (b, room) = plan.sizes::<T>(dim, op.work());
        let room = room + if goes_on { found.values.len() } else { 0 };
        let mut again = if room + b >= dim {
            plan.solve_small(op, watch)?
        } else {
            let run = Run::new(op, dim, b, room, &plan);
            go(run, (dim, b, room), &mut Keeper::default(), watch, |run| {
                if goes_on {
                    run.begin_from(&found.values, &found.vectors)
                } else {
                    run.begin(None)
                }
            })?
        };
        again.info.history.iter_mut().for_each(|record| *record = later(record));
        Ok(again)
    }
}

/// Adds the cost of a later run, and takes over why it stopped.
fn add_cost<T>(info: &mut Info<T>, later: Info<T>) {
    info.stop = later.stop;
    info.iterations += later.iterations;
    info.applications += later.applications;
    info.passes += later.passes;
    info.history.extend(later.history);
}
