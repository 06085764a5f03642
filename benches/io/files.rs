//! The files that are read.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Outcome;

/// What is in a file, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Uniform values, by rows.
    Rows,
    /// Uniform values, by columns.
    Columns,
    /// Uniform values, in no order.
    Shuffled,
    /// Values of three to six digits, as most files have them, by rows.
    Short,
    /// Whole numbers below 200, by rows.
    Whole,
}

impl Kind {
    /// Of the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rows => "real-rows",
            Self::Columns => "real-columns",
            Self::Shuffled => "real-no-order",
            Self::Short => "short-rows",
            Self::Whole => "integer-rows",
        }
    }
}

/// Writes about that many entries: 50 in each line of the matrix, one in each stretch of columns.
pub fn write(path: &Path, kind: Kind, entries: usize) -> Outcome<()> {
    const EACH: usize = 50;
    const STRETCH: usize = 1000;
    let lines = entries.div_ceil(EACH);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut to = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let field = if kind == Kind::Whole { "integer" } else { "real" };
    let (width, total) = (EACH * STRETCH, lines * EACH);
    let (rows, cols) = if kind == Kind::Columns { (width, lines) } else { (lines, width) };
    writeln!(to, "%%MatrixMarket matrix coordinate {field} general\n%\n{rows} {cols} {total}")?;
    let mut places: Vec<usize> = (0..total).collect();
    if kind == Kind::Shuffled {
        places.shuffle(&mut rng);
    }
    for place in places {
        let (line, stretch) = (place / EACH + 1, place % EACH);
        let other = stretch * STRETCH + rng.random_range(1..=STRETCH);
        let (row, col) = if kind == Kind::Columns { (other, line) } else { (line, other) };
        match kind {
            Kind::Whole => writeln!(to, "{row} {col} {}", rng.random_range(1..200))?,
            Kind::Short => {
                // 0.125, -31.07, 4.5002.
                let digits = f64::from(rng.random_range(-999_999_i32..1_000_000));
                let value = digits / 10_f64.powi(rng.random_range(3..7));
                let places = rng.random_range(2..5);
                writeln!(to, "{row} {col} {value:.places$}")?;
            }
            // As scipy.io.mmwrite has it.
            Kind::Rows | Kind::Columns | Kind::Shuffled => {
                writeln!(to, "{row} {col} {:E}", rng.random_range(-1.0_f64..1.0))?;
            }
        }
    }
    to.flush()?;
    Ok(())
}
