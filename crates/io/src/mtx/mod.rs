//! Matrix Market files.

mod array;
mod coordinate;
mod entries;
mod header;
mod line;
mod run;

use favard_operator::Scalar;

use crate::describe::{Description, Layout};
use crate::error::Result;
use crate::input::Source;
use crate::loaded::{Loaded, Matrix};
use header::Header;
pub(crate) use header::{BANNER, Symmetry};

/// Reads a matrix, or its transpose.
pub(crate) fn read<T: Scalar>(source: &Source<'_>, is_transposed: bool) -> Result<Loaded<T>> {
    let header = Header::read(source)?;
    let matrix = if header.is_coordinate {
        Matrix::Sparse(coordinate::read(source, &header, is_transposed)?)
    } else {
        let array = array::read(source, &header)?;
        Matrix::Dense(if is_transposed { array.reversed_axes() } else { array })
    };
    Ok(Loaded::unnamed(matrix))
}

/// What the header says.
pub(crate) fn describe(source: &Source<'_>, is_transposed: bool) -> Result<Description> {
    let header = Header::read(source)?;
    let (rows, cols) = (header.rows, header.cols);
    let (rows, cols) = if is_transposed { (cols, rows) } else { (rows, cols) };
    let layout = if header.is_coordinate { Layout::Sparse } else { Layout::Dense };
    let entries = match (layout, header.symmetry) {
        (Layout::Dense, _) => rows.saturating_mul(cols),
        (Layout::Sparse, Symmetry::General) => header.entries,
        // The diagonal, if any, is counted twice.
        (Layout::Sparse, _) => header.entries.saturating_mul(2),
    };
    let mut description =
        Description::new(source, (rows, cols), entries, layout, header.field.name());
    description.is_upper_bound = layout == Layout::Sparse && header.symmetry != Symmetry::General;
    Ok(description)
}
