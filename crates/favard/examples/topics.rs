//! Sparse PCA on a built-in example: topics in documents, generated from a seed.
//!
//! 20,000 documents over 8,000 words, each about one of a few topics, as a sparse matrix of counts.
//! The principal components are those of the centred matrix, which is never formed: its Gram
//! operator is applied to blocks of eight columns, one pass over the entries a step.
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

/// Counts of words: half of a document's words are common ones (a power law), half its topic's.
fn documents(seed: u64) -> sprs::CsMat<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut counts = sprs::TriMat::new((DOCUMENTS, WORDS));
    for document in 0..DOCUMENTS {
        // Topics of unequal size, so that their directions are told apart.
        let draw: f64 = rng.random();
        let topic = ((draw * draw) * TOPICS as f64) as usize;
        for _ in 0..LENGTH {
            let draw: f64 = rng.random();
            let common = ((WORDS as f64).powf(draw) as usize).min(WORDS) - 1;
            let special = (topic * 997 + (draw * draw * 60.0) as usize * 7) % WORDS;
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
    let op = Gram::new(Centered::by_mean(&x)?); // (X − 1μᵀ)ᵀ(X − 1μᵀ)/n, implicitly

    let (wanted, width) = (TOPICS - 1, 8); // guard columns fill the cache line
    let start = Block::gaussian(WORDS, width, 1);
    let clock = Instant::now();
    let mut engine = Engine::new(Exact::new(&op)?, Dynamic::default(), start)?
        .with_gauge(AugmentedQr::new(width));
    let mut watch = (Tolerance::new(1e-8, wanted)?, |step: &Step<'_, f64>| {
        if let (0, Some(measure)) = (step.tick % 10, step.measure) {
            let worst = measure.residuals[..wanted].iter().copied().fold(0.0, f64::max);
            println!("  step {:>3}: worst residual {worst:.1e}", step.tick);
        }
        std::ops::ControlFlow::Continue(())
    });
    let info = engine.run(500, &mut watch)?;
    let seconds = clock.elapsed().as_secs_f64();

    // The proof: residuals recomputed from the operator, for the Ritz vectors of the last block.
    let mut ws = Workspace::new();
    let image = op.multiply(engine.block().as_ref())?;
    let mut ritz = RayleighRitz::new(width);
    ritz.compute(engine.block().as_ref(), image.as_ref(), engine.tick(), &mut ws)?;
    let measure = ritz.measure();
    println!("{:?} after {} passes over the data, {seconds:.2} s", info.stop, info.applications);
    println!("component   variance   residual ‖Av − λv‖/λ₁");
    for j in 0..wanted {
        let relative = measure.residuals[j] / measure.ritz[0];
        println!("{:>9}   {:>8.4}   {relative:.1e}", j + 1, measure.ritz[j]);
    }
    if info.stop == Stop::Converged { Ok(()) } else { Err("not converged".into()) }
}
