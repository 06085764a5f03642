//! Matrix completion, phase retrieval and subspace tracking: exact recovery, the measured gain or
//! loss of momentum, bad input, and the same bits on any number of threads.

mod completion;
mod phase;
mod support;
mod tracking;
