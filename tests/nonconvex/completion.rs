use favard_models::{CompletionSpectral, MatrixCompletion};
use favard_operator::{Block, Csr};

use crate::support::orthonormal;

/// Entries of U diag(s) Vᵀ, each known with probability `share`.
pub fn low_rank(
    rows: usize,
    cols: usize,
    s: &[f64],
    share: f64,
    seed: u64,
) -> (Block<f64>, Csr<'static, f64>) {
    let u = orthonormal::<f64>(rows, s.len(), seed);
    let v = orthonormal::<f64>(cols, s.len(), seed + 1);
    let m = Block::from_fn(rows, cols, |i, j| {
        (0..s.len()).map(|c| u.row(i)[c] * s[c] * v.row(j)[c]).sum()
    });
    let coin = Block::<f64>::gaussian(rows, cols, seed + 2);
    // |N(0,1)| below a quantile
    let mut sorted: Vec<f64> = (0..rows).flat_map(|i| coin.row(i).to_vec()).collect();
    sorted.sort_by(f64::total_cmp);
    let cut = sorted[((share * sorted.len() as f64) as usize).min(sorted.len() - 1)];
    let known: Vec<_> = (0..rows)
        .flat_map(|i| (0..cols).map(move |j| (i, j)))
        .filter(|&(i, j)| coin.row(i)[j] < cut)
        .map(|(i, j)| (i, j, m.row(i)[j]))
        .collect();
    let csr = MatrixCompletion::entries((rows, cols), &known).unwrap();
    (m, csr)
}

#[test]
fn explore_completion() {
    for (rows, cols, s, share) in [
        (100, 80, vec![1.0, 0.9, 0.8], 0.3),
        (100, 80, vec![1.0, 0.9, 0.8], 0.2),
        (100, 80, vec![1.0, 0.1, 0.01], 0.3),
        (300, 200, vec![1.0, 0.9, 0.8, 0.5, 0.5], 0.15),
        (300, 200, vec![1.0, 0.9, 0.8, 0.5, 0.5], 0.5),
        (300, 200, vec![1.0, 0.3, 0.1], 0.9),
    ] {
        for seed in 1..=2 {
            let (m, csr) = low_rank(rows, cols, &s, share, seed);
            for momentum in [false, true] {
                for spectral in [CompletionSpectral::Auto, CompletionSpectral::VarianceReduced] {
                    let t = std::time::Instant::now();
                    let found = match MatrixCompletion::new(s.len())
                        .momentum(momentum)
                        .spectral(spectral)
                        .solve(&csr)
                    {
                        Ok(f) => f,
                        Err(e) => {
                            println!("{e}");
                            continue;
                        }
                    };
                    let mut err = 0.0;
                    let mut tot = 0.0;
                    for i in 0..rows {
                        let row = found.predict_row(i).unwrap();
                        for j in 0..cols {
                            err += (row[j] - m.row(i)[j]).powi(2);
                            tot += m.row(i)[j].powi(2);
                        }
                    }
                    let i = found.refinement();
                    println!(
                        "{rows}x{cols} r{} p{share} s{seed} {momentum} {spectral:?}: {:?} {} it {} apps kappa {:.1} res {:.1e} held {:.1e} err {:.1e}; spectral {:?} {} it {:.1} passes; {} ; {:?}",
                        s.len(),
                        i.stop,
                        i.iterations,
                        i.applications,
                        i.ritz[0] / i.ritz[1],
                        found.residual(),
                        found.held_out_error().unwrap(),
                        (err / tot).sqrt(),
                        found.spectral().stop,
                        found.spectral().iterations,
                        found.spectral().passes,
                        found.method(),
                        t.elapsed()
                    );
                }
            }
        }
    }
}
