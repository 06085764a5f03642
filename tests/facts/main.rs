//! What a correct implementation must show, measured: iteration counts, slopes, noise balls, epoch
//! factors, stability. The numbers called "the table" are means and standard deviations over seeds
//! of independent prototypes; a mean over m seeds here is compared with a mean over n seeds there by
//! the standard error √(1/m + 1/n) of their difference, five of which are exceeded with probability
//! 6e−7 (seeds are fixed, so a test that passes keeps passing). Sizes are small enough for every
//! run; `cargo bench -p favard-benches --bench facts` prints the same tables at full size.

mod auto;
mod bits;
mod cases;
mod counter;
mod dense;
mod f1;
mod f2;
mod f3;
mod f4;
mod f5;
mod f7;
mod f8;
mod f9;
mod input;
mod solvers;

/// Fails unless `found`, a mean over `here` seeds, agrees with the table's mean over `there` seeds.
#[track_caller]
fn agrees(what: &str, found: f64, here: usize, (mean, deviation): (f64, f64), there: usize) {
    let error = deviation * (1.0 / here as f64 + 1.0 / there as f64).sqrt();
    let gap = (found - mean).abs();
    // Counts are whole numbers: half a step of rounding comes on top.
    assert!(gap <= 5.0 * error + 0.5, "{what}: {found}, the table has {mean} ± {deviation}");
}
