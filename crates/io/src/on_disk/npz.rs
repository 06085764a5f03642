//! SciPy's sparse matrices, stored without packing: numbers at known places.

use std::ops::Range;

use favard_operator::Scalar;

use super::Opened;
use super::part::{Lists, Part};
use crate::error::Result;
use crate::input::Source;
use crate::npz::{Archive, Place, last};
use crate::read::check_columns;

struct Npz {
    source: Source<'static>,
    cols: usize,
    columns: Place,
    values: Place,
}

/// Opens a matrix.
pub(super) fn open<T: Scalar>(source: Source<'static>) -> Result<Opened<T>> {
    let archive = Archive::open(&source)?;
    let (rows, cols) = archive.by_rows()?;
    let pointers = archive.pointers(rows)?;
    let entries = pointers.last().copied().unwrap_or(0);
    check_columns(source.limits(), cols as u64, entries as u64)
        .map_err(|kind| source.error(kind))?;
    let (columns, values) = (archive.place("indices", entries)?, archive.place("data", entries)?);
    let lists = Box::new(Npz { source, cols, columns, values });
    Ok(Opened { lists, pointers, cols, row_names: None, column_names: None })
}

impl<T: Scalar> Lists<T> for Npz {
    fn read(&self, entries: Range<usize>, part: &mut Part<T>) -> Result<()> {
        let (columns, values) = (&mut part.columns, &mut part.values);
        self.columns.read(&self.source, entries.clone(), |mut stream| {
            while stream.indices("column index", last(self.cols), columns)? {}
            Ok(())
        })?;
        self.values.read(&self.source, entries, |mut stream| {
            while stream.numbers(values)? {}
            Ok(())
        })
    }
}
