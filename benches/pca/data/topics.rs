//! Topics in documents.

use favard_operator::{Csr, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::part;

/// Words that a topic prefers.
const VOCABULARY: usize = 400;

/// 1 + ln(count) of the words of `rows` documents of `length` words. Half of the words are common to
/// all documents, half belong to one of two topics of the document; within each of the two kinds
/// the frequency of the r-th word is proportional to 1/r. Topics are of unequal size.
pub fn matrix(rows: usize, cols: usize, topics: usize, length: usize) -> Result<Csr<'static, f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let preferred: Vec<u32> =
        (0..topics * VOCABULARY).map(|_| column(part(rng.random(), cols))).collect();
    let (mut pointers, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut words: Vec<u32> = Vec::with_capacity(length);
    for _ in 0..rows {
        let mut topic = || part(rng.random::<f64>().powi(2), topics);
        let mine = [topic(), topic()];
        words.clear();
        for _ in 0..length {
            // ⌊n^u⌋ with u uniform is r with a probability near 1/(r ln n)
            let zipf = |draw: f64, count: usize| {
                part((count as f64).powf(draw - 1.0), count).saturating_sub(1)
            };
            let (kind, draw) = (part(rng.random(), 4), rng.random());
            words.push(match mine.get(kind) {
                Some(topic) => preferred[topic * VOCABULARY + zipf(draw, VOCABULARY)],
                None => column(zipf(draw, cols)),
            });
        }
        words.sort_unstable();
        for run in words.chunk_by(|a, b| a == b) {
            columns.push(run[0]);
            values.push(1.0 + (run.len() as f64).ln());
        }
        pointers.push(columns.len());
    }
    Csr::new((rows, cols), pointers, columns, values)
}

fn column(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
