//! The memory that a fit states before it runs is the memory it takes: counted, not believed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use favard_models::{Pca, Solver, StreamingPca, TruncatedSvd};
use favard_operator::{Block, ColumnMoments, Csr, Dense, RowOperator, Scalar, Workspace};

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged; the counters are atomic.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the pointer came from `System.alloc` above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that `f` had allocated at its worst, beyond what was there before.
fn peak<R>(f: impl FnOnce() -> R) -> (usize, R) {
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let result = f();
    (PEAK.load(Ordering::Relaxed) - before, result)
}

fn sparse(rows: usize, cols: usize) -> Csr<'static, f64> {
    // Twenty entries a row, at columns that a fixed rule scatters, heavier to the left.
    let mut triplets = sprs::TriMat::new((rows, cols));
    for i in 0..rows {
        for e in 0..20_usize {
            let column = (i * 7919 + e * e * 104_729 + e * i) % cols;
            triplets.add_triplet(i, column, 1.0 + 3.0 / (1.0 + column as f64));
        }
    }
    Csr::from_sprs(triplets.to_csr::<usize>()).unwrap()
}

/// What is stated covers what is taken, and is at most twice that.
fn assert_stated(name: &str, stated: usize, taken: usize) {
    assert_within(name, stated, taken, 2);
}

/// The same, at most so many times.
fn assert_within(name: &str, stated: usize, taken: usize, times: usize) {
    println!("{name}: stated {stated}, took {taken}");
    assert!(taken <= stated, "{name}: stated {stated}, took {taken}");
    assert!(stated <= times * taken, "{name}: stated {stated}, took only {taken}");
}

/// The partial sums of a dense Gram matrix, which are several times the matrix; weights; the other
/// methods of an engine; samples; the other models.
fn other_fits() {
    let rows = Block::<f64>::gaussian(8000, 150, 3);
    let dense = Dense::new(rows.view()).unwrap();
    let tall = sparse(6000, 500);
    let pca = Pca::new(5).solver(Solver::Exact);
    let (taken, _) = peak(|| pca.fit(&dense).unwrap());
    assert_stated("partial sums", pca.memory(&dense).unwrap(), taken);
    let (taken, _) = peak(|| pca.fit(&tall).unwrap());
    assert_stated("formed by products", pca.memory(&tall).unwrap(), taken);

    // An iteration that is given up for the matrix.
    let flat = Block::<f64>::gaussian(8000, 400, 3);
    let (flat, pca) = (Dense::new(flat.view()).unwrap(), Pca::new(1).tolerance(1e-8));
    let (taken, fit) = peak(|| pca.fit(&flat).unwrap());
    assert!(fit.method().1.contains("were not enough"), "{:?}", fit.method());
    assert_stated("given up", pca.memory(&flat).unwrap(), taken);

    let weights: Vec<f64> = (0..6000).map(|i| 1.0 + f64::from(i % 3)).collect();
    let pca = Pca::new(5).scale(true).solver(Solver::Lanczos).products(60);
    let stated = pca.on(&tall).weights(&weights).unwrap().memory().unwrap();
    let (taken, _) = peak(|| pca.fit_weighted(&tall, &weights).unwrap());
    assert_stated("weights", stated, taken);

    for solver in [
        Solver::Power,
        Solver::Momentum,
        Solver::Chebyshev,
        Solver::HeavyBall,
        Solver::Inhomogeneous,
    ] {
        let x = sparse(6000, 2000);
        let pca = Pca::new(6).solver(solver).products(60);
        let (taken, _) = peak(|| pca.fit(&x).unwrap());
        // Without a gauge, or with one for one block, it is less than for the pair.
        assert_within(solver.name(), pca.memory(&x).unwrap(), taken, 3);
    }
    for solver in [Solver::Oja, Solver::OjaMomentum, Solver::AdaOja, Solver::VrPca, Solver::Vr] {
        let pca = Pca::new(5).solver(solver).batch(300).tolerance(0.1).products(20);
        let pca = if solver == Solver::Vr { pca.epoch(5) } else { pca };
        let (taken, _) = peak(|| pca.fit(&dense).unwrap());
        assert_within(&format!("dense {solver}"), pca.memory(&dense).unwrap(), taken, 4);
        let (taken, _) = peak(|| pca.fit(&tall).unwrap());
        assert_within(&format!("sparse {solver}"), pca.memory(&tall).unwrap(), taken, 4);
    }
    // A batch of the method's own may be all rows, and is mostly less.
    let pca = Pca::new(5).solver(Solver::MiniBatch).tolerance(0.3).products(20);
    let (stated, (taken, _)) = (pca.memory(&dense).unwrap(), peak(|| pca.fit(&dense)));
    assert!(taken <= stated, "mini-batch: stated {stated}, took {taken}");

    for x in [sparse(6000, 2000), sparse(2000, 6000)] {
        let svd = TruncatedSvd::new(5).solver(Solver::Lanczos).products(60);
        let (taken, _) = peak(|| svd.fit(&x).unwrap());
        assert_stated("SVD", svd.memory(&x).unwrap(), taken);
    }
    let mut stream = StreamingPca::new(5);
    for part in 0..3 {
        let batch = rows.as_ref().rows_range(part * 500..(part + 1) * 500);
        let batch = Dense::new(batch.into_view()).unwrap();
        let stated = stream.memory(&batch).unwrap();
        let (taken, ()) = peak(|| stream.partial_fit(&batch).unwrap());
        assert_stated("stream", stated, taken);
    }
}

/// A matrix that stays in its file takes two parts of it, and the fit what it states: less than the
/// matrix in all.
fn on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let matrix = sparse(60_000, 600);
    let bytes = matrix.entries() * 12;
    favard_io::write_npz_stored(&path, &matrix).unwrap();
    drop(matrix);
    let pca = Pca::new(3).solver(Solver::Lanczos).products(60);
    let stated = {
        let x = favard_io::OnDisk::<f64>::open(&path).unwrap().with_part_entries(20_000);
        x.memory() + pca.memory(&x).unwrap()
    };
    let (taken, fit) = peak(|| {
        let x = favard_io::OnDisk::<f64>::open(&path).unwrap().with_part_entries(20_000);
        pca.fit(&x).unwrap()
    });
    assert!(fit.is_certified());
    assert!(taken <= stated, "on disk: stated {stated}, took {taken}");
    assert!(2 * taken < bytes, "on disk: took {taken} for a matrix of {bytes}");
    // A batch of all rows is read in parts as well.
    let (rows, v) = ((0..60_000).collect::<Vec<_>>(), Block::<f64>::gaussian(600, 1, 1));
    let (mut z, mut ws) = (Block::zeros(60_000, 1), Workspace::new());
    let (taken, stated) = peak(|| {
        let x = favard_io::OnDisk::<f64>::open(&path).unwrap().with_part_entries(20_000);
        x.apply_rows(&rows, v.as_ref(), z.as_mut(), &mut ws).unwrap();
        x.memory()
    });
    assert!(taken <= stated, "rows on disk: stated {stated}, took {taken}");
}

/// One test: the counter is one for the whole process.
#[test]
fn peaks_are_stated() {
    // What faer's matrix products set up once for each thread (64 MiB of address space) is not the
    // fit's.
    let once = || Pca::new(2).solver(Solver::Lanczos).fit(&sparse(300, 200)).unwrap();
    once();
    rayon::broadcast(|_| once());
    for (rows, cols) in [(6000, 2000), (2000, 6000)] {
        let x = sparse(rows, cols);
        for components in [5, 30] {
            for (scale, solver) in
                [(true, Solver::Lanczos), (false, Solver::Lanczos), (false, Solver::Dynamic)]
            {
                let pca = Pca::new(components).scale(scale).solver(solver).products(60);
                let stated = pca.memory(&x).unwrap();
                let (taken, fit) = peak(|| pca.fit(&x).unwrap());
                assert_stated(&format!("{rows} {components} {scale} {solver:?}"), stated, taken);
                assert!(fit.info().applications > 3);
                // A small multiple of (n + d) k, in numbers; for few components of a panel of 8.
                let unit = (rows + cols) * components.max(8) * size_of::<f64>();
                assert!(stated <= 12 * unit, "{}", stated as f64 / unit as f64);
            }
        }
    }
    // Stored by its shorter side, and turned: the copy is counted.
    let x = sparse(300, 40_000);
    let copy = x.turned_bytes().unwrap();
    for (center, solver) in [(true, Solver::Lanczos), (true, Solver::Exact), (false, Solver::Auto)]
    {
        let pca = Pca::new(10).center(center).solver(solver);
        let stated = pca.memory(&x).unwrap();
        let (taken, _) = peak(|| pca.fit(&x).unwrap());
        assert!(stated > copy);
        assert_stated(&format!("turned {center} {solver}"), stated, taken);
        let svd = TruncatedSvd::new(10).solver(solver);
        let (taken, _) = peak(|| svd.fit(&x).unwrap());
        assert_stated(&format!("turned SVD {solver}"), svd.memory(&x).unwrap(), taken);
    }
    let x = sparse(3000, 300);
    for single in [false, true] {
        let rows = Block::<f64>::gaussian(1500, 400, 3);
        let pca = Pca::new(10).solver(Solver::Exact);
        let (name, stated, taken) = if single {
            let x = Dense::new(rows.view().mapv(f32::of)).unwrap();
            ("f32", pca.memory(&x).unwrap(), peak(|| pca.fit(&x).unwrap()).0)
        } else {
            ("f64", pca.memory(&x).unwrap(), peak(|| pca.fit(&x).unwrap()).0)
        };
        assert_stated(name, stated, taken);
    }
    other_fits();
    on_disk();
}
