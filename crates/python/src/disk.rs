//! `disk`: what is in a file whose matrix stays there.

use std::io::ErrorKind as Io;
use std::path::PathBuf;

use favard_io::{Error, ErrorKind, OnDisk};
use pyo3::exceptions::{
    PyFileNotFoundError, PyIsADirectoryError, PyOSError, PyPermissionError, PyValueError,
};
use pyo3::prelude::*;

type Names = Option<Vec<String>>;

/// `OSError` for what the system says, else `ValueError`.
fn to_python(error: Error) -> PyErr {
    let text = error.to_string();
    match error.kind() {
        ErrorKind::Io(inner) => match inner.kind() {
            Io::NotFound => PyFileNotFoundError::new_err(text),
            Io::PermissionDenied => PyPermissionError::new_err(text),
            _ => PyOSError::new_err(text),
        },
        ErrorKind::Directory => PyIsADirectoryError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// Shape, entries, and the names of the rows and columns.
#[pyfunction]
pub fn disk(py: Python<'_>, path: PathBuf) -> PyResult<((usize, usize), usize, Names, Names)> {
    let opened = py.detach(|| OnDisk::<f64>::open(path));
    let mut matrix = opened.map_err(to_python)?;
    let (rows, columns) = (matrix.row_names.take(), matrix.column_names.take());
    Ok((matrix.shape(), matrix.entries(), rows, columns))
}
