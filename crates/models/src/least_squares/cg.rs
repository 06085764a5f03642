//! [`Cg`]: conjugate gradients on the normal equations, one pass over the data a step.

use std::borrow::Cow;
use std::ops::ControlFlow;

use favard_engine::Stop;
use favard_operator::{AdjointOperator, Between, Block, Scalar, Workspace};
use serde::{Deserialize, Serialize};

use super::columns::{add, add_and_measure, curves, largest, turn};
use super::monitor::{Checked, Monitor, Outcome, refuse_non_finite};
use super::prospect::{Prospect, noise};
use super::spectrum::Ends;
use super::state::{Kept, Phase, Prelude, check_shapes};
use crate::error::Result;

/// A square of a residual norm from the recurrence is trusted down to so many ε of the last true
/// one: to five digits.
const TRUST: f64 = 4e5;

/// Checks that may fail before the method gives up: the normal equations hold no more digits.
const PATIENCE: usize = 3;

/// The conjugate gradient method of Hestenes and Stiefel on $A^T A x = A^T b$, preconditioned by
/// the scales D of the columns, with the matrix only as the fused product $A^T (A p)$.
///
/// CGLS keeps the residual, an m × k block, and walks the data twice a step; this form keeps only
/// n × k blocks and walks it once. The price is accuracy: the attainable gradient is of the order
/// $\epsilon \lVert A \rVert^2 \lVert x \rVert$, which is enough until $\kappa$ nears
/// $\epsilon^{-1/2}$. The true gradient is recomputed before the method believes itself.
///
/// Each column has coefficients of its own; solved columns rest.
///
/// # Cost
/// A step: one normal product; x, g, p and q are read twice and written once or not at all.
pub(super) struct Cg<'a, T> {
    /// D⁻¹.
    factors: &'a [T],
    x: Block<T>,
    /// g = Aᵀ(b − Ax), by the recurrence.
    g: Block<T>,
    p: Block<T>,
    q: Block<T>,
    /// ‖gⱼ‖², then ‖D⁻¹gⱼ‖².
    squares: Vec<T>,
    /// pⱼᵀqⱼ = ‖A pⱼ‖², then ‖pⱼ‖², then ‖D pⱼ‖².
    lengths: Vec<T>,
    /// ‖D⁻¹gⱼ‖² before the step, and αⱼ of it: ‖rⱼ‖² falls by their product.
    old: Vec<T>,
    steps: Vec<T>,
    /// −αⱼ, then βⱼ.
    turns: Vec<T>,
    /// (α, β) of the first column: they hold the spectrum as Lanczos' coefficients do.
    coefficients: Coefficients,
    /// Whether they go on: after a new start they would belong to another sequence.
    records: bool,
    /// For the sums of the pieces of long blocks.
    ws: Workspace<T>,
}

impl<'a, T: Scalar> Cg<'a, T> {
    /// At zero, with its gradient g = Aᵀb.
    pub fn new(factors: &'a [T], g: Block<T>) -> Self {
        let (dim, cols) = g.shape();
        let zeros = || Block::zeros(dim, cols);
        let mut cg = Self {
            factors,
            x: zeros(),
            g: zeros(),
            p: zeros(),
            q: zeros(),
            squares: vec![T::zero(); 2 * cols],
            lengths: vec![T::zero(); 3 * cols],
            old: vec![T::zero(); cols],
            steps: vec![T::zero(); cols],
            turns: vec![T::zero(); cols],
            // Room for those of most runs, so that steps do not allocate.
            coefficients: Vec::with_capacity(1024),
            records: true,
            ws: Workspace::new(),
        };
        cg.replace(&g);
        cg
    }

    /// Whether the normal equations can be expected to hold the digits asked for, as far as the
    /// steps so far have seen the spectrum.
    fn reaches(&self, residuals: &[T], sizes: &[T], tolerance: f64) -> Result<bool> {
        let ends = Ends::of_coefficients(&self.coefficients)?;
        let prospect = ends.map(|ends| Prospect::new::<T>(&ends, noise(residuals, sizes)));
        Ok(prospect.is_none_or(|prospect| prospect.reaches(tolerance)))
    }

    /// q = Aᵀ(A p) and the lengths of p.
    pub fn multiply(&mut self, op: &dyn AdjointOperator<T>, ws: &mut Workspace<T>) -> Result<&[T]> {
        let Self { p, q, .. } = self;
        op.apply_normal(T::one(), p.as_ref(), Between::default(), T::zero(), q.as_mut(), ws)?;
        curves(p, q, self.factors, &mut self.lengths, ws);
        if !self.lengths.iter().all(|length| length.is_finite()) {
            refuse_non_finite(q)?;
        }
        Ok(&self.lengths)
    }

    /// The step along p for the columns that `moves` names, and the next direction.
    pub fn advance(&mut self, moves: &[bool]) {
        let cols = moves.len();
        let Self { factors, x, g, p, q, squares, lengths, old, steps, turns, ws, .. } = self;
        old.copy_from_slice(&squares[cols..]);
        for j in 0..cols {
            // α = ‖D⁻¹g‖² / pᵀq
            let goes = moves[j] && lengths[j] > T::zero();
            steps[j] = if goes { old[j] / lengths[j] } else { T::zero() };
            turns[j] = -steps[j];
        }
        // x ← x + α p,  g ← g − α q
        add(steps, p, x);
        add_and_measure(turns, q, factors, g, squares, ws);
        for j in 0..cols {
            // β = ‖D⁻¹g₊‖² / ‖D⁻¹g‖²
            let goes = old[j] > T::zero();
            turns[j] = if goes { squares[cols + j] / old[j] } else { T::zero() };
        }
        // p ← D⁻²g + β p
        turn(factors, g, turns, p);
        if self.records && steps[0] > T::zero() {
            self.coefficients.push((steps[0].as_f64(), turns[0].as_f64()));
        }
    }

    /// Starts again with a true gradient.
    fn replace(&mut self, g: &Block<T>) {
        let cols = g.cols();
        self.records = self.coefficients.is_empty();
        self.g.fill(T::zero());
        // g ← 0 + g,  p ← D⁻²g
        let Self { factors, g: own, squares, ws, .. } = self;
        add_and_measure(&vec![T::one(); cols], g, factors, own, squares, ws);
        turn(self.factors, g, &vec![T::zero(); cols], &mut self.p);
    }

    /// The coefficients so far.
    pub fn coefficients(&self) -> &[(f64, f64)] {
        &self.coefficients
    }

    /// ‖gⱼ‖, then ‖D⁻¹gⱼ‖.
    fn gradients(&self, out: &mut [T]) {
        out.iter_mut().zip(&self.squares).for_each(|(out, &square)| *out = square.sqrt());
    }
}

/// The coefficients (α, β) of a run.
pub(super) type Coefficients = Vec<(f64, f64)>;

/// What the run knows beside the iteration itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
struct Course<T: Scalar> {
    /// ‖r‖² by the recurrence, and what it was when it was last true.
    squares: Vec<T>,
    known: Vec<T>,
    residuals: Vec<T>,
    /// The columns that are not solved.
    moves: Vec<bool>,
    /// Checks without a gain, and the best certificate of a check.
    failures: usize,
    best: T,
}

/// What a checkpoint carries: the iteration between two steps, and its course.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
struct State<'a, T: Scalar> {
    x: Cow<'a, Block<T>>,
    g: Cow<'a, Block<T>>,
    p: Cow<'a, Block<T>>,
    squares: Cow<'a, [T]>,
    coefficients: Cow<'a, [(f64, f64)]>,
    records: bool,
    course: Cow<'a, Course<T>>,
}

impl<T: Scalar> Cg<'_, T> {
    fn state<'a>(&'a self, course: &'a Course<T>) -> State<'a, T> {
        State {
            x: Cow::Borrowed(&self.x),
            g: Cow::Borrowed(&self.g),
            p: Cow::Borrowed(&self.p),
            squares: Cow::Borrowed(&self.squares),
            coefficients: Cow::Borrowed(&self.coefficients),
            records: self.records,
            course: Cow::Borrowed(course),
        }
    }

    fn restore(&mut self, state: State<'_, T>) -> Result<Course<T>> {
        let course = state.course.into_owned();
        let lists = [&course.squares, &course.known, &course.residuals].map(Vec::len);
        let lengths = [&lists[..], &[course.moves.len(), state.squares.len() / 2]].concat();
        check_shapes(&[&state.x, &state.g, &state.p], self.x.shape(), &lengths)?;
        (self.x, self.g, self.p) =
            (state.x.into_owned(), state.g.into_owned(), state.p.into_owned());
        self.squares.copy_from_slice(&state.squares);
        (self.coefficients, self.records) = (state.coefficients.into_owned(), state.records);
        Ok(course)
    }
}

/// Runs the method from zero, or from where it was saved, and returns its coefficients as well.
///
/// One that `yields` gives up at the first check that fails when the coefficients and the
/// residuals say that the normal equations do not hold the digits that are asked for.
pub(super) fn solve<T: Scalar>(
    monitor: &mut Monitor<'_, T>,
    yields: bool,
    kept: Option<Kept<T>>,
    ws: &mut Workspace<T>,
) -> Result<(Outcome<T>, Coefficients)> {
    let system = monitor.system;
    let (dim, cols) = (system.base.shape().1, system.rhs.cols());
    let mut true_g = Block::zeros(dim, cols);
    if kept.is_none() {
        system.base.apply_adjoint(T::one(), system.rhs.as_ref(), T::zero(), true_g.as_mut(), ws)?;
        monitor.count(1, 1.0);
        refuse_non_finite(&true_g)?;
    }
    let mut cg = Cg::new(system.factors, true_g.clone());
    let first: Vec<T> = monitor.sizes.iter().map(|&size| size * size).collect();
    let mut course = Course {
        known: first.clone(),
        squares: first,
        residuals: monitor.sizes.clone(),
        moves: vec![true; cols],
        failures: 0,
        best: T::infinity(),
    };
    if let Some(Kept { known, mut stored, .. }) = kept {
        course = cg.restore(stored.read()?)?;
        monitor.restore(known)?;
        if monitor.is_spent() {
            let (x, stop) = (cg.x, Stop::Passes);
            return Ok((Outcome { x, stop, checked: None }, cg.coefficients));
        }
    }
    let mut roots = vec![T::zero(); 3 * cols];
    let mut checked: Option<Checked<T>>;
    let stop = loop {
        let Course { squares, known, residuals, moves, failures, best } = &mut course;
        cg.gradients(&mut roots);
        let (plain, scaled) = roots.split_at(cols);
        monitor.judge_norms(plain, &scaled[..cols], residuals);
        let low =
            |j: usize| squares[j] <= T::of(TRUST) * T::EPSILON * known[j] && known[j] > T::zero();
        let doubt = (0..cols).any(|j| moves[j] && low(j));
        if doubt || monitor.all_solved(residuals) {
            let found = monitor.check(&cg.x, &mut true_g, ws)?;
            let solved = monitor.all_solved(&found.residuals);
            // Nothing gained since the last check: the normal equations are at their end.
            let worst = largest(&monitor.certificates);
            *failures = if worst < *best * T::of(0.5) { 0 } else { *failures + 1 };
            *best = best.min(worst);
            residuals.copy_from_slice(&found.residuals);
            squares.iter_mut().zip(&*residuals).for_each(|(square, &r)| *square = r * r);
            known.copy_from_slice(squares);
            checked = Some(found);
            if !solved && yields && !cg.reaches(residuals, &monitor.sizes, system.tolerance)? {
                *failures = PATIENCE;
            }
            if solved || *failures >= PATIENCE {
                break if solved { Stop::Converged } else { Stop::Stagnated };
            }
            cg.replace(&true_g);
        }
        for (j, moving) in moves.iter_mut().enumerate() {
            *moving = !monitor.is_solved(j, residuals[j]);
        }
        let lengths = cg.multiply(system.base, ws)?;
        checked = None;
        let finite = lengths.iter().all(|length| length.is_finite());
        let goes = (0..cols).any(|j| moves[j] && lengths[j] > T::zero());
        if !finite || !goes {
            // Squares beyond the largest number or below the smallest: LSMR has none.
            break Stop::Stagnated;
        }
        roots.iter_mut().zip(lengths).for_each(|(root, &length)| *root = length.sqrt());
        monitor.learn_lengths(&roots[..cols], &roots[cols..2 * cols], &roots[2 * cols..]);
        monitor.count(1, 1.0);
        cg.advance(moves);
        for j in 0..cols {
            squares[j] -= cg.steps[j] * cg.old[j];
            residuals[j] = squares[j].max(T::zero()).sqrt();
        }
        let flow = monitor.tick();
        monitor.keep(flow, (Phase::Cg, &Prelude::default()), || cg.state(&course))?;
        if let ControlFlow::Break(stop) = flow {
            break stop;
        }
    };
    let Cg { x, coefficients, .. } = cg;
    Ok((Outcome { x, stop, checked }, coefficients))
}
