use favard_models::{PhaseRetrieval, PhaseSpectral};
use favard_operator::{Block, Dense, LinearOperator, Scalar};
use ndarray::Array2;

fn problem<T: Scalar>(rows: usize, dim: usize, seed: u64) -> (Dense<'static, T>, Block<T>, Vec<T>) {
    let a: Array2<T> = Block::<T>::gaussian(rows, dim, seed).view().to_owned();
    let a = Dense::new(a).expect("finite");
    let x = Block::<T>::gaussian(dim, 1, seed + 1000);
    let u = a.multiply(x.as_ref()).expect("a product");
    let y = (0..rows).map(|i| u.row(i)[0] * u.row(i)[0]).collect();
    (a, x, y)
}

#[test]
fn explore() {
    for ratio in [6, 10, 20, 50] {
        for seed in 1..=5 {
            let d = 100;
            let (a, x, y) = problem::<f64>(ratio * d, d, seed);
            let mut line = format!("{ratio} {seed}: ");
            for momentum in [false, true] {
                let found = PhaseRetrieval::new()
                    .momentum(momentum)
                    .tolerance(1e-10)
                    .solve(&a, &y)
                    .unwrap();
                let norm: f64 = (0..d).map(|i| x.row(i)[0].powi(2)).sum();
                let err = |s: f64| -> f64 {
                    (0..d).map(|i| (s * found.signal()[i] - x.row(i)[0]).powi(2)).sum::<f64>()
                        / norm
                };
                let e = err(1.0).min(err(-1.0)).sqrt();
                let i = found.refinement();
                line += &format!(
                    " [{:?} {} it {} apps, kappa {:.1} err {e:.1e} res {:.1e}; sp {} {:?}]",
                    i.stop,
                    i.iterations,
                    i.applications,
                    i.ritz[0] / i.ritz[1],
                    found.residual(),
                    found.spectral().iterations,
                    found.spectral().stop
                );
            }
            println!("{line}");
        }
    }
}
