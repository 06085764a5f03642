//! [`parse_lines`]: a text cut into pieces of whole lines, parsed in parallel, taken up in order.

use std::io;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};

use rayon::prelude::*;

use super::Source;
use super::gzip::{Block, unpack};
use crate::error::{Error, ErrorKind, Result};

/// Bytes of text in the pieces of both waves together: what is held of the file at a time.
const HELD: usize = 32 << 20;

/// An error at a byte of a text: of a piece while it is parsed, of the file once it leaves.
#[derive(Debug)]
pub(crate) struct Fault {
    pub at: u64,
    pub kind: ErrorKind,
}

impl Fault {
    pub fn new(at: usize, kind: impl Into<ErrorKind>) -> Self {
        Self { at: at as u64, kind: kind.into() }
    }
}

/// Whole lines (the last one ends with a newline too) and what was made of them.
#[derive(Debug, Default)]
pub(crate) struct Piece<P> {
    /// What was made of the lines.
    pub parsed: P,
    /// Where the lines start in the file.
    base: u64,
    /// The lines, after `skip` bytes that belong to the piece before.
    text: Vec<u8>,
    skip: usize,
    /// The range of the file that is still to be read.
    range: Option<(u64, u64)>,
    fault: Option<Fault>,
}

/// Where the pieces come from.
enum Feed {
    Ranges { next: u64, start: u64, end: u64, size: u64 },
    Blocks { blocks: Receiver<io::Result<Block>>, empties: Sender<Vec<u8>>, line: u64 },
}

/// Parses the lines of a text from byte `start` on, as many pieces at a time as there are threads,
/// and hands them to `absorb` in the order of the text, while the next ones are parsed.
///
/// The text is never held whole. The cuts depend on the number of threads; what `absorb` makes of
/// the pieces must not. `parse` gets the text and its earlier result, to be overwritten. `absorb`
/// may end the work with `Break`, which is handed back.
pub(crate) fn parse_lines<P: Default + Send>(
    source: &Source<'_>,
    start: u64,
    parse: impl Fn(&[u8], &mut P) -> Result<(), Fault> + Sync,
    absorb: impl FnMut(&mut Piece<P>) -> Result<ControlFlow<()>, Fault> + Send,
) -> Result<ControlFlow<()>> {
    let width = 8 * rayon::current_num_threads();
    // A piece and what is made of it should stay in the cache of a core.
    let size = (HELD / (2 * width)).clamp(1 << 15, 1 << 16);
    parse_pieces(source, start, (width, size), parse, absorb)
}

/// [`parse_lines`] with so many pieces at a time, of about so many bytes.
fn parse_pieces<P: Default + Send>(
    source: &Source<'_>,
    start: u64,
    (width, size): (usize, usize),
    parse: impl Fn(&[u8], &mut P) -> Result<(), Fault> + Sync,
    mut absorb: impl FnMut(&mut Piece<P>) -> Result<ControlFlow<()>, Fault> + Send,
) -> Result<ControlFlow<()>> {
    if !source.is_gzip() {
        let feed = Feed::Ranges { next: start, start, end: source.len(), size: size as u64 };
        return run(source, feed, width, &parse, &mut absorb);
    }
    std::thread::scope(|scope| {
        let (blocks_in, blocks) = sync_channel(width);
        let (empties, empties_out) = channel();
        scope.spawn(move || unpack(source, start, size, &empties_out, &blocks_in));
        let feed = Feed::Blocks { blocks, empties, line: source.limits().line_bytes };
        run(source, feed, width, &parse, &mut absorb)
    })
}

fn run<P: Default + Send>(
    source: &Source<'_>,
    mut feed: Feed,
    width: usize,
    parse: &(impl Fn(&[u8], &mut P) -> Result<(), Fault> + Sync),
    absorb: &mut (impl FnMut(&mut Piece<P>) -> Result<ControlFlow<()>, Fault> + Send),
) -> Result<ControlFlow<()>> {
    let mut wave = Wave::new(width);
    let mut next = Wave::new(width);
    wave.fill(&mut feed, source)?;
    wave.parse(source, parse);
    while !wave.is_empty() {
        next.fill(&mut feed, source)?;
        // A short text is not worth waking another thread.
        let outcome = if next.is_empty() {
            wave.absorb(source, absorb)
        } else {
            rayon::join(|| next.parse(source, parse), || wave.absorb(source, absorb)).1
        };
        if outcome?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        std::mem::swap(&mut wave, &mut next);
    }
    Ok(ControlFlow::Continue(()))
}

/// The pieces that are parsed at the same time; the first `live` of them hold something.
struct Wave<P> {
    pieces: Vec<Piece<P>>,
    live: usize,
}

impl<P: Default + Send> Wave<P> {
    fn new(width: usize) -> Self {
        Self { pieces: (0..width).map(|_| Piece::default()).collect(), live: 0 }
    }

    fn is_empty(&self) -> bool {
        self.live == 0
    }

    fn fill(&mut self, feed: &mut Feed, source: &Source<'_>) -> Result<()> {
        self.live = 0;
        for piece in &mut self.pieces {
            match feed {
                Feed::Ranges { next, start, end, size } => {
                    if *next >= *end {
                        break;
                    }
                    // The first piece needs no look at the byte before it.
                    let to = next.saturating_add(*size).min(*end);
                    piece.range = Some((*next, to));
                    piece.base = *start;
                    *next = to;
                }
                Feed::Blocks { blocks, empties, line } => {
                    let Ok(block) = blocks.recv() else { break };
                    let mut block = block.map_err(|error| source.error(error))?;
                    if block.text.last() != Some(&b'\n') {
                        check_line(block.text.len() as u64, *line, 0)
                            .map_err(|fault| moved(source, block.base, fault))?;
                        block.text.push(b'\n');
                    }
                    let old = std::mem::replace(&mut piece.text, block.text);
                    // The thread may have ended: then nobody needs the buffer.
                    let _ = empties.send(old);
                    piece.base = block.base;
                }
            }
            self.live += 1;
        }
        Ok(())
    }

    fn parse(
        &mut self,
        source: &Source<'_>,
        parse: &(impl Fn(&[u8], &mut P) -> Result<(), Fault> + Sync),
    ) {
        let one = |piece: &mut Piece<P>| {
            piece.fault = piece
                .load(source)
                .and_then(|()| parse(&piece.text[piece.skip..], &mut piece.parsed))
                .err();
        };
        match &mut self.pieces[..self.live] {
            [piece] => one(piece),
            pieces => pieces.par_iter_mut().with_max_len(1).for_each(one),
        }
    }

    fn absorb(
        &mut self,
        source: &Source<'_>,
        absorb: &mut impl FnMut(&mut Piece<P>) -> Result<ControlFlow<()>, Fault>,
    ) -> Result<ControlFlow<()>> {
        for piece in &mut self.pieces[..self.live] {
            let fault = match piece.fault.take() {
                Some(fault) => fault,
                None => match absorb(piece) {
                    Ok(ControlFlow::Continue(())) => continue,
                    Ok(ControlFlow::Break(())) => return Ok(ControlFlow::Break(())),
                    Err(fault) => fault,
                },
            };
            return Err(moved(source, piece.base, fault));
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// A fault of a piece as an error of the file.
fn moved(source: &Source<'_>, base: u64, fault: Fault) -> Error {
    source.fault(Fault { at: base + fault.at, kind: fault.kind })
}

fn check_line(found: u64, limit: u64, at: usize) -> Result<(), Fault> {
    if found <= limit {
        return Ok(());
    }
    let what = "bytes of a line";
    Err(Fault::new(at, ErrorKind::Limit { what, found, limit, field: "line_bytes" }))
}

impl<P> Piece<P> {
    /// The lines.
    pub fn text(&self) -> &[u8] {
        &self.text[self.skip..]
    }

    /// Reads the lines that start in the piece's range.
    fn load(&mut self, source: &Source<'_>) -> Result<(), Fault> {
        let Some((from, to)) = self.range.take() else { return Ok(()) };
        let is_first = from == self.base;
        // A line starts at `from` if a newline stands before it.
        let first = if is_first { from } else { from - 1 };
        (self.skip, self.base) = (0, first);
        let text = &mut self.text;
        // At most 64 KiB and a byte.
        let wanted = usize::try_from(to - first).unwrap_or(usize::MAX);
        text.resize(wanted, 0);
        let io = |error| Fault::new(0, ErrorKind::Io(error));
        let found = source.read_at(first, text).map_err(io)?;
        text.truncate(found);
        let skip = if is_first { Some(0) } else { memchr::memchr(b'\n', text).map(|at| at + 1) };
        match skip {
            Some(skip) if skip < text.len() => {}
            _ => {
                text.clear();
                return Ok(());
            }
        }
        let skip = skip.unwrap_or(0);
        if found == wanted {
            self.finish_line(source, skip)?;
        }
        if self.text.last() != Some(&b'\n') {
            self.text.push(b'\n');
        }
        (self.skip, self.base) = (skip, self.base + skip as u64);
        Ok(())
    }

    /// Reads on to the end of the last line.
    fn finish_line(&mut self, source: &Source<'_>, skip: usize) -> Result<(), Fault> {
        let (text, mut step) = (&mut self.text, 1 << 12);
        let line = memchr::memrchr(b'\n', text).map_or(0, |at| at + 1).max(skip);
        while text.last() != Some(&b'\n') {
            let old = text.len();
            check_line((old - line) as u64, source.limits().line_bytes, line)?;
            text.resize(old + step, 0);
            let count = source
                .read_at(self.base + old as u64, &mut text[old..])
                .map_err(|error| Fault::new(0, error))?;
            text.truncate(old + count);
            if let Some(end) = memchr::memchr(b'\n', &text[old..]) {
                text.truncate(old + end + 1);
            }
            if count < step {
                break;
            }
            step *= 2;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::Path;

    use super::*;

    /// Whatever the size of the pieces, and so wherever the cuts fall, the lines come whole, once and
    /// in order, and know where they were.
    #[test]
    fn cuts_at_every_byte_lose_nothing() {
        let text = b"%%head\n1 2 3.5\n\n  4 5 -6e-1\r\n% a longer remark\n7 8 9\n\n\n10 11 12";
        let start = text.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(text).unwrap();
        let packed = packed.finish().unwrap();
        for ends in [&text[..], &text[..text.len() - 2], &text[..start + 8]] {
            let plain = Source::bytes(Path::new("a"), ends, crate::Limits::default()).unwrap();
            let gzip = Source::bytes(Path::new("a"), &packed, crate::Limits::default()).unwrap();
            for (source, text) in [(plain, ends), (gzip, &text[..])] {
                for (size, width) in (1..=text.len() + 1).flat_map(|size| [(size, 1), (size, 3)]) {
                    let mut found = Vec::new();
                    let absorb = |piece: &mut Piece<Vec<u8>>| {
                        assert_eq!(piece.parsed, piece.text());
                        if !piece.parsed.is_empty() {
                            assert_eq!(piece.base, (start + found.len()) as u64);
                            assert_eq!(piece.parsed.last(), Some(&b'\n'));
                        }
                        found.extend_from_slice(&piece.parsed);
                        Ok(ControlFlow::Continue(()))
                    };
                    let parse = |text: &[u8], to: &mut Vec<u8>| {
                        text.clone_into(to);
                        Ok(())
                    };
                    let _ =
                        parse_pieces(&source, start as u64, (width, size), parse, absorb).unwrap();
                    let mut wanted = text[start..].to_vec();
                    if wanted.last() != Some(&b'\n') {
                        wanted.push(b'\n');
                    }
                    assert_eq!(found, wanted, "pieces of {size} bytes");
                }
            }
        }
    }
}
