//! The products of a matrix stored by rows with a block, at the memory's speed.
//!
//! Three products: $Y \leftarrow \alpha A X + \gamma Y$ ([`forward`]),
//! $Y \leftarrow \alpha A^T Z + \gamma Y$ ([`transpose`]) and both at once,
//! $Y \leftarrow \alpha A^T D (A X - \mathbf{1} m^T) + \gamma Y$ ([`normal`]); the first two for a
//! list of rows as well ([`Pick`]).
//!
//! # Schedule
//! What decides is where the rows of the block are found that a sparse row names: 64 bytes of the
//! block are fetched for each entry of 12. Figures are nanoseconds an entry of `f64`, best of 7 or more,
//! rows of 100 entries at uniformly random columns, AVX2, second-level cache of 512 KB unless said
//! otherwise, on a machine that others used too: differences below 10 % say nothing.
//!
//! - **Slabs.** A wide block is worked on in slabs of 16 columns, two cache lines of `f64`, which come
//!   together, copied out into rows of so many numbers first unless it has that layout. $A^T A X$ with k = 16
//!   and 20,000 columns takes 5.1 on one thread and 2.6 on two, in two slabs of one line 6.4 and 3.4; with
//!   60,000 columns 6.5 and 3.5, and 7.5 and 4.3.
//! - **Groups.** A transposed product scatters: groups of rows, their number from the shape
//!   ([`groups`]), each into a buffer of its own. Splitting the columns instead (panels that fit
//!   the second-level cache, with the position of every panel in every row stored) needs no
//!   buffers but walks the matrix in pieces of a dozen entries: 7 panels took three times as long for
//!   $A^T Z$ alone as buffers for $A^T A X$.
//! - **One pass or two.** $A^T A X$ walks the rows once, gathering each and scattering it at once,
//!   when a slab of the block is at most [`NEAR`] bytes. The processor works on the next row
//!   while it scatters this one. Above, what is gathered from and what is scattered to drive each other
//!   out of the second-level cache. In one pass and in two (60,000 rows, AVX-512, second-level cache of 2 MiB, best of 15,
//!   in turn, one thread and two): k = 8 with 4,000 columns 2.5, 1.5 and 3.7, 1.9; with 8,000 3.3, 1.6 and 3.9, 1.8; with
//!   16,000 5.4, 2.2 and 3.8, 2.0; k = 16 with 4,000 columns 3.9, 2.2 and 4.9, 2.7; with 8,000 6.2, 3.8 and 4.9, 2.8. With a
//!   cache of 512 KB the two were level up to twice [`NEAR`] and two passes were faster beyond. Where both slabs share their
//!   cache lines, one pass has fewer of them to fetch, and goes on to four times as much: 50,000 columns (Zen 5, two threads), k = 2
//!   0.51 in one and 0.63 in two, k = 4 0.65 and 0.72. One pass also needs no block of A X.
//! - **Pieces.** Long rows are walked in pieces of columns where the block does not fit a cache ([`pieces`]).
//! - **Asking ahead.** The rows of the block that entries will need are asked for 16 entries before
//!   ([`hints`](crate::hints)) where the slab is [`FAR`] or larger: one pass, k = 8, 50,000 columns, one thread
//!   4.3 without and 3.7 with it. In smaller slabs it only costs, and in one of up to twice that where nothing is
//!   scattered beside it ([`forward`]), of up to four times with one column: 50,000 columns, one thread, $A x$ 0.97
//!   without and 1.11 with it, $A^T z$ 1.4 and 1.5, $A^T A x$ 2.2 and 2.4. The hint goes on into the rows that follow, so that short rows gain too.
//! - **The matrix** is asked for as well, 384 entries before ([`lanes::stream`]). With 8 columns, 50,000 columns of
//!   the matrix and two threads on AMD's Zen 5 (`--bench kernels`), $A X$ takes 0.75 without it and 0.44 with it, $A^T Z$
//!   0.93 and 0.57, $A^T A X$ 1.7 and 0.98; with one column $A^T Z$ 0.52 and 0.32; one-hot rows of five entries with columns of
//!   64 bits 0.46 and 0.32. 256 to 1024 entries do as well, 128 are too few. On older processors a seventh was gained with one
//!   column and nothing with more.
//! - **Short rows.** Rows of up to twelve entries are kept in registers where one column is multiplied
//!   ([`short`]).
//! - **Side by side.** Where a row of X and one of the sums fit one cache line together, they share it
//!   ([`layout`]).
//! - **Y is not read when γ = 0** ([`lanes::combine`]).
//! - **Ones.** The values of a matrix of zeros and ones are not read ([`Ones`]). With 400,000 rows of 10
//!   entries in 18,880 columns (one thread, best of 25, two runs), $A^T A X$ took 5.8 instead of 7.7 to
//!   7.9 ms for k = 1, and 10.5 to 11.7 instead of 14.4 for k = 8.
//! - **Not used.** Unchecked indices gained nothing, nor did tiles of rows × columns (a second copy of
//!   the matrix).
//!
//! # Bits
//! Sums are taken in an order that depends on the shape only; multiply-adds are not fused. The
//! result is the same on any number of threads and on any processor. Products of blocks with small
//! matrices ([`panels`], faer's) are fused where the processor can, and their last bits are its own; those of
//! [`narrow`] blocks are not.

mod direct;
mod forward;
mod lanes;
mod layout;
mod narrow;
mod normal;
mod panels;
mod pick;
mod pieces;
mod rows;
mod short;
mod slab;
mod table;
mod transpose;
mod values;

use direct::direct;
use forward::forward;
pub(crate) use lanes::{Kernel, STREAM, run};
pub(crate) use narrow::{Meeting, cross_narrow};
pub use normal::Middle;
use normal::normal;
pub(crate) use panels::{fits_packed, multiply_packed};
use pick::{All, Pick};
use pieces::{pieces, within};
pub use rows::Rows;
pub(crate) use slab::with_lanes;
pub use table::{Kernels, Stored, Tables};
use transpose::transpose;
use values::{Ones, Values};

use crate::Scalar;

/// Bytes of a slab that one pass over the matrix can gather from and scatter to at once: with the slab
/// that it scatters to, three quarters of a second-level cache of 2 MiB.
const NEAR: usize = 3 << 18;

/// Whether a slab of so many numbers a row is small enough for that: four times as large where a row and one of
/// the sums come in one cache line.
fn is_near<T: Scalar>(rows: usize, lanes: usize) -> bool {
    let most = if 2 * lanes <= T::LANE { 4 * NEAR } else { NEAR };
    rows.saturating_mul(lanes * size_of::<T>()) <= most
}

/// Bytes of a slab from which on its rows are asked for before they are needed.
const FAR: usize = 128 << 10;

/// Whether a slab of so many numbers a row is large enough for that. `alone` is one that nothing is
/// scattered beside; with one column a hint is as much work as the entry that it is for.
fn is_far<T: Scalar>(rows: usize, lanes: usize, alone: bool) -> bool {
    let least = match (lanes, alone) {
        (1, _) => 4 * FAR,
        (_, true) => 2 * FAR,
        (_, false) => FAR,
    };
    rows.saturating_mul(lanes * size_of::<T>()) >= least
}

/// The number of groups of rows that add up a transposed product, each in its own buffer.
///
/// With r entries a column, a buffer costs each column two lines, to clear and to add up, against
/// the r lines of filling it. One group below r = 16; up to four while a group has 8 entries a
/// column; more while it has 64, at most 32. For `f64` and up to 8 columns the buffers take at most two
/// thirds of the memory of the matrix, and at most a twelfth from r = 256 on; twice that for more.
///
/// A power of two, so that two or four threads end together: with 13 million entries in 40,000
/// columns (k = 4, two threads), 5 groups took 24 to 27 ms, 4 groups 21.
pub(crate) fn groups(entries: usize, cols: usize) -> usize {
    let share = entries / cols.max(1);
    let most = (share / 8).clamp(1, 4).max((share / 64).min(32));
    1 << most.ilog2()
}
