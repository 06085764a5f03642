//! Long texts, composed by all threads and written in order.

use std::io::{self, Write};
use std::ops::Range;

use rayon::prelude::*;

/// Items of a piece: some hundred kilobytes of text.
const PIECE: usize = 1 << 14;

/// Pieces that are composed at a time: enough for many threads, few enough to forget.
const AHEAD: usize = 64;

/// What appends the texts of some items.
type Compose<'f> = &'f (dyn Fn(Range<usize>, &mut Vec<u8>) -> io::Result<()> + Sync);

/// Writes the texts of `count` items one after the other. `compose` appends those of a range of
/// them; the text does not depend on the number of threads.
pub(super) fn write_pieces(
    to: &mut dyn Write,
    count: usize,
    compose: Compose<'_>,
) -> io::Result<()> {
    let pieces = count.div_ceil(PIECE);
    let mut texts: Vec<(Vec<u8>, io::Result<()>)> =
        (0..AHEAD.min(pieces)).map(|_| (Vec::new(), Ok(()))).collect();
    for first in (0..pieces).step_by(AHEAD) {
        let used = AHEAD.min(pieces - first);
        texts[..used].par_iter_mut().enumerate().for_each(|(number, (text, done))| {
            let from = (first + number) * PIECE;
            text.clear();
            *done = compose(from..count.min(from + PIECE), text);
        });
        for (text, done) in &mut texts[..used] {
            std::mem::replace(done, Ok(()))?;
            to.write_all(text)?;
        }
    }
    Ok(())
}
