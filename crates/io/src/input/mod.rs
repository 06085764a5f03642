//! Bytes, wherever they come from.

mod feed;
mod gzip;
mod head;
mod lines;
mod piece;
mod queue;
mod source;

pub(crate) use head::Head;
pub(crate) use lines::parse_lines;
pub(crate) use piece::{Fault, Piece};
pub(crate) use source::{Cursor, Source};
