//! After its first steps an engine allocates nothing: counted, not believed.
//!
//! The steps run on a rayon worker: a parallel call from a thread outside of the pool goes through
//! rayon's queue, which allocates a block of it for every few dozen calls.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use favard_engine::Engine;
use favard_engine::gauge::{AugmentedQr, Gauge, GaugeFits, NoGauge, Norm, PeriodicQr};
use favard_engine::map::{Affine, Exact, MiniBatch, StepMap, Svrg, VarianceReduced};
use favard_engine::recurrence::{
    BestHeavyBall, Dynamic, HeavyBall, Momentum, Oja, Recurrence, Start,
};
use favard_operator::{Block, Centered, Csr, Dense, Gram, Sampler, Scaled, Weighted};

struct Counting;

static COUNT: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged; the counter is atomic.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `System.alloc` above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn assert_none<M, R, G>(name: &str, map: M, recurrence: R, gauge: G, start: Block<f64>)
where
    M: StepMap<f64> + Send,
    R: Recurrence<f64> + Send,
    G: Gauge<f64> + GaugeFits<M> + Send,
{
    let mut engine = Engine::new(map, recurrence, start).unwrap().with_gauge(gauge);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let counted = pool.install(|| {
        for _ in 0..60 {
            engine.advance().unwrap();
        }
        // What a step allocates it allocates in every window; the thread pool's own bookkeeping,
        // which is not ours, only now and then.
        let mut window = || {
            let before = COUNT.load(Ordering::Relaxed);
            for _ in 0..40 {
                engine.advance().unwrap();
            }
            COUNT.load(Ordering::Relaxed) - before
        };
        (0..5).map(|_| window()).min()
    });
    let counted = counted.unwrap_or(u64::MAX);
    assert_eq!(counted, 0, "{name}: {counted} allocations in 40 steps");
}

fn rows() -> ndarray::Array2<f64> {
    Block::gaussian(3000, 200, 1).view().to_owned()
}

fn sparse() -> Csr<'static, f64> {
    let dense = rows().mapv(|v| if v > 1.5 { v } else { 0.0 });
    Csr::from_sprs(sprs::CsMat::csr_from_dense(dense.view(), 0.0)).unwrap()
}

fn momentum() -> Momentum<f64> {
    Momentum::new(0.01, Start::U).unwrap()
}

fn start(cols: usize) -> Block<f64> {
    Block::gaussian(200, cols, 2)
}

fn exact_sparse() {
    let x = sparse();
    for cols in [1, 8, 20] {
        let map = || Exact::new(Gram::new(&x)).unwrap();
        assert_none("norm", map(), momentum(), Norm, start(cols));
        assert_none("augmented QR", map(), momentum(), AugmentedQr::new(cols), start(cols));
        let gauge = PeriodicQr::new(cols, 3).unwrap();
        assert_none("periodic QR", map(), momentum(), gauge, start(cols));
    }
}

fn exact_wrapped() {
    let x = sparse();
    let scaled = Scaled::new(&x, vec![2.0; 200]).unwrap();
    let centred = Centered::by_mean(scaled).unwrap();
    let weighted = Weighted::new(centred, vec![0.5; 3000]).unwrap();
    let map = Exact::new(Gram::new(weighted)).unwrap();
    assert_none("weighted, centred, scaled", map, momentum(), AugmentedQr::new(8), start(8));
}

fn exact_dense() {
    for cols in [1, 8] {
        let map = Exact::new(Gram::new(Dense::new(rows()).unwrap())).unwrap();
        assert_none("dense", map, momentum(), AugmentedQr::new(cols), start(cols));
    }
}

fn sampled() {
    let x = sparse();
    let sampler = || Sampler::distinct(3000, 100, 3).unwrap();
    let map = MiniBatch::new(Gram::new(&x), sampler()).unwrap();
    assert_none("mini-batch", map, Oja::new(0.1, 0.0).unwrap(), Norm, start(1));
    let map = VarianceReduced::new(Gram::new(&x), sampler(), 7).unwrap();
    assert_none("variance-reduced", map, momentum(), AugmentedQr::new(4), start(4));
}

fn affine() {
    let x = sparse();
    let ball = || HeavyBall::new(0.01, 0.5).unwrap();
    let map = Affine::new(Exact::new(Gram::new(&x)).unwrap(), start(2)).unwrap();
    assert_none("affine", map, ball(), NoGauge, start(2));
    let sampler = Sampler::uniform(3000, 100, 3).unwrap();
    let map = Svrg::new(Gram::new(&x), start(2), sampler, 5).unwrap();
    assert_none("svrg", map, ball(), NoGauge, start(2));
}

/// The measuring recurrences too.
fn measured() {
    let x = sparse();
    let map = || Exact::new(Gram::new(&x)).unwrap();
    assert_none("dynamic", map(), Dynamic::default(), AugmentedQr::new(4), start(4));
    assert_none("best heavy ball", map(), BestHeavyBall::default(), Norm, start(1));
}

/// One test, because the counter is one for the whole process: the preparations of another test, and
/// what the harness writes when it ends, would be counted too.
#[test]
fn steps_do_not_allocate() {
    exact_sparse();
    exact_wrapped();
    exact_dense();
    sampled();
    affine();
    measured();
}
