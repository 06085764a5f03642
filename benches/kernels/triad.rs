//! What the memory gives: a ← b + s c.

use std::time::Instant;

use rayon::prelude::*;

/// Three arrays, together far larger than any cache.
#[derive(Debug)]
pub struct Triad {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

impl Triad {
    /// 64 MiB each.
    pub fn new() -> Self {
        let len = 8 << 20;
        Self { a: vec![0.0; len], b: vec![1.0; len], c: vec![2.0; len] }
    }

    /// Bytes per second of one pass, on the threads of the current pool.
    pub fn measure(&mut self) -> f64 {
        let start = Instant::now();
        let parts = self.a.par_chunks_mut(1 << 16).zip(self.b.par_chunks(1 << 16));
        parts.zip(self.c.par_chunks(1 << 16)).for_each(|((a, b), c)| {
            for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                *a = b + 3.0 * c;
            }
        });
        (self.a.len() * 24) as f64 / start.elapsed().as_secs_f64()
    }
}
