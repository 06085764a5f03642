//! Bytes that no tool wrote: each reader must answer with a matrix or an error.
//!
//! The inputs are valid files, damaged: bits flipped, parts cut out, repeated or taken from another
//! file, numbers blown up. A short run by default; `FAVARD_FUZZ=2000000` makes two million of
//! each reader, and prints how many were still read.

use std::sync::atomic::{AtomicU64, Ordering};

use favard_io::{
    Description, Format, Limits, Loaded, ReadOptions, Result, describe_bytes, describe_with,
    read_bytes, read_with,
};
use favard_operator::Scalar;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::support::{data, gunzip, gzip};

/// One way to damage a file; places are fractions of its length, out of 2^16.
#[derive(Debug, Clone)]
enum Damage {
    Flip {
        at: u16,
        bit: u8,
    },
    Set {
        at: u16,
        byte: u8,
    },
    Cut {
        at: u16,
    },
    Remove {
        at: u16,
        length: u8,
    },
    Repeat {
        at: u16,
        length: u8,
        times: u8,
    },
    Splice {
        at: u16,
        from: u16,
        length: u8,
        other: u8,
    },
    Insert {
        at: u16,
        word: u8,
    },
    /// Eight bytes that mean something large.
    Large {
        at: u16,
        which: u8,
    },
}

/// What hostile files are made of.
const WORDS: [&[u8]; 24] = [
    b"1000000000000000000",
    b"-1",
    b"0",
    b"nan",
    b"inf",
    b"1e999",
    b"\r\n",
    b"\n",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"%",
    b"\"",
    b",",
    b"\t",
    b":",
    b" ",
    b"4294967296",
    b"18446744073709551616",
    b"symmetric",
    b"pattern",
    b"array",
    b"1e-400",
    b"(1000000000, 1000000000)",
];

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (any::<u16>(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip { at, bit }),
        (any::<u16>(), any::<u8>()).prop_map(|(at, byte)| Damage::Set { at, byte }),
        any::<u16>().prop_map(|at| Damage::Cut { at }),
        (any::<u16>(), any::<u8>()).prop_map(|(at, length)| Damage::Remove { at, length }),
        (any::<u16>(), any::<u8>(), 1..5_u8).prop_map(|(at, length, times)| Damage::Repeat {
            at,
            length,
            times
        }),
        (any::<u16>(), any::<u16>(), any::<u8>(), any::<u8>())
            .prop_map(|(at, from, length, other)| Damage::Splice { at, from, length, other }),
        (any::<u16>(), any::<u8>()).prop_map(|(at, word)| Damage::Insert { at, word }),
        (any::<u16>(), 0..4_u8).prop_map(|(at, which)| Damage::Large { at, which }),
    ]
}

fn place(bytes: &[u8], at: u16) -> usize {
    (bytes.len() * usize::from(at)) >> 16
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage, corpus: &[Vec<u8>]) {
    let part = |bytes: &[u8], at: u16, length: u8| {
        let from = place(bytes, at);
        from..(from + usize::from(length)).min(bytes.len())
    };
    if bytes.is_empty() {
        return;
    }
    match *damage {
        Damage::Flip { at, bit } => {
            let at = place(bytes, at);
            bytes[at] ^= 1 << bit;
        }
        Damage::Set { at, byte } => {
            let at = place(bytes, at);
            bytes[at] = byte;
        }
        Damage::Cut { at } => bytes.truncate(place(bytes, at)),
        Damage::Remove { at, length } => {
            let range = part(bytes, at, length);
            bytes.drain(range);
        }
        Damage::Repeat { at, length, times } => {
            let range = part(bytes, at, length);
            let copy = bytes[range.clone()].repeat(usize::from(times));
            bytes.splice(range.end..range.end, copy);
        }
        Damage::Splice { at, from, length, other } => {
            let source = &corpus[usize::from(other) % corpus.len()];
            let copy = source[part(source, from, length)].to_vec();
            let range = part(bytes, at, length);
            bytes.splice(range, copy);
        }
        Damage::Insert { at, word } => {
            let at = place(bytes, at);
            let word = WORDS[usize::from(word) % WORDS.len()];
            bytes.splice(at..at, word.iter().copied());
        }
        Damage::Large { at, which } => {
            let number = [u64::MAX, 1 << 40, i64::MAX.cast_unsigned(), 1 << 31][usize::from(which)];
            let at = place(bytes, at);
            let end = (at + 8).min(bytes.len());
            bytes[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
        }
    }
}

/// What every result must be, whatever the bytes were. Says whether they were read.
fn check<T: Scalar>(described: Result<Description>, read: Result<Loaded<T>>) -> bool {
    // An error is one line that begins with the file.
    let message = |error: favard_io::Error| {
        let text = error.to_string();
        assert!(text.contains("fuzz") && !text.contains('\n'), "{text:?}");
    };
    if let Err(error) = described {
        message(error);
    }
    match read {
        Ok(loaded) => {
            let (rows, cols) = loaded.matrix.shape();
            let fits = |names: &Option<Vec<String>>, count| {
                names.as_ref().is_none_or(|names| names.len() == count)
            };
            assert!(fits(&loaded.row_names, rows) && fits(&loaded.column_names, cols));
            assert!(loaded.labels.is_none_or(|labels| labels.len() == rows));
            true
        }
        Err(error) => {
            message(error);
            false
        }
    }
}

fn options(format: Format) -> ReadOptions {
    ReadOptions::new().format(format).limits(limits())
}

fn limits() -> Limits {
    let (empty_rows, empty_columns) = (1000, 1000);
    Limits { expansion: 50, free_bytes: 1 << 20, empty_rows, empty_columns, line_bytes: 1 << 16 }
}

/// Damages the bytes of one file.
fn fuzz(name: &str, format: Format, corpus: &[Vec<u8>], short: u32) {
    fuzz_with(name, &options(format), corpus, short);
}

fn fuzz_with(name: &str, options: &ReadOptions, corpus: &[Vec<u8>], short: u32) {
    fuzz_by(name, corpus, short, |bytes, is_narrow| {
        let described = describe_bytes("fuzz", bytes, options);
        if is_narrow {
            check(described, read_bytes::<f32>("fuzz", bytes, options))
        } else {
            check(described, read_bytes::<f64>("fuzz", bytes, options))
        }
    });
}

/// The same with any way to read the bytes, in one precision or the other.
fn fuzz_by(name: &str, corpus: &[Vec<u8>], short: u32, read: impl Fn(&[u8], bool) -> bool) {
    let cases = std::env::var("FAVARD_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(short);
    // What is not damaged is read.
    for bytes in corpus {
        assert!(read(bytes, false), "{name}");
    }
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    // The same inputs each time, others for each reader; `FAVARD_FUZZ_SEED` gives new ones.
    let seed: u64 =
        std::env::var("FAVARD_FUZZ_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16]
        .copy_from_slice(&name.bytes().fold(7_u64, |h, b| h * 31 + u64::from(b)).to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let good = AtomicU64::new(0);
    let inputs =
        (any::<prop::sample::Index>(), prop::collection::vec(damage(), 1..5), any::<bool>());
    let outcome = runner.run(&inputs, |(index, damages, is_narrow)| {
        let mut bytes = corpus[index.index(corpus.len())].clone();
        damages.iter().for_each(|damage| apply(&mut bytes, damage, corpus));
        good.fetch_add(u64::from(read(&bytes, is_narrow)), Ordering::Relaxed);
        Ok(())
    });
    assert!(outcome.is_ok(), "{name}: {}", outcome.unwrap_err());
    println!("{name}: {cases} inputs, {} still read", good.load(Ordering::Relaxed));
}

#[test]
fn matrix_market() {
    let texts = [
        &data!("coordinate.mtx")[..],
        data!("array.mtx"),
        data!("symmetric.mtx"),
        data!("skew.mtx"),
        data!("pattern.mtx"),
        b"%%MatrixMarket matrix coordinate integer general\r\n4 4 5\r\n4 4 1\r\n1 2 -3\r\n2 1 7\r\n1 2 5\r\n3 3 0\r\n",
    ];
    let mut corpus = texts.map(<[u8]>::to_vec).to_vec();
    corpus.extend(long_matrix_market());
    fuzz("mtx", Format::MatrixMarket, &corpus, 2000);
}

/// Files of 40 entries with numbers of every length, by rows and by columns: long enough that most
/// lines are read the quick way, which looks ahead.
fn long_matrix_market() -> [Vec<u8>; 4] {
    let numbers = ["-0.12345678901234567", "3", "1.5e-7", "250", "0.333333", "+17E2", "-2.25"];
    let entries = |by_rows: bool, end: &str| -> String {
        let line = |e: usize| {
            let (row, column) = if by_rows { (e / 4, 7 * (e % 4)) } else { (e % 8, e / 8) };
            let number = numbers[e % numbers.len()];
            format!("{} {} {number}{end}", row + 1, column + 1)
        };
        (0..40).map(line).collect::<Vec<_>>().concat()
    };
    let whole = |e: usize| format!("{} {} {}\n", e / 4 + 1, e % 4 + 1, e * e);
    let whole = (0..40).map(whole).collect::<Vec<_>>().concat();
    let head = "%%MatrixMarket matrix coordinate";
    [
        format!("{head} real general\n% by rows\n10 22 40\n{}", entries(true, "\n")),
        format!("{head} real general\n8 5 40\n{}", entries(false, "\n")),
        format!("{head} real general\r\n10 22 40\r\n{}", entries(true, "  \r\n")),
        format!("{head} integer general\n10 4 40\n{whole}"),
    ]
    .map(String::into_bytes)
}

#[test]
fn packed_matrix_market() {
    let mut corpus = [&data!("coordinate.mtx")[..], data!("symmetric.mtx")].map(gzip).to_vec();
    corpus.extend(long_matrix_market().map(|text| gzip(&text)));
    fuzz("mtx.gz", Format::MatrixMarket, &corpus, 1000);
}

#[test]
fn npy() {
    let files = [&data!("c.npy")[..], data!("f.npy"), data!("big.npy")];
    fuzz("npy", Format::Npy, &files.map(<[u8]>::to_vec), 2000);
}

#[test]
fn npz() {
    let files = [
        &data!("csr.npz")[..],
        data!("csc.npz"),
        data!("coo.npz"),
        data!("dense.npz"),
        data!("csr64.npz"),
    ];
    fuzz("npz", Format::Npz, &files.map(<[u8]>::to_vec), 1000);
}

#[test]
fn csv() {
    let texts = [
        &data!("pandas.csv")[..],
        b"1,2,3\n4,5,6\n",
        b"\"x\"\t\"y\"\n\"a \"\"b\"\"\"\t1\t2\n\"c\"\t3\t4\n",
        b" 1 2  3\n4 5 6 \r\n\r\n7 8 9",
    ];
    fuzz("csv", Format::Csv, &texts.map(<[u8]>::to_vec), 2000);
}

#[test]
fn libsvm() {
    let texts = [&b"+1 1:0.5 3:-2 # x\n-1 qid:7 2:1e-3\n\n0\r\n"[..], b"1 0:1 5:2\n2 3:4\n"];
    fuzz("libsvm", Format::Libsvm, &texts.map(<[u8]>::to_vec), 2000);
}

/// Packed, each of the other texts and arrays.
#[test]
fn packed_npy() {
    let files = [&data!("c.npy")[..], data!("f.npy"), data!("big.npy")];
    fuzz("npy.gz", Format::Npy, &files.map(gzip), 500);
}

#[test]
fn packed_csv() {
    let texts = [&data!("pandas.csv")[..], b"1,2,3\n4,5,6\n", b" 1 2  3\n4 5 6 \r\n\r\n7 8 9"];
    fuzz("csv.gz", Format::Csv, &texts.map(gzip), 500);
}

#[test]
fn packed_libsvm() {
    let texts = [&b"+1 1:0.5 3:-2 # x\n-1 qid:7 2:1e-3\n\n0\r\n"[..], b"1 0:1 5:2\n2 3:4\n"];
    fuzz("libsvm.gz", Format::Libsvm, &texts.map(gzip), 500);
}

/// Nobody says what the bytes are: the first of them decide, and they are damaged.
#[test]
fn of_unknown_format() {
    let files = [
        data!("coordinate.mtx").to_vec(),
        data!("array.mtx").to_vec(),
        data!("c.npy").to_vec(),
        data!("csr.npz").to_vec(),
        data!("coo.npz").to_vec(),
        gzip(data!("symmetric.mtx")),
        gzip(data!("c.npy")),
    ];
    fuzz_with("unknown", &ReadOptions::new().limits(limits()), &files, 1000);
}

#[cfg(feature = "h5ad")]
#[test]
fn h5ad() {
    let files = [
        &data!("csr.h5ad.gz")[..],
        data!("csc_gzip.h5ad.gz"),
        data!("dense.h5ad.gz"),
        data!("dense_lzf.h5ad.gz"),
        data!("half.h5ad.gz"),
    ];
    fuzz("h5ad", Format::H5ad, &files.map(gunzip), 300);
}

/// Between the files of a folder, laid one behind the other so that one damage can move a border.
const BORDER: u8 = 0x1c;

#[test]
fn folders_of_10x() {
    let matrix = b"%%MatrixMarket matrix coordinate integer general\n3 2 3\n1 1 5\n3 1 1\n2 2 7\n";
    let features = b"ENSG1\tTP53\tGene Expression\nENSG2\tGAPDH\nENSG3\n";
    let corpus = [b"AAAC-1\nAAAG-1\n".to_vec(), b"AAAC-1\r\n\xc3\xa9".to_vec()]
        .map(|barcodes| [&matrix[..], features, &barcodes].join(&BORDER));
    fuzz_folder("10x", &corpus, |file, _| file.to_vec());
    // Packed before the damage there would be no border left: the files are packed behind it, and
    // one of them is damaged once more.
    fuzz_folder("10x.gz", &corpus, |file, whole| {
        let mut packed = gzip(file);
        let is_damaged = corpus.iter().all(|good| good != whole);
        if is_damaged && whole.len() % 3 == 0 {
            let at = whole.len() % packed.len();
            packed[at] ^= 1 << (whole.len() % 8);
        }
        packed
    });
}

/// Damages the files of a folder, and writes each as `pack` makes it of the file and all of them.
fn fuzz_folder(name: &str, corpus: &[Vec<u8>], pack: impl Fn(&[u8], &[u8]) -> Vec<u8>) {
    let folder = tempfile::Builder::new().prefix("fuzz").tempdir().unwrap();
    let options = options(Format::TenX);
    fuzz_by(name, corpus, 300, |bytes, is_narrow| {
        let mut files = bytes.splitn(3, |&byte| byte == BORDER);
        for name in ["matrix.mtx", "features.tsv", "barcodes.tsv"] {
            let file = pack(files.next().unwrap_or_default(), bytes);
            std::fs::write(folder.path().join(name), file).unwrap();
        }
        let described = describe_with(folder.path(), &options);
        if is_narrow {
            check(described, read_with::<f32>(folder.path(), &options))
        } else {
            check(described, read_with::<f64>(folder.path(), &options))
        }
    });
}
