//! How files are read: what every command that reads one is told.

use clap::{Args, ValueEnum};
use favard_io::{Detect, Format, Limits, ReadOptions};

/// How the data is read; everything is found out unless said otherwise.
// Options of a command line are switches, and each pair excludes itself.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Default, Args)]
pub struct ReadArgs {
    /// The format, whatever the name: mtx, npy, npz, csv, libsvm, 10x, h5ad.
    #[arg(help_heading = "Reading", long, value_name = "NAME", hide_possible_values = true)]
    pub format: Option<FileFormat>,

    /// The first line of a table is names.
    #[arg(help_heading = "Reading", long, conflicts_with = "no_header")]
    header: bool,

    /// The first line of a table is numbers.
    #[arg(help_heading = "Reading", long)]
    no_header: bool,

    /// The first field of each line of a table is a name.
    #[arg(help_heading = "Reading", long, conflicts_with = "no_row_names")]
    row_names: bool,

    /// The first field of each line of a table is a number.
    #[arg(help_heading = "Reading", long)]
    no_row_names: bool,

    /// What stands between the fields of a table: one character, or `tab`.
    #[arg(help_heading = "Reading", long, value_name = "CHAR", value_parser = separator)]
    pub separator: Option<u8>,

    /// More for a file: empty-rows, empty-columns, expansion, free-bytes, line-bytes.
    #[arg(help_heading = "Reading", long, value_name = "NAME=N", value_parser = limit)]
    limit: Vec<(Limit, u64)>,
}

/// How the matrix that a command works on is read and held.
#[derive(Debug, Clone, Default, Args)]
pub struct DataArgs {
    /// Leave the matrix in its file: .h5ad, or .npz of `favard convert --stored`, by rows.
    #[arg(help_heading = "Reading", long)]
    pub on_disk: bool,

    #[command(flatten)]
    pub read: ReadArgs,
}

/// A format by its short name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FileFormat {
    Mtx,
    Npy,
    Npz,
    Csv,
    Libsvm,
    #[value(name = "10x")]
    TenX,
    H5ad,
}

/// A field of [`Limits`].
#[derive(Debug, Clone, Copy)]
enum Limit {
    EmptyRows,
    EmptyColumns,
    Expansion,
    FreeBytes,
    LineBytes,
}

/// One byte.
fn separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if text == "tab" || text == "\\t" => Ok(b'\t'),
        &[byte] if byte.is_ascii() && !b"\n\r\"".contains(&byte) => Ok(byte),
        _ => Err("neither one ASCII character nor `tab`".to_string()),
    }
}

/// A name and a number.
fn limit(text: &str) -> Result<(Limit, u64), String> {
    let (name, number) = text.split_once('=').ok_or("not of the form NAME=N")?;
    let limit = match name {
        "empty-rows" => Limit::EmptyRows,
        "empty-columns" => Limit::EmptyColumns,
        "expansion" => Limit::Expansion,
        "free-bytes" => Limit::FreeBytes,
        "line-bytes" => Limit::LineBytes,
        _ => {
            let names = "empty-rows, empty-columns, expansion, free-bytes, line-bytes";
            return Err(format!("`{name}` is none of {names}"));
        }
    };
    let number = number.parse().map_err(|_| format!("`{number}` is not a whole number"))?;
    Ok((limit, number))
}

impl ReadArgs {
    /// For the reader.
    pub fn options(&self) -> ReadOptions {
        let mut options = ReadOptions::new()
            .header(self.header())
            .row_names(detect(self.row_names, self.no_row_names))
            .limits(self.limits());
        if let Some(format) = self.format {
            options = options.format(match format {
                FileFormat::Mtx => Format::MatrixMarket,
                FileFormat::Npy => Format::Npy,
                FileFormat::Npz => Format::Npz,
                FileFormat::Csv => Format::Csv,
                FileFormat::Libsvm => Format::Libsvm,
                FileFormat::TenX => Format::TenX,
                FileFormat::H5ad => Format::H5ad,
            });
        }
        if let Some(separator) = self.separator {
            options = options.separator(separator);
        }
        options
    }

    /// For a second file: it has a format of its own, and the same limits.
    pub fn beside(&self) -> ReadOptions {
        ReadOptions::new().limits(self.limits())
    }

    /// Whether a table has a header.
    pub fn header(&self) -> Detect {
        detect(self.header, self.no_header)
    }

    /// What a file may ask for.
    pub fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        for &(limit, number) in &self.limit {
            *match limit {
                Limit::EmptyRows => &mut limits.empty_rows,
                Limit::EmptyColumns => &mut limits.empty_columns,
                Limit::Expansion => &mut limits.expansion,
                Limit::FreeBytes => &mut limits.free_bytes,
                Limit::LineBytes => &mut limits.line_bytes,
            } = number;
        }
        limits
    }
}

fn detect(yes: bool, no: bool) -> Detect {
    match (yes, no) {
        (true, _) => Detect::Yes,
        (_, true) => Detect::No,
        _ => Detect::Auto,
    }
}
