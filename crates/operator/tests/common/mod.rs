//! The explicit matrix that every operator is compared with.

// Every test file uses a part of this.
#![allow(dead_code)]

use std::sync::LazyLock;

use favard_operator::{
    AdjointOperator, Batch, Between, Block, BlockMut, BlockRef, LinearOperator, RowOperator,
    Scalar, StochasticOperator, Workspace,
};
use ndarray::{Array1, Array2, Axis};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The matrix that an operator stands for, in `f64`, and what its rounding errors grow with.
pub struct Explicit {
    /// The matrix.
    pub matrix: Array2<f64>,
    /// Entrywise, the sum of the absolute values of everything that is added up for the entry.
    pub magnitude: Array2<f64>,
    /// The number of roundings that one entry of a product can meet: the lengths of all its sums,
    /// and a few more for scaling and combining.
    pub depth: usize,
}

impl Explicit {
    /// For an operator that rounds no more than the matrix itself would.
    pub fn plain(matrix: Array2<f64>) -> Self {
        let magnitude = matrix.mapv(f64::abs);
        Self::with_magnitude(matrix, magnitude)
    }

    /// For an operator that subtracts.
    pub fn with_magnitude(matrix: Array2<f64>, magnitude: Array2<f64>) -> Self {
        assert_eq!(matrix.dim(), magnitude.dim());
        let depth = matrix.nrows() + matrix.ncols() + 16;
        Self { matrix, magnitude, depth }
    }

    fn transposed(&self) -> Self {
        let (matrix, magnitude) = (self.matrix.t().to_owned(), self.magnitude.t().to_owned());
        Self { matrix, magnitude, depth: self.depth }
    }
}

/// Gaussian entries, exact in T.
pub fn matrix<T: Scalar>(rows: usize, cols: usize, seed: u64) -> Array2<T> {
    let block = Block::<T>::gaussian(rows, cols, seed);
    Array2::from_shape_fn((rows, cols), |(i, j)| block.row(i)[j])
}

/// Positive numbers between 0.5 and 2, exact in T.
pub fn positive<T: Scalar>(len: usize, seed: u64) -> Vec<T> {
    let draws = Block::<T>::gaussian(len, 1, seed);
    (0..len).map(|i| T::of(0.5 + 1.5 / (1.0 + draws.row(i)[0].as_f64().powi(2)))).collect()
}

pub fn exact<T: Scalar>(array: &Array2<T>) -> Array2<f64> {
    array.mapv(Scalar::as_f64)
}

pub fn exact_vec<T: Scalar>(values: &[T]) -> Array1<f64> {
    values.iter().map(|v| v.as_f64()).collect()
}

pub fn widen<T: Scalar>(x: BlockRef<'_, T>) -> Array2<f64> {
    Array2::from_shape_fn(x.shape(), |(i, j)| x.row(i)[j].as_f64())
}

/// A block with `cols` columns of interest, from column 1 on, and NaN to their left and right:
/// padded, not aligned, and nothing outside may be read or written.
struct Fenced<T> {
    block: Block<T>,
    cols: usize,
}

impl<T: Scalar> Fenced<T> {
    fn new(inside: &Block<T>) -> Self {
        let cols = inside.cols();
        let block = Block::from_fn(inside.rows(), cols + 2, |i, j| {
            if (1..=cols).contains(&j) { inside.row(i)[j - 1] } else { T::nan() }
        });
        Self { block, cols }
    }

    fn get(&self) -> BlockRef<'_, T> {
        self.block.as_ref().cols_range(1..self.cols + 1)
    }

    fn get_mut(&mut self) -> BlockMut<'_, T> {
        self.block.as_mut().cols_range(1..self.cols + 1)
    }

    fn assert_fence(&self) {
        for i in 0..self.block.rows() {
            let row = self.block.row(i);
            assert!(row[0].is_nan() && row[self.cols + 1].is_nan(), "wrote outside of the view");
        }
    }
}

/// |found − expected| ≤ depth · ε · magnitude, entry by entry.
pub fn assert_close<T: Scalar>(
    what: &str,
    found: BlockRef<'_, T>,
    expected: &Array2<f64>,
    magnitude: &Array2<f64>,
    depth: usize,
) {
    assert_eq!(found.shape(), expected.dim(), "{what}");
    let unit = depth as f64 * T::EPSILON.as_f64();
    for ((i, j), &value) in expected.indexed_iter() {
        let error = (found.row(i)[j].as_f64() - value).abs();
        let bound = unit * magnitude[[i, j]] + T::min_positive_value().as_f64();
        assert!(error <= bound, "{what}: error {error} above {bound} at ({i}, {j}), value {value}");
    }
}

const FUSED: [(f64, f64); 4] = [(1.0, 0.0), (-2.0, 0.5), (0.5, 1.0), (0.0, -1.0)];

fn block_widths<T: Scalar>() -> [usize; 4] {
    [0, 1, 3, T::LANE + 1]
}

/// One product in one direction against the explicit matrix: all fused forms, padded views, NaN
/// in y when γ = 0, and equal bits on 1, 2 and 4 threads.
fn check_direction<T: Scalar>(
    what: &str,
    explicit: &Explicit,
    run: impl Fn(T, BlockRef<'_, T>, T, BlockMut<'_, T>, &mut Workspace<T>) + Sync,
) {
    let (rows, cols) = explicit.matrix.dim();
    let mut ws = Workspace::new();
    for k in block_widths::<T>() {
        let x = Fenced::new(&Block::gaussian(cols, k, 5));
        let old = Block::<T>::gaussian(rows, k, 6);
        for (alpha, gamma) in FUSED {
            let start =
                if gamma == 0.0 { Block::from_fn(rows, k, |_, _| T::nan()) } else { old.clone() };
            let mut y = Fenced::new(&start);
            run(T::of(alpha), x.get(), T::of(gamma), y.get_mut(), &mut ws);
            y.assert_fence();
            let (wide_x, wide_y) = (widen(x.get()), widen(old.as_ref()));
            let expected = alpha * explicit.matrix.dot(&wide_x) + gamma * &wide_y;
            let magnitude = alpha.abs() * explicit.magnitude.dot(&wide_x.mapv(f64::abs))
                + gamma.abs() * wide_y.mapv(f64::abs);
            let what = format!("{what}, {rows} × {cols}, k = {k}, α = {alpha}, γ = {gamma}");
            assert_close(&what, y.get(), &expected, &magnitude, explicit.depth);
            for threads in [1, 2, 4] {
                let mut again = Fenced::new(&start);
                on_threads(threads, || {
                    let mut ws = Workspace::new();
                    run(T::of(alpha), x.get(), T::of(gamma), again.get_mut(), &mut ws);
                });
                assert!(
                    again.get().to_owned() == y.get().to_owned(),
                    "{what}: other bits on {threads} threads"
                );
            }
        }
    }
}

pub fn on_threads<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    static POOLS: LazyLock<[ThreadPool; 3]> = LazyLock::new(|| {
        [1, 2, 4].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().unwrap())
    });
    let pool = POOLS.iter().find(|pool| pool.current_num_threads() == threads).unwrap();
    pool.install(f)
}

/// `apply` is the explicit matrix, and refuses shapes that do not fit.
pub fn check_linear<T: Scalar>(op: &dyn LinearOperator<T>, explicit: &Explicit) {
    let (rows, cols) = explicit.matrix.dim();
    assert_eq!(op.shape(), (rows, cols));
    check_direction("apply", explicit, |alpha, x, gamma, y, ws| {
        op.apply(alpha, x, gamma, y, ws).unwrap();
    });
    let mut ws = Workspace::new();
    for (x, y) in [((cols + 1, 2), (rows, 2)), ((cols, 2), (rows + 1, 2)), ((cols, 2), (rows, 3))] {
        let x = Block::gaussian(x.0, x.1, 1);
        let mut y = Block::<T>::gaussian(y.0, y.1, 2);
        let before = y.clone();
        assert!(op.apply(T::one(), x.as_ref(), T::zero(), y.as_mut(), &mut ws).is_err());
        assert!(y == before, "y was touched before the shapes were checked");
    }
}

/// `apply`, `apply_adjoint` and `apply_normal` are the explicit matrix, and
/// ⟨Ax, y⟩ = ⟨x, Aᵀy⟩.
pub fn check_adjoint<T: Scalar>(op: &dyn AdjointOperator<T>, explicit: &Explicit) {
    check_linear(&op, explicit);
    check_direction("apply_adjoint", &explicit.transposed(), |alpha, x, gamma, y, ws| {
        op.apply_adjoint(alpha, x, gamma, y, ws).unwrap();
    });
    let plain = normal(explicit, None);
    check_direction("apply_normal", &plain, |alpha, x, gamma, y, ws| {
        op.apply_normal(alpha, x, Between::default(), gamma, y, ws).unwrap();
    });
    let weights = positive::<T>(explicit.matrix.nrows(), 3);
    let weighted = normal(explicit, Some(&exact_vec(&weights)));
    check_direction("apply_normal with weights", &weighted, |alpha, x, gamma, y, ws| {
        let between = Between { weights: Some(&weights), ..Between::default() };
        op.apply_normal(alpha, x, between, gamma, y, ws).unwrap();
    });
    check_between(op, explicit, &weights);
    check_identity(op, explicit);
}

/// Aᵀ W A.
fn normal(explicit: &Explicit, weights: Option<&Array1<f64>>) -> Explicit {
    let weigh = |matrix: &Array2<f64>| match weights {
        None => matrix.clone(),
        Some(weights) => matrix * &weights.clone().insert_axis(Axis(1)),
    };
    Explicit {
        matrix: explicit.matrix.t().dot(&weigh(&explicit.matrix)),
        magnitude: explicit.magnitude.t().dot(&weigh(&explicit.magnitude)),
        depth: 2 * explicit.depth,
    }
}

/// The normal product with an offset, which it subtracts, and sums, which it returns.
fn check_between<T: Scalar>(op: &dyn AdjointOperator<T>, explicit: &Explicit, weights: &[T]) {
    let cols = explicit.matrix.ncols();
    let k = 3;
    let x = Block::<T>::gaussian(cols, k, 8);
    let offset = Block::<T>::gaussian(1, k, 9);
    let (mut y, mut sums) = (Block::zeros(cols, k), vec![T::nan(); k]);
    let between =
        Between { weights: Some(weights), offset: Some(offset.row(0)), sums: Some(&mut sums) };
    let mut ws = Workspace::new();
    op.apply_normal(T::one(), x.as_ref(), between, T::zero(), y.as_mut(), &mut ws).unwrap();
    let (wide, m) = (widen(x.as_ref()), widen(offset.as_ref()));
    let w = exact_vec(weights).insert_axis(Axis(1));
    let z = (explicit.matrix.dot(&wide) - &m) * &w;
    let z_size = (explicit.magnitude.dot(&wide.mapv(f64::abs)) + m.mapv(f64::abs)) * &w;
    let expected = explicit.matrix.t().dot(&z);
    let magnitude = explicit.magnitude.t().dot(&z_size);
    let depth = 2 * explicit.depth;
    assert_close("apply_normal with an offset", y.as_ref(), &expected, &magnitude, depth);
    let sums = BlockRef::new(&sums, 1, k, k).unwrap();
    let total = |z: &Array2<f64>| z.sum_axis(Axis(0)).insert_axis(Axis(0));
    assert_close("sums of the normal product", sums, &total(&z), &total(&z_size), depth);
}

fn check_identity<T: Scalar>(op: &dyn AdjointOperator<T>, explicit: &Explicit) {
    let (rows, cols) = explicit.matrix.dim();
    let (x, y) = (Block::<T>::gaussian(cols, 1, 10), Block::<T>::gaussian(rows, 1, 11));
    let (ax, aty) = (op.multiply(x.as_ref()).unwrap(), op.multiply_adjoint(y.as_ref()).unwrap());
    let dot = |a: &Block<T>, b: &Block<T>| (widen(a.as_ref()) * widen(b.as_ref())).sum();
    let size = |a: &Block<T>| widen(a.as_ref()).mapv(f64::abs);
    let magnitude = size(&y).t().dot(&explicit.magnitude.dot(&size(&x))).sum();
    let bound = 2.0 * explicit.depth as f64 * T::EPSILON.as_f64() * magnitude;
    let gap = (dot(&ax, &y) - dot(&x, &aty)).abs();
    assert!(gap <= bound, "⟨Ax, y⟩ − ⟨x, Aᵀy⟩ = {gap} above {bound}");
}

/// Rows by number are the rows of the explicit matrix.
pub fn check_rows<T: Scalar>(op: &dyn RowOperator<T>, explicit: &Explicit) {
    let (rows, cols) = explicit.matrix.dim();
    let mut ws = Workspace::new();
    for row in 0..rows {
        let norm = explicit.matrix.row(row).mapv(|v| v * v).sum();
        let size = explicit.magnitude.row(row).mapv(|v| v * v).sum();
        // Where the sizes cancel, the norm comes from the entries, which lose less; the switch is
        // at √ε of the sizes, so that an error of ε of them is √ε of the norm at most.
        let bound = 4.0 * explicit.depth as f64 * T::EPSILON.as_f64() * size;
        let gap = (op.row_norm_squared(row).as_f64() - norm).abs();
        assert!(gap <= bound, "norm of row {row}: {gap} above {bound}");
        for col in 0..cols {
            let gap = (op.entry(row, col).as_f64() - explicit.matrix[[row, col]]).abs();
            let bound = 8.0 * T::EPSILON.as_f64() * explicit.magnitude[[row, col]];
            assert!(gap <= bound, "entry ({row}, {col}): {gap} above {bound}");
        }
    }
    let lists: Vec<Vec<usize>> = if rows == 0 {
        vec![vec![]]
    } else {
        vec![vec![], vec![rows - 1], (0..rows).collect(), vec![rows - 1, 0, rows / 2, 0]]
    };
    for list in &lists {
        let some = Explicit {
            matrix: explicit.matrix.select(Axis(0), list),
            magnitude: explicit.magnitude.select(Axis(0), list),
            depth: explicit.depth + list.len(),
        };
        for k in block_widths::<T>() {
            let x = Block::<T>::gaussian(cols, k, 12);
            let mut z = Block::from_fn(list.len(), k, |_, _| T::nan());
            op.apply_rows(list, x.as_ref(), z.as_mut(), &mut ws).unwrap();
            let wide = widen(x.as_ref());
            let (expected, size) =
                (some.matrix.dot(&wide), some.magnitude.dot(&wide.mapv(f64::abs)));
            assert_close("apply_rows", z.as_ref(), &expected, &size, some.depth);
        }
        check_direction("apply_rows_adjoint", &some.transposed(), |alpha, z, gamma, y, ws| {
            op.apply_rows_adjoint(list, alpha, z, gamma, y, ws).unwrap();
        });
    }
    let x = Block::<T>::gaussian(cols, 1, 13);
    let mut z = Block::zeros(1, 1);
    assert!(op.apply_rows(&[rows], x.as_ref(), z.as_mut(), &mut ws).is_err(), "row out of range");
}

/// All terms with unit weights are the whole, each term alone adds up to it, no term is nothing.
pub fn check_terms<T: Scalar>(op: &dyn StochasticOperator<T>, explicit: &Explicit) {
    let count = op.terms();
    let all = Batch { terms: (0..count).collect(), weights: vec![T::one(); count] };
    check_direction("all terms", explicit, |alpha, x, gamma, y, ws| {
        op.apply_terms(&all, alpha, x, gamma, y, ws).unwrap();
    });
    check_direction("one term at a time", explicit, |alpha, x, gamma, mut y, ws| {
        let none = Batch::default();
        op.apply_terms(&none, alpha, x, gamma, y.reborrow(), ws).unwrap();
        for term in 0..count {
            // Half of the term twice.
            let half = T::of(0.5);
            let batch = Batch { terms: vec![term, term], weights: vec![half, half] };
            op.apply_terms(&batch, alpha, x, T::one(), y.reborrow(), ws).unwrap();
        }
    });
    let x = Block::<T>::gaussian(explicit.matrix.ncols(), 1, 1);
    let mut y = Block::zeros(explicit.matrix.nrows(), 1);
    let outside = Batch { terms: vec![count], weights: vec![T::one()] };
    let mut ws = Workspace::new();
    let y = y.as_mut();
    assert!(op.apply_terms(&outside, T::one(), x.as_ref(), T::zero(), y, &mut ws).is_err());
}
