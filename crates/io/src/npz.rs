//! SciPy's sparse matrices: a zip archive of NumPy arrays.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use favard_operator::{Csr, Scalar};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use crate::csr::{Scatter, finish, together, zeros};
use crate::describe::{Description, Layout};
use crate::error::{Error, ErrorKind, Position, Result};
use crate::input::{Cursor, Source};
use crate::loaded::{Loaded, Matrix};
use crate::npy::{Header, Problem, Stream, matrix_shape, read_array};
use crate::read::{check_columns, check_rows};

/// The arrays of an archive.
pub(crate) struct Archive<'s> {
    source: &'s Source<'s>,
    zip: ZipArchive<Cursor<'s, 's>>,
}

/// How the entries are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stored {
    Csr,
    Csc,
    Coo,
}

/// Reads a sparse matrix, or the only array of the archive.
pub(crate) fn read<T: Scalar>(source: &Source<'_>) -> Result<Loaded<T>> {
    let archive = Archive::open(source)?;
    if let Some(name) = archive.only_array() {
        let array = archive.with(&name, |stream, most| read_array(stream, most))?;
        return Ok(Loaded::unnamed(Matrix::Dense(array)));
    }
    let (stored, rows, cols) = archive.form()?;
    let csr = match stored {
        Stored::Csr => archive.csr(rows, cols)?,
        Stored::Csc | Stored::Coo => archive.scattered(stored, rows, cols)?,
    };
    Ok(Loaded::unnamed(Matrix::Sparse(csr)))
}

/// What the headers of the arrays say.
pub(crate) fn describe(source: &Source<'_>) -> Result<Description> {
    let archive = Archive::open(source)?;
    if let Some(name) = archive.only_array() {
        return archive.with(&name, |stream, _| {
            let (rows, cols) = matrix_shape(stream.header())?;
            let (entries, descr) = (rows.saturating_mul(cols), stream.header().descr.clone());
            Ok(Description::new(source, (rows, cols), entries, Layout::Dense, descr))
        });
    }
    let (_, rows, cols) = archive.form()?;
    archive.with("data", |stream, _| {
        let (shape, descr) = ((rows as u64, cols as u64), stream.header().descr.clone());
        Ok(Description::new(source, shape, stream.count(), Layout::Sparse, descr))
    })
}

impl<'s> Archive<'s> {
    pub fn open(source: &'s Source<'s>) -> Result<Self> {
        let zip = ZipArchive::new(source.cursor()).map_err(|error| zip_error(source, error))?;
        Ok(Self { source, zip })
    }

    /// The name of the only array, if there is no other.
    fn only_array(&self) -> Option<String> {
        let mut names = self.zip.file_names();
        let name = names.next()?.ok().filter(|_| names.next().is_none())?;
        Some(name.strip_suffix(".npy").unwrap_or(&name).to_owned())
    }

    /// Runs `f` on an array and the most bytes it may have.
    fn with<V>(
        &self,
        name: &str,
        f: impl FnOnce(Stream<Member<'_>>, u64) -> Result<V, Problem>,
    ) -> Result<V> {
        let mut zip = self.zip.clone();
        let stream = self.stream(&mut zip, name)?;
        let most = self.most();
        f(stream, most).map_err(|problem| self.error(name, problem))
    }

    /// The most bytes that an array may have.
    fn most(&self) -> u64 {
        self.source.limits().expanded(self.source.len())
    }

    fn stream<'z>(
        &self,
        zip: &'z mut ZipArchive<Cursor<'s, 's>>,
        name: &str,
    ) -> Result<Stream<Member<'z>>> {
        let member = zip.by_name(&format!("{name}.npy")).map_err(|error| match error {
            ZipError::FileNotFound => {
                let (what, expected) = ("arrays of the archive", "a SciPy sparse matrix");
                let found = format!("no {name}.npy");
                Error::new(self.source.path(), ErrorKind::Expected { what, expected, found })
            }
            error => zip_error(self.source, error),
        })?;
        // The directory may lie about the size, but not about there being a limit.
        let most = member.size().min(self.most());
        let member: Member<'z> = Box::new(member.take(self.most()));
        Stream::new(member, most).map_err(|problem| self.error(name, problem))
    }

    fn error(&self, name: &str, problem: Problem) -> Error {
        array_error(self.source, name, problem)
    }

    /// The shape of a matrix that is stored by rows.
    pub fn by_rows(&self) -> Result<(usize, usize)> {
        let (stored, rows, cols) = self.form()?;
        if stored != Stored::Csr {
            let (what, found) = ("format of a matrix on disk", format!("{stored:?}"));
            return Err(self.source.error(ErrorKind::Unsupported { what, found }));
        }
        Ok((rows, cols))
    }

    /// Where an array of so many numbers is in the file.
    pub fn place(&self, name: &'static str, count: usize) -> Result<Place> {
        let mut zip = self.zip.clone();
        let header = {
            let stream = self.stream(&mut zip, name)?;
            let counted = check_count("numbers of the array", count, stream.count());
            counted.map_err(|kind| self.error(name, kind.into()))?;
            stream.header().clone()
        };
        let member =
            zip.by_name(&format!("{name}.npy")).map_err(|error| zip_error(self.source, error))?;
        if member.compression() != CompressionMethod::Stored {
            let what = "packing of a matrix on disk (scipy.sparse.save_npz: compressed=False)";
            let found = member.compression().to_string();
            return Err(self.error(name, ErrorKind::Unsupported { what, found }.into()));
        }
        let start = member.data_start().ok_or_else(|| {
            let (what, problem) = ("zip archive", format!("{name}.npy has no place"));
            self.source.error(ErrorKind::Damaged { what, problem })
        })?;
        Ok(Place { name, header, start })
    }

    /// How the matrix is stored, and its shape.
    fn form(&self) -> Result<(Stored, usize, usize)> {
        let word = self.with("format", |stream, _| stream.word())?;
        let stored = match &*word {
            "csr" => Stored::Csr,
            "csc" => Stored::Csc,
            "coo" => Stored::Coo,
            _ => {
                let (what, found) = ("sparse format", crate::error::shown(word.as_bytes()));
                return Err(self.source.error(ErrorKind::Unsupported { what, found }));
            }
        };
        let shape = self.with("shape", |mut stream, _| {
            let mut shape = Vec::<usize>::new();
            if stream.count() == 2 {
                while stream.indices("shape", 1 << 32, &mut shape)? {}
            }
            Ok(shape)
        })?;
        let [rows, cols] = shape[..] else {
            let (what, found) = ("dimensions of the matrix", "not 2".to_owned());
            return Err(self.source.error(ErrorKind::Unsupported { what, found }));
        };
        Ok((stored, rows, cols))
    }

    /// A matrix stored by rows: the arrays are its lists.
    fn csr<T: Scalar>(&self, rows: usize, cols: usize) -> Result<Csr<'static, T>> {
        let pointers = self.pointers(rows)?;
        let entries = pointers.last().copied().unwrap_or(0);
        check_columns(self.source.limits(), cols as u64, entries as u64)
            .map_err(|kind| self.source.error(kind))?;
        let columns = self.with("indices", |mut stream, _| {
            check_count("column indices", entries, stream.count())?;
            let mut columns = Vec::<u32>::new();
            while stream.indices("column index", last(cols), &mut columns)? {}
            columns.shrink_to_fit();
            Ok(columns)
        })?;
        let values = self.with("data", |mut stream, _| {
            check_count("values", entries, stream.count())?;
            let mut values = Vec::<T>::new();
            while stream.numbers(&mut values)? {}
            values.shrink_to_fit();
            Ok(values)
        })?;
        finish(cols, pointers, columns, values).map_err(|kind| self.source.error(kind))
    }

    /// `indptr`: `lines + 1` numbers that rise from 0.
    pub fn pointers(&self, lines: usize) -> Result<Vec<usize>> {
        self.with("indptr", |mut stream, _| {
            check_count("row pointers", lines.saturating_add(1), stream.count())?;
            let mut pointers = Vec::<usize>::new();
            while stream.indices("row pointer", u64::MAX >> 1, &mut pointers)? {}
            let first = pointers.first().copied().unwrap_or(0);
            if let Some(at) = pointers.windows(2).position(|pair| pair[0] > pair[1]) {
                let (low, high) = (pointers[at] as u64, u64::MAX >> 1);
                let found = pointers[at + 1].to_string();
                return Err(ErrorKind::Range { what: "row pointer", low, high, found }.into());
            }
            check_count("first row pointer", 0, first as u64)?;
            Ok(pointers)
        })
    }

    /// A matrix in another order: its entries are counted, then put in their places.
    fn scattered<T: Scalar>(
        &self,
        stored: Stored,
        rows: usize,
        cols: usize,
    ) -> Result<Csr<'static, T>> {
        let fail = |kind| self.source.error(kind);
        let row_name = if stored == Stored::Csc { "indices" } else { "row" };
        let starts = if stored == Stored::Csc { self.pointers(cols)? } else { Vec::new() };
        let entries = self.with(row_name, |stream, _| Ok(stream.count()))?;
        self.with("data", |stream, _| Ok(check_count("values", stream.count(), entries)?))?;
        if let Some(&end) = starts.last() {
            check_count("row indices", end, entries).map_err(fail)?;
        }
        check_rows(self.source.limits(), rows as u64, entries).map_err(fail)?;
        if stored == Stored::Coo {
            check_columns(self.source.limits(), cols as u64, entries).map_err(fail)?;
        }
        let mut counts = zeros("row pointers", 0_usize, rows + 1).map_err(fail)?;
        self.with(row_name, |mut stream, _| {
            let mut part = Vec::<u32>::new();
            while stream.indices("row index", last(rows), &mut part)? {
                part.drain(..).for_each(|row| counts[row as usize + 1] += 1);
            }
            Ok(())
        })?;
        let mut scatter = Scatter::new(counts).map_err(fail)?;
        // Three readers side by side, each with a place of its own in the file.
        let [mut zip_rows, mut zip_cols, mut zip_values] = [(); 3].map(|()| self.zip.clone());
        let mut from_rows = self.stream(&mut zip_rows, row_name)?;
        let mut from_values = self.stream(&mut zip_values, "data")?;
        let mut columns = match stored {
            Stored::Coo => Columns::Listed(self.stream(&mut zip_cols, "col")?),
            _ => Columns::Starts { starts: &starts, column: 0, position: 0 },
        };
        let (mut part_rows, mut part_cols, mut part_values) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            part_rows.clear();
            part_cols.clear();
            part_values.clear();
            let is_part = from_rows
                .indices("row index", last(rows), &mut part_rows)
                .map_err(|problem| self.error(row_name, problem))?;
            // At the end too: only there are the checksums looked at.
            columns
                .next(part_rows.len(), cols, &mut part_cols)
                .map_err(|problem| self.error("col", problem))?;
            from_values
                .numbers::<T>(&mut part_values)
                .map_err(|problem| self.error("data", problem))?;
            if !is_part {
                break;
            }
            scatter.place(together(&part_rows, &part_cols, &part_values));
        }
        scatter.finish(cols).map_err(fail)
    }
}

/// An array that can be read from any of its numbers on.
pub(crate) struct Place {
    name: &'static str,
    header: Header,
    /// Where its header starts in the file.
    start: u64,
}

impl Place {
    /// Runs `f` on a stream of some of the numbers.
    pub fn read<V>(
        &self,
        source: &Source<'_>,
        range: Range<usize>,
        f: impl FnOnce(Stream<Cursor<'_, '_>>) -> Result<V, Problem>,
    ) -> Result<V> {
        let mut cursor = source.cursor();
        let skipped = range.start as u64 * self.header.dtype.width as u64;
        let at = self.start + self.header.bytes + skipped;
        cursor.seek(SeekFrom::Start(at)).map_err(|error| source.error(error))?;
        f(Stream::between(cursor, self.header.clone(), range))
            .map_err(|problem| array_error(source, self.name, problem))
    }
}

fn array_error(source: &Source<'_>, name: &str, problem: Problem) -> Error {
    let path = source.path().join(format!("{name}.npy"));
    match problem {
        Problem { kind: ErrorKind::Io(error), .. } => {
            let problem = error.to_string();
            Error::new(path, ErrorKind::Damaged { what: "zip archive", problem })
        }
        Problem { at: Some(byte), kind } => Error::at(path, Position::Byte(byte), kind),
        Problem { at: None, kind } => Error::new(path, kind),
    }
}

/// Where the columns of the entries come from.
enum Columns<'a, R> {
    Listed(Stream<R>),
    /// Column j has the entries from `starts[j]` on.
    Starts {
        starts: &'a [usize],
        column: u32,
        position: usize,
    },
}

impl<R: Read> Columns<'_, R> {
    /// The columns of the next entries.
    fn next(&mut self, count: usize, cols: usize, to: &mut Vec<u32>) -> Result<(), Problem> {
        match self {
            Self::Listed(stream) => {
                stream.indices("column index", last(cols), to)?;
                check_count("column indices", count, to.len() as u64)?;
            }
            Self::Starts { starts, column, position } => {
                for _ in 0..count {
                    while starts.get(*column as usize + 1).is_some_and(|end| end <= position) {
                        *column += 1;
                    }
                    to.push(*column);
                    *position += 1;
                }
            }
        }
        Ok(())
    }
}

type Member<'z> = Box<dyn Read + 'z>;

/// The largest index of so many.
pub(crate) fn last(count: usize) -> u64 {
    (count as u64).saturating_sub(1)
}

fn check_count(
    what: &'static str,
    expected: impl TryInto<u64>,
    found: u64,
) -> Result<(), ErrorKind> {
    let expected = expected.try_into().unwrap_or(u64::MAX);
    if expected == found { Ok(()) } else { Err(ErrorKind::Count { what, expected, found }) }
}

fn zip_error(source: &Source<'_>, error: ZipError) -> Error {
    match error {
        ZipError::Io(error) if error.kind() != io::ErrorKind::UnexpectedEof => source.error(error),
        error => {
            let problem = error.to_string();
            source.error(ErrorKind::Damaged { what: "zip archive", problem })
        }
    }
}
