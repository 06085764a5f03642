//! The testkit's chain on operators of this workspace, and that it can break.

use favard_operator::{Dense, Gram};
use favard_testkit::{Chain, ChainError};
use favard_theory::second_moment::Finite;
use ndarray::{Array2, array};
use proptest::prelude::*;

use crate::support::{finite, operator, points};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    /// Rows of a small data set, one drawn at a time, β on both sides of λ₂²/4.
    #[test]
    fn chain_holds_for_sampled_rows(
        rows in prop::collection::vec(prop::collection::vec(-10..=10_i32, 3), 2..=6),
        momentum in 0..=12_i32,
    ) {
        let data = Array2::from_shape_fn((rows.len(), 3), |(i, j)| f64::from(rows[i][j]) / 10.0);
        let op = Gram::new(Dense::new(data).unwrap());
        let chain = Chain::of_operator(&op).unwrap();
        let radius = chain.noise().mean().diag().sum(); // the trace bounds λ₁
        let beta = radius * radius / 4.0 * f64::from(momentum) / 10.0;
        prop_assert!(chain.check(beta, 20).is_ok(), "{:?}", chain.check(beta, 20));
    }
}

#[test]
fn chain_holds_for_a_closure() {
    let op = operator(points(0.2));
    Chain::of_operator(&op).unwrap().check(0.16, 40).unwrap();
    let start = array![0.6, 0.8];
    Chain::new(finite(&points(0.2))).with_start(start).check(0.16, 40).unwrap();
}

/// A chain that cannot be checked says why; one that is wrong breaks. The mean of this distribution
/// is not symmetric: its powers grow beyond its eigenvalues, and the lemma's assumption fails.
#[test]
fn chain_can_break() {
    let large = Gram::new(Dense::new(Array2::<f64>::zeros((2, 13))).unwrap());
    let error = Chain::of_operator(&large).unwrap_err();
    assert_eq!(error.to_string(), "dimension: 13, at most 12 for an exact check");
    let sheared = |noise: f64| array![[0.5 + noise, 4.0], [-4.0, 0.5 + noise]];
    let finite = Finite::new(vec![sheared(0.3), sheared(-0.3)], vec![0.5, 0.5]).unwrap();
    let error = Chain::new(finite).check(0.0, 20).unwrap_err();
    assert!(matches!(error, ChainError::Broken { .. }), "{error}");
}
