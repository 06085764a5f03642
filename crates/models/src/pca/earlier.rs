//! [`Earlier`]: what a fit starts from.

use favard_operator::{Block, Scalar, check_dim, ops};

use super::decomposition::Decomposition;
use super::problem::Start;
use super::{Plan, Statistics};
use crate::error::{ErrorKind, Result, check_count};

/// What an earlier fit, or anything that is known of the components, is used for.
#[derive(Debug)]
pub(crate) enum Earlier<'a, T> {
    /// There is none.
    None,
    /// Columns that should be close to the components.
    Near(&'a Block<T>),
    /// A fit to the same data, which has some of the components.
    Extend(&'a Decomposition<T>),
}

impl<'a, T: Scalar> Earlier<'a, T> {
    /// The start that it gives a fit to data of this shape.
    ///
    /// # Errors
    /// When the columns do not fit the data or are not finite; when a fit that is to be extended is
    /// one of other data, or has no fewer components.
    pub fn start(
        &self,
        plan: &Plan,
        (rows, cols): (usize, usize),
        statistics: &Statistics,
    ) -> Result<Start<'a, T>> {
        let (vectors, fit) = match *self {
            Earlier::None => return Ok(Start::Random),
            Earlier::Near(columns) => (columns, None),
            Earlier::Extend(fit) => (&fit.eigen.vectors, Some(fit)),
        };
        let bad = |name, value, need| Err(ErrorKind::Parameter { name, value, need }.into());
        check_dim("columns of the data that the start is for", cols, vectors.rows())?;
        let of = "the smaller side of the data";
        check_count("columns of the start", vectors.cols(), rows.min(cols), of)?;
        if let Some((row, column)) = ops::find_non_finite(vectors.as_ref()) {
            let (what, value) = ("start", vectors.row(row)[column].as_f64());
            let kind = favard_operator::ErrorKind::NonFinite { what, row, column, value };
            return Err(favard_operator::Error::from(kind).into());
        }
        let Some(fit) = fit else {
            return Ok(Start::Near(vectors));
        };
        if vectors.cols() >= plan.components {
            let need = "must be more than the earlier fit has";
            return bad("components", plan.components as f64, need);
        }
        let (own, found) = (statistics.total, fit.statistics.total);
        if (own - found).abs() > f64::EPSILON.sqrt() * own {
            let need = "is not that of the data: only a fit to the same data can be extended";
            return bad("total variance of the earlier fit", found, need);
        }
        // Pairs that are not exact enough cannot be set aside.
        let exact = fit.eigen.meets(plan.tolerance);
        Ok(if exact { Start::Found(vectors, &fit.eigen.values) } else { Start::Near(vectors) })
    }
}
