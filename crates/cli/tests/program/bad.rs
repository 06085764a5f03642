//! Bad input: one line that names the place, exit code 1, nothing written.

use std::fmt::Write as _;

use crate::support::{Folder, Ran, favard, gzip, run};

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
    // So many stopped the machine.
    with(&["--threads", "100000"]).failed("not a number from 1 to 1024");
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

/// Every command that reads a file, with the file as its data and as its second file.
fn commands(file: &str, good: &str, rhs: &str) -> Vec<Vec<String>> {
    let words = |args: &[&str]| args.iter().map(|word| (*word).to_string()).collect();
    vec![
        words(&["pca", file]),
        words(&["svd", file]),
        words(&["plan", file]),
        words(&["spectrum", file]),
        words(&["convert", file, &format!("{rhs}.npz")]),
        words(&["lstsq", file, rhs]),
        words(&["lstsq", good, file]),
        words(&["lstsq", good, rhs, "--weights", file]),
        words(&["kaczmarz", file, rhs]),
        words(&["kaczmarz", good, file]),
        words(&["complete", file, "--rank", "1"]),
    ]
}

/// Truncated, lying and hostile files, through every command: one line, exit code 1, and the folder
/// that was made for results is gone again.
#[test]
fn hostile_files() {
    let folder = Folder::new();
    let good = folder.table();
    let rhs = folder.file("rhs.csv", "1\n".repeat(40));
    let head = "%%MatrixMarket matrix coordinate real general\n";
    let mut long = head.to_string() + "1000 3 1000\n";
    for i in 1..=1000 {
        let _ = writeln!(long, "{i} {} {i}.5", i % 3 + 1);
    }
    let packed = gzip(long.as_bytes());
    let npy = folder.path("whole.npy");
    run(&["convert", &good, &npy, "--no-row-names"]).failed("table.csv:2:1: ");
    run(&["convert", &rhs, &npy]).met();
    let array = std::fs::read(&npy).unwrap();
    let files = [
        (folder.file("cut.mtx", &long[..long.len() - 20]), "cut.mtx:"),
        (folder.file("cut.mtx.gz", &packed[..packed.len() / 2]), "cut.mtx.gz: gzip stream: "),
        (
            folder.file("cut.npy", &array[..array.len() - 9]),
            "cut.npy: byte 128: bytes of the array",
        ),
        (
            folder.file("rows.mtx", format!("{head}1000000000000000000 3 1\n1 1 1\n")),
            "rows.mtx: rows: 1000000000000000000 exceeds the limit 16777217 (--limit empty-rows=N",
        ),
        (
            folder.file("columns.mtx", format!("{head}3 4294967296 1\n1 1 1\n")),
            "columns.mtx: columns: 4294967296 exceeds the limit 16777217 (--limit empty-columns=N",
        ),
        (
            folder.file("entries.mtx", format!("{head}3 3 1000000000000000000\n1 1 1\n")),
            "entries.mtx:4:1: entries: expected 1000000000000000000, found 1",
        ),
        (
            folder.file("range.mtx", format!("{head}3 3 1\n1 4 1\n")),
            "range.mtx:3:3: column index: expected 1..=3, found 4",
        ),
        (folder.file("inf.mtx", format!("{head}1 1 1\n1 1 inf\n")), "inf.mtx:3:5: value: `inf`"),
        // 80 MiB of blanks and ends of lines in 80 kB.
        (
            folder.file(
                "bomb.mtx.gz",
                gzip((head.to_string() + "3 3 1\n" + &" \n".repeat(40 << 20)).as_bytes()),
            ),
            "bomb.mtx.gz: unpacked bytes: 67108865 exceeds the limit 67108864 (--limit expansion=N",
        ),
    ];
    let out = folder.path("new/out");
    for (file, message) in &files {
        for mut args in commands(file, &good, &rhs) {
            if !["plan", "spectrum", "convert"].contains(&&*args[0]) {
                args.extend(["-o".to_string(), out.clone()]);
            }
            let words: Vec<&str> = args.iter().map(String::as_str).collect();
            run(&words).failed(message);
            assert!(!folder.join("new").exists(), "{words:?}");
            assert!(!std::fs::exists(format!("{rhs}.npz")).unwrap(), "{words:?}");
        }
    }
    // What a table can be.
    let tables = [
        (
            folder.file("bomb.csv.gz", gzip("0,0\n".repeat(20 << 20).as_bytes())),
            "unpacked bytes: 67108865",
        ),
        (
            folder.file("bomb.svm.gz", gzip("0\n".repeat(20 << 20).as_bytes())),
            "(--limit empty-rows=N allows more)",
        ),
        (folder.file("column.svm", "1 4294967295:1\n"), "(--limit empty-columns=N allows more)"),
        (
            folder.file("mixed.csv", "1,2\n3,4\n5,6,7\n"),
            "mixed.csv:3:5: values of the row: expected 2, found 3",
        ),
    ];
    for (file, message) in &tables {
        for command in ["pca", "svd", "spectrum"] {
            run(&[command, file]).failed(message);
        }
        run(&["lstsq", file, &rhs]).failed(message);
        run(&["kaczmarz", file, &rhs]).failed(message);
    }
}

/// A small file may not take the memory of the machine: 2²⁴ columns are allowed and cost the file
/// nothing, but a fit to them needs gigabytes. `--memory` stands for the memory there is.
#[test]
fn more_memory_than_there_is() {
    let folder = Folder::new();
    let head = "%%MatrixMarket matrix coordinate real general\n";
    let wide = folder.file("wide.mtx", format!("{head}3 16000000 3\n1 1 1\n2 2 1\n3 9 2\n"));
    let tall = folder.file("tall.mtx", format!("{head}3 1000000 3\n1 1 1\n2 1 1\n3 1 2\n"));
    let rhs = folder.file("rhs.csv", "1\n2\n3\n");
    for args in [
        &["pca", &wide][..],
        &["svd", &wide],
        &["spectrum", &wide],
        &["plan", &wide],
        &["lstsq", &wide, &rhs],
        &["kaczmarz", &wide, &rhs],
        &["complete", &wide, "--rank", "1"],
        &["convert", &wide, &folder.path("out.npy")],
    ] {
        let ran = run(&[args, &["--memory", "100M"]].concat());
        ran.failed("wide.mtx: ");
        ran.failed(" bytes of memory, and ");
    }
    // As a right-hand side it is written out in full: 3 million numbers, and again as a block.
    let a = folder.file("a.csv", "1,2\n3,4\n5,7\n");
    let ran = run(&["lstsq", &a, &tall, "--memory", "40M"]);
    ran.failed("tall.mtx: the dense matrix needs 48000000 bytes of memory, and ");
    let ran = run(&["lstsq", &a, &wide, "--memory", "100M"]);
    ran.failed("wide.mtx: the dense matrix needs 768000000 bytes");
    run(&["lstsq", &a, &rhs, "--weights", &wide])
        .failed("wide.mtx: columns: expected 1, found 16000000");
    // So many right-hand sides of so few unknowns once overflowed the stack.
    let many = folder.file("many.mtx", format!("{head}3 5000 3\n1 1 1\n2 1 1\n3 9 2\n"));
    for command in ["lstsq", "kaczmarz"] {
        let json = run(&[command, &a, &many, "--max-passes", "20", "--json"]).json();
        assert_eq!(json["right_hand_sides"], 5000);
    }
    run(&["kaczmarz", &a, &many, "--checkpoint", &folder.path("run")])
        .failed("many.mtx: columns: 5000 are more than the 2 of the matrix");
    run(&["kaczmarz", &rhs, &folder.file("two.csv", "1\n2\n")]).failed("rows: expected 3, found 2");
    run(&["pca", &a, "-k", "1", "--memory", "1G"]).met();
    run(&["pca", &a, "--memory", "lots"]).failed("not a number of bytes");
}

/// Numbers of 10¹⁸ where the program would make a list as long.
#[test]
fn arguments_that_are_too_large() {
    let folder = Folder::new();
    let table = folder.table();
    let rhs = folder.file("rhs.csv", "1\n".repeat(40));
    let huge = "1000000000000000000";
    run(&["spectrum", &table, "--bins", huge]).failed("'--bins <N>'");
    run(&["spectrum", &table, "--probes", huge, "-k", huge, "--json"]).met();
    run(&["pca", &table, "-k", huge]).failed("components: ");
    for solver in ["minibatch", "vr", "oja"] {
        let ran = run(&["pca", &table, "-k", "1", "--solver", solver, "--batch", huge, "--json"]);
        assert!(matches!(ran.code, Some(0 | 2)), "{solver}: {}", ran.err);
    }
    for more in [&[][..], &["--inconsistent"], &["--blocks"]] {
        let args = [&["kaczmarz", &table, &rhs, "--batch", huge, "--json"], more].concat();
        let ran = run(&args);
        assert!(matches!(ran.code, Some(0 | 2)), "{more:?}: {}", ran.err);
        assert_eq!(ran.json()["batch"], 40);
    }
    let known = folder.file("k.csv", "a,x,1\na,y,2\nb,x,2\nb,y,4\n");
    run(&["complete", &known, "--rank", huge]).failed("k.csv: ");
}

/// No permission. The superuser, whom tests in containers run as, may read everything, so that for
/// him there is only what nobody can open: a file below something that is no folder.
#[cfg(unix)]
#[test]
fn files_that_nobody_may_open() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let table = folder.table();
    let rhs = folder.file("rhs.csv", "1\n".repeat(40));
    let below = format!("{table}/data.mtx");
    let closed =
        folder.file("closed.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 0\n");
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
    let is_root = std::fs::File::open(&closed).is_ok();
    for args in commands(&below, &table, &rhs) {
        let words: Vec<&str> = args.iter().map(String::as_str).collect();
        run(&words).failed("table.csv/data.mtx: Not a directory");
    }
    for args in commands(&closed, &table, &rhs).iter().filter(|_| !is_root) {
        let words: Vec<&str> = args.iter().map(String::as_str).collect();
        run(&words).failed("closed.mtx: Permission denied");
    }
}

/// A full disk: for the page, a result, the output and a checkpoint. What was there before is still
/// whole.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let folder = Folder::new();
    let table = folder.table();
    let pca = ["pca", &table, "-k", "1"];
    let with = |more: &[&str]| run(&[&pca[..], more].concat());
    with(&["--report", "/dev/full"]).failed("/dev/full: No space left on device");
    for name in ["components.csv", "scores.npy", "summary.json"] {
        let out = folder.path(&format!("out {name}"));
        std::fs::create_dir(&out).unwrap();
        std::os::unix::fs::symlink("/dev/full", format!("{out}/{name}")).unwrap();
        with(&["-o", &out]).failed(&format!("{name}: No space left on device"));
    }
    run(&["convert", &table, "/dev/full"]).failed("none of mtx, npz");
    let full = folder.path("full.npy");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let ran = run(&["convert", &table, &full]);
    assert!(ran.code == Some(1) && ran.err.contains("full.npy: No space left"), "{}", ran.err);
    let disk = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for args in [&pca[..], &["info", &table], &["plan", &table, "--json"]] {
        let ran = Ran::from(favard(args).stdout(disk()).output().unwrap());
        ran.failed("standard output: No space left on device");
    }
}

/// Who closes the output has seen enough: that is no error, and does not make a request met that is
/// not.
#[cfg(unix)]
#[test]
fn a_closed_pipe() {
    let folder = Folder::new();
    let table = folder.table();
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        writer
    };
    let ends = |args: &[&str]| {
        favard(args).stdout(closed()).stderr(closed()).output().unwrap().status.code()
    };
    assert_eq!(ends(&["pca", &table, "-k", "1"]), Some(0));
    assert_eq!(ends(&["info", &table]), Some(0));
    let short = ["pca", "-k", "3", "--solver", "power", "--max-passes", "3", "--tol", "1e-12"];
    assert_eq!(ends(&short), Some(2));
    assert_eq!(ends(&["pca", &folder.path("none.csv")]), Some(1));
}
