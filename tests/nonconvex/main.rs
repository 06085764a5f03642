//! Matrix completion, phase retrieval and subspace tracking: exact recovery, the gain or loss of
//! momentum, bad input, and the same bits on any number of threads.

mod completion;
mod completion_input;
mod completion_spectral;
mod phase;
mod phase_input;
mod support;
mod tracking;
mod tracking_input;
