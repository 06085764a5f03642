//! AnnData files whose X is stored by rows.

use std::ops::Range;

use favard_operator::Scalar;
use hdf5_pure::{Dataset, File};

use super::Opened;
use super::part::{Lists, Part};
use crate::error::{ErrorKind, Result};
use crate::h5ad::{AnnData, X, guarded};
use crate::input::Source;
use crate::npz::last;
use crate::read::check_columns;

struct H5ad {
    source: Source<'static>,
    file: File,
    cols: usize,
    columns: Dataset,
    values: Dataset,
}

/// Opens X, with the names of its rows and columns.
pub(super) fn open<T: Scalar>(source: Source<'static>) -> Result<Opened<T>> {
    let (file, cols, columns, values, pointers, names) = guarded(&source, || {
        let anndata = AnnData::open(&source)?;
        let unsupported = |found: &str| {
            let (what, found) = ("format of a matrix on disk", found.to_owned());
            source.error(ErrorKind::Unsupported { what, found })
        };
        let X::Sparse(group) = anndata.x()? else { return Err(unsupported("dense")) };
        let (is_csr, rows, cols) = anndata.form(&group)?;
        if !is_csr {
            return Err(unsupported("csc_matrix"));
        }
        let ((columns, entries), (values, count)) =
            (anndata.list("indices")?, anndata.list("data")?);
        anndata.check_count("data", "values", entries, count)?;
        let pointers = anndata.pointers(rows, entries)?;
        check_columns(source.limits(), cols, entries).map_err(|kind| source.error(kind))?;
        // Sizes are at most 2^32 here.
        let [rows, cols] = [rows, cols].map(|size| usize::try_from(size).unwrap_or(usize::MAX));
        let names = (anndata.names("obs", rows)?, anndata.names("var", cols)?);
        Ok((anndata.file, cols, columns, values, pointers, names))
    })?;
    let lists = Box::new(H5ad { source, file, cols, columns, values });
    Ok(Opened { lists, pointers, cols, row_names: names.0, column_names: names.1 })
}

impl<T: Scalar> Lists<T> for H5ad {
    fn read(&self, entries: Range<usize>, part: &mut Part<T>) -> Result<()> {
        guarded(&self.source, || {
            let anndata = AnnData { source: &self.source, file: self.file.clone() };
            let bound = ("column index", last(self.cols));
            let entries = entries.start as u64..entries.end as u64;
            for windows in anndata.parts("X/indices", &self.columns, entries, 1)? {
                let lists = (&mut part.columns, &mut part.values);
                anndata.entries_of((&self.columns, &self.values), &windows, bound, lists)?;
            }
            Ok(())
        })
    }
}
