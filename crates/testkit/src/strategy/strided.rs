//! [`Strided`]: a matrix seen through a view of any layout.

use favard_operator::Scalar;
use ndarray::{Array2, ArrayView2, Ix2, ShapeBuilder, SliceInfo, SliceInfoElem, s};

/// How a [`Strided`] view lies in its array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Rows one after another.
    RowMajor,
    /// Columns one after another.
    ColumnMajor,
    /// Every second row and every third column of a larger array.
    Stepped,
    /// Rows and columns from the last to the first: negative strides.
    Reversed,
    /// The inner part of a larger row-major array.
    Inner,
    /// The inner part of a larger column-major array.
    InnerColumnMajor,
}

/// An array and a view into it that need not be contiguous.
///
/// # Example
/// ```
/// use favard_testkit::strategy::{Layout, Strided};
/// use ndarray::array;
/// let matrix = array![[1.0, 2.0], [3.0, 4.0]];
/// let strided = Strided::new(&matrix, Layout::Stepped);
/// assert_eq!(strided.view(), matrix);
/// assert_eq!(strided.view().strides(), [12, 3]);
/// ```
#[derive(Debug, Clone)]
pub struct Strided<T> {
    array: Array2<T>,
    shape: (usize, usize),
    layout: Layout,
}

type Part = SliceInfo<[SliceInfoElem; 2], Ix2, Ix2>;

impl<T: Scalar> Strided<T> {
    /// A view of the given layout whose entries are those of `matrix`; whatever else the array
    /// behind it holds is NaN.
    #[must_use]
    pub fn new(matrix: &Array2<T>, layout: Layout) -> Self {
        let (rows, cols) = matrix.dim();
        let (shape, is_column_major) = match layout {
            Layout::RowMajor | Layout::Reversed => ((rows, cols), false),
            Layout::ColumnMajor => ((rows, cols), true),
            Layout::Stepped => ((2 * rows, 3 * cols), false),
            Layout::Inner => ((rows + 2, cols + 3), false),
            Layout::InnerColumnMajor => ((rows + 2, cols + 3), true),
        };
        let array = Array2::from_elem(shape.set_f(is_column_major), T::nan());
        let mut strided = Self { array, shape: (rows, cols), layout };
        let part = strided.part();
        strided.array.slice_mut(part).assign(matrix);
        strided
    }

    /// Which part of the array the view is.
    fn part(&self) -> Part {
        let (rows, cols) = self.shape;
        match self.layout {
            Layout::RowMajor | Layout::ColumnMajor => s![.., ..],
            Layout::Stepped => s![..;2, ..;3],
            Layout::Reversed => s![..;-1, ..;-1],
            Layout::Inner | Layout::InnerColumnMajor => s![1..=rows, 2..cols + 2],
        }
    }

    /// The view.
    #[must_use]
    pub fn view(&self) -> ArrayView2<'_, T> {
        self.array.slice(self.part())
    }

    /// How the view lies in its array.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }
}
