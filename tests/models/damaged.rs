//! Checkpoints that no run wrote, behind a checksum that is right: a fit or an error, nothing else.
//!
//! A short run by default; `FAVARD_FUZZ=20000` makes so many damaged files of each method, and
//! `FAVARD_FUZZ_SEED` other ones.

use std::ops::ControlFlow;
use std::path::Path;

use favard_engine::store::checksum;
use favard_engine::{Record, Stop};
use favard_models::least_squares::Method;
use favard_models::{Checkpoints, LeastSquares, Pca, Solver};
use favard_operator::{Block, Dense};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Magic and checksum.
const HEAD: usize = 24;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

/// Damages the body of a file and makes its checksum right again.
fn damage(good: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut draw =
        |below: usize| usize::try_from(rng.next_u64() % below.max(1) as u64).unwrap_or(0);
    let mut body = good[HEAD..].to_vec();
    for _ in 0..=draw(3) {
        // The first bytes are names, counts and shapes; the rest are numbers.
        let end = if draw(2) == 0 { body.len().min(200) } else { body.len() };
        let at = draw(end);
        match draw(5) {
            0 => body[at] ^= 1 << draw(8),
            1 => body[at] = [0, 1, 0x7f, 0x80, 0xff][draw(5)],
            2 => body.truncate(at.max(1)),
            3 => {
                let end = (at + 8).min(body.len());
                let large = [u64::MAX, 1 << 40, f64::NAN.to_bits(), f64::MAX.to_bits()][draw(4)];
                body[at..end].copy_from_slice(&large.to_le_bytes()[..end - at]);
            }
            _ => {
                let copy = body[at..(at + draw(20)).min(body.len())].to_vec();
                body.splice(at..at, copy);
            }
        }
    }
    let sum = checksum(&body).to_le_bytes();
    [&good[..16], &sum, &body].concat()
}

/// Each damaged file is taken up: `run` gives whether it could be.
fn fuzz(name: &str, path: &Path, run: impl Fn() -> Result<(), favard_models::Error>) {
    let cases = number("FAVARD_FUZZ", 60);
    let good = std::fs::read(path).unwrap();
    run().unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut rng = ChaCha8Rng::seed_from_u64(number("FAVARD_FUZZ_SEED", 1));
    let mut taken = 0;
    for _ in 0..cases {
        std::fs::write(path, damage(&good, &mut rng)).unwrap();
        match run() {
            Ok(()) => taken += 1,
            Err(error) => {
                let text = error.to_string();
                assert!(!text.is_empty() && !text.contains('\n'), "{name}: {text:?}");
            }
        }
    }
    println!("{name}: {cases} files, {taken} taken up");
}

fn stop_at(n: usize) -> impl FnMut(&Record<f64>) -> ControlFlow<Stop> {
    let mut seen = 0;
    move |_| {
        seen += 1;
        if seen > n { ControlFlow::Break(Stop::Cancelled) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn fits_from_damaged_checkpoints() {
    let noise = Block::<f64>::gaussian(200, 20, 9);
    let entry = |i: usize, j: usize| noise.row(i)[j] / (1.0 + j as f64) + 0.5;
    let x = Dense::new(Block::from_fn(200, 20, entry).view().to_owned()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let stepping = |solver: &Solver| !matches!(solver, Solver::Auto | Solver::Exact);
    for solver in Solver::ALL.into_iter().filter(stepping) {
        let path = folder.path().join(solver.to_string());
        let pca = Pca::new(2).solver(solver).seed(3);
        // Those with noise plan their steps by the tolerance.
        let pca = match solver {
            Solver::Vr | Solver::VrPca => pca.tolerance(1e-9).products(90).batch(16),
            solver if solver.is_sampled() => pca.tolerance(0.05).products(75).batch(16),
            _ => pca.tolerance(1e-9).products(80),
        };
        let saved = Checkpoints::new().save(&path);
        pca.on(&x).watch(&mut stop_at(1)).checkpoints(&saved).run().unwrap();
        if path.exists() {
            let resumed = Checkpoints::new().resume(&path);
            fuzz(&solver.to_string(), &path, || pca.on(&x).checkpoints(&resumed).run().map(drop));
        }
    }
}

#[test]
fn least_squares_from_damaged_checkpoints() {
    let rows = Block::<f64>::gaussian(80, 20, 1);
    let (a, b) = (Dense::new(rows.view()).unwrap(), Block::gaussian(80, 2, 2));
    let folder = tempfile::tempdir().unwrap();
    let methods = [
        Method::Cg,
        Method::Lsmr,
        Method::HeavyBall { bounds: None },
        Method::Chebyshev { bounds: None },
    ];
    for (index, method) in methods.into_iter().enumerate() {
        let path = folder.path().join(index.to_string());
        let problem = LeastSquares::new().method(method).tolerance(1e-12).passes(200.0);
        let saved = Checkpoints::new().save(&path);
        problem.fit_saved(&a, &b, &saved, &mut stop_at(1)).unwrap();
        let resumed = Checkpoints::new().resume(&path);
        let mut go_on = |_: &Record<f64>| ControlFlow::Continue(());
        let go_on = std::cell::RefCell::new(&mut go_on);
        fuzz(&format!("least squares {index}"), &path, || {
            problem.fit_saved(&a, &b, &resumed, *go_on.borrow_mut()).map(drop)
        });
    }
}
