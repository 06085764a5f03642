//! Bytes, wherever they come from.

mod gzip;
mod head;
mod lines;
mod source;

pub(crate) use head::Head;
pub(crate) use lines::{Fault, Piece, parse_lines};
pub(crate) use source::{Cursor, Source};
