//! Uniform samples without replacement.

use rand::{Rng, RngExt};

/// Rounds of drawing what is missing before the rest is drawn one by one. Each round leaves at
/// most half of what was missing, in the mean.
const ROUNDS: usize = 16;

/// Fills `sample` with `size` distinct numbers below `bound`, sorted, all subsets equally likely.
///
/// $O(s \log s)$ whatever the bound is, when at most half of the numbers are wanted; else the
/// numbers left out are drawn, at $O(n)$, which is then $O(s)$.
pub(super) fn fill<R: Rng>(rng: &mut R, bound: usize, size: usize, sample: &mut Vec<usize>) {
    sample.clear();
    if size <= bound - size {
        return fill_few(rng, bound, size, sample);
    }
    let left_out = bound - size;
    fill_few(rng, bound, left_out, sample);
    // The numbers between those left out, written behind them.
    let mut next = 0;
    for index in 0..left_out {
        let absent = sample[index];
        sample.extend(next..absent);
        next = absent + 1;
    }
    sample.extend(next..bound);
    sample.drain(..left_out);
}

/// Draws as many as are missing and forgets repeats, again and again. Nothing here depends on
/// what the numbers are, so every subset is equally likely.
fn fill_few<R: Rng>(rng: &mut R, bound: usize, size: usize, sample: &mut Vec<usize>) {
    for _ in 0..ROUNDS {
        let missing = size - sample.len();
        if missing == 0 {
            return;
        }
        sample.extend((0..missing).map(|_| below(rng, bound)));
        sample.sort_unstable();
        sample.dedup();
    }
    while sample.len() < size {
        // The r-th of the numbers not yet in the sample.
        let mut candidate = below(rng, bound - sample.len());
        let mut place = 0;
        while place < sample.len() && sample[place] <= candidate {
            candidate += 1;
            place += 1;
        }
        sample.insert(place, candidate);
    }
}

/// A uniform number below `bound`, the same on 32 and 64 bits.
// The number is below a usize.
#[allow(clippy::cast_possible_truncation)]
pub(super) fn below<R: Rng>(rng: &mut R, bound: usize) -> usize {
    rng.random_range(0..bound as u64) as usize
}
