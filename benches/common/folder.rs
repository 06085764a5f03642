//! Where the benches keep their files.

use std::fs;
use std::path::PathBuf;

use crate::Outcome;

/// `favard-benches/<name>` below cargo's target directory, where the bench itself lies; made when
/// there is none.
///
/// # Errors
/// When the program does not lie in a target directory, or the folder cannot be made.
pub fn folder(name: &str) -> Outcome<PathBuf> {
    let exe = std::env::current_exe()?;
    let target = exe.ancestors().nth(3).ok_or("the bench does not lie in a target directory")?;
    let folder = target.join("favard-benches").join(name);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}
