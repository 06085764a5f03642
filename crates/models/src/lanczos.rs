//! [`Lanczos`]: the largest eigenpairs of a symmetric operator, by block Lanczos.

use std::ops::ControlFlow;

use faer::Mat;
use favard_engine::{Info, Record, Stop};
use favard_operator::{Block, LinearOperator, Orthonormalizer, Scalar, Workspace, ops};

use crate::Eigen;
use crate::error::{ErrorKind, Result};
use crate::exact::exact_eigen;
use crate::memory;
use crate::symmetric::symmetric_eigen;

/// Block Lanczos with thick restart and full reorthogonalisation.
///
/// The basis $V = [V_1, V_2, \dots]$ grows by a panel of b columns a step: $W = A V_j$ is made
/// orthogonal to all of $V$ (twice), its QR factor is the next panel, and the eigenpairs of
/// $T = V^T A V$ are the Ritz pairs. When the basis is full it is compressed to the best Ritz
/// vectors and goes on. A block of eight columns costs a sparse product little more than two, finds
/// eigenvalues of multiplicity up to eight, and needs fewer passes than a single vector.
///
/// It is not a point of the engine: its coefficients are inner products of the step itself. It has
/// the same operators, the same [`Info`], and the same promise: running out of budget is a
/// [`Stop`], and the vectors come back with residuals recomputed from the operator.
///
/// # Cost
/// One block product a step; 8 n m b flops to orthogonalise against m basis columns; memory of
/// n (m + 3b) numbers with m = max(2k, k + 4b) unless [`basis`](Self::basis) says otherwise.
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
        let (width, tolerance) = (8, 1e-8);
        Self { components, width, basis: 0, tolerance, products: 1000, seed: 1 }
    }

    /// The number b of columns of a panel; 8 unless said otherwise.
    #[must_use]
    pub fn width(self, width: usize) -> Self {
        Self { width, ..self }
    }

    /// The number of basis columns at which a restart compresses; at least k + 2b is used.
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

    /// Bytes that a run on an operator of this dimension allocates at most at a time, beside the
    /// operator's own scratch: the basis, the panel and its image, a compressed basis, the scratch
    /// of the QR, the small eigenproblem; at the end the vectors and their images.
    #[must_use]
    pub fn memory<T: Scalar>(&self, dim: usize) -> usize {
        let width = self.width.min(dim);
        let least = self.components + 2 * width;
        let wanted = if self.basis == 0 {
            (2 * self.components).max(self.components + 4 * width)
        } else {
            self.basis.max(least)
        };
        if wanted + width >= dim {
            return memory::exact::<T>(dim, self.components);
        }
        let room = wanted + width;
        let keep = self.components + (wanted - width).saturating_sub(self.components) / 2;
        let small = memory::symmetric::<T>(room) + 2 * room * room * size_of::<T>();
        // Compressing, and the panels of the QR and of the products with the basis.
        let pool = memory::block::<T>(dim, keep) + 2 * memory::block::<T>(dim, width);
        let running = memory::block::<T>(dim, room) + 2 * memory::block::<T>(dim, width);
        small + pool + running.max(memory::span::<T>(dim, self.components))
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
        let dim = self.check(op.shape())?;
        let width = self.width.min(dim);
        let least = self.components + 2 * width;
        let wanted = if self.basis == 0 {
            (2 * self.components).max(self.components + 4 * width)
        } else {
            self.basis.max(least)
        };
        if wanted + width >= dim {
            // The basis would be the whole space: the matrix itself is no larger.
            return exact_eigen(op, self.components);
        }
        let mut run = Run::new(op, dim, width, wanted, self);
        run.begin(start)?;
        let stop = run.iterate(watch)?;
        run.finish(stop)
    }

    fn check(&self, (rows, cols): (usize, usize)) -> Result<usize> {
        use favard_operator::ErrorKind as Kind;
        if rows != cols {
            let kind = Kind::NotSquare { what: "Lanczos", rows, cols };
            return Err(favard_operator::Error::from(kind).into());
        }
        let bad = |name, value: f64, need| Err(ErrorKind::Parameter { name, value, need }.into());
        if self.components == 0 {
            return bad("components", 0.0, "must be at least 1");
        }
        if self.components > rows {
            let need = "must not exceed the dimension of the operator";
            return bad("components", self.components as f64, need);
        }
        if self.width == 0 {
            return bad("width", 0.0, "must be at least 1");
        }
        if !(self.tolerance.is_finite() && self.tolerance >= 0.0) {
            return bad("tolerance", self.tolerance, "must be finite and at least 0");
        }
        Ok(rows)
    }
}

/// The state of a run.
struct Run<'a, T: Scalar, A: ?Sized> {
    op: &'a A,
    plan: &'a Lanczos,
    width: usize,
    /// V, with room for a full basis and one panel more.
    basis: Block<T>,
    /// Columns of V in use; the last panel of them has not been multiplied yet.
    used: usize,
    /// T = VᵀAV over the columns that have been multiplied.
    small: Mat<T>,
    /// The panel, and A times it.
    panel: Block<T>,
    image: Block<T>,
    /// Ritz values, descending, with the coefficients of their vectors, and residuals.
    values: Vec<T>,
    rotation: Mat<T>,
    residuals: Vec<T>,
    qr: Orthonormalizer<T>,
    /// Independent columns of `image` when it was orthonormalised last.
    rank: usize,
    room: usize,
    products: u64,
    history: Vec<Record<T>>,
    ws: Workspace<T>,
}

impl<'a, T: Scalar, A: LinearOperator<T> + ?Sized> Run<'a, T, A> {
    fn new(op: &'a A, dim: usize, width: usize, room: usize, plan: &'a Lanczos) -> Self {
        Self {
            op,
            plan,
            width,
            basis: Block::zeros(dim, room + width),
            used: 0,
            small: Mat::zeros(room + width, room + width),
            panel: Block::zeros(dim, width),
            image: Block::zeros(dim, width),
            values: Vec::new(),
            rotation: Mat::zeros(0, 0),
            residuals: Vec::new(),
            qr: Orthonormalizer::new(width),
            room,
            products: 0,
            history: Vec::new(),
            rank: 0,
            ws: Workspace::new(),
        }
    }

    fn dim(&self) -> usize {
        self.basis.rows()
    }

    /// The start panel: given columns, filled up at random.
    fn begin(&mut self, start: Option<&Block<T>>) -> Result<()> {
        let (dim, width) = (self.dim(), self.width);
        self.image = Block::gaussian(dim, width, self.plan.seed);
        if let Some(start) = start {
            favard_operator::check_dim("rows of the start", dim, start.rows())?;
            for i in 0..dim {
                let given = start.row(i).iter().take(width);
                self.image.row_mut(i).iter_mut().zip(given).for_each(|(to, &from)| *to = from);
            }
        }
        self.orthonormalize()?;
        self.append()
    }

    /// image = Q R; image ← Q.
    fn orthonormalize(&mut self) -> Result<()> {
        self.rank = self.qr.orthonormalize(&mut [&mut self.image], &mut self.ws)?;
        Ok(())
    }

    /// Appends the orthonormal `image` as the next panel.
    fn append(&mut self) -> Result<()> {
        // Random columns that took the place of dependent ones are not yet orthogonal to V.
        for _ in 0..2 {
            if self.rank < self.width {
                self.project(None)?;
                self.orthonormalize()?;
            }
        }
        let (from, to) = (self.used, self.used + self.width);
        ops::copy(self.image.as_ref(), self.basis.as_mut().cols_range(from..to))?;
        self.used = to;
        Ok(())
    }

    /// image ← image − V (Vᵀ image), twice; the coefficients are added up in `into`.
    fn project(&mut self, mut into: Option<&mut Block<T>>) -> Result<()> {
        let (used, width) = (self.used, self.image.cols());
        if used == 0 {
            return Ok(());
        }
        for _ in 0..2 {
            let v = self.basis.as_ref().cols_range(0..used);
            let mut h = self.ws.take(used, width);
            ops::cross(v, self.image.as_ref(), h.as_mut(), &mut self.ws)?;
            ops::right_multiply(-T::one(), v, h.as_ref(), T::one(), self.image.as_mut())?;
            if let Some(into) = into.as_deref_mut() {
                ops::axpby(T::one(), h.as_ref(), T::one(), into.as_mut())?;
            }
            self.ws.give(h);
        }
        Ok(())
    }

    /// Multiplies the fresh panel, puts the coefficients into T, and leaves in `image` what is
    /// orthogonal to the basis.
    fn expand(&mut self) -> Result<()> {
        let (used, width) = (self.used, self.width);
        let from = used - width;
        self.panel.assign(self.basis.as_ref().cols_range(from..used))?;
        // W = A V_j
        let (panel, image) = (self.panel.as_ref(), self.image.as_mut());
        self.op.apply(T::one(), panel, T::zero(), image, &mut self.ws)?;
        self.products += 1;
        // T[:, j] = VᵀW
        let mut h = self.ws.take_zeros(used, width);
        self.project(Some(&mut h))?;
        if let Some((_, column)) = ops::find_non_finite(h.as_ref()) {
            let row = ops::find_non_finite(self.image.as_ref()).map_or(0, |(row, _)| row);
            let (what, value) = ("product of the operator", f64::NAN);
            let kind = favard_operator::ErrorKind::NonFinite { what, row, column, value };
            return Err(favard_operator::Error::from(kind).into());
        }
        for j in 0..width {
            for i in 0..used {
                let own = i >= from;
                // The block on the diagonal is symmetric up to rounding: make it so.
                let value = if own {
                    (h.row(i)[j] + h.row(from + j)[i - from]) * T::of(0.5)
                } else {
                    h.row(i)[j]
                };
                self.small[(i, from + j)] = value;
                self.small[(from + j, i)] = value;
            }
        }
        self.ws.give(h);
        Ok(())
    }

    /// Ritz pairs of T, and the residuals ‖R y‖ with R of the next panel and y the last rows of the
    /// eigenvector.
    fn ritz(&mut self) -> Result<()> {
        let used = self.used;
        let matrix = self.small.as_ref().submatrix(0, 0, used, used);
        (self.values, self.rotation) = symmetric_eigen(matrix)?;
        let last = used - self.width;
        let r = self.qr.r();
        let residual = |j: usize| {
            let entry = |i: usize| -> T {
                (i..self.width).map(|p| r.row(i)[p] * self.rotation[(last + p, j)]).sum()
            };
            (0..self.width).map(|i| entry(i) * entry(i)).sum::<T>().sqrt()
        };
        self.residuals = (0..used).map(residual).collect();
        Ok(())
    }

    fn iterate(&mut self, watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>) -> Result<Stop> {
        let components = self.plan.components;
        loop {
            self.expand()?;
            // W = V_{j+1} R
            self.orthonormalize()?;
            self.ritz()?;
            let scale = self.values.iter().fold(T::zero(), |m, v| m.max(v.abs())).as_f64();
            let leading = self.residuals.iter().take(components);
            let worst = leading.fold(T::zero(), |m, &r| m.max(r));
            let (tick, ritz) = (self.products, self.values[0]);
            let record = Record { tick, passes: tick as f64, ritz, residual: worst };
            self.history.push(record);
            let enough = self.used >= components;
            if enough && worst.as_f64() <= self.plan.tolerance * scale {
                return Ok(Stop::Converged);
            }
            if let ControlFlow::Break(stop) = watch(&record) {
                return Ok(stop);
            }
            if self.products >= self.plan.products {
                return Ok(Stop::Iterations);
            }
            if self.used + self.width > self.room {
                self.compress()?;
            }
            self.append()?;
        }
    }

    /// V ← V Y over the best Ritz vectors, T ← diag(θ).
    fn compress(&mut self) -> Result<()> {
        // Half of what is left beside the wanted ones keeps the neighbours' information.
        let spare = (self.room - self.width).saturating_sub(self.plan.components) / 2;
        let keep = (self.plan.components + spare).min(self.used - 1).max(1);
        self.rotate(keep)?;
        self.used = keep;
        for j in 0..keep {
            for i in 0..keep {
                let value = if i == j { self.values[j] } else { T::zero() };
                self.small[(i, j)] = value;
            }
        }
        Ok(())
    }

    /// V[:, ..keep] ← V Y[:, ..keep].
    fn rotate(&mut self, keep: usize) -> Result<()> {
        let used = self.used;
        let y = Block::from_fn(used, keep, |i, j| self.rotation[(i, j)]);
        let mut out = self.ws.take(self.basis.rows(), keep);
        let v = self.basis.as_ref().cols_range(0..used);
        ops::right_multiply(T::one(), v, y.as_ref(), T::zero(), out.as_mut())?;
        ops::copy(out.as_ref(), self.basis.as_mut().cols_range(0..keep))?;
        self.ws.give(out);
        Ok(())
    }

    /// The wanted Ritz vectors, with residuals recomputed from the operator.
    fn finish(mut self, stop: Stop) -> Result<Eigen<T>> {
        let count = self.plan.components.min(self.used);
        self.rotate(count)?;
        let vectors = self.basis.as_ref().cols_range(0..count).to_owned();
        drop(self.basis);
        let info = Info {
            stop,
            iterations: self.products,
            applications: self.products,
            passes: self.products as f64,
            seed: Some(self.plan.seed),
            history: self.history,
            ritz: Vec::new(),
            residuals: Vec::new(),
        };
        let mut found = Eigen::of_span(self.op, &vectors, count, info)?;
        // What the recurrence promised, the recomputed residuals must keep, up to rounding.
        let rounding = T::EPSILON.as_f64() * vectors.rows() as f64;
        if stop == Stop::Converged && !found.meets(self.plan.tolerance.max(rounding)) {
            found.info.stop = Stop::Stagnated;
        }
        Ok(found)
    }
}
