//! The entries of a sparse Matrix Market file.

use std::ops::ControlFlow;

use favard_operator::{Csr, Scalar};

use super::entries::{Entries, Order, Reader, line_of_entry};
use super::header::{Field, Header, Symmetry};
use crate::buckets::Buckets;
use crate::csr::{self, zeros};
use crate::error::{ErrorKind, Result};
use crate::input::{Fault, Piece, Source, parse_lines};
use crate::read::{check_columns, check_rows};

/// What the lines are read with.
struct Plan<'s> {
    source: &'s Source<'s>,
    reader: Reader<'s>,
    rows: usize,
    cols: usize,
    /// The stated entries, or fewer where the file cannot hold so many.
    possible: usize,
}

/// Reads the matrix, or its transpose.
///
/// Entries that come in the order of the rows are appended as they are read. Most files in another
/// order show it in their first lines, and are then read anew into [`Buckets`], which are sorted: that
/// takes a tenth of the matrix more, besides the few lines that are being parsed. (To count the
/// entries of each row in a pass of its own, and to put them in their places in a second one, takes
/// nothing more and about 1.5 times as long.) A file that is in the order of the rows up to a place far
/// down is read twice.
pub(super) fn read<T: Scalar>(
    source: &Source<'_>,
    header: &Header,
    is_transposed: bool,
) -> Result<Csr<'static, T>> {
    let plan = Plan::new(source, header, is_transposed)?;
    if header.symmetry == Symmetry::General
        && let Some(csr) = plan.append()?
    {
        return Ok(csr);
    }
    plan.collect()
}

impl<'s> Plan<'s> {
    fn new(source: &'s Source<'s>, header: &'s Header, is_transposed: bool) -> Result<Self> {
        let Header { rows, cols, .. } = *header;
        let (rows, cols) = if is_transposed { (cols, rows) } else { (rows, cols) };
        // Two digits and a blank, and with a value another digit and a blank.
        let shortest = if header.field == Field::Pattern { 4 } else { 6 };
        let possible = header.entries.min(source.most_bytes() / shortest + 1);
        let fail = |kind| source.error(kind);
        check_rows(source.limits(), rows, possible).map_err(fail)?;
        check_columns(source.limits(), cols, possible).map_err(fail)?;
        let [rows, cols, possible] =
            [rows, cols, possible].map(|size| usize::try_from(size).unwrap_or(usize::MAX));
        Ok(Self { source, reader: Reader { header, is_transposed }, rows, cols, possible })
    }

    /// The matrix of a file whose rows do not decrease; `None` for any other.
    fn append<T: Scalar>(&self) -> Result<Option<Csr<'static, T>>> {
        let fail = |kind| self.source.error(kind);
        // Where each row ends, as far as it has entries.
        let mut pointers = zeros("row pointers", 0_usize, self.rows + 1).map_err(fail)?;
        let (mut columns, mut values) = (Vec::<u32>::new(), Vec::<T>::new());
        if !self.source.is_gzip() {
            csr::reserve("column indices", &mut columns, self.possible).map_err(fail)?;
            csr::reserve("values", &mut values, self.possible).map_err(fail)?;
        }
        let (mut order, mut last, mut stated) = (Order::Increasing, None, 0);
        let absorb = |piece: &mut Piece<Entries<T>>| {
            self.count(piece, &mut stated)?;
            let list = piece.parsed.list();
            // Within the piece, and from the one before to this one.
            let [Some(first), next] = [list.first(), list.last()] else {
                return Ok(ControlFlow::Continue(()));
            };
            let joint = last.map_or(Order::Increasing, |last| Order::of(&[last, *first]));
            order = order.max(piece.parsed.order).max(joint);
            if order == Order::Other {
                return Ok(ControlFlow::Break(()));
            }
            last = next.copied();
            let full = |kind| Fault::new(0, kind);
            csr::reserve("column indices", &mut columns, list.len()).map_err(full)?;
            csr::reserve("values", &mut values, list.len()).map_err(full)?;
            let ends = &mut pointers[1..];
            for (end, entry) in (columns.len() + 1..).zip(list) {
                ends[entry.row as usize] = end;
            }
            columns.extend(list.iter().map(|entry| entry.column));
            values.extend(list.iter().map(|entry| entry.value));
            Ok(ControlFlow::Continue(()))
        };
        let parse = |text: &[u8], entries: &mut Entries<T>| {
            self.reader.parse(text, entries).map(|()| entries.find_order())
        };
        if parse_lines(self.source, self.reader.header.start, parse, absorb)?.is_break() {
            return Ok(None);
        }
        self.check_total(stated)?;
        // A row without entries ends where the one before does.
        let mut end = 0;
        for pointer in &mut pointers {
            end = end.max(*pointer);
            *pointer = end;
        }
        columns.shrink_to_fit();
        values.shrink_to_fit();
        let csr = if order == Order::Increasing {
            Csr::new((self.rows, self.cols), pointers, columns, values).map_err(ErrorKind::from)
        } else {
            csr::finish(self.cols, pointers, columns, values)
        };
        csr.map(Some).map_err(fail)
    }

    /// The matrix of any file.
    fn collect<T: Scalar>(&self) -> Result<Csr<'static, T>> {
        let fail = |kind| self.source.error(kind);
        let is_twice = self.reader.header.symmetry != Symmetry::General;
        let entries = self.possible.saturating_mul(1 + usize::from(is_twice));
        let shape = (self.rows, self.cols);
        let mut buckets = Buckets::new(shape, entries, !self.source.is_gzip()).map_err(fail)?;
        let mut stated = 0;
        let absorb = |piece: &mut Piece<Entries<T>>| {
            self.count(piece, &mut stated)?;
            buckets.push(piece.parsed.list()).map_err(|kind| Fault::new(0, kind))?;
            Ok(ControlFlow::Continue(()))
        };
        let parse = |text: &[u8], entries: &mut Entries<T>| self.reader.parse(text, entries);
        let _ = parse_lines(self.source, self.reader.header.start, parse, absorb)?;
        self.check_total(stated)?;
        buckets.finish().map_err(fail)
    }

    /// Counts stated entries; a fault where the first one too many stands.
    fn count<T>(&self, piece: &Piece<Entries<T>>, stated: &mut u64) -> Result<(), Fault> {
        let (before, expected) = (*stated, self.reader.header.entries);
        *stated += piece.parsed.stated;
        if *stated <= expected {
            return Ok(());
        }
        let at = line_of_entry(piece.text(), expected - before);
        Err(Fault::new(at, ErrorKind::Count { what: "entries", expected, found: expected + 1 }))
    }

    /// `Ok` when the file holds what it stated; else a fault at its end.
    fn check_total(&self, found: u64) -> Result<()> {
        let expected = self.reader.header.entries;
        if found == expected {
            return Ok(());
        }
        let kind = ErrorKind::Count { what: "entries", expected, found };
        Err(self.source.fault(Fault { at: u64::MAX, kind }))
    }
}
