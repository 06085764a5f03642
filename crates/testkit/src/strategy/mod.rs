//! Proptest strategies for matrices and blocks, made so that what they shrink to can be read.
//!
//! Entries are quarters between −4 and 4 and shrink to 0; shapes shrink to 0 × 0. All of them are
//! exact in `f32`, so that a failing case can be copied into a test by hand.
//!
//! # Example
//! ```
//! use favard_operator::Dense;
//! use favard_testkit::{Trial, strategy};
//! use proptest::prelude::*;
//!
//! proptest!(ProptestConfig::with_cases(8), |(
//!     matrix in strategy::shape().prop_flat_map(strategy::dense::<f64>),
//!     width in strategy::width(),
//!     seed: u64,
//! )| {
//!     Trial::new(seed).with_widths(&[width]).rows(&Dense::new(matrix)?)?;
//! });
//! ```

mod strided;

use favard_operator::{Block, Scalar};
use ndarray::Array2;
use proptest::collection::vec;
use proptest::prelude::*;
use sprs::CsMatI;

pub use strided::{Layout, Strided};

/// A quarter between −4 and 4.
pub fn entry<T: Scalar>() -> impl Strategy<Value = T> + Clone {
    (-16_i32..=16).prop_map(|quarters| T::of(f64::from(quarters) / 4.0))
}

/// A quarter between 1/4 and 4: a weight or a scale.
pub fn positive<T: Scalar>() -> impl Strategy<Value = T> + Clone {
    (1_i32..=16).prop_map(|quarters| T::of(f64::from(quarters) / 4.0))
}

/// (rows, columns), with 0 and 1 of either as likely as more, up to 12 mostly and 40 sometimes.
pub fn shape() -> impl Strategy<Value = (usize, usize)> + Clone {
    prop_oneof![
        2 => (0..=1_usize, 0..=1_usize),
        2 => (0..=1_usize, 2..=9_usize),
        2 => (2..=9_usize, 0..=1_usize),
        8 => (2..=12_usize, 2..=12_usize),
        1 => (2..=40_usize, 2..=40_usize),
    ]
}

/// The number of columns of a block: 0, 1, a few, and around the 8 and 16 of a cache line.
pub fn width() -> impl Strategy<Value = usize> + Clone {
    prop_oneof![
        1 => Just(0_usize),
        2 => Just(1),
        3 => 2..=7_usize,
        2 => prop_oneof![Just(8_usize), Just(9), Just(16), Just(17), Just(33)],
    ]
}

/// A list of entries.
pub fn list<T: Scalar>(len: usize) -> impl Strategy<Value = Vec<T>> {
    vec(entry::<T>(), len)
}

/// A list of positive entries.
pub fn positives<T: Scalar>(len: usize) -> impl Strategy<Value = Vec<T>> {
    vec(positive::<T>(), len)
}

/// A block of `rows × cols`.
pub fn block<T: Scalar>(rows: usize, cols: usize) -> impl Strategy<Value = Block<T>> {
    list::<T>(rows * cols)
        .prop_map(move |list| Block::from_fn(rows, cols, |i, j| list[i * cols + j]))
}

/// A matrix in row-major order.
pub fn dense<T: Scalar>((rows, cols): (usize, usize)) -> impl Strategy<Value = Array2<T>> {
    list::<T>(rows * cols)
        .prop_map(move |list| Array2::from_shape_fn((rows, cols), |(i, j)| list[i * cols + j]))
}

/// A layout; row-major is the simplest.
pub fn layout() -> impl Strategy<Value = Layout> + Clone {
    prop_oneof![
        Just(Layout::RowMajor),
        Just(Layout::ColumnMajor),
        Just(Layout::Stepped),
        Just(Layout::Reversed),
        Just(Layout::Inner),
        Just(Layout::InnerColumnMajor),
    ]
}

/// A matrix seen through a view of any layout.
pub fn strided<T: Scalar>(shape: (usize, usize)) -> impl Strategy<Value = Strided<T>> {
    (dense::<T>(shape), layout()).prop_map(|(matrix, layout)| Strided::new(&matrix, layout))
}

/// A sparse matrix stored by rows, each entry present with probability `density` and every fourth
/// row, on average, empty. Stored zeros occur. An absent entry is what a present one shrinks to.
///
/// # Panics
/// When `density` is NaN.
pub fn sparse<T: Scalar>(
    (rows, cols): (usize, usize),
    density: f64,
) -> impl Strategy<Value = CsMatI<T, u32, usize>> {
    let cell = if density <= 0.0 {
        Just(None).boxed()
    } else if density >= 1.0 {
        entry::<T>().prop_map(Some).boxed()
    } else {
        proptest::option::weighted(density, entry::<T>()).boxed()
    };
    let row = prop_oneof![1 => Just(vec![None; cols]), 3 => vec(cell, cols)];
    vec(row, rows).prop_map(move |matrix| {
        let (mut pointers, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in matrix {
            // Columns come from a Vec of `cols` entries, far below 2³².
            for (column, value) in (0_u32..).zip(row) {
                if let Some(value) = value {
                    columns.push(column);
                    values.push(value);
                }
            }
            pointers.push(columns.len());
        }
        CsMatI::new((rows, cols), pointers, columns, values)
    })
}

/// The same with all its entries, absent ones as zeros.
#[must_use]
pub fn to_dense<T: Scalar>(matrix: &CsMatI<T, u32, usize>) -> Array2<T> {
    let mut dense = Array2::zeros(matrix.shape());
    for (&value, (row, column)) in matrix {
        dense[[row as usize, column as usize]] = value;
    }
    dense
}
