//! [`Rows`]: what is known of the rows.

use favard_operator::{Block, RowOperator, Scalar};

use crate::error::Result;
use crate::least_squares::short::short_rows;

/// What is known of the rows.
pub(super) struct Rows {
    /// ‖A‖_F².
    pub total: f64,
    /// Zero rows whose right-hand side is not zero.
    pub impossible: usize,
    /// Rows that are not zero, and the squares of whose lengths are: they are never drawn.
    pub short: usize,
}

impl Rows {
    /// One pass over the data, and one over the rows whose squared length is 0.
    pub fn look<T: Scalar>(op: &dyn RowOperator<T>, rhs: &Block<T>) -> Result<Self> {
        let (mut total, mut without) = (0.0, Vec::new());
        for i in 0..op.shape().0 {
            let square = op.row_norm_squared(i).as_f64();
            total += square;
            if square == 0.0 {
                without.push(i);
            }
        }
        let short = short_rows(op, &without)?;
        let asked = |i: usize| rhs.row(i).iter().any(|&b| b != T::zero());
        let impossible = without.iter().filter(|&&i| asked(i) && !short.contains(&i)).count();
        Ok(Self { total, impossible, short: short.len() })
    }

    /// Adds to a reason what is wrong with some of them.
    pub fn remark(&self, reason: &mut String) {
        let Self { impossible, short, .. } = self;
        if *impossible > 0 {
            let text = format!(
                "; {impossible} rows are zero and their right-hand sides are not: no solution"
            );
            reason.push_str(&text);
        }
        if *short > 0 {
            let text = format!(
                "; {short} rows are never drawn: the squares of their lengths are below the \
                 smallest number"
            );
            reason.push_str(&text);
        }
    }
}
