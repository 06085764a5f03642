//! Sparse PCA on a built-in example: topics in documents, generated from a seed.
//!
//! 20,000 documents over 8,000 words, each about one of a few topics, as a sparse matrix of counts.
//! The principal components are those of the centred matrix, which is never formed.
//!
//! Run with `cargo run --release -p favard --example topics`.

use std::time::Instant;

use favard::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const DOCUMENTS: usize = 20_000;
const WORDS: usize = 8_000;
const TOPICS: usize = 6;
const LENGTH: usize = 80;

/// A whole number from 0 to `share · count`, for a share within [0, 1).
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn part(share: f64, count: f64) -> usize {
    (share * count) as usize
}

/// Counts of words: half of a document's words are common ones (a power law), half its topic's.
fn documents(seed: u64) -> sprs::CsMat<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut counts = sprs::TriMat::new((DOCUMENTS, WORDS));
    for document in 0..DOCUMENTS {
        // Topics of unequal size, so that their directions are told apart.
        let draw: f64 = rng.random();
        let topic = part(draw * draw, TOPICS as f64);
        for _ in 0..LENGTH {
            let draw: f64 = rng.random();
            let common = part(1.0, (WORDS as f64).powf(draw)).clamp(1, WORDS) - 1;
            let special = (topic * 997 + part(draw * draw, 60.0) * 7) % WORDS;
            let word = if rng.random::<f64>() < 0.5 { common } else { special };
            counts.add_triplet(document, word, 1.0);
        }
    }
    counts.to_csr()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let matrix = documents(7);
    let entries = matrix.nnz();
    println!("{DOCUMENTS} documents, {WORDS} words, {entries} entries, seed 7");
    let x = Csr::from_sprs(matrix)?;

    let clock = Instant::now();
    let fit = Pca::new(TOPICS).tolerance(1e-8).fit(&x)?;
    let seconds = clock.elapsed().as_secs_f64();

    let (method, reason) = fit.method();
    println!("{method:?}: {reason}");
    let info = fit.info();
    println!("{:?} after {} block products, {seconds:.2} s", info.stop, info.applications);
    println!("component   variance    share   residual/λ₁   angle to the exact one");
    let (variances, shares) = (fit.explained_variance(), fit.explained_variance_ratio());
    let bounds = fit.angle_bounds();
    for j in 0..TOPICS {
        let residual = fit.residuals()[j] / variances[0];
        let angle = bounds[j].map_or("not known".into(), |angle| format!("≤ {angle:.1e}"));
        let (variance, share) = (variances[j], 100.0 * shares[j]);
        println!("{:>9}   {variance:>8.4}  {share:>5.2} %   {residual:>11.1e}   {angle}", j + 1);
    }
    if fit.is_certified() {
        println!("certified: every residual, recomputed from the data, is below 1e-8 λ₁");
        Ok(())
    } else {
        Err("not converged".into())
    }
}
