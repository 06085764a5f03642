//! [`Source`]: a file or a slice that can be read at any place, as often as needed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use super::piece::Fault;
use crate::error::{Error, ErrorKind, Position, Result};
use crate::options::Limits;

/// The bytes of one file.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    path: PathBuf,
    data: Data<'a>,
    len: u64,
    is_gzip: bool,
    limits: Limits,
}

#[derive(Debug)]
enum Data<'a> {
    File(File),
    Bytes(&'a [u8]),
}

impl<'a> Source<'a> {
    /// Opens a regular file that is not empty.
    pub fn open(path: &Path, limits: Limits) -> Result<Source<'static>> {
        let fail = |error: io::Error| Error::new(path, error);
        let file = File::open(path).map_err(fail)?;
        let about = file.metadata().map_err(fail)?;
        if about.is_dir() {
            return Err(Error::new(path, ErrorKind::Directory));
        }
        if !about.is_file() {
            return Err(Error::new(path, ErrorKind::NotRegular));
        }
        Source::new(path.to_path_buf(), Data::File(file), about.len(), limits)
    }

    /// Bytes in memory, under the name they are to have in messages.
    pub fn bytes(path: &Path, bytes: &'a [u8], limits: Limits) -> Result<Self> {
        Self::new(path.to_path_buf(), Data::Bytes(bytes), bytes.len() as u64, limits)
    }

    fn new(path: PathBuf, data: Data<'a>, len: u64, limits: Limits) -> Result<Self> {
        let mut source = Self { path, data, len, is_gzip: false, limits };
        if len == 0 {
            return Err(source.error(ErrorKind::Empty));
        }
        source.is_gzip = source.start(2)? == [0x1f, 0x8b];
        Ok(source)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Bytes on disk.
    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn is_gzip(&self) -> bool {
        self.is_gzip
    }

    /// The most bytes that reading can give.
    pub fn most_bytes(&self) -> u64 {
        if self.is_gzip { self.limits.expanded(self.len) } else { self.len }
    }

    /// The first bytes on disk, at most `count`.
    pub fn start(&self, count: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut cursor = self.cursor().take(count as u64);
        cursor.read_to_end(&mut bytes).map_err(|error| self.error(error))?;
        Ok(bytes)
    }

    /// The bytes, when they are in memory.
    #[cfg(feature = "h5ad")]
    pub fn in_memory(&self) -> Option<&[u8]> {
        match self.data {
            Data::File(_) => None,
            Data::Bytes(bytes) => Some(bytes),
        }
    }

    /// Fills the buffer from a place on disk; fewer bytes only at the end.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.data {
            Data::File(file) => {
                let mut done = 0;
                while done < buffer.len() {
                    match read_file_at(file, offset + done as u64, &mut buffer[done..]) {
                        Ok(0) => break,
                        Ok(count) => done += count,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(done)
            }
            Data::Bytes(bytes) => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                let count = buffer.len().min(bytes.len() - from);
                buffer[..count].copy_from_slice(&bytes[from..from + count]);
                Ok(count)
            }
        }
    }

    /// The bytes on disk, from the start.
    pub fn cursor(&self) -> Cursor<'_, 'a> {
        Cursor { source: self, offset: 0 }
    }

    /// The content from the start, unpacked if it is packed, within the limits.
    pub fn reader(&self) -> Box<dyn BufRead + Send + '_> {
        let disk = BufReader::with_capacity(1 << 16, self.cursor());
        if self.is_gzip {
            let left = self.limits.expanded(self.len);
            let unpacked = Guarded { inner: MultiGzDecoder::new(disk), left, limit: left };
            Box::new(BufReader::with_capacity(1 << 16, unpacked))
        } else {
            Box::new(disk)
        }
    }

    /// An error of the whole file.
    pub fn error(&self, kind: impl Into<ErrorKind>) -> Error {
        match kind.into() {
            ErrorKind::Io(error) => self.read_error(error),
            kind => Error::new(&self.path, kind),
        }
    }

    /// An error at a byte of a binary file.
    pub fn error_at_byte(&self, byte: u64, kind: impl Into<ErrorKind>) -> Error {
        Error::at(&self.path, Position::Byte(byte), kind)
    }

    /// An error in a text: its line and column are counted now, in a pass from the start.
    pub fn fault(&self, fault: Fault) -> Error {
        if let ErrorKind::Io(error) = fault.kind {
            return self.read_error(error);
        }
        match self.locate(fault.at) {
            Ok(position) => Error::at(&self.path, position, fault.kind),
            Err(_) => Error::at(&self.path, Position::Byte(fault.at), fault.kind),
        }
    }

    /// An error of reading: the system's, that of a damaged stream, or a limit.
    fn read_error(&self, error: io::Error) -> Error {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<TooMuch>());
        let is_limit = inner.is_some();
        let kind = match error.kind() {
            _ if is_limit => {
                let limit = self.limits.expanded(self.len);
                let what = "unpacked bytes";
                ErrorKind::Limit { what, found: limit.saturating_add(1), limit, field: "expansion" }
            }
            io::ErrorKind::InvalidInput
            | io::ErrorKind::InvalidData
            | io::ErrorKind::UnexpectedEof
                if self.is_gzip =>
            {
                ErrorKind::Damaged { what: "gzip stream", problem: error.to_string() }
            }
            _ => ErrorKind::Io(error),
        };
        Error::new(&self.path, kind)
    }

    fn locate(&self, offset: u64) -> io::Result<Position> {
        let (mut line, mut column, mut left) = (1, 1, offset);
        let mut reader = self.reader();
        while left > 0 {
            let bytes = reader.fill_buf()?;
            let count = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
            if count == 0 {
                break;
            }
            line += memchr::memchr_iter(b'\n', &bytes[..count]).count() as u64;
            // Behind the last newline of this part, or further along the line it did not end.
            match memchr::memrchr(b'\n', &bytes[..count]) {
                Some(newline) => column = (count - newline) as u64,
                None => column += count as u64,
            }
            reader.consume(count);
            left -= count as u64;
        }
        Ok(Position::Text { line, column })
    }
}

#[cfg(unix)]
fn read_file_at(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_file_at(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// Reads a [`Source`] from front to back, or from where it is set.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'s, 'a> {
    source: &'s Source<'a>,
    offset: u64,
}

impl Read for Cursor<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read_at(self.offset, buffer)?;
        self.offset += count as u64;
        Ok(count)
    }
}

impl Seek for Cursor<'_, '_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let offset = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(by) => self.source.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.offset.checked_add_signed(by),
        };
        self.offset = offset.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.offset)
    }
}

/// Stops a stream that gives more than its limit.
struct Guarded<R> {
    inner: R,
    left: u64,
    limit: u64,
}

impl<R: Read> Read for Guarded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        match self.left.checked_sub(count as u64) {
            Some(left) => self.left = left,
            None => return Err(io::Error::other(TooMuch(self.limit))),
        }
        Ok(count)
    }
}

/// More than `.0` bytes came out of a compressed file.
#[derive(Debug, thiserror::Error)]
#[error("more than {0} bytes")]
struct TooMuch(u64);
