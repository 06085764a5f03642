//! The threads that work.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The pool, with the process it belongs to.
struct Shared {
    process: u32,
    pool: Arc<ThreadPool>,
}

static SHARED: Mutex<Option<Shared>> = Mutex::new(None);

thread_local! {
    /// Whether this thread is answering a question of a job: then a worker waits for it.
    static ANSWERING: Cell<bool> = const { Cell::new(false) };
}

/// Runs Python code that a worker waits for.
pub fn answering<R>(f: impl FnOnce() -> R) -> R {
    let before = ANSWERING.replace(true);
    let result = f();
    ANSWERING.set(before);
    result
}

/// Threads of a pool need the stack of a main thread: products recurse.
const STACK: usize = 8 << 20;

fn build(threads: usize) -> PyResult<Arc<ThreadPool>> {
    let named = ThreadPoolBuilder::new().thread_name(|i| format!("favard {i}"));
    let pool = named.num_threads(threads).stack_size(STACK).build();
    pool.map(Arc::new).map_err(|e| PyRuntimeError::new_err(format!("no threads to work on: {e}")))
}

/// The pool of this process. It is our own, not rayon's global one: a child of `fork` has the memory
/// of its parent and none of its threads, and would wait for them for ever. For a call from inside
/// of a product or a callback it is a new one, because the worker that asked may be the only one.
pub fn pool() -> PyResult<Arc<ThreadPool>> {
    if ANSWERING.get() {
        return build(0);
    }
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some(Shared { process: owner, pool }) = &*shared
        && *owner == process
    {
        return Ok(Arc::clone(pool));
    }
    let pool = build(0)?;
    replace(&mut shared, Shared { process, pool: Arc::clone(&pool) });
    Ok(pool)
}

fn replace(shared: &mut Option<Shared>, new: Shared) {
    let process = new.process;
    let old = shared.replace(new);
    if let Some(old) = old.filter(|old| old.process != process) {
        // Its threads are in another process: to end them would be to wait for them.
        std::mem::forget(old);
    }
}

/// The number of threads that work; 0 for all that the machine has (or `RAYON_NUM_THREADS`).
#[pyfunction]
pub fn set_num_threads(threads: usize) -> PyResult<()> {
    if threads > 4096 {
        let text = format!("threads: {threads} must be at most 4096");
        return Err(PyValueError::new_err(text));
    }
    let pool = build(threads)?;
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    replace(&mut shared, Shared { process: std::process::id(), pool });
    Ok(())
}

/// The number of threads that work.
#[pyfunction]
pub fn get_num_threads() -> PyResult<usize> {
    Ok(pool()?.current_num_threads())
}
