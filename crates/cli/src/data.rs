//! [`Data`]: a matrix with its names.

use std::path::Path;

use favard_io::{Matrix, OnDisk};
use favard_operator::{ColumnMoments, Csr, Dense, RowOperator};

use crate::args::DataArgs;
use crate::error::{Error, Result};
use crate::{example, memory, shown};

/// What the models need of a matrix.
pub trait Rows: RowOperator<f64> + ColumnMoments<f64> {}

impl<A: RowOperator<f64> + ColumnMoments<f64>> Rows for A {}

/// A matrix in memory, sparse or dense as its file is, or in its file.
pub struct Data {
    /// The file, or what the example is.
    pub name: String,
    matrix: Stored,
    /// Names of the rows, if there are any.
    pub row_names: Option<Vec<String>>,
    /// Names of the columns, if there are any.
    pub column_names: Option<Vec<String>>,
}

enum Stored {
    Sparse(Csr<'static, f64>),
    Dense(Dense<'static, f64>),
    OnDisk(OnDisk<f64>),
}

impl Data {
    /// Reads a file, or makes the example where there is none.
    pub fn load(path: Option<&Path>, args: &DataArgs) -> Result<Self> {
        let Some(path) = path else {
            if args.on_disk {
                return Err(Error::argument("--on-disk", "the example is in no file"));
            }
            let (matrix, documents, words) = example::topics().map_err(Error::of("example"))?;
            return Ok(Self {
                name: "built-in example (topics in documents)".to_string(),
                matrix: Stored::Sparse(matrix),
                row_names: Some(documents),
                column_names: Some(words),
            });
        };
        let name = path.display().to_string();
        if args.on_disk {
            let mut matrix = OnDisk::open_with(path, &args.read.options())?;
            memory::check(&name, "parts of the matrix", matrix.memory() as u64)?;
            let (row_names, column_names) = (matrix.row_names.take(), matrix.column_names.take());
            return Ok(Self { name, matrix: Stored::OnDisk(matrix), row_names, column_names });
        }
        let loaded = favard_io::read_with::<f64>(path, &args.read.options())?;
        let matrix = match loaded.matrix {
            Matrix::Sparse(csr) => Stored::Sparse(csr),
            Matrix::Dense(array) => Stored::Dense(Dense::new(array).map_err(Error::of(&name))?),
        };
        let (row_names, column_names) = (loaded.row_names, loaded.column_names);
        Ok(Self { name, matrix, row_names, column_names })
    }

    /// The matrix as an operator.
    pub fn rows(&self) -> &dyn Rows {
        match &self.matrix {
            Stored::Sparse(csr) => csr,
            Stored::Dense(dense) => dense,
            Stored::OnDisk(file) => file,
        }
    }

    /// (rows, columns).
    pub fn shape(&self) -> (usize, usize) {
        match &self.matrix {
            Stored::Sparse(csr) => csr.shape(),
            Stored::Dense(dense) => dense.view().dim(),
            Stored::OnDisk(file) => file.shape(),
        }
    }

    /// Stored entries.
    pub fn entries(&self) -> usize {
        match &self.matrix {
            Stored::Sparse(csr) => csr.entries(),
            Stored::Dense(dense) => dense.view().len(),
            Stored::OnDisk(file) => file.entries(),
        }
    }

    /// The name of a column, or its number from 1.
    pub fn column(&self, index: usize) -> String {
        label(self.column_names.as_deref(), "column", index)
    }

    /// The name of a row, or its number from 1.
    pub fn row(&self, index: usize) -> String {
        label(self.row_names.as_deref(), "row", index)
    }

    /// One line about it.
    pub fn about(&self) -> String {
        let ((rows, cols), entries) = (self.shape(), self.entries());
        let kind = match &self.matrix {
            Stored::Sparse(_) => format!("sparse, {entries} entries"),
            Stored::Dense(_) => "dense".to_string(),
            Stored::OnDisk(_) => format!("sparse, {entries} entries, on disk"),
        };
        format!("{}: {rows} × {cols}, {kind}", shown::one_line(&self.name))
    }
}

fn label(names: Option<&[String]>, kind: &str, index: usize) -> String {
    match names.and_then(|names| names.get(index)) {
        Some(name) => name.clone(),
        None => format!("{kind} {}", index + 1),
    }
}
