//! Files of several pieces: the same bits whatever the order, the packing and the threads.

use std::fmt::Write;

use favard_operator::Csr;

use crate::support::{gzip, load};

const ROWS: u64 = 40_000;
const COLS: u64 = 3_000;

/// Seven entries in each row, at places that no other uses.
fn entries() -> Vec<(u64, u64, f64)> {
    let place = |row: u64, k: u64| (row.wrapping_mul(2_654_435_761) + 400 * k) % COLS;
    (0..ROWS)
        .flat_map(|row| {
            (0..7).map(move |k| (row, place(row, k), (row * 7 + k) as f64 / 1024.0 - 9.5))
        })
        .collect()
}

fn text(entries: &[(u64, u64, f64)]) -> Vec<u8> {
    let mut text = "%%MatrixMarket matrix coordinate real general\n".to_owned();
    writeln!(text, "{ROWS} {COLS} {}", entries.len()).unwrap();
    for (row, col, value) in entries {
        writeln!(text, "{} {} {value:.13e}", row + 1, col + 1).unwrap();
    }
    text.into_bytes()
}

fn read(name: &str, bytes: &[u8], threads: usize) -> Csr<'static, f64> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| load(name, bytes).unwrap().matrix.into_csr().unwrap())
}

fn assert_same(a: &Csr<'_, f64>, b: &Csr<'_, f64>) {
    assert_eq!(a.shape(), b.shape());
    assert!(a.pointers() == b.pointers() && a.columns() == b.columns() && a.values() == b.values());
}

#[test]
fn any_order_packing_and_number_of_threads_gives_the_same_matrix() {
    let mut list = entries();
    let by_rows = text(&list);
    assert!(by_rows.len() > 4 << 20, "several pieces");
    let wanted = read("a.mtx", &by_rows, 1);
    assert_eq!((wanted.entries(), wanted.row(17).0.len()), (list.len(), 7));
    list.sort_by_key(|&(row, col, _)| (col, row));
    let by_columns = text(&list);
    list.sort_by_key(|&(row, col, _)| (row ^ col).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mixed = text(&list);
    for threads in [1, 2, 4] {
        for bytes in [&by_rows, &by_columns, &mixed] {
            assert_same(&read("a.mtx", bytes, threads), &wanted);
        }
    }
    assert_same(&read("a.mtx.gz", &gzip(&by_rows), 2), &wanted);
    assert_same(&read("a.mtx.gz", &gzip(&mixed), 2), &wanted);
    // Row by row the same as the list it came from.
    let mut row: Vec<_> = entries()[7 * 123..7 * 124].iter().map(|&(_, c, v)| (c, v)).collect();
    row.sort_by_key(|&(col, _)| col);
    let (columns, values) = wanted.row(123);
    let found: Vec<_> = columns.iter().map(|&c| u64::from(c)).zip(values.iter().copied()).collect();
    assert_eq!(found, row);
}

/// Places that repeat, most of them in a few rows, in the order of nothing: the same bits as the file
/// that has them by rows, where what repeats has kept its order. So for values of every kind, and for
/// mirrored entries, which the other file writes out.
#[test]
fn what_repeats_and_what_is_mirrored_is_added_up_in_the_order_of_the_file() {
    const EDGE: u64 = 600;
    let mut seed = 7_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    let mut list: Vec<(u64, u64, u64)> = Vec::new();
    for _ in 0..200_000 {
        let few = [EDGE, EDGE, 40, 3][list.len() % 4];
        let (a, b) = (random(few), random(EDGE));
        list.push((a.max(b), a.min(b), random(1_000_000)));
    }
    let write = |field: &str, symmetry: &str, list: &[(u64, u64, u64)]| {
        let mut text = format!("%%MatrixMarket matrix coordinate {field} {symmetry}\n");
        writeln!(text, "{EDGE} {EDGE} {}", list.len()).unwrap();
        for &(row, col, value) in list {
            write!(text, "{} {}", row + 1, col + 1).unwrap();
            match field {
                "pattern" => writeln!(text),
                "integer" => writeln!(text, " {value}"),
                _ => writeln!(text, " {}", value as f64 / 700.0),
            }
            .unwrap();
        }
        text.into_bytes()
    };
    for field in ["real", "integer", "pattern"] {
        for symmetry in ["general", "symmetric"] {
            let twins = |&(row, col, value): &(u64, u64, u64)| {
                let is_mirrored = symmetry == "symmetric" && row != col;
                [Some((row, col, value)), is_mirrored.then_some((col, row, value))]
            };
            let mut by_rows: Vec<_> = list.iter().flat_map(twins).flatten().collect();
            by_rows.sort_by_key(|&(row, ..)| row);
            let wanted = read("a.mtx", &write(field, "general", &by_rows), 1);
            let mixed = write(field, symmetry, &list);
            for threads in [1, 2, 5] {
                assert_same(&read("a.mtx", &mixed, threads), &wanted);
            }
            assert_same(&read("a.mtx.gz", &gzip(&mixed), 2), &wanted);
        }
    }
}

/// By rows but for the last line.
#[test]
fn a_file_that_is_by_rows_up_to_its_end_is_read() {
    let mut list = entries();
    let wanted = read("a.mtx", &text(&list), 1);
    let first = list.remove(0);
    list.push(first);
    for threads in [1, 3] {
        assert_same(&read("a.mtx", &text(&list), threads), &wanted);
    }
}

#[test]
fn a_fault_far_down_is_located() {
    let list = entries();
    let good = text(&list);
    let line = 200_000;
    let start =
        good.iter().enumerate().filter(|&(_, &byte)| byte == b'\n').nth(line - 2).unwrap().0 + 1;
    let blank = start + good[start..].iter().position(|&byte| byte == b' ').unwrap() + 1;
    let mut bad = good.clone();
    bad[blank] = b'x';
    for (name, bytes) in [("a.mtx", bad.clone()), ("a.mtx.gz", gzip(&bad))] {
        let error = load(name, &bytes).unwrap_err().to_string();
        let place =
            format!("{name}:{line}:{}: column index: expected a whole number", blank - start + 1);
        assert!(error.starts_with(&place), "{error}");
    }
    // Cut off, and one entry too many.
    let last = good[..good.len() - 1].iter().rposition(|&byte| byte == b'\n').unwrap();
    let cut = &good[..=last];
    let error = load("a.mtx", cut).unwrap_err().to_string();
    let count = list.len();
    assert!(error.ends_with(&format!("entries: expected {count}, found {}", count - 1)), "{error}");
    let more = [&good[..], b"1 1 1\n"].concat();
    let error = load("a.mtx", &more).unwrap_err().to_string();
    let wanted = format!("a.mtx:{}:1: entries: expected {count}, found {}", count + 3, count + 1);
    assert_eq!(error, wanted);
}

#[test]
fn large_tables_and_libsvm_files_do_not_depend_on_threads() {
    let (mut table, mut rows) = ("x,y,z\n".to_owned(), String::new());
    for i in 0..120_000_u32 {
        let x = f64::from(i) / 7.0;
        writeln!(table, "{x},{},{}", -x, i % 10).unwrap();
        writeln!(rows, "{} {}:{x} {}:1", i % 3, 1 + i % 50, 60 + i % 40).unwrap();
    }
    let pools = [1, 2, 4].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap());
    let tables = pools.each_ref().map(|pool| {
        pool.install(|| load("a.csv", table.as_bytes()).unwrap().matrix.into_dense().unwrap())
    });
    assert_eq!(tables[0].view()[[119_999, 0]].to_bits(), (119_999.0_f64 / 7.0).to_bits());
    assert!(tables[0].view() == tables[1].view() && tables[0].view() == tables[2].view());
    let sparse = pools.each_ref().map(|pool| {
        pool.install(|| load("a.svm", rows.as_bytes()).unwrap().matrix.into_csr().unwrap())
    });
    assert_eq!((sparse[0].shape(), sparse[0].entries()), ((120_000, 99), 240_000));
    assert_same(&sparse[0], &sparse[1]);
    assert_same(&sparse[0], &sparse[2]);
}
