//! The built-in example: topics in documents, generated from a seed.

use favard_operator::Csr;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const DOCUMENTS: usize = 6_000;
const WORDS: usize = 3_000;
const LENGTH: usize = 80;
const SEED: u64 = 7;

/// A topic and the words that belong to it.
const TOPICS: [(&str, &str); 6] = [
    ("music", "melody guitar rhythm chorus violin concert singer harmony drum album tempo piano"),
    ("cooking", "butter onion oven garlic simmer flour recipe pepper sauce dough roast lemon"),
    (
        "astronomy",
        "star orbit telescope galaxy comet planet nebula lunar eclipse light crater solar",
    ),
    (
        "football",
        "goal striker match league keeper penalty coach stadium defender corner cup derby",
    ),
    (
        "law",
        "court appeal statute witness judge contract verdict counsel clause plaintiff oath bail",
    ),
    (
        "medicine",
        "patient dose symptom clinic fever vaccine surgeon artery therapy nurse tumour lung",
    ),
];

/// The most frequent words, in every topic; the rarer ones are `term61`, `term62`, ….
const COMMON: &str = "the of and to in a is that it for was on are with as at be this from have \
    or by one had not but what all were when we there can an your which their said if do will each \
    about how up out them then she many some so these would other into has more her two him";

/// The counts, the names of the documents and those of the words.
type Documents = (Csr<'static, f64>, Vec<String>, Vec<String>);

/// Half of the words of a document are common ones (a power law), half are its topic's, and the
/// topics are of unequal size, so that their directions are told apart.
pub fn topics() -> favard_operator::Result<Documents> {
    let special: Vec<&str> = TOPICS.iter().flat_map(|topic| topic.1.split(' ')).collect();
    let each = special.len() / TOPICS.len();
    let common = WORDS - special.len();
    let mut words: Vec<String> = special.iter().map(|&word| word.to_string()).collect();
    words.extend(COMMON.split_whitespace().map(str::to_string));
    words.extend((words.len()..WORDS).map(|i| format!("term{}", i + 1 - special.len())));

    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut draw = || rng.random::<f64>();
    let (mut pointers, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let (mut names, mut counts) = (Vec::with_capacity(DOCUMENTS), vec![0.0; WORDS]);
    for document in 0..DOCUMENTS {
        let topic = part(draw().powi(2), TOPICS.len());
        names.push(format!("{} {}", TOPICS[topic].0, document + 1));
        for _ in 0..LENGTH {
            let word = if draw() < 0.5 {
                special.len() + part((common as f64).powf(draw() - 1.0), common)
            } else {
                topic * each + part(draw().powi(2), each)
            };
            counts[word] += 1.0;
        }
        for (column, count) in (0_u32..).zip(&mut counts) {
            if *count > 0.0 {
                columns.push(column);
                values.push(std::mem::take(count));
            }
        }
        pointers.push(columns.len());
    }
    Ok((Csr::new((DOCUMENTS, WORDS), pointers, columns, values)?, names, words))
}

/// A whole number below `count` for a share within [0, 1].
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn part(share: f64, count: usize) -> usize {
    ((share * count as f64) as usize).min(count - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every column has its own name, and every document its words.
    #[test]
    fn the_example_is_named_and_full() {
        let (counts, documents, words) = topics().unwrap();
        assert_eq!((counts.shape(), words.len()), ((DOCUMENTS, WORDS), WORDS));
        let distinct: std::collections::HashSet<&String> = words.iter().collect();
        assert_eq!(distinct.len(), WORDS);
        assert_eq!(documents.len(), DOCUMENTS);
        let length = |i: usize| counts.row(i).1.iter().sum::<f64>();
        assert!((0..DOCUMENTS).all(|i| (length(i) - LENGTH as f64).abs() < 0.5));
    }
}
