//! [`Format`]: which kind of file it is.

use std::path::Path;

use serde::Serialize;

use crate::error::{ErrorKind, Result};
use crate::input::{Head, Source};
use crate::mtx::BANNER;

/// A format that can be read. All but the folder and `.h5ad` may also be packed with gzip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Matrix Market: `.mtx`; coordinate and array, real, integer and pattern, general, symmetric
    /// and skew-symmetric.
    MatrixMarket,
    /// A NumPy array of one or two dimensions: `.npy`.
    Npy,
    /// A SciPy sparse matrix (CSR, CSC or COO), or a single NumPy array: `.npz`.
    Npz,
    /// A table of numbers: `.csv`, `.tsv`, `.tab`, `.txt`.
    Csv,
    /// Labels and sparse rows: `.libsvm`, `.svm`, `.svmlight`.
    Libsvm,
    /// The folder of a 10x Genomics matrix.
    TenX,
    /// AnnData: `.h5ad`. Needs the feature `h5ad`.
    H5ad,
}

impl Format {
    /// The format that a name ends in, `.gz` left aside.
    ///
    /// # Example
    /// ```
    /// use favard_io::Format;
    /// assert_eq!(Format::of_name("counts.MTX.gz".as_ref()), Some(Format::MatrixMarket));
    /// assert_eq!(Format::of_name("notes".as_ref()), None);
    /// ```
    #[must_use]
    pub fn of_name(path: &Path) -> Option<Self> {
        match &*extension(path) {
            "mtx" => Some(Self::MatrixMarket),
            "npy" => Some(Self::Npy),
            "npz" => Some(Self::Npz),
            "csv" | "tsv" | "tab" | "txt" => Some(Self::Csv),
            "libsvm" | "svm" | "svmlight" => Some(Self::Libsvm),
            "h5ad" => Some(Self::H5ad),
            _ => None,
        }
    }

    /// The format of a file: what its first bytes say, else what its name says.
    pub(crate) fn detect(source: &Source<'_>) -> Result<Self> {
        let start = source.start(8)?;
        if start.starts_with(b"\x93NUMPY") {
            return Ok(Self::Npy);
        }
        if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
            return Ok(Self::Npz);
        }
        if start == b"\x89HDF\r\n\x1a\n" {
            return Ok(Self::H5ad);
        }
        let named = Self::of_name(source.path());
        if let Some(format) = named.filter(|&format| format != Self::Csv) {
            return Ok(format);
        }
        let mut head = Head::new(source);
        head.advance()?;
        let is_banner =
            head.line().get(..BANNER.len()).is_some_and(|start| start.eq_ignore_ascii_case(BANNER));
        if is_banner {
            return Ok(Self::MatrixMarket);
        }
        if head.line().starts_with(b"\x93NUMPY") {
            return Ok(Self::Npy);
        }
        named.ok_or_else(|| source.error(ErrorKind::UnknownFormat))
    }
}

/// The extension in lower case, `.gz` left aside.
pub(crate) fn extension(path: &Path) -> String {
    let lower =
        |path: &Path| path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match lower(path) {
        outer if outer == "gz" => lower(Path::new(path.file_stem().unwrap_or_default())),
        outer => outer,
    }
}
