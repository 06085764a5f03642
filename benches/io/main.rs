//! How fast are Matrix Market files loaded, against `scipy.io.mmread` (which has several threads)?
//!
//! ```text
//! cargo bench -p favard-benches --bench io -- [--entries N] [--rounds N] [--no-scipy]
//! ```
//!
//! Files of N entries (default 10 million) with values of 17 digits, by rows and by columns, and with
//! small whole numbers. Both sides load them in turn; the best round counts. scipy gives triplets
//! (`mmread`), favard a checked CSR matrix: the conversion that makes them equal (`tocsr`) is shown
//! beside it, and not counted.

mod files;
mod scipy;

use std::process::ExitCode;
use std::time::Instant;

use favard_benches::Outcome;
use files::Kind;
use scipy::Scipy;

fn main() -> ExitCode {
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
    println!("file              MB    favard s    MB/s   mmread s   tocsr s   times mmread");
    for kind in [Kind::Rows, Kind::Columns, Kind::Whole] {
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
        std::fs::remove_file(&path)?;
    }
    Ok(())
}
