//! The memory that a fit states before it runs is the memory it takes: counted, not believed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use favard_models::{Pca, Solver};
use favard_operator::{Block, Csr, Dense, Scalar};

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
    assert!(taken <= stated, "{name}: stated {stated}, took {taken}");
    assert!(stated <= 2 * taken, "{name}: stated {stated}, took only {taken}");
    println!("{name}: stated {stated}, took {taken}");
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
}
