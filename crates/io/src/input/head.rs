//! [`Head`]: the first lines of a text, one at a time.

use std::io::BufRead;

use super::Source;
use super::piece::Fault;
use crate::error::{ErrorKind, Result};

/// The byte order mark that some editors put in front.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads lines from the start of a text and knows where they were.
pub(crate) struct Head<'s> {
    source: &'s Source<'s>,
    reader: Box<dyn BufRead + Send + 's>,
    /// Where the current line starts.
    pub line_start: u64,
    /// Where the next line starts.
    pub next_start: u64,
    line: Vec<u8>,
}

impl<'s> Head<'s> {
    pub fn new(source: &'s Source<'s>) -> Self {
        let reader = source.reader();
        Self { source, reader, line_start: 0, next_start: 0, line: Vec::new() }
    }

    /// Goes to the next line; `false` at the end of the text.
    pub fn advance(&mut self) -> Result<bool> {
        self.line.clear();
        self.line_start = self.next_start;
        let limit = self.source.limits().line_bytes;
        let mut part = std::io::Read::take(&mut self.reader, limit.saturating_add(1));
        let count = part
            .read_until(b'\n', &mut self.line)
            .map_err(|error| self.source.error(error))? as u64;
        if count > limit {
            let what = "bytes of a line";
            return Err(
                self.error(0, ErrorKind::Limit { what, found: count, limit, field: "line_bytes" })
            );
        }
        self.next_start += count;
        if self.line_start == 0 && self.line.starts_with(MARK) {
            self.line.drain(..MARK.len());
            self.line_start = MARK.len() as u64;
        }
        while matches!(self.line.last(), Some(b'\n' | b'\r')) {
            self.line.pop();
        }
        Ok(count > 0)
    }

    /// The current line without its end.
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// An error at a byte of the current line.
    pub fn error(&self, at: usize, kind: ErrorKind) -> crate::Error {
        self.fault(Fault::new(at, kind))
    }

    /// A fault in the current line as an error of the file.
    pub fn fault(&self, fault: Fault) -> crate::Error {
        self.source.fault(Fault { at: self.line_start + fault.at, kind: fault.kind })
    }
}
