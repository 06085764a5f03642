//! [`Noise`]: the sampling noise of a stochastic operator, from a sample of its terms.

use favard_operator::{Batch, Block, Scalar, StochasticOperator, Workspace, ops};

use crate::error::Result;

/// Power iterations.
const ROUNDS: usize = 8;

/// Terms of the sample that are looked at one by one in a block.
const WIDTH: usize = 64;

/// A sample of single terms, each $\tilde A = N_{terms} A_i$ with noise $N_i = \tilde A - A$.
pub(crate) struct Noise<'a, T, A: ?Sized> {
    op: &'a A,
    sample: &'a [usize],
    one: Batch<T>,
    seed: u64,
    ws: Workspace<T>,
    /// Exact block products used.
    pub products: u64,
    /// Single terms applied.
    pub sampled: u64,
}

impl<'a, T: Scalar, A: StochasticOperator<T> + ?Sized> Noise<'a, T, A> {
    pub fn new(op: &'a A, sample: &'a Batch<T>, seed: u64) -> Self {
        let one = Batch { terms: vec![0], weights: vec![T::of_count(op.terms())] };
        let (sample, ws) = (&sample.terms[..], Workspace::new());
        Self { op, sample, one, seed, ws, products: 0, sampled: 0 }
    }

    fn dim(&self) -> usize {
        self.op.shape().0
    }

    /// y ← α Ã x + γ y for one term.
    fn term(
        &mut self,
        term: usize,
        alpha: T,
        x: &Block<T>,
        gamma: T,
        y: &mut Block<T>,
    ) -> Result<()> {
        self.one.terms[0] = term;
        let (x, y) = (x.as_ref(), y.as_mut());
        self.op.apply_terms(&self.one, alpha, x, gamma, y, &mut self.ws)?;
        self.sampled += 1;
        Ok(())
    }

    /// y ← α A x + γ y.
    fn exact(&mut self, alpha: T, x: &Block<T>, gamma: T, y: &mut Block<T>) -> Result<()> {
        self.op.apply(alpha, x.as_ref(), gamma, y.as_mut(), &mut self.ws)?;
        self.products += 1;
        Ok(())
    }

    fn norm(&mut self, x: &Block<T>) -> Result<T> {
        let mut norm = [T::zero()];
        ops::column_norms(x.as_ref(), &mut norm, &mut self.ws)?;
        Ok(norm[0])
    }

    /// κ = mean over the sample of ‖Ãv − v(vᵀÃv)‖².
    pub fn spread(&mut self, v: &Block<T>) -> Result<f64> {
        let mut y = Block::zeros(self.dim(), 1);
        let mut total = 0.0;
        for &term in self.sample {
            self.term(term, T::one(), v, T::zero(), &mut y)?;
            let mut along = [T::zero()];
            ops::column_dots(v.as_ref(), y.as_ref(), &mut along, &mut self.ws)?;
            ops::axpby(-along[0], v.as_ref(), T::one(), y.as_mut())?;
            total += self.norm(&y)?.as_f64().powi(2);
        }
        Ok(total / self.sample.len() as f64)
    }

    /// s_op = ‖E[Ã²] − A²‖ by power iteration, the expectation over the sample, and its direction.
    pub fn second_moment(&mut self) -> Result<(f64, Block<T>)> {
        let dim = self.dim();
        let mut v = Block::gaussian(dim, 1, self.seed ^ 0x5eed);
        let zeros = || Block::<T>::zeros(dim, 1);
        let (mut y, mut once, mut sum) = (zeros(), zeros(), zeros());
        let share = T::of_count(self.sample.len()).recip();
        let mut found = 0.0;
        for _ in 0..ROUNDS {
            let length = self.norm(&v)?;
            if length == T::zero() {
                break;
            }
            ops::scale(length.recip(), v.as_mut());
            // sum = (1/m) Σ Ã(Ãv) − A(Av)
            self.exact(T::one(), &v, T::zero(), &mut once)?;
            self.exact(-T::one(), &once, T::zero(), &mut sum)?;
            for &term in self.sample {
                self.term(term, T::one(), &v, T::zero(), &mut y)?;
                self.term(term, share, &y, T::one(), &mut sum)?;
            }
            found = self.norm(&sum)?.as_f64();
            std::mem::swap(&mut v, &mut sum);
        }
        let length = self.norm(&v)?;
        if length > T::zero() {
            ops::scale(length.recip(), v.as_mut());
        }
        Ok((found, v))
    }

    /// column j ← N_j (column j) for the first terms of the sample, with one exact block product.
    fn columns(&mut self, x: &Block<T>, y: &mut Block<T>) -> Result<()> {
        self.exact(-T::one(), x, T::zero(), y)?;
        let dim = self.dim();
        let (mut from, mut to) = (Block::zeros(dim, 1), Block::zeros(dim, 1));
        for j in 0..x.cols() {
            ops::copy(x.as_ref().cols_range(j..j + 1), from.as_mut())?;
            ops::copy(y.as_ref().cols_range(j..j + 1), to.as_mut())?;
            self.term(self.sample[j], T::one(), &from, T::one(), &mut to)?;
            ops::copy(to.as_ref(), y.as_mut().cols_range(j..j + 1))?;
        }
        Ok(())
    }

    /// ‖E[N v vᵀ N]‖_F ≤ ‖Σ‖, from pairs: E ⟨N_i v, N_j v⟩² over i ≠ j is its square.
    pub fn sigma_low(&mut self, v: &Block<T>) -> Result<f64> {
        let width = WIDTH.min(self.sample.len());
        let x = Block::from_fn(self.dim(), width, |i, _| v.row(i)[0]);
        let mut y = Block::zeros(self.dim(), width);
        self.columns(&x, &mut y)?;
        let mut pairs = Block::<T>::zeros(width, width);
        ops::cross(y.as_ref(), y.as_ref(), pairs.as_mut(), &mut self.ws)?;
        let square = |i: usize, j: usize| pairs.row(i)[j].as_f64().powi(2);
        let sum: f64 =
            (0..width).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| square(i, j)).sum();
        let count = width * (width - 1) / 2;
        Ok(if count == 0 { 0.0 } else { (sum / count as f64).sqrt() })
    }

    /// σ² = E ‖N‖²: a power iteration on each N_i of a few, side by side.
    pub fn sigma2(&mut self) -> Result<f64> {
        let width = WIDTH.min(self.sample.len());
        let mut v = Block::gaussian(self.dim(), width, self.seed ^ 0x2519);
        let mut y = Block::zeros(self.dim(), width);
        let (mut norms, mut factors) = (vec![T::zero(); width], vec![T::one(); width]);
        for _ in 0..=ROUNDS {
            ops::column_norms(v.as_ref(), &mut norms, &mut self.ws)?;
            for (factor, norm) in factors.iter_mut().zip(&norms) {
                *factor = if *norm > T::zero() { norm.recip() } else { T::one() };
            }
            ops::scale_columns(&factors, v.as_mut())?;
            self.columns(&v, &mut y)?;
            std::mem::swap(&mut v, &mut y);
        }
        // ‖N v‖ of unit vectors after the last round
        ops::column_norms(v.as_ref(), &mut norms, &mut self.ws)?;
        Ok(norms.iter().map(|norm| norm.as_f64().powi(2)).sum::<f64>() / width as f64)
    }
}
