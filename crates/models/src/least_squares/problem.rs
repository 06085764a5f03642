//! [`Problem`]: weights, intercept and ridge as one operator, and the scaling of its columns.

use favard_operator::{
    AdjointOperator, Block, Centered, Identity, LinearOperator, Multiple, Scalar, VStack, Weighted,
    Workspace, check_dim, ops,
};

use super::method::Scaling;
use crate::error::{ErrorKind, Result};

/// Columns of random signs that estimate the norms of the columns, in one product.
const PROBES: usize = 8;

/// Products with [`PROBES`] columns that estimate norms which differ.
const PRODUCTS: usize = 4;

/// What a caller asks for beside the method.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Terms {
    pub ridge: f64,
    pub intercept: bool,
    pub weights: Option<Vec<f64>>,
}

/// Minimise ‖Ā x − b̄‖ with Ā = ( √W (A − 1μᵀ) ; √λ I ) and b̄ = ( √W (b − 1β̄ᵀ) ; 0 ).
pub(crate) struct Problem<'a, T: Scalar> {
    pub op: Box<dyn AdjointOperator<T> + 'a>,
    pub rhs: Block<T>,
    /// μ and β̄, zeros without an intercept.
    mean: Vec<T>,
    rhs_mean: Vec<T>,
    /// Products with the data used to set it up.
    pub products: u64,
}

/// D and D⁻¹.
pub(crate) struct Scales<T> {
    pub scale: Vec<T>,
    pub factors: Vec<T>,
    /// A lower bound on ‖Ā‖ that came with them.
    pub norm: T,
    pub products: u64,
}

/// `Ok` when the right-hand sides fit and are finite.
pub(crate) fn check_rhs<T: Scalar>((rows, cols): (usize, usize), rhs: &Block<T>) -> Result<()> {
    if rows == 0 || cols == 0 {
        let kind = favard_operator::ErrorKind::Empty { what: "least squares", rows, cols };
        return Err(favard_operator::Error::from(kind).into());
    }
    check_dim("rows of the right-hand side", rows, rhs.rows())?;
    if rhs.cols() == 0 {
        let (what, rows, cols) = ("right-hand side", rhs.rows(), 0);
        let kind = favard_operator::ErrorKind::Empty { what, rows, cols };
        return Err(favard_operator::Error::from(kind).into());
    }
    if let Some((row, column)) = ops::find_non_finite(rhs.as_ref()) {
        let (what, value) = ("right-hand side", rhs.row(row)[column].as_f64());
        let kind = favard_operator::ErrorKind::NonFinite { what, row, column, value };
        return Err(favard_operator::Error::from(kind).into());
    }
    Ok(())
}

/// The weights as scalars of the data, and the centred right-hand sides with their means.
pub(crate) struct Target<T> {
    pub weights: Option<Vec<T>>,
    pub mean: Vec<T>,
    /// √W (b − 1β̄ᵀ).
    pub rhs: Block<T>,
}

impl Terms {
    /// `Ok` when every number is in its range and there is a weight for every row.
    pub fn check(&self, rows: usize) -> Result<()> {
        if !(self.ridge.is_finite() && self.ridge >= 0.0) {
            let (name, value) = ("ridge", self.ridge);
            let need = "must be finite and at least 0";
            return Err(ErrorKind::Parameter { name, value, need }.into());
        }
        let Some(weights) = &self.weights else {
            return Ok(());
        };
        Ok(check_dim("row weights", rows, weights.len())?)
    }

    /// The right-hand sides of the centred and weighted problem.
    pub fn target<T: Scalar>(&self, rhs: &Block<T>) -> Target<T> {
        if self.weights.is_none() && !self.intercept {
            return Target { weights: None, mean: vec![T::zero(); rhs.cols()], rhs: rhs.clone() };
        }
        let narrow = |weights: &Vec<f64>| weights.iter().map(|&w| T::of(w)).collect::<Vec<T>>();
        let weights = self.weights.as_ref().map(narrow);
        let weight = |i: usize| weights.as_ref().map_or(T::one(), |weights| weights[i]);
        let mut mean = vec![T::zero(); rhs.cols()];
        if self.intercept {
            // β̄ = bᵀw / 1ᵀw
            let total: T = (0..rhs.rows()).map(weight).sum();
            for i in 0..rhs.rows() {
                let share = weight(i) / total;
                mean.iter_mut().zip(rhs.row(i)).for_each(|(mean, &b)| *mean += share * b);
            }
        }
        let entry = |i: usize, j: usize| weight(i).sqrt() * (rhs.row(i)[j] - mean[j]);
        let rhs = Block::from_fn(rhs.rows(), rhs.cols(), entry);
        Target { weights, mean, rhs }
    }
}

impl<'a, T: Scalar> Problem<'a, T> {
    /// The problem of an operator and right-hand sides.
    pub fn new(op: &'a dyn AdjointOperator<T>, rhs: &Block<T>, terms: &Terms) -> Result<Self> {
        let (rows, cols) = op.shape();
        check_rhs((rows, cols), rhs)?;
        terms.check(rows)?;
        let Target { weights, mean: rhs_mean, rhs } = terms.target(rhs);
        let (mut products, mut mean) = (0, vec![T::zero(); cols]);
        let mut whole: Box<dyn AdjointOperator<T> + 'a> = Box::new(op);
        if terms.intercept {
            let centred = match &weights {
                None => Centered::by_mean(whole)?,
                Some(weights) => Centered::by_weighted_mean(whole, weights)?,
            };
            products += 1;
            mean.copy_from_slice(centred.mean());
            whole = Box::new(centred);
        }
        if let Some(weights) = weights {
            whole = Box::new(Weighted::new(whole, weights)?);
        }
        if terms.ridge == 0.0 {
            return Ok(Self { op: whole, rhs, mean, rhs_mean, products });
        }
        let root = Multiple::new(T::of(terms.ridge.sqrt()), Identity::new(cols))?;
        let parts: Vec<Box<dyn AdjointOperator<T> + 'a>> = vec![whole, Box::new(root)];
        let entry = |i: usize, j: usize| if i < rows { rhs.row(i)[j] } else { T::zero() };
        let rhs = Block::from_fn(rows + cols, rhs.cols(), entry);
        Ok(Self { op: Box::new(VStack::new(parts)?), rhs, mean, rhs_mean, products })
    }

    /// μ.
    pub fn mean(&self) -> &[T] {
        &self.mean
    }

    /// β̄ − μᵀx for each right-hand side.
    pub fn intercept(&self, x: &Block<T>) -> Vec<T> {
        let mut intercept = self.rhs_mean.clone();
        for (i, &mean) in self.mean.iter().enumerate() {
            intercept.iter_mut().zip(x.row(i)).for_each(|(c, &x)| *c -= mean * x);
        }
        intercept
    }

    /// The scales that were asked for; `squares` are the squared norms of the columns where they
    /// are known.
    pub fn scales(
        &self,
        scaling: &Scaling,
        squares: Option<Vec<f64>>,
        seed: u64,
        ws: &mut Workspace<T>,
    ) -> Result<Scales<T>> {
        let cols = self.op.shape().1;
        let (norms, known, products) = match (scaling, squares) {
            (Scaling::Off, _) => (vec![1.0; cols], false, 0),
            (Scaling::Given(scales), _) => {
                check_dim("column scales", cols, scales.len())?;
                if let Some(index) = scales.iter().position(|s| !(s.is_finite() && *s > 0.0)) {
                    let (value, need) = (scales[index], "as a scale must be finite and above 0");
                    let kind = favard_operator::ErrorKind::Weight { index, value, need };
                    return Err(favard_operator::Error::from(kind).into());
                }
                (scales.clone(), false, 0)
            }
            (Scaling::Auto, Some(squares)) => {
                (squares.into_iter().map(f64::sqrt).collect(), true, 0)
            }
            (Scaling::Auto, None) => {
                let (norms, products) = self.probe(seed, ws)?;
                (norms, false, products)
            }
        };
        // A norm whose square has overflowed is none.
        let finite = norms.iter().copied().filter(|&norm| T::of(norm).is_finite());
        let norm = if known { finite.fold(0.0, f64::max) } else { 0.0 };
        // A constant column is rounding once it is centred: it must not be blown up.
        let count = (self.rhs.rows() as f64).sqrt();
        let guarded = norms.iter().zip(&self.mean).map(|(&norm, mean)| {
            let size = count * mean.as_f64().abs();
            let rounding = 1e3 * T::EPSILON.as_f64() * size;
            let scale = T::of(if norm > rounding { norm } else { size });
            let good = scale > T::zero() && scale.is_finite() && scale.recip().is_finite();
            if good { scale } else { T::one() }
        });
        let scale: Vec<T> = guarded.collect();
        let factors = scale.iter().map(|&scale| scale.recip()).collect();
        Ok(Scales { scale, factors, norm: T::of(norm), products })
    }

    /// Norms of the columns of Ā from random signs z: E (Āᵀz)ⱼ² = ‖aⱼ‖²; and the products it took.
    ///
    /// One product estimates every square with a relative variance of 2/[`PROBES`] at most. Where the
    /// squares do not differ by more than that the columns are taken as they are: to divide them by
    /// their estimates would multiply the condition by what chance has put in (400,000 × 20,000
    /// columns of one length: 70 steps instead of 14). Where they do, [`PRODUCTS`] products estimate
    /// them.
    fn probe(&self, seed: u64, ws: &mut Workspace<T>) -> Result<(Vec<f64>, u64)> {
        let (rows, cols) = self.op.shape();
        let mut squares = vec![0.0; cols];
        let mut products = Block::<T>::zeros(cols, PROBES);
        let mut signs = Block::<T>::zeros(rows, PROBES);
        for number in 0..PRODUCTS {
            for i in 0..rows {
                let bits = mix(seed ^ i as u64) >> (number * PROBES);
                for (j, sign) in signs.row_mut(i).iter_mut().enumerate() {
                    *sign = if bits >> j & 1 == 0 { T::one() } else { -T::one() };
                }
            }
            self.op.apply_adjoint(T::one(), signs.as_ref(), T::zero(), products.as_mut(), ws)?;
            for (i, square) in squares.iter_mut().enumerate() {
                let sum: f64 = products.row(i).iter().map(|v| v.as_f64().powi(2)).sum();
                *square += (sum / PROBES as f64 - *square) / (number + 1) as f64;
            }
            if let (0, Some(common)) = (number, common(&squares)) {
                return Ok((vec![common.sqrt(); cols], 1));
            }
        }
        Ok((squares.into_iter().map(f64::sqrt).collect(), PRODUCTS as u64))
    }
}

/// The mean of estimates of the squared norms from one product, when they differ no more than by
/// chance: a relative variance of 2/[`PROBES`], a fifth more and what n columns leave open, and none
/// below a 64th of the mean (χ² with 8 degrees of freedom: 6e-7 for each).
fn common(squares: &[f64]) -> Option<f64> {
    let present = || squares.iter().filter(|&&square| square > 0.0);
    let count = present().count() as f64;
    let mean = present().sum::<f64>() / count;
    let variance = present().map(|square| (square / mean - 1.0).powi(2)).sum::<f64>() / count;
    let chance = 2.0 / PROBES as f64 * (1.2 + 10.0 / count.sqrt());
    let alike = variance <= chance && present().all(|square| 64.0 * square >= mean);
    alike.then_some(mean)
}

/// The finaliser of splitmix64 (Steele, Lea and Flood, 2014): 64 random bits of a counter.
fn mix(counter: u64) -> u64 {
    let z = counter.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
