//! `favard info`: what is in a file.

use favard_io::Description;
use serde::Serialize;

use crate::Outcome;
use crate::args::InfoArgs;
use crate::error::Result;
use crate::shown;

/// What `--json` prints.
#[derive(Serialize)]
struct About<'a> {
    #[serde(flatten)]
    description: &'a Description,
    memory_bytes: u64,
}

pub fn run(args: &InfoArgs) -> Result<Outcome> {
    let found = favard_io::describe_with(&args.file, &args.read.options())?;
    let memory_bytes = found.memory(8);
    if args.json {
        shown::print_json(&About { description: &found, memory_bytes })?;
        return Ok(Outcome::Met);
    }
    let most = if found.is_upper_bound { "at most " } else { "" };
    let cells = found.rows as f64 * found.cols as f64;
    let share = if cells > 0.0 { 100.0 * found.entries as f64 / cells } else { 0.0 };
    shown::print(&format!(
        "{}: {:?}, {}\n\
         shape    {} × {}\n\
         entries  {most}{} ({share:.3} % of all), {:?}, {}\n\
         memory   {} as 64-bit numbers\n",
        shown::one_line(&found.path.display().to_string()),
        found.format,
        shown::bytes(found.file_bytes),
        found.rows,
        found.cols,
        found.entries,
        found.layout,
        found.dtype,
        shown::bytes(memory_bytes),
    ))?;
    Ok(Outcome::Met)
}
