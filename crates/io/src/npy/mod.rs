//! NumPy arrays.

mod dtype;
mod header;
mod stream;

use favard_operator::Scalar;
use ndarray::{Array2, ShapeBuilder};

use crate::csr::reserve;
use crate::describe::{Description, Layout};
use crate::error::{Error, ErrorKind, Result};
use crate::input::Source;
use crate::loaded::{Loaded, Matrix};
#[cfg(feature = "h5ad")]
pub(crate) use dtype::Dtype;
pub(crate) use header::Header;
pub(crate) use stream::{Problem, Stream};

/// Reads an array; one of one dimension becomes a column.
pub(crate) fn read<T: Scalar>(source: &Source<'_>) -> Result<Loaded<T>> {
    let fail = |problem: Problem| place(source, problem);
    let stream = Stream::new(source.reader(), source.most_bytes()).map_err(fail)?;
    Ok(Loaded::unnamed(Matrix::Dense(read_array(stream, source.most_bytes()).map_err(fail)?)))
}

/// What the header says.
pub(crate) fn describe(source: &Source<'_>) -> Result<Description> {
    let stream = Stream::new(source.reader(), source.most_bytes()).map_err(|p| place(source, p))?;
    let header = stream.header();
    let (rows, cols) = matrix_shape(header).map_err(|kind| source.error(kind))?;
    let entries = rows.saturating_mul(cols);
    Ok(Description::new(source, (rows, cols), entries, Layout::Dense, header.descr.clone()))
}

/// The array that a stream holds, at most `bytes` long.
pub(crate) fn read_array<T: Scalar>(
    mut stream: Stream<impl std::io::Read>,
    bytes: u64,
) -> Result<Array2<T>, Problem> {
    let (rows, cols) = matrix_shape(stream.header())?;
    let count = stream.count();
    // What the header claims, unless the file cannot hold it; more room is found while reading.
    let first = count.min(bytes / stream.width()).min(1 << 32);
    let mut values = Vec::<T>::new();
    // At most 2^32, by the line above.
    reserve("values", &mut values, usize::try_from(first).unwrap_or(0))?;
    while stream.numbers(&mut values)? {}
    let size = |size| usize::try_from(size).unwrap_or(usize::MAX);
    let shape = (size(rows), size(cols)).set_f(stream.header().is_fortran);
    let too_large =
        |_| ErrorKind::Unsupported { what: "shape", found: format!("{rows} × {cols}") };
    Ok(Array2::from_shape_vec(shape, values).map_err(too_large)?)
}

/// Rows and columns of an array with one or two dimensions.
pub(crate) fn matrix_shape(header: &Header) -> Result<(u64, u64), ErrorKind> {
    match header.shape[..] {
        [rows] => Ok((rows, 1)),
        [rows, cols] => Ok((rows, cols)),
        _ => {
            let found = header.shape.len().to_string();
            Err(ErrorKind::Range { what: "dimensions of the array", low: 1, high: 2, found })
        }
    }
}

/// A problem of a stream as an error of the file.
pub(crate) fn place(source: &Source<'_>, problem: Problem) -> Error {
    match problem.at {
        Some(byte) if !matches!(problem.kind, ErrorKind::Io(_)) => {
            source.error_at_byte(byte, problem.kind)
        }
        _ => source.error(problem.kind),
    }
}
