//! [`PhaseRetrieval`]: a signal from the squares of linear measurements.

mod intensities;
mod recovered;
mod spectral;

pub use recovered::Recovered;
pub use spectral::PhaseSpectral;

use std::ops::ControlFlow;

use favard_engine::{Info, Record, Stop};
use favard_operator::{AdjointOperator, Block, Scalar, Workspace, check_dim};

use crate::Checkpoints;
use crate::checkpoint::{self, Keeper};
use crate::error::{ErrorKind, Result};
use crate::local::{Descent, Runs, Watch, nothing_done};
use intensities::{Intensities, check, misfit, scaled};

/// The kind of file that the runs are saved to.
const PHASE: &str = "phase retrieval";

/// Real phase retrieval: x up to its sign from intensities $y_i = (a_i^T x)^2$, with the rows
/// $a_i$ of any operator that has an adjoint.
///
/// Two stages, both points of the engine:
///
/// 1. *Spectral*, in the growth regime: the leading eigenvector of
///    $\frac{1}{m} \sum_i y_i 1(y_i \le 9 \bar y)\, a_i a_i^T$, whose expectation for Gaussian rows is
///    a multiple of I plus a multiple of $x x^T$. Momentum with its own β, Chebyshev's family on the
///    interval of the other eigenvalues, or plain power: [`PhaseSpectral`].
/// 2. *Wirtinger flow with momentum*, in the contraction regime: the heavy ball on
///    $f(z) = \frac{1}{4m} \sum_i ((a_i^T z)^2 - y_i)^2$. Near x its error obeys
///    $e_{t+1} = ((1 + \gamma) I - \eta H) e_t - \gamma e_{t-1}$ with
///    $H = \frac{2}{m} \sum_i (a_i^T x)^2 a_i a_i^T$. Since $(a_i^T x)^2 = y_i$, H is known from the
///    data alone; γ and η are Polyak's for the ends of its spectrum, η times 0.9.
///
/// The first stage is exact for the eigenvector, the second only local: whether x was found is what
/// the recomputed residual of the answer says ([`Recovered::residual`]).
///
/// # Cost
/// Two products with A a step (one pass where A has a fused normal product), up to 60 for the ends
/// of the spectrum of H.
///
/// # Example
/// ```
/// use favard_models::PhaseRetrieval;
/// use favard_operator::{Block, Dense, LinearOperator};
///
/// let a = Dense::new(Block::<f64>::gaussian(200, 20, 1).view().to_owned())?;
/// let x = Block::<f64>::gaussian(20, 1, 2);
/// let image = a.multiply(x.as_ref())?;
/// let y: Vec<f64> = (0..200).map(|i| image.row(i)[0].powi(2)).collect();
///
/// let found = PhaseRetrieval::new().solve(&a, &y)?;
/// assert!(found.is_certified() && found.residual() <= 1e-8);
/// let sign = (found.signal()[0] * x.row(0)[0]).signum();
/// assert!((0..20).all(|i| (sign * found.signal()[i] - x.row(i)[0]).abs() < 1e-6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// Candès, Li, Soltanolkotabi, "Phase retrieval via Wirtinger flow", 2015; Chen and Candès, 2015, for
/// the truncation.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseRetrieval {
    spectral: PhaseSpectral,
    spectral_tolerance: f64,
    momentum: bool,
    tolerance: f64,
    products: u64,
    iterations: u64,
    seed: u64,
}

impl Default for PhaseRetrieval {
    fn default() -> Self {
        Self {
            spectral: PhaseSpectral::default(),
            spectral_tolerance: 1e-3,
            momentum: true,
            tolerance: 1e-8,
            products: 300,
            iterations: 10_000,
            seed: 1,
        }
    }
}

impl PhaseRetrieval {
    /// With momentum in both stages.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Which recurrence finds the start; [`PhaseSpectral::Momentum`] unless said otherwise.
    #[must_use]
    pub fn spectral(self, spectral: PhaseSpectral) -> Self {
        Self { spectral, ..self }
    }

    /// The relative residual of the leading eigenvector at which the first stage ends; 1e-3 unless
    /// said otherwise. The eigenvector is only an estimate of x, so that more digits of it are
    /// wasted.
    #[must_use]
    pub fn spectral_tolerance(self, tolerance: f64) -> Self {
        Self { spectral_tolerance: tolerance, ..self }
    }

    /// Whether the second stage has momentum; yes unless said otherwise. Without it the step is
    /// $0.9 \cdot 2 / (h_1 + h_d)$.
    #[must_use]
    pub fn momentum(self, momentum: bool) -> Self {
        Self { momentum, ..self }
    }

    /// The residual $\lVert |Az|^2 - y \rVert / \lVert y \rVert$ asked for; 1e-8 unless said
    /// otherwise. With noise the run also ends as converged where no direction improves the fit:
    /// the gradient is below this share of what the misfit could give.
    #[must_use]
    pub fn tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// Products of the first stage at most; 300 unless said otherwise.
    #[must_use]
    pub fn products(self, products: u64) -> Self {
        Self { products, ..self }
    }

    /// Steps of the second stage at most; 10,000 unless said otherwise.
    #[must_use]
    pub fn iterations(self, iterations: u64) -> Self {
        Self { iterations, ..self }
    }

    /// The seed of the start vectors.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The signal behind the intensities.
    ///
    /// # Errors
    /// - `Shape` when there is not one intensity for each row of A.
    /// - `Weight` with the first intensity that is negative or not finite.
    /// - [`TooFew`](ErrorKind::TooFew) when there are fewer than 2d − 1 of them, below which no two
    ///   signals can be told apart for sure.
    /// - `Parameter` when all intensities are zero: the signal is then the zero vector, or
    ///   orthogonal to all rows.
    /// - Those of the operator.
    ///
    /// A budget that runs out is no error: see [`Recovered::refinement`].
    pub fn solve<T, A>(&self, a: &A, intensities: &[T]) -> Result<Recovered<T>>
    where
        T: Scalar,
        A: AdjointOperator<T> + ?Sized,
    {
        self.solve_watched(a, intensities, &mut |_| ControlFlow::Continue(()))
    }

    /// The same with a callback after every step of either stage, which can stop it. In records of
    /// the second stage `residual` is $\lVert |Az|^2 - y \rVert / \lVert y \rVert$ and `ritz` the
    /// largest curvature $h_1$.
    ///
    /// # Errors
    /// Those of [`solve`](Self::solve).
    pub fn solve_watched<T, A>(
        &self,
        a: &A,
        intensities: &[T],
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Recovered<T>>
    where
        T: Scalar,
        A: AdjointOperator<T> + ?Sized,
    {
        self.solve_kept(a, intensities, Keeper::default(), watch)
    }

    /// As [`solve_watched`](Self::solve_watched), saved as it goes, or taken up where it was saved,
    /// to the bit, in either stage: see [`Checkpoints`]. Only [`tolerance`](Self::tolerance) and
    /// [`iterations`](Self::iterations) may differ from the run that is taken up. One product more,
    /// with a probe, tells the operator from another one.
    ///
    /// # Errors
    /// Those of [`solve`](Self::solve), and those of the files.
    ///
    /// # Example
    /// ```
    /// use std::ops::ControlFlow;
    /// use favard_engine::{Record, Stop};
    /// use favard_models::{Checkpoints, PhaseRetrieval};
    /// use favard_operator::{Block, Dense, LinearOperator};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("run.favard");
    /// let a = Dense::new(Block::<f64>::gaussian(200, 20, 1).view().to_owned())?;
    /// let image = a.multiply(Block::<f64>::gaussian(20, 1, 2).as_ref())?;
    /// let y: Vec<f64> = (0..200).map(|i| image.row(i)[0].powi(2)).collect();
    /// let model = PhaseRetrieval::new();
    /// let stop = &mut |_: &Record<f64>| ControlFlow::Break(Stop::Requested);
    /// model.solve_saved(&a, &y, &Checkpoints::new().save(&path), stop)?;
    /// let go_on = &mut |_: &Record<f64>| ControlFlow::Continue(());
    /// let resumed = model.solve_saved(&a, &y, &Checkpoints::new().resume(&path), go_on)?;
    /// assert_eq!(resumed, model.solve(&a, &y)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn solve_saved<T, A>(
        &self,
        a: &A,
        intensities: &[T],
        checkpoints: &Checkpoints,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Recovered<T>>
    where
        T: Scalar,
        A: AdjointOperator<T> + ?Sized,
    {
        self.solve_kept(a, intensities, Keeper::open::<T>(checkpoints, PHASE)?, watch)
    }

    fn solve_kept<T, A>(
        &self,
        a: &A,
        intensities: &[T],
        mut keeper: Keeper,
        watch: &mut Watch<'_, T>,
    ) -> Result<Recovered<T>>
    where
        T: Scalar,
        A: AdjointOperator<T> + ?Sized,
    {
        self.check()?;
        check(a.shape(), intensities)?;
        if let Some((scaled, factor)) = scaled(intensities) {
            return Ok(self.solve_kept(a, &scaled, keeper, watch)?.divided(factor));
        }
        self.mark(a, intensities, &mut keeper)?;
        let mut runs = Runs::new(keeper, watch)?;
        let limits = (self.spectral_tolerance, self.products, self.seed);
        let start = self.spectral.start(a, intensities, limits, &mut runs)?;
        if let Some(stop) = runs.stopped() {
            // Stopped by the caller: the start is the answer so far.
            return self.finish(a, intensities, start.vector, start.info, nothing_done(stop));
        }
        let (z, info) = self.descend(a, intensities, start.vector, &mut runs)?;
        self.finish(a, intensities, z, start.info, info)
    }

    /// The second stage alone, from a given signal: an earlier answer whose budget ran out, or a
    /// start of one's own.
    ///
    /// # Errors
    /// Those of [`solve`](Self::solve), and a start of another length or with an entry that is not
    /// finite.
    pub fn solve_from<T, A>(
        &self,
        a: &A,
        intensities: &[T],
        start: &[T],
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Recovered<T>>
    where
        T: Scalar,
        A: AdjointOperator<T> + ?Sized,
    {
        self.check()?;
        check(a.shape(), intensities)?;
        check_dim("entries of the start", a.shape().1, start.len())?;
        if let Some((scaled, factor)) = scaled(intensities) {
            let start: Vec<T> = start.iter().map(|&value| factor * value).collect();
            return Ok(self.solve_from(a, &scaled, &start, watch)?.divided(factor));
        }
        let mut runs = Runs::new(Keeper::default(), watch)?;
        let (z, info) = self.descend(a, intensities, Block::column(start), &mut runs)?;
        self.finish(a, intensities, z, nothing_done(Stop::Converged), info)
    }

    /// The fingerprint.
    fn mark<T, A>(&self, a: &A, intensities: &[T], keeper: &mut Keeper) -> Result<()>
    where
        T: Scalar,
        A: AdjointOperator<T> + ?Sized,
    {
        if keeper.is_idle() {
            return Ok(());
        }
        let (rows, cols) = a.shape();
        let probe = a.multiply(Block::gaussian(cols, 1, self.seed).as_ref())?;
        keeper.mark("rows", rows)?;
        keeper.mark("columns", cols)?;
        keeper.mark("intensities", checkpoint::hash_numbers(intensities.iter().copied()))?;
        keeper.mark("spectral stage", format!("{:?}", self.spectral))?;
        keeper.mark("spectral tolerance", self.spectral_tolerance)?;
        keeper.mark("products", self.products)?;
        keeper.mark("momentum", self.momentum)?;
        keeper.mark("seed", self.seed)?;
        keeper.mark("product with a probe", checkpoint::hash(&probe))
    }

    fn descend<T, A>(
        &self,
        a: &A,
        intensities: &[T],
        start: Block<T>,
        runs: &mut Runs<'_, T>,
    ) -> Result<(Block<T>, Info<T>)>
    where
        T: Scalar,
        A: AdjointOperator<T> + ?Sized,
    {
        let mut problem = Intensities::new(a, intensities, self.seed);
        let Self { tolerance, iterations, momentum, .. } = *self;
        Descent { tolerance, iterations, momentum }.run(&mut problem, start, runs)
    }

    fn finish<T, A>(
        &self,
        a: &A,
        intensities: &[T],
        z: Block<T>,
        spectral: Info<T>,
        mut refinement: Info<T>,
    ) -> Result<Recovered<T>>
    where
        T: Scalar,
        A: AdjointOperator<T> + ?Sized,
    {
        // The certificate: recomputed from the operator and the answer.
        let residual = misfit(a, intensities, &z, &mut Workspace::new())?;
        refinement.residuals = vec![T::of(residual)];
        refinement.applications += 1;
        refinement.passes += 0.5;
        Ok(Recovered::new(z, residual, self.tolerance, spectral, refinement))
    }

    fn check(&self) -> Result<()> {
        let finite = |name, value: f64| {
            let need = "must be finite and at least 0";
            let good = value.is_finite() && value >= 0.0;
            if good { Ok(()) } else { Err(ErrorKind::Parameter { name, value, need }) }
        };
        finite("tolerance", self.tolerance)?;
        finite("spectral tolerance", self.spectral_tolerance)?;
        Ok(())
    }
}
