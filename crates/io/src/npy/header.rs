//! The header of a NumPy array.

use std::io::Read;

use super::dtype::Dtype;
use super::stream::Problem;
use crate::error::{ErrorKind, shown};

/// Longest header that is believed: NumPy itself stops at 10,000 characters.
const LONGEST: usize = 1 << 16;

/// What an array is.
#[derive(Debug, Clone)]
pub(crate) struct Header {
    pub dtype: Dtype,
    /// As the file has it.
    pub descr: String,
    pub is_fortran: bool,
    pub shape: Vec<u64>,
    /// Bytes before the first number.
    pub bytes: u64,
}

impl Header {
    /// Reads the magic bytes, the version, and the dictionary
    /// `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
    pub fn read(reader: &mut impl Read) -> Result<Self, Problem> {
        let mut start = [0; 8];
        fill(reader, &mut start, 0, "first bytes")?;
        if &start[..6] != b"\x93NUMPY" {
            let found = shown(&start[..6]);
            let expected = "\\x93NUMPY";
            return Err(Problem::at(
                0,
                ErrorKind::Expected { what: "first bytes", expected, found },
            ));
        }
        let mut length = [0; 4];
        let prefix: usize = match start[6] {
            1 => 2,
            2 | 3 => 4,
            version => {
                let found = version.to_string();
                return Err(Problem::at(6, ErrorKind::Unsupported { what: "version", found }));
            }
        };
        fill(reader, &mut length[..prefix], 8, "header length")?;
        let length = u32::from_le_bytes(length) as usize;
        if length > LONGEST {
            let (what, high, found) = ("header length", LONGEST as u64, length.to_string());
            return Err(Problem::at(8, ErrorKind::Range { what, low: 1, high, found }));
        }
        let from = (8 + prefix) as u64;
        let mut text = vec![0; length];
        fill(reader, &mut text, from, "header")?;
        let mut parser = Parser { text: &text, at: 0 };
        let parts = parser.dictionary().map_err(|wanted| {
            let found = shown(parser.text.get(parser.at..).unwrap_or_default());
            let kind = ErrorKind::Expected { what: "header", expected: wanted, found };
            Problem::at(from + parser.at as u64, kind)
        })?;
        let (descr, is_fortran, shape) = parts;
        let dtype = Dtype::parse(&descr).map_err(|kind| Problem::at(from, kind))?;
        Ok(Self { dtype, descr, is_fortran, shape, bytes: from + length as u64 })
    }
}

/// Fills the buffer or reports that the file ends.
pub(super) fn fill(
    reader: &mut impl Read,
    buffer: &mut [u8],
    at: u64,
    what: &'static str,
) -> Result<(), Problem> {
    let mut done = 0;
    while done < buffer.len() {
        match reader.read(&mut buffer[done..]) {
            Ok(0) => {
                let (expected, found) = (buffer.len() as u64, done as u64);
                return Err(Problem::at(at + found, ErrorKind::Count { what, expected, found }));
            }
            Ok(count) => done += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Problem::from(ErrorKind::Io(error))),
        }
    }
    Ok(())
}

/// The few words of Python that a header consists of.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn dictionary(&mut self) -> Result<(String, bool, Vec<u64>), &'static str> {
        let (mut descr, mut is_fortran, mut shape) = (None, None, None);
        self.take(b'{', "{")?;
        while !self.is_next(b'}') {
            let key = self.quoted()?;
            self.take(b':', ":")?;
            match &*key {
                "descr" => descr = Some(self.quoted()?),
                "fortran_order" => is_fortran = Some(self.truth()?),
                "shape" => shape = Some(self.tuple()?),
                _ => return Err("descr, fortran_order or shape"),
            }
            if !self.is_next(b'}') {
                self.take(b',', ", or }")?;
            }
        }
        match (descr, is_fortran, shape) {
            (Some(descr), Some(is_fortran), Some(shape)) => Ok((descr, is_fortran, shape)),
            _ => Err("descr, fortran_order and shape"),
        }
    }

    /// Past the blanks: whether this byte stands there.
    fn is_next(&mut self, byte: u8) -> bool {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at) == Some(&byte)
    }

    fn take(&mut self, byte: u8, name: &'static str) -> Result<(), &'static str> {
        if !self.is_next(byte) {
            return Err(name);
        }
        self.at += 1;
        Ok(())
    }

    fn quoted(&mut self) -> Result<String, &'static str> {
        let quote = if self.is_next(b'"') { b'"' } else { b'\'' };
        self.take(quote, "a quoted word")?;
        let rest = &self.text[self.at..];
        let end = rest.iter().position(|&byte| byte == quote).ok_or("a closing quote")?;
        self.at += end + 1;
        String::from_utf8(rest[..end].to_vec()).map_err(|_| "UTF-8")
    }

    fn truth(&mut self) -> Result<bool, &'static str> {
        for (word, value) in [("True", true), ("False", false)] {
            if self.is_next(word.as_bytes()[0]) && self.text[self.at..].starts_with(word.as_bytes())
            {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err("True or False")
    }

    fn tuple(&mut self) -> Result<Vec<u64>, &'static str> {
        let mut sizes = Vec::new();
        self.take(b'(', "(")?;
        while !self.is_next(b')') {
            let (size, end) = crate::text::digits(self.text, self.at);
            if end == self.at {
                return Err("a size");
            }
            self.at = end;
            sizes.push(size);
            if !self.is_next(b')') {
                self.take(b',', ", or )")?;
            }
        }
        self.at += 1;
        Ok(sizes)
    }
}
