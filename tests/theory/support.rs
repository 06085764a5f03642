//! A finite distribution of symmetric matrices, as an operator of the engine and as a noise of the
//! theory.

use favard_operator::{Batch, BlockMut, BlockRef, StochasticFn, StochasticOperator};
use favard_theory::second_moment::Finite;
use ndarray::{Array1, Array2, array};

/// diag(1, 0.8) plus one of six symmetric noises of mean zero, times `size`.
pub fn points(size: f64) -> Vec<Array2<f64>> {
    let mean = array![[1.0, 0.0], [0.0, 0.8]];
    let noise = [
        array![[1.0, 0.5], [0.5, -1.0]],
        array![[-1.0, 0.5], [0.5, 1.0]],
        array![[0.0, -1.0], [-1.0, 0.0]],
        array![[0.5, 0.0], [0.0, 1.5]],
        array![[-0.5, 1.0], [1.0, 0.0]],
        array![[0.0, -1.0], [-1.0, -1.5]],
    ];
    noise.iter().map(|n| &mean + &(n * size)).collect()
}

pub fn finite(points: &[Array2<f64>]) -> Finite {
    Finite::new(points.to_vec(), vec![1.0 / points.len() as f64; points.len()]).unwrap()
}

/// (1/N) Σ points, with one term a point.
pub fn operator(points: Vec<Array2<f64>>) -> impl StochasticOperator<f64> {
    let terms = points.len();
    StochasticFn::new(
        (2, 2),
        terms,
        move |batch: &Batch<f64>, x: BlockRef<'_, f64>, mut y: BlockMut<'_, f64>| {
            for (&term, &weight) in batch.terms.iter().zip(&batch.weights) {
                let (a, weight) = (&points[term], weight / terms as f64);
                for i in 0..2 {
                    for j in 0..x.cols() {
                        let product = a[[i, 0]] * x.row(0)[j] + a[[i, 1]] * x.row(1)[j];
                        y.row_mut(i)[j] += weight * product;
                    }
                }
            }
            Ok(())
        },
    )
}

/// Every batch of `size` points with replacement: its mean and its probability.
pub fn batches(points: &[Array2<f64>], size: usize) -> Vec<(Array2<f64>, f64)> {
    let count = points.len().pow(u32::try_from(size).unwrap());
    (0..count)
        .map(|mut code| {
            let mut mean = Array2::zeros((2, 2));
            for _ in 0..size {
                mean = mean + &points[code % points.len()] / size as f64;
                code /= points.len();
            }
            (mean, 1.0 / count as f64)
        })
        .collect()
}

/// E[X] to E[X⁴] of X = u·w_T exactly, where w_{t+1} = A_t w_t − β w_{t−1}, w_0 = `start`, w_{−1} = 0,
/// and A_t is one of `choices` at each step: the moment tensors of (w_t, w_{t−1}) are propagated.
pub fn moments(
    choices: &[(Array2<f64>, f64)],
    beta: f64,
    start: &[f64; 2],
    u: &[f64; 2],
    ticks: usize,
) -> [f64; 4] {
    // M = [[A, −βI], [I, 0]]
    let companion = |a: &Array2<f64>| {
        Array2::from_shape_fn((4, 4), |(i, j)| match (i < 2, j < 2) {
            (true, true) => a[[i, j]],
            (true, false) if j - 2 == i => -beta,
            (false, true) if i - 2 == j => 1.0,
            _ => 0.0,
        })
    };
    let steps: Vec<(Array2<f64>, f64)> = choices.iter().map(|(a, p)| (companion(a), *p)).collect();
    let v0 = [start[0], start[1], 0.0, 0.0];
    let functional = [u[0], u[1], 0.0, 0.0];
    std::array::from_fn(|order| {
        let order = order + 1;
        // The tensor v ⊗ … ⊗ v, order times.
        let power = |v: &[f64; 4]| -> Array1<f64> {
            (0..order).fold(array![1.0], |tensor, _| {
                tensor.iter().flat_map(|&t| v.iter().map(move |&x| t * x)).collect()
            })
        };
        let mut tensor = power(&v0);
        for _ in 0..ticks {
            let mut next = Array1::zeros(tensor.len());
            for (m, probability) in &steps {
                next = next + apply_everywhere(m, &tensor, order) * *probability;
            }
            tensor = next;
        }
        tensor.dot(&power(&functional))
    })
}

/// (M ⊗ … ⊗ M) tensor.
fn apply_everywhere(m: &Array2<f64>, tensor: &Array1<f64>, order: usize) -> Array1<f64> {
    let mut current = tensor.clone();
    for axis in 0..order {
        let inner = 4_usize.pow(u32::try_from(order - 1 - axis).unwrap());
        let mut next = Array1::zeros(current.len());
        for outer in 0..current.len() / (4 * inner) {
            for i in 0..4 {
                for j in 0..4 {
                    let factor = m[[i, j]];
                    for k in 0..inner {
                        next[(outer * 4 + i) * inner + k] +=
                            factor * current[(outer * 4 + j) * inner + k];
                    }
                }
            }
        }
        current = next;
    }
    current
}
