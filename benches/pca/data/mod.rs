//! The data sets, each a function of its shape and a fixed seed.

mod genes;
mod low_rank;
mod topics;

use favard_benches::Outcome;
use favard_models::{Pca, PcaFit};
use favard_operator::{Csr, Dense, LinearOperator};

/// A matrix of either kind.
#[derive(Debug)]
pub enum Matrix {
    /// Stored by rows.
    Sparse(Csr<'static, f64>),
    /// Stored in full.
    Dense(Dense<'static, f64>),
}

impl Matrix {
    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::Sparse(x) => x.shape(),
            Self::Dense(x) => x.shape(),
        }
    }

    /// Numbers that are stored.
    pub fn entries(&self) -> usize {
        match self {
            Self::Sparse(x) => x.entries(),
            Self::Dense(x) => x.view().len(),
        }
    }

    /// The components.
    pub fn fit(&self, pca: &Pca) -> favard_models::Result<PcaFit<f64>> {
        match self {
            Self::Sparse(x) => pca.fit(x),
            Self::Dense(x) => pca.fit(x),
        }
    }
}

/// A data set and the numbers of components asked of it.
#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    /// What it is called.
    pub name: &'static str,
    /// Numbers of components.
    pub components: &'static [usize],
    make: fn(quick: bool) -> favard_operator::Result<Matrix>,
}

impl Recipe {
    /// The data set; `quick` makes it about 20 times smaller.
    pub fn make(&self, quick: bool) -> Outcome<Matrix> {
        Ok((self.make)(quick)?)
    }
}

/// Components asked of data that has many columns.
pub const COMPONENTS: &[usize] = &[1, 10, 50];

/// All of them, the smallest first.
pub const RECIPES: [Recipe; 5] = [
    Recipe {
        name: "topics-1m",
        components: COMPONENTS,
        make: |quick| {
            let (rows, cols) = if quick { (1_000, 800) } else { (20_000, 8_000) };
            topics::matrix(rows, cols, 30, 110).map(Matrix::Sparse)
        },
    },
    Recipe {
        name: "topics-10m",
        components: COMPONENTS,
        make: |quick| {
            let (rows, cols) = if quick { (7_500, 3_000) } else { (150_000, 30_000) };
            topics::matrix(rows, cols, 60, 150).map(Matrix::Sparse)
        },
    },
    Recipe {
        name: "genes-10m",
        components: COMPONENTS,
        make: |quick| {
            let (rows, cols) = if quick { (1_250, 4_000) } else { (5_000, 20_000) };
            genes::matrix(rows, cols, 0.1).map(Matrix::Sparse)
        },
    },
    Recipe {
        name: "dense-10",
        components: &[1, 5],
        make: |quick| {
            let rows = if quick { 50_000 } else { 1_000_000 };
            low_rank::matrix(rows, 10, 4).map(Matrix::Dense)
        },
    },
    Recipe {
        name: "dense-784",
        components: COMPONENTS,
        make: |quick| {
            let rows = if quick { 3_500 } else { 70_000 };
            low_rank::matrix(rows, 784, 60).map(Matrix::Dense)
        },
    },
];

/// A whole number from 0 to below `share · count`, for a share within [0, 1).
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn part(share: f64, count: usize) -> usize {
    (share * count as f64) as usize
}
