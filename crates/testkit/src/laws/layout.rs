//! Blocks that are a part of a larger one.

use favard_operator::{BlockMut, BlockRef, LinearOperator, Scalar, Workspace};
use ndarray::Array2;

use super::linear::fused_tolerance;
use crate::case::{Case, Verdict, bits, values};
use crate::{Rounding, ViolationKind};

/// How a block lies in a slice.
#[derive(Debug, Clone, Copy)]
struct Layout {
    name: &'static str,
    /// Numbers before the first row.
    offset: usize,
    /// Numbers between the end of a row and the start of the next.
    gap: usize,
    /// Numbers behind the last row.
    tail: usize,
}

const LAYOUTS: [Layout; 4] = [
    Layout { name: "without padding", offset: 0, gap: 0, tail: 0 },
    Layout { name: "padded rows", offset: 0, gap: 3, tail: 3 },
    Layout { name: "the middle columns", offset: 2, gap: 5, tail: 3 },
    Layout { name: "the last columns", offset: 4, gap: 4, tail: 0 },
];

/// A block copied into a slice of another layout; what lies between its rows is `filler`.
struct Placed<T> {
    data: Vec<T>,
    shape: (usize, usize),
    layout: Layout,
}

impl<T: Scalar> Placed<T> {
    fn new(block: BlockRef<'_, T>, layout: Layout, filler: T) -> Self {
        let (rows, cols) = block.shape();
        let Layout { offset, gap, tail, .. } = layout;
        let len = if rows == 0 { 0 } else { (rows - 1) * (cols + gap) + cols };
        let mut data = vec![filler; offset + len + tail];
        for i in 0..rows {
            data[offset + i * (cols + gap)..][..cols].copy_from_slice(block.row(i));
        }
        Self { data, shape: (rows, cols), layout }
    }

    fn stride(&self) -> usize {
        self.shape.1 + self.layout.gap
    }

    fn read(&self) -> favard_operator::Result<BlockRef<'_, T>> {
        let (rows, cols) = self.shape;
        BlockRef::new(&self.data[self.layout.offset..], rows, cols, self.stride())
    }

    fn write(&mut self) -> favard_operator::Result<BlockMut<'_, T>> {
        let ((rows, cols), stride) = (self.shape, self.stride());
        BlockMut::new(&mut self.data[self.layout.offset..], rows, cols, stride)
    }

    fn is_inside(&self, position: usize) -> bool {
        let (rows, cols) = self.shape;
        position >= self.layout.offset && cols > 0 && {
            let at = position - self.layout.offset;
            at % self.stride() < cols && at / self.stride() < rows
        }
    }
}

/// The layout of a block does not matter: rows without padding, padded rows and the middle columns
/// of a wider block give what a block of its own gives; what lies between the rows is neither read
/// (it is NaN here) nor written.
///
/// Tolerance $(2c + 4)\,\varepsilon\,(|\alpha| B|X| + |\gamma||Y|)$: alignment may change the order
/// of the sums. What must not be written is compared bit by bit.
///
/// # Errors
/// The violation, or a product that fails.
pub fn strided<T: Scalar, A: LinearOperator<T> + ?Sized>(
    op: &A,
    alpha: T,
    x: BlockRef<'_, T>,
    gamma: T,
    y: BlockRef<'_, T>,
    rounding: &Rounding,
) -> Verdict {
    let case = Case::new("strided", op.shape(), x.cols());
    let mut whole = y.to_owned();
    case.run(|| op.apply(alpha, x, gamma, whole.as_mut(), &mut Workspace::new()))?;
    let expected = values(whole.as_ref());
    let tolerance = fused_tolerance(alpha, x, gamma, y, rounding);

    for (index, of_x) in LAYOUTS.iter().enumerate() {
        // Each layout of x with two of y: all pairs would find no more.
        for of_y in [LAYOUTS[index], LAYOUTS[(index + 1) % LAYOUTS.len()]] {
            let case = case.with(&format!("x {}, y {}", of_x.name, of_y.name));
            let x = Placed::new(x, *of_x, T::nan());
            let mut placed = Placed::new(y, of_y, T::of(-77.0));
            let before = placed.data.clone();
            case.run(|| {
                let (x, y) = (x.read()?, placed.write()?);
                op.apply(alpha, x, gamma, y, &mut Workspace::new())
            })?;
            for (position, (&old, &new)) in before.iter().zip(&placed.data).enumerate() {
                if bits(old) != bits(new) && !placed.is_inside(position) {
                    return Err(case.violation(ViolationKind::Outside { position }));
                }
            }
            let found: Array2<f64> = values(case.run(|| placed.read())?);
            case.near(&expected, &found, &tolerance)?;
        }
    }
    Ok(())
}
