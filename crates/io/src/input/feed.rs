//! [`Feed`]: where the pieces of a text come from.

use std::sync::mpsc::{Receiver, Sender};

use super::gzip::Block;
use super::piece::{Fault, Piece, check_line};
use crate::error::ErrorKind;

/// The pieces of a text, one after the other.
pub(super) enum Feed {
    /// Of a file, which the thread that parses them reads itself.
    Ranges { next: u64, start: u64, end: u64, size: u64 },
    /// Of a packed one.
    Blocks { blocks: Receiver<std::io::Result<Block>>, empties: Sender<Vec<u8>>, line: u64 },
}

impl Feed {
    /// Makes this the next piece; `false` when there is none.
    pub fn fill<P>(&mut self, piece: &mut Piece<P>) -> bool {
        match self {
            Self::Ranges { next, start, end, size } => {
                if *next >= *end {
                    return false;
                }
                // The first piece needs no look at the byte before it.
                let to = next.saturating_add(*size).min(*end);
                piece.range = Some((*next, to));
                piece.base = *start;
                *next = to;
                true
            }
            Self::Blocks { blocks, empties, line } => match blocks.recv() {
                Ok(Ok(mut block)) => {
                    if block.text.last() != Some(&b'\n') {
                        piece.fault = check_line(block.text.len() as u64, *line, 0).err();
                        block.text.push(b'\n');
                    }
                    let old = std::mem::replace(&mut piece.text, block.text);
                    // The thread may have ended: then nobody needs the buffer.
                    let _ = empties.send(old);
                    piece.base = block.base;
                    true
                }
                Ok(Err(error)) => {
                    piece.fault = Some(Fault::new(0, ErrorKind::Io(error)));
                    true
                }
                // The thread has ended, as it does behind an error.
                Err(_) => false,
            },
        }
    }

    /// The pieces that are left, as far as that is known.
    pub fn most(&self) -> u64 {
        match self {
            Self::Ranges { next, end, size, .. } => end.saturating_sub(*next).div_ceil(*size),
            Self::Blocks { .. } => u64::MAX,
        }
    }
}
