//! [`Trial`]: draws the cases of the laws from a seed.

use favard_operator::{
    AdjointOperator, Batch, Block, LinearOperator, RowOperator, Scalar, StochasticOperator,
};
use ndarray::Array2;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::Rounding;
use crate::case::Verdict;
use crate::laws::{self, Middle};
use crate::rounding::{explicit, is_small};
use crate::view::{Normal, Rows, RowsTransposed, Terms, Transposed};

/// (α, γ) of the fused product: plain, the momentum step, and the special cases 0 and 1.
const FACTORS: [(f64, f64); 6] =
    [(1.0, 0.0), (1.0, -0.75), (-2.5, 1.0), (0.0, 0.5), (0.0, 0.0), (1.0, 1.0)];

/// All laws that apply to an operator, on blocks drawn from a seed.
///
/// The blocks are Gaussian, of 0, 1, 3, 8 and 13 columns (16 and 21 for `f32`): none, one, a few, a
/// whole cache line, and a line with a remainder. The tolerances are measured
/// ([`Rounding::measure`]) unless a bound is given.
///
/// # Example
/// ```
/// use favard_operator::Dense;
/// use favard_testkit::Trial;
/// use ndarray::array;
/// let op = Dense::new(array![[1.0, 2.0, 0.0], [3.0, 4.0, -1.0]])?;
/// Trial::new(7).with_widths(&[1, 32]).rows(&op)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Trial {
    seed: u64,
    widths: Option<Vec<usize>>,
    rounding: Option<Rounding>,
}

impl Trial {
    /// A trial whose blocks are a pure function of the seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// Other numbers of columns.
    #[must_use]
    pub fn with_widths(mut self, widths: &[usize]) -> Self {
        self.widths = Some(widths.to_vec());
        self
    }

    /// A bound on rounding errors that the caller knows.
    #[must_use]
    pub fn with_rounding(mut self, rounding: Rounding) -> Self {
        self.rounding = Some(rounding);
        self
    }

    fn widths<T: Scalar>(&self) -> Vec<usize> {
        self.widths.clone().unwrap_or_else(|| vec![0, 1, 3, T::LANE, T::LANE + 5])
    }

    fn rounding<T: Scalar>(&self, op: &dyn LinearOperator<T>) -> Verdict<Rounding> {
        self.rounding.clone().map_or_else(|| Rounding::measure(op), Ok)
    }

    /// The laws of [`LinearOperator`].
    ///
    /// # Errors
    /// The first violation.
    pub fn linear<T: Scalar, A: LinearOperator<T> + ?Sized>(&self, op: &A) -> Verdict {
        self.suite(&op, &self.rounding(&op)?)
    }

    // From here on an operator is a trait object: a program that checks a hundred types of them
    // compiles the laws once.
    fn suite<T: Scalar>(&self, op: &dyn LinearOperator<T>, rounding: &Rounding) -> Verdict {
        laws::shapes(op)?;
        let (rows, cols) = op.shape();
        let itself = if is_small(op.shape()) { Some(explicit(op)?) } else { None };
        for (index, width) in self.widths::<T>().into_iter().enumerate() {
            let seed = self.seed.wrapping_add(16 * index as u64);
            let x = Block::<T>::gaussian(cols, width, seed);
            let z = Block::<T>::gaussian(cols, width, seed.wrapping_add(1));
            let y = Block::<T>::gaussian(rows, width, seed.wrapping_add(2));
            let (x, z, y) = (x.as_ref(), z.as_ref(), y.as_ref());

            laws::linearity(op, T::of(-1.5), x, T::of(0.3), z, rounding)?;
            if let Some(itself) = &itself {
                laws::matrix(op, itself, x, rounding)?;
            }
            laws::columns(op, x, rounding)?;
            laws::scratch(op, x)?;
            for (alpha, gamma) in FACTORS {
                let (alpha, gamma) = (T::of(alpha), T::of(gamma));
                laws::fused(op, alpha, x, gamma, y, rounding)?;
                if gamma == T::zero() {
                    laws::overwrite(op, alpha, x)?;
                }
            }
            for (alpha, gamma) in [(1.0, 0.0), (-2.5, -0.75)] {
                let (alpha, gamma) = (T::of(alpha), T::of(gamma));
                laws::strided(op, alpha, x, gamma, y, rounding)?;
                laws::threads(op, alpha, x, gamma, y)?;
            }
        }
        Ok(())
    }

    /// The operator is the given matrix.
    ///
    /// # Errors
    /// The first violation.
    pub fn matrix<T: Scalar, A: LinearOperator<T> + ?Sized>(
        &self,
        op: &A,
        matrix: &Array2<f64>,
    ) -> Verdict {
        let op: &dyn LinearOperator<T> = &op;
        let rounding = self.rounding(op)?;
        for (index, width) in self.widths::<T>().into_iter().enumerate() {
            let seed = self.seed.wrapping_add(16 * index as u64);
            let x = Block::<T>::gaussian(op.shape().1, width, seed);
            laws::matrix(op, matrix, x.as_ref(), &rounding)?;
        }
        Ok(())
    }

    /// The laws of [`AdjointOperator`], those of [`LinearOperator`] among them: each is asked of
    /// `apply`, of `apply_adjoint` and of `apply_normal`.
    ///
    /// # Errors
    /// The first violation.
    pub fn adjoint<T: Scalar, A: AdjointOperator<T> + ?Sized>(&self, op: &A) -> Verdict {
        self.adjoint_laws(&op)
    }

    fn adjoint_laws<T: Scalar>(&self, op: &dyn AdjointOperator<T>) -> Verdict {
        let rounding = self.rounding(op)?;
        self.suite(op, &rounding)?;
        self.suite(&Transposed(op), &rounding.adjoint())
            .map_err(|violation| violation.of("apply_adjoint"))?;
        self.suite(&Normal(op), &rounding.normal())
            .map_err(|violation| violation.of("apply_normal"))?;
        laws::normal_shapes(op)?;

        let (rows, cols) = op.shape();
        for (index, width) in self.widths::<T>().into_iter().enumerate() {
            let seed = self.seed.wrapping_add(16 * index as u64 + 3);
            let x = Block::<T>::gaussian(cols, width, seed);
            let y = Block::<T>::gaussian(rows, width, seed.wrapping_add(1));
            laws::adjoint_identity(op, x.as_ref(), y.as_ref(), &rounding)?;

            let weights = column::<T>(rows, seed.wrapping_add(2));
            let offset = column::<T>(width, seed.wrapping_add(3));
            let y = Block::<T>::gaussian(cols, width, seed.wrapping_add(4));
            // The eight ways to give or leave out weights, offset and sums.
            for way in 0..8_usize {
                let middle = Middle {
                    weights: (way & 1 > 0).then_some(weights.as_slice()),
                    offset: (way & 2 > 0).then_some(offset.as_slice()),
                    sums: way & 4 > 0,
                };
                for (alpha, gamma) in [(1.0, 0.0), (-2.5, -0.75)] {
                    let (alpha, gamma) = (T::of(alpha), T::of(gamma));
                    laws::normal(op, alpha, x.as_ref(), middle, gamma, y.as_ref(), &rounding)?;
                }
            }
        }
        Ok(())
    }

    /// The laws of [`RowOperator`], those of [`AdjointOperator`] and [`LinearOperator`] among them.
    ///
    /// # Errors
    /// The first violation.
    pub fn rows<T: Scalar, A: RowOperator<T> + ?Sized>(&self, op: &A) -> Verdict {
        self.row_laws(&op)
    }

    fn row_laws<T: Scalar>(&self, op: &dyn RowOperator<T>) -> Verdict {
        self.adjoint_laws(op)?;
        let rounding = self.rounding(op)?;
        laws::entries(op, &rounding)?;
        laws::row_norms(op, &rounding)?;
        laws::row_numbers(op)?;

        let (rows, cols) = op.shape();
        let mut lists = vec![vec![]];
        if rows > 0 {
            lists.push(vec![rows - 1]);
            lists.push(self.draw(rows, 6)); // with repeats, when rows are few
            lists.push((0..rows).rev().collect());
        }
        for list in &lists {
            for (index, width) in self.widths::<T>().into_iter().enumerate() {
                let seed = self.seed.wrapping_add(16 * index as u64 + 9);
                let x = Block::<T>::gaussian(cols, width, seed);
                let z = Block::<T>::gaussian(list.len(), width, seed.wrapping_add(1));
                let y = Block::<T>::gaussian(cols, width, seed.wrapping_add(2));
                laws::rows(op, list, x.as_ref(), &rounding)?;
                for (alpha, gamma) in FACTORS {
                    let (alpha, gamma) = (T::of(alpha), T::of(gamma));
                    let (z, y) = (z.as_ref(), y.as_ref());
                    laws::rows_adjoint(op, list, alpha, z, gamma, y, &rounding)?;
                }
            }
        }
        // What apply has to be, the products with some rows have to be as well.
        for list in lists.iter().take(3).skip(1) {
            let part = rounding.rows(list);
            self.suite(&Rows { op, rows: list }, &part)
                .map_err(|violation| violation.of("apply_rows"))?;
            self.suite(&RowsTransposed { op, rows: list }, &part.adjoint())
                .map_err(|violation| violation.of("apply_rows_adjoint"))?;
        }
        Ok(())
    }

    /// The laws of [`StochasticOperator`], those of [`LinearOperator`] among them.
    ///
    /// Whether a sampler's batches are unbiased is a law of the sampler:
    /// [`laws::unbiased`] and [`laws::unbiased_exactly`].
    ///
    /// # Errors
    /// The first violation.
    pub fn stochastic<T: Scalar, A: StochasticOperator<T> + ?Sized>(&self, op: &A) -> Verdict {
        self.stochastic_laws(&op)
    }

    fn stochastic_laws<T: Scalar>(&self, op: &dyn StochasticOperator<T>) -> Verdict {
        self.suite(op, &self.rounding(op)?)?;
        let rounding = match &self.rounding {
            Some(rounding) => rounding.clone(),
            None => Rounding::measure_terms(op)?,
        };
        laws::terms_refused(op)?;

        let (rows, cols) = op.shape();
        let mut batches = vec![Batch { terms: vec![], weights: vec![] }];
        if op.terms() > 0 {
            let weights = [1.0, -0.5, 0.0, 2.0, 1.5, 3.0];
            let weights: Vec<T> = weights.into_iter().map(T::of).collect();
            batches.push(Batch { terms: vec![op.terms() - 1], weights: vec![T::of(0.5)] });
            batches.push(Batch { terms: self.draw(op.terms(), weights.len()), weights });
        }
        for (index, width) in self.widths::<T>().into_iter().enumerate() {
            let seed = self.seed.wrapping_add(16 * index as u64 + 12);
            let x = Block::<T>::gaussian(cols, width, seed);
            let y = Block::<T>::gaussian(rows, width, seed.wrapping_add(1));
            let (x, y) = (x.as_ref(), y.as_ref());
            for (alpha, gamma) in FACTORS {
                let (alpha, gamma) = (T::of(alpha), T::of(gamma));
                laws::all_terms(op, alpha, x, gamma, y, &rounding)?;
                for batch in &batches {
                    laws::terms(op, batch, alpha, x, gamma, y, &rounding)?;
                }
            }
        }
        for batch in &batches {
            self.suite(&Terms { op, batch }, &rounding.weighted(batch))
                .map_err(|violation| violation.of("apply_terms"))?;
        }
        Ok(())
    }

    /// `count` numbers below `bound`, repeats allowed.
    fn draw(&self, bound: usize, count: usize) -> Vec<usize> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        // The bias of the remainder does not matter here.
        (0..count).map(|_| (rng.next_u32() as usize) % bound).collect()
    }
}

fn column<T: Scalar>(len: usize, seed: u64) -> Vec<T> {
    let block = Block::<T>::gaussian(len, 1, seed);
    (0..len).map(|i| block.row(i)[0]).collect()
}

/// The seed of the `check_*` functions.
const SEED: u64 = 0xfa_7a_4d;

/// All laws of [`LinearOperator`]: linearity, fused form, γ = 0, block = columns, layouts of the
/// blocks, shapes, scratch, equal bits on 1, 2 and 4 threads.
///
/// # Errors
/// The first violation.
///
/// # Example
/// ```
/// use favard_operator::Dense;
/// use ndarray::array;
/// favard_testkit::check_linear(&Dense::new(array![[1.0, 2.0], [3.0, 4.0]])?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_linear<T: Scalar, A: LinearOperator<T> + ?Sized>(op: &A) -> Verdict {
    Trial::new(SEED).linear(op)
}

/// All laws of [`AdjointOperator`]: those of [`check_linear`] on each of its products, the adjoint
/// identity, and the normal product.
///
/// # Errors
/// The first violation.
///
/// # Example
/// ```
/// use favard_operator::Dense;
/// use ndarray::array;
/// favard_testkit::check_adjoint(&Dense::new(array![[1.0, 2.0], [3.0, 4.0]])?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_adjoint<T: Scalar, A: AdjointOperator<T> + ?Sized>(op: &A) -> Verdict {
    Trial::new(SEED).adjoint(op)
}

/// All laws of [`RowOperator`]: those of [`check_adjoint`], and that rows, entries and row norms
/// agree with the whole.
///
/// # Errors
/// The first violation.
///
/// # Example
/// ```
/// use favard_operator::Dense;
/// use ndarray::array;
/// favard_testkit::check_rows(&Dense::new(array![[1.0, 2.0], [3.0, 4.0]])?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_rows<T: Scalar, A: RowOperator<T> + ?Sized>(op: &A) -> Verdict {
    Trial::new(SEED).rows(op)
}

/// All laws of [`StochasticOperator`]: those of [`check_linear`] on the whole and on batches, that
/// the terms add up to the whole, and that a batch is the weighted sum of its terms.
///
/// # Errors
/// The first violation.
pub fn check_stochastic<T: Scalar, A: StochasticOperator<T> + ?Sized>(op: &A) -> Verdict {
    Trial::new(SEED).stochastic(op)
}

/// The operator is the given matrix, up to rounding.
///
/// # Errors
/// The first violation.
///
/// # Example
/// ```
/// use favard_operator::Dense;
/// use ndarray::array;
/// let matrix = array![[1.0, 2.0], [3.0, 4.0]];
/// favard_testkit::check_matrix(&Dense::new(matrix.clone())?, &matrix)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_matrix<T: Scalar, A: LinearOperator<T> + ?Sized>(
    op: &A,
    matrix: &Array2<f64>,
) -> Verdict {
    Trial::new(SEED).matrix(op, matrix)
}
