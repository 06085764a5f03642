//! [`Apart`] where the system is left to it.

use rayon::ThreadPool;

/// The workers of a job that begins.
pub struct Apart;

impl Apart {
    /// For a job of this pool.
    pub fn new(_: &ThreadPool) -> Self {
        Self
    }

    /// What the job does first.
    pub fn beginning(&self) -> impl FnOnce() + Send + 'static {
        || {}
    }

    /// The job is on its way, or has ended.
    pub fn let_go(&self) {}
}
