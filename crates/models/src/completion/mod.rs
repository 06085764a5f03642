//! [`MatrixCompletion`]: a matrix of low rank from some of its entries.

mod completed;
mod entries;
mod factors;
mod hessian;
mod observed;
mod small_svd;
mod spectral;
mod sweep;

pub use completed::Completed;
pub use entries::Entries;
pub use spectral::CompletionSpectral;

use std::ops::ControlFlow;

use favard_engine::{Info, Record, Stop};
use favard_operator::{Block, BlockRef, Csr, Scalar, Workspace, check_dim};

use crate::Checkpoints;
use crate::checkpoint::{self, Keeper};
use crate::error::{ErrorKind, Result, check_count};
use crate::local::{Descent, Problem, Runs, Watch, nothing_done};
use completed::thin_rows;
use factors::Factors;
use observed::Observed;
use spectral::{Stage, left_factor};

/// The kind of file that the runs are saved to.
const COMPLETION: &str = "matrix completion";

/// Matrix completion: the matrix of rank r that agrees with the observed entries.
///
/// The observations are a sparse matrix whose *stored* entries are the known ones (a stored zero is
/// an observed zero); everything else is missing. Two stages, both points of the engine:
///
/// 1. *Spectral*, in the growth regime: the leading right singular vectors of $B = P_\Omega(M)/p$,
///    with all entries every step, or with variance-reduced batches of entries
///    ([`CompletionSpectral`], [`Entries`]). This is exact for B, and B is only an estimate of M.
/// 2. *Refinement*, in the contraction regime: the heavy ball on the factors,
///    $e_{t+1} = ((1 + \beta) I - \eta H) e_t - \beta e_{t-1}$ near the solution, with H the Hessian
///    of $\frac{1}{2p}\lVert P_\Omega(XS^{-1}Y^T - M) \rVert^2$ orthogonal to the gauge. S is chosen
///    so that the condition of M does not enter κ(H); η and β are Polyak's for the measured ends of
///    its spectrum, η times 0.9, with a step back where the misfit grows.
///
/// A fraction of the entries (one in twenty unless said otherwise, drawn from the seed) is kept
/// aside and never fitted: its error is the certificate that the matrix was completed and not only
/// interpolated.
///
/// # Cost
/// A step of the second stage is one pass over the entries by rows and one by columns, 8r flops an
/// entry; memory is two copies of the entries and five blocks of (m + n) × r. The ends of the
/// spectrum take up to 60 such passes, twice.
///
/// # Example
/// ```
/// use favard_models::MatrixCompletion;
/// use favard_operator::Block;
///
/// // A 40 × 30 matrix of rank 2, of which two entries in three are known.
/// let (u, v) = (Block::<f64>::gaussian(40, 2, 1), Block::<f64>::gaussian(30, 2, 2));
/// let entry = |i: usize, j: usize| u.row(i)[0] * v.row(j)[0] + u.row(i)[1] * v.row(j)[1];
/// let known: Vec<_> = (0..40)
///     .flat_map(|i| (0..30).map(move |j| (i, j)))
///     .filter(|(i, j)| (7 * i + 11 * j + i * j) % 3 != 0)
///     .map(|(i, j)| (i, j, entry(i, j)))
///     .collect();
/// let observed = MatrixCompletion::entries((40, 30), &known)?;
///
/// let found = MatrixCompletion::new(2).solve(&observed)?;
/// assert!(found.is_certified());
/// assert!(found.held_out_error().is_some_and(|error| error < 1e-6));
/// assert!((found.predict(0, 0)? - entry(0, 0)).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// Keshavan, Montanari, Oh, 2010, for the spectral start; De Sa, Olukotun, Ré, 2015 (Alecton), for
/// entry sampling; Tong, Ma, Chi, 2021, for the coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixCompletion {
    rank: usize,
    symmetric: bool,
    held_out: f64,
    spectral: CompletionSpectral,
    spectral_tolerance: f64,
    momentum: bool,
    tolerance: f64,
    products: u64,
    iterations: u64,
    seed: u64,
}

impl MatrixCompletion {
    /// Of the given rank.
    #[must_use]
    pub fn new(rank: usize) -> Self {
        Self {
            rank,
            symmetric: false,
            held_out: 0.05,
            spectral: CompletionSpectral::Auto,
            spectral_tolerance: 1e-2,
            momentum: true,
            tolerance: 1e-8,
            products: 100,
            iterations: 10_000,
            seed: 1,
        }
    }

    /// Whether the matrix is symmetric; no unless said otherwise. Its entries may then be given by
    /// one triangle or by both, and count once. It need not be positive.
    #[must_use]
    pub fn symmetric(self, symmetric: bool) -> Self {
        Self { symmetric, ..self }
    }

    /// The fraction of the entries that is kept aside; 0.05 unless said otherwise, 0 for none.
    #[must_use]
    pub fn held_out(self, fraction: f64) -> Self {
        Self { held_out: fraction, ..self }
    }

    /// How the first stage runs; [`CompletionSpectral::Auto`] unless said otherwise.
    #[must_use]
    pub fn spectral(self, spectral: CompletionSpectral) -> Self {
        Self { spectral, ..self }
    }

    /// The relative residual at which the first stage ends; 1e-2 unless said otherwise. The
    /// singular vectors are only an estimate, with an error of the order of
    /// $\sqrt{nr/|\Omega|}$: more digits of them are wasted.
    #[must_use]
    pub fn spectral_tolerance(self, tolerance: f64) -> Self {
        Self { spectral_tolerance: tolerance, ..self }
    }

    /// Whether the second stage has momentum; yes unless said otherwise. Without it the step is
    /// $0.9 \cdot 2/(h_1 + h_d)$.
    #[must_use]
    pub fn momentum(self, momentum: bool) -> Self {
        Self { momentum, ..self }
    }

    /// The residual $\lVert P_\Omega(\hat M - M) \rVert / \lVert P_\Omega(M) \rVert$ asked for; 1e-8
    /// unless said otherwise. With noise the run also ends as converged where no direction improves
    /// the fit: the gradient is below this share of what the misfit could give.
    #[must_use]
    pub fn tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// Products of the first stage at most (with batches: epochs); 100 unless said otherwise.
    #[must_use]
    pub fn products(self, products: u64) -> Self {
        Self { products, ..self }
    }

    /// Steps of the second stage at most; 10,000 unless said otherwise.
    #[must_use]
    pub fn iterations(self, iterations: u64) -> Self {
        Self { iterations, ..self }
    }

    /// The seed of the start, of the batches, and of what is kept aside.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Observations from a list of entries (row, column, value), in any order.
    ///
    /// # Errors
    /// `Index` with the first position outside of the shape, `NonFinite` with the first value that
    /// is not finite, [`Duplicate`](crate::ErrorKind::Duplicate) with the first entry that is given
    /// twice.
    ///
    /// # Example
    /// ```
    /// use favard_models::MatrixCompletion;
    /// let twice = [(0, 1, 2.0), (1, 0, 1.0), (0, 1, 2.5)];
    /// let error = MatrixCompletion::entries((2, 2), &twice).unwrap_err();
    /// assert_eq!(error.to_string(), "entry (0, 1) is given twice");
    /// ```
    pub fn entries<T: Scalar>(
        shape: (usize, usize),
        entries: &[(usize, usize, T)],
    ) -> Result<Csr<'static, T>> {
        observed::matrix(shape, entries.to_vec())
    }

    /// Observations from a dense block in which NaN means missing.
    ///
    /// (Of a larger matrix that is known as an operator, [`Masked::observed`] takes the entries at
    /// the positions of a pattern.)
    ///
    /// # Errors
    /// `NonFinite` with the first infinite entry.
    ///
    /// # Example
    /// ```
    /// use favard_models::MatrixCompletion;
    /// use favard_operator::Block;
    /// let rows = Block::from_array(ndarray::array![[1.0, f64::NAN], [2.0, 4.0]].view());
    /// let observed = MatrixCompletion::known(rows.as_ref())?;
    /// assert_eq!(observed.entries(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// [`Masked::observed`]: favard_operator::Masked::observed
    pub fn known<T: Scalar>(rows: BlockRef<'_, T>) -> Result<Csr<'static, T>> {
        let row = |i: usize| rows.row(i).iter().enumerate().map(move |(j, &v)| (i, j, v));
        let all = (0..rows.rows()).flat_map(row);
        observed::matrix(rows.shape(), all.filter(|(.., v)| !v.is_nan()).collect())
    }

    /// Completes the matrix whose stored entries are given.
    ///
    /// # Errors
    /// - `Parameter` when the rank is 0 or above the smaller side, when a parameter is out of
    ///   range, or when all observed values are zero.
    /// - [`TooFew`](crate::ErrorKind::TooFew) when fewer entries are fitted than a matrix of that
    ///   rank has degrees of freedom, $r(m + n - r)$.
    /// - [`Asymmetric`](crate::ErrorKind::Asymmetric) when a symmetric matrix was announced and is
    ///   not.
    /// - [`Theory`](crate::ErrorKind::Theory) when batches were asked for and the planner finds none
    ///   that would converge.
    ///
    /// A budget that runs out is no error: see [`Completed::refinement`].
    pub fn solve<T: Scalar>(&self, observed: &Csr<'_, T>) -> Result<Completed<T>> {
        self.solve_watched(observed, &mut |_| ControlFlow::Continue(()))
    }

    /// The same with a callback after every step of either stage, which can stop it. In records of
    /// the second stage `residual` is the relative misfit and `ritz` the largest curvature.
    ///
    /// # Errors
    /// Those of [`solve`](Self::solve).
    pub fn solve_watched<T: Scalar>(
        &self,
        observed: &Csr<'_, T>,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Completed<T>> {
        self.solve_kept(observed, Keeper::default(), watch)
    }

    /// As [`solve_watched`](Self::solve_watched), saved as it goes, or taken up where it was saved,
    /// to the bit, in either stage: see [`Checkpoints`]. Only [`tolerance`](Self::tolerance) and
    /// [`iterations`](Self::iterations) may differ from the run that is taken up.
    ///
    /// # Errors
    /// Those of [`solve`](Self::solve), and those of the files.
    ///
    /// # Example
    /// ```
    /// use std::ops::ControlFlow;
    /// use favard_engine::{Record, Stop};
    /// use favard_models::{Checkpoints, MatrixCompletion};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("run.favard");
    /// let known: Vec<_> = (0..400)
    ///     .map(|place| (place / 20, place % 20))
    ///     .filter(|(i, j)| (i + 2 * j) % 5 != 0)
    ///     .map(|(i, j)| (i, j, ((i + 1) * (j + 1)) as f64))
    ///     .collect();
    /// let observed = MatrixCompletion::entries((20, 20), &known)?;
    /// let model = MatrixCompletion::new(1);
    /// let stop = &mut |_: &Record<f64>| ControlFlow::Break(Stop::Requested);
    /// model.solve_saved(&observed, &Checkpoints::new().save(&path), stop)?;
    /// let go_on = &mut |_: &Record<f64>| ControlFlow::Continue(());
    /// let resumed = model.solve_saved(&observed, &Checkpoints::new().resume(&path), go_on)?;
    /// assert_eq!(resumed, model.solve(&observed)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn solve_saved<T: Scalar>(
        &self,
        observed: &Csr<'_, T>,
        checkpoints: &Checkpoints,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Completed<T>> {
        self.solve_kept(observed, Keeper::open::<T>(checkpoints, COMPLETION)?, watch)
    }

    fn solve_kept<T: Scalar>(
        &self,
        observed: &Csr<'_, T>,
        mut keeper: Keeper,
        watch: &mut Watch<'_, T>,
    ) -> Result<Completed<T>> {
        self.check(observed.shape())?;
        if let Some((scaled, factor)) = observed::scaled(observed)? {
            return Ok(self.solve_kept(&scaled, keeper, watch)?.divided(factor));
        }
        let data = Observed::new(observed, self.rank, self.symmetric, self.held_out, self.seed)?;
        self.mark(observed, &mut keeper)?;
        let mut runs = Runs::new(keeper, watch)?;
        let stage = Stage {
            data: &data,
            rank: self.rank,
            symmetric: self.symmetric,
            tolerance: self.spectral_tolerance,
            products: self.products,
            seed: self.seed,
        };
        let start = stage.run(self.spectral, &mut runs)?;
        let count = self.rank.min(start.right.cols());
        let mut right = start.right.as_ref().cols_range(0..count).to_owned();
        // What the random start has left in columns without entries is not from the data.
        for column in (0..right.rows()).filter(|&j| data.transposed.row(j).0.is_empty()) {
            right.row_mut(column).fill(T::zero());
        }
        let left = left_factor(&data, &right)?;
        let (mut factors, block) = Factors::new(&data, &left, &right, self.seed);
        let (at, info) = if let Some(stop) = runs.stopped() {
            // Stopped by the caller: the spectral answer is the answer so far.
            (block, nothing_done(stop))
        } else {
            self.descent().run(&mut factors, block, &mut runs)?
        };
        self.finish(&data, &factors, &at, (start.info, start.reason), info)
    }

    /// Goes on from an earlier answer: the second stage alone, from its factors. For an answer whose
    /// budget ran out, or when entries have been added.
    ///
    /// # Errors
    /// Those of [`solve`](Self::solve), and `Shape` when the answer is of another shape or rank.
    pub fn solve_from<T: Scalar>(
        &self,
        observed: &Csr<'_, T>,
        start: &Completed<T>,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Completed<T>> {
        self.check(observed.shape())?;
        let ((rows, cols), (m, n)) = (observed.shape(), start.shape());
        check_dim("rows of the earlier answer", rows, m)?;
        check_dim("columns of the earlier answer", cols, n)?;
        check_dim("rank of the earlier answer", self.rank, start.values().len())?;
        if let Some((scaled, factor)) = observed::scaled(observed)? {
            let start = start.clone().divided(factor.recip());
            return Ok(self.solve_from(&scaled, &start, watch)?.divided(factor));
        }
        let data = Observed::new(observed, self.rank, self.symmetric, self.held_out, self.seed)?;
        let values = start.values();
        let left = Block::from_fn(m, self.rank, |i, j| start.left().row(i)[j] * values[j]);
        let (mut factors, block) = Factors::new(&data, &left, start.right(), self.seed);
        let mut runs = Runs::new(Keeper::default(), watch)?;
        let (at, info) = self.descent().run(&mut factors, block, &mut runs)?;
        let spectral = nothing_done(Stop::Converged);
        self.finish(&data, &factors, &at, (spectral, "an earlier answer".into()), info)
    }

    /// The fingerprint.
    fn mark<T: Scalar>(&self, observed: &Csr<'_, T>, keeper: &mut Keeper) -> Result<()> {
        if keeper.is_idle() {
            return Ok(());
        }
        let (rows, cols) = observed.shape();
        let lengths = (0..rows).map(|row| observed.row(row).0.len() as f64);
        let places = lengths.chain(observed.columns().iter().map(|&column| f64::from(column)));
        keeper.mark("rows", rows)?;
        keeper.mark("columns", cols)?;
        keeper.mark("entries", observed.entries())?;
        keeper.mark("positions", checkpoint::hash_numbers(places))?;
        keeper.mark("values", checkpoint::hash_numbers(observed.values().iter().copied()))?;
        keeper.mark("rank", self.rank)?;
        keeper.mark("symmetric", self.symmetric)?;
        keeper.mark("held-out fraction", self.held_out)?;
        keeper.mark("spectral stage", format!("{:?}", self.spectral))?;
        keeper.mark("spectral tolerance", self.spectral_tolerance)?;
        keeper.mark("products", self.products)?;
        keeper.mark("momentum", self.momentum)?;
        keeper.mark("seed", self.seed)
    }

    fn descent(&self) -> Descent {
        let Self { tolerance, iterations, momentum, .. } = *self;
        Descent { tolerance, iterations, momentum }
    }

    fn finish<T: Scalar>(
        &self,
        data: &Observed<T>,
        factors: &Factors<'_, T>,
        at: &Block<T>,
        (mut spectral, reason): (Info<T>, String),
        mut refinement: Info<T>,
    ) -> Result<Completed<T>> {
        spectral.reason.clone_from(&reason);
        // The certificate: recomputed at the answer.
        let mut unused = Block::zeros(at.rows(), at.cols());
        let reading = factors.gradient(at.as_ref(), unused.as_mut(), &mut Workspace::new())?;
        refinement.residuals = vec![T::of(reading.residual)];
        refinement.applications += 1;
        refinement.passes += 1.0;
        let mut completed = Completed {
            thin: factors.thin(at)?,
            symmetric: self.symmetric,
            residual: reading.residual,
            held_out: None,
            undetermined: (
                thin_rows(&data.train, self.rank),
                thin_rows(&data.transposed, self.rank),
            ),
            tolerance: self.tolerance,
            reason,
            spectral,
            refinement,
        };
        completed.held_out = completed.error_on(&data.held).map(|error| (error, data.held.len()));
        Ok(completed)
    }

    fn check(&self, (rows, cols): (usize, usize)) -> Result<()> {
        let check = |name, value: f64, good: bool, need| {
            if value.is_finite() && good {
                Ok(())
            } else {
                Err(ErrorKind::Parameter { name, value, need })
            }
        };
        check_count("rank", self.rank, rows.min(cols), "the smaller side")?;
        let held = self.held_out;
        check("held-out fraction", held, (0.0..1.0).contains(&held), "must be in [0, 1)")?;
        let need = "must be finite and at least 0";
        check("tolerance", self.tolerance, self.tolerance >= 0.0, need)?;
        let spectral = self.spectral_tolerance;
        check("spectral tolerance", spectral, spectral >= 0.0, need)?;
        Ok(())
    }
}
