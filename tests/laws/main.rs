//! Every operator of favard keeps the laws of `favard-testkit`, over shapes that include 0 and 1
//! rows and columns, blocks of 0 columns, empty sparse rows and views that are not contiguous, in
//! `f32` and `f64`; and each is the matrix that its documentation says.

mod algebra;
mod closures;
mod large;
mod recurrence;
mod samplers;
mod stochastic;
mod stored;
mod support;
mod wrappers;
