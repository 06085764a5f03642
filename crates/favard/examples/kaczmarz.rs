//! Kaczmarz: a tall consistent system solved before its rows have been read twice, and what momentum
//! does to it, batch by batch.
//!
//! Run with `cargo run --release -p favard --example kaczmarz`.

use favard::models::least_squares::Momentum;
use favard::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (rows, cols) = (50_000, 20);
    // Columns of different sizes: κ of AᵀA is about 25.
    let noise = Block::<f64>::gaussian(rows, cols, 1);
    let entry = |(i, j): (usize, usize)| noise.row(i)[j] * (1.0 - 0.8 * j as f64 / cols as f64);
    let a = Dense::new(ndarray::Array2::from_shape_fn((rows, cols), entry))?;
    let truth = Block::from_fn(cols, 1, |i, _| i as f64);
    let b = a.multiply(truth.as_ref())?;

    println!("rows read until ‖Ax − b‖ ≤ 1e-8 ‖b‖, of {rows}; steps in brackets");
    println!("batch      plain              momentum");
    for batch in [1, 16, 64, 256] {
        let read = |momentum: Momentum| -> Result<_, Box<dyn std::error::Error>> {
            let found = Kaczmarz::new().batch(batch).momentum(momentum).solve(&a, &b)?;
            if !found.is_certified() {
                return Err(found.reason.into());
            }
            let steps = found.info.iterations;
            Ok(format!("{:>8} ({steps:>6})", steps * batch as u64))
        };
        println!("{batch:>5}   {}   {}", read(Momentum::Off)?, read(Momentum::Auto)?);
    }

    // Parameters that accelerate the mean diverge in mean square when single rows are drawn.
    let wild = Momentum::Given { step: 1.0, gamma: 0.7 };
    match Kaczmarz::new().momentum(wild).solve(&a, &b) {
        Err(error) => println!("refused: {error}"),
        Ok(_) => return Err("single rows with this momentum should be refused".into()),
    }

    // A right-hand side outside of the range: the same rows with variance reduction.
    let off = Block::<f64>::gaussian(rows, 1, 2);
    let b = Block::from_fn(rows, 1, |i, _| b.row(i)[0] + off.row(i)[0]);
    let found = Kaczmarz::new().batch(256).inconsistent(true).solve(&a, &b)?;
    println!("inconsistent: certified {}, {:.1} passes", found.is_certified(), found.info.passes);
    Ok(())
}
