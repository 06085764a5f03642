//! [`Stream`]: an array, read a part at a time.

use std::io::Read;
use std::ops::Range;

use favard_operator::Scalar;

use super::header::{Header, fill};
use crate::csr::reserve;
use crate::error::ErrorKind;
use crate::text::precision;

/// Numbers that are read at a time.
const PART: usize = 1 << 16;

/// What an index is kept as.
pub(crate) trait Index {
    /// The largest.
    const MOST: u64;

    /// One that is not larger.
    fn of(index: u64) -> Self;
}

impl Index for u32 {
    const MOST: u64 = u32::MAX as u64;

    #[allow(clippy::cast_possible_truncation)]
    fn of(index: u64) -> Self {
        index as u32
    }
}

impl Index for usize {
    const MOST: u64 = usize::MAX as u64;

    #[allow(clippy::cast_possible_truncation)]
    fn of(index: u64) -> Self {
        index as usize
    }
}

/// What is wrong with a binary stream, and at which byte.
#[derive(Debug)]
pub(crate) struct Problem {
    pub at: Option<u64>,
    pub kind: ErrorKind,
}

impl Problem {
    pub fn at(byte: u64, kind: ErrorKind) -> Self {
        Self { at: Some(byte), kind }
    }
}

impl From<ErrorKind> for Problem {
    fn from(kind: ErrorKind) -> Self {
        Self { at: None, kind }
    }
}

/// An array behind a reader, of which parts were read.
pub(crate) struct Stream<R> {
    reader: R,
    header: Header,
    count: u64,
    done: u64,
    buffer: Vec<u8>,
    indices: Vec<u64>,
}

impl<R: Read> Stream<R> {
    /// Reads the header. An array of more than `most` bytes is refused before it is read.
    pub fn new(mut reader: R, most: u64) -> Result<Self, Problem> {
        let header = Header::read(&mut reader)?;
        let count = header.shape.iter().fold(1, |product: u64, &size| product.saturating_mul(size));
        let expected = count.saturating_mul(header.dtype.width as u64);
        let found = most.saturating_sub(header.bytes);
        if expected > found {
            let kind = ErrorKind::Count { what: "bytes of the array", expected, found };
            return Err(Problem::at(header.bytes, kind));
        }
        Ok(Self { reader, header, count, done: 0, buffer: Vec::new(), indices: Vec::new() })
    }

    /// Some numbers of an array with this header, behind a reader that stands at the first of them.
    pub fn between(reader: R, header: Header, range: Range<usize>) -> Self {
        let (count, done) = (range.end as u64, range.start as u64);
        Self { reader, header, count, done, buffer: Vec::new(), indices: Vec::new() }
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Numbers of the array.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of a number.
    pub fn width(&self) -> u64 {
        self.header.dtype.width as u64
    }

    /// Appends the next numbers; `false` when there are none left.
    pub fn numbers<T: Scalar>(&mut self, to: &mut Vec<T>) -> Result<bool, Problem> {
        if !self.header.dtype.is_number() {
            return Err(self.not("numbers"));
        }
        let Some(at) = self.part()? else { return Ok(false) };
        let width = self.header.dtype.width;
        reserve("values", to, self.buffer.len() / width)?;
        self.header.dtype.numbers(&self.buffer, to).map_err(|(position, value)| {
            let (what, found, precision) = ("value", value.to_string(), precision::<T>());
            let kind = ErrorKind::NonFinite { what, found, precision };
            Problem::at(at + (position * width) as u64, kind)
        })?;
        Ok(true)
    }

    /// Appends the next indices, each at most `high`; `false` when there are none left.
    pub fn indices<I: Index>(
        &mut self,
        what: &'static str,
        high: u64,
        to: &mut Vec<I>,
    ) -> Result<bool, Problem> {
        if !self.header.dtype.is_integer() {
            return Err(self.not("whole numbers"));
        }
        let Some(at) = self.part()? else { return Ok(false) };
        let width = self.header.dtype.width;
        let outside = |position: usize, found: String| {
            let kind = ErrorKind::Range { what, low: 0, high, found };
            Problem::at(at + (position * width) as u64, kind)
        };
        self.indices.clear();
        self.header
            .dtype
            .indices(&self.buffer, &mut self.indices)
            .map_err(|(position, value)| outside(position, value.to_string()))?;
        let high = high.min(I::MOST);
        if self.indices.iter().fold(0, |most, &index| index.max(most)) > high {
            let position = self.indices.iter().position(|&index| index > high).unwrap_or(0);
            return Err(outside(position, self.indices[position].to_string()));
        }
        reserve(what, to, self.indices.len())?;
        to.extend(self.indices.iter().map(|&index| I::of(index)));
        Ok(true)
    }

    /// The word that an array of one string holds.
    pub fn word(mut self) -> Result<String, Problem> {
        if self.count != 1 || self.header.dtype.is_number() {
            return Err(self.not("one word"));
        }
        self.part()?;
        let buffer = std::mem::take(&mut self.buffer);
        self.part()?;
        // The characters of either kind that are in use here are plain bytes among zeros.
        let bytes = buffer.iter().copied().filter(|&byte| byte != 0).collect();
        String::from_utf8(bytes).map_err(|_| ErrorKind::Encoding { what: "word" }.into())
    }

    fn not(&self, expected: &'static str) -> Problem {
        let found = self.header.descr.clone();
        ErrorKind::Expected { what: "kind of array", expected, found }.into()
    }

    /// Reads the next numbers into the buffer; the byte where they start.
    fn part(&mut self) -> Result<Option<u64>, Problem> {
        // At most PART.
        let count = usize::try_from(self.count - self.done).unwrap_or(PART).min(PART);
        if count == 0 {
            // A checksum is only looked at once the end was read.
            let mut behind = [0];
            let _ = self.reader.read(&mut behind).map_err(ErrorKind::Io)?;
            return Ok(None);
        }
        let at = self.header.bytes + self.done * self.width();
        self.buffer.resize(count * self.header.dtype.width, 0);
        fill(&mut self.reader, &mut self.buffer, at, "bytes of the array")?;
        self.done += count as u64;
        Ok(Some(at))
    }
}
