//! Every sampler is unbiased: by enumeration of its outcomes, and by draws.

use std::collections::BTreeSet;

use favard_operator::{
    Batch, BlockRef, Csr, Gram, LinearOperator, Sampler, Scalar, StochasticOperator, Workspace,
};
use favard_testkit::laws;

use crate::support::Checked;

fn draw<T: Scalar>(sampler: &Sampler<T>, tick: u64) -> Batch<T> {
    let mut batch = Batch::default();
    sampler.draw(tick, &mut batch);
    batch
}

/// The different batches among many draws; the rarest outcome asked for here has a probability of
/// at least 1/200, so that 8,000 draws miss one of them with a probability below 10⁻¹⁵.
fn outcomes<T: Scalar>(sampler: &Sampler<T>) -> Vec<Batch<T>> {
    let batches = (0..8000).map(|tick| draw(sampler, tick));
    let mut seen = BTreeSet::new();
    batches.filter(|batch| seen.insert(batch.terms.clone())).collect()
}

/// s! / Π mᵢ! Π pᵢ^mᵢ, the probability of s independent draws, in any order.
fn multinomial<T>(batch: &Batch<T>, probability: impl Fn(usize) -> f64) -> f64 {
    let mut result = 1.0;
    let mut run = 0;
    for (place, &term) in batch.terms.iter().enumerate() {
        run = if place > 0 && batch.terms[place - 1] == term { run + 1 } else { 1 };
        result *= probability(term) * (place + 1) as f64 / f64::from(run);
    }
    result
}

/// E = Σ p · batch over all outcomes, with the probabilities that the documentation states.
fn check_exactly<T: Scalar>() -> Checked {
    let equally = |batches: Vec<Batch<T>>| {
        let probability = 1.0 / batches.len() as f64;
        batches.into_iter().map(move |batch| (probability, batch))
    };
    for size in 1..=3 {
        let uniform = outcomes(&Sampler::<T>::uniform(4, size, 11)?);
        assert_eq!(uniform.len(), [4, 10, 20][size - 1]);
        laws::unbiased_exactly(
            4,
            uniform.into_iter().map(|batch| (multinomial(&batch, |_| 0.25), batch)),
        )?;

        let distinct = outcomes(&Sampler::<T>::distinct(6, size, 12)?);
        assert_eq!(distinct.len(), [6, 15, 20][size - 1]);
        laws::unbiased_exactly(6, equally(distinct))?;

        let window = outcomes(&Sampler::<T>::window(7, size, 13)?);
        assert_eq!(window.len(), 7);
        laws::unbiased_exactly(7, equally(window))?;
    }
    let values = [1.0, 2.0, 2.0, 3.0];
    let sampler = Sampler::weighted(&values.map(T::of), 2, 14)?;
    let probability = |term: usize| values[term] / 8.0;
    let weighted = outcomes(&sampler).into_iter();
    let weighted = weighted.map(|batch| (multinomial(&batch, probability), batch));
    laws::unbiased_exactly(4, weighted)?;
    Ok(())
}

/// The draws follow those probabilities: 20,000 of each, false alarm with probability 10⁻⁹.
fn check_by_draws<T: Scalar>() -> Checked {
    let draws = 20_000;
    let check = |sampler: &Sampler<T>, largest: f64| {
        laws::unbiased(sampler.terms(), draws, largest, |tick| Ok(draw(sampler, tick)))
    };
    // A term can come s times, with weight N/s each: N at most; N/s when it comes once at most.
    check(&Sampler::uniform(7, 1, 21)?, 7.0)?;
    check(&Sampler::uniform(7, 5, 22)?, 7.0)?;
    check(&Sampler::distinct(7, 2, 23)?, 3.5)?;
    check(&Sampler::distinct(7, 5, 24)?, 1.4)?;
    check(&Sampler::distinct(7, 7, 25)?, 1.0)?;
    check(&Sampler::window(7, 3, 26)?, 7.0 / 3.0)?;
    check(&Sampler::window(7, 7, 27)?, 1.0)?;
    let values = [1.0, 0.5, 4.0, 2.0, 0.5].map(T::of);
    // s times 1/(s p) for the rarest: 8 / 0.5.
    check(&Sampler::weighted(&values, 1, 28)?, 16.0)?;
    check(&Sampler::weighted(&values, 4, 29)?, 16.0)?;
    Ok(())
}

/// A term of norm zero is never drawn and need not be: the expected operator is still the whole.
fn check_by_norm<T: Scalar>() -> Checked {
    let values = [1.0, 2.0, 3.0, -1.0].map(T::of).to_vec();
    let op = Gram::new(Csr::new((3, 3), vec![0, 2, 2, 4], vec![0, 2, 0, 1], values)?);
    let sampler = Sampler::by_norm(&op, 1, 31)?;
    let norm = |term: usize| op.term_norm(term).as_f64();
    let total: f64 = (0..3).map(norm).sum();
    let x = [1.0, -2.0, 0.5].map(T::of);
    let mut ws = Workspace::new();
    let mut mean = [0.0; 3];
    for batch in outcomes(&sampler) {
        assert_ne!(batch.terms, [1], "the second row is empty");
        let mut y = favard_operator::Block::zeros(3, 1);
        let (one, zero) = (T::one(), T::zero());
        op.apply_terms(&batch, one, BlockRef::column(&x), zero, y.as_mut(), &mut ws)?;
        for (i, mean) in mean.iter_mut().enumerate() {
            *mean += norm(batch.terms[0]) / total * y.row(i)[0].as_f64();
        }
    }
    let whole = op.multiply(BlockRef::column(&x))?;
    for (i, mean) in mean.into_iter().enumerate() {
        // Two terms of entries up to 3 · 3 · 2 / 3, each through some ten roundings.
        let tolerance = 16.0 * 12.0 * <T as Scalar>::EPSILON.as_f64();
        let expected = whole.row(i)[0].as_f64();
        assert!((mean - expected).abs() <= tolerance, "E[{i}] = {mean}, expected {expected}");
    }
    Ok(())
}

#[test]
fn unbiased_exactly() {
    check_exactly::<f64>().unwrap();
    check_exactly::<f32>().unwrap();
}

#[test]
fn unbiased_by_draws() {
    check_by_draws::<f64>().unwrap();
    check_by_draws::<f32>().unwrap();
}

#[test]
fn unbiased_by_norm() {
    check_by_norm::<f64>().unwrap();
    check_by_norm::<f32>().unwrap();
}
