//! One case of one law: runs the operator, compares, and words the violation.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use favard_operator::{Block, BlockRef, Result as OperatorResult, Scalar};
use ndarray::Array2;

use crate::{Violation, ViolationKind};

/// The result of a law.
pub(crate) type Verdict<T = ()> = Result<T, Violation>;

#[derive(Debug, Clone)]
pub(crate) struct Case {
    law: &'static str,
    text: String,
}

impl Case {
    /// A law on an operator of `shape` and a block of `cols` columns.
    pub(crate) fn new(law: &'static str, shape: (usize, usize), cols: usize) -> Self {
        let (rows, dim) = shape;
        Self { law, text: format!("{rows} × {dim}, block of {cols}") }
    }

    /// The same case with a further remark.
    pub(crate) fn with(&self, remark: &str) -> Self {
        Self { law: self.law, text: format!("{}, {remark}", self.text) }
    }

    pub(crate) fn violation(&self, kind: ViolationKind) -> Violation {
        Violation::new(self.law, self.text.clone(), kind)
    }

    /// Runs what has to succeed.
    pub(crate) fn run<R>(&self, call: impl FnOnce() -> OperatorResult<R>) -> Verdict<R> {
        match catch_unwind(AssertUnwindSafe(call)) {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => {
                Err(self.violation(ViolationKind::Failed { message: error.to_string() }))
            }
            Err(payload) => Err(self.panicked(payload.as_ref())),
        }
    }

    /// Runs what has to be refused, with `y` left as it was.
    pub(crate) fn refuse<T: Scalar>(
        &self,
        y: &mut Block<T>,
        call: impl FnOnce(&mut Block<T>) -> OperatorResult<()>,
    ) -> Verdict {
        let before = y.clone();
        match catch_unwind(AssertUnwindSafe(|| call(y))) {
            Ok(Ok(())) => Err(self.violation(ViolationKind::Accepted)),
            Ok(Err(_)) => self.bits(before.as_ref(), y.as_ref()).map_err(|violation| {
                match *violation.kind() {
                    ViolationKind::Bits { row, column, .. } => {
                        self.violation(ViolationKind::Touched { row, column })
                    }
                    _ => violation,
                }
            }),
            Err(payload) => Err(self.panicked(payload.as_ref())),
        }
    }

    fn panicked(&self, payload: &(dyn Any + Send)) -> Violation {
        let text = payload.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        let message = text.unwrap_or_else(|| "a panic without a message".into());
        self.violation(ViolationKind::Panicked { message })
    }

    /// |found − expected| ≤ tolerance, entry by entry; NaN never is.
    pub(crate) fn near(
        &self,
        expected: &Array2<f64>,
        found: &Array2<f64>,
        tolerance: &Array2<f64>,
    ) -> Verdict {
        for ((row, column), &expected) in expected.indexed_iter() {
            self.near_one((row, column), expected, found[[row, column]], tolerance[[row, column]])?;
        }
        Ok(())
    }

    pub(crate) fn near_one(
        &self,
        (row, column): (usize, usize),
        expected: f64,
        found: f64,
        tolerance: f64,
    ) -> Verdict {
        // Written so that a NaN on either side fails.
        if (found - expected).abs() <= tolerance {
            return Ok(());
        }
        let kind = ViolationKind::Differs { row, column, expected, found, tolerance };
        Err(self.violation(kind))
    }

    /// Equal shapes and equal bits.
    pub(crate) fn bits<T: Scalar>(
        &self,
        expected: BlockRef<'_, T>,
        found: BlockRef<'_, T>,
    ) -> Verdict {
        for row in 0..expected.rows() {
            for (column, (&a, &b)) in expected.row(row).iter().zip(found.row(row)).enumerate() {
                if bits(a) != bits(b) {
                    let (expected, found) = (a.as_f64(), b.as_f64());
                    let kind = ViolationKind::Bits { row, column, expected, found };
                    return Err(self.violation(kind));
                }
            }
        }
        Ok(())
    }
}

/// Widening is exact, so that equal bits stay equal and others stay different.
pub(crate) fn bits<T: Scalar>(value: T) -> u64 {
    value.as_f64().to_bits()
}

/// A block's numbers, exactly.
pub(crate) fn values<T: Scalar>(block: BlockRef<'_, T>) -> Array2<f64> {
    Array2::from_shape_fn(block.shape(), |(i, j)| block.row(i)[j].as_f64())
}
