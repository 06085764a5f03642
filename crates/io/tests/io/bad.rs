//! Bad files: one line that names the file and the place; no panic, no giant allocation.

use std::fmt::Write as _;
use std::fs;

use favard_io::{
    ErrorKind, Format, Limits, Position, ReadOptions, describe, read, read_bytes, write_npz,
};
use favard_operator::Csr;

use crate::support::{data, gunzip, gzip, load, load_as, message};

const COORDINATE: &str = "%%MatrixMarket matrix coordinate real general\n";

#[test]
fn matrix_market_faults_are_named_and_placed() {
    // (body behind the banner, message)
    let cases = [
        ("3 784 1\n1 785 1\n", "3:3: column index: expected 1..=784, found 785"),
        ("3 3 1\n0 1 1\n", "3:1: row index: expected 1..=3, found 0"),
        (
            "3 3 1\n99999999999999999999999 1 1\n",
            "3:1: row index: expected 1..=3, found 99999999999999999999999",
        ),
        ("3 3 1\n-1 1 1\n", "3:1: row index: expected a whole number, found `-1`"),
        ("3 3 1\n1 1\n", "3:4: value: expected a blank and a number, found ``"),
        ("3 3 1\n1 1 x\n", "3:5: value: expected a number, found `x`"),
        ("3 3 1\n1 1 nan\n", "3:5: value: `nan` is not a finite number (f64)"),
        ("3 3 1\n1 1 -inf\n", "3:5: value: `-inf` is not a finite number (f64)"),
        ("3 3 1\n1 1 1e999\n", "3:5: value: `1e999` is not a finite number (f64)"),
        ("3 3 1\n1 1 1 7\n", "3:7: line: expected the end of the line, found `7`"),
        ("3 3 1\n1 1 1.5x\n", "3:8: line: expected the end of the line, found `x`"),
        ("3 3 2\n1 1 1\n", "4:1: entries: expected 2, found 1"),
        ("3 3 1\n1 1 1\n2 2 2\n", "4:1: entries: expected 1, found 2"),
        ("3 3\n", "2:4: entries: expected a whole number, found ``"),
        ("3 x 3\n", "2:3: columns: expected a whole number, found `x`"),
        ("% only\n", "3:1: size line: expected rows and columns, found ``"),
        ("", "2:1: size line: expected rows and columns, found ``"),
    ];
    for (body, wanted) in cases {
        let error = message("d.mtx", format!("{COORDINATE}{body}").as_bytes());
        assert_eq!(error, format!("d.mtx:{wanted}"), "{body}");
    }
    let banners = [
        (
            "%%MatrixMarket matrix coordinate complex general\n",
            "d.mtx:1:34: field: `complex` is not supported",
        ),
        (
            "%%MatrixMarket matrix coordinate real hermitian\n",
            "d.mtx:1:39: symmetry: `hermitian` is not supported",
        ),
        ("%%MatrixMarket tensor\n", "d.mtx:1:16: object: expected matrix, found `tensor`"),
        ("hello\n", "d.mtx:1:1: first line: expected %%MatrixMarket, found `hello`"),
        (
            "%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n",
            "d.mtx:2:1: columns of a symmetric matrix: expected 2, found 3",
        ),
        (
            "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 4\n",
            "d.mtx:3:1: skew-symmetric matrix: expected no diagonal, found `1`",
        ),
        (
            "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
            "d.mtx:6:1: values: expected 4, found 3",
        ),
        (
            "%%MatrixMarket matrix array real general\n1 1\n1\n2\n",
            "d.mtx:4:2: values: expected 1, found 2",
        ),
        (
            "%%MatrixMarket matrix array real general\n1 1\n1x\n",
            "d.mtx:3:1: value: expected a number, found `1x`",
        ),
    ];
    for (text, wanted) in banners {
        assert_eq!(message("d.mtx", text.as_bytes()), wanted);
    }
    // CRLF: the carriage return is no part of a field.
    let error = message("d.mtx", COORDINATE.replace('\n', "\r\n3 3 1\r\n1 4 1\r\n").as_bytes());
    assert_eq!(error, "d.mtx:3:3: column index: expected 1..=3, found 4");
    let narrow = format!("{COORDINATE}1 1 1\n1 1 1e39\n");
    let error = read_bytes::<f32>("d.mtx", narrow.as_bytes(), &ReadOptions::new()).unwrap_err();
    assert_eq!(error.to_string(), "d.mtx:3:5: value: `1e39` is not a finite number (f32)");
}

#[test]
fn headers_that_lie_allocate_nothing() {
    let huge = 1_000_000_000_000_000_000_u64;
    let rows = message("d.mtx", format!("{COORDINATE}{huge} 3 1\n1 1 1\n").as_bytes());
    assert_eq!(
        rows,
        format!("d.mtx: rows: {huge} exceeds the limit 16777217 (Limits::empty_rows)")
    );
    let cols = message("d.mtx", format!("{COORDINATE}3 {huge} 1\n1 1 1\n").as_bytes());
    assert_eq!(
        cols,
        format!("d.mtx: columns: {huge} exceeds the limit 16777217 (Limits::empty_columns)")
    );
    let entries = format!("{COORDINATE}3 3 {huge}\n1 1 1\n");
    let wanted = format!("entries: expected {huge}, found 1");
    assert_eq!(message("d.mtx", entries.as_bytes()), format!("d.mtx:4:1: {wanted}"));
    assert_eq!(message("d.mtx.gz", &gzip(entries.as_bytes())), format!("d.mtx.gz:4:1: {wanted}"));
    // The same where entries are counted first.
    let general = format!("%%MatrixMarket matrix coordinate real symmetric\n3 3 {huge}\n1 1 1\n");
    assert_eq!(message("d.mtx", general.as_bytes()), format!("d.mtx:4:1: {wanted}"));
    for (rows, cols) in [(huge, 1), (huge, huge), (huge, 0), (0, huge), (1 << 32, 1 << 31)] {
        let text = format!("%%MatrixMarket matrix array real general\n{rows} {cols}\n");
        assert!(load("d.mtx", text.as_bytes()).is_err(), "{rows} × {cols}");
    }
    for shape in [format!("({huge},)"), format!("({huge}, {huge})"), format!("({huge}, 0)")] {
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
        file.extend(header.bytes());
        assert!(load("d.npy", &file).is_err(), "{shape}");
    }
    let error = load_as(Format::Libsvm, b"1 4294967296:1\n").unwrap_err().to_string();
    assert_eq!(error, "data:1:3: column index: expected 0..=4294967295, found 4294967296");
}

#[test]
fn rows_beyond_the_limit_are_read_when_it_is_raised() {
    let text = format!("{COORDINATE}20000000 1 1\n20000000 1 5\n");
    assert!(load("d.mtx", text.as_bytes()).is_err());
    let limits = Limits { empty_rows: 20_000_000, ..Limits::default() };
    let loaded = read_bytes::<f64>("d.mtx", text.as_bytes(), &ReadOptions::new().limits(limits));
    assert_eq!(loaded.unwrap().matrix.shape(), (20_000_000, 1));
}

/// Every format in which columns cost nothing: 2³² of them would make a model take a vector of 32
/// GiB. The limit can be raised, and who states the columns of a libsvm file means them.
#[test]
fn columns_that_cost_the_file_nothing_are_limited() {
    const WIDE: u64 = 1 << 32;
    let mtx = format!("{COORDINATE}3 {WIDE} 1\n1 1 1\n").into_bytes();
    let csr = npz(&[
        ("format", array("|S3", "()", b"csr")),
        ("shape", array("<i8", "(2,)", &words(&[1, WIDE]))),
        ("indptr", array("<i8", "(2,)", &words(&[0, 1]))),
        ("indices", array("<i8", "(1,)", &words(&[7]))),
        ("data", array("<f8", "(1,)", &1.5_f64.to_le_bytes())),
    ]);
    let coo = npz(&[
        ("format", array("|S3", "()", b"coo")),
        ("shape", array("<i8", "(2,)", &words(&[1, WIDE]))),
        ("row", array("<i8", "(1,)", &words(&[0]))),
        ("col", array("<i8", "(1,)", &words(&[7]))),
        ("data", array("<f8", "(1,)", &1.5_f64.to_le_bytes())),
    ]);
    let libsvm = b"1 4294967295:1\n".to_vec();
    let mut files = vec![("d.mtx", mtx), ("d.npz", csr), ("d.npz", coo), ("d.svm", libsvm)];
    if cfg!(feature = "h5ad") {
        // The shape of X, (3, 4), is an attribute.
        let mut file = gunzip(data!("csr.h5ad.gz"));
        let shape = words(&[3, 4]);
        let places: Vec<usize> =
            (0..file.len() - 16).filter(|&at| file[at..at + 16] == shape[..]).collect();
        assert!(!places.is_empty());
        for at in places {
            file[at + 8..at + 16].copy_from_slice(&WIDE.to_le_bytes());
        }
        files.push(("d.h5ad", file));
    }
    for (name, bytes) in files {
        let error = load(name, &bytes).unwrap_err();
        let is_limit = matches!(error.kind(), ErrorKind::Limit { field: "empty_columns", .. });
        assert!(is_limit, "{error}");
        let limits = Limits { empty_columns: WIDE, ..Limits::default() };
        let loaded = read_bytes::<f64>(name, &bytes, &ReadOptions::new().limits(limits));
        // The names of an AnnData file are as many as its columns: not here.
        if let Ok(loaded) = loaded {
            assert!(loaded.matrix.shape().1 as u64 >= WIDE - 1, "{name}");
        } else {
            assert_eq!(name, "d.h5ad");
        }
    }
    let stated = ReadOptions::new().format(Format::Libsvm).columns(1 << 30);
    let loaded = read_bytes::<f64>("d", b"1 7:1\n", &stated).unwrap();
    assert_eq!(loaded.matrix.shape(), (1, 1 << 30));
}

/// A NumPy array of format 1.0.
fn array(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

fn words(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// An archive of arrays.
fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    use std::io::Write as _;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        let stored = zip::write::SimpleFileOptions::default();
        zip.start_file(format!("{name}.npy"), stored).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A sparse matrix that does not fit in memory in full is an error with the bytes: 2²⁴ × 2²⁴
/// numbers are 2⁵¹ bytes, more than a process can address.
#[test]
fn a_matrix_too_large_to_be_written_out_is_an_error() {
    let text = format!("{COORDINATE}16777216 16777216 1\n1 1 1\n");
    let error = load("d.mtx", text.as_bytes()).unwrap().matrix.into_dense().unwrap_err();
    let bytes = 1_u64 << 51;
    assert!(matches!(error, ErrorKind::Memory { bytes: found, .. } if found == bytes), "{error}");
    assert_eq!(error.to_string(), format!("not enough memory: {bytes} bytes for the dense matrix"));
}

/// At the default limits: a packed line of 2²⁵ short fields takes no memory but its own, and what
/// two bytes of text make large, names and rows without entries, is stopped.
#[test]
fn bombs_are_stopped_at_the_default_limits() {
    // 60 MiB of `a,` make 30 million names of 24 bytes.
    let header = "a,".repeat(30 << 20);
    let row = "1,".repeat(1000);
    let names = packed(&[header.as_bytes(), b"a\n", row.as_bytes(), b"1\n"]);
    assert!(names.len() < 1 << 20);
    assert!(message("d.csv.gz", &names).contains("d.csv.gz:1:1: column names: expected 1001"));
    let yes = ReadOptions::new().header(favard_io::Detect::Yes);
    let wide = packed(&[
        "a,".repeat(15 << 20).as_bytes(),
        b"a\n",
        "1,".repeat(15 << 20).as_bytes(),
        b"1\n",
    ]);
    let error = read_bytes::<f64>("d.csv.gz", &wide, &yes).unwrap_err();
    assert!(error.to_string().starts_with("d.csv.gz:1:1: bytes of the names: "), "{error}");
    let rows = packed(&["a,1\n".repeat(12 << 20).as_bytes()]);
    let error = message("d.csv.gz", &rows);
    assert!(error.contains("bytes of the names: "), "{error}");
    let labels = packed(&["0\n".repeat(20 << 20).as_bytes()]);
    let error = message("d.svm.gz", &labels);
    assert!(error.contains("rows: ") && error.contains("Limits::empty_rows"), "{error}");
    let text = packed(&["0,0\n".repeat(20 << 20).as_bytes()]);
    let error = message("d.csv.gz", &text);
    assert!(error.contains("unpacked bytes: ") && error.contains("Limits::expansion"), "{error}");
}

/// Parts packed one behind the other, as small as can be.
fn packed(parts: &[&[u8]]) -> Vec<u8> {
    use std::io::Write as _;
    let best = flate2::Compression::best();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), best);
    parts.iter().for_each(|part| encoder.write_all(part).unwrap());
    encoder.finish().unwrap()
}

#[test]
fn a_gzip_bomb_is_stopped() {
    let limits = Limits { expansion: 20, free_bytes: 1 << 16, ..Limits::default() };
    let options = ReadOptions::new().limits(limits);
    let bomb = gzip("0,0\n".repeat(1 << 20).as_bytes());
    let error = read_bytes::<f64>("d.csv.gz", &bomb, &options).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { field: "expansion", .. }), "{error}");
    assert!(read_bytes::<f64>("d.csv.gz", &bomb, &ReadOptions::new()).is_ok());
    let line = gzip(&vec![b'1'; 1 << 20]);
    let limits = Limits { line_bytes: 1 << 18, ..Limits::default() };
    for (name, bytes) in [("d.csv.gz", &line), ("d.csv", &vec![b'1'; 1 << 20])] {
        let error = read_bytes::<f64>(name, bytes, &ReadOptions::new().limits(limits)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Limit { field: "line_bytes", .. }), "{error}");
    }
    // An archive of zeros.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.npz");
    let zeros = Csr::new(
        (1, 1 << 16),
        vec![0, 1 << 16],
        (0..1 << 16).collect::<Vec<u32>>(),
        vec![0.0; 1 << 16],
    );
    write_npz(&path, &zeros.unwrap()).unwrap();
    let limits = Limits { expansion: 2, free_bytes: 1 << 10, ..Limits::default() };
    let error = favard_io::read_with::<f64>(&path, &ReadOptions::new().limits(limits)).unwrap_err();
    assert!(error.to_string().contains("bytes of the array"), "{error}");
}

#[test]
fn damaged_streams_are_named() {
    let mut text = COORDINATE.to_owned() + "1000 1 1000\n";
    (1..=1000).for_each(|i| writeln!(text, "{i} 1 {}", i * i).unwrap());
    let packed = gzip(text.as_bytes());
    assert!(load("d.mtx.gz", &packed).is_ok());
    let error = message("d.mtx.gz", &packed[..packed.len() / 2]);
    assert!(error.starts_with("d.mtx.gz: gzip stream: "), "{error}");
    let mut flipped = packed.clone();
    let end = flipped.len() - 6;
    flipped[end] ^= 1; // the checksum
    assert!(message("d.mtx.gz", &flipped).starts_with("d.mtx.gz: gzip stream: "));
    let error = message("d.npz", &data!("csr.npz")[..900]);
    assert!(error.starts_with("d.npz: zip archive: "), "{error}");
    let mut flipped = data!("coo.npz").to_vec();
    // A stored number: only the checksum knows.
    let at = flipped.windows(8).position(|bytes| bytes == 1.5_f64.to_le_bytes()).unwrap();
    flipped[at] ^= 1;
    let error = message("d.npz", &flipped);
    assert!(error.starts_with("d.npz/data.npy: zip archive: "), "{error}");
}

#[test]
fn numpy_faults_are_named_and_placed() {
    let good = data!("c.npy");
    let error = message("d.npy", &good[..200]);
    assert_eq!(error, "d.npy: byte 128: bytes of the array: expected 96, found 72");
    let mut nan = good.to_vec();
    nan[136..144].copy_from_slice(&f64::NAN.to_le_bytes());
    assert_eq!(
        message("d.npy", &nan),
        "d.npy: byte 136: value: `NaN` is not a finite number (f64)"
    );
    assert!(matches!(load("d.npy", &nan).unwrap_err().position(), Position::Byte(136)));
    let change = |from: &str, to: &str| {
        let text: Vec<u8> = good[..128].to_vec();
        let text = String::from_utf8_lossy(&text[10..]).replace(from, to);
        message("d.npy", &[&good[..10], text.as_bytes(), &good[128..]].concat())
    };
    assert!(change("<f8", "|O8").contains("dtype: `|O8` is not supported"));
    assert!(change("<f8", "<c8").contains("dtype: `<c8` is not supported"));
    assert!(change("(3, 4)", "(3,2,2").contains("header: expected"));
    assert!(
        change("(3, 4), ", "(3,2,2),").contains("dimensions of the array: expected 1..=2, found 3")
    );
    assert!(change("'shape'", "'shapx'").contains("expected descr, fortran_order or shape"));
    assert!(
        message("d.npy", b"\x93NUMPY\x09\x00\x00\x00").contains("version: `9` is not supported")
    );
    assert_eq!(message("d.npy", b"\x93NUM"), "d.npy: byte 4: first bytes: expected 8, found 4");
}

/// A missing number in the first field made names of the first column, and a row of tabs was left out.
#[test]
fn missing_numbers_are_errors_wherever_they_are() {
    for mark in ["", "NA", "<NA>", "n/a", "null", "?"] {
        let wanted = format!("value: expected a number, found `{mark}`");
        let text = format!("x,y\n{mark},1\n2,3\n");
        assert_eq!(message("d.csv", text.as_bytes()), format!("d.csv:2:1: {wanted}"));
        let text = format!("{mark};1\n2;3\n");
        let named = read_bytes::<f64>("d.csv", text.as_bytes(), &ReadOptions::new());
        // An empty corner above numbers is a header of numbers.
        assert_eq!(named.is_ok(), mark.is_empty(), "{mark}");
        let text = format!("x,y\n1,{mark},\n2,3\n");
        assert_eq!(message("d.csv", text.as_bytes()), format!("d.csv:2:3: {wanted}"));
    }
    for (text, column) in [("x\ty\n1\t2\n\t\n3\t4\n", 1), ("\tx\na\t1\n\t\r\nb\t2\n", 2)] {
        let error = message("d.tsv", text.as_bytes());
        assert!(
            error.starts_with(&format!("d.tsv:3:{column}: value: expected a number")),
            "{error}"
        );
    }
}

#[test]
fn tables_with_faults_are_placed() {
    let cases = [
        ("x,y\n1,2\n3\n", "3:2: values of the row: expected 2, found 1"),
        ("x,y\n1,2\n3,4,5,6\n", "3:5: values of the row: expected 2, found 4"),
        ("x,y\n1,2\n3,NA\n", "3:3: value: expected a number, found `NA`"),
        ("x,y\n1,2\n3,nan\n", "3:3: value: `nan` is not a finite number (f64)"),
        ("x,y\n1,2\n3,\n", "3:3: value: expected a number, found ``"),
        ("x,y\n1,2\n,4\n", "3:1: value: expected a number, found ``"),
        ("x,y\n1,2\n3,4 5\n", "3:3: value: expected a number, found `4`"),
        ("x,y\n1,2\n3,\"4\n", "3:3: value: expected a number in quotes, found `\"4`"),
        ("\"x,y\n1,2\n", "1:1: quoted field: expected a closing quote, found `\"x,y`"),
        ("x,y,z\n1,2\n", "1:1: column names: expected 2, found 3"),
        ("x,y\r\n1,2\r\n3,Inf\r\n", "3:3: value: `Inf` is not a finite number (f64)"),
    ];
    for (text, wanted) in cases {
        assert_eq!(message("d.csv", text.as_bytes()), format!("d.csv:{wanted}"), "{text}");
    }
    assert_eq!(message("d.csv", b"\n \n"), "d.csv: the file is empty");
    assert_eq!(
        message("d.csv", b"x,y\r1,2\r3,4\r"),
        "d.csv:1:4: end of a line: `\\r without \\n` is not supported"
    );
    assert_eq!(message("d.csv", b"a,\xff\n1,2\n"), "d.csv:1:3: field: not UTF-8");
    let error = load_as(Format::Libsvm, b"1 1:2\n1 2;3\n").unwrap_err().to_string();
    assert_eq!(error, "data:2:3: entry: expected index:value, found `2;3`");
    let error = load_as(Format::Libsvm, b"1 1:nan\n").unwrap_err().to_string();
    assert_eq!(error, "data:1:5: value: `nan` is not a finite number (f64)");
    let error = load_as(Format::Libsvm, b"1,2 1:3\n").unwrap_err().to_string();
    assert_eq!(error, "data:1:2: label: expected a number, found `,2`");
}

#[test]
fn what_is_no_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.mtx");
    assert!(matches!(read::<f64>(&path).unwrap_err().kind(), ErrorKind::Io(_)));
    assert!(matches!(describe(&path).unwrap_err().kind(), ErrorKind::Io(_)));
    fs::write(&path, b"").unwrap();
    assert!(matches!(read::<f64>(&path).unwrap_err().kind(), ErrorKind::Empty));
    assert!(matches!(read::<f64>(folder.path()).unwrap_err().kind(), ErrorKind::Directory));
    fs::write(folder.path().join("what"), b"what is it").unwrap();
    let unknown = read::<f64>(folder.path().join("what")).unwrap_err();
    assert!(matches!(unknown.kind(), ErrorKind::UnknownFormat));
    assert!(!unknown.to_string().contains('\n'));
}

#[cfg(unix)]
#[test]
fn devices_and_forbidden_files_are_named() {
    use std::os::unix::fs::PermissionsExt;
    assert!(matches!(read::<f64>("/dev/null").unwrap_err().kind(), ErrorKind::NotRegular));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.csv");
    fs::write(&path, b"1,2\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser may read everything.
    if fs::File::open(&path).is_err() {
        let error = read::<f64>(&path).unwrap_err();
        let is_denied = |e: &std::io::Error| e.kind() == std::io::ErrorKind::PermissionDenied;
        assert!(matches!(error.kind(), ErrorKind::Io(e) if is_denied(e)));
    } else {
        assert_eq!(read::<f64>(&path).unwrap().matrix.shape(), (1, 2));
    }
}
