//! All products of one precision.

use std::time::Instant;

use favard_benches::Outcome;
use favard_operator::{AdjointOperator, Block, Csr, Gram, LinearOperator, Scalar, Workspace};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::matrix::{block, random};
use crate::options::Options;
use crate::scipy::Scipy;
use crate::triad::Triad;

const WIDTHS: [usize; 4] = [1, 8, 16, 32];
const THREADS: [usize; 2] = [1, 2];
const NAMES: [&str; 3] = ["X W", "X' Z", "X'(X W)"];

/// The best of the rounds: seconds of our three products and the triad's rate for each number of
/// threads, and scipy's seconds.
struct Best {
    ours: [[f64; 3]; 2],
    triad: [f64; 2],
    scipy: [f64; 3],
}

struct Blocks<T> {
    w: Block<T>,
    z: Block<T>,
    y: Block<T>,
}

/// Measures and prints one table.
pub fn run<T: Scalar>(options: &Options) -> Outcome<()> {
    let x = random::<T>(options)?;
    let (rows, cols) = x.shape();
    let bits = 8 * size_of::<T>();
    let [most, least] = [WIDTHS[0], WIDTHS[3]].map(|k| options.rounds_of(k));
    let entries = x.entries();
    println!("\nf{bits}: {rows} × {cols}, {entries} entries, best of {most} (k = 1) to {least}");
    let mut scipy = match options.scipy.then(|| Scipy::start(&x)) {
        None => None,
        Some(Ok(scipy)) => Some(scipy),
        Some(Err(error)) => {
            println!("scipy is not measured: {error}");
            None
        }
    };
    if let Some(scipy) = &scipy {
        println!("scipy {} on one thread, as it always runs", scipy.version);
    }
    println!(
        "{:8} {:>3} {:>8} {:>9} {:>9} {:>7} {:>8} {:>9} {:>8}",
        "product", "k", "threads", "MB", "ms", "GB/s", "triad %", "scipy ms", "speedup"
    );
    let pools: Vec<ThreadPool> = THREADS
        .iter()
        .map(|&threads| ThreadPoolBuilder::new().num_threads(threads).build())
        .collect::<Result<_, _>>()?;
    for k in WIDTHS {
        let mut blocks =
            Blocks { w: block(cols, k), z: Block::zeros(rows, k), y: Block::zeros(cols, k) };
        let best = measure(options, &x, &mut blocks, &pools, scipy.as_mut())?;
        print(&x, k, &best, scipy.is_some());
        if let Some(scipy) = &mut scipy {
            compare(&blocks, scipy, k)?;
        }
    }
    Ok(())
}

fn measure<T: Scalar>(
    options: &Options,
    x: &Csr<'_, T>,
    blocks: &mut Blocks<T>,
    pools: &[ThreadPool],
    mut scipy: Option<&mut Scipy>,
) -> Outcome<Best> {
    let mut best = Best { ours: [[f64::MAX; 3]; 2], triad: [0.0; 2], scipy: [f64::MAX; 3] };
    let gram = Gram::new(x.view()).with_scale(1.0)?;
    let (mut ws, mut triad) = (Workspace::new(), Triad::new());
    let Blocks { w, z, y } = blocks;
    let (one, zero) = (T::one(), T::zero());
    // One round more than asked for: the first warms up.
    for round in 0..=options.rounds_of(w.cols()) {
        for (t, pool) in pools.iter().enumerate() {
            pool.install(|| -> favard_operator::Result<()> {
                let start = Instant::now();
                x.apply(one, w.as_ref(), zero, z.as_mut(), &mut ws)?;
                let forward = start.elapsed();
                let start = Instant::now();
                x.apply_adjoint(one, z.as_ref(), zero, y.as_mut(), &mut ws)?;
                let adjoint = start.elapsed();
                let start = Instant::now();
                gram.apply(one, w.as_ref(), zero, y.as_mut(), &mut ws)?;
                let seconds = [forward, adjoint, start.elapsed()];
                if round > 0 {
                    for (best, seconds) in best.ours[t].iter_mut().zip(seconds) {
                        *best = best.min(seconds.as_secs_f64());
                    }
                    best.triad[t] = best.triad[t].max(triad.measure());
                }
                Ok(())
            })?;
        }
        if let Some(scipy) = scipy.as_deref_mut() {
            let seconds = scipy.measure(w.cols())?;
            for (best, seconds) in best.scipy.iter_mut().zip(seconds) {
                *best = best.min(seconds);
            }
        }
    }
    Ok(best)
}

fn print<T: Scalar>(x: &Csr<'_, T>, k: usize, best: &Best, has_scipy: bool) {
    let ((rows, cols), number) = (x.shape(), size_of::<T>());
    let matrix = x.entries() * (4 + number) + (rows + 1) * size_of::<usize>();
    // Each block once: W in and Z out, Z in and Y out, W in and Y out.
    let bytes = [rows + cols, rows + cols, cols + cols].map(|lines| matrix + lines * k * number);
    for product in 0..3 {
        for (t, threads) in THREADS.iter().enumerate() {
            let seconds = best.ours[t][product];
            let rate = bytes[product] as f64 / seconds;
            print!(
                "{:8} {k:3} {threads:8} {:9.1} {:9.2} {:7.2} {:8.1}",
                NAMES[product],
                bytes[product] as f64 / 1e6,
                seconds * 1e3,
                rate / 1e9,
                100.0 * rate / best.triad[t],
            );
            if has_scipy {
                let scipy = best.scipy[product];
                print!(" {:9.2} {:8.2}", scipy * 1e3, scipy / seconds);
            }
            println!();
        }
    }
}

/// How far our results are from scipy's, relative to the largest number.
fn compare<T: Scalar>(blocks: &Blocks<T>, scipy: &mut Scipy, k: usize) -> Outcome<()> {
    let (forward, gram) = scipy.results(k)?;
    let deviation = |ours: &Block<T>, theirs: &[f64]| {
        let numbers = (0..ours.rows()).flat_map(|i| ours.row(i)).map(|v| v.as_f64());
        let largest = theirs.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let worst = numbers.zip(theirs).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
        worst / largest
    };
    println!(
        "         {k:3} agrees with scipy: X W to {:.1e}, X'(X W) to {:.1e} of the largest number",
        deviation(&blocks.z, &forward),
        deviation(&blocks.y, &gram)
    );
    Ok(())
}
