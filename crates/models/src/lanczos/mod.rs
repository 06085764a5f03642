//! [`Lanczos`]: the largest eigenpairs of a symmetric operator, by block Lanczos.

mod copies;
mod doubt;
mod run;
mod state;

use std::ops::ControlFlow;

use favard_engine::{Record, Stop};
use favard_operator::{Block, LinearOperator, Scalar};

use crate::checkpoint::{self, Keeper};
use crate::error::{ErrorKind, Result, check_count};
use crate::exact::solve_formed;
use crate::{Checkpoints, Eigen, memory};
use run::Run;
use state::State;

/// The kind of file that runs for eigenpairs are saved to.
pub(crate) const EIGENPAIRS: &str = "eigenpairs";

/// Rows of the basis, and multiplications of a product for each of them, from which on panels of 8
/// columns pay.
const RICH: f64 = 256.0;

/// Runs from a beginning, or from the state that is taken up, to the end.
fn go<T: Scalar, A: LinearOperator<T> + ?Sized>(
    mut run: Run<'_, T, A>,
    (dim, width, room): (usize, usize, usize),
    keeper: &mut Keeper,
    watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    begin: impl FnOnce(&mut Run<'_, T, A>) -> Result<()>,
) -> Result<Eigen<T>> {
    keeper.mark("columns of a panel", width)?;
    keeper.mark("columns of the basis", room)?;
    if let Some(state) = keeper.take::<State<'static, T>>()? {
        if let Some(problem) = state.problem(dim, width, run.most) {
            return Err(ErrorKind::Damaged { problem }.into());
        }
        run.restore(state);
    } else {
        begin(&mut run)?;
        run.step()?;
    }
    let stop = run.iterate(keeper, watch)?;
    run.finish(stop)
}

/// Block Lanczos with thick restart and full reorthogonalisation.
///
/// The basis $V = (V_1, V_2, \dots)$ grows by a panel of b columns a step: $W = A V_j$ is made
/// orthogonal to the panels that the recurrence couples it to (the last two; after a restart all),
/// then once more to all of $V$, its QR factor is the next panel, and the eigenpairs of
/// $T = V^T A V$ are the Ritz pairs. When the basis is full it is compressed to the best Ritz
/// vectors and goes on. A panel costs a sparse product little more than a vector, finds eigenvalues
/// of multiplicity up to b, and needs fewer passes.
///
/// # Repeated eigenvalues
/// A Krylov space has min(m, b) directions of an eigenspace of dimension m. When a run has converged
/// and an eigenvalue was found b times or more (a group of values whose spread is at most a
/// sixteenth of its distance from the others), there may be more of it. The run then goes on from its
/// pairs, with a random panel, to one more pair, roughly: a copy that was missed shows. Only if there is
/// one the problem is solved again with panels twice as wide, as often as necessary; the cost is added up.
/// Other spectra pay nothing for it. What cannot be seen is a repeated value whose distance from the next one the
/// tolerance does not resolve; and b = 1, where every value is found once, is left as it is.
///
/// It is not a point of the engine: its coefficients are inner products of the step itself. It has
/// the same operators, the same [`Info`](favard_engine::Info), and the same promise: running out of
/// budget is a [`Stop`], and the vectors come back with residuals recomputed from the operator.
///
/// # Cost
/// One block product a step; 4 n m b flops, in two passes over the basis, to orthogonalise against m
/// basis columns; memory: see [`memory`](Self::memory).
///
/// # Panels and basis
/// Unless said otherwise b is a quarter of a cache line (2 columns of `f64`, 4 of `f32`) for one
/// component, half a line up to 16 components and a whole line beyond, and the basis has
/// m = max(k + 8b, 2k + 5b) columns, but no fewer beside the components than half lines would
/// have. Block products to a residual of 1e-8 on three sparse sets of a million entries (text,
/// check-ins, gene counts), with the cost of a product relative to b = 8:
///
/// | k | b = 2, cost 0.6 | b = 4, cost 0.7–0.8 | b = 8, cost 1 | b = 16, cost 2–2.3 |
/// |---|---|---|---|---|
/// | 1 | 16, 11, 6 | 13, 10, 6 | 11, 9, 6 | |
/// | 10 | | 19, 21, 21 | 15, 16, 17 | 11, 13, 14 |
/// | 50 | | | 32, 32, 42 | 21, 23, 29 |
///
/// Up to 16 components b is 8 for `f64` too where the basis has 256 rows or more and a product 256
/// multiplications or more for each of them, so that it outweighs the orthogonalisation. Milliseconds
/// for k = 10, to residuals of 1e-4 and 1e-8, b = 4 and b = 8 (two threads, best of 7, one run, a noisy
/// machine):
///
/// | data | multiplications a row | 1e-4 | 1e-8 |
/// |---|---|---|---|
/// | gene counts, 10 million entries | 2630 | 229, 212 | 326, 284 |
/// | text, 1.6 million entries | 389 | 69, 66 | 98, 74 |
/// | random entries, 1 million | 199 | 309, 311 | 454, 608 |
/// | ratings, 1 million entries | 106 | 72, 79 | 125, 130 |
///
/// A basis without end saved at most one product of these. A spectrum without gaps is another matter:
/// when the basis has been filled twice it grows, up to 16 components, by 4b columns (random entries,
/// k = 10: 40,000 × 10,000 to 1e-8 with b = 4, 154 products instead of 204; 100,000 × 20,000 to 1e-6 with
/// b = 8, 118 instead of 148, in 3.3 s instead of 3.8). On text of 12 million entries one component
/// takes 10 products with b = 2, 4 alike.
///
/// # Example
/// ```
/// use favard_models::Lanczos;
/// use favard_operator::Diagonal;
/// let op = Diagonal::new((0..1000).map(|i| 1.0 / (1.0 + f64::from(i))).collect())?;
/// let found = Lanczos::new(3).tolerance(1e-10).solve(&op)?;
/// for (value, exact) in found.values.iter().zip([1.0, 0.5, 1.0 / 3.0]) {
///     assert!((value - exact).abs() < 1e-10);
/// }
/// assert!(found.residuals.iter().all(|r| *r <= 1e-10));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// Wu and Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems", 2000.
#[derive(Debug, Clone, PartialEq)]
pub struct Lanczos {
    components: usize,
    width: usize,
    basis: usize,
    tolerance: f64,
    products: u64,
    seed: u64,
}

impl Lanczos {
    /// For the `components` largest eigenvalues.
    #[must_use]
    pub fn new(components: usize) -> Self {
        Self { components, width: 0, basis: 0, tolerance: 1e-8, products: 1000, seed: 1 }
    }

    /// The number b of columns of a panel; 0 for the rule above. Where each column costs the operator as
    /// much as the first, narrow panels are better: they need fewer columns in all.
    #[must_use]
    pub fn width(self, width: usize) -> Self {
        Self { width, ..self }
    }

    /// The number m of basis columns at which a restart compresses, 0 for the rule above; at least
    /// k + 3b is used.
    #[must_use]
    pub fn basis(self, basis: usize) -> Self {
        Self { basis, ..self }
    }

    /// Stop when every residual is at most this times the largest eigenvalue; 1e-8 unless said
    /// otherwise.
    #[must_use]
    pub fn tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// Block products at most; 1000 unless said otherwise.
    #[must_use]
    pub fn products(self, products: u64) -> Self {
        Self { products, ..self }
    }

    /// The seed of the start panel.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// k.
    #[must_use]
    pub(crate) fn components(&self) -> usize {
        self.components
    }

    /// Tolerance, products and seed.
    pub(crate) fn limits(&self) -> (f64, u64, u64) {
        (self.tolerance, self.products, self.seed)
    }

    /// Runs from a random panel.
    ///
    /// # Errors
    /// When the operator is not square, when k is 0 or larger than the dimension, when a parameter
    /// is out of range, or when the operator fails or gives a non-finite number.
    pub fn solve<T: Scalar>(&self, op: &(impl LinearOperator<T> + ?Sized)) -> Result<Eigen<T>> {
        self.solve_watched(op, None, &mut |_| ControlFlow::Continue(()))
    }

    /// Runs from given columns (an earlier result, say), with a callback after every step that can
    /// stop it.
    ///
    /// # Errors
    /// Those of [`solve`](Self::solve), and a start with another number of rows.
    pub fn solve_watched<T: Scalar>(
        &self,
        op: &(impl LinearOperator<T> + ?Sized),
        start: Option<&Block<T>>,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Eigen<T>> {
        let found = self.solve_kept(op, start, &mut Keeper::default(), watch)?;
        self.prove(op, found)
    }

    /// Runs from given columns, saved as it goes, or takes up a run that was: see [`Checkpoints`].
    /// The columns are those of the run that is taken up.
    ///
    /// An operator that is hardly larger than the basis is solved exactly, in one step: there is
    /// nothing to save then.
    ///
    /// # Errors
    /// Those of [`solve_watched`](Self::solve_watched), and those of the files.
    ///
    /// # Example
    /// ```
    /// use std::ops::ControlFlow;
    /// use favard_engine::Stop;
    /// use favard_models::{Checkpoints, Lanczos};
    /// use favard_operator::Diagonal;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("run.favard");
    /// let op = Diagonal::new((0..1000).map(|i| 1.0 / (1.0 + f64::from(i))).collect())?;
    /// let lanczos = Lanczos::new(3);
    /// let stop = &mut |_: &_| ControlFlow::Break(Stop::Requested); // after the first step
    /// lanczos.solve_saved(&op, None, &Checkpoints::new().save(&path), stop)?;
    /// let go_on = &mut |_: &_| ControlFlow::Continue(());
    /// let resumed = lanczos.solve_saved(&op, None, &Checkpoints::new().resume(&path), go_on)?;
    /// assert_eq!(resumed, lanczos.solve(&op)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn solve_saved<T: Scalar>(
        &self,
        op: &(impl LinearOperator<T> + ?Sized),
        start: Option<&Block<T>>,
        checkpoints: &Checkpoints,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Eigen<T>> {
        let dim = self.check(op.shape())?;
        let mut keeper = Keeper::open::<T>(checkpoints, EIGENPAIRS)?;
        keeper.mark("solver", "krylov")?;
        keeper.mark("dimension", dim)?;
        keeper.mark("work of a product", op.work())?;
        keeper.mark("components", self.components)?;
        keeper.mark("seed", self.seed)?;
        keeper.mark("start", start.map_or("random".to_string(), checkpoint::hash))?;
        let found = self.solve_kept(op, start, &mut keeper, watch)?;
        self.prove(op, found)
    }

    /// The pairs of a run with residuals recomputed from the operator, and their certificate.
    fn prove<T: Scalar>(
        &self,
        op: &(impl LinearOperator<T> + ?Sized),
        mut found: Eigen<T>,
    ) -> Result<Eigen<T>> {
        // The vectors as they are: another basis of the space of a repeated value would share its
        // residual out in another way.
        found.recompute(op, self.tolerance)?;
        Ok(found.proved(self.tolerance, self.components))
    }

    /// Runs with a keeper that knows the problem. The residuals are those of the iteration: whoever shows
    /// them to anybody recomputes them.
    pub(crate) fn solve_kept<T: Scalar>(
        &self,
        op: &(impl LinearOperator<T> + ?Sized),
        start: Option<&Block<T>>,
        keeper: &mut Keeper,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Eigen<T>> {
        let dim = self.check(op.shape())?;
        let (width, room) = self.sizes::<T>(dim, op.work());
        if room + width >= dim {
            return self.solve_small(op, watch);
        }
        let run = Run::new(op, dim, width, room, self);
        let found = go(run, (dim, width, room), keeper, watch, |run| run.begin(start))?;
        self.without_doubt(op, found, width, watch)
    }

    /// Goes on from pairs that were found earlier, to more of them, without finding those again:
    /// they are the basis that a restart would have kept. The vectors are orthonormal.
    ///
    /// # Errors
    /// Those of [`solve`](Self::solve), and pairs with another number of rows.
    ///
    /// # Example
    /// ```
    /// use favard_models::Lanczos;
    /// use favard_operator::Diagonal;
    /// let op = Diagonal::new((0..1000).map(|i| 1.0 / (1.0 + f64::from(i))).collect())?;
    /// let twenty = Lanczos::new(20).solve(&op)?;
    /// let go_on = &mut |_: &_| std::ops::ControlFlow::Continue(());
    /// let more = Lanczos::new(25).extend(&op, &twenty.values, &twenty.vectors, go_on)?;
    /// assert!((more.values[24] - 0.04_f64).abs() < 1e-8);
    /// assert!(more.info.applications < Lanczos::new(25).solve(&op)?.info.applications);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn extend<T: Scalar>(
        &self,
        op: &(impl LinearOperator<T> + ?Sized),
        values: &[T],
        vectors: &Block<T>,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Eigen<T>> {
        let found = self.extend_kept(op, (values, vectors), &mut Keeper::default(), watch)?;
        self.prove(op, found)
    }

    /// Goes on from pairs with a keeper that knows the problem; the residuals are as in
    /// [`solve_kept`](Self::solve_kept).
    pub(crate) fn extend_kept<T: Scalar>(
        &self,
        op: &(impl LinearOperator<T> + ?Sized),
        (values, vectors): (&[T], &Block<T>),
        keeper: &mut Keeper,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Eigen<T>> {
        let dim = self.check(op.shape())?;
        let (width, room) = self.sizes::<T>(dim, op.work());
        favard_operator::check_dim("values", vectors.cols(), values.len())?;
        let room = room + values.len();
        if room + width >= dim {
            return self.solve_small(op, watch);
        }
        let run = Run::new(op, dim, width, room, self);
        let sizes = (dim, width, room);
        let found = go(run, sizes, keeper, watch, |run| run.begin_from(values, vectors))?;
        self.without_doubt(op, found, width, watch)
    }

    /// The basis would be the whole space: the matrix itself is no larger.
    fn solve_small<T: Scalar>(
        &self,
        op: &(impl LinearOperator<T> + ?Sized),
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Eigen<T>> {
        let found = solve_formed(op, None, self.components)?;
        if let Some(record) = found.info.history.last() {
            // There is nothing left to stop.
            let _ = watch(record);
        }
        Ok(found)
    }

    /// b and m, a multiple of b, for an operator whose product with a column takes so many
    /// multiplications.
    pub(crate) fn sizes<T: Scalar>(&self, dim: usize, work: f64) -> (usize, usize) {
        let k = self.components.min(dim);
        let line = match k {
            1 => T::LANE / 4,
            2..=16 if dim as f64 >= RICH && work >= RICH * dim as f64 => 8,
            2..=16 => T::LANE / 2,
            _ => T::LANE,
        };
        let b = if self.width == 0 { line } else { self.width }.min(dim).max(1);
        let own = (k + (8 * b).max(4 * T::LANE)).max(2 * k + 5 * b);
        let m = if self.basis == 0 { own } else { self.basis.min(dim) };
        (b, m.max(k + 3 * b).next_multiple_of(b))
    }

    /// The columns by which the basis grows when two fillings of it were not enough: 4b for the panels
    /// of 2 to 16 components, unless the caller has chosen it or the space is hardly larger.
    fn growth<T: Scalar>(&self, dim: usize, (b, m): (usize, usize)) -> usize {
        let fits = self.components <= 16 && (T::LANE / 2..=8).contains(&b);
        let grows = self.basis == 0 && fits && m + 5 * b < dim;
        if grows { 4 * b } else { 0 }
    }

    /// Bytes that a run on an operator of this dimension allocates at most at a time, beside the
    /// operator's own scratch: the basis, the next panel and the scratch of its QR, the small
    /// eigenproblem, and at the end the vectors and their images. About n (m + 3b + k) numbers, with the
    /// wider panels where the operator decides.
    ///
    /// # Example
    /// ```
    /// use favard_models::Lanczos;
    /// // Ten components of 50,000 columns: less than 164 columns of numbers.
    /// let columns = Lanczos::new(10).memory::<f64>(50_000) / (50_000 * 8);
    /// assert!((144..164).contains(&columns));
    /// ```
    #[must_use]
    pub fn memory<T: Scalar>(&self, dim: usize) -> usize {
        self.memory_for::<T>(dim, 0.0).max(self.memory_for::<T>(dim, f64::INFINITY))
    }

    /// Whether the basis would be all of the space: then the matrix is formed and solved.
    pub(crate) fn forms<T: Scalar>(&self, dim: usize, work: f64) -> bool {
        let (b, m) = self.sizes::<T>(dim, work);
        m + b >= dim
    }

    /// The same for an operator whose product with a column takes so many multiplications.
    pub(crate) fn memory_for<T: Scalar>(&self, dim: usize, work: f64) -> usize {
        let (b, m) = self.sizes::<T>(dim, work);
        if self.forms::<T>(dim, work) {
            return memory::exact::<T>(dim, self.components, memory::slabs::<T>(dim));
        }
        let m = m + self.growth::<T>(dim, (b, m));
        let small = memory::symmetric::<T>(m + b) + 3 * (m + b) * (m + b) * size_of::<T>();
        let panels = (m / b + 4) * memory::block::<T>(dim, b);
        let running = panels + memory::block::<T>(dim, self.components);
        small + running.max(memory::span::<T>(dim, self.components))
    }

    fn check(&self, (rows, cols): (usize, usize)) -> Result<usize> {
        use favard_operator::ErrorKind as Kind;
        if rows != cols {
            let kind = Kind::NotSquare { what: "Lanczos", rows, cols };
            return Err(favard_operator::Error::from(kind).into());
        }
        let bad = |name, value: f64, need| Err(ErrorKind::Parameter { name, value, need }.into());
        check_count("components", self.components, rows, "the dimension of the operator")?;
        if !(self.tolerance.is_finite() && self.tolerance >= 0.0) {
            return bad("tolerance", self.tolerance, "must be finite and at least 0");
        }
        Ok(rows)
    }
}
