//! LSMR: the robust method for hard problems.

use std::ops::ControlFlow;

use favard_engine::Stop;
use favard_operator::{Block, Scalar, Workspace, ops};

use super::columns::{add, largest, scale_add, scale_rows};
use super::monitor::{Monitor, Outcome, refuse_non_finite};
use crate::error::Result;

/// The rotations of one column: Fong and Saunders, algorithm 1 and section 5, without damping (the
/// ridge is in the operator).
#[derive(Debug, Clone, Copy)]
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
        (
            -ratio(theta_bar * rho, rho_old * rho_bar_old),
            ratio(self.zeta, rho * rho_bar),
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
    start: Option<Block<T>>,
    ws: &mut Workspace<T>,
) -> Result<Outcome<T>> {
    let (dim, cols) = (monitor.system.op.shape().1, monitor.system.rhs.cols());
    let mut x = start.unwrap_or_else(|| Block::zeros(dim, cols));
    let mut g = Block::zeros(dim, cols);
    let mut best = T::infinity();
    // Each round ends with a check; rounding may make another one, from there, necessary.
    loop {
        let stop = round(monitor, &mut x, ws)?;
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

/// One run of the recurrence on the residual of y.
fn round<T: Scalar>(
    monitor: &mut Monitor<'_, T>,
    x: &mut Block<T>,
    ws: &mut Workspace<T>,
) -> Result<Stop> {
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
    let mut state: Vec<Column<T>> =
        alphas.iter().zip(&betas).map(|(&alpha, &beta)| Column::new(alpha, beta)).collect();
    let (mut h, mut h_bar) = (v.clone(), Block::zeros(dim, cols));
    let mut y = Block::zeros(dim, cols);
    let (mut first, mut second, mut third) = (vec![zero; cols], vec![zero; cols], vec![zero; cols]);
    let (mut residuals, mut squares) = (vec![zero; cols], vec![zero; cols]);
    let stop = loop {
        residuals.iter_mut().zip(&state).for_each(|(r, column)| *r = column.residual);
        monitor.judge_estimates(|j| state[j].zeta_bar.abs(), &residuals);
        if monitor.all_solved(&residuals) {
            break Stop::Converged;
        }
        // β u = M v − α u
        ops::scale_columns(&alphas, u.as_mut())?;
        system.op.apply(one, v.as_ref(), -one, u.as_mut(), ws)?;
        normalize(&mut u, &mut betas, ws)?;
        // ‖M v‖² = α² + β² for the unit vector v
        let pairs = alphas.iter().zip(&betas);
        squares.iter_mut().zip(pairs).for_each(|(square, (&a, &b))| *square = a * a + b * b);
        monitor.learn(&v, &squares, ws)?;
        // α v = Mᵀu − β v
        ops::scale_columns(&betas, v.as_mut())?;
        system.op.apply_adjoint(one, u.as_ref(), -one, v.as_mut(), ws)?;
        normalize(&mut v, &mut alphas, ws)?;
        monitor.count(2, 2.0);
        for j in 0..cols {
            (first[j], second[j], third[j]) = state[j].turn(alphas[j], betas[j]);
        }
        // h̄ ← h − (θ̄ρ / ρ₋ρ̄₋) h̄,  y ← y + (ζ / ρρ̄) h̄,  h ← v − (θ₊/ρ) h
        scale_add(&first, &h, &mut h_bar);
        add(&second, &h_bar, &mut y);
        scale_add(&third, &v, &mut h);
        if let ControlFlow::Break(stop) = monitor.tick() {
            break stop;
        }
    };
    // x ← x + D⁻¹ y
    scale_rows(system.factors, &mut y);
    add(&vec![one; cols], &y, x);
    Ok(stop)
}
