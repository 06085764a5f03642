//! [`Piece`]: some whole lines of a text, and what was made of them.

use super::Source;
use crate::error::{ErrorKind, Result};

/// An error at a byte of a text: of a piece while it is parsed, of the file once it leaves.
#[derive(Debug)]
pub(crate) struct Fault {
    pub at: u64,
    pub kind: ErrorKind,
}

impl Fault {
    pub fn new(at: usize, kind: impl Into<ErrorKind>) -> Self {
        Self { at: at as u64, kind: kind.into() }
    }
}

/// Whole lines (the last one ends with a newline too) and what was made of them.
#[derive(Debug, Default)]
pub(crate) struct Piece<P> {
    /// What was made of the lines.
    pub parsed: P,
    /// Where the lines start in the file.
    pub(super) base: u64,
    /// The lines, after `skip` bytes that belong to the piece before.
    pub(super) text: Vec<u8>,
    skip: usize,
    /// The range of the file that is still to be read.
    pub(super) range: Option<(u64, u64)>,
    pub(super) fault: Option<Fault>,
}

impl<P> Piece<P> {
    /// The lines.
    pub fn text(&self) -> &[u8] {
        &self.text[self.skip..]
    }

    /// Makes something of the lines, or finds their fault.
    pub(super) fn parse(
        &mut self,
        source: &Source<'_>,
        parse: impl Fn(&[u8], &mut P) -> Result<(), Fault>,
    ) {
        if self.fault.is_none() {
            self.fault = self
                .load(source)
                .and_then(|()| parse(&self.text[self.skip..], &mut self.parsed))
                .err();
        }
    }

    /// Reads the lines that start in the piece's range.
    fn load(&mut self, source: &Source<'_>) -> Result<(), Fault> {
        let Some((from, to)) = self.range.take() else { return Ok(()) };
        let is_first = from == self.base;
        // A line starts at `from` if a newline stands before it.
        let first = if is_first { from } else { from - 1 };
        (self.skip, self.base) = (0, first);
        let text = &mut self.text;
        // At most a piece and a byte.
        let wanted = usize::try_from(to - first).unwrap_or(usize::MAX);
        text.resize(wanted, 0);
        let io = |error| Fault::new(0, ErrorKind::Io(error));
        let found = source.read_at(first, text).map_err(io)?;
        text.truncate(found);
        let skip = if is_first { Some(0) } else { memchr::memchr(b'\n', text).map(|at| at + 1) };
        match skip {
            Some(skip) if skip < text.len() => {}
            _ => {
                text.clear();
                return Ok(());
            }
        }
        let skip = skip.unwrap_or(0);
        if found == wanted {
            self.finish_line(source, skip)?;
        }
        if self.text.last() != Some(&b'\n') {
            self.text.push(b'\n');
        }
        (self.skip, self.base) = (skip, self.base + skip as u64);
        Ok(())
    }

    /// Reads on to the end of the last line.
    fn finish_line(&mut self, source: &Source<'_>, skip: usize) -> Result<(), Fault> {
        let (text, mut step) = (&mut self.text, 1 << 12);
        let line = memchr::memrchr(b'\n', text).map_or(0, |at| at + 1).max(skip);
        while text.last() != Some(&b'\n') {
            let old = text.len();
            check_line((old - line) as u64, source.limits().line_bytes, line)?;
            text.resize(old + step, 0);
            let count = source
                .read_at(self.base + old as u64, &mut text[old..])
                .map_err(|error| Fault::new(0, error))?;
            text.truncate(old + count);
            if let Some(end) = memchr::memchr(b'\n', &text[old..]) {
                text.truncate(old + end + 1);
            }
            if count < step {
                break;
            }
            step *= 2;
        }
        Ok(())
    }
}

/// A fault where a line is longer than the limit.
pub(super) fn check_line(found: u64, limit: u64, at: usize) -> Result<(), Fault> {
    if found <= limit {
        return Ok(());
    }
    let what = "bytes of a line";
    Err(Fault::new(at, ErrorKind::Limit { what, found, limit, field: "line_bytes" }))
}
