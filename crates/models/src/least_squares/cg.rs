//! [`Cg`]: conjugate gradients on the normal equations, one pass over the data a step.

use std::ops::ControlFlow;

use favard_engine::Stop;
use favard_operator::{AdjointOperator, Between, Block, Scalar, Workspace, ops};

use super::columns::{add, scale_add};
use super::monitor::{Checked, Monitor, Outcome, refuse_non_finite};
use crate::error::Result;

/// A residual norm from the recurrence is trusted down to this share of the last true square.
const TRUST: f64 = 1e-10;

/// Steps whose products are looked at for the norms of the operators; the first point the most
/// along its largest singular vectors.
const LESSONS: u64 = 8;

/// Checks that may fail before the method gives up: the normal equations hold no more digits.
const PATIENCE: usize = 3;

/// The conjugate gradient method of Hestenes and Stiefel on $M^T M y = M^T b$, with the matrix of
/// the system only as the fused product $M^T (M p)$.
///
/// CGLS keeps the residual, an m × k block, and walks the data twice a step; this form keeps only
/// n × k blocks and walks it once. The price is accuracy: the attainable gradient is of the order
/// $\epsilon \lVert M \rVert^2 \lVert y \rVert$, which is enough until $\kappa(M)$ nears
/// $\epsilon^{-1/2}$. The true gradient is recomputed before the method believes itself.
///
/// Each column has coefficients of its own; solved columns rest.
pub(super) struct Cg<T> {
    pub y: Block<T>,
    /// g = Mᵀ(b − My), by the recurrence.
    g: Block<T>,
    p: Block<T>,
    q: Block<T>,
    /// ‖gⱼ‖².
    squares: Vec<T>,
    /// (α, β) of the first column: they hold the spectrum of MᵀM as Lanczos' coefficients do.
    coefficients: Vec<(f64, f64)>,
}

impl<T: Scalar> Cg<T> {
    /// At y with its gradient g.
    pub fn new(y: Block<T>, g: Block<T>, ws: &mut Workspace<T>) -> Result<Self> {
        let mut squares = vec![T::zero(); g.cols()];
        ops::column_dots(g.as_ref(), g.as_ref(), &mut squares, ws)?;
        let (p, q) = (g.clone(), Block::zeros(g.rows(), g.cols()));
        Ok(Self { y, g, p, q, squares, coefficients: Vec::new() })
    }

    /// q = Mᵀ(M p); `curves[j]` receives ‖M pⱼ‖².
    pub fn multiply(
        &mut self,
        op: &dyn AdjointOperator<T>,
        curves: &mut [T],
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        let Self { p, q, .. } = self;
        op.apply_normal(T::one(), p.as_ref(), Between::default(), T::zero(), q.as_mut(), ws)?;
        ops::column_dots(p.as_ref(), q.as_ref(), curves, ws)?;
        if !curves.iter().all(|curve| curve.is_finite()) {
            refuse_non_finite(q)?;
        }
        Ok(())
    }

    /// The step along p for the columns that `moves` names, and the next direction; `falls[j]`
    /// receives αⱼ‖gⱼ‖², by which ‖rⱼ‖² falls.
    pub fn advance(
        &mut self,
        moves: &[bool],
        curves: &[T],
        falls: &mut [T],
        ws: &mut Workspace<T>,
    ) -> Result<()> {
        let Self { y, g, p, q, squares, .. } = self;
        // α = ‖g‖² / pᵀq
        let step = |j: usize| {
            let goes = moves[j] && curves[j] > T::zero();
            if goes { squares[j] / curves[j] } else { T::zero() }
        };
        let steps: Vec<T> = (0..curves.len()).map(step).collect();
        // y ← y + α p,  g ← g − α q
        add(&steps, p, y);
        let back: Vec<T> = steps.iter().map(|&step| -step).collect();
        add(&back, q, g);
        let mut new = vec![T::zero(); steps.len()];
        ops::column_dots(g.as_ref(), g.as_ref(), &mut new, ws)?;
        // β = ‖g₊‖² / ‖g‖²,  p ← g + β p
        let turn = |j: usize| if squares[j] > T::zero() { new[j] / squares[j] } else { T::zero() };
        let turns: Vec<T> = (0..new.len()).map(turn).collect();
        scale_add(&turns, g, p);
        for j in 0..steps.len() {
            falls[j] = steps[j] * squares[j];
        }
        if steps[0] > T::zero() {
            self.coefficients.push((steps[0].as_f64(), turns[0].as_f64()));
        }
        squares.copy_from_slice(&new);
        Ok(())
    }

    /// Replaces the gradient of the recurrence by the true one; the directions stay conjugate up to
    /// what the recurrence had lost.
    fn replace(&mut self, g: &Block<T>, ws: &mut Workspace<T>) -> Result<()> {
        self.g.assign(g.as_ref())?;
        ops::column_dots(g.as_ref(), g.as_ref(), &mut self.squares, ws)?;
        self.p.assign(g.as_ref())?;
        Ok(())
    }

    /// The coefficients so far.
    pub fn coefficients(&self) -> &[(f64, f64)] {
        &self.coefficients
    }
}

/// Runs the method from zero, and returns its coefficients as well.
pub(super) fn solve<T: Scalar>(
    monitor: &mut Monitor<'_, T>,
    ws: &mut Workspace<T>,
) -> Result<(Outcome<T>, Vec<(f64, f64)>)> {
    let system = monitor.system;
    let (dim, cols) = (system.op.shape().1, system.rhs.cols());
    let mut true_g = Block::zeros(dim, cols);
    system.op.apply_adjoint(T::one(), system.rhs.as_ref(), T::zero(), true_g.as_mut(), ws)?;
    monitor.count(1, 1.0);
    refuse_non_finite(&true_g)?;
    let mut cg = Cg::new(Block::zeros(dim, cols), true_g.clone(), ws)?;
    // ‖r‖² by the recurrence, and what it was when it was last true
    let mut squares: Vec<T> = monitor.sizes.iter().map(|&size| size * size).collect();
    let mut known = squares.clone();
    let mut residuals = monitor.sizes.clone();
    let (mut falls, mut curves) = (vec![T::zero(); cols], vec![T::zero(); cols]);
    let mut moves = vec![true; cols];
    let mut checked: Option<Checked<T>>;
    let (mut failures, mut best) = (0, T::infinity());
    monitor.judge(&cg.g, &residuals, ws)?;
    let stop = loop {
        let low = |j: usize| squares[j] <= T::of(TRUST) * known[j] && squares[j] > T::zero();
        let done = monitor.all_solved(&residuals);
        let doubt = (0..cols).any(|j| moves[j] && (low(j) || squares[j] < T::zero()));
        if done || doubt {
            let found = monitor.check(&cg.y, &mut true_g, ws)?;
            if monitor.all_solved(&found.residuals) {
                checked = Some(found);
                break Stop::Converged;
            }
            // Nothing gained since the last check: the normal equations are at their end.
            let worst = super::columns::largest(&monitor.certificates);
            failures = if worst < best * T::of(0.5) { 0 } else { failures + 1 };
            best = best.min(worst);
            residuals.copy_from_slice(&found.residuals);
            squares = residuals.iter().map(|&r| r * r).collect();
            known.copy_from_slice(&squares);
            checked = Some(found);
            if failures >= PATIENCE {
                break Stop::Stagnated;
            }
            cg.replace(&true_g, ws)?;
        }
        for (j, moving) in moves.iter_mut().enumerate() {
            *moving = !monitor.is_solved(j, residuals[j]);
        }
        cg.multiply(system.op, &mut curves, ws)?;
        monitor.count(1, 1.0);
        if monitor.ticks < LESSONS {
            monitor.learn(&cg.p, &curves, ws)?;
        }
        cg.advance(&moves, &curves, &mut falls, ws)?;
        checked = None;
        for j in 0..cols {
            squares[j] -= falls[j];
            residuals[j] = squares[j].max(T::zero()).sqrt();
        }
        monitor.judge(&cg.g, &residuals, ws)?;
        if let ControlFlow::Break(stop) = monitor.tick() {
            break stop;
        }
    };
    let coefficients = std::mem::take(&mut cg.coefficients);
    Ok((Outcome { y: cg.y, stop, checked }, coefficients))
}
