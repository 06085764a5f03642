//! Data for the laws, and reference matrices computed entry by entry.

use std::error::Error;

use favard_operator::{
    AdjointOperator, Csr, Dense, LinearOperator, RowOperator, Scalar, StochasticOperator,
};
use favard_testkit::strategy::{self, Layout, Strided};
use favard_testkit::{Rounding, Trial};
use ndarray::{Array2, Axis};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestError, TestRunner};
use sprs::CsMatI;

/// What wrappers wrap here.
pub type Rows<'a, T> = &'a dyn RowOperator<T>;

/// The same for what has an adjoint only.
pub type Both<'a, T> = &'a dyn AdjointOperator<T>;

/// The same for what is a sum of terms.
pub type Terms<'a, T> = &'a dyn StochasticOperator<T>;

pub type Checked = Result<(), Box<dyn Error>>;

/// A matrix, numbers for its wrappers, and the case to try.
#[derive(Debug, Clone)]
pub struct Data<T> {
    pub matrix: Array2<T>,
    pub layout: Layout,
    pub sparse: CsMatI<T, u32, usize>,
    /// One number a column.
    pub mean: Vec<T>,
    /// One positive number a column.
    pub scale: Vec<T>,
    /// One positive number a row.
    pub weights: Vec<T>,
    pub width: usize,
    pub seed: u64,
}

pub fn data<T: Scalar>() -> impl Strategy<Value = Data<T>> {
    (strategy::shape(), prop_oneof![Just(0.1), Just(0.4), Just(1.0)])
        .prop_flat_map(|(shape, density)| {
            (
                (strategy::dense::<T>(shape), strategy::layout()),
                strategy::sparse::<T>(shape, density),
                strategy::list::<T>(shape.1),
                strategy::positives::<T>(shape.1),
                strategy::positives::<T>(shape.0),
                (strategy::width(), any::<u64>()),
            )
        })
        .prop_map(|((matrix, layout), sparse, mean, scale, weights, (width, seed))| Data {
            matrix,
            layout,
            sparse,
            mean,
            scale,
            weights,
            width,
            seed,
        })
}

impl<T: Scalar> Data<T> {
    pub fn trial(&self) -> Trial {
        Trial::new(self.seed).with_widths(&[self.width])
    }

    /// The dense matrix behind a view of any layout.
    pub fn strided(&self) -> Strided<T> {
        Strided::new(&self.matrix, self.layout)
    }

    pub fn dense(&self) -> Dense<'static, T> {
        Dense::new(self.matrix.clone()).expect("finite entries")
    }

    pub fn csr(&self) -> Csr<'_, T> {
        Csr::from_sprs_view(self.sparse.view()).expect("a valid sparse matrix")
    }

    pub fn of_dense(&self) -> Reference {
        Reference::new(&self.matrix)
    }

    pub fn of_sparse(&self) -> Reference {
        Reference::new(&strategy::to_dense(&self.sparse))
    }
}

/// What an operator has to be: its matrix, and the bound on the rounding of its products.
#[derive(Debug, Clone)]
pub struct Reference {
    pub matrix: Array2<f64>,
    /// The sizes of the numbers that its products add up, at least the absolute matrix.
    pub sizes: Array2<f64>,
    /// How many roundings they go through.
    pub count: usize,
}

fn wide<T: Scalar>(list: &[T]) -> Vec<f64> {
    list.iter().map(|v| v.as_f64()).collect()
}

impl Reference {
    pub fn new<T: Scalar>(matrix: &Array2<T>) -> Self {
        let matrix = matrix.mapv(Scalar::as_f64);
        let (rows, cols) = matrix.dim();
        Self { sizes: matrix.mapv(f64::abs), matrix, count: rows + cols + 8 }
    }

    /// The same change of matrix and sizes, for `more` roundings.
    fn change(&self, more: usize, f: impl Fn(usize, usize, f64) -> f64 + Copy) -> Self {
        let each = |a: &Array2<f64>| Array2::from_shape_fn(a.dim(), |(i, j)| f(i, j, a[[i, j]]));
        Self { matrix: each(&self.matrix), sizes: each(&self.sizes), count: self.count + more }
    }

    /// A − 1μᵀ
    pub fn centered<T: Scalar>(&self, mean: &[T]) -> Self {
        let mean = wide(mean);
        let mut centered = self.change(4, |_, _, v| v);
        for ((_, j), v) in centered.matrix.indexed_iter_mut() {
            *v -= mean[j];
        }
        for ((_, j), v) in centered.sizes.indexed_iter_mut() {
            *v += mean[j].abs();
        }
        centered
    }

    /// A D⁻¹
    pub fn scaled<T: Scalar>(&self, scale: &[T]) -> Self {
        let scale = wide(scale);
        self.change(4, |_, j, v| v / scale[j])
    }

    /// √W A
    pub fn weighted<T: Scalar>(&self, weights: &[T]) -> Self {
        let roots: Vec<f64> = wide(weights).into_iter().map(f64::sqrt).collect();
        self.change(4, |i, _, v| v * roots[i])
    }

    /// c A
    pub fn times(&self, factor: f64) -> Self {
        let mut multiple = self.change(2, |_, _, v| v * factor);
        multiple.sizes.mapv_inplace(f64::abs);
        multiple
    }

    /// A − c I
    pub fn shifted(&self, shift: f64) -> Self {
        let dim = self.matrix.nrows();
        let shift = Self::new(&Array2::<f64>::from_diag_elem(dim, -shift));
        self.plus(&shift)
    }

    /// Zeros at the given positions.
    pub fn masked(&self, is_missing: impl Fn(usize, usize) -> bool) -> Self {
        let mut masked = self.change(4, |_, _, v| v);
        for ((i, j), v) in masked.matrix.indexed_iter_mut() {
            if is_missing(i, j) {
                *v = 0.0;
            }
        }
        // The entry and its correction.
        masked.sizes *= 2.0;
        masked
    }

    /// A + B
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            matrix: &self.matrix + &other.matrix,
            sizes: &self.sizes + &other.sizes,
            count: self.count + other.count + 2,
        }
    }

    /// A B
    pub fn dot(&self, other: &Self) -> Self {
        Self {
            matrix: self.matrix.dot(&other.matrix),
            sizes: self.sizes.dot(&other.sizes),
            count: self.count + other.count,
        }
    }

    /// Aᵀ
    pub fn adjoint(&self) -> Self {
        let turn = |a: &Array2<f64>| a.t().to_owned();
        Self { matrix: turn(&self.matrix), sizes: turn(&self.sizes), count: self.count }
    }

    /// s Aᵀ A
    pub fn gram(&self, scale: f64) -> Self {
        self.adjoint().dot(self).times(scale)
    }

    /// Aᵀ A / m
    pub fn mean_gram(&self) -> Self {
        self.gram(1.0 / self.matrix.nrows().max(1) as f64)
    }

    /// Stacked along an axis.
    pub fn stack(axis: usize, parts: &[&Self]) -> Self {
        let join = |of: fn(&Self) -> &Array2<f64>| {
            let views: Vec<_> = parts.iter().map(|part| of(part).view()).collect();
            ndarray::concatenate(Axis(axis), &views).expect("shapes that fit")
        };
        let count = parts.iter().map(|part| part.count + 2).sum();
        Self { matrix: join(|part| &part.matrix), sizes: join(|part| &part.sizes), count }
    }

    pub fn rounding(&self) -> Rounding {
        Rounding::majorant(self.sizes.clone()).with_count(self.count)
    }

    // Operators are trait objects here and wrap trait objects in the tests: the number of types to
    // compile is that of the wrappers, not of their pairs.
    fn trial(&self, trial: &Trial) -> Trial {
        trial.clone().with_rounding(self.rounding())
    }

    pub fn check_linear<T: Scalar>(&self, op: &dyn LinearOperator<T>, trial: &Trial) -> Checked {
        self.trial(trial).matrix(op, &self.matrix)?;
        Ok(self.trial(trial).linear(op)?)
    }

    pub fn check_adjoint<T: Scalar>(&self, op: &dyn AdjointOperator<T>, trial: &Trial) -> Checked {
        self.trial(trial).matrix(op, &self.matrix)?;
        Ok(self.trial(trial).adjoint(op)?)
    }

    pub fn check_rows<T: Scalar>(&self, op: &dyn RowOperator<T>, trial: &Trial) -> Checked {
        self.trial(trial).matrix(op, &self.matrix)?;
        Ok(self.trial(trial).rows(op)?)
    }

    pub fn check_stochastic<T: Scalar>(
        &self,
        op: &dyn StochasticOperator<T>,
        trial: &Trial,
    ) -> Checked {
        self.trial(trial).matrix(op, &self.matrix)?;
        Ok(self.trial(trial).stochastic(op)?)
    }
}

/// Runs a check on generated data and panics with the smallest that fails.
// A function pointer, so that proptest's runner is compiled once for each scalar.
pub fn for_all<T: Scalar>(cases: u32, check: fn(&Data<T>) -> Checked) {
    let rng_seed = RngSeed::Fixed(2017);
    let config =
        ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() };
    let run = |data| check(&data).map_err(|error| TestCaseError::fail(error.to_string()));
    match TestRunner::new(config).run(&data::<T>(), run) {
        Ok(()) => {}
        Err(TestError::Fail(reason, data)) => panic!("{reason}\nfor {data:#?}"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

/// Checks over generated data, one test for each scalar.
macro_rules! over_data {
    ($($name:ident($cases:expr): $check:ident;)*) => {$(
        mod $name {
            #[test]
            fn in_f64() {
                crate::support::for_all::<f64>($cases, super::$check);
            }

            #[test]
            fn in_f32() {
                crate::support::for_all::<f32>($cases, super::$check);
            }
        }
    )*};
}
pub(crate) use over_data;
