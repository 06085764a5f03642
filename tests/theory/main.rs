//! The running engine against the theory.

mod estimates;
mod moments;
mod support;
mod theorems;
