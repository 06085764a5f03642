//! What the terms of an operator have to do with the whole.

use favard_operator::{Batch, Block, BlockRef, Scalar, StochasticOperator, Workspace};

use super::linear::fused_tolerance;
use crate::Rounding;
use crate::case::{Case, Verdict, values};

/// All terms with unit weights are the operator: $\sum_i A_i X = A X$.
///
/// Tolerance $(2c + 4)\,\varepsilon\,(|\alpha| B|X| + |\gamma||Y|)$, with B the sum of the terms'
/// sizes ([`Rounding::measure_terms`]).
///
/// # Errors
/// The violation, or a product that fails.
pub fn all_terms<T: Scalar, A: StochasticOperator<T> + ?Sized>(
    op: &A,
    alpha: T,
    x: BlockRef<'_, T>,
    gamma: T,
    y: BlockRef<'_, T>,
    rounding: &Rounding,
) -> Verdict {
    let case = Case::new("all_terms", op.shape(), x.cols());
    let case = case.with(&format!("{} terms, α = {alpha}, γ = {gamma}", op.terms()));
    let batch = Batch { terms: (0..op.terms()).collect(), weights: vec![T::one(); op.terms()] };
    let (mut expected, mut found) = (y.to_owned(), y.to_owned());
    let mut ws = Workspace::new();
    case.run(|| op.apply(alpha, x, gamma, expected.as_mut(), &mut ws))?;
    case.run(|| op.apply_terms(&batch, alpha, x, gamma, found.as_mut(), &mut ws))?;
    let tolerance = fused_tolerance(alpha, x, gamma, y, rounding);
    case.near(&values(expected.as_ref()), &values(found.as_ref()), &tolerance)
}

/// A batch is the weighted sum of its terms, one by one: repeats count, and the product is linear
/// in the weights. An empty batch is the zero operator.
///
/// Tolerance $(2c + 4)\,\varepsilon\,(|\alpha| \sum_j |w_j| B|X| + |\gamma||Y|)$.
///
/// # Errors
/// The violation, or a product that fails.
pub fn terms<T: Scalar, A: StochasticOperator<T> + ?Sized>(
    op: &A,
    batch: &Batch<T>,
    alpha: T,
    x: BlockRef<'_, T>,
    gamma: T,
    y: BlockRef<'_, T>,
    rounding: &Rounding,
) -> Verdict {
    let case = Case::new("terms", op.shape(), x.cols());
    let case = case.with(&format!("batch of {}, α = {alpha}, γ = {gamma}", batch.len()));
    let mut ws = Workspace::new();
    let mut expected = values(y) * gamma.as_f64();
    for (&term, weight) in batch.terms.iter().zip(&batch.weights) {
        let single = Batch { terms: vec![term], weights: vec![T::one()] };
        let mut image = Block::from_fn(op.shape().0, x.cols(), |_, _| T::nan());
        let (one, zero) = (T::one(), T::zero());
        case.run(|| op.apply_terms(&single, one, x, zero, image.as_mut(), &mut ws))?;
        // expected ← expected + α w A_t x
        expected += &(values(image.as_ref()) * (alpha.as_f64() * weight.as_f64()));
    }
    let mut found = y.to_owned();
    case.run(|| op.apply_terms(batch, alpha, x, gamma, found.as_mut(), &mut ws))?;
    let tolerance = fused_tolerance(alpha, x, gamma, y, &rounding.weighted(batch));
    case.near(&expected, &values(found.as_ref()), &tolerance)
}

/// A term that is too large, and a list of weights of another length, are refused before Y is
/// touched.
///
/// # Errors
/// The violation.
pub fn terms_refused<T: Scalar, A: StochasticOperator<T> + ?Sized>(op: &A) -> Verdict {
    let (rows, cols) = op.shape();
    let (one, half) = (T::one(), T::of(0.5));
    let case = Case::new("terms_refused", op.shape(), 2).with(&format!("{} terms", op.terms()));
    let mut batches = vec![
        ("term beyond the last", Batch { terms: vec![op.terms()], weights: vec![one] }),
        ("term usize::MAX", Batch { terms: vec![usize::MAX], weights: vec![one] }),
        ("a weight without a term", Batch { terms: vec![], weights: vec![one] }),
    ];
    if op.terms() > 0 {
        batches.push(("a term without a weight", Batch { terms: vec![0], weights: vec![] }));
    }
    let x = Block::from_fn(cols, 2, |_, _| one);
    for (name, batch) in batches {
        let mut y = Block::from_fn(rows, 2, |_, _| half);
        case.with(name).refuse(&mut y, |y| {
            let mut ws = Workspace::new();
            op.apply_terms(&batch, one, x.as_ref(), one, y.as_mut(), &mut ws)
        })?;
    }
    Ok(())
}
