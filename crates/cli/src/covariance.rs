//! [`Covariance`]: the operator that `plan` and `spectrum` look at.

use favard_operator::{Adjoint, Centered, Constant, Gram, Scaled};

use crate::data::{Data, Rows};
use crate::error::{Error, Result};

/// $X$ without its mean and with unit deviations, as asked for.
type Standard<'a> = Scaled<Centered<&'a dyn Rows, f64>, f64>;

/// The covariance $\frac{1}{n-1} A^T A$ of a matrix, $A = (X - \mathbf{1}\mu^T) D^{-1}$.
pub struct Covariance<'a> {
    standard: Standard<'a>,
    factor: f64,
    name: &'a str,
}

impl<'a> Covariance<'a> {
    pub fn new(data: &'a Data, center: bool, scale: bool) -> Result<Self> {
        let (x, name) = (data.rows(), data.name.as_str());
        let (rows, cols) = data.shape();
        if rows < 2 {
            return Err(Error::argument(name, format!("rows: {rows} must be at least 2")));
        }
        let centred = if center { Centered::by_mean(x) } else { Centered::new(x, vec![0.0; cols]) };
        let centred = centred.map_err(Error::of(name))?;
        let standard = if scale {
            Scaled::by_deviation(centred, 1, Constant::KeepScale)
        } else {
            Scaled::new(centred, vec![1.0; cols])
        };
        let standard = standard.map_err(Error::of(name))?;
        Ok(Self { standard, factor: 1.0 / (rows as f64 - 1.0), name })
    }

    /// The columns' side.
    pub fn gram(&self) -> Result<Gram<&Standard<'a>>> {
        Gram::new(&self.standard).with_scale(self.factor).map_err(Error::of(self.name))
    }

    /// The rows' side: the same eigenvalues, but for zeros.
    pub fn outer(&self) -> Result<Gram<Adjoint<&Standard<'a>>>> {
        let outer = Gram::new(Adjoint::new(&self.standard));
        outer.with_scale(self.factor).map_err(Error::of(self.name))
    }
}
