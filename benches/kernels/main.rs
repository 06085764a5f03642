//! How close are the sparse kernels to the memory's speed, and how do they compare with scipy?
//!
//! ```text
//! cargo bench -p favard-benches --bench kernels -- [--quick] [--rows N] [--cols N] [--per-row N]
//!                                                  [--rounds N] [--no-scipy]
//! ```
//!
//! For each product, width k, precision and number of threads it prints the bytes that must move
//! (the matrix once, each block once), the bytes per second in the best of several rounds, the
//! ratio to a triad `a ← b + s c` measured in the same rounds, and the ratio to scipy's product
//! with the same matrix, measured in between. The results are compared too. `--rounds` is for k = 32, 7
//! unless said otherwise; narrower blocks have up to eight times as many.

mod cases;
mod matrix;
mod options;
mod scipy;
mod triad;

use std::process::ExitCode;

fn main() -> ExitCode {
    if favard_benches::help(include_str!("main.rs")) {
        return ExitCode::SUCCESS;
    }
    let options = match options::Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    let outcome = cases::run::<f64>(&options).and_then(|()| cases::run::<f32>(&options));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
