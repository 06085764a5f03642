//! The loop owned by the caller: a solver of its own that uses one step of favard at a time, stops
//! for its own reason, and goes on from a checkpoint.
//! Run with `cargo run --release -p favard --example own_loop`.

use favard::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let spectrum: Vec<f64> = (0..500).map(|i| 1.0 / (1.0 + 0.05 * f64::from(i))).collect();
    let engine = || -> Result<_, Box<dyn std::error::Error>> {
        let op = Diagonal::new(spectrum.clone())?;
        let recurrence = Momentum::new(spectrum[3] * spectrum[3] / 4.0, Start::U)?;
        Ok(Engine::new(Exact::new(op)?, recurrence, Block::gaussian(500, 3, 1))?
            .with_gauge(AugmentedQr::new(3)))
    };

    // Our own loop: between two steps we do as we please.
    let mut solver = engine()?;
    while solver.tick() < 25 {
        match solver.advance()? {
            Advance::Moved => {}
            Advance::Ended(reason) => println!("ended early: {reason:?}"),
        }
    }
    let checkpoint = solver.checkpoint();
    println!("checkpoint at tick {}", checkpoint.tick());

    // Another process could take it up here; the bits are those of an unbroken run.
    let mut resumed = engine()?;
    resumed.resume(checkpoint)?;
    loop {
        resumed.advance_measured()?;
        let worst = resumed.measure().residuals.iter().copied().fold(0.0, f64::max);
        if worst < 1e-9 {
            break;
        }
    }
    println!("residuals below 1e-9 at tick {}", resumed.tick());
    for (found, exact) in resumed.measure().ritz.iter().zip(&spectrum) {
        println!("  {found:.12}  (exact {exact:.12})");
    }
    Ok(())
}
