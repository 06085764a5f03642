//! Batches against all rows at once.

use favard_models::{Pca, StreamingPca};
use favard_operator::Dense;
use ndarray::{Array2, s};
use proptest::prelude::*;

use crate::support::*;

fn feed(stream: &mut StreamingPca<f64>, x: &Array2<f64>, sizes: impl Iterator<Item = usize>) {
    let mut from = 0;
    for size in sizes {
        let to = x.nrows().min(from + size);
        if from < to {
            stream.partial_fit(&csr(&x.slice(s![from..to, ..]).to_owned())).unwrap();
        }
        from = to;
    }
    assert_eq!(stream.rows(), x.nrows());
}

/// λ̂ ≤ λ ≤ λ̂ + error bound, and the residual against the true covariance is within it too.
fn assert_within_bound(stream: &StreamingPca<f64>, x: &Array2<f64>) {
    let (fit, exact) = (stream.snapshot().unwrap(), exact_variances(x, false));
    let rounding = 1e3 * f64::EPSILON * exact[0] * exact.len() as f64;
    let bound = stream.error_bound() + rounding;
    for (found, exact) in fit.explained_variance().iter().zip(&exact) {
        assert!(*found <= exact + rounding && exact - found <= bound, "{found} {exact} {bound:e}");
    }
    let centred = x - &ndarray::Array1::from(fit.mean().to_vec());
    let c = centred.t().dot(&centred) / (x.nrows() - 1) as f64;
    let v = fit.components().view();
    for (j, value) in fit.explained_variance().iter().enumerate() {
        let r = c.dot(&v.column(j)) - &v.column(j) * *value;
        assert!(r.dot(&r).sqrt() <= bound, "{j}: {:e} {bound:e}", r.dot(&r).sqrt());
    }
    let total: f64 = exact.iter().sum();
    assert!((fit.total_variance() - total).abs() <= rounding);
}

/// One batch is PCA.
#[test]
fn one_batch_is_pca() {
    let x = sparse(150, 40, 5);
    let mut stream = StreamingPca::new(4);
    stream.partial_fit(&csr(&x)).unwrap();
    let (fit, pca) = (stream.snapshot().unwrap(), Pca::new(4).fit(&csr(&x)).unwrap());
    let allowed = 1e3 * f64::EPSILON * pca.explained_variance()[0];
    assert!(gap(&fit.explained_variance(), &pca.explained_variance()) <= allowed);
    assert_eq!(fit.mean(), pca.mean());
    assert!((fit.noise_variance() - pca.noise_variance()).abs() <= allowed);
    assert!(sine(fit.components(), pca.components()) <= 1e-9);
    let scores = fit.transform(&csr(&x)).unwrap();
    assert_eq!(scores.shape(), (150, 4));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// When all directions are kept, any batching gives what PCA gives, certified; and when they
    /// are not, the truth is within the stated bound.
    #[test]
    fn any_batching(
        sizes in prop::collection::vec(prop_oneof![Just(1_usize), 1..=9_usize, 10..=60_usize], 60),
        seed in 0..100_u64,
    ) {
        let x = sparse(100, 18, seed);
        let mut all = StreamingPca::new(3).oversampling(15);
        feed(&mut all, &x, sizes.iter().copied().chain([100]));
        let (fit, exact) = (all.snapshot().unwrap(), exact_variances(&x, false));
        prop_assert!(fit.is_certified());
        // Each batch rounds by a few ε of the scatter so far; there are at most 61.
        let allowed = 61.0 * 100.0 * f64::EPSILON * exact[0];
        prop_assert!(gap(&fit.explained_variance(), &exact[..3]) <= allowed);
        prop_assert!(all.discarded_variance() <= 18.0 * allowed);
        let mut some = StreamingPca::new(3).oversampling(4);
        feed(&mut some, &x, sizes.iter().copied().chain([100]));
        assert_within_bound(&some, &x);
    }
}

/// Rows one by one: no minimum, a component for every row until there are enough.
#[test]
fn one_row_at_a_time() {
    let x = with_variances(60, &[9.0, 4.0, 1.0, 0.1, 0.01, 0.001, 1e-4, 1e-5], 3);
    let mut stream = StreamingPca::new(3).oversampling(2);
    for (i, row) in x.rows().into_iter().enumerate() {
        let row = row.to_owned().insert_axis(ndarray::Axis(0));
        stream.partial_fit(&Dense::new(row).unwrap()).unwrap();
        if i >= 1 {
            assert_eq!(stream.snapshot().unwrap().components().cols(), 3.min(i + 1));
        }
    }
    assert_within_bound(&stream, &x);
    assert!(stream.discarded_variance() > 0.0);
    // What is below the five directions kept sums to 1.1e-3 + rounding, over all batches.
    assert!(stream.discarded_variance() <= 1.2e-3, "{:e}", stream.discarded_variance());
}

/// A large mean costs nothing: it is never squared.
#[test]
fn a_large_mean_is_harmless() {
    let x = with_variances(80, &[4.0, 2.0, 1.0, 0.5], 5) + 1e6;
    let mut stream = StreamingPca::new(2);
    for batch in [0..7, 7..8, 8..50, 50..80] {
        stream.partial_fit(&Dense::new(x.slice(s![batch, ..])).unwrap()).unwrap();
    }
    // Entries are rounded at ε · 1e6 when they are stored and when the mean is subtracted.
    let allowed = 100.0 * f64::EPSILON * 1e6 * 4.0;
    assert!(gap(&stream.snapshot().unwrap().explained_variance(), &[4.0, 2.0]) <= allowed);
}

/// Wide batches, on the side of the rows, and enough of them for an iteration.
#[test]
fn wide_and_long_streams() {
    let x = sparse(700, 400, 7);
    let mut stream = StreamingPca::new(3).tolerance(1e-3);
    feed(&mut stream, &x, [350, 350].into_iter());
    assert_within_bound(&stream, &x);
    // An iteration has no guard value; a saved state does not mind.
    let saved = serde_json::to_string(&stream).unwrap();
    assert!(serde_json::from_str::<StreamingPca<f64>>(&saved).unwrap() == stream);
}

/// The state does not grow with the rows, and a saved stream goes on to the same bits.
#[test]
fn streams_can_be_saved() {
    let x = sparse(400, 25, 9);
    let mut stream = StreamingPca::new(3);
    let mut sizes = Vec::new();
    for from in (0..400).step_by(40) {
        let batch = csr(&x.slice(s![from..from + 40, ..]).to_owned());
        let saved = serde_json::to_string(&stream).unwrap();
        let mut resumed: StreamingPca<f64> = serde_json::from_str(&saved).unwrap();
        stream.partial_fit(&batch).unwrap();
        resumed.partial_fit(&batch).unwrap();
        assert!(stream == resumed);
        let fit = stream.snapshot().unwrap();
        sizes.push((fit.components().shape(), fit.mean().len()));
    }
    assert!(sizes.iter().all(|size| *size == sizes[0]));
    // A file whose parts do not fit is refused, not believed.
    let saved = serde_json::to_string(&stream).unwrap();
    let broken = saved.replacen("\"mean\":[", "\"mean\":[0.0,", 1);
    let mut broken: StreamingPca<f64> = serde_json::from_str(&broken).unwrap();
    let text = broken.partial_fit(&csr(&x)).unwrap_err().to_string();
    assert!(text.contains("expected 26, found 25"), "{text}");
    assert!(broken.snapshot().is_err());
}

/// A batch that cannot be used leaves the stream as it was.
#[test]
fn bad_batches_change_nothing() {
    let x = sparse(50, 12, 1);
    let mut stream = StreamingPca::new(2);
    let text = stream.snapshot().unwrap_err().to_string();
    assert!(text.starts_with("rows: 0 must be at least 2"), "{text}");
    stream.partial_fit(&csr(&x)).unwrap();
    let before = stream.clone();
    let wide = csr(&sparse(50, 13, 1));
    let text = stream.partial_fit(&wide).unwrap_err().to_string();
    assert_eq!(text, "columns of the batch: expected 12, found 13");
    let huge = Dense::new(Array2::from_shape_fn((2, 12), |(i, _)| 1e200 * i as f64)).unwrap();
    let text = stream.partial_fit(&huge).unwrap_err().to_string();
    assert!(text.ends_with("divide the data by a power of two"), "{text}");
    stream.partial_fit(&Dense::new(Array2::<f64>::zeros((0, 12))).unwrap()).unwrap();
    assert!(stream == before);
    assert!(StreamingPca::new(0).partial_fit(&csr(&x)).is_err());
    // Constant rows: no variance, and none invented.
    let mut constant = StreamingPca::new(2);
    for _ in 0..3 {
        constant.partial_fit(&Dense::new(Array2::<f64>::ones((4, 3))).unwrap()).unwrap();
    }
    assert_eq!(constant.snapshot().unwrap().explained_variance(), [0.0, 0.0]);
}
