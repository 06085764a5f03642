//! Batches whose expectation is the whole operator.

use favard_operator::{Batch, Result as OperatorResult, Scalar};

use crate::ViolationKind;
use crate::case::{Case, Verdict};

/// The probability with which [`unbiased`] rejects an unbiased sampler.
const FALSE_ALARM: f64 = 1e-9;

/// Adds the total weight of each term of a batch to `totals`.
fn add_weights<T: Scalar>(case: &Case, batch: &Batch<T>, totals: &mut [f64]) -> Verdict {
    case.run(|| batch.check(totals.len()))?;
    for (&term, weight) in batch.terms.iter().zip(&batch.weights) {
        totals[term] += weight.as_f64();
    }
    Ok(())
}

/// A sampler is unbiased, by enumeration: over all its outcomes $(p, S)$,
/// $\mathbb{E}[\sum_{j : t_j = i} w_j] = 1$ for every term i, so that
/// $\mathbb{E}[\sum_j w_j A_{t_j}] = \sum_i A_i = A$.
///
/// Tolerance $(s + o + 4)\,\varepsilon$ times the sum of $p\,|w|$, for o outcomes of at most s terms.
///
/// # Errors
/// The violation: the column is the term, the values are its expected weight.
///
/// # Example
/// One term of three, drawn uniformly, has weight 3:
/// ```
/// use favard_operator::Batch;
/// use favard_testkit::laws;
/// let outcomes = (0..3).map(|term| (1.0 / 3.0, Batch { terms: vec![term], weights: vec![3.0] }));
/// laws::unbiased_exactly(3, outcomes)?;
/// # Ok::<(), favard_testkit::Violation>(())
/// ```
pub fn unbiased_exactly<T: Scalar>(
    terms: usize,
    outcomes: impl IntoIterator<Item = (f64, Batch<T>)>,
) -> Verdict {
    let case = Case::new("unbiased_exactly", (terms, terms), 0);
    let (mut means, mut sizes) = (vec![0.0; terms], vec![0.0; terms]);
    let (mut count, mut longest, mut mass) = (0, 0, 0.0);
    for (probability, batch) in outcomes {
        let mut totals = vec![0.0; terms];
        add_weights(&case, &batch, &mut totals)?;
        for ((mean, size), total) in means.iter_mut().zip(&mut sizes).zip(totals) {
            // E[w_i] ← E[w_i] + p w_i
            *mean += probability * total;
            *size += probability * total.abs();
        }
        (count, longest, mass) = (count + 1, longest.max(batch.len()), mass + probability);
    }
    let unit = (count + longest + 4) as f64 * <T as Scalar>::EPSILON.as_f64();
    case.with("the outcomes' probabilities").near_one((0, 0), 1.0, mass, unit)?;
    let case = case.with(&format!("{count} outcomes, expected weights"));
    for (term, (mean, size)) in means.into_iter().zip(sizes).enumerate() {
        case.near_one((0, term), 1.0, mean, unit * size.max(1.0))?;
    }
    Ok(())
}

/// A sampler is unbiased, by draws: the mean weight of every term over `draws` batches is 1.
///
/// `draw(tick)` gives the batch of a tick; `largest` bounds the total weight of one term in one
/// batch from above (N for one uniform draw of N terms), and 0 bounds it from below.
///
/// The tolerance is the empirical Bernstein bound of Maurer and Pontil (2009, theorem 4): with n
/// draws, sample variance V, range R and $L = \ln(4N / \delta)$,
/// $|\text{mean} - 1| \le \sqrt{2 V L / n} + 7 R L / (3 (n - 1))$. All N terms together, an
/// unbiased sampler of independent draws is rejected with probability at most δ = 10⁻⁹; with the
/// fixed seed of a test, always or never.
///
/// # Errors
/// The violation: the column is the term, the values are its mean weight.
///
/// # Example
/// ```
/// use favard_operator::Batch;
/// use favard_testkit::laws;
/// // Not random at all, but unbiased: each term in turn.
/// let draw = |tick: u64| Ok(Batch { terms: vec![(tick % 3) as usize], weights: vec![3.0] });
/// laws::unbiased(3, 3000, 3.0, draw)?;
/// # Ok::<(), favard_testkit::Violation>(())
/// ```
pub fn unbiased<T: Scalar>(
    terms: usize,
    draws: u64,
    largest: f64,
    mut draw: impl FnMut(u64) -> OperatorResult<Batch<T>>,
) -> Verdict {
    let case = Case::new("unbiased", (terms, terms), 0).with(&format!("{draws} draws"));
    let (mut sums, mut squares) = (vec![0.0; terms], vec![0.0; terms]);
    for tick in 0..draws {
        let mut totals = vec![0.0; terms];
        add_weights(&case, &case.run(|| draw(tick))?, &mut totals)?;
        for (term, total) in totals.into_iter().enumerate() {
            if !(0.0..=largest * (1.0 + 1e-6)).contains(&total) {
                let (row, column) = (0, term);
                let (expected, tolerance) = (0.5 * largest, 0.5 * largest);
                let kind =
                    ViolationKind::Differs { row, column, expected, found: total, tolerance };
                return Err(case.with(&format!("the range at tick {tick}")).violation(kind));
            }
            sums[term] += total;
            squares[term] += total * total;
        }
    }
    let n = draws as f64;
    let log = (4.0 * terms as f64 / FALSE_ALARM).ln();
    for term in 0..terms {
        let mean = sums[term] / n;
        let variance = ((squares[term] - n * mean * mean) / (n - 1.0)).max(0.0);
        let tolerance = (2.0 * variance * log / n).sqrt() + 7.0 * largest * log / (3.0 * (n - 1.0));
        case.near_one((0, term), 1.0, mean, tolerance)?;
    }
    Ok(())
}
