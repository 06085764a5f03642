//! Least squares on sparse one-hot data whose columns have very different norms.
//!
//! Prices of flats, say: a district, a month and a house type for each, all one-hot, and a size. Some
//! levels are common and most are rare, so that the columns' norms differ a hundredfold. Scaling
//! them is what makes the problem easy; the answer proves itself.
//!
//! Run with `cargo run --release -p favard --example least_squares`.

use favard::models::least_squares::{Method, Scaling};
use favard::prelude::*;

const ROWS: usize = 20_000;
const LEVELS: [usize; 3] = [300, 120, 12];

/// A level from 0 to `count`, small ones much more often than large ones, by place and feature.
fn level(row: usize, feature: usize, count: usize) -> usize {
    let mixed = (row * 7919 + feature * 104_729) % 10_007;
    mixed * mixed % 10_007 * (mixed % 101) * count / (10_007 * 101)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let columns: usize = LEVELS.iter().sum::<usize>() + 1;
    let noise = Block::<f64>::gaussian(ROWS, 2, 1);
    let mut entries = sprs::TriMat::new((ROWS, columns));
    for row in 0..ROWS {
        let mut first = 0;
        for (feature, &count) in LEVELS.iter().enumerate() {
            entries.add_triplet(row, first + level(row, feature, count), 1.0);
            first += count;
        }
        entries.add_triplet(row, columns - 1, 60.0 + 20.0 * noise.row(row)[0]);
    }
    let a = Csr::from_sprs(entries.to_csr::<usize>())?;
    // The truth: an effect for every level and every square metre, and noise.
    let truth = Block::<f64>::gaussian(columns, 1, 2);
    let exact = a.multiply(truth.as_ref())?;
    let b = Block::from_fn(ROWS, 1, |i, _| exact.row(i)[0] + 0.1 * noise.row(i)[1]);

    println!("{ROWS} × {columns}, {} entries", a.entries());
    println!("method         columns     passes   certificate");
    for (name, method) in [("Auto", Method::Auto), ("Lsmr", Method::Lsmr)] {
        for (columns, scaling) in [("scaled", Scaling::Auto), ("as given", Scaling::Off)] {
            let plan = LeastSquares::new().method(method).scaling(scaling).ridge(1e-6);
            let found = plan.fit(&a, &b)?;
            let (passes, certificate) = (found.info.passes, found.certificates[0]);
            println!("{name:<12}   {columns:<9} {passes:>8}   {certificate:>11.1e}");
        }
    }
    let found = LeastSquares::new().ridge(1e-6).fit(&a, &b)?;
    println!("{}", found.reason);
    let size = found.x.row(columns - 1)[0];
    println!("a square metre: {size:.4}, in truth {:.4}", truth.row(columns - 1)[0]);
    if found.is_certified() { Ok(()) } else { Err("not certified".into()) }
}
