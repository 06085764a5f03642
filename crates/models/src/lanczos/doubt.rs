//! Whether an eigenvalue may have more copies than a panel has columns.

/// The spread of a group of values at most, as a share of the distance to the next one.
const SHARE: f64 = 1.0 / 16.0;

/// The distance from the others of an eigenvalue that was found as often as a random panel of `width`
/// columns lets it be found; the smallest, of several. `None` where no value was found as often.
///
/// A Krylov space has as many directions of an eigenspace as the panel that it starts from: min(m, b)
/// of multiplicity m, with probability one. So b copies of one value, or more, may hide others, and
/// fewer cannot. Copies agree to r² / δ, δ being the distance from the next value, so that they are a
/// group whose spread is small against δ; values that are close by chance are not.
///
/// `values` are descending, the guard included. A group that goes on to the last of them hides nothing:
/// what is missing is equal to that value. One column is asked nothing: with it any value is a group.
pub(super) fn doubtful_gap(values: &[f64], width: usize, rounding: f64) -> Option<f64> {
    let gap_of = |from: usize, end: usize| {
        let above = if from == 0 { f64::INFINITY } else { values[from - 1] - values[from] };
        let gap = above.min(values[end - 1] - values[end]);
        let is_group =
            gap > rounding && values[from] - values[end - 1] <= (SHARE * gap).max(rounding);
        is_group.then_some(gap)
    };
    let groups = (0..values.len()).flat_map(|from| {
        let ends = from.saturating_add(width)..values.len();
        ends.filter_map(move |end| gap_of(from, end))
    });
    groups.filter(|_| width > 1).min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many copies as columns are a doubt, fewer are none.
    #[test]
    fn copies_are_counted() {
        let values = [2.0, 1.0, 1.0 - 1e-9, 1.0 - 2e-9, 0.5, 0.4];
        let gap = doubtful_gap(&values, 3, 1e-14).unwrap();
        assert!((gap - 0.5).abs() < 1e-8);
        assert_eq!(doubtful_gap(&values, 4, 1e-14), None);
        assert_eq!(doubtful_gap(&values, 1, 1e-14), None);
        // Also at the end of the values, when something else follows.
        assert!(doubtful_gap(&values[..5], 3, 1e-14).is_some());
        let goes_on = [2.0, 1.0, 1.0 - 1e-9, 1.0 - 2e-9, 1.0 - 3e-9];
        assert_eq!(doubtful_gap(&goes_on, 3, 1e-14), None);
        assert_eq!(doubtful_gap(&values[..4], 3, 1e-14), None);
    }

    /// Values that are merely close are none, and neither is what rounding makes of zeros.
    #[test]
    fn close_values_are_no_copies() {
        let tail: Vec<f64> = (0..21).map(|i| 1e-3 - 1e-6 * f64::from(i)).collect();
        assert_eq!(doubtful_gap(&tail, 4, 1e-14), None);
        let zeros = [1.0, 3e-17, 2e-17, 1e-17, 0.0, -1e-17];
        assert_eq!(doubtful_gap(&zeros, 4, 1e-14), None);
    }
}
