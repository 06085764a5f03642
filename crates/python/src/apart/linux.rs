//! [`Apart`] by the processors that a thread may run on.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::ThreadPool;
use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// How long a job waits for the other workers to have their processors: those that are busy need none.
const PATIENCE: Duration = Duration::from_micros(300);

/// A worker that is bound, and where it may run otherwise.
struct Bound {
    thread: Pid,
    processor: usize,
    allowed: CpuSet,
}

#[derive(Default)]
struct Workers {
    bound: Vec<Bound>,
    is_over: bool,
}

/// The workers of a job that begins. They may run anywhere again when this is [let go](Self::let_go), or dropped.
pub struct Apart {
    threads: usize,
    workers: Arc<Mutex<Workers>>,
}

impl Apart {
    /// For a job of this pool.
    pub fn new(pool: &ThreadPool) -> Self {
        Self { threads: pool.current_num_threads(), workers: Arc::default() }
    }

    /// What the job does first: gives each worker a processor, if there are as many of them.
    pub fn beginning(&self) -> impl FnOnce() + Send + 'static {
        let (threads, workers) = (self.threads, Arc::clone(&self.workers));
        let enough = |set: CpuSet| usize::try_from(set.count()).is_ok_and(|count| count >= threads);
        let is_needed = threads > 1 && sched_getaffinity(None).is_ok_and(enough);
        move || {
            if !is_needed {
                return;
            }
            bind(&workers);
            let (this, others) = (rayon::current_thread_index(), Arc::clone(&workers));
            rayon::spawn_broadcast(move |context| {
                if this != Some(context.index()) {
                    bind(&others);
                }
            });
            // Those that were woken on this processor run meanwhile.
            let start = Instant::now();
            while lock(&workers).bound.len() < threads && start.elapsed() < PATIENCE {
                std::thread::yield_now();
            }
        }
    }

    /// The job is on its way, or has ended.
    pub fn let_go(&self) {
        let mut workers = lock(&self.workers);
        workers.is_over = true;
        for Bound { thread, allowed, .. } in workers.bound.drain(..) {
            // A thread that has ended needs nothing.
            let _ = sched_setaffinity(Some(thread), &allowed);
        }
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// Binds this thread to the processor that it runs on, or, where another has that, to one that nobody has.
fn bind(workers: &Mutex<Workers>) {
    let mut workers = lock(workers);
    let Some(allowed) = sched_getaffinity(None).ok().filter(|_| !workers.is_over) else { return };
    let is_free =
        |&cpu: &usize| allowed.is_set(cpu) && workers.bound.iter().all(|one| one.processor != cpu);
    let mut choices = std::iter::once(sched_getcpu()).chain(0..CpuSet::MAX_CPU);
    let Some(processor) = choices.find(is_free) else { return };
    let mut one = CpuSet::new();
    one.set(processor);
    // Where the system does not let it, all stays as it is.
    if sched_setaffinity(None, &one).is_ok() {
        workers.bound.push(Bound { thread: gettid(), processor, allowed });
    }
}

fn lock(workers: &Mutex<Workers>) -> std::sync::MutexGuard<'_, Workers> {
    workers.lock().unwrap_or_else(PoisonError::into_inner)
}
