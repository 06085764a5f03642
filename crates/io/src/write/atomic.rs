//! [`write_atomic`]: a file that is there whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, ErrorKind, Result};

/// Writes a file through a temporary one beside it: written, brought to the disk, renamed.
///
/// Whatever happens (an error of `write`, a full disk, the end of the process), `path` is the old
/// file or the new one, never half of it; after an error the temporary file is gone. A target that
/// is not a regular file, such as a pipe or a terminal, is written to directly.
///
/// # Errors
/// What the system says, with the name of the file; [`ErrorKind::Directory`] when it is a folder.
///
/// # Example
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("note.txt");
/// use std::io::Write;
/// favard_io::write_atomic(&path, |file| writeln!(file, "done"))?;
/// assert_eq!(std::fs::read_to_string(&path)?, "done\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_atomic<V>(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<V>,
) -> Result<V> {
    let path = path.as_ref();
    let fail = |error: io::Error| Error::new(path, error);
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => return Err(Error::new(path, ErrorKind::Directory)),
        Ok(about) if !about.is_file() => {
            let file = OpenOptions::new().write(true).open(path).map_err(fail)?;
            return fill(&file, write).map_err(fail);
        }
        _ => {}
    }
    // The file that a link stands for is replaced, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let (temporary, file) = Temporary::create(&target).map_err(fail)?;
    let value = fill(&file, write).map_err(fail)?;
    file.sync_all().map_err(fail)?;
    drop(file);
    temporary.rename(&target).map_err(fail)?;
    Ok(value)
}

fn fill<V>(file: &File, write: impl FnOnce(&mut dyn Write) -> io::Result<V>) -> io::Result<V> {
    let mut buffered = BufWriter::with_capacity(1 << 18, file);
    let value = write(&mut buffered)?;
    buffered.flush()?;
    Ok(value)
}

/// The temporary files that are being written.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files that [`write_atomic`] is writing now, on whatever thread: for a program that
/// is about to end, at Ctrl-C for instance, and whose files would stay. The targets are as they were; a write
/// that goes on nevertheless ends with an error.
///
/// # Example
/// ```no_run
/// favard_io::discard_unfinished();
/// std::process::exit(130);
/// ```
pub fn discard_unfinished() {
    for path in unfinished().drain(..) {
        // It may just have been renamed.
        let _ = fs::remove_file(path);
    }
}

/// A file that is removed unless it was renamed.
struct Temporary {
    path: Option<PathBuf>,
}

impl Temporary {
    /// A new file in the folder of the target, with its permissions where it exists.
    fn create(target: &Path) -> io::Result<(Self, File)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        loop {
            let mut hidden = OsString::from(".");
            hidden.push(name);
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            hidden.push(format!(".{}.{count}.tmp", std::process::id()));
            let path = target.with_file_name(hidden);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    unfinished().push(path.clone());
                    let temporary = Self { path: Some(path) };
                    if let Ok(old) = fs::metadata(target) {
                        file.set_permissions(old.permissions())?;
                    }
                    return Ok((temporary, file));
                }
                // Left behind by a process with the same number that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn rename(mut self, target: &Path) -> io::Result<()> {
        if let Some(path) = &self.path {
            fs::rename(path, target)?;
            unfinished().retain(|other| other != path);
        }
        self.path = None;
        // The new name has to reach the disk too; not every system can be asked for it.
        if let Some(folder) = target.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // The first error is what matters.
            let _ = fs::remove_file(path);
            unfinished().retain(|other| other != path);
        }
    }
}
