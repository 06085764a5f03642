//! The products of a matrix stored by rows with a block, at the memory's speed.
//!
//! Three products: $Y \leftarrow \alpha A X + \gamma Y$ ([`forward`]),
//! $Y \leftarrow \alpha A^T Z + \gamma Y$ ([`transpose`]) and both at once,
//! $Y \leftarrow \alpha A^T D (A X - \mathbf{1} m^T) + \gamma Y$ ([`normal`]); the first two for a
//! list of rows as well ([`Pick`]).
//!
//! # Schedule
//! What decides is where the rows of the block are found that a sparse row names: 64 bytes of the
//! block are fetched for each entry of 12. Figures are milliseconds for 40,000 rows of 100 entries
//! at uniformly random columns, `f64`, one thread, AVX2, second-level cache of 1 MB, on a machine
//! that others used too: differences below 10 % say nothing.
//!
//! - **Slabs.** A wide block is worked on in slabs, copied out into rows of so many numbers first
//!   unless it has that layout. What is gathered from has 16 columns, two cache lines of `f64`, which
//!   come together: 2.8 ns an entry for k = 16 (200,000 rows, 50,000 columns, one thread, best of 6,
//!   second-level cache of 512 KB), in two slabs of one line 3.3. What is scattered to has one line
//!   unless both are near (below): two were faster on one thread, 3.4 for 4.1 ns, and slower on two
//!   (51 ms for 48), whose buffers share the last cache.
//! - **Groups.** A transposed product scatters: groups of rows, their number from the shape
//!   ([`groups`]), each into a buffer of its own. Splitting the columns instead (panels that fit
//!   the second-level cache, with the position of every panel in every row stored) needs no
//!   buffers but walks the matrix in pieces of a dozen entries. With 200,000 rows and k = 8 (wall
//!   time, best of 5, one run), 7 panels took 260 for $A^T Z$ alone, 2 panels 95, while buffers
//!   took 78 for $A^T A X$.
//! - **One pass or two.** $A^T A X$ walks the rows once, gathering each and scattering it at once,
//!   when a slab of the block is at most [`NEAR`] bytes. The processor works on the next row
//!   while it scatters this one: in blocks of 8,192 entries, gathered and then scattered, 10 million
//!   entries took 0 to 15 % longer with 25 or 100 of them a row, and 15 to 25 % with 5. Above, what is
//!   gathered from and what is scattered to drive each other out of the caches. Nanoseconds an entry,
//!   100,000 rows of 100 entries, one thread, best of 12, second-level cache of 512 KB, in one pass and
//!   in two: k = 8 with 20,000 columns 3.7 and 3.9, with 40,000 4.0 and 4.3, with 50,000 4.3 and 4.2,
//!   with 65,000 5.6 and 4.4; k = 4 with 65,000 2.9 and 3.4. One pass also needs no block of A X.
//! - **Ones.** The values of a matrix of zeros and ones are not read ([`Ones`]). With 400,000 rows of 10
//!   entries in 18,880 columns (one thread, best of 25, two runs), $A^T A X$ took 5.8 instead of 7.7 to
//!   7.9 for k = 1, and 10.5 to 11.7 instead of 14.4 for k = 8.
//! - **Not used.** Prefetching the block, which needs `unsafe`, gained at most 13 %. Prefetching the matrix, unchecked indices and
//!   (but for 5 % at k = 1) pages of 2 MiB gained nothing.
//!
//! # Bits
//! Sums are taken in an order that depends on the shape only; multiply-adds are not fused. The
//! result is the same on any number of threads and on any processor.

mod direct;
mod forward;
mod lanes;
mod layout;
mod normal;
mod panels;
mod pick;
mod rows;
mod slab;
mod transpose;
mod values;

use direct::direct;
pub(crate) use forward::forward;
pub(crate) use lanes::{Kernel, run};
pub(crate) use normal::normal;
pub(crate) use panels::{fits_packed, multiply_packed};
pub(crate) use pick::{All, Pick};
pub(crate) use rows::Rows;
pub(crate) use transpose::transpose;
pub(crate) use values::{Ones, Values};

use crate::Scalar;

/// Bytes of a slab that one pass over the matrix can gather from and scatter to at once.
const NEAR: usize = 4 << 20;

/// Whether a slab of so many numbers a row is small enough for that.
fn is_near<T: Scalar>(rows: usize, lanes: usize) -> bool {
    rows.saturating_mul(lanes * size_of::<T>()) <= NEAR
}

/// Bytes of a slab from which on its rows are asked for before they are needed.
const FAR: usize = 128 << 10;

/// Whether a slab of so many numbers a row is large enough for that.
fn is_far<T: Scalar>(rows: usize, lanes: usize) -> bool {
    rows.saturating_mul(lanes * size_of::<T>()) >= FAR
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
fn groups(entries: usize, cols: usize) -> usize {
    let share = entries / cols.max(1);
    let most = (share / 8).clamp(1, 4).max((share / 64).min(32));
    1 << most.ilog2()
}
