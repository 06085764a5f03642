//! PCA and its solvers against exact small eigenproblems.

mod bad_input;
mod certificate;
mod checkpoint;
mod damaged;
mod lanczos;
mod laws;
mod pca;
mod scales;
mod streaming;
mod support;
mod svd;
mod warm;
