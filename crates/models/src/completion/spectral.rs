//! [`CompletionSpectral`]: the leading singular vectors of the observed entries.

use favard_engine::gauge::AugmentedQr;
use favard_engine::map::{Exact, VarianceReduced};
use favard_engine::observe::Tolerance;
use favard_engine::recurrence::{Dynamic, Momentum, Start};
use favard_engine::{Engine, Info, Stop};
use favard_operator::{
    AdjointOperator, Block, Csr, Gram, LinearOperator, Orthonormalizer, Sampler, Scalar, Shifted,
    StochasticOperator, Workspace,
};
use favard_theory::{Growth, Spread, epoch_factor_bound, tan2};

use super::Entries;
use super::observed::Observed;
use crate::Eigen;
use crate::error::{ErrorKind, Result};
use crate::local::Runs;

/// Products of the probe that a plan is made from.
const PROBE: u64 = 6;

/// cos² of the angle between the probe's block and the wanted space that a plan assumes.
const COS2: f64 = 0.5;

/// Epoch lengths that a plan considers.
const EPOCHS: [usize; 6] = [2, 3, 5, 8, 13, 21];

/// A plan considers batches down to this power of one half of the entries.
const HALVINGS: u32 = 16;

/// How the first stage of [`MatrixCompletion`](super::MatrixCompletion) finds the leading singular
/// vectors of $P_\Omega(M)/p$.
///
/// Sampling entries has the noise $s_{op} \approx N \max_i \lVert b_i \rVert^2 / p^2$, which for an
/// incoherent matrix is about $nr \sigma^2$: batches must have a multiple of nr entries before
/// momentum pays, and a matrix with only a few times that many entries is read faster as a whole.
/// `Auto` compares the passes of both plans.
///
/// # Example
/// ```
/// use favard_models::{CompletionSpectral, MatrixCompletion};
/// let batches = CompletionSpectral::Batches { batch: 10_000, epoch: 8 };
/// let model = MatrixCompletion::new(3).spectral(batches);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CompletionSpectral {
    /// The cheaper of the two plans, in passes over the entries.
    #[default]
    Auto,
    /// Momentum with its own β on $B^T B$, all entries every step.
    Exact,
    /// Variance-reduced batches of entries with momentum; batch and epoch are those that take the
    /// fewest passes by the theory's bound on the epoch factor. A rectangular matrix is dilated and shifted by
    /// $(\sigma_1 - \sigma_{r+1})/2$, so that its spectrum $\pm\sigma_i$ has the wanted values on
    /// one side.
    VarianceReduced,
    /// The same with a given batch (entries a step) and epoch (steps between two full products).
    Batches {
        /// Entries a step.
        batch: usize,
        /// Steps between two full products.
        epoch: u64,
    },
}

/// What the stage found: orthonormal right singular vectors, with the report.
pub(super) struct Begun<T> {
    pub right: Block<T>,
    pub info: Info<T>,
    pub reason: String,
}

/// A plan of variance-reduced batches.
struct Batches {
    batch: usize,
    epoch: u64,
    beta: f64,
    shift: f64,
}

/// The stage on given data.
pub(super) struct Stage<'a, T: Scalar> {
    pub data: &'a Observed<T>,
    pub rank: usize,
    pub symmetric: bool,
    pub tolerance: f64,
    pub products: u64,
    pub seed: u64,
}

impl<T: Scalar> Stage<'_, T> {
    pub fn run(&self, how: CompletionSpectral, runs: &mut Runs<'_, T>) -> Result<Begun<T>> {
        let (n, scale) = (self.data.train.shape().1, self.data.share.recip());
        let op = Gram::new(&self.data.train).with_scale(scale * scale)?;
        let start = Block::gaussian(n, (self.rank + 2).min(n), self.seed);
        if how == CompletionSpectral::Exact {
            let (found, _) = self.exact(&op, start, self.products, runs)?;
            return Ok(begun(found, "asked for: all entries every step".into()));
        }
        let (found, block) = self.exact(&op, start, self.products.min(PROBE), runs)?;
        let converged = found.info.stop == Stop::Converged;
        let stopped = !converged && found.info.stop != Stop::Iterations;
        if stopped || self.products <= PROBE || (converged && how == CompletionSpectral::Auto) {
            let reason = format!("all entries every step: {} products", found.info.iterations);
            return Ok(begun(found, reason));
        }
        let entries = self.entries()?;
        let sigma = |j: usize| {
            let value = found.values.get(j).map_or(0.0, |value| value.as_f64());
            value.max(0.0).sqrt()
        };
        // Ritz values of r + 2 columns: σ_r and σ_{r+1} from below.
        let edges = [sigma(0), sigma(self.rank - 1), sigma(self.rank)];
        let (batches, reason) = match (how, self.plan(edges, entries.noise())) {
            (CompletionSpectral::Batches { batch, epoch }, _) => {
                let [shift, _, edge] = self.shifted(edges);
                let beta = edge * edge / 4.0;
                (Some(Batches { batch, epoch, beta, shift }), "asked for".into())
            }
            (CompletionSpectral::Auto, Ok((batches, sampled, whole))) => {
                let reason = format!(
                    "batches of {} entries would take {sampled:.1} passes, the whole about {whole:.1}",
                    batches.batch
                );
                ((sampled < whole).then_some(batches), reason)
            }
            (CompletionSpectral::Auto, Err(why)) => {
                (None, format!("all entries every step: no plan for batches ({why})"))
            }
            (_, Ok((batches, ..))) => (Some(batches), "asked for".into()),
            (_, Err(why)) => return Err(ErrorKind::Theory(why).into()),
        };
        let left = self.products - PROBE;
        let Some(batches) = batches else {
            let before = found.info;
            let (mut found, _) = self.exact(&op, block, left, runs)?;
            found.info = joined(before, found.info);
            return Ok(begun(found, reason));
        };
        let reason = format!(
            "variance-reduced batches of {} entries in epochs of {} steps: {reason}",
            batches.batch, batches.epoch
        );
        let (right, info) = self.reduced(&entries, &batches, &found.vectors, left, runs)?;
        let info = joined(found.info, info);
        Ok(begun(Eigen::of_span(&op, &right, self.rank, info)?, reason))
    }

    /// Dynamic momentum on BᵀB/p²: all pairs of the block, and the block itself.
    fn exact<A: LinearOperator<T>>(
        &self,
        op: &A,
        start: Block<T>,
        products: u64,
        runs: &mut Runs<'_, T>,
    ) -> Result<(Eigen<T>, Block<T>)> {
        let width = start.cols();
        let mut engine = Engine::new(Exact::new(op)?, Dynamic::default(), start)?
            .with_gauge(AugmentedQr::new(width));
        let tolerance = Tolerance::new(self.tolerance, self.rank)?;
        let info = runs.run(&mut engine, products, tolerance)?;
        let found = Eigen::of_span(op, engine.block(), width, info)?;
        Ok((found, engine.block().clone()))
    }

    fn entries(&self) -> Result<Entries<'_, T>> {
        let (train, scale) = (self.data.train.view(), T::of(self.data.share.recip()));
        if self.symmetric {
            Entries::symmetric(train, scale)
        } else {
            Entries::dilation(train, scale)
        }
    }

    /// (shift c, wanted eigenvalue, edge of the others) of the operator that is iterated on.
    ///
    /// Symmetric: |λ| counts, no shift. Dilation: the others lie in [−σ₁, σ_{r+1}]; with
    /// c = (σ₁ − σ_{r+1})/2 added that interval is symmetric.
    fn shifted(&self, [first, last, next]: [f64; 3]) -> [f64; 3] {
        if self.symmetric {
            return [0.0, last, next];
        }
        let shift = (first - next) / 2.0;
        [shift, last + shift, f64::midpoint(first, next)]
    }

    /// The epoch length and batch that reach the tolerance in the fewest passes by the bound on the
    /// epoch factor, those passes, and the passes of the whole matrix.
    fn plan(
        &self,
        edges: [f64; 3],
        s_op: f64,
    ) -> Result<(Batches, f64, f64), favard_theory::Error> {
        let [shift, wanted, edge] = self.shifted(edges);
        let terms = self.data.train.entries();
        let growth = Growth::optimal(wanted, edge)?;
        // The residual is about the sine of the angle.
        let epsilon = self.tolerance.powi(2).clamp(1e-30, 0.5);
        let distance = (tan2(COS2)?.max(1.0) / epsilon).ln();
        // A factor that overflows is no contraction.
        let factor = |epoch: usize, batch: usize| {
            let noise = s_op / batch as f64;
            epoch_factor_bound(&growth, noise, epoch, Spread::Any).unwrap_or(f64::INFINITY)
        };
        let mut best: Option<(f64, usize, u64)> = None;
        for epoch in EPOCHS {
            for batch in (0..HALVINGS).map(|halvings| (terms >> halvings).max(1)) {
                let factor = factor(epoch, batch);
                if factor >= 1.0 {
                    break;
                }
                // K (1 + T s/N) passes with K = ln(tan²θ₀/ε) / ln(1/factor) epochs
                let epochs = (distance / -factor.ln()).ceil().max(1.0);
                let passes = epochs * (1.0 + epoch as f64 * batch as f64 / terms as f64);
                if best.is_none_or(|(least, ..)| passes < least) {
                    best = Some((passes, batch, epoch as u64));
                }
            }
        }
        let Some((passes, batch, epoch)) = best else {
            // Not even batches as large as the data contract.
            let mut larger = (1..HALVINGS).map(|doublings| terms.saturating_mul(1 << doublings));
            let required = larger.find(|&batch| EPOCHS.iter().any(|&t| factor(t, batch) < 1.0));
            let required = required.map_or(f64::INFINITY, |batch| batch as f64);
            let available = terms as f64;
            return Err(favard_theory::ErrorKind::BatchTooLarge { required, available }.into());
        };
        let squares = Growth::optimal(edges[1].powi(2), edges[2].powi(2))?;
        let whole = squares.iterations(favard_theory::Start::U, tan2(COS2)?, epsilon)? as f64;
        let beta = edge * edge / 4.0;
        Ok((Batches { batch, epoch, beta, shift }, passes, whole))
    }

    /// Variance-reduced momentum on the shifted entries, measured where an epoch starts: there the
    /// map is exact.
    fn reduced(
        &self,
        entries: &Entries<'_, T>,
        batches: &Batches,
        right: &Block<T>,
        products: u64,
        runs: &mut Runs<'_, T>,
    ) -> Result<(Block<T>, Info<T>)> {
        let Batches { batch, epoch, beta, shift } = *batches;
        let rank = self.rank.min(right.cols());
        let first = right.as_ref().cols_range(0..rank).to_owned();
        let (m, n) = self.data.train.shape();
        let start = if self.symmetric { first } else { stacked(&self.data.train, &first)? };
        let sampler = Sampler::uniform(entries.terms(), batch, self.seed)?;
        let op = Shifted::new(entries, T::of(-shift))?;
        let map = VarianceReduced::new(op, sampler, epoch)?;
        let mut engine = Engine::new(map, Momentum::new(T::of(beta), Start::U)?, start)?
            .with_gauge(AugmentedQr::new(rank));
        let tolerance = Tolerance::new(self.tolerance, rank)?.every(epoch);
        let info = runs.run(&mut engine, products.saturating_mul(epoch), tolerance)?;
        let from = if self.symmetric { 0 } else { m };
        let mut found = engine.block().as_ref().rows_range(from..from + n).to_owned();
        Orthonormalizer::new(rank).orthonormalize(&mut [&mut found], &mut Workspace::new())?;
        Ok((found, info))
    }
}

fn begun<T: Scalar>(found: Eigen<T>, reason: String) -> Begun<T> {
    Begun { right: found.vectors, info: found.info, reason }
}

/// (B v / ‖B v‖; v): the start on the dilation.
fn stacked<T: Scalar>(matrix: &Csr<'_, T>, right: &Block<T>) -> Result<Block<T>> {
    let mut left = matrix.multiply(right.as_ref())?;
    let rank = right.cols();
    Orthonormalizer::new(rank).orthonormalize(&mut [&mut left], &mut Workspace::new())?;
    let m = left.rows();
    Ok(Block::from_fn(m + right.rows(), rank, |i, j| {
        if i < m { left.row(i)[j] } else { right.row(i - m)[j] }
    }))
}

/// The report of two runs, one after the other.
fn joined<T: Scalar>(before: Info<T>, mut after: Info<T>) -> Info<T> {
    after.iterations += before.iterations;
    after.applications += before.applications;
    after.passes += before.passes;
    after.history.splice(0..0, before.history);
    after
}

/// B v/p: the left factor that goes with orthonormal right vectors.
pub(super) fn left_factor<T: Scalar>(data: &Observed<T>, right: &Block<T>) -> Result<Block<T>> {
    let mut left = Block::zeros(data.train.shape().0, right.cols());
    let scale = T::of(data.share.recip());
    let adjoint: &dyn AdjointOperator<T> = &data.train;
    adjoint.apply(scale, right.as_ref(), T::zero(), left.as_mut(), &mut Workspace::new())?;
    Ok(left)
}
