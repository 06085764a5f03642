//! [`Fields`]: one line, field by field.

use std::borrow::Cow;

use favard_operator::Scalar;

use crate::error::ErrorKind;
use crate::input::Fault;
use crate::text::{byte, expected, number, skip_blanks};

/// The fields of a line that are left. Fields may be quoted, with quotes doubled inside; a line
/// break inside of quotes is not supported. A blank as separator stands for any number of them.
pub(super) struct Fields<'a> {
    line: &'a [u8],
    separator: u8,
    /// Where the next field starts; `None` behind the last.
    at: Option<usize>,
    start: usize,
}

impl<'a> Fields<'a> {
    /// The fields of a line without its end.
    pub fn new(line: &'a [u8], separator: u8) -> Self {
        Self { line, separator, at: Some(0), start: 0 }
    }

    /// Where the field that was taken last starts.
    pub fn start(&self) -> usize {
        self.start
    }

    pub fn set_start(&mut self, start: usize) {
        self.start = start;
    }

    /// Past blanks that are not separators.
    fn blanks(&self, mut at: usize) -> usize {
        if self.separator == b' ' {
            return skip_blanks(self.line, at);
        }
        while matches!(self.line.get(at), Some(b' ' | b'\t')) && self.line[at] != self.separator {
            at += 1;
        }
        at
    }

    /// Ends a field: a separator or the end of the line has to follow.
    fn close(&mut self, end: usize) -> Result<(), Fault> {
        let next = self.blanks(end);
        self.at = match self.line.get(next) {
            None => None,
            Some(_) if self.separator == b' ' && next > end => Some(next),
            Some(&found) if found == self.separator => Some(next + 1),
            Some(_) => {
                let fault = expected("value", "a number", self.line, self.start);
                return Err(self.only_field(fault));
            }
        };
        Ok(())
    }

    /// The fault with what was found up to the end of its field.
    fn only_field(&self, mut fault: Fault) -> Fault {
        if let ErrorKind::Expected { found, .. } = &mut fault.kind
            && self.line.get(self.start) != Some(&b'"')
            && let Some(end) = found.find(char::from(self.separator))
        {
            found.truncate(end);
        }
        fault
    }

    /// The next field as a finite number; `None` behind the last.
    pub fn number<T: Scalar>(&mut self) -> Result<Option<T>, Fault> {
        let Some(at) = self.at else { return Ok(None) };
        self.start = self.blanks(at);
        let is_quoted = self.line.get(self.start) == Some(&b'"');
        let from = self.start + usize::from(is_quoted);
        if matches!(self.line.get(from), None | Some(b'"'))
            || byte(self.line, from) == self.separator
        {
            let (what, expected, found) = ("value", "a number", String::new());
            return Err(Fault::new(self.start, ErrorKind::Expected { what, expected, found }));
        }
        let (value, mut end) = number(self.line, from).map_err(|fault| self.only_field(fault))?;
        if is_quoted {
            if self.line.get(end) != Some(&b'"') {
                return Err(expected("value", "a number in quotes", self.line, self.start));
            }
            end += 1;
        }
        self.close(end)?;
        Ok(Some(value))
    }

    /// The next field as text, without its quotes; `None` behind the last.
    pub fn text(&mut self) -> Result<Option<Cow<'a, [u8]>>, Fault> {
        let Some(at) = self.at else { return Ok(None) };
        self.start = self.blanks(at);
        if self.line.get(self.start) != Some(&b'"') {
            let rest = &self.line[self.start..];
            let is_end =
                |&byte: &u8| byte == self.separator || (self.separator == b' ' && byte == b'\t');
            let length = rest.iter().position(is_end).unwrap_or(rest.len());
            let field = rest[..length].trim_ascii_end();
            let end = self.start + length;
            let is_blank = self.separator == b' ';
            let next = if is_blank { skip_blanks(self.line, end) } else { end };
            self.at = (next < self.line.len()).then_some(next + usize::from(!is_blank));
            return Ok(Some(Cow::Borrowed(field)));
        }
        let (mut field, mut at) = (Vec::new(), self.start + 1);
        loop {
            match (self.line.get(at), self.line.get(at + 1)) {
                (None, _) => {
                    return Err(expected("quoted field", "a closing quote", self.line, self.start));
                }
                (Some(b'"'), Some(b'"')) => {
                    field.push(b'"');
                    at += 2;
                }
                (Some(b'"'), _) => break,
                (Some(&byte), _) => {
                    field.push(byte);
                    at += 1;
                }
            }
        }
        self.close(at + 1)?;
        Ok(Some(Cow::Owned(field)))
    }

    /// The next field as a name.
    pub fn name(&mut self, what: &'static str) -> Result<String, Fault> {
        let field = self.text()?.unwrap_or_default().into_owned();
        String::from_utf8(field).map_err(|_| Fault::new(self.start, ErrorKind::Encoding { what }))
    }

    /// Goes past a field; `false` behind the last.
    pub fn skip(&mut self) -> bool {
        matches!(self.text(), Ok(Some(_)))
    }
}
