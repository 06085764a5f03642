//! The command line.

/// The matrix and how often it is measured.
#[derive(Debug, Clone)]
pub struct Options {
    /// Rows of the matrix.
    pub rows: usize,
    /// Its columns.
    pub cols: usize,
    /// Entries of each row, at columns drawn uniformly.
    pub per_row: usize,
    /// Rounds for the widest block, of which the best counts: see [`Options::rounds_of`].
    pub rounds: usize,
    /// Whether scipy is measured too.
    pub scipy: bool,
}

impl Options {
    /// Rounds for a block of `k` columns: up to eight times as many for narrow ones, so that all are watched
    /// for about as long, and a busy moment of the machine hits none of them alone.
    pub fn rounds_of(&self, k: usize) -> usize {
        self.rounds * (32 / k).clamp(1, 8)
    }

    /// Reads the arguments; those that cargo adds are ignored.
    pub fn parse(args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options =
            Self { rows: 200_000, cols: 50_000, per_row: 100, rounds: 7, scipy: true };
        let mut args = args.peekable();
        while let Some(flag) = args.next() {
            let mut number = |least: usize| {
                let value = args.next().ok_or_else(|| format!("{flag}: a number is missing"))?;
                let number = value.parse().map_err(|_| format!("{flag}: {value} is no number"))?;
                if number < least { Err(format!("{flag}: at least {least}")) } else { Ok(number) }
            };
            match flag.as_str() {
                "--rows" => options.rows = number(1)?,
                "--cols" => options.cols = number(1)?,
                "--per-row" => options.per_row = number(1)?,
                "--rounds" => options.rounds = number(1)?,
                "--quick" => (options.rows, options.rounds) = (20_000, 3),
                "--no-scipy" => options.scipy = false,
                "--bench" => {}
                _ => return Err(format!("{flag}: not known")),
            }
        }
        if options.per_row > options.cols {
            return Err(format!("--per-row {} exceeds the columns", options.per_row));
        }
        Ok(options)
    }
}
