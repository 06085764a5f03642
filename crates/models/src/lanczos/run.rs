//! [`Run`]: the state of block Lanczos.

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};

use faer::Mat;
use favard_engine::{Info, Record, Stop};
use favard_operator::{Block, BlockRef, LinearOperator, Orthonormalizer, Scalar, Workspace, ops};

use super::Lanczos;
use super::state::{Seen, State};
use crate::Eigen;
use crate::checkpoint::Keeper;
use crate::error::Result;
use crate::symmetric::symmetric_eigen;

/// How much smaller a diagonal entry of R may be than the largest: beyond, rounding left of the
/// projection is too large a part of that column, and it is projected once more.
const SPREAD: f64 = 1e-3;

/// The state of a run.
pub(super) struct Run<'a, T: Scalar, A: ?Sized> {
    op: &'a A,
    plan: &'a Lanczos,
    /// b, m, and what m may grow to.
    width: usize,
    room: usize,
    pub(super) most: usize,
    /// V, panel by panel; the last panel has not been multiplied yet.
    panels: Vec<Block<T>>,
    /// The panels before the last that A times it is coupled to begin here: the one before, or
    /// after a restart all.
    coupled: usize,
    /// What the next panel is made of.
    image: Block<T>,
    /// Panels of before a restart. They stay out of the workspace, from which one would come back
    /// as a larger block than it needs.
    spare: Vec<Block<T>>,
    /// T = VᵀAV over the columns that have been multiplied.
    small: Mat<T>,
    /// Ritz values, descending, with the coefficients of their vectors, and residuals.
    values: Vec<T>,
    rotation: Mat<T>,
    residuals: Vec<T>,
    qr: Orthonormalizer<T>,
    /// R and the number of independent columns of `image` when it was orthonormalised last.
    r: Block<T>,
    rank: usize,
    products: u64,
    /// The product after which the Ritz pairs are looked at next.
    check: u64,
    /// What was seen when they were looked at last.
    seen: Seen<T>,
    history: Vec<Record<T>>,
    ws: Workspace<T>,
}

fn views<T: Scalar>(panels: &[Block<T>]) -> Vec<BlockRef<'_, T>> {
    panels.iter().map(Block::as_ref).collect()
}

impl<'a, T: Scalar, A: LinearOperator<T> + ?Sized> Run<'a, T, A> {
    pub fn new(op: &'a A, dim: usize, width: usize, room: usize, plan: &'a Lanczos) -> Self {
        let most = room + plan.growth::<T>(dim, (width, room));
        Self {
            op,
            plan,
            width,
            room,
            panels: Vec::new(),
            coupled: 0,
            image: Block::gaussian(dim, width, plan.seed),
            spare: Vec::new(),
            most,
            small: Mat::zeros(most + width, most + width),
            values: Vec::new(),
            rotation: Mat::zeros(0, 0),
            residuals: Vec::new(),
            qr: Orthonormalizer::new(width),
            r: Block::zeros(width, width),
            rank: 0,
            products: 0,
            check: 0,
            seen: (T::zero(), T::infinity(), 0),
            history: Vec::new(),
            ws: Workspace::new(),
        }
    }

    /// The columns at which a restart compresses: they grow once the basis has been filled twice.
    fn room(&self) -> usize {
        let filled = self.products * self.width as u64 >= 2 * self.room as u64;
        if filled { self.most } else { self.room }
    }

    /// Columns of V.
    fn used(&self) -> usize {
        self.panels.iter().map(Block::cols).sum()
    }

    /// The start panel: random, or given columns, filled up at random where there are too few and
    /// added up where there are too many (column j into j mod b).
    pub fn begin(&mut self, start: Option<&Block<T>>) -> Result<()> {
        if let Some(start) = start {
            favard_operator::check_dim("rows of the start", self.image.rows(), start.rows())?;
            for i in 0..start.rows() {
                let row = self.image.row_mut(i);
                row.iter_mut().take(start.cols()).for_each(|entry| *entry = T::zero());
                for chunk in start.row(i).chunks(self.width) {
                    row.iter_mut().zip(chunk).for_each(|(to, &from)| *to += from);
                }
            }
        }
        self.orthonormalize()?;
        self.append()
    }

    /// The state after a restart that kept the given pairs, with a random panel to go on from.
    pub fn begin_from(&mut self, values: &[T], vectors: &Block<T>) -> Result<()> {
        favard_operator::check_dim("rows of the pairs", self.image.rows(), vectors.rows())?;
        for (j, &value) in values.iter().enumerate() {
            self.small[(j, j)] = value;
        }
        self.panels.push(vectors.clone());
        for _ in 0..2 {
            self.project(0..1, None)?;
            self.orthonormalize()?;
        }
        self.append()
    }

    /// image = Q R; image ← Q.
    fn orthonormalize(&mut self) -> Result<()> {
        self.rank = self.qr.orthonormalize(&mut [&mut self.image], &mut self.ws)?;
        self.r.assign(self.qr.r().as_ref())?;
        Ok(())
    }

    /// Whether some column of `image` was so small that what rounding left of V in it is no longer
    /// negligible, or was no direction at all and has a random one in its place.
    fn is_doubtful(&self) -> bool {
        let diagonal = || (0..self.width).map(|j| self.r.row(j)[j]);
        let (least, most) =
            diagonal().fold((T::infinity(), T::zero()), |(a, b), d| (a.min(d), b.max(d)));
        self.rank < self.width || least < most * T::of(SPREAD)
    }

    /// Appends the orthonormal `image` as the next panel.
    fn append(&mut self) -> Result<()> {
        for _ in 0..2 {
            if !self.panels.is_empty() && self.is_doubtful() {
                self.project(0..self.panels.len(), None)?;
                self.orthonormalize()?;
            }
        }
        let fresh = self.spare.pop();
        let fresh = fresh.unwrap_or_else(|| Block::zeros(self.image.rows(), self.width));
        self.panels.push(std::mem::replace(&mut self.image, fresh));
        Ok(())
    }

    /// image ← image − V (Vᵀ image) over some panels; the coefficients are added to `into`.
    fn project(&mut self, over: Range<usize>, into: Option<&mut Block<T>>) -> Result<()> {
        let columns = |panels: &[Block<T>]| panels.iter().map(Block::cols).sum::<usize>();
        let first = columns(&self.panels[..over.start]);
        let mut h = self.ws.take(columns(&self.panels[over.clone()]), self.width);
        let v = views(&self.panels[over]);
        ops::cross_panels(&v, self.image.as_ref(), h.as_mut(), &mut self.ws)?;
        let image = self.image.as_mut();
        ops::right_multiply_panels(-T::one(), &v, h.as_ref(), T::one(), image)?;
        if let Some(into) = into {
            let rows = first..first + h.rows();
            ops::axpby(T::one(), h.as_ref(), T::one(), into.as_mut().rows_range(rows))?;
        }
        self.ws.give(h);
        Ok(())
    }

    /// Multiplies the last panel, puts the coefficients into T, and leaves in `image` what is
    /// orthogonal to the basis.
    fn expand(&mut self) -> Result<()> {
        let (used, width, count) = (self.used(), self.width, self.panels.len());
        let from = used - width;
        // W = A V_j
        let (panel, image) = (self.panels[count - 1].as_ref(), self.image.as_mut());
        self.op.apply(T::one(), panel, T::zero(), image, &mut self.ws)?;
        self.products += 1;
        // T[:, j] = VᵀW. The first projection takes out what is large, the second what rounding
        // left of it, in all directions.
        let mut h = self.ws.take_zeros(used, width);
        self.project(self.coupled..count, Some(&mut h))?;
        self.project(0..count, Some(&mut h))?;
        self.coupled = count - 1;
        if let Some((_, column)) = ops::find_non_finite(h.as_ref()) {
            // The projections have spread it: where it came from, the product itself says.
            let product = self.op.multiply(self.panels[count - 1].as_ref())?;
            let found = ops::find_non_finite(product.as_ref());
            let (row, column) = found.unwrap_or((0, column));
            let (what, value) = ("product of the operator", product.row(row)[column].as_f64());
            let kind = favard_operator::ErrorKind::NonFinite { what, row, column, value };
            return Err(favard_operator::Error::from(kind).into());
        }
        for j in 0..width {
            for i in 0..used {
                // The block on the diagonal is symmetric up to rounding: make it so.
                let value = if i >= from {
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
        let used = self.used();
        let matrix = self.small.as_ref().submatrix(0, 0, used, used);
        (self.values, self.rotation) = symmetric_eigen(matrix)?;
        let last = used - self.width;
        // A square may be below the smallest number where R is not.
        let largest = |m: T, row: usize| self.r.row(row).iter().fold(m, |m, r| m.max(r.abs()));
        let largest = (0..self.width).fold(T::zero(), largest);
        let residual = |j: usize| {
            let entry = |i: usize| -> T {
                (i..self.width).map(|p| self.r.row(i)[p] * self.rotation[(last + p, j)]).sum()
            };
            let plain = (0..self.width).map(|i| entry(i) * entry(i)).sum::<T>();
            if plain > T::min_positive_value() / T::EPSILON && plain.is_finite() {
                return plain.sqrt();
            }
            if largest == T::zero() {
                return largest;
            }
            let share = |i: usize| entry(i) / largest;
            largest * (0..self.width).map(|i| share(i) * share(i)).sum::<T>().sqrt()
        };
        self.residuals = (0..used).map(residual).collect();
        Ok(())
    }

    /// Takes up the state of an earlier run, which has made a step and not looked at it yet.
    pub fn restore(&mut self, state: State<'_, T>) {
        self.panels = state.panels.into_owned();
        (self.coupled, self.rank) = (state.coupled, state.rank);
        (self.image, self.r) = (state.image.into_owned(), state.r.into_owned());
        for i in 0..state.small.rows() {
            for (j, &value) in state.small.row(i).iter().enumerate() {
                self.small[(i, j)] = value;
            }
        }
        (self.products, self.check, self.seen) = (state.products, state.check, state.seen);
        self.history = state.history.into_owned();
    }

    /// The state after a step, with what was known before the look at it.
    fn state(&self, (check, seen, records): (u64, Seen<T>, usize)) -> State<'_, T> {
        State {
            panels: Cow::Borrowed(&self.panels),
            coupled: self.coupled,
            image: Cow::Borrowed(&self.image),
            r: Cow::Borrowed(&self.r),
            rank: self.rank,
            small: Block::from_fn(self.used(), self.used(), |i, j| self.small[(i, j)]),
            products: self.products,
            check,
            seen,
            history: Cow::Borrowed(&self.history[..records]),
        }
    }

    /// One step: the last panel is multiplied, and what is new in it becomes the next one.
    pub fn step(&mut self) -> Result<()> {
        self.expand()?;
        // W = V_{j+1} R
        self.orthonormalize()
    }

    /// Looks at a step that has been made, and goes on until there is a reason to stop.
    pub fn iterate(
        &mut self,
        keeper: &mut Keeper,
        watch: &mut dyn FnMut(&Record<T>) -> ControlFlow<Stop>,
    ) -> Result<Stop> {
        let components = self.plan.components;
        loop {
            // A look is no part of the state: with another tolerance or budget it is another one.
            let before = (self.check, self.seen, self.history.len());
            let (tick, used) = (self.products, self.used());
            let (full, last) = (used >= self.room(), tick >= self.plan.products);
            if full || last || tick >= self.check {
                self.ritz()?;
                let wanted = self.values.iter().take(components);
                let scale = wanted.fold(T::zero(), |m, v| m.max(v.abs()));
                let leading = self.residuals.iter().take(components);
                let worst = leading.fold(T::zero(), |m, &r| m.max(r));
                self.check = tick + self.patience(self.seen, (worst, scale, tick));
                self.seen = (self.values[0], worst, tick);
                if used >= components && worst.as_f64() <= self.plan.tolerance * scale.as_f64() {
                    self.record(tick);
                    return Ok(Stop::Converged);
                }
            }
            let record = self.record(tick);
            let told = watch(&record);
            let over = last || told.is_break();
            if keeper.is_due() || over && keeper.saves() {
                keeper.save::<T>(&self.state(before))?;
            }
            if over {
                if self.seen.2 < tick {
                    self.ritz()?;
                }
                return Ok(told.break_value().unwrap_or(Stop::Iterations));
            }
            if full {
                self.compress()?;
            }
            self.append()?;
            self.step()?;
        }
    }

    fn record(&mut self, tick: u64) -> Record<T> {
        let (ritz, residual, _) = self.seen;
        let record = Record { tick, passes: tick as f64, ritz, residual };
        self.history.push(record);
        record
    }

    /// Products until the Ritz pairs are worth another look. Up to 48 columns the small eigenproblem
    /// costs a twentieth of a product or less, beyond as much as one: then it is a third of what the
    /// rate since the last look asks for, at most 4, because convergence speeds up.
    fn patience(&self, (_, before, then): Seen<T>, (now, scale, tick): (T, T, u64)) -> u64 {
        let goal = T::of(self.plan.tolerance) * scale;
        let known = before.is_finite() && now < before && goal > T::zero() && goal < now;
        if self.used() <= 48 || !known {
            return 1;
        }
        let rate = (before / now).ln().as_f64() / (tick - then) as f64;
        let steps = (now / goal).ln().as_f64() / rate / 3.0;
        (1..4).take_while(|&n| f64::from(n) < steps).count() as u64 + 1
    }

    /// V ← V Y over the best Ritz vectors, T ← diag(θ).
    fn compress(&mut self) -> Result<()> {
        // Half of what is left beside the wanted ones keeps the neighbours' information.
        let spare = (self.room() - self.width).saturating_sub(self.plan.components) / 2;
        let (mut count, mut keep) = (0, 0);
        while keep < self.plan.components + spare && count + 1 < self.panels.len() {
            keep += self.panels[count].cols();
            count += 1;
        }
        let y = Block::from_fn(self.used(), keep, |i, j| self.rotation[(i, j)]);
        ops::rotate_panels(&mut self.panels, y.as_ref())?;
        self.spare.extend(self.panels.drain(count..));
        self.coupled = 0;
        for j in 0..keep {
            for i in 0..keep {
                self.small[(i, j)] = if i == j { self.values[j] } else { T::zero() };
            }
        }
        Ok(())
    }

    /// The wanted Ritz vectors, with the residuals that the iteration has of them.
    pub fn finish(self, stop: Stop) -> Result<Eigen<T>> {
        let (rows, used) = (self.image.rows(), self.used());
        let count = self.plan.components.min(used);
        let known = self.values.len().min(count + 1);
        let y = Block::from_fn(used, count, |i, j| self.rotation[(i, j)]);
        let mut vectors = Block::zeros(rows, count);
        let v = views(&self.panels);
        ops::right_multiply_panels(T::one(), &v, y.as_ref(), T::zero(), vectors.as_mut())?;
        drop((self.panels, self.spare, self.ws, self.image));
        let info = Info {
            method: crate::Solver::Lanczos.to_string(),
            iterations: self.products,
            applications: self.products,
            passes: self.products as f64,
            seed: Some(self.plan.seed),
            history: self.history,
            // With the pair behind, for the gap.
            ritz: self.values[..known].to_vec(),
            residuals: self.residuals[..known].to_vec(),
            ..Info::new(stop)
        };
        let (values, residuals) = (info.ritz[..count].to_vec(), info.residuals[..count].to_vec());
        Ok(Eigen { values, vectors, residuals, info })
    }
}
