//! JSON values.

use std::io;
use std::path::Path;

use serde::Serialize;

use super::write_atomic;
use crate::error::Result;

/// Writes any serializable value as JSON, indented, with a newline at the end; see
/// [`write_atomic`]. Numbers read back exactly; those that are not finite become `null`.
///
/// # Errors
/// What the system says, or that the value cannot be JSON.
///
/// # Example
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("fit.json");
/// favard_io::write_json(&path, &serde_json::json!({"k": 10, "certified": true}))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_json(path: impl AsRef<Path>, value: &impl Serialize) -> Result<()> {
    write_atomic(path, |mut to| {
        serde_json::to_writer_pretty(&mut to, value).map_err(io::Error::from)?;
        writeln!(to)
    })
}
