//! After its first steps an engine allocates nothing: counted, not believed.
//!
//! The steps run on a rayon worker: a parallel call from a thread outside of the pool goes through
//! rayon's queue, which allocates a block of it for every few dozen calls.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use favard_engine::gauge::{AugmentedQr, Gauge, GaugeFits, NoGauge, Norm, PeriodicQr};
use favard_engine::map::{Affine, Exact, MiniBatch, StepMap, Stream, Svrg, VarianceReduced};
use favard_engine::recurrence::{
    BestHeavyBall, Dynamic, HeavyBall, Momentum, Oja, Recurrence, Start,
};
use favard_engine::{Engine, Record, Stop};
use favard_models::least_squares::{Method, RowGradient, Scaling};
use favard_models::{
    BatchCovariance, BlockProjection, ExtendedProjection, LeastSquares, SubspaceTracker,
};
use favard_operator::{
    Block, Centered, Csr, Dense, Error, Gram, LinearOperator, Sampler, Scaled, Weighted,
};

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

/// Columns of lengths from 1 to 1e-5: a hundred steps and more.
fn ill_conditioned(x: &Csr<'static, f64>) -> Scaled<Csr<'static, f64>, f64> {
    let lengths = (0..200).map(|j| 10f64.powf(5.0 * f64::from(j) / 199.0)).collect();
    Scaled::new(x.clone(), lengths).unwrap()
}

/// A callback that takes a record and may stop the run.
type Watch<'a> = &'a mut dyn FnMut(&Record<f64>) -> ControlFlow<Stop>;

/// Runs a method that is no engine, and counts between the calls of its watcher.
fn assert_steady(name: &str, run: impl Fn(Watch<'_>) + Sync) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let mut counts = Vec::with_capacity(70);
    pool.install(|| {
        run(&mut |_| {
            counts.push(COUNT.load(Ordering::Relaxed));
            let enough = counts.len() == counts.capacity();
            if enough { ControlFlow::Break(Stop::Requested) } else { ControlFlow::Continue(()) }
        });
    });
    assert_eq!(counts.len(), 70, "{name}: steps");
    let windows = counts[20..].chunks_exact(10).map(|window| window[9] - window[0]);
    let counted = windows.min().unwrap_or(u64::MAX);
    assert_eq!(counted, 0, "{name}: {counted} allocations in 9 steps");
}

/// Conjugate gradients and LSMR, which have loops of their own: one right-hand side and several, and
/// blocks so large that they are worked on in pieces.
fn least_squares() {
    let hard = ill_conditioned(&sparse());
    let wide = Csr::new(
        (300_000, 300_000),
        (0..=300_000).collect::<Vec<_>>(),
        (0..300_000).collect::<Vec<_>>(),
        (0..300_000).map(|j| 10f64.powf(-f64::from(j) / 1e5)).collect::<Vec<_>>(),
    )
    .unwrap();
    for method in [Method::Cg, Method::Lsmr] {
        let plan = LeastSquares::new().method(method).scaling(Scaling::Off).tolerance(0.0);
        for cols in [1, 3] {
            let b = Block::gaussian(3000, cols, 5);
            assert_steady(&format!("{method:?}, {cols}"), |watch| {
                plan.solve_watched(&hard, &b, watch).unwrap();
            });
        }
        let b = Block::gaussian(300_000, 1, 5);
        assert_steady(&format!("{method:?}, long"), |watch| {
            plan.solve_watched(&wide, &b, watch).unwrap();
        });
    }
}

/// Rows, batches, blocks, and rows with columns.
fn kaczmarz() {
    let x = sparse();
    let b = x.multiply(start(2).as_ref()).unwrap();
    let ball = || HeavyBall::new(0.5, 0.1).unwrap();
    let total = (0..3000).map(|i| x.row(i).1.iter().map(|v| v * v).sum::<f64>()).sum::<f64>();
    for batch in [1, 50] {
        let sampler = Sampler::by_norm(&Gram::new(&x), batch, 3).unwrap();
        let map = RowGradient::new(&x, &b, total.recip(), 0.0, sampler).unwrap();
        assert_none("Kaczmarz", map, ball(), NoGauge, Block::zeros(200, 2));
    }
    let columns = x.transposed();
    for batches in [(1, 1), (50, 30), (50, 200)] {
        let map = ExtendedProjection::new(&x, &columns, &b, batches, 3).unwrap();
        let start = map.start();
        assert_none("extended Kaczmarz", map, ball(), NoGauge, start);
    }
    // Twenty blocks: all inverses have been made within the first steps.
    let map = BlockProjection::new(&x, &b, 150, 3).unwrap();
    assert_none("block Kaczmarz", map, ball(), NoGauge, Block::zeros(200, 2));
}

/// A tracking step on a batch that is there, complete or not, allocates nothing; a whole update only for
/// the copy of its batch, two vectors: its rows and the sums of their squares.
fn tracking() {
    let batch = rows().slice_move(ndarray::s![..400, ..]);
    let complete = Block::from_array(batch.view());
    let coin = Block::<f64>::gaussian(400, 200, 8);
    let holes =
        Block::from_fn(
            400,
            200,
            |i, j| {
                if coin.row(i)[j] < 0.0 { batch[[i, j]] } else { f64::NAN }
            },
        );
    let dense = BatchCovariance::dense(complete.as_ref()).unwrap();
    let partial = BatchCovariance::with_nan(holes.as_ref(), Some(0.5)).unwrap();
    for covariance in [&dense, &partial] {
        let stream = std::iter::repeat_with(|| Ok::<_, Error>(covariance));
        let map = Stream::new(200, stream);
        assert_none("tracking step", map, momentum(), AugmentedQr::new(4), start(4));
    }
    for (name, rows, holed) in [("complete", &complete, false), ("missing", &holes, true)] {
        let mut tracker = SubspaceTracker::<f64>::new(200, 3).unwrap();
        if holed {
            tracker = tracker.missing(Some(0.5));
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let counted = pool.install(|| {
            let mut counts = [0_u64; 100];
            for count in &mut counts {
                let before = COUNT.load(Ordering::Relaxed);
                tracker.update(rows.as_ref()).unwrap();
                *count = COUNT.load(Ordering::Relaxed) - before;
            }
            counts[60..].iter().copied().min()
        });
        assert_eq!(counted, Some(2), "{name}");
    }
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
    kaczmarz();
    tracking();
    least_squares();
}
