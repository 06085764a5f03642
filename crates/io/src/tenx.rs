//! The folder of a 10x Genomics matrix.

use std::path::{Path, PathBuf};

use favard_operator::Scalar;

use crate::describe::Description;
use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::input::{Head, Source};
use crate::loaded::Loaded;
use crate::mtx;
use crate::options::ReadOptions;

/// Reads a folder. The file has a row for each feature; the result has a row for each cell, since
/// the file's order is that of the cells.
pub(crate) fn read<T: Scalar>(folder: &Path, options: &ReadOptions) -> Result<Loaded<T>> {
    let source = Source::open(&find(folder, &["matrix.mtx"])?, options.limits)?;
    let mut loaded = mtx::read(&source, true)?;
    let (cells, features) = loaded.matrix.shape();
    let field = usize::from(!options.feature_ids);
    loaded.row_names = Some(names(folder, &["barcodes.tsv"], 0, cells, options)?);
    let files = ["features.tsv", "genes.tsv"];
    loaded.column_names = Some(names(folder, &files, field, features, options)?);
    crate::read::checked(&source, loaded)
}

/// What the matrix's header says.
pub(crate) fn describe(folder: &Path, options: &ReadOptions) -> Result<Description> {
    let source = Source::open(&find(folder, &["matrix.mtx"])?, options.limits)?;
    let mut description = mtx::describe(&source, true)?;
    description.format = Format::TenX;
    description.path = folder.to_path_buf();
    Ok(description)
}

/// The first of the files that is there, packed or not.
fn find(folder: &Path, names: &[&str]) -> Result<PathBuf> {
    for name in names {
        for path in [folder.join(format!("{name}.gz")), folder.join(name)] {
            if path.exists() {
                return Ok(path);
            }
        }
    }
    if names.contains(&"matrix.mtx") && folder.is_dir() {
        return Err(Error::new(folder, ErrorKind::Directory));
    }
    let missing = folder.join(names.first().copied().unwrap_or_default());
    Err(Error::new(missing, std::io::Error::from(std::io::ErrorKind::NotFound)))
}

/// A field of each line; the last one of lines that have fewer.
fn names(
    folder: &Path,
    files: &[&str],
    field: usize,
    expected: usize,
    options: &ReadOptions,
) -> Result<Vec<String>> {
    let path = find(folder, files)?;
    let mut names = Vec::new();
    if expected == 0 {
        return Ok(names);
    }
    let source = Source::open(&path, options.limits)?;
    let mut head = Head::new(&source);
    while head.advance()? {
        let line = head.line();
        let name = line.split(|&byte| byte == b'\t').take(field + 1).last().unwrap_or_default();
        let name = std::str::from_utf8(name)
            .map_err(|_| head.error(0, ErrorKind::Encoding { what: "name" }))?;
        if names.len() == expected {
            if line.is_empty() {
                continue;
            }
            let (expected, found) = (expected as u64, expected as u64 + 1);
            return Err(head.error(0, ErrorKind::Count { what: "names", expected, found }));
        }
        names.push(name.to_owned());
    }
    if names.len() < expected {
        let (expected, found) = (expected as u64, names.len() as u64);
        return Err(head.error(0, ErrorKind::Count { what: "names", expected, found }));
    }
    Ok(names)
}
