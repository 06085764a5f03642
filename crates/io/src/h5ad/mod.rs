//! AnnData files: HDF5, read by a reader in pure Rust.

mod names;
mod windows;

use favard_operator::{Csr, Scalar};
use hdf5_pure::{
    AttrValue, DType, Dataset, Datatype, DatatypeByteOrder, File, FloatingPointLayout, Group,
};
use ndarray::Array2;

use crate::csr::{Scatter, finish, reserve, together, zeros};
use crate::describe::{Description, Layout};
use crate::error::{Error, ErrorKind, Result};
use crate::input::Source;
use crate::loaded::{Loaded, Matrix};
use crate::npy::Dtype;
use crate::quiet::caught;
use crate::read::{check_columns, check_rows};
use crate::text::precision;

/// IEEE numbers of two bytes.
const HALF: FloatingPointLayout = FloatingPointLayout {
    bit_offset: 0,
    bit_precision: 16,
    exponent_location: 10,
    exponent_size: 5,
    mantissa_location: 0,
    mantissa_size: 10,
    exponent_bias: 15,
};

/// Reads X with the names of its rows (`obs`) and columns (`var`).
pub(crate) fn read<T: Scalar>(source: &Source<'_>) -> Result<Loaded<T>> {
    guarded(source, || {
        let anndata = AnnData::open(source)?;
        let matrix = match anndata.x()? {
            X::Dense(array) => Matrix::Dense(anndata.dense(&array)?),
            X::Sparse(group) => Matrix::Sparse(anndata.sparse(&group)?),
        };
        let (rows, cols) = matrix.shape();
        let row_names = anndata.names("obs", rows)?;
        let column_names = anndata.names("var", cols)?;
        Ok(Loaded { row_names, column_names, ..Loaded::unnamed(matrix) })
    })
}

/// What the headers say.
pub(crate) fn describe(source: &Source<'_>) -> Result<Description> {
    guarded(source, || {
        let anndata = AnnData::open(source)?;
        match anndata.x()? {
            X::Dense(array) => {
                let (rows, cols) = anndata.matrix_shape(&array)?;
                let dtype = anndata.dtype("X", &array)?.to_string();
                let entries = rows.saturating_mul(cols);
                Ok(Description::new(source, (rows, cols), entries, Layout::Dense, dtype))
            }
            X::Sparse(group) => {
                let (_, rows, cols) = anndata.form(&group)?;
                let (data, entries) = anndata.list("data")?;
                let dtype = anndata.dtype("X/data", &data)?.to_string();
                Ok(Description::new(source, (rows, cols), entries, Layout::Sparse, dtype))
            }
        }
    })
}

/// The HDF5 reader is large and not ours: should it panic on a damaged file, that is an error of
/// the file.
pub(crate) fn guarded<V>(source: &Source<'_>, f: impl FnOnce() -> Result<V>) -> Result<V> {
    caught(f).unwrap_or_else(|| {
        let problem = "its structure cannot be read".to_owned();
        Err(source.error(ErrorKind::Damaged { what: "HDF5 file", problem }))
    })
}

pub(crate) struct AnnData<'s> {
    pub source: &'s Source<'s>,
    pub file: File,
}

pub(crate) enum X {
    Dense(Dataset),
    Sparse(Group),
}

impl<'s> AnnData<'s> {
    pub fn open(source: &'s Source<'s>) -> Result<Self> {
        let file = match source.in_memory() {
            Some(bytes) => File::from_bytes(bytes.to_vec()),
            None => File::open_streaming(source.path()),
        };
        let file = file.map_err(|error| damaged(source, "", error))?;
        Ok(Self { source, file })
    }

    fn fail(&self, part: &str, error: hdf5_pure::Error) -> Error {
        damaged(self.source, part, error)
    }

    fn wrong(&self, part: &str, kind: ErrorKind) -> Error {
        Error::new(self.source.path().join(part), kind)
    }

    pub fn x(&self) -> Result<X> {
        match self.file.dataset("X") {
            Ok(array) => Ok(X::Dense(array)),
            Err(_) => Ok(X::Sparse(self.file.group("X").map_err(|error| self.fail("X", error))?)),
        }
    }

    /// Rows and columns of a dense X.
    fn matrix_shape(&self, array: &Dataset) -> Result<(u64, u64)> {
        let shape = array.shape().map_err(|error| self.fail("X", error))?;
        match shape[..] {
            [rows, cols] => Ok((rows, cols)),
            [rows] => Ok((rows, 1)),
            _ => {
                let (what, found) = ("dimensions of X", shape.len().to_string());
                Err(self.wrong("X", ErrorKind::Range { what, low: 1, high: 2, found }))
            }
        }
    }

    /// Whether the array is stored by rows of a group with `csr_matrix`, and the shape.
    pub fn form(&self, group: &Group) -> Result<(bool, u64, u64)> {
        let attributes = group.attrs().map_err(|error| self.fail("X", error))?;
        let word = ["encoding-type", "h5sparse_format"]
            .iter()
            .find_map(|name| attributes.get(*name).and_then(word))
            .unwrap_or_default();
        let is_csr = match &*word {
            "csr_matrix" | "csr" => true,
            "csc_matrix" | "csc" => false,
            _ => {
                let (what, expected) = ("encoding-type of X", "csr_matrix or csc_matrix");
                let found = crate::error::shown(word.as_bytes());
                return Err(self.wrong("X", ErrorKind::Expected { what, expected, found }));
            }
        };
        let shape = ["shape", "h5sparse_shape"]
            .iter()
            .find_map(|name| attributes.get(*name).and_then(sizes))
            .unwrap_or_default();
        match shape[..] {
            [rows, cols] if rows <= 1 << 32 && cols <= 1 << 32 => Ok((is_csr, rows, cols)),
            _ => {
                let (what, expected, found) = ("shape of X", "two sizes", format!("{shape:?}"));
                Err(self.wrong("X", ErrorKind::Expected { what, expected, found }))
            }
        }
    }

    fn dtype(&self, part: &str, array: &Dataset) -> Result<DType> {
        array.dtype().map_err(|error| self.fail(part, error))
    }

    /// `Ok` when the array, and each of its chunks, is no larger than the file may become.
    fn check_size(&self, part: &str, array: &Dataset) -> Result<()> {
        let fail = |error| self.fail(part, error);
        let limit = self.source.limits().expanded(self.source.len());
        let width = array.element_size().map_err(fail)?;
        let chunk = array.chunk_shape().map_err(fail)?.unwrap_or_default();
        for shape in [array.shape().map_err(fail)?, chunk] {
            let found = shape.iter().fold(width, |product, &size| product.saturating_mul(size));
            if found > limit {
                let (what, field) = ("bytes of an array", "expansion");
                return Err(self.wrong(part, ErrorKind::Limit { what, found, limit, field }));
            }
        }
        Ok(())
    }

    /// A list of the group X and how long it is.
    pub fn list(&self, name: &str) -> Result<(Dataset, u64)> {
        let part = format!("X/{name}");
        let array = self.file.dataset(&part).map_err(|error| self.fail(&part, error))?;
        self.check_size(&part, &array)?;
        let shape = array.shape().map_err(|error| self.fail(&part, error))?;
        if let [length] = shape[..] {
            return Ok((array, length));
        }
        let (what, found) = ("dimensions of a list", shape.len().to_string());
        Err(self.wrong(&part, ErrorKind::Unsupported { what, found }))
    }

    /// Appends numbers from some rows of an array.
    fn numbers<T: Scalar>(
        &self,
        part: &str,
        array: &Dataset,
        (first, count): (u64, u64),
        to: &mut Vec<T>,
    ) -> Result<()> {
        let numbers = array.read_f64_rows(first, count).map_err(|error| self.fail(part, error))?;
        if numbers.is_empty() && count > 0 {
            return self.halves(part, array, (first, count), to);
        }
        reserve("values", to, numbers.len()).map_err(|kind| self.wrong(part, kind))?;
        to.extend(numbers.iter().map(|&value| T::of(value)));
        let from = to.len() - numbers.len();
        match to[from..].iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(at) => {
                let (found, precision) = (numbers[at].to_string(), precision::<T>());
                let what = "value";
                Err(self.wrong(part, ErrorKind::NonFinite { what, found, precision }))
            }
        }
    }

    /// The same of an array of half precision, which the HDF5 reader leaves as bytes. Of other numbers
    /// that it does not know, it reads none without saying so.
    fn halves<T: Scalar>(
        &self,
        part: &str,
        array: &Dataset,
        (first, count): (u64, u64),
        to: &mut Vec<T>,
    ) -> Result<()> {
        let fail = |error| self.fail(part, error);
        let dtype = match array.datatype().map_err(fail)? {
            Datatype::FloatingPoint { byte_order, layout, .. } if layout == HALF => {
                Dtype::half(byte_order == DatatypeByteOrder::BigEndian)
            }
            _ => {
                let found = self.dtype(part, array)?.to_string();
                return Err(self.wrong(part, ErrorKind::Unsupported { what: "dtype", found }));
            }
        };
        let bytes = array.read_raw_rows(first, count).map_err(fail)?;
        reserve("values", to, bytes.len() / 2).map_err(|kind| self.wrong(part, kind))?;
        dtype.numbers(&bytes, to).map_err(|(_, found)| {
            let (what, precision) = ("value", precision::<T>());
            let found = found.to_string();
            self.wrong(part, ErrorKind::NonFinite { what, found, precision })
        })
    }

    /// Appends whole numbers from a list, each at most `high`.
    fn indices<I: TryFrom<i64>>(
        &self,
        name: &str,
        array: &Dataset,
        (first, count): (u64, u64),
        (what, high): (&'static str, u64),
        to: &mut Vec<I>,
    ) -> Result<()> {
        let part = format!("X/{name}");
        let dtype = self.dtype(&part, array)?;
        if matches!(dtype, DType::F32 | DType::F64) {
            let (expected, found) = ("whole numbers", dtype.to_string());
            return Err(self.wrong(&part, ErrorKind::Expected { what, expected, found }));
        }
        let numbers = array.read_i64_rows(first, count).map_err(|error| self.fail(&part, error))?;
        reserve(what, to, numbers.len()).map_err(|kind| self.wrong(&part, kind))?;
        for number in numbers {
            let index = u64::try_from(number).ok().filter(|&index| index <= high);
            let (Some(_), Ok(index)) = (index, I::try_from(number)) else {
                let found = number.to_string();
                return Err(self.wrong(&part, ErrorKind::Range { what, low: 0, high, found }));
            };
            to.push(index);
        }
        Ok(())
    }

    fn dense<T: Scalar>(&self, array: &Dataset) -> Result<Array2<T>> {
        self.check_size("X", array)?;
        let (rows, cols) = self.matrix_shape(array)?;
        let mut values = Vec::new();
        if cols > 0 {
            for windows in self.parts("X", array, 0..rows, cols)? {
                self.numbers_of("X", array, &windows, &mut values)?;
            }
        }
        values.shrink_to_fit();
        let size = |size| usize::try_from(size).unwrap_or(usize::MAX);
        Array2::from_shape_vec((size(rows), size(cols)), values).map_err(|_| {
            let found = format!("{rows} × {cols}");
            self.wrong("X", ErrorKind::Unsupported { what: "shape", found })
        })
    }

    fn sparse<T: Scalar>(&self, group: &Group) -> Result<Csr<'static, T>> {
        let (is_csr, rows, cols) = self.form(group)?;
        let ((indices, entries), (data, values)) = (self.list("indices")?, self.list("data")?);
        self.check_count("data", "values", entries, values)?;
        let starts = self.pointers(if is_csr { rows } else { cols }, entries)?;
        let fail = |kind| self.source.error(kind);
        // The lines that have no pointers cost the file nothing.
        let limits = self.source.limits();
        let minor = if is_csr {
            check_columns(limits, cols, entries)
        } else {
            check_rows(limits, rows, entries)
        };
        minor.map_err(fail)?;
        // Sizes are at most 2^32 here.
        let [rows, cols] = [rows, cols].map(|size| usize::try_from(size).unwrap_or(usize::MAX));
        let minor = if is_csr { ("column index", cols) } else { ("row index", rows) };
        let bound = (minor.0, (minor.1 as u64).saturating_sub(1));
        let parts = self.parts("X/indices", &indices, 0..entries, 1)?;
        if is_csr {
            let (mut columns, mut values) = (Vec::<u32>::new(), Vec::<T>::new());
            for windows in parts {
                let lists = (&mut columns, &mut values);
                self.entries_of((&indices, &data), &windows, bound, lists)?;
            }
            columns.shrink_to_fit();
            values.shrink_to_fit();
            return finish(cols, starts, columns, values).map_err(fail);
        }
        // By columns: the entries of each row are counted, then put in their places.
        let mut counts = zeros("row pointers", 0_usize, rows + 1).map_err(fail)?;
        let mut part_rows = Vec::<u32>::new();
        for windows in &parts {
            part_rows.clear();
            self.indices_of("indices", &indices, windows, bound, &mut part_rows)?;
            part_rows.iter().for_each(|&row| counts[row as usize + 1] += 1);
        }
        let mut scatter = Scatter::new(counts).map_err(fail)?;
        let (mut part_values, mut part_columns) = (Vec::<T>::new(), Vec::<u32>::new());
        let (mut column, mut first) = (0_u32, 0);
        for windows in parts {
            part_rows.clear();
            part_values.clear();
            part_columns.clear();
            let lists = (&mut part_rows, &mut part_values);
            self.entries_of((&indices, &data), &windows, bound, lists)?;
            for position in first..first + part_rows.len() {
                let is_past = |end: &usize| *end <= position;
                while starts.get(column as usize + 1).is_some_and(is_past) {
                    column += 1;
                }
                part_columns.push(column);
            }
            first += part_rows.len();
            scatter.place(together(&part_rows, &part_columns, &part_values));
        }
        scatter.finish(cols).map_err(fail)
    }

    /// `indptr`: where each of `lines` rows or columns starts, from 0 up to the number of entries.
    pub fn pointers(&self, lines: u64, entries: u64) -> Result<Vec<usize>> {
        let (array, length) = self.list("indptr")?;
        self.check_count("indptr", "pointers", lines.saturating_add(1), length)?;
        let mut pointers = Vec::<usize>::new();
        for windows in self.parts("X/indptr", &array, 0..length, 1)? {
            let bound = ("pointer", entries);
            self.indices_of("indptr", &array, &windows, bound, &mut pointers)?;
        }
        let (first, last) = (pointers.first().copied(), pointers.last().copied());
        self.check_count("indptr", "first pointer", 0, first.unwrap_or(0) as u64)?;
        self.check_count("indptr", "last pointer", entries, last.unwrap_or(0) as u64)?;
        if let Some(at) = pointers.windows(2).position(|pair| pair[0] > pair[1]) {
            let (low, found) = (pointers[at] as u64, pointers[at + 1].to_string());
            let kind = ErrorKind::Range { what: "pointer", low, high: entries, found };
            return Err(self.wrong("X/indptr", kind));
        }
        Ok(pointers)
    }

    pub fn check_count(
        &self,
        name: &str,
        what: &'static str,
        expected: u64,
        found: u64,
    ) -> Result<()> {
        if expected == found {
            return Ok(());
        }
        Err(self.wrong(&format!("X/{name}"), ErrorKind::Count { what, expected, found }))
    }
}

fn word(value: &AttrValue) -> Option<String> {
    match value {
        AttrValue::String(word)
        | AttrValue::AsciiString(word)
        | AttrValue::VarLenString(word)
        | AttrValue::VarLenAsciiString(word) => Some(word.clone()),
        AttrValue::StringSized { value, .. } | AttrValue::AsciiStringSized { value, .. } => {
            Some(value.clone())
        }
        AttrValue::StringArray(words)
        | AttrValue::AsciiStringArray(words)
        | AttrValue::VarLenStringArray(words)
        | AttrValue::VarLenAsciiStringArray(words)
        | AttrValue::VarLenAsciiCharArray(words) => {
            words.first().filter(|_| words.len() == 1).cloned()
        }
        _ => None,
    }
}

fn sizes(value: &AttrValue) -> Option<Vec<u64>> {
    match value {
        AttrValue::I64Array(list) => list.iter().map(|&size| u64::try_from(size).ok()).collect(),
        AttrValue::I32Array(list) => list.iter().map(|&size| u64::try_from(size).ok()).collect(),
        AttrValue::U64Array(list) => Some(list.clone()),
        AttrValue::U32Array(list) => Some(list.iter().map(|&size| u64::from(size)).collect()),
        _ => None,
    }
}

fn damaged(source: &Source<'_>, part: &str, error: hdf5_pure::Error) -> Error {
    let path = if part.is_empty() { source.path().to_path_buf() } else { source.path().join(part) };
    match error {
        hdf5_pure::Error::Io(error) => Error::new(path, error),
        error => {
            let problem = error.to_string();
            Error::new(path, ErrorKind::Damaged { what: "HDF5 file", problem })
        }
    }
}
