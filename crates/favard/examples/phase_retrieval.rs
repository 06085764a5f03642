//! Phase retrieval: a signal from the squares of random measurements, and what momentum gains as
//! there are more of them.
//!
//! Run with `cargo run --release -p favard --example phase_retrieval`.

use favard::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dim = 80;
    println!("steps to a residual of 1e-8, {dim} unknowns");
    println!("measurements   κ(H)   plain   momentum   ratio   error of the signal");
    for ratio in [6, 10, 20] {
        let rows = ratio * dim;
        let a = Dense::new(Block::<f64>::gaussian(rows, dim, 1).view().to_owned())?;
        let signal = Block::<f64>::gaussian(dim, 1, 2);
        let image = a.multiply(signal.as_ref())?;
        // All that the detector sees: the sign of each measurement is lost.
        let intensities: Vec<f64> = (0..rows).map(|i| image.row(i)[0].powi(2)).collect();

        let plain = PhaseRetrieval::new().momentum(false).solve(&a, &intensities)?;
        let found = PhaseRetrieval::new().solve(&a, &intensities)?;
        if !(plain.is_certified() && found.is_certified()) {
            return Err("a signal that fits was not found".into());
        }
        let error = |sign: f64| -> f64 {
            let gap = |i: usize| (sign * found.signal()[i] - signal.row(i)[0]).powi(2);
            (0..dim).map(gap).sum::<f64>().sqrt()
        };
        let error = error(1.0).min(error(-1.0));
        let ends = &found.refinement().ritz;
        let (one, two) = (plain.refinement().iterations, found.refinement().iterations);
        let (condition, gain) = (ends[0] / ends[1], one as f64 / two as f64);
        println!(
            "{rows:>12}   {condition:>4.1}   {one:>5}   {two:>8}   {gain:>5.1}   {error:>19.1e}"
        );
    }
    println!("κ(H) tends to 3, and with it what momentum can gain to √3.");
    Ok(())
}
