//! The running engine against the theory.

// A plan's steps and batch are floats until they are run.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

mod chain;
mod estimates;
mod moments;
mod support;
mod theorems;
