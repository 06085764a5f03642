//! The products of a matrix stored by rows with a block, at the memory's speed.

mod forward;
mod lanes;
mod pick;
mod rows;
mod transpose;

pub(crate) use forward::forward;
pub(crate) use pick::{All, Pick};
pub(crate) use rows::Rows;
pub(crate) use transpose::transpose;
