//! Momentum against power iteration on a closure.
//! Run with `cargo run --release -p favard --example momentum_vs_power`.

use favard::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dim = 1000;
    println!("      gap     power  momentum   dynamic   ratio");
    for gap in [0.1, 0.01, 0.001] {
        // Eigenvalues 1 and an even spread from 0 to 1 − gap, as a function of a vector.
        let eigenvalue = move |i: usize| match i {
            0 => 1.0,
            _ => (1.0 - gap) * (1.0 - (i - 1) as f64 / dim as f64),
        };
        let op = VectorFn::new((dim, dim), move |x: &[f64], y: &mut [f64]| {
            for (i, (y, x)) in y.iter_mut().zip(x).enumerate() {
                *y = eigenvalue(i) * x;
            }
        });
        let mut iterations = Vec::new();
        let lambda2: f64 = 1.0 - gap;
        let mut count = |info: Info<f64>| iterations.push(info.iterations);
        let start = || Block::gaussian(dim, 1, 7);
        let tolerance = &mut Tolerance::new(1e-6 * gap, 1)?;

        let mut engine = Engine::new(Exact::new(&op)?, Power, start())?.with_gauge(Norm);
        count(engine.run(1_000_000, tolerance)?);
        let momentum = Momentum::new(lambda2 * lambda2 / 4.0, Start::U)?;
        let mut engine = Engine::new(Exact::new(&op)?, momentum, start())?.with_gauge(Norm);
        count(engine.run(1_000_000, tolerance)?);
        let mut engine =
            Engine::new(Exact::new(&op)?, Dynamic::default(), start())?.with_gauge(Norm);
        count(engine.run(1_000_000, tolerance)?);

        let ratio = iterations[0] as f64 / iterations[1] as f64;
        println!(
            "{gap:>9} {:>9} {:>9} {:>9} {ratio:>7.1}",
            iterations[0], iterations[1], iterations[2]
        );
    }
    println!("The ratio grows like 1/√gap: 1/gap steps became 1/√gap steps.");
    Ok(())
}
