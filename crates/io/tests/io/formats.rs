//! Every format, against files written by the tools that people use (`data/`: SciPy 1.17, NumPy 2.4,
//! pandas, anndata 0.12) and against bytes written by hand.

use favard_io::{
    Detect, Format, Layout, Matrix, ReadOptions, describe_bytes, read, read_bytes, read_with,
};
use favard_operator::Scalar;
use ndarray::{Array2, array};

use crate::support::{data, dense, gunzip, gzip, load, load_as, sample};

#[test]
fn matrix_market_of_scipy_is_read() {
    assert_eq!(dense(load("a.mtx", data!("coordinate.mtx")).unwrap()), sample());
    assert_eq!(dense(load("a.mtx", data!("array.mtx")).unwrap()), sample());
    let ones = sample().mapv(|value| f64::from(u8::from(value != 0.0)));
    assert_eq!(dense(load("a.mtx", data!("pattern.mtx")).unwrap()), ones);
    let symmetric = array![[2.0, 0.0, 1.0], [0.0, 0.0, -3.0], [1.0, -3.0, 5.0]];
    assert_eq!(dense(load("a.mtx", data!("symmetric.mtx")).unwrap()), symmetric);
    let skew = array![[0.0, -2.0, 0.0], [2.0, 0.0, 7.0], [0.0, -7.0, 0.0]];
    assert_eq!(dense(load("a.mtx", data!("skew.mtx")).unwrap()), skew);
}

#[test]
fn matrix_market_may_be_packed_named_otherwise_and_come_from_windows() {
    let packed = gzip(data!("coordinate.mtx"));
    assert_eq!(dense(load("a.mtx.gz", &packed).unwrap()), sample());
    assert_eq!(dense(load("noname", &packed).unwrap()), sample());
    let text = String::from_utf8_lossy(data!("coordinate.mtx")).replace('\n', "\r\n");
    let marked = format!("\u{feff}{text}\r\n\r\n");
    assert_eq!(dense(load("a.mtx", marked.as_bytes()).unwrap()), sample());
    // Without a last newline, with tabs, comments and capitals.
    let odd = b"%%matrixmarket MATRIX Coordinate INTEGER General\n% c\n\n 2\t2  2 \n%c\n\t2  1\t-7 \n1 2 +3";
    assert_eq!(dense(load("a.mtx", odd).unwrap()), array![[0.0, 3.0], [-7.0, 0.0]]);
}

#[test]
fn duplicates_are_summed_and_columns_sorted() {
    let text = b"%%MatrixMarket matrix coordinate real general\n2 3 6\n1 3 1\n1 1 2\n1 3 10\n2 2 5\n1 3 0.5\n2 2 -5\n";
    let Matrix::Sparse(csr) = load("a.mtx", text).unwrap().matrix else { panic!("sparse") };
    assert_eq!((csr.pointers(), csr.columns()), (&[0, 2, 3][..], &[0, 2, 1][..]));
    // A sum of zero stays, as in SciPy.
    assert_eq!(csr.values(), &[2.0, 11.5, 0.0]);
}

#[test]
fn symmetric_arrays_are_mirrored() {
    let text = b"%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n";
    assert_eq!(dense(load("a.mtx", text).unwrap()), array![[1.0, 2.0], [2.0, 3.0]]);
    let text = b"%%MatrixMarket matrix array real skew-symmetric\n2 2\n4\n";
    assert_eq!(dense(load("a.mtx", text).unwrap()), array![[0.0, -4.0], [4.0, 0.0]]);
}

#[test]
fn arrays_of_numpy_are_read() {
    assert_eq!(dense(load("a.npy", data!("c.npy")).unwrap()), sample());
    assert_eq!(dense(load("a.npy", data!("f.npy")).unwrap()), sample());
    // Big-endian f4: 0.1 and 1e-30 are those of f32.
    let narrow = sample().mapv(|value| f32::of(value).as_f64());
    assert_eq!(dense(load("a.npy", data!("big.npy")).unwrap()), narrow);
    assert_eq!(dense(load("a.npy.gz", &gzip(data!("c.npy"))).unwrap()), sample());
}

/// An array with a header as NumPy writes it.
fn npy(descr: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    let length = (header.len() + 11).next_multiple_of(64) - 10;
    file.extend(u16::try_from(length).unwrap().to_le_bytes());
    file.extend(format!("{header:width$}\n", width = length - 1).bytes());
    file.extend(bytes);
    file
}

#[test]
fn every_kind_of_number_of_numpy_is_read() {
    macro_rules! check {
        ($($kind:literal $type:ty),*) => {$({
            let numbers: [$type; 3] = [1 as $type, 2 as $type, 100 as $type];
            let wanted = array![[1.0], [2.0], [100.0]];
            let little: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
            let file = npy(concat!("<", $kind), "(3,)", &little);
            assert_eq!(dense(load("a.npy", &file).unwrap()), wanted, $kind);
            let big: Vec<u8> = numbers.iter().flat_map(|n| n.to_be_bytes()).collect();
            let file = npy(concat!(">", $kind), "(3, 1)", &big);
            assert_eq!(dense(load("a.npy", &file).unwrap()), wanted, $kind);
        })*};
    }
    check!("f4" f32, "f8" f64, "i1" i8, "i2" i16, "i4" i32, "i8" i64, "u1" u8, "u2" u16, "u4" u32, "u8" u64);
    let file = npy("|b1", "(1, 3)", &[1, 0, 1]);
    assert_eq!(dense(load("a.npy", &file).unwrap()), array![[1.0, 0.0, 1.0]]);
    // Half precision: 1, 0.1 to 11 bits, −65504 (the largest) and 2⁻²⁴ (the smallest).
    let (halves, tenth) = ([0x3c00_u16, 0x2e66, 0xfbff, 0x0001], 1638.0 * 2.0_f64.powi(-14));
    let wanted = array![[1.0, tenth, -65504.0, 2.0_f64.powi(-24)]];
    let little: Vec<u8> = halves.iter().flat_map(|n| n.to_le_bytes()).collect();
    assert_eq!(dense(load("a.npy", &npy("<f2", "(1, 4)", &little)).unwrap()), wanted);
    let big: Vec<u8> = halves.iter().flat_map(|n| n.to_be_bytes()).collect();
    assert_eq!(dense(load("a.npy", &npy(">f2", "(1, 4)", &big)).unwrap()), wanted);
    let file = npy("<i2", "(2,)", &[0xff, 0xff, 0x00, 0x80]);
    assert_eq!(dense(load("a.npy", &file).unwrap()), array![[-1.0], [-32768.0]]);
}

#[test]
fn sparse_archives_of_scipy_are_read() {
    for bytes in [&data!("csr.npz")[..], data!("csc.npz"), data!("coo.npz"), data!("csr64.npz")] {
        let loaded = load("a.npz", bytes).unwrap();
        assert!(loaded.matrix.is_sparse());
        assert_eq!(loaded.matrix.entries(), 6);
        assert_eq!(dense(loaded), sample());
    }
    assert_eq!(dense(load("a.npz", data!("dense.npz")).unwrap()), sample());
    let narrow = read_bytes::<f32>("a.npz", data!("csr_f32.npz"), &ReadOptions::new()).unwrap();
    assert_eq!(narrow.matrix.into_csr().unwrap().values(), &[1.5, -2.0, 0.1, 3.0, 4.0, 1e-30]);
}

#[cfg(feature = "h5ad")]
#[test]
fn anndata_is_read() {
    let names =
        |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
    let narrow = sample().mapv(|value| f32::of(value).as_f64());
    let files = [
        (&data!("csr.h5ad.gz")[..], true, sample()),
        (data!("csc_gzip.h5ad.gz"), true, sample()),
        (data!("dense.h5ad.gz"), false, sample()),
        (data!("dense_lzf.h5ad.gz"), false, narrow),
    ];
    for (packed, is_sparse, wanted) in files {
        let bytes = gunzip(packed);
        let loaded = load("a.h5ad", &bytes).unwrap();
        assert_eq!(loaded.matrix.is_sparse(), is_sparse);
        assert_eq!(loaded.row_names, names(&["r1", "r2", "r3"]));
        assert_eq!(loaded.column_names, names(&["a", "b", "c", "d"]));
        assert_eq!(dense(loaded), wanted);
        let description = describe_bytes("a.h5ad", &bytes, &ReadOptions::new()).unwrap();
        assert_eq!((description.rows, description.cols), (3, 4));
        assert_eq!(description.entries, if is_sparse { 6 } else { 12 });
        // From a file, which is not held in memory.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.h5ad");
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(read::<f64>(&path).unwrap().matrix.shape(), (3, 4));
    }
}

/// X in half precision came back as a shape that is not supported, and a categorical index without names.
#[cfg(feature = "h5ad")]
#[test]
fn anndata_of_half_precision_with_a_categorical_index_is_read() {
    let bytes = gunzip(data!("half.h5ad.gz"));
    let loaded = load("a.h5ad", &bytes).unwrap();
    assert_eq!(loaded.row_names.as_deref().unwrap(), ["r3", "r1", "r2"]);
    assert_eq!(loaded.column_names.as_deref().unwrap(), ["a", "b", "c", "d"]);
    let (tenth, least) = (1638.0 * 2.0_f64.powi(-14), 2.0_f64.powi(-24));
    let wanted = array![[1.5, 0.0, 0.0, -2.0], [0.0, 0.0, tenth, 0.0], [3.0, 4.0, 0.0, least]];
    assert_eq!(dense(loaded), wanted);
}

#[test]
fn tables_are_recognised() {
    let loaded = load("a.csv", data!("pandas.csv")).unwrap();
    assert_eq!(loaded.row_names.as_deref().unwrap(), ["r1", "r2", "r3"]);
    assert_eq!(loaded.column_names.as_deref().unwrap(), ["a", "b", "c", "d"]);
    assert_eq!(dense(loaded), sample());
    let two = array![[1.0, 2.5], [-3.0, 4.0]];
    // (name, text, row names, column names)
    let cases: [(&str, &str, &[&str], &[&str]); 15] = [
        ("a.csv", "1,2.5\n-3,4\n", &[], &[]),
        ("a.csv", "x,y\n1,2.5\n-3,4\n", &[], &["x", "y"]),
        ("a.csv", "id,x,y\nA,1,2.5\nB,-3,4\n", &["A", "B"], &["x", "y"]),
        ("a.csv", "A,1,2.5\nB,-3,4\n", &["A", "B"], &[]),
        // R's write.table: no field above the names.
        ("a.txt", "\"x\" \"y\"\n\"1\" 1 2.5\n\"2\" -3 4\n", &["1", "2"], &["x", "y"]),
        // pandas with its default index.
        ("a.csv", ",x,y\n0,1,2.5\n1,-3,4\n", &["0", "1"], &["x", "y"]),
        ("a.tsv", "\t1990\t1991\nu v\t1\t2.5\nw\t-3\t4\n", &["u v", "w"], &["1990", "1991"]),
        ("a.csv", "x;y\r\n1;2.5\r\n-3;4", &[], &["x", "y"]),
        ("a.txt", "  1.0e0   2.5 \n -3 4\n\n", &[], &[]),
        ("a.csv", "\u{feff}x,y\n1,2.5\n\n-3,4\n\n", &[], &["x", "y"]),
        ("a.csv", "\"a, \"\"b\"\"\",y\n\"1\",2.5\n -3 , 4 \n", &[], &["a, \"b\"", "y"]),
        ("a.tab", "1\t2.5\n-3\t4\n", &[], &[]),
        // Separators inside of quotes separate nothing.
        ("a.csv", "\"x, cm\";\"y\t\"\n1;2.5\n-3;4\n", &[], &["x, cm", "y\t"]),
        ("a.txt", "\"x; \"\"a, b\"\"\" y\n1 2.5\n-3 4\n", &[], &["x; \"a, b\"", "y"]),
        // A name may look like a missing number where it is clear that it is a name.
        ("a.csv", ",x,y\nNA,1,2.5\n,-3,4\n", &["NA", ""], &["x", "y"]),
    ];
    for (name, text, rows, cols) in cases {
        let loaded = load(name, text.as_bytes()).unwrap();
        assert_eq!(loaded.row_names.as_deref().unwrap_or_default(), rows, "{text}");
        assert_eq!(loaded.column_names.as_deref().unwrap_or_default(), cols, "{text}");
        assert_eq!(dense(loaded), two, "{text}");
        let description = describe_bytes(name, text.as_bytes(), &ReadOptions::new()).unwrap();
        assert_eq!((description.rows, description.cols), (2, 2), "{text}");
    }
}

#[test]
fn what_is_said_of_a_table_counts() {
    let options = ReadOptions::new().format(Format::Csv);
    let table = b"1,2\n3,4\n";
    let loaded = read_bytes::<f64>("a", table, &options.clone().header(Detect::Yes)).unwrap();
    assert_eq!(loaded.column_names.as_deref().unwrap(), ["1", "2"]);
    assert_eq!(dense(loaded), array![[3.0, 4.0]]);
    let loaded = read_bytes::<f64>("a", table, &options.clone().row_names(Detect::Yes)).unwrap();
    assert_eq!(loaded.row_names.as_deref().unwrap(), ["1", "3"]);
    assert_eq!(dense(loaded), array![[2.0], [4.0]]);
    let loaded = read_bytes::<f64>("a", b"1|2\n", &options.separator(b'|')).unwrap();
    assert_eq!(dense(loaded), array![[1.0, 2.0]]);
}

#[test]
fn libsvm_is_read() {
    let text = b"# comment\n+1 1:0.5 3:-2 # x\n-1 qid:7 2:1e-3\n\n0\r\n";
    let loaded = load("a.svm", text).unwrap();
    assert_eq!(loaded.labels.as_deref().unwrap(), [1.0, -1.0, 0.0]);
    let wanted = array![[0.5, 0.0, -2.0], [0.0, 1e-3, 0.0], [0.0, 0.0, 0.0]];
    assert_eq!(dense(loaded), wanted);
    let zero_based = load_as(Format::Libsvm, b"1 0:5 2:6\n").unwrap();
    assert_eq!(dense(zero_based), array![[5.0, 0.0, 6.0]]);
    let options = ReadOptions::new().format(Format::Libsvm).zero_based(Detect::Yes).columns(4);
    let wide = read_bytes::<f64>("a", b"1 1:5 2:6\n", &options).unwrap();
    assert_eq!(dense(wide), array![[0.0, 5.0, 6.0, 0.0]]);
    let description = describe_bytes("a.svm", text, &ReadOptions::new()).unwrap();
    assert_eq!((description.rows, description.cols, description.entries), (3, 3, 3));
}

#[test]
fn folders_of_10x_have_a_row_for_each_cell() {
    let matrix = b"%%MatrixMarket matrix coordinate integer general\n%metadata_json: {}\n3 2 4\n1 1 5\n3 1 1\n2 2 7\n3 2 2\n";
    let features = b"ENSG1\tTP53\tGene Expression\nENSG2\tGAPDH\tGene Expression\nENSG3\tACTB\tGene Expression\n";
    let barcodes = b"AAAC-1\nAAAG-1\n";
    let wanted = array![[5.0, 0.0, 1.0], [0.0, 7.0, 2.0]];
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("matrix.mtx.gz", &gzip(matrix));
    write("features.tsv.gz", &gzip(features));
    write("barcodes.tsv.gz", &gzip(barcodes));
    let loaded = read::<f64>(folder.path()).unwrap();
    assert_eq!(loaded.row_names.as_deref().unwrap(), ["AAAC-1", "AAAG-1"]);
    assert_eq!(loaded.column_names.as_deref().unwrap(), ["TP53", "GAPDH", "ACTB"]);
    assert_eq!(dense(loaded), wanted);
    let by_id = read_with::<f64>(folder.path(), &ReadOptions::new().feature_ids(true)).unwrap();
    assert_eq!(by_id.column_names.as_deref().unwrap(), ["ENSG1", "ENSG2", "ENSG3"]);
    let description = favard_io::describe(folder.path()).unwrap();
    assert_eq!((description.rows, description.cols, description.entries), (2, 3, 4));
    // The older form: plain files, genes instead of features.
    let old = tempfile::tempdir().unwrap();
    std::fs::write(old.path().join("matrix.mtx"), matrix).unwrap();
    std::fs::write(old.path().join("genes.tsv"), features).unwrap();
    std::fs::write(old.path().join("barcodes.tsv"), barcodes).unwrap();
    assert_eq!(dense(read::<f64>(old.path()).unwrap()), wanted);
    // Names that do not fit.
    std::fs::write(old.path().join("barcodes.tsv"), b"AAAC-1\n").unwrap();
    let error = read::<f64>(old.path()).unwrap_err().to_string();
    assert!(error.ends_with("barcodes.tsv:2:1: names: expected 2, found 1"), "{error}");
}

#[test]
fn headers_are_enough_to_describe() {
    let about =
        |name: &str, bytes: &[u8]| describe_bytes(name, bytes, &ReadOptions::new()).unwrap();
    // No entry follows.
    let text = b"%%MatrixMarket matrix coordinate real symmetric\n1000000 1000000 5000000\n";
    let description = about("a.mtx", text);
    assert_eq!((description.rows, description.entries), (1_000_000, 10_000_000));
    assert!(description.is_upper_bound);
    assert_eq!(description.memory(8), 10_000_000 * 12 + 1_000_001 * 8);
    let description = about("a.npy", data!("big.npy"));
    assert_eq!((description.layout, &*description.dtype), (Layout::Dense, ">f4"));
    assert_eq!(description.memory(4), 48);
    let description = about("a.npz", data!("csc.npz"));
    assert_eq!((description.rows, description.cols, description.entries), (3, 4, 6));
    assert_eq!(description.format, Format::Npz);
}

#[test]
fn nothing_is_copied_on_the_way_to_an_operator() {
    let Matrix::Sparse(csr) = load("a.mtx", data!("coordinate.mtx")).unwrap().matrix else {
        panic!("sparse")
    };
    let address = csr.values().as_ptr();
    assert_eq!(Matrix::Sparse(csr).into_csr().unwrap().values().as_ptr(), address);
    let Matrix::Dense(array) = load("a.npy", data!("c.npy")).unwrap().matrix else {
        panic!("dense")
    };
    let address = array.as_ptr();
    assert_eq!(Matrix::Dense(array).into_dense().unwrap().view().as_ptr(), address);
    let array: Array2<f64> = sample();
    assert_eq!(Matrix::Dense(array).into_csr().unwrap().entries(), 6);
}
