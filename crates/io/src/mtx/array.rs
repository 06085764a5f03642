//! The values of a dense Matrix Market file.

use std::ops::ControlFlow;

use favard_operator::Scalar;
use ndarray::{Array2, ShapeBuilder};

use super::header::{Header, Symmetry};
use crate::csr::reserve;
use crate::error::{ErrorKind, Result};
use crate::input::{Fault, Piece, Source, parse_lines};
use crate::text::{byte, expected, line_end, number};

/// Reads the values, which stand in the order of the columns; so does the result.
pub(super) fn read<T: Scalar>(source: &Source<'_>, header: &Header) -> Result<Array2<T>> {
    let mut values = Vec::<T>::new();
    let limit = header.entries;
    let absorb = |piece: &mut Piece<Vec<T>>| {
        let found = values.len() as u64 + piece.parsed.len() as u64;
        if found > limit {
            let kind = ErrorKind::Count { what: "values", expected: limit, found };
            return Err(Fault::new(piece.text().len() - 1, kind));
        }
        reserve("values", &mut values, piece.parsed.len()).map_err(|kind| Fault::new(0, kind))?;
        values.extend_from_slice(&piece.parsed);
        Ok(ControlFlow::Continue(()))
    };
    let _ = parse_lines(source, header.start, parse, absorb)?;
    let found = values.len() as u64;
    if found != limit {
        let kind = ErrorKind::Count { what: "values", expected: limit, found };
        return Err(source.fault(Fault { at: u64::MAX, kind }));
    }
    // A matrix without values may claim any number of rows, or of columns.
    let size = |size| usize::try_from(size).unwrap_or(usize::MAX);
    let shape = (size(header.rows), size(header.cols));
    let wrong = |_| {
        let found = format!("{} × {}", header.rows, header.cols);
        source.error(ErrorKind::Unsupported { what: "shape", found })
    };
    if header.symmetry == Symmetry::General {
        values.shrink_to_fit();
        return Array2::from_shape_vec(shape.f(), values).map_err(wrong);
    }
    mirror(shape.0, &values, header.symmetry == Symmetry::Skew).map_err(|kind| source.error(kind))
}

fn parse<T: Scalar>(text: &[u8], values: &mut Vec<T>) -> Result<(), Fault> {
    values.clear();
    let mut at = 0;
    while at < text.len() {
        match byte(text, at) {
            b' ' | b'\t' | b'\r' | b'\n' => at += 1,
            b'%' => at = line_end(text, at) + 1,
            _ => {
                let (value, end) = number(text, at)?;
                if !byte(text, end).is_ascii_whitespace() {
                    return Err(expected("value", "a number", text, at));
                }
                values.push(value);
                at = end;
            }
        }
    }
    Ok(())
}

/// The whole matrix from the lower triangle, column by column; a skew one has no diagonal.
fn mirror<T: Scalar>(size: usize, lower: &[T], is_skew: bool) -> Result<Array2<T>, ErrorKind> {
    let all = crate::csr::zeros("values", T::zero(), size.saturating_mul(size))?;
    let too_large =
        |_| ErrorKind::Unsupported { what: "shape", found: format!("{size} × {size}") };
    let mut array = Array2::from_shape_vec((size, size).f(), all).map_err(too_large)?;
    let mut values = lower.iter();
    for col in 0..size {
        for row in col + usize::from(is_skew)..size {
            let value = values.next().copied().unwrap_or_default();
            array[[row, col]] = value;
            if row != col {
                array[[col, row]] = if is_skew { -value } else { value };
            }
        }
    }
    Ok(array)
}
