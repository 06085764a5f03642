//! Wrappers, alone and in pairs: each is the explicit matrix of its formula.

use favard_operator::{
    Centered, Constant, Csr, Dense, Gram, Masked, Pattern, RowOperator, Scalar, Scaled, Shifted,
    Weighted,
};

use crate::support::{Checked, Data, Reference, Rows, over_data};

over_data! {
    over_dense(24): check_over_dense;
    over_sparse(24): check_over_sparse;
    of_moments(32): check_moments;
    shifted(32): check_shifted;
    masked(32): check_masked;
}

fn check_over_dense<T: Scalar>(data: &Data<T>) -> Checked {
    let strided = data.strided();
    check_wrappers(&Dense::new(strided.view())?, &data.of_dense(), data)
}

fn check_over_sparse<T: Scalar>(data: &Data<T>) -> Checked {
    check_wrappers(&data.csr(), &data.of_sparse(), data)
}

/// Each wrapper, each pair in either order, the usual triple, and their Gram operators.
fn check_wrappers<T: Scalar>(
    inner: &dyn RowOperator<T>,
    plain: &Reference,
    data: &Data<T>,
) -> Checked {
    let trial = data.trial();
    let (mean, scale, weights) = (&data.mean, &data.scale, &data.weights);
    let center = |inner| Centered::<Rows<'_, T>, T>::new(inner, mean.clone());
    let rescale = |inner| Scaled::<Rows<'_, T>, T>::new(inner, scale.clone());
    let weigh = |inner| Weighted::<Rows<'_, T>, T>::new(inner, weights.clone());
    let (centered, scaled, weighted) = (center(inner)?, rescale(inner)?, weigh(inner)?);

    plain.centered(mean).check_rows(&centered, &trial)?;
    plain.scaled(scale).check_rows(&scaled, &trial)?;
    plain.weighted(weights).check_rows(&weighted, &trial)?;

    let both = rescale(&centered)?;
    plain.centered(mean).scaled(scale).check_rows(&both, &trial)?;
    plain.scaled(scale).centered(mean).check_rows(&center(&scaled)?, &trial)?;
    plain.centered(mean).weighted(weights).check_rows(&weigh(&centered)?, &trial)?;
    plain.weighted(weights).centered(mean).check_rows(&center(&weighted)?, &trial)?;
    plain.scaled(scale).weighted(weights).check_rows(&weigh(&scaled)?, &trial)?;
    plain.weighted(weights).scaled(scale).check_rows(&rescale(&weighted)?, &trial)?;
    plain.centered(mean).centered(mean).check_rows(&center(&centered)?, &trial)?;

    let all = plain.centered(mean).scaled(scale).weighted(weights);
    let op = weigh(&both)?;
    all.check_rows(&op, &trial)?;
    let op: &dyn RowOperator<T> = &op;
    all.mean_gram().check_adjoint(&Gram::new(op), &trial)
}

/// Means and deviations that the wrapper finds itself, against sums over the matrix.
fn check_moments<T: Scalar>(data: &Data<T>) -> Checked {
    let trial = data.trial();
    let (rows, cols) = data.matrix.dim();
    let dense = data.dense();
    if rows == 0 {
        assert!(Centered::by_mean(&dense).is_err());
        return Ok(());
    }
    let plain = data.of_dense();
    let average = |weights: &[f64]| -> Vec<f64> {
        let total: f64 = weights.iter().sum();
        let mean = |j| (0..rows).map(|i| weights[i] * plain.matrix[[i, j]]).sum::<f64>() / total;
        (0..cols).map(mean).collect()
    };
    let mean = average(&vec![1.0; rows]);
    // The mean is a product: m + 2 roundings of sums of at most 4 each; entries are at most 4.
    let unit = (rows + 4) as f64 * <T as Scalar>::EPSILON.as_f64() * 4.0;
    let op = Centered::by_mean(&dense)?;
    for (found, expected) in op.mean().iter().zip(&mean) {
        assert!((found.as_f64() - expected).abs() <= unit, "mean {found}, expected {expected}");
    }
    plain.centered(op.mean()).check_rows(&op, &trial)?;

    let weights: Vec<f64> = data.weights.iter().map(|w| w.as_f64()).collect();
    let op = Centered::by_weighted_mean(&dense, &data.weights)?;
    for (found, expected) in op.mean().iter().zip(average(&weights)) {
        assert!((found.as_f64() - expected).abs() <= unit, "mean {found}, expected {expected}");
    }

    // d² = Σ (a − μ)² / m; every square is at most 8², the mean of them carries m + 8 roundings.
    let op = Scaled::by_deviation(&dense, 0, Constant::KeepScale)?;
    for (j, found) in op.scale().iter().enumerate() {
        let deviation = |i: usize| (plain.matrix[[i, j]] - mean[j]).powi(2);
        let variance = (0..rows).map(deviation).sum::<f64>() / rows as f64;
        let unit = (rows + 8) as f64 * <T as Scalar>::EPSILON.as_f64();
        let expected = if variance <= 64.0 * f64::EPSILON { 1.0 } else { variance };
        let found = found.as_f64().powi(2);
        assert!((found - expected).abs() <= 64.0 * unit, "variance {found}, expected {expected}");
    }
    plain.scaled(op.scale()).check_rows(&op, &trial)
}

/// A − cI of a square matrix, by rows and as a sum of terms.
fn check_shifted<T: Scalar>(data: &Data<T>) -> Checked {
    let trial = data.trial();
    let (rows, cols) = data.matrix.dim();
    let shift = T::of(1.75);
    assert_eq!(Shifted::new(data.dense(), shift).is_ok(), rows == cols);
    let csr = data.csr();
    let gram = Gram::new(&csr as Rows<'_, T>);
    let reference = data.of_sparse().mean_gram().shifted(1.75);
    reference.check_adjoint(&Shifted::new(&gram, shift)?, &trial)?;
    reference.check_stochastic(&Shifted::new(&gram, shift)?, &trial)?;
    let square = rows.min(cols);
    let part = data.matrix.slice(ndarray::s![..square, ..square]);
    let reference = Reference::new(&part.to_owned()).shifted(1.75);
    reference.check_rows(&Shifted::new(Dense::new(part)?, shift)?, &trial)
}

/// The pattern of the sparse matrix as missing entries of the dense one, alone and over a centred
/// and scaled matrix; and as its only known entries.
fn check_masked<T: Scalar>(data: &Data<T>) -> Checked {
    let trial = data.trial();
    let positions: Vec<_> =
        data.sparse.iter().map(|(_, (i, j))| (i as usize, j as usize)).collect();
    let pattern = Pattern::new(data.matrix.dim(), positions)?;
    let missing = |i, j| pattern.contains(i, j);
    let (dense, plain) = (data.dense(), data.of_dense());
    let mask = |inner| Masked::<Rows<'_, T>, T>::missing(inner, pattern.clone());

    plain.masked(missing).check_rows(&mask(&dense)?, &trial)?;
    let inner = Centered::new(&dense as Rows<'_, T>, data.mean.clone())?;
    let inner = Scaled::new(&inner as Rows<'_, T>, data.scale.clone())?;
    let inner: Rows<'_, T> = &inner;
    let whole = plain.centered(&data.mean).scaled(&data.scale);
    let op = mask(inner)?;
    let op: Rows<'_, T> = &op;
    whole.masked(missing).check_rows(op, &trial)?;
    whole.masked(missing).mean_gram().check_stochastic(&Gram::new(op), &trial)?;
    let op = Weighted::new(op, data.weights.clone())?;
    whole.masked(missing).weighted(&data.weights).check_rows(&op, &trial)?;

    let known: Csr<'_, T> = Masked::observed(&inner, &pattern)?;
    whole.masked(|i, j| !missing(i, j)).check_rows(&known, &trial)?;

    let mut holes = data.matrix.clone();
    holes.indexed_iter_mut().filter(|((i, j), _)| missing(*i, *j)).for_each(|(_, v)| *v = T::nan());
    plain.masked(missing).check_rows(&Masked::from_nan(holes)?, &trial)
}

/// The terms of A − cI add up to A − cI even when A has none.
#[test]
fn shifted_without_terms() {
    let dense = Dense::<f64>::new(ndarray::Array2::zeros((0, 2))).unwrap();
    let op = Shifted::new(Gram::new(dense), 1.75).unwrap();
    favard_testkit::check_stochastic(&op).unwrap();
}

/// These tests can fail: a mean that is wrong in one column by a quarter is found.
#[test]
#[should_panic(expected = "matrix")]
fn a_wrong_reference_is_found() {
    crate::support::for_all::<f64>(32, |data| {
        let mut mean = data.mean.clone();
        if let Some(first) = mean.first_mut() {
            *first += 0.25;
        }
        let op = Centered::new(data.csr(), data.mean.clone())?;
        data.of_sparse().centered(&mean).check_rows(&op, &data.trial())
    });
}
