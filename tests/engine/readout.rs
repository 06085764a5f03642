//! Readouts against what they are defined as.

use favard_engine::Engine;
use favard_engine::map::Exact;
use favard_engine::readout::{Average, Expansion};
use favard_engine::recurrence::{Chebyshev, Orthogonal, Power};
use favard_operator::{Block, Diagonal};

/// f(A)v by Chebyshev expansion on a shifted interval, against f of the eigenvalues.
#[test]
fn expansion_is_a_function_of_the_operator() {
    let spectrum = [0.1, 0.7, 1.3, 2.9];
    let op = Diagonal::new(spectrum.to_vec()).unwrap();
    let family = Orthogonal::new(Chebyshev::new(0.0, 3.0).unwrap());
    let f = |x: f64| (-2.0 * x).exp();
    let degree = 30;
    let readout = Expansion::of_function(f, 0.0, 3.0, degree).unwrap();
    let start = Block::column(&[1.0; 4]);
    let mut engine =
        Engine::new(Exact::new(op).unwrap(), family, start).unwrap().with_readout(readout).unwrap();
    for _ in 0..degree {
        engine.advance().unwrap();
    }
    // The coefficients of e^{−2x} on [0, 3] are 2e^{−3} I_j(3) < (e·3/(2j))^j/√(2πj): 1e−23 at
    // j = 31. What is left is the rounding of 31 terms, each T_j within j² ε of its value.
    let allowed = 31.0 * 31.0 * 4.0 * f64::EPSILON;
    for (i, &lambda) in spectrum.iter().enumerate() {
        let gap = (engine.answer().row(i)[0] - f(lambda)).abs();
        assert!(gap <= allowed, "f({lambda}): off by {gap:e}");
    }
}

#[test]
fn average_skips_the_transient() {
    let op = Diagonal::new(vec![2.0]).unwrap();
    let mut engine = Engine::new(Exact::new(op).unwrap(), Power, Block::column(&[1.0]))
        .unwrap()
        .with_readout(Average::new(2))
        .unwrap();
    for tick in 1..=5 {
        engine.advance().unwrap();
        let expected = match tick {
            1 => 2.0,
            2 => 4.0,
            3 => 8.0,
            4 => 12.0,
            _ => 56.0 / 3.0,
        };
        let found: f64 = engine.answer().row(0)[0];
        assert!((found - expected).abs() <= 8.0 * f64::EPSILON * expected, "{found} {expected}");
    }
}
