//! How fast are Matrix Market files loaded, against `scipy.io.mmread` (which has several threads)?
//!
//! ```text
//! cargo bench -p favard-benches --bench io -- [--entries N] [--rounds N] [--no-scipy]
//! ```
//!
//! Files of N entries (default 10 million) with values of 17 digits, by rows, by columns and in no order, with
//! short decimals and with small whole numbers. Both sides load them in turn; the best round counts. scipy gives triplets
//! (`mmread`), favard a checked CSR matrix: the conversion that makes them equal (`tocsr`) is shown
//! beside it, and not counted.
//!
//! Then the program, `favard pca -k 10`, on the first of the files, from start to finish: its time is
//! to be within 1.5 times the solver's own, and its peak of memory within 1.5 times the matrix in CSR
//! and what the fit states (beside that of a run on nothing, which is shown). Then the same with the
//! matrix left on disk.

mod files;
mod program;
mod scipy;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use favard_benches::Outcome;
use favard_models::Pca;
use files::Kind;
use program::Program;
use scipy::Scipy;

fn main() -> ExitCode {
    if favard_benches::help(include_str!("main.rs")) {
        return ExitCode::SUCCESS;
    }
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut args: impl Iterator<Item = String>) -> Outcome<()> {
    let (mut entries, mut rounds, mut has_scipy) = (10_000_000, 5, true);
    while let Some(flag) = args.next() {
        let mut number = || -> Outcome<usize> {
            Ok(args.next().ok_or_else(|| format!("{flag}: a number is missing"))?.parse()?)
        };
        match flag.as_str() {
            "--entries" => entries = number()?,
            "--rounds" => rounds = number()?.max(1),
            "--no-scipy" => has_scipy = false,
            "--bench" => {}
            _ => return Err(format!("{flag}: not known").into()),
        }
    }
    let folder = favard_benches::folder("io")?;
    let mut scipy = if has_scipy { Some(Scipy::start(&folder)?) } else { None };
    if let Some(scipy) = &scipy {
        println!(
            "scipy {}, {} threads, best of {rounds}",
            scipy.version,
            rayon::current_num_threads()
        );
    }
    let mut whole = None;
    println!("file              MB    favard s    MB/s   mmread s   tocsr s   times mmread");
    for kind in [Kind::Rows, Kind::Columns, Kind::Shuffled, Kind::Short, Kind::Whole] {
        let path = folder.join(format!("{}.mtx", kind.name()));
        files::write(&path, kind, entries)?;
        let megabytes = std::fs::metadata(&path)?.len() as f64 / 1e6;
        let (mut ours, mut theirs, mut convert) = (f64::MAX, f64::MAX, f64::MAX);
        for _ in 0..rounds {
            let start = Instant::now();
            let csr = favard_io::read::<f64>(&path)?.matrix.into_csr()?;
            ours = ours.min(start.elapsed().as_secs_f64());
            let sum: f64 = csr.values().iter().sum();
            // Of sums of the same n numbers in two orders: 2 n ε Σ|v|.
            let size: f64 = csr.values().iter().map(|value| value.abs()).sum();
            let bound = 2.0 * csr.entries() as f64 * f64::EPSILON * size;
            let found = csr.entries();
            drop(csr);
            if let Some(scipy) = &mut scipy {
                let measured = scipy.read(&path)?;
                theirs = theirs.min(measured.seconds);
                convert = convert.min(measured.convert);
                if measured.entries != found || (measured.sum - sum).abs() > bound {
                    return Err(format!("{}: the matrices differ", path.display()).into());
                }
            }
        }
        print!("{:12} {megabytes:8.1} {ours:11.3} {:7.0}", kind.name(), megabytes / ours);
        if has_scipy {
            print!(" {theirs:10.3} {convert:9.3} {:14.2}", theirs / ours);
        }
        println!();
        if kind == Kind::Rows {
            whole = Some(path);
        } else {
            std::fs::remove_file(&path)?;
        }
    }
    let Some(path) = whole else { return Ok(()) };
    start_to_finish(&path, &folder, rounds)?;
    std::fs::remove_file(&path)?;
    Ok(())
}

/// The program on a file, the best of some rounds.
fn start_to_finish(path: &Path, folder: &Path, rounds: usize) -> Outcome<()> {
    const COMPONENTS: usize = 10;
    let program = Program::build()?;
    let tiny = folder.join("tiny.csv");
    std::fs::write(&tiny, "1,2\n3,4\n5,7\n")?;
    let base = program.pca(&tiny, 1, &[])?.peak.unwrap_or(0);
    std::fs::remove_file(&tiny)?;
    let mut best = program.pca(path, COMPONENTS, &[])?;
    for _ in 1..rounds {
        let run = program.pca(path, COMPONENTS, &[])?;
        if run.wall < best.wall {
            best = run;
        }
    }
    let matrix = favard_io::read::<f64>(path)?.matrix;
    let bytes = matrix.bytes() as f64;
    let csr = matrix.into_csr()?;
    let stated = Pca::new(COMPONENTS).memory(&csr)? as f64;
    let stored = folder.join("stored.npz");
    favard_io::write_npz_stored(&stored, &csr)?;
    drop(csr);
    let disk = program.pca(&stored, COMPONENTS, &["--on-disk"])?;
    std::fs::remove_file(&stored)?;
    println!(
        "\nfavard pca -k {COMPONENTS}: {:.2} s from start to finish, {:.2} s the fit: {:.2} times (at most 1.5)",
        best.wall,
        best.fit,
        best.wall / best.fit,
    );
    if let Some(peak) = best.peak {
        let (peak, base) = (peak as f64, base as f64);
        println!(
            "peak {:.1} MB; matrix {:.1} MB, the fit's statement {:.1} MB, a run on nothing {:.1} MB: \
             {:.2} times the matrix beside them (at most 1.5)",
            peak / 1e6,
            bytes / 1e6,
            stated / 1e6,
            base / 1e6,
            (peak - stated - base) / bytes,
        );
    }
    println!(
        "the same, the matrix on disk: {:.2} s the fit, {:.2} times; peak {:.1} MB",
        disk.fit,
        disk.fit / best.fit,
        disk.peak.unwrap_or(0) as f64 / 1e6,
    );
    Ok(())
}
