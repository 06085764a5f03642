//! Bad input: one line that names the place, exit code 1, nothing written.

use crate::support::{Folder, run};

/// Every command that reads a file, on files that cannot be read.
#[test]
fn files_that_cannot_be_read() {
    let folder = Folder::new();
    let missing = folder.path("missing.mtx");
    let broken = folder
        .file("broken.mtx", "%%MatrixMarket matrix coordinate real general\n3 784 1\n1 785 0.5\n");
    let nan = folder.file("nan.csv", "1,2\n3,NaN\n");
    let ragged = folder.file("ragged.csv", "1,2\n3\n");
    let empty = folder.file("empty.csv", "");
    let line = folder.file("two\nlines.csv", "1,2\n3,x\n");
    let directory = folder.path(".");
    for command in ["pca", "svd", "plan", "spectrum"] {
        run(&[command, &missing]).failed("missing.mtx: No such file");
        run(&[command, &directory]).failed("is a folder without a matrix.mtx");
        run(&[command, &broken])
            .failed("broken.mtx:3:3: column index: expected 1..=784, found 785");
        run(&[command, &nan]).failed("nan.csv:2:3: ");
        run(&[command, &ragged]).failed("ragged.csv:2:");
        run(&[command, &empty]).failed("empty.csv: the file is empty");
        run(&[command, &line]).failed("two\\nlines.csv:2:3: ");
    }
    run(&["info", &missing]).failed("No such file");
    run(&["info", &empty]).failed("the file is empty");
    run(&["convert", &nan, &folder.path("out.npy")]).failed("nan.csv:2:3: ");
    assert!(!folder.join("out.npy").exists());
}

/// Parameters out of their range name the file and the numbers.
#[test]
fn parameters_out_of_range() {
    let folder = Folder::new();
    let table = folder.table();
    let with = |more: &[&str]| run(&[&["pca", &table], more].concat());
    with(&["-k", "4"]).failed("table.csv: components: 4 must be at least 1");
    with(&["-k", "0"]).failed("components: 0 must be at least 1");
    with(&["-k", "x"]).failed("invalid value 'x' for '--components <K>'");
    with(&["--solver", "simplex"]).failed("simplex is none of auto, exact, krylov");
    with(&["--tol", "NaN"]).failed("tolerance: NaN must be finite");
    with(&["--tol=-1"]).failed("tolerance: -1 must be finite and at least 0");
    with(&["--batch", "0"]).failed("'--batch <S>'");
    with(&["--threads", "0"]).failed("'--threads <N>'");
    with(&["--sovler", "exact"]).failed("unexpected argument '--sovler'");
    let one = folder.file("one.csv", "1,2\n");
    run(&["pca", &one]).failed("rows: 1 must be at least 2");
    run(&[]).failed("a command is missing");
    run(&["info"]).failed("required arguments were not provided");
}

/// A folder that cannot be made is known before the work is done; a start that does not fit is not
/// used.
#[test]
fn folders() {
    let folder = Folder::new();
    let table = folder.table();
    run(&["pca", &table, "-k", "1", "-o", &format!("{table}/out")]).failed("table.csv/out: ");
    run(&["pca", &table, "-k", "1", "--start", &folder.path("none")]).failed("components.npy: ");
    let out = folder.path("out");
    run(&["pca", &table, "-k", "1", "-o", &out]).met();
    let other = folder.file("other.csv", "1,0\n0,2\n4,1\n");
    run(&["pca", &other, "-k", "1", "--start", &out]).failed("expected 2, found 3");
}
