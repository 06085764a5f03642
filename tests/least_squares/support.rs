//! Matrices with a known spectrum, and the exact solution by a singular value decomposition.

use faer::Mat;
use favard_models::least_squares::Solution;
use favard_operator::{Block, Csr, Orthonormalizer, Scalar, Workspace};
use ndarray::Array2;

pub fn orthonormal(rows: usize, cols: usize, seed: u64) -> Array2<f64> {
    let mut basis = Block::<f64>::gaussian(rows, cols, seed);
    let mut qr = Orthonormalizer::new(cols);
    // Twice: orthonormal to rounding.
    for _ in 0..2 {
        qr.orthonormalize(&mut [&mut basis], &mut Workspace::new()).unwrap();
    }
    basis.view().to_owned()
}

/// U diag(σ) Vᵀ with random orthonormal U and V.
pub fn with_singular_values(rows: usize, sigma: &[f64], seed: u64) -> Array2<f64> {
    let (u, v) =
        (orthonormal(rows, sigma.len(), seed), orthonormal(sigma.len(), sigma.len(), seed + 1));
    let scaled = Array2::from_shape_fn(u.raw_dim(), |(i, j)| u[[i, j]] * sigma[j]);
    scaled.dot(&v.t())
}

/// Singular values from 1 down to 1/κ, in equal ratios.
pub fn geometric(count: usize, condition: f64) -> Vec<f64> {
    (0..count).map(|i| condition.powf(-(i as f64) / (count - 1) as f64)).collect()
}

/// Sparse data whose columns have very different norms.
pub fn uneven(rows: usize, cols: usize, seed: u64) -> Array2<f64> {
    let noise = Block::<f64>::gaussian(rows, cols, seed);
    Array2::from_shape_fn((rows, cols), |(i, j)| {
        let v = noise.row(i)[j];
        if v > 0.8 { v * 10f64.powf(3.0 * j as f64 / cols as f64) } else { 0.0 }
    })
}

pub fn csr<T: Scalar>(x: &Array2<f64>) -> Csr<'static, T> {
    Csr::from_sprs(sprs::CsMat::csr_from_dense(x.view(), 0.0).map(|&v| T::of(v))).unwrap()
}

pub fn array(block: &Block<f64>) -> Array2<f64> {
    block.view().to_owned()
}

/// The exact minimum-norm solution, the largest and the smallest singular value above `cut`.
pub struct Exact {
    pub x: Array2<f64>,
    pub largest: f64,
    pub smallest: f64,
}

pub fn exact(a: &Array2<f64>, b: &Array2<f64>, cut: f64) -> Exact {
    let matrix = Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[[i, j]]);
    let svd = matrix.thin_svd().unwrap();
    let sigma: Vec<f64> = svd.S().column_vector().iter().copied().collect();
    let kept: Vec<usize> = (0..sigma.len()).filter(|&p| sigma[p] > cut * sigma[0]).collect();
    let (u, v) = (svd.U(), svd.V());
    let mut x = Array2::zeros((a.ncols(), b.ncols()));
    for j in 0..b.ncols() {
        for &p in &kept {
            let along: f64 = (0..a.nrows()).map(|i| u[(i, p)] * b[[i, j]]).sum::<f64>() / sigma[p];
            (0..a.ncols()).for_each(|i| x[[i, j]] += v[(i, p)] * along);
        }
    }
    Exact { x, largest: sigma[0], smallest: sigma[*kept.last().unwrap()] }
}

/// ‖x − x*‖ ≤ ‖Aᵀr‖ / σ² for x in the range of Aᵀ, plus what rounding may do to either side:
/// a few hundred ε (κ ‖x*‖ + κ² ‖r‖ / ‖A‖).
pub fn assert_exact<T: Scalar>(found: &Solution<T>, wanted: &Exact, what: &str) {
    assert!(found.is_certified(), "{what}: {} {:?}", found.reason, found.certificates);
    let condition = wanted.largest / wanted.smallest;
    for j in 0..wanted.x.ncols() {
        let column = wanted.x.column(j);
        let gap = (0..column.len())
            .map(|i| (found.x.row(i)[j].as_f64() - column[i]).powi(2))
            .sum::<f64>()
            .sqrt();
        let (residual, norm) = (found.residuals[j].as_f64(), found.norm.as_f64());
        let gradient = found.certificates[j].as_f64() * norm * residual;
        let size = column.dot(&column).sqrt();
        let rounding = condition * size + condition.powi(2) * residual / wanted.largest;
        let allowed = gradient / wanted.smallest.powi(2)
            + 300.0 * T::EPSILON.as_f64() * (column.len() as f64).sqrt() * rounding;
        assert!(
            gap <= allowed,
            "{what}, {j}: off by {gap:e}, allowed {allowed:e}: {}",
            found.reason
        );
        assert!(norm <= wanted.largest * (1.0 + 1e3 * T::EPSILON.as_f64()), "{what}: norm {norm}");
    }
}
