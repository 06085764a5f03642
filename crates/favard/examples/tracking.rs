//! Subspace tracking: a direction that turns, seen through batches of rows with missing entries.
//!
//! Momentum follows more closely and lets more noise through. It pays where the squared lag exceeds
//! the noise, and the tracker finds out while it tracks: with large batches of a fast motion it
//! switches momentum on, with small batches of a slow one it does not.
//!
//! Run with `cargo run --release -p favard --example tracking`.

use favard::models::TrackingMomentum;
use favard::prelude::*;

const DIM: usize = 20;

/// Rows around a direction in the plane of the first two coordinates, one entry in ten missing.
fn batch(rows: usize, angle: f64, seed: u64) -> Block<f64> {
    let noise = Block::<f64>::gaussian(rows, DIM + 1, seed);
    let coin = Block::<f64>::gaussian(rows, DIM, seed + 1_000_000);
    let (sin, cos) = angle.sin_cos();
    Block::from_fn(rows, DIM, |i, j| {
        let along = match j {
            0 => cos,
            1 => sin,
            _ => 0.0,
        };
        let entry = noise.row(i)[j] + 0.8 * noise.row(i)[DIM] * along;
        if coin.row(i)[j] > 1.28 { f64::NAN } else { entry }
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(" rows   speed   error: never   always    auto   chosen");
    for (rows, speed) in [(2000, 0.15), (100, 0.002)] {
        let mut errors = Vec::new();
        let mut report = String::new();
        for mode in [TrackingMomentum::Never, TrackingMomentum::Always, TrackingMomentum::Auto] {
            let mut tracker =
                SubspaceTracker::<f64>::new(DIM, 1)?.momentum(mode).missing(Some(0.9));
            let mut sum = 0.0;
            for t in 0..160_u32 {
                let angle = speed * f64::from(t);
                tracker.update(batch(rows, angle, u64::from(t)).as_ref())?;
                let (sin, cos) = angle.sin_cos();
                let basis = tracker.basis();
                // The squared sine of the angle to the true direction, after the first batches.
                let inside = (cos * basis.row(0)[0] + sin * basis.row(1)[0]).powi(2);
                sum += if t < 60 { 0.0 } else { 0.01 * (1.0 - inside) };
            }
            errors.push(sum);
            report = tracker.report().to_string();
        }
        let [never, always, auto] = errors[..] else { return Err("three modes".into()) };
        println!("{rows:>5}   {speed:<5}   {never:>12.4}   {always:>6.4}  {auto:>6.4}   {report}");
    }
    Ok(())
}
