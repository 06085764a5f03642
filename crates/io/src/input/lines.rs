//! [`parse_lines`]: a text cut into pieces of whole lines, parsed in parallel, taken up in order.

use std::ops::ControlFlow;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

use super::Source;
use super::feed::Feed;
use super::gzip::unpack;
use super::piece::{Fault, Piece};
use super::queue::{Queue, Turn, Worker};
use crate::error::Result;

/// Bytes of a piece: with what is made of it, it stays in the cache of a core.
const SIZE: usize = 1 << 18;

/// Parses the lines of a text from byte `start` on, as many pieces at a time as there are threads,
/// and hands them to `absorb` in the order of the text, while the next ones are parsed.
///
/// The text is never held whole. What `absorb` makes of the pieces must not depend on the cuts.
/// `parse` gets the text and an earlier result, to be overwritten. `absorb` may end the work with
/// `Break`, which is handed back.
pub(crate) fn parse_lines<P: Default + Send>(
    source: &Source<'_>,
    start: u64,
    parse: impl Fn(&[u8], &mut P) -> Result<(), Fault> + Sync,
    absorb: impl FnMut(&mut Piece<P>) -> Result<ControlFlow<()>, Fault>,
) -> Result<ControlFlow<()>> {
    parse_pieces(source, start, (rayon::current_num_threads(), SIZE), parse, absorb)
}

/// [`parse_lines`] with so many threads, and pieces of about so many bytes.
fn parse_pieces<P: Default + Send>(
    source: &Source<'_>,
    start: u64,
    (threads, size): (usize, usize),
    parse: impl Fn(&[u8], &mut P) -> Result<(), Fault> + Sync,
    absorb: impl FnMut(&mut Piece<P>) -> Result<ControlFlow<()>, Fault>,
) -> Result<ControlFlow<()>> {
    if !source.is_gzip() {
        let feed = Feed::Ranges { next: start, start, end: source.len(), size: size as u64 };
        return run(source, feed, threads, parse, absorb);
    }
    thread::scope(|scope| {
        let (blocks_in, blocks) = sync_channel(2 * threads);
        let (empties, empties_out) = channel();
        scope.spawn(move || unpack(source, start, size, &empties_out, &blocks_in));
        let feed = Feed::Blocks { blocks, empties, line: source.limits().line_bytes };
        run(source, feed, threads, parse, absorb)
    })
}

/// This thread takes up the pieces, each as soon as it is its turn, and parses others when it is not;
/// its helpers only parse.
fn run<P: Default + Send>(
    source: &Source<'_>,
    feed: Feed,
    threads: usize,
    parse: impl Fn(&[u8], &mut P) -> Result<(), Fault> + Sync,
    mut absorb: impl FnMut(&mut Piece<P>) -> Result<ControlFlow<()>, Fault>,
) -> Result<ControlFlow<()>> {
    // One piece needs no help.
    let helpers = (threads as u64).min(feed.most()).saturating_sub(1);
    let queue = Queue::new(feed, 2 * threads + 2);
    let parse = |(number, mut piece): (usize, Piece<P>)| {
        piece.parse(source, &parse);
        queue.put(number, piece);
    };
    thread::scope(|scope| {
        let _worker = Worker(&queue);
        for _ in 0..helpers {
            let help = || {
                let _worker = Worker(&queue);
                while let Some(next) = queue.next() {
                    parse(next);
                }
            };
            if thread::Builder::new().spawn_scoped(scope, help).is_err() {
                // Without help it takes longer.
                break;
            }
        }
        loop {
            let mut piece = match queue.turn() {
                Turn::Take(piece) => piece,
                Turn::Parse(number, piece) => {
                    parse((number, piece));
                    continue;
                }
                Turn::End => return Ok(ControlFlow::Continue(())),
            };
            let outcome = piece.fault.take().map_or_else(|| absorb(&mut piece), Err);
            match outcome {
                Ok(ControlFlow::Continue(())) => queue.free(piece),
                Ok(ControlFlow::Break(())) => return Ok(ControlFlow::Break(())),
                // Of the piece, and now of the file.
                Err(Fault { at, kind }) => {
                    return Err(source.fault(Fault { at: piece.base + at, kind }));
                }
            }
        }
    })
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

    /// A thread that panics, this one or a helper, ends the others: nobody waits for what it had.
    #[test]
    fn a_panic_is_not_waited_for() {
        let text = b"1\n2\n3\n4\n5\n6\n7\n8\n9\n".repeat(20);
        let source = Source::bytes(Path::new("a"), &text, crate::Limits::default()).unwrap();
        for (threads, bad) in [(1, b'5'), (2, b'1'), (3, b'7'), (8, b'9')] {
            let parse = |text: &[u8], (): &mut ()| {
                assert!(!text.contains(&bad));
                Ok(())
            };
            let absorb = |_: &mut Piece<()>| Ok(ControlFlow::Continue(()));
            let run = || parse_pieces(&source, 0, (threads, 4), parse, absorb).is_ok();
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
        }
    }
}
