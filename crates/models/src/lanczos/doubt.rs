//! Whether an eigenvalue may have more copies than a panel has columns.

/// The spread of a group of values at most, as a share of the distance to the next one.
const SHARE: f64 = 1.0 / 16.0;

/// Whether some eigenvalue was found as often as a random panel of `width` columns lets it be found.
///
/// A Krylov space has as many directions of an eigenspace as the panel that it starts from: min(m, b)
/// of multiplicity m, with probability one. So b copies of one value, or more, may hide others, and
/// fewer cannot. Copies agree to r² / δ, δ being the distance from the next value, so that they are a
/// group whose spread is small against δ; values that are close by chance are not.
///
/// `values` are descending, `next` is the one that follows them. A group that goes on beyond the last
/// value hides nothing: what is missing is equal to that value. One column is asked nothing: with it
/// any value is a group.
pub(super) fn is_doubtful(values: &[f64], next: Option<f64>, width: usize, rounding: f64) -> bool {
    let all: Vec<f64> = values.iter().copied().chain(next).collect();
    let is_group = |from: usize, end: usize| {
        let above = if from == 0 { f64::INFINITY } else { all[from - 1] - all[from] };
        let gap = above.min(all[end - 1] - all[end]);
        gap > rounding && all[from] - all[end - 1] <= (SHARE * gap).max(rounding)
    };
    width > 1
        && (0..all.len()).any(|from| {
            let ends = from.saturating_add(width)..all.len();
            ends.into_iter().any(|end| is_group(from, end))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many copies as columns are a doubt, fewer are none.
    #[test]
    fn copies_are_counted() {
        let values = [2.0, 1.0, 1.0 - 1e-9, 1.0 - 2e-9, 0.5];
        assert!(is_doubtful(&values, Some(0.4), 3, 1e-14));
        assert!(!is_doubtful(&values, Some(0.4), 4, 1e-14));
        assert!(!is_doubtful(&values, Some(0.4), 1, 1e-14));
        // Also at the end of the values, when something else follows.
        assert!(is_doubtful(&values[..4], Some(0.5), 3, 1e-14));
        assert!(!is_doubtful(&values[..4], Some(1.0 - 3e-9), 3, 1e-14));
        assert!(!is_doubtful(&values[..4], None, 3, 1e-14));
    }

    /// Values that are merely close are none, and neither is what rounding makes of zeros.
    #[test]
    fn close_values_are_no_copies() {
        let tail: Vec<f64> = (0..20).map(|i| 1e-3 - 1e-6 * f64::from(i)).collect();
        assert!(!is_doubtful(&tail, Some(1e-3 - 2e-5), 4, 1e-14));
        let zeros = [1.0, 3e-17, 2e-17, 1e-17, 0.0];
        assert!(!is_doubtful(&zeros, Some(-1e-17), 4, 1e-14));
    }
}
