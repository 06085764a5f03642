//! Matrix completion, phase retrieval and subspace tracking: exact recovery, the gain or loss of
//! momentum, bad input, and the same bits on any number of threads.

mod checkpoint;
mod completion;
mod completion_input;
mod completion_spectral;
mod phase;
mod phase_input;
#[path = "../resume.rs"]
mod resume;
mod support;
mod tracking;
mod tracking_input;
