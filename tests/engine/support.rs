//! Small dense arithmetic written out, to compare the engine with.

use favard_operator::{Block, Dense, Gram};
use ndarray::{Array1, Array2};

/// The data of most tests here: 40 rows, 6 columns, Gaussian, columns of falling size.
pub fn rows() -> Array2<f64> {
    let mut rows = Block::<f64>::gaussian(40, 6, 11).view().to_owned();
    for (j, mut column) in rows.columns_mut().into_iter().enumerate() {
        column *= 1.0 / (1.0 + 0.4 * j as f64);
    }
    rows
}

/// Its Gram operator XᵀX/n, whose terms are the rows.
pub fn gram(rows: &Array2<f64>) -> Gram<Dense<'static, f64>> {
    Gram::new(Dense::new(rows.clone()).unwrap())
}

/// Its Gram matrix.
pub fn matrix(rows: &Array2<f64>) -> Array2<f64> {
    rows.t().dot(rows) / rows.nrows() as f64
}

pub fn norm(x: &Array1<f64>) -> f64 {
    x.dot(x).sqrt()
}

/// An upper bound of the spectral norm of a symmetric matrix: its largest row sum.
pub fn bound(a: &Array2<f64>) -> f64 {
    a.rows().into_iter().map(|row| row.iter().map(|v| v.abs()).sum()).fold(0.0, f64::max)
}

/// How far two ways of computing w' = y/‖y‖, y = M w + b w − c v with |w|, |v| ≤ 1, can differ: sums
/// of `terms` terms commit at most (terms + 4)ε times `size` = ‖M‖ + |b| + |c| each, the division
/// by the length doubles it, and both ways commit it.
pub fn rounding(terms: usize, size: f64, length: f64) -> f64 {
    4.0 * (terms as f64 + 4.0) * f64::EPSILON * size / length
}

/// A block of one column as a vector.
pub fn column(block: &Block<f64>) -> Array1<f64> {
    block.view().column(0).to_owned()
}

/// The largest entry of |a − b|.
pub fn distance(a: &Block<f64>, b: &Array1<f64>) -> f64 {
    b.iter().enumerate().map(|(i, v)| (a.row(i)[0] - v).abs()).fold(0.0, f64::max)
}
