//! LSMR: the robust method for hard problems.

use std::borrow::Cow;
use std::ops::ControlFlow;

use favard_engine::Stop;
use favard_operator::{Block, Scalar, Workspace, ops};
use serde::{Deserialize, Serialize};

use super::columns::{add, largest, scale_add, scale_rows};
use super::monitor::{Monitor, Outcome, refuse_non_finite};
use super::state::{Kept, Phase, Prelude, check_shapes};
use crate::error::Result;

/// The rotations of one column: Fong and Saunders, algorithm 1 and section 5, without damping (the
/// ridge is in the operator).
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Column<T> {
    alpha: T,
    beta: T,
    alpha_bar: T,
    zeta_bar: T,
    zeta: T,
    rho: T,
    rho_bar: T,
    c_bar: T,
    s_bar: T,
    // the estimate of ‖r‖
    beta_dd: T,
    beta_d: T,
    rho_d: T,
    tau_tilde: T,
    theta_tilde: T,
    residual: T,
}

/// (c, s, ρ) with ρ = √(a² + b²).
fn rotation<T: Scalar>(a: T, b: T) -> (T, T, T) {
    let rho = a.hypot(b);
    if rho == T::zero() { (T::one(), T::zero(), rho) } else { (a / rho, b / rho, rho) }
}

/// a / b, zero when b is.
fn ratio<T: Scalar>(a: T, b: T) -> T {
    if b == T::zero() { T::zero() } else { a / b }
}

impl<T: Scalar> Column<T> {
    fn new(alpha: T, beta: T) -> Self {
        let (zero, one) = (T::zero(), T::one());
        Self {
            alpha,
            beta,
            alpha_bar: alpha,
            zeta_bar: alpha * beta,
            zeta: zero,
            rho: one,
            rho_bar: one,
            c_bar: one,
            s_bar: zero,
            beta_dd: beta,
            beta_d: zero,
            rho_d: one,
            tau_tilde: zero,
            theta_tilde: zero,
            residual: beta,
        }
    }

    /// The rotations for the new α and β; returns the factors of h̄ in h̄, of h̄ in x, of h in h.
    fn turn(&mut self, alpha: T, beta: T) -> (T, T, T) {
        (self.alpha, self.beta) = (alpha, beta);
        let (rho_old, rho_bar_old, zeta_old) = (self.rho, self.rho_bar, self.zeta);
        // P: (ᾱ, β) → (ρ, 0)
        let (c, s, rho) = rotation(self.alpha_bar, beta);
        let theta_new = s * alpha;
        (self.rho, self.alpha_bar) = (rho, c * alpha);
        // P̄: (c̄ρ, θ₊) → (ρ̄, 0)
        let theta_bar = self.s_bar * rho;
        let (c_bar, s_bar, rho_bar) = rotation(self.c_bar * rho, theta_new);
        (self.c_bar, self.s_bar, self.rho_bar) = (c_bar, s_bar, rho_bar);
        (self.zeta, self.zeta_bar) = (c_bar * self.zeta_bar, -s_bar * self.zeta_bar);
        // ‖r‖
        let beta_hat = c * self.beta_dd;
        self.beta_dd = -s * self.beta_dd;
        let theta_tilde_old = self.theta_tilde;
        let (c_tilde, s_tilde, rho_tilde) = rotation(self.rho_d, theta_bar);
        (self.theta_tilde, self.rho_d) = (s_tilde * rho_bar, c_tilde * rho_bar);
        self.beta_d = -s_tilde * self.beta_d + c_tilde * beta_hat;
        self.tau_tilde = ratio(zeta_old - theta_tilde_old * self.tau_tilde, rho_tilde);
        let tau = ratio(self.zeta - self.theta_tilde * self.tau_tilde, self.rho_d);
        self.residual = (self.beta_d - tau).hypot(self.beta_dd);
        // Each is of the size of ‖M‖: a product of two may be no number.
        (
            -ratio(theta_bar, rho_old) * ratio(rho, rho_bar_old),
            ratio(ratio(self.zeta, rho), rho_bar),
            -ratio(theta_new, rho),
        )
    }
}

/// w ← w diag(1/‖wⱼ‖), and the norms.
fn normalize<T: Scalar>(w: &mut Block<T>, norms: &mut [T], ws: &mut Workspace<T>) -> Result<()> {
    ops::column_norms(w.as_ref(), norms, ws)?;
    if !norms.iter().all(|norm| norm.is_finite()) {
        refuse_non_finite(w)?;
    }
    let mut inverse = ws.take(1, norms.len());
    let pairs = inverse.row_mut(0).iter_mut().zip(&*norms);
    pairs.for_each(|(inverse, &norm)| *inverse = ratio(T::one(), norm));
    ops::scale_columns(inverse.row(0), w.as_mut())?;
    ws.give(inverse);
    Ok(())
}

/// The vectors of the bidiagonalisation and of the recurrence, and the rotations.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
struct Recurrence<T: Scalar> {
    u: Block<T>,
    v: Block<T>,
    h: Block<T>,
    h_bar: Block<T>,
    /// The correction, in scaled unknowns.
    y: Block<T>,
    alphas: Vec<T>,
    betas: Vec<T>,
    columns: Vec<Column<T>>,
}

/// What a checkpoint carries: the block that the round corrects, the best certificate of the rounds
/// before, and the recurrence.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
struct State<'a, T: Scalar> {
    x: Cow<'a, Block<T>>,
    best: T,
    recurrence: Cow<'a, Recurrence<T>>,
}

/// Where LSMR begins.
pub(super) enum Start<T: Scalar> {
    /// At zero.
    Zero,
    /// At a block.
    At(Block<T>),
    /// Where it was saved.
    Kept(Kept<T>),
}

/// LSMR (Fong and Saunders, 2011) from a given block: the Golub–Kahan bidiagonalisation of M with
/// $\lVert M^T r \rVert$ minimised over the Krylov space at every step, so that the certificate falls
/// monotonically. Two passes a step.
///
/// From zero the iterates stay in the range of $M^T$: the limit is the solution of smallest norm.
/// From another block it is that block plus the smallest correction.
///
/// # Reference
/// D. C.-L. Fong and M. Saunders, "LSMR: an iterative algorithm for sparse least-squares problems",
/// SIAM J. Sci. Comput. 33 (2011).
pub(super) fn solve<T: Scalar>(
    monitor: &mut Monitor<'_, T>,
    start: Start<T>,
    prelude: &Prelude,
    ws: &mut Workspace<T>,
) -> Result<Outcome<T>> {
    let (dim, cols) = (monitor.system.op.shape().1, monitor.system.rhs.cols());
    let (mut best, mut going) = (T::infinity(), None);
    let mut x = match start {
        Start::Zero => Block::zeros(dim, cols),
        Start::At(x) => x,
        Start::Kept(Kept { known, mut stored, .. }) => {
            let state: State<'static, T> = stored.read()?;
            let (x, recurrence) = (state.x.into_owned(), state.recurrence.into_owned());
            let Recurrence { u, v, h, h_bar, y, alphas, betas, columns } = &recurrence;
            let lists = [alphas.len(), betas.len(), columns.len()];
            check_shapes(&[&x, v, h, h_bar, y], (dim, cols), &lists)?;
            check_shapes(&[u], (monitor.system.op.shape().0, cols), &[])?;
            monitor.restore(known)?;
            (best, going) = (state.best, Some(recurrence));
            x
        }
    };
    let mut g = Block::zeros(dim, cols);
    // Each round ends with a check; rounding may make another one, from there, necessary.
    loop {
        let kept = going.is_some();
        let mut recurrence = match going.take() {
            Some(recurrence) => recurrence,
            None => begin(monitor, &x, ws)?,
        };
        let stop = if kept && monitor.is_spent() {
            Stop::Passes
        } else {
            round(monitor, &mut recurrence, (&x, best, prelude), ws)?
        };
        // x ← x + D⁻¹ y
        let mut y = recurrence.y;
        scale_rows(monitor.system.factors, &mut y);
        add(&vec![T::one(); cols], &y, &mut x);
        let checked = monitor.check(&x, &mut g, ws)?;
        if monitor.all_solved(&checked.residuals) {
            return Ok(Outcome { x, stop: Stop::Converged, checked: Some(checked) });
        }
        let worst = largest(&monitor.certificates);
        let gained = worst < best * T::of(0.5);
        best = best.min(worst);
        if stop != Stop::Converged {
            return Ok(Outcome { x, stop, checked: Some(checked) });
        }
        if !gained {
            return Ok(Outcome { x, stop: Stop::Stagnated, checked: Some(checked) });
        }
    }
}

/// The recurrence on the residual of x, before its first step.
fn begin<T: Scalar>(
    monitor: &mut Monitor<'_, T>,
    x: &Block<T>,
    ws: &mut Workspace<T>,
) -> Result<Recurrence<T>> {
    let system = monitor.system;
    let ((rows, dim), cols) = (system.op.shape(), x.cols());
    let (one, zero) = (T::one(), T::zero());
    let (mut betas, mut alphas) = (vec![zero; cols], vec![zero; cols]);
    // β u = b − Ax,  α v = Mᵀu with M = A D⁻¹
    let mut u = Block::zeros(rows, cols);
    u.assign(system.rhs.as_ref())?;
    system.base.apply(-one, x.as_ref(), one, u.as_mut(), ws)?;
    normalize(&mut u, &mut betas, ws)?;
    let mut v = Block::zeros(dim, cols);
    system.op.apply_adjoint(one, u.as_ref(), zero, v.as_mut(), ws)?;
    monitor.count(2, 2.0);
    normalize(&mut v, &mut alphas, ws)?;
    let columns =
        alphas.iter().zip(&betas).map(|(&alpha, &beta)| Column::new(alpha, beta)).collect();
    let (h, h_bar, y) = (v.clone(), Block::zeros(dim, cols), Block::zeros(dim, cols));
    Ok(Recurrence { u, v, h, h_bar, y, alphas, betas, columns })
}

/// Steps of the recurrence until the estimates say that all is solved, or until it is stopped.
fn round<T: Scalar>(
    monitor: &mut Monitor<'_, T>,
    recurrence: &mut Recurrence<T>,
    (x, best, prelude): (&Block<T>, T, &Prelude),
    ws: &mut Workspace<T>,
) -> Result<Stop> {
    let system = monitor.system;
    let cols = recurrence.columns.len();
    let (one, zero) = (T::one(), T::zero());
    let (mut first, mut second, mut third) = (vec![zero; cols], vec![zero; cols], vec![zero; cols]);
    let (mut residuals, mut lengths) = (vec![zero; cols], vec![zero; cols]);
    loop {
        let Recurrence { u, v, h, h_bar, y, alphas, betas, columns } = recurrence;
        residuals.iter_mut().zip(&*columns).for_each(|(r, column)| *r = column.residual);
        monitor.judge_estimates(|j| columns[j].zeta_bar.abs(), &residuals);
        if monitor.all_solved(&residuals) {
            return Ok(Stop::Converged);
        }
        // β u = M v − α u
        ops::scale_columns(alphas, u.as_mut())?;
        system.op.apply(one, v.as_ref(), -one, u.as_mut(), ws)?;
        normalize(u, betas, ws)?;
        // ‖M v‖ = √(α² + β²) for the unit vector v
        let pairs = alphas.iter().zip(&*betas);
        lengths.iter_mut().zip(pairs).for_each(|(length, (&a, &b))| *length = a.hypot(b));
        monitor.learn(v, &lengths, ws)?;
        // α v = Mᵀu − β v
        ops::scale_columns(betas, v.as_mut())?;
        system.op.apply_adjoint(one, u.as_ref(), -one, v.as_mut(), ws)?;
        normalize(v, alphas, ws)?;
        monitor.count(2, 2.0);
        for j in 0..cols {
            (first[j], second[j], third[j]) = columns[j].turn(alphas[j], betas[j]);
        }
        // h̄ ← h − (θ̄ρ / ρ₋ρ̄₋) h̄,  y ← y + (ζ / ρρ̄) h̄,  h ← v − (θ₊/ρ) h
        scale_add(&first, h, h_bar);
        add(&second, h_bar, y);
        scale_add(&third, v, h);
        let flow = monitor.tick();
        monitor.keep(flow, (Phase::Lsmr, prelude), || State {
            x: Cow::Borrowed(x),
            best,
            recurrence: Cow::Borrowed(&*recurrence),
        })?;
        if let ControlFlow::Break(stop) = flow {
            return Ok(stop);
        }
    }
}
