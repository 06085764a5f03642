//! `favard convert`: a matrix from one format into another.

use std::path::Path;

use favard_io::{Loaded, Matrix, Table, write_npz, write_npz_stored};
use favard_operator::Dense;
use serde::Serialize;

use crate::Outcome;
use crate::args::ConvertArgs;
use crate::error::{Error, Result};
use crate::watch::end_at_interrupt;
use crate::{memory, output, shown};

/// Numbers that a dense file may have when it comes from a sparse one: 16 GiB of them.
const MOST_CELLS: u128 = 1 << 31;

/// What `--json` prints.
#[derive(Serialize)]
struct Converted {
    input: String,
    output: String,
    rows: usize,
    cols: usize,
    /// Stored entries, as the input has them.
    entries: usize,
}

pub fn run(args: &ConvertArgs) -> Result<Outcome> {
    let out = &args.output;
    let form = out.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    if !["mtx", "npz", "npy", "csv", "tsv"].contains(&form.as_str()) {
        let problem = format!("`{form}` is none of mtx, npz, npy, csv, tsv");
        return Err(Error::argument(out.display().to_string(), problem));
    }
    if args.stored && form != "npz" {
        return Err(Error::argument("--stored", format!("only .npz can be packed, not .{form}")));
    }
    output::check_place(Some(out))?;
    end_at_interrupt()?;
    let Loaded { matrix, row_names, column_names, labels, .. } =
        favard_io::read_with::<f64>(&args.input, &args.read.options())?;
    let is_text = ["csv", "tsv"].contains(&form.as_str());
    if !is_text && (row_names.is_some() || column_names.is_some()) {
        let out = shown::one_line(&out.display().to_string());
        shown::note(&format!("{out}: a .{form} file has no names; they are left out"));
    }
    if labels.is_some() {
        let out = shown::one_line(&out.display().to_string());
        shown::note(&format!("{out}: the labels are left out"));
    }
    let name = args.input.display().to_string();
    let ((rows, cols), entries) = (matrix.shape(), matrix.entries());
    match form.as_str() {
        "mtx" => favard_io::write_mtx(out, &matrix.into_csr().map_err(Error::of(&name))?)?,
        "npz" => {
            let csr = matrix.into_csr().map_err(Error::of(&name))?;
            let write = if args.stored { write_npz_stored } else { write_npz };
            write(out, &csr)?;
        }
        "npy" => favard_io::write_npy(out, dense(matrix, &args.input, out)?.view())?,
        _ => {
            let dense = dense(matrix, &args.input, out)?;
            let table = Table::new(dense.view())
                .row_names(row_names.as_deref())
                .column_names(column_names.as_deref());
            if form == "csv" {
                favard_io::write_csv(out, &table)?;
            } else {
                favard_io::write_tsv(out, &table)?;
            }
        }
    }
    if args.json {
        shown::print_json(&Converted {
            input: name,
            output: out.display().to_string(),
            rows,
            cols,
            entries,
        })?;
    }
    Ok(Outcome::Met)
}

fn dense(matrix: Matrix<f64>, input: &Path, out: &Path) -> Result<Dense<'static, f64>> {
    let (rows, cols) = matrix.shape();
    let cells = rows as u128 * cols as u128;
    if matrix.is_sparse() && cells > MOST_CELLS {
        let problem = format!("{rows} × {cols} are {cells} numbers; write .mtx or .npz instead");
        return Err(Error::argument(out.display().to_string(), problem));
    }
    if matrix.is_sparse() {
        let name = input.display().to_string();
        memory::check(&name, "the dense matrix", memory::vectors(rows, cols))?;
    }
    Ok(matrix.into_dense().map_err(|kind| favard_io::Error::new(input, kind))?)
}
