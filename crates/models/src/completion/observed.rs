//! [`Observed`]: the entries that are known, some of them kept aside.

use favard_operator::{Batch, Csr, ErrorKind as OperatorKind, Sampler, Scalar};

use crate::error::{ErrorKind, Result};
use crate::local::unit;

/// One entry: row, column, value.
pub(super) type Entry<T> = (usize, usize, T);

/// Training entries, by rows and by columns, and those held out.
#[derive(Debug)]
pub(super) struct Observed<T: Scalar> {
    pub train: Csr<'static, T>,
    pub transposed: Csr<'static, T>,
    pub held: Vec<Entry<T>>,
    /// The share p of the matrix that the training entries are.
    pub share: f64,
    /// The Frobenius norm of the training entries.
    pub norm: f64,
}

/// The entries as a sparse matrix.
pub(super) fn matrix<T: Scalar>(
    (rows, cols): (usize, usize),
    mut entries: Vec<Entry<T>>,
) -> Result<Csr<'static, T>> {
    let outside = |what, position, index: usize, bound: usize| {
        let (index, bound) = (index as u64, bound as u64);
        favard_operator::Error::from(OperatorKind::Index { what, position, index, bound })
    };
    for (position, &(row, column, value)) in entries.iter().enumerate() {
        if row >= rows {
            return Err(outside("rows of the entries", position, row, rows).into());
        }
        if column >= cols {
            return Err(outside("columns of the entries", position, column, cols).into());
        }
        if !value.is_finite() {
            let (what, value) = ("observed entries", value.as_f64());
            let kind = OperatorKind::NonFinite { what, row, column, value };
            return Err(favard_operator::Error::from(kind).into());
        }
    }
    entries.sort_unstable_by_key(|&(row, column, _)| (row, column));
    if let Some(pair) = entries.windows(2).find(|p| (p[0].0, p[0].1) == (p[1].0, p[1].1)) {
        return Err(ErrorKind::Duplicate { row: pair[0].0, column: pair[0].1 }.into());
    }
    let mut pointers = vec![0_usize; rows + 1];
    for &(row, ..) in &entries {
        pointers[row + 1] += 1;
    }
    for row in 0..rows {
        pointers[row + 1] += pointers[row];
    }
    let columns: Vec<u64> = entries.iter().map(|&(_, column, _)| column as u64).collect();
    let values: Vec<T> = entries.iter().map(|&(.., value)| value).collect();
    Ok(Csr::from_parts((rows, cols), pointers, columns, values)?)
}

/// All entries of a sparse matrix, row by row.
fn entries_of<'a, T: Scalar>(matrix: &'a Csr<'_, T>) -> impl Iterator<Item = Entry<T>> + 'a {
    (0..matrix.shape().0).flat_map(move |row| {
        let (columns, values) = matrix.row(row);
        columns.iter().zip(values).map(move |(&column, &value)| (row, column as usize, value))
    })
}

/// The entries times a power of two, and the power, where powers of them would leave the range of the
/// precision: completion is linear in the matrix.
pub(super) fn scaled<T: Scalar>(matrix: &Csr<'_, T>) -> Result<Option<(Csr<'static, T>, T)>> {
    let factor = unit(matrix.values().iter().fold(T::zero(), |m, value| m.max(value.abs())));
    if factor == T::one() {
        return Ok(None);
    }
    let entries = entries_of(matrix).map(|(row, column, value)| (row, column, factor * value));
    Ok(Some((self::matrix(matrix.shape(), entries.collect())?, factor)))
}

impl<T: Scalar> Observed<T> {
    /// Splits the observations; `symmetric` ones are mirrored first, and split in pairs.
    pub fn new(
        observed: &Csr<'_, T>,
        rank: usize,
        symmetric: bool,
        fraction: f64,
        seed: u64,
    ) -> Result<Self> {
        let (rows, cols) = observed.shape();
        // One entry for each unknown of the data: of a symmetric matrix, the upper triangle.
        let mut known: Vec<Entry<T>> = entries_of(observed).collect();
        if symmetric {
            known = upper(observed, known)?;
        }
        let found = known.len();
        // A float below the number of entries.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let aside = (fraction * found as f64).floor() as usize;
        // Degrees of freedom of a matrix of rank r: r(m + n − r), or rn − r(r−1)/2.
        let freedom = rank * (rows + cols - rank);
        let needed = if symmetric { rank * rows - rank * (rank - 1) / 2 } else { freedom };
        if found - aside < needed {
            let what = "observed entries, without those held out";
            return Err(ErrorKind::TooFew { what, needed, found: found - aside }.into());
        }
        let mut is_held = vec![false; found];
        if aside > 0 {
            let mut batch = Batch::<T>::default();
            Sampler::distinct(found, aside, seed)?.draw(0, &mut batch);
            batch.terms.iter().for_each(|&term| is_held[term] = true);
        }
        let (mut train, mut held) = (Vec::with_capacity(2 * found), Vec::with_capacity(aside));
        for ((row, column, value), is_held) in known.into_iter().zip(is_held) {
            if is_held {
                held.push((row, column, value));
                continue;
            }
            train.push((row, column, value));
            if symmetric && row != column {
                train.push((column, row, value));
            }
        }
        let train = matrix((rows, cols), train)?;
        let norm = train.values().iter().map(|v| v.as_f64().powi(2)).sum::<f64>().sqrt();
        if norm == 0.0 {
            let (name, value) = ("norm of the observed entries", 0.0);
            let need = "must be above 0: the zero matrix fits them, and nothing more is known";
            return Err(ErrorKind::Parameter { name, value, need }.into());
        }
        let share = train.entries() as f64 / (rows as f64 * cols as f64);
        Ok(Self { transposed: train.transposed(), train, held, share, norm })
    }
}

/// The entries (i, j) with i ≤ j of a symmetric matrix that is given by one triangle or by both.
fn upper<T: Scalar>(observed: &Csr<'_, T>, known: Vec<Entry<T>>) -> Result<Vec<Entry<T>>> {
    let (rows, cols) = observed.shape();
    if rows != cols {
        let kind = OperatorKind::NotSquare { what: "symmetric completion", rows, cols };
        return Err(favard_operator::Error::from(kind).into());
    }
    let turn = |(i, j, v): Entry<T>| if i <= j { (i, j, v) } else { (j, i, v) };
    let mut upper: Vec<Entry<T>> = known.into_iter().map(turn).collect();
    upper.sort_by_key(|&(row, column, _)| (row, column));
    let same = |a: &Entry<T>, b: &Entry<T>| (a.0, a.1) == (b.0, b.1);
    if let Some(pair) = upper.windows(2).find(|p| same(&p[0], &p[1]) && p[0].2 != p[1].2) {
        return Err(ErrorKind::Asymmetric { row: pair[0].0, column: pair[0].1 }.into());
    }
    upper.dedup_by(|a, b| same(a, b));
    Ok(upper)
}
