//! Batches of terms, drawn so that their expectation is the whole operator.

mod distinct;
mod sampler;

pub use sampler::Sampler;
