//! States on disk: one format for every run.
//!
//! ```text
//! favard state 3\n\0      16 bytes: what it is, and the version of the format
//! checksum                 8 bytes: FNV-1a of all that follows, little-endian
//! width                    1 byte:  bytes of a number, 4 or 8
//! kind                     whose state it is
//! state                    postcard
//! ```
//!
//! A file is written under a temporary name beside it, brought to the disk and renamed: whatever
//! happens, there is the old file or the new one, never half a file.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use favard_operator::Scalar;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, ErrorKind, Result};
use crate::memory::foreign;

/// The first bytes of a file, with the version of the format.
const MAGIC: &[u8; 16] = b"favard state 3\n\0";

/// The same without the version.
const NAME: &[u8] = b"favard state ";

/// Writes a state of a run with numbers of type `T`, replacing the file atomically.
///
/// `kind` says whose state it is, for [`Stored::open`].
///
/// # Errors
/// When a file cannot be written.
///
/// # Example
/// ```
/// use favard_engine::store::{Stored, save};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("run.favard");
/// save::<f64>(&path, "my run", &(7_u64, vec![0.1, 0.2]))?;
/// let (tick, values): (u64, Vec<f64>) = Stored::open::<f64>(&path, "my run")?.read()?;
/// assert_eq!((tick, values), (7, vec![0.1, 0.2]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save<T: Scalar>(path: &Path, kind: &str, state: &impl Serialize) -> Result<()> {
    // 4 or 8.
    #[allow(clippy::cast_possible_truncation)]
    let width = size_of::<T>() as u8;
    let body = postcard::to_stdvec(&(width, kind, state))
        .map_err(|problem| corrupt(path, problem.to_string()))?;
    let temporary = temporary(path);
    let write = || {
        let mut file = File::create(&temporary)?;
        file.write_all(MAGIC)?;
        file.write_all(&checksum(&body).to_le_bytes())?;
        file.write_all(&body)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().map_err(|error| {
        // The half-written file is of no use to anyone; the first error is what matters.
        let _ = fs::remove_file(&temporary);
        failed(path, error)
    })
}

/// Gets ready to [`save`] to a file: tries whether its folder can be written to, and removes what
/// runs that were killed in the middle of a save left beside it.
///
/// # Errors
/// When no file can be written there, or when it is a folder.
///
/// # Example
/// ```
/// use favard_engine::store::prepare;
/// # let folder = tempfile::tempdir()?;
/// assert!(prepare(&folder.path().join("run.favard")).is_ok());
/// assert!(prepare(&folder.path().join("missing").join("run.favard")).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn prepare(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(failed(path, io::ErrorKind::IsADirectory.into()));
    }
    let temporary = temporary(path);
    File::create(&temporary)
        .and_then(|_| fs::remove_file(&temporary))
        .map_err(|error| failed(path, error))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).map_err(|e| failed(path, e))?;
    for entry in entries.flatten() {
        if is_left_over(path, &entry.path()) {
            // Another run may have been faster.
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}

/// Whether a file is a temporary one of `path`, of a process that is gone.
fn is_left_over(path: &Path, other: &Path) -> bool {
    let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(str::to_string);
    let (Some(name), Some(other)) = (name(path), name(other)) else {
        return false;
    };
    let middle = other.strip_prefix(&name).and_then(|rest| rest.strip_prefix('.'));
    let Some(process) = middle.and_then(|rest| rest.strip_suffix(".tmp")) else {
        return false;
    };
    let number = !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
    number && !Path::new("/proc").join(process).exists()
}

/// The name under which a file is written.
fn temporary(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

/// A state read from a file and found undamaged, to be decoded part by part.
#[derive(Debug)]
pub struct Stored {
    path: PathBuf,
    bytes: Vec<u8>,
    /// What is decoded.
    done: usize,
}

impl Stored {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when it cannot be read, [`ErrorKind::Corrupt`] when it is no state of a run
    /// or is damaged, [`ErrorKind::Foreign`] when it is of another kind or of other numbers than `T`.
    pub fn open<T: Scalar>(path: &Path, kind: &str) -> Result<Self> {
        let mut bytes = Vec::new();
        let mut read = || File::open(path)?.read_to_end(&mut bytes);
        read().map_err(|error| failed(path, error))?;
        if !bytes.starts_with(MAGIC) {
            let other = bytes.starts_with(NAME) && bytes.len() >= MAGIC.len();
            let problem = if other { "is of another version" } else { "not a favard checkpoint" };
            return Err(corrupt(path, problem));
        }
        let body = MAGIC.len() + 8;
        let (Some(sum), Some(rest)) = (bytes.get(MAGIC.len()..body), bytes.get(body..)) else {
            return Err(corrupt(path, "is cut short"));
        };
        if sum != checksum(rest).to_le_bytes() {
            return Err(corrupt(path, "the checksum does not match: the file is damaged"));
        }
        let mut stored = Self { path: path.to_path_buf(), bytes, done: body };
        // Before anything is parsed with it.
        let width: u8 = stored.read()?;
        if usize::from(width) != size_of::<T>() {
            return Err(foreign("bytes of a number", size_of::<T>(), width));
        }
        let found: String = stored.read()?;
        if found != kind {
            return Err(foreign("kind of run", kind, found));
        }
        Ok(stored)
    }

    /// The next part of the state: a tuple or a structure may be read field by field.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] when the state has other parts.
    pub fn read<S: DeserializeOwned>(&mut self) -> Result<S> {
        let rest = &self.bytes[self.done..];
        let (part, left) = postcard::take_from_bytes(rest)
            .map_err(|error| corrupt(&self.path, error.to_string()))?;
        self.done = self.bytes.len() - left.len();
        Ok(part)
    }

    /// An error that says what is wrong with this file.
    #[must_use]
    pub fn corrupt(&self, problem: impl Into<String>) -> Error {
        corrupt(&self.path, problem)
    }
}

fn corrupt(path: &Path, problem: impl Into<String>) -> Error {
    ErrorKind::Corrupt { path: path.to_path_buf(), problem: problem.into() }.into()
}

fn failed(path: &Path, source: io::Error) -> Error {
    ErrorKind::Io { path: path.to_path_buf(), source }.into()
}

/// FNV-1a with 64 bits: what tells a damaged file, and other data, from the right one.
///
/// # Example
/// ```
/// assert_eq!(favard_engine::store::checksum(b"a"), 0xaf63_dc4c_8601_ec8c);
/// ```
#[must_use]
pub fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().copied().fold(FNV_START, fnv)
}

/// Where a checksum begins.
pub(crate) const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// A checksum and one more byte.
pub(crate) fn fnv(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}
