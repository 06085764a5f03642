//! [`Entries`]: what is made of some lines of a sparse file.

use std::iter;

use favard_operator::Scalar;

use super::header::{Field, Header, Symmetry};
use super::run::Run;
use crate::csr::Entry;
use crate::error::{ErrorKind, Result, shown};
use crate::input::Fault;
use crate::text::{
    Lanes, Task, byte, digits, dispatch, end_of_line, expected, line_end, number, skip_blanks,
};

/// The entries of some lines, rows and columns counted from 0, mirrored ones included.
#[derive(Debug)]
pub(super) struct Entries<T> {
    /// The entries and, behind them, room for more.
    slots: Vec<Entry<T>>,
    count: usize,
    /// Lines with an entry: mirrored entries are not counted.
    pub stated: u64,
    /// As [`Entries::find_order`] found it.
    pub order: Order,
}

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), count: 0, stated: 0, order: Order::Increasing }
    }
}

impl<T: Scalar> Entries<T> {
    pub fn list(&self) -> &[Entry<T>] {
        &self.slots[..self.count]
    }

    /// Finds out how the entries follow each other.
    pub fn find_order(&mut self) {
        self.order = Order::of(self.list());
    }

    /// Appends an entry.
    fn push(&mut self, entry: Entry<T>) {
        if self.count == self.slots.len() {
            self.slots.resize((2 * self.count).max(1 << 10), Entry::default());
        }
        self.slots[self.count] = entry;
        self.count += 1;
    }
}

/// How entries follow each other, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    /// By rows, and by columns in each row, none twice.
    Increasing,
    /// By rows.
    ByRows,
    /// Not by rows.
    Other,
}

impl Order {
    /// The order of a list.
    // Without a way out of the loops, they are compiled to vector code.
    #[allow(clippy::needless_bitwise_bool)]
    pub fn of<T>(list: &[Entry<T>]) -> Self {
        let pairs = || list.iter().zip(list.get(1..).unwrap_or_default());
        if pairs().fold(true, |so_far, (a, b)| so_far & (a.place() < b.place())) {
            Self::Increasing
        } else if pairs().fold(true, |so_far, (a, b)| so_far & (a.row <= b.row)) {
            Self::ByRows
        } else {
            Self::Other
        }
    }
}

/// Reads the lines of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'h> {
    pub header: &'h Header,
    pub is_transposed: bool,
}

struct Lines<'r, 't, T, const HAS_VALUES: bool> {
    reader: Reader<'r>,
    text: &'t [u8],
    entries: &'t mut Entries<T>,
}

impl<T: Scalar, const HAS_VALUES: bool> Task for Lines<'_, '_, T, HAS_VALUES> {
    type Output = Result<(), Fault>;

    // What carries the instruction set into the loop.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Result<(), Fault> {
        let Self { reader, text, entries } = self;
        let Header { rows, cols, .. } = *reader.header;
        let mut next = 0;
        while next < text.len() {
            next = reader.slow_line::<T, HAS_VALUES>(text, next, entries)?;
            let (slots, at) = (&mut entries.slots[..], entries.count);
            let mut run = Run { text, next, slots, at, rows, cols };
            run.lines::<L, HAS_VALUES>(lanes);
            (next, entries.count) = (run.next, run.at);
        }
        Ok(())
    }
}

impl Reader<'_> {
    /// Overwrites the entries with those of whole lines.
    pub fn parse<T: Scalar>(self, text: &[u8], entries: &mut Entries<T>) -> Result<(), Fault> {
        if self.header.field == Field::Pattern {
            self.run::<T, false>(text, entries)
        } else {
            self.run::<T, true>(text, entries)
        }
    }

    fn run<T: Scalar, const HAS_VALUES: bool>(
        self,
        text: &[u8],
        entries: &mut Entries<T>,
    ) -> Result<(), Fault> {
        entries.count = 0;
        let outcome = dispatch(Lines::<T, HAS_VALUES> { reader: self, text, entries });
        let symmetry = self.header.symmetry;
        let is_diagonal = |entry: &Entry<T>| entry.row == entry.column;
        if symmetry == Symmetry::Skew {
            let mut list = entries.list().iter();
            // Before whatever else is wrong, as it stands before it.
            if let Some(number) = list.position(|e| is_diagonal(e) && e.value != T::zero()) {
                let at = line_of_entry(text, number as u64);
                return Err(expected("skew-symmetric matrix", "no diagonal", text, at));
            }
        }
        outcome?;
        entries.stated = entries.count as u64;
        if symmetry != Symmetry::General {
            // Each behind its entry, so that the order is that of the file wherever it is cut.
            let mirrored = |entry: &Entry<T>| {
                let value = if symmetry == Symmetry::Skew { -entry.value } else { entry.value };
                let twin = Entry { row: entry.column, column: entry.row, value };
                iter::once(*entry).chain((!is_diagonal(entry)).then_some(twin))
            };
            entries.slots = entries.list().iter().flat_map(mirrored).collect();
            entries.count = entries.slots.len();
        } else if self.is_transposed {
            let swap = |entry: &mut Entry<T>| std::mem::swap(&mut entry.row, &mut entry.column);
            entries.slots[..entries.count].iter_mut().for_each(swap);
        }
        Ok(())
    }

    /// Any line: blank, a comment, an entry in whatever form, or the fault that is in it. Gives the
    /// start of the next one.
    #[inline(never)]
    fn slow_line<T: Scalar, const HAS_VALUES: bool>(
        self,
        text: &[u8],
        at: usize,
        entries: &mut Entries<T>,
    ) -> Result<usize, Fault> {
        let Header { rows, cols, .. } = *self.header;
        let start = skip_blanks(text, at);
        let (row, end) = digits(text, start);
        if end == start {
            return no_entry(text, start);
        }
        if row.wrapping_sub(1) >= rows {
            return Err(outside("row index", rows, text, start));
        }
        let from = skip_blanks(text, end);
        let (col, end) = digits(text, from);
        if end == from {
            return Err(expected("column index", "a whole number", text, from));
        }
        if col.wrapping_sub(1) >= cols {
            return Err(outside("column index", cols, text, from));
        }
        let (value, end) = if HAS_VALUES { value(text, end)? } else { (T::one(), end) };
        let next = end_of_line(text, end)?;
        entries.push(entry(row - 1, col - 1, value));
        Ok(next)
    }
}

/// An entry below the rows and columns, of which there are at most 2^32.
#[inline]
fn entry<T>(row: u64, column: u64, value: T) -> Entry<T> {
    #[allow(clippy::cast_possible_truncation)]
    let (row, column) = (row as u32, column as u32);
    Entry { column, row, value }
}

fn value<T: Scalar>(text: &[u8], at: usize) -> Result<(T, usize), Fault> {
    let from = skip_blanks(text, at);
    if from == at {
        return Err(expected("value", "a blank and a number", text, at));
    }
    number(text, from)
}

/// The next line, when this one is blank or a comment.
fn no_entry(text: &[u8], at: usize) -> Result<usize, Fault> {
    match byte(text, at) {
        b'\n' | b'\r' => end_of_line(text, at),
        b'%' => Ok(line_end(text, at) + 1),
        _ => Err(expected("row index", "a whole number", text, at)),
    }
}

#[cold]
fn outside(what: &'static str, high: u64, text: &[u8], at: usize) -> Fault {
    let end = digits(text, at).1;
    let found = shown(&text[at..end]);
    Fault::new(at, ErrorKind::Range { what, low: 1, high, found })
}

/// Where the line of the entry with that number (from 0) starts.
pub(super) fn line_of_entry(text: &[u8], number: u64) -> usize {
    let (mut at, mut left) = (0, number);
    while at < text.len() {
        let start = skip_blanks(text, at);
        if byte(text, start).is_ascii_digit() {
            if left == 0 {
                return start;
            }
            left -= 1;
        }
        at = line_end(text, at) + 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::*;
    use crate::mtx::line::WINDOW;

    const ROWS: u64 = 4_000_000_000;

    fn header(field: Field) -> Header {
        let symmetry = Symmetry::General;
        Header {
            is_coordinate: true,
            field,
            symmetry,
            rows: ROWS,
            cols: ROWS,
            entries: 9,
            start: 0,
        }
    }

    fn parse(field: Field, text: &str) -> Result<Vec<(u32, u32, u64)>, Fault> {
        let mut entries = Entries::<f64>::default();
        let header = header(field);
        Reader { header: &header, is_transposed: false }.parse(text.as_bytes(), &mut entries)?;
        assert_eq!(entries.stated, entries.list().len() as u64);
        Ok(entries.list().iter().map(|e| (e.row, e.column, e.value.to_bits())).collect())
    }

    /// A number as somebody may write it.
    fn written() -> impl Strategy<Value = String> {
        let bits = any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite());
        let unit = (0_u64..1 << 53).prop_map(|bits| bits as f64 / (1_u64 << 53) as f64 - 0.5);
        let digits = (any::<u64>(), 0_u32..64).prop_map(|(bits, shift)| bits >> shift);
        let point =
            (digits, 0_usize..22, -60_i32..60, 0..6).prop_map(|(digits, at, power, form)| {
                let mut text = digits.to_string();
                text.insert(at.min(text.len()), '.');
                match form {
                    0 => text,
                    1 => format!("-{text}"),
                    2 => format!("{text}e{power}"),
                    3 => format!("-{text}E{power:+03}"),
                    4 => format!("{text}e{power:+}"),
                    _ => text.replace('.', ""),
                }
            });
        prop_oneof![
            bits.clone().prop_map(|x| x.to_string()),
            bits.prop_map(|x| format!("{x:e}")),
            unit.clone().prop_map(|x| format!("{x:E}")),
            unit.clone().prop_map(|x| x.to_string()),
            (unit.clone(), 0_usize..20).prop_map(|(x, places)| format!("{:.places$}", 1e3 * x)),
            unit.prop_map(|x| format!("{x:.16e}").replace('e', "E+0").replace("E+0-", "E-0")),
            point,
        ]
    }

    /// An index of any length.
    fn index() -> impl Strategy<Value = u64> {
        (1..=ROWS, 0_u32..32).prop_map(|(index, shift)| (index >> shift).max(1))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        /// Every line gives the entry that the standard library reads from it, to the bit, whatever
        /// stands behind it, on any of the ways a line can take.
        #[test]
        fn lines_are_what_the_standard_library_reads(
            lines in prop::collection::vec((index(), index(), written(), 0_usize..12), 1..12),
        ) {
            let (mut text, mut pattern, mut wanted) = (String::new(), String::new(), Vec::new());
            for (row, col, value, form) in lines {
                let (blank, end) = [(" ", "\n"), (" ", "\r\n"), ("  ", "\n"), ("\t", " \n")]
                    [form.saturating_sub(8)];
                write!(text, "{row}{blank}{col}{blank}{value}{end}").unwrap();
                write!(pattern, "{row}{blank}{col}{end}").unwrap();
                let value: f64 = value.parse().unwrap();
                #[allow(clippy::cast_possible_truncation)]
                wanted.push(((row - 1) as u32, (col - 1) as u32, value.to_bits()));
            }
            prop_assert_eq!(&parse(Field::Real, &text).unwrap(), &wanted);
            wanted.iter_mut().for_each(|entry| entry.2 = 1_f64.to_bits());
            prop_assert_eq!(&parse(Field::Pattern, &pattern).unwrap(), &wanted);
        }

        /// The same where most values are counts, with text behind them, so that every line can take
        /// the quickest way.
        #[test]
        fn counts_are_what_the_standard_library_reads(
            lines in prop::collection::vec(
                (index(), index(), any::<u32>(), 0_u32..32, 0_usize..40, written()), 1..40),
        ) {
            let (mut text, mut pattern, mut wanted) = (String::new(), String::new(), Vec::new());
            for (row, col, count, shift, form, other) in lines {
                let count = (count >> shift).to_string();
                let (value, end) = match form {
                    0 => (other, "\n"),
                    1 => (format!("-{count}"), "\n"),
                    2 => (format!("{count}.0"), "\n"),
                    3 => (format!("00{count}"), "\n"),
                    4 => (count, " \n"),
                    5 => (count, "\r\n"),
                    _ => (count, "\n"),
                };
                write!(text, "{row} {col} {value}{end}").unwrap();
                write!(pattern, "{row} {col}{end}").unwrap();
                let value: f64 = value.parse().unwrap();
                #[allow(clippy::cast_possible_truncation)]
                wanted.push(((row - 1) as u32, (col - 1) as u32, value.to_bits()));
            }
            let behind = "\n".repeat(WINDOW);
            prop_assert_eq!(&parse(Field::Integer, &format!("{text}{behind}")).unwrap(), &wanted);
            wanted.iter_mut().for_each(|entry| entry.2 = 1_f64.to_bits());
            prop_assert_eq!(&parse(Field::Pattern, &(pattern + &behind)).unwrap(), &wanted);
        }

        /// A byte that is wrong is found wherever it is: with far more text behind it, which is what
        /// the quick way needs, the outcome is the same as without, which it cannot be used on.
        #[test]
        fn bytes_that_are_wrong_are_found_alike(
            value in prop_oneof![written(), (0_u32..3000).prop_map(|count| count.to_string())],
            at in 0_usize..40, byte in prop::sample::select(
                b" \t\r\n.-+eE0123456789x%\x00\xb0".to_vec()),
        ) {
            let mut line = format!("12 345 {value}").into_bytes();
            let at = at % line.len();
            line[at] = byte;
            // Behind another, as the first of a text is always read the slow way.
            line.splice(..0, *b"1 1 1\n");
            let header = header(Field::Real);
            let reader = Reader { header: &header, is_transposed: false };
            let outcome = |behind: &[u8]| {
                let text = [&line[..], b"\n", behind].concat();
                let mut entries = Entries::<f64>::default();
                let fault = reader.parse(&text, &mut entries).err();
                let list = entries.list().iter().map(|e| (e.row, e.column, e.value.to_bits()));
                (list.collect::<Vec<_>>(), fault.map(|fault| (fault.at, fault.kind.to_string())))
            };
            let blank_lines = [b' '; 200].map(|_| b'\n');
            prop_assert_eq!(outcome(b""), outcome(&blank_lines));
        }
    }

    /// Numbers at the ends of what the quick way takes.
    #[test]
    fn long_lines_and_indices_are_read() {
        let rest = "1 1 1\n".repeat(30);
        for (line, wanted) in [
            ("99999999 9999999 1", (99_999_998, 9_999_998, 1.0)),
            ("99999999 99999999 1", (99_999_998, 99_999_998, 1.0)),
            ("999999999 1 1", (999_999_998, 0, 1.0)),
            ("00000001 00000002 003", (0, 1, 3.0)),
            ("0000000001 2 3", (0, 1, 3.0)),
            ("1 2 1234567890123456", (0, 1, 1_234_567_890_123_456.0)),
            ("1 2 12345678901234567890", (0, 1, 12_345_678_901_234_567_890.0)),
            ("1 2 0.1234567890123456789", (0, 1, 0.123_456_789_012_345_68)),
            ("1 2 18446744073709551615e-19", (0, 1, 1.844_674_407_370_955_2)),
            ("1 2 1844.6744073709551615", (0, 1, 1_844.674_407_370_955_2)),
            ("1 2 1844.6744073709551616", (0, 1, 1_844.674_407_370_955_2)),
            ("1 2 .5", (0, 1, 0.5)),
            ("1 2 -.5e1", (0, 1, -5.0)),
            ("1 2 5.", (0, 1, 5.0)),
            ("1 2 -0", (0, 1, -0.0)),
            ("1 2 0E-99", (0, 1, 0.0)),
            ("1 2 1e-54", (0, 1, 1e-54)),
            ("1 2 1e-55", (0, 1, 1e-55)),
            ("1 2 1e+99", (0, 1, 1e99)),
            ("1 2 4.9e-324", (0, 1, 5e-324)),
            (
                "1 2 0000000000000000000000000000000000000000000000000000000000000000007",
                (0, 1, 7.0),
            ),
        ] {
            let (row, col, value) = wanted;
            let found = parse(Field::Real, &format!("{line}\n{rest}")).unwrap();
            assert_eq!(found[0], (row, col, f64::to_bits(value)), "{line}");
            assert_eq!(found.len(), 31, "{line}");
        }
        for line in
            ["0 1 1", "1 0 1", "4000000001 1 1", "1 1 1.5.2", "1 1 1e", "1 1 e5", "1 1 -", "1 1 ."]
        {
            assert!(parse(Field::Real, &format!("{line}\n{rest}")).is_err(), "{line}");
        }
    }

    /// Every exponent of one digit and of two, in every way to write it, behind long numbers and short
    /// ones; and what only looks like one.
    #[test]
    fn exponents_of_every_form_are_read() {
        let rest = "1 1 1.5\n".repeat(30);
        for digits in ["1.2345678901234567", "-7.25", "3", "0.0"] {
            for (mark, sign) in ["E", "e"].iter().flat_map(|m| ["", "-", "+"].map(|s| (m, s))) {
                for size in 0..100 {
                    for size in [format!("{size}"), format!("{size:02}")] {
                        let value = format!("{digits}{mark}{sign}{size}");
                        let wanted = value.parse::<f64>().unwrap().to_bits();
                        for end in ["\n", "\r\n", " \n"] {
                            let text = format!("1 1 1.5\n3 4 {value}{end}{rest}");
                            let found = parse(Field::Real, &text).unwrap();
                            assert_eq!((found[1], found.len()), ((2, 3, wanted), 32), "{value}");
                        }
                    }
                }
            }
        }
        for bad in ["1.5E", "1.5E-", "1.5M1", "1.5E-M", "1.5E1-", "1.5E-:", "1.5e-1x", "1.5E*1"] {
            let text = format!("1 1 1.5\n3 4 {bad}\n{rest}");
            assert!(parse(Field::Real, &text).is_err(), "{bad}");
        }
    }
}
