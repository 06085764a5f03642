//! [`Feed`]: the batches that have arrived.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use favard_operator::{Error, Scalar};

use super::BatchCovariance;

/// A queue with two ends: the tracker puts a batch in, the engine's stream takes it out.
#[derive(Debug, Clone)]
pub(super) struct Feed<T: Scalar>(Arc<Mutex<VecDeque<BatchCovariance<T>>>>);

impl<T: Scalar> Default for Feed<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: Scalar> Feed<T> {
    pub fn put(&self, batch: BatchCovariance<T>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(batch);
    }
}

impl<T: Scalar> Iterator for Feed<T> {
    type Item = Result<BatchCovariance<T>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front().map(Ok)
    }
}
