//! A packed text, unpacked by a thread of its own while others parse.

use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, SyncSender};

use super::Source;

/// Whole lines and where they start in the unpacked text.
#[derive(Debug)]
pub(super) struct Block {
    pub base: u64,
    pub text: Vec<u8>,
}

/// Sends the text from `start` on as blocks of at least `size` bytes that end with a line.
///
/// Ends early when nobody listens any more.
pub(super) fn unpack(
    source: &Source<'_>,
    start: u64,
    size: usize,
    empties: &Receiver<Vec<u8>>,
    blocks: &SyncSender<io::Result<Block>>,
) {
    if let Err(error) = send_blocks(source, start, size, empties, blocks) {
        // Nobody listens: somebody else failed first.
        let _ = blocks.send(Err(error));
    }
}

fn send_blocks(
    source: &Source<'_>,
    start: u64,
    size: usize,
    empties: &Receiver<Vec<u8>>,
    blocks: &SyncSender<io::Result<Block>>,
) -> io::Result<()> {
    let mut reader = source.reader();
    skip(&mut *reader, start)?;
    let (mut base, mut text) = (start, Vec::with_capacity(size + (1 << 16)));
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            break;
        }
        if text.len() + bytes.len() < size {
            text.extend_from_slice(bytes);
            let count = bytes.len();
            reader.consume(count);
            continue;
        }
        // Long enough: up to the next end of a line.
        let end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |newline| newline + 1);
        text.extend_from_slice(&bytes[..end]);
        let is_line = bytes[end - 1] == b'\n';
        reader.consume(end);
        if is_line {
            let mut fresh = empties.try_recv().unwrap_or_default();
            fresh.clear();
            let full = std::mem::replace(&mut text, fresh);
            let next = base + full.len() as u64;
            if blocks.send(Ok(Block { base, text: full })).is_err() {
                return Ok(());
            }
            base = next;
        } else if text.len() as u64 > source.limits().line_bytes {
            // The parser reports the line; it need not be whole for that.
            break;
        }
    }
    if !text.is_empty() {
        let _ = blocks.send(Ok(Block { base, text }));
    }
    Ok(())
}

fn skip(reader: &mut dyn BufRead, mut count: u64) -> io::Result<()> {
    while count > 0 {
        let available = reader.fill_buf()?.len() as u64;
        if available == 0 {
            break;
        }
        let step = available.min(count);
        // At most the length of a buffer.
        reader.consume(usize::try_from(step).unwrap_or(usize::MAX));
        count -= step;
    }
    Ok(())
}
