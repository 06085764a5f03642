//! On a 1 × 1 operator the engine's recurrences are their polynomials, below, at and above the
//! edge of the interval where these stay small.

use favard_engine::Engine;
use favard_engine::map::Exact;
use favard_engine::recurrence::{
    Chebyshev, HeavyBall, Legendre, Momentum, Oja, Orthogonal, Power, Recurrence, Start,
};
use favard_operator::{Block, Diagonal, Scalar};
use favard_testkit::laws;

use crate::support::Checked;

const STEPS: usize = 40;

/// Runs the engine without a gauge and compares with the triples (a, b, c) of step t.
fn check<T: Scalar>(
    recurrence: &(impl Recurrence<T> + Clone),
    triple: impl Fn(usize) -> [f64; 3],
) -> Checked {
    let triples: Vec<_> = (0..STEPS).map(triple).collect();
    for lambda in [-1.0, -0.3, 0.0, 0.5, 1.0, 1.1] {
        let op = Diagonal::new(vec![T::of(lambda)])?;
        let start = Block::column(&[T::of(0.75)]);
        let mut engine = Engine::new(Exact::new(&op)?, recurrence.clone(), start)?;
        let mut trace = vec![engine.block().row(0)[0]];
        for _ in 0..STEPS {
            engine.advance()?;
            trace.push(engine.block().row(0)[0]);
        }
        laws::scalar_polynomial(&op, &triples, &trace)?;
    }
    Ok(())
}

fn check_all<T: Scalar>() -> Checked {
    // Quarters and eighths: the coefficients are the same numbers in either scalar.
    let beta = 0.25;
    check::<T>(&Power, |_| [1.0, 0.0, 0.0])?;
    check(&Momentum::new(T::of(beta), Start::U)?, |_| [1.0, 0.0, beta])?;
    let halved = |t| if t == 0 { [0.5, 0.0, beta] } else { [1.0, 0.0, beta] };
    check(&Momentum::new(T::of(beta), Start::T)?, halved)?;
    check(&Oja::new(T::of(0.125), T::zero())?, |_| [0.125, 1.0, 0.0])?;
    check(&Oja::new(T::of(0.125), T::of(beta))?, |_| [0.125, 1.0, beta])?;
    // x₋₁ = x₀: the first step is a plain one.
    let heavy = |t| if t == 0 { [-0.5, 1.0, 0.0] } else { [-0.5, 1.0 + beta, beta] };
    check(&HeavyBall::new(T::of(0.5), T::of(beta))?, heavy)?;
    // Tₙ(2x) on [−1/2, 1/2]: p₁ = 2x, then 4x pₙ − pₙ₋₁.
    let chebyshev = |t| if t == 0 { [2.0, 0.0, 0.0] } else { [4.0, 0.0, 1.0] };
    check(&Orthogonal::new(Chebyshev::new(T::of(-0.5), T::of(0.5))?), chebyshev)?;
    // Orthonormal Legendre: aₙ = √((2n+1)(2n+3)) / (n+1), cₙ = aₙ / aₙ₋₁.
    let leading = |n: f64| ((2.0 * n + 1.0) * (2.0 * n + 3.0)).sqrt() / (n + 1.0);
    let legendre = |t: usize| {
        let n = t as f64;
        [leading(n), 0.0, if t == 0 { 0.0 } else { leading(n) / leading(n - 1.0) }]
    };
    check::<T>(&Orthogonal::new(Legendre), legendre)
}

#[test]
fn in_f64() {
    check_all::<f64>().unwrap();
}

#[test]
fn in_f32() {
    check_all::<f32>().unwrap();
}
