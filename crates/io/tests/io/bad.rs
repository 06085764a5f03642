//! Bad files: one line that names the file and the place; no panic, no giant allocation.

use std::fmt::Write as _;
use std::fs;

use favard_io::{
    ErrorKind, Format, Limits, Position, ReadOptions, describe, read, read_bytes, write_npz,
};
use favard_operator::Csr;

use crate::support::{data, gzip, load, load_as, message};

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
    assert_eq!(cols, format!("d.mtx: columns: expected 0..=4294967296, found {huge}"));
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
