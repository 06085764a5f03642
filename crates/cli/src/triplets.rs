//! [`Triplets`]: entries of a matrix from a table of rows, columns and values.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use favard_io::{Detect, Error, ErrorKind, Position};

use crate::args::ReadArgs;

/// The result of reading a table.
type Result<T> = favard_io::Result<T>;

/// Names in the order in which they were first met.
#[derive(Debug, Clone, Default)]
pub struct Names {
    pub list: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Names {
    /// The number of a name, a new one if need be.
    fn number(&mut self, name: &str) -> usize {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.list.len();
        self.list.push(name.to_string());
        self.numbers.insert(name.to_string(), number);
        number
    }

    /// The number of a name that is known.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }
}

/// Entries by the names of their rows and columns.
#[derive(Debug)]
pub struct Triplets {
    pub rows: Names,
    pub columns: Names,
    pub entries: Vec<(usize, usize, f64)>,
}

impl Triplets {
    /// Reads a table; `symmetric` gives rows and columns the same names.
    ///
    /// # Errors
    /// What the system says; with the line and the column: fewer than three fields, a value that is
    /// no finite number, an entry that is given twice.
    pub fn read(path: &Path, read: &ReadArgs, symmetric: bool) -> Result<Self> {
        let mut found =
            Self { rows: Names::default(), columns: Names::default(), entries: Vec::new() };
        let mut seen: HashMap<(usize, usize), u64> = HashMap::new();
        let mut first = true;
        let longest = read.limits().line_bytes;
        for_each_line(path, (3, longest, read.separator.map(char::from)), |line| {
            let word = line.field(2);
            let is_header = match read.header() {
                Detect::Auto => word.parse::<f64>().is_err(),
                said => said == Detect::Yes,
            };
            if std::mem::take(&mut first) && is_header {
                return Ok(());
            }
            let value: f64 = word.parse().map_err(|_| {
                let (what, expected) = ("value", "a number");
                line.fault(2, ErrorKind::Expected { what, expected, found: word.to_string() })
            })?;
            if !value.is_finite() {
                let (what, precision) = ("value", "f64");
                let found = word.to_string();
                return Err(line.fault(2, ErrorKind::NonFinite { what, found, precision }));
            }
            let row = found.rows.number(line.field(0));
            let names = if symmetric { &mut found.rows } else { &mut found.columns };
            let column = names.number(line.field(1));
            if let Some(before) = seen.insert((row, column), line.number) {
                let problem = format!("is given twice, in line {before} before");
                return Err(line.fault(0, ErrorKind::Damaged { what: "entry", problem }));
            }
            found.entries.push((row, column, value));
            Ok(())
        })?;
        if found.entries.is_empty() {
            return Err(Error::new(path, ErrorKind::Empty));
        }
        if symmetric {
            found.columns = found.rows.clone();
        }
        Ok(found)
    }
}

/// The names of rows and columns of a table, line by line, with the numbers that `find` gives them.
/// The first line is a header if neither of its names is known.
///
/// # Errors
/// What the system says; with the line and the column: fewer than two fields, a name that is not
/// known.
pub fn wanted(
    path: &Path,
    longest: u64,
    find: impl Fn(&str, usize) -> Option<usize>,
) -> Result<Vec<([String; 2], [usize; 2])>> {
    let (mut list, mut first) = (Vec::new(), true);
    for_each_line(path, (2, longest, None), |line| {
        let fields = [0, 1].map(|side| line.field(side).to_string());
        let found = [0, 1].map(|side| find(&fields[side], side));
        if std::mem::take(&mut first) && found == [None, None] {
            return Ok(());
        }
        let known = |side: usize| {
            let what = ["row", "column"][side];
            found[side].ok_or_else(|| {
                let problem = format!("`{}` is not among the entries", fields[side]);
                line.fault(side, ErrorKind::Damaged { what, problem })
            })
        };
        let numbers = [known(0)?, known(1)?];
        list.push((fields, numbers));
        Ok(())
    })?;
    Ok(list)
}

/// A line of a table.
struct Line<'a> {
    path: &'a Path,
    /// From 1.
    number: u64,
    /// Each with the byte where it begins.
    fields: Vec<(usize, String)>,
}

impl Line<'_> {
    fn field(&self, index: usize) -> &str {
        self.fields.get(index).map_or("", |(_, field)| field)
    }

    fn fault(&self, index: usize, kind: ErrorKind) -> Error {
        let start = self.fields.get(index).map_or(0, |(start, _)| *start);
        let position = Position::Text { line: self.number, column: start as u64 + 1 };
        Error::at(self.path, position, kind)
    }
}

/// Cuts a file into lines with at least so many fields each, so many bytes at most, and this separator
/// or the one that the first line has; blank lines are left out.
fn for_each_line(
    path: &Path,
    (least, longest, separator): (usize, u64, Option<char>),
    mut with: impl FnMut(&Line<'_>) -> Result<()>,
) -> Result<()> {
    let io = |error: std::io::Error| Error::new(path, error);
    let file = File::open(path).map_err(io)?;
    if file.metadata().map_err(io)?.is_dir() {
        return Err(Error::new(path, ErrorKind::NotRegular));
    }
    let mut reader = BufReader::new(file);
    let (mut bytes, mut number, mut separator) = (Vec::new(), 0, separator);
    loop {
        bytes.clear();
        let count = reader
            .by_ref()
            .take(longest.saturating_add(1))
            .read_until(b'\n', &mut bytes)
            .map_err(io)?;
        if count == 0 {
            break;
        }
        number += 1;
        let at =
            |kind: ErrorKind| Error::at(path, Position::Text { line: number, column: 1 }, kind);
        if count as u64 > longest {
            let (what, field) = ("bytes of a line", "line_bytes");
            return Err(at(ErrorKind::Limit { what, found: count as u64, limit: longest, field }));
        }
        if number == 1 && bytes.starts_with(&[0x1f, 0x8b]) {
            let (what, found) = ("a packed table", "gzip".to_string());
            return Err(Error::new(path, ErrorKind::Unsupported { what, found }));
        }
        let text =
            std::str::from_utf8(&bytes).map_err(|_| at(ErrorKind::Encoding { what: "line" }))?;
        let text = if number == 1 { text.trim_start_matches('\u{feff}') } else { text };
        let text = text.trim_end_matches(['\n', '\r']);
        if text.trim().is_empty() {
            continue;
        }
        let separator = *separator.get_or_insert_with(|| guess(text));
        let fields = split(text, separator, least).map_err(|problem| {
            at(ErrorKind::Damaged { what: "line", problem: problem.to_string() })
        })?;
        let line = Line { path, number, fields };
        let found = line.fields.len();
        if found < least {
            let (what, expected) = ("fields of a line", least as u64);
            return Err(at(ErrorKind::Count { what, expected, found: found as u64 }));
        }
        with(&line)?;
    }
    if number == 0 {
        return Err(Error::new(path, ErrorKind::Empty));
    }
    Ok(())
}

/// What stands between the fields: a tab, a comma, a semicolon, or blanks.
fn guess(line: &str) -> char {
    ['\t', ',', ';'].into_iter().find(|mark| line.contains(*mark)).unwrap_or(' ')
}

/// The first fields of a line, so many at most, without blanks around them; quotes as in CSV. What
/// comes behind them is not looked at.
fn split(
    line: &str,
    separator: char,
    most: usize,
) -> std::result::Result<Vec<(usize, String)>, &'static str> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        if fields.len() == most {
            return Ok(fields);
        }
        if separator == ' ' {
            rest = rest.trim_start();
            if rest.is_empty() {
                return Ok(fields);
            }
        }
        let start = line.len() - rest.len();
        let inner = rest.trim_start_matches(' ');
        if let Some(quoted) = inner.strip_prefix('"') {
            let (field, after) = unquote(quoted)?;
            fields.push((start, field));
            let after = after.trim_start_matches(' ');
            match after.strip_prefix(separator) {
                Some(next) => rest = next,
                None if separator == ' ' => rest = after,
                None if after.is_empty() => return Ok(fields),
                None => return Err("text after a quoted field"),
            }
            continue;
        }
        let Some((field, next)) = rest.split_once(separator) else {
            fields.push((start, rest.trim().to_string()));
            return Ok(fields);
        };
        fields.push((start, field.trim().to_string()));
        rest = next;
    }
}

/// A field after its opening quote, and what follows the closing one; two quotes are one.
fn unquote(text: &str) -> std::result::Result<(String, &str), &'static str> {
    let mut field = String::new();
    let mut rest = text;
    loop {
        let (before, after) = rest.split_once('"').ok_or("a quote that is not closed")?;
        field += before;
        match after.strip_prefix('"') {
            Some(next) => {
                field.push('"');
                rest = next;
            }
            None => return Ok((field, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fields with quotes, doubled quotes, empty ends and blanks.
    #[test]
    fn lines_are_cut_as_csv_has_them() {
        let cut = |line: &str, separator: char| {
            split(line, separator, 4).map(|fields| {
                fields.into_iter().map(|(_, field)| field).collect::<Vec<_>>().join("|")
            })
        };
        assert_eq!(cut("a,\"b, \"\"c\"\"\", 3", ','), Ok("a|b, \"c\"|3".to_string()));
        assert_eq!(cut("a\t\t3", '\t'), Ok("a||3".to_string()));
        assert_eq!(cut("1,2,3,4,5,6", ','), Ok("1|2|3|4".to_string()));
        assert_eq!(cut("  a  \"b c\"  3 ", ' '), Ok("a|b c|3".to_string()));
        assert!(cut("\"a,b", ',').is_err() && cut("\"a\"b,c", ',').is_err());
    }

    /// Bytes that no tool wrote, as the data and as what is to be predicted: entries or an error of
    /// one line that names the file. `FAVARD_FUZZ` says how many, `FAVARD_FUZZ_SEED` which.
    #[test]
    fn fuzz() {
        use proptest::prelude::*;
        use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
        const PARTS: [&[u8]; 20] = [
            b"a",
            b"b",
            b"\xc3\xa9",
            b"1",
            b"-2.5",
            b"1e999",
            b"nan",
            b"\"",
            b"\"\"",
            b",",
            b"\t",
            b";",
            b" ",
            b"\n",
            b"\r\n",
            b"\0",
            b"\xff",
            b"\xef\xbb\xbf",
            b"\x1f\x8b",
            b"row,column,value\n",
        ];
        let number = |name: &str, otherwise: u64| {
            std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise)
        };
        let cases = u32::try_from(number("FAVARD_FUZZ", 2000)).unwrap();
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&number("FAVARD_FUZZ_SEED", 1).to_le_bytes());
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fuzz");
        let read = ReadArgs::default();
        // Lines of three fields, most of them, and then anything.
        let good = (0..6_usize, 0..6_usize, 3..5_usize)
            .prop_map(|(i, j, v)| [PARTS[i], b",", PARTS[j], b",", PARTS[v], b"\n"].concat());
        let any = (0..PARTS.len()).prop_map(|i| PARTS[i].to_vec());
        let lines = prop::collection::vec(prop_oneof![3 => good, 1 => any], 0..12);
        let counted = std::cell::Cell::new(0_u32);
        let outcome = TestRunner::new_with_rng(config, rng).run(&lines, |lines| {
            std::fs::write(&path, lines.concat()).unwrap();
            let one_line = |error: Error| {
                let text = error.to_string();
                assert!(text.contains("fuzz") && !text.contains('\n'), "{text:?}");
            };
            for symmetric in [false, true] {
                match Triplets::read(&path, &read, symmetric) {
                    Ok(Triplets { rows, columns, entries }) => {
                        counted.set(counted.get() + 1);
                        let inside = |&(i, j, v): &(usize, usize, f64)| {
                            i < rows.list.len() && j < columns.list.len() && v.is_finite()
                        };
                        assert!(entries.iter().all(inside));
                        let find = |name: &str, side: usize| [&rows, &columns][side].find(name);
                        // What was read is found again; a header may be half known.
                        match wanted(&path, 1 << 20, find) {
                            Ok(asked) => assert!(asked.len() >= entries.len()),
                            Err(error) => one_line(error),
                        }
                    }
                    Err(error) => one_line(error),
                }
                if let Err(error) = wanted(&path, 16, |name, _| name.parse().ok()) {
                    one_line(error);
                }
            }
            Ok(())
        });
        outcome.unwrap();
        let found = counted.get();
        println!("triplets: {cases} inputs, {found} of twice as many read");
        assert!(found > 0);
    }
}
