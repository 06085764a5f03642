//! Every sampler is unbiased: the expectation of its batches is the whole operator.

mod common;

use std::collections::HashMap;

use favard_operator::{Batch, Block, ErrorKind, Sampler, Scalar, StochasticFn};

fn draw<T: Scalar>(sampler: &Sampler<T>, tick: u64) -> Batch<T> {
    let mut batch = Batch::default();
    sampler.draw(tick, &mut batch);
    batch
}

/// How often each term is counted, with its weight, in the mean over the ticks.
fn mean_weights(sampler: &Sampler<f64>, ticks: u64) -> Vec<f64> {
    let mut sums = vec![0.0; sampler.terms()];
    for tick in 0..ticks {
        let batch = draw(sampler, tick);
        assert!(batch.check(sampler.terms()).is_ok());
        assert_eq!(batch.len(), sampler.batch_size());
        assert!(batch.terms.is_sorted());
        for (&term, &weight) in batch.terms.iter().zip(&batch.weights) {
            sums[term] += weight;
        }
    }
    sums.iter().map(|sum| sum / ticks as f64).collect()
}

/// The mean of n independent values in [0, b] misses its expectation by more than
/// b √(ln(2/δ) / 2n) with probability at most δ (Hoeffding 1963, theorem 1). Here δ = 10⁻¹² for
/// each of fewer than 1000 comparisons: fewer than one seed in 10⁹ would fail, and the seeds are
/// fixed.
fn hoeffding(range: f64, count: f64) -> f64 {
    range * ((2e12_f64).ln() / (2.0 * count)).sqrt()
}

/// E[Σⱼ wⱼ 1{tⱼ = i}] = 1 for every term i, which is E[batch] = A for every operator.
fn assert_unbiased(sampler: &Sampler<f64>, largest_weight: f64) {
    let ticks = 40_000;
    // Draws of one batch are independent, or exclude one another (which concentrates as well):
    // a batch counts term i between 0 and s times the weight.
    let bound = hoeffding(largest_weight * sampler.batch_size() as f64, ticks as f64);
    for (term, mean) in mean_weights(sampler, ticks).iter().enumerate() {
        assert!((mean - 1.0).abs() <= bound, "term {term}: mean weight {mean}, bound {bound}");
    }
}

#[test]
fn uniform_is_unbiased() {
    assert_unbiased(&Sampler::uniform(7, 3, 1).unwrap(), 7.0 / 3.0);
    assert_unbiased(&Sampler::uniform(2, 5, 1).unwrap(), 2.0 / 5.0);
}

#[test]
fn distinct_terms_are_distinct_and_unbiased() {
    for (terms, size) in [(7, 3), (7, 5), (7, 7), (1, 1), (1000, 3)] {
        let sampler = Sampler::<f64>::distinct(terms, size, 2).unwrap();
        for tick in 0..500 {
            let batch = draw(&sampler, tick);
            assert!(batch.terms.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", batch.terms);
        }
        if terms < 100 {
            assert_unbiased(&sampler, terms as f64 / size as f64);
        }
    }
}

/// All subsets are equally likely, not only all terms.
#[test]
fn distinct_draws_every_subset_equally_often() {
    // Sparse, dense, and the case in between that draws the complement.
    for (terms, size, subsets) in [(6, 2, 15_u32), (6, 4, 15), (5, 3, 10)] {
        let sampler = Sampler::<f64>::distinct(terms, size, 3).unwrap();
        let mut counts = HashMap::new();
        let ticks = 40_000_u32;
        for tick in 0..ticks {
            *counts.entry(draw(&sampler, tick.into()).terms).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), subsets as usize, "{size} of {terms}");
        let bound = hoeffding(1.0, ticks.into());
        for (subset, count) in counts {
            let share = f64::from(count) / f64::from(ticks);
            assert!((share - 1.0 / f64::from(subsets)).abs() <= bound, "{subset:?}: {share}");
        }
    }
}

#[test]
fn windows_cover_every_term_equally_often() {
    let (terms, size) = (7, 3);
    let sampler = Sampler::<f64>::window(terms, size, 4).unwrap();
    let mut starts = HashMap::new();
    for tick in 0..4_000 {
        let batch = draw(&sampler, tick);
        starts.insert(batch.terms.clone(), batch);
    }
    // All N windows have been seen: since the start is uniform, the mean over the N windows is the
    // expectation, exactly.
    assert_eq!(starts.len(), terms);
    let mut sums = vec![0.0; terms];
    for batch in starts.values() {
        let gaps = batch.terms.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
        assert!(gaps <= 1, "{:?} is not a window", batch.terms);
        for (&term, &weight) in batch.terms.iter().zip(&batch.weights) {
            sums[term] += weight / terms as f64;
        }
    }
    for sum in sums {
        assert!((sum - 1.0).abs() <= terms as f64 * f64::EPSILON);
    }
    assert_unbiased(&sampler, terms as f64 / size as f64);
}

#[test]
fn weighted_is_unbiased_and_follows_its_weights() {
    let values = [1.0_f64, 4.0, 0.5, 2.5];
    let sampler = Sampler::weighted(&values, 3, 5).unwrap();
    // wᵢ = Σv / (s vᵢ), exactly.
    for tick in 0..100 {
        let batch = draw(&sampler, tick);
        for (&term, &weight) in batch.terms.iter().zip(&batch.weights) {
            let expected = 8.0 / (3.0 * values[term]);
            assert!((weight - expected).abs() <= 8.0 * f64::EPSILON * expected);
        }
    }
    assert_unbiased(&sampler, 8.0 / (3.0 * 0.5));
}

#[test]
fn sampling_by_norm_skips_terms_that_are_zero() {
    let op = StochasticFn::new((1, 1), 3, |_: &Batch<f64>, _, _| Ok(()));
    let op = op.with_norms(vec![3.0, 0.0, 1.0]).unwrap();
    let sampler = Sampler::by_norm(&op, 2, 6).unwrap();
    let means = mean_weights(&sampler, 40_000);
    let bound = hoeffding(2.0 * 4.0 / 2.0, 40_000.0);
    for (mean, expected) in means.iter().zip([1.0, 0.0, 1.0]) {
        assert!((mean - expected).abs() <= bound);
    }
    let zero = StochasticFn::new((1, 1), 2, |_: &Batch<f64>, _, _| Ok(()));
    let zero = zero.with_norms(vec![0.0, 0.0]).unwrap();
    assert!(matches!(
        Sampler::by_norm(&zero, 1, 1).unwrap_err().kind(),
        ErrorKind::Weight { index: 0, .. }
    ));
}

/// A batch is a pure function of the seed and the tick: asking again, in another order, from a
/// used buffer or another thread changes nothing.
#[test]
fn a_batch_is_a_function_of_seed_and_tick() {
    let values = common::positive::<f64>(50, 1);
    let samplers = |seed| {
        [
            Sampler::uniform(50, 8, seed).unwrap(),
            Sampler::distinct(50, 8, seed).unwrap(),
            Sampler::distinct(50, 40, seed).unwrap(),
            Sampler::window(50, 8, seed).unwrap(),
            Sampler::weighted(&values, 8, seed).unwrap(),
        ]
    };
    for (sampler, other) in samplers(1).iter().zip(&samplers(2)) {
        let mut used = draw(sampler, 99);
        let batches: Vec<_> = (0..20).map(|tick| draw(sampler, tick)).collect();
        for tick in (0..20).rev() {
            sampler.draw(tick, &mut used);
            assert_eq!(used, batches[usize::try_from(tick).unwrap()]);
        }
        assert!(batches.iter().any(|batch| *batch != batches[0]), "ticks differ");
        assert!((0..20).any(|tick| draw(other, tick) != draw(sampler, tick)), "seeds differ");
        assert_eq!((sampler.terms(), sampler.seed()), (50, 1));
    }
}

#[test]
fn bad_parameters_are_named() {
    let parameter = |outcome: favard_operator::Result<Sampler<f64>>| {
        assert!(matches!(outcome.unwrap_err().kind(), ErrorKind::Parameter { .. }));
    };
    parameter(Sampler::uniform(5, 0, 1));
    parameter(Sampler::uniform(0, 5, 1));
    parameter(Sampler::distinct(5, 6, 1));
    parameter(Sampler::distinct(5, 0, 1));
    parameter(Sampler::window(5, 6, 1));
    parameter(Sampler::weighted(&[1.0, 2.0], 0, 1));
    parameter(Sampler::weighted(&[], 1, 1));
    assert!(Sampler::<f64>::uniform(5, 6, 1).is_ok(), "repeats are allowed");
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Sampler::weighted(&[1.0, bad], 1, 1).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Weight { index: 1, .. }), "{bad}");
    }
    // 1/(s p) would not be finite in f32.
    let error = Sampler::weighted(&[1.0_f32, f32::MIN_POSITIVE / 1e6], 1, 1).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Weight { index: 1, .. }));
}

/// E[batch X] is A X when the operator is drawn by the sampler: the law end to end.
#[test]
fn the_mean_of_batches_is_the_product() {
    use favard_operator::{Dense, Gram, LinearOperator, StochasticOperator, Workspace};
    let op = Gram::new(Dense::new(common::matrix::<f64>(6, 3, 1)).unwrap());
    let x = Block::gaussian(3, 2, 2);
    let whole = op.multiply(x.as_ref()).unwrap();
    let sampler = Sampler::<f64>::window(6, 2, 3).unwrap();
    // The six windows, one each: an exact expectation.
    let mut windows = HashMap::new();
    for tick in 0..2_000 {
        let batch = draw(&sampler, tick);
        windows.insert(batch.terms.clone(), batch);
    }
    assert_eq!(windows.len(), 6);
    let (mut mean, mut ws) = (Block::zeros(3, 2), Workspace::new());
    for batch in windows.values() {
        op.apply_terms(batch, 1.0 / 6.0, x.as_ref(), 1.0, mean.as_mut(), &mut ws).unwrap();
    }
    let size: f64 = (0..6).map(|term| op.term_norm(term)).sum::<f64>() * 6.0;
    for i in 0..3 {
        for j in 0..2 {
            let bound = 64.0 * f64::EPSILON * size;
            assert!((mean.row(i)[j] - whole.row(i)[j]).abs() <= bound);
        }
    }
}
