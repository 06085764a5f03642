//! Operators that are sums of terms.

use favard_operator::{Centered, Gram, Multiple, Scalar, Scaled, StochasticOperator, Weighted};

use crate::support::{Checked, Data, Rows, over_data};

over_data! {
    gram(32): check_gram;
    norms(32): check_norms;
}

fn check_gram<T: Scalar>(data: &Data<T>) -> Checked {
    let trial = data.trial();
    let (dense, csr) = (data.dense(), data.csr());
    let (dense, csr): (Rows<'_, T>, Rows<'_, T>) = (&dense, &csr);
    let (left, right) = (data.of_dense(), data.of_sparse());
    left.mean_gram().check_stochastic(&Gram::new(dense), &trial)?;
    right.mean_gram().check_stochastic(&Gram::new(csr), &trial)?;
    right.gram(2.0).check_stochastic(&Gram::new(csr).with_scale(2.0)?, &trial)?;

    let inner = Centered::new(csr, data.mean.clone())?;
    let inner = Scaled::new(&inner as Rows<'_, T>, data.scale.clone())?;
    let inner = Weighted::new(&inner as Rows<'_, T>, data.weights.clone())?;
    let inner: Rows<'_, T> = &inner;
    let whole = right.centered(&data.mean).scaled(&data.scale).weighted(&data.weights);
    whole.mean_gram().check_stochastic(&Gram::new(inner), &trial)?;
    let multiple = Multiple::new(T::of(-3.0), Gram::new(inner))?;
    whole.mean_gram().times(-3.0).check_stochastic(&multiple, &trial)
}

/// The norm of a Gram operator's term s x xᵀ is |s| ‖x‖², up to one common factor.
fn check_norms<T: Scalar>(data: &Data<T>) -> Checked {
    let op = Gram::new(data.csr());
    let plain = data.of_sparse();
    let squares: Vec<f64> =
        plain.matrix.rows().into_iter().map(|row| row.iter().map(|v| v * v).sum()).collect();
    let norms: Vec<f64> = (0..op.terms()).map(|term| op.term_norm(term).as_f64()).collect();
    let unit = (2 * plain.matrix.ncols() + 8) as f64 * <T as Scalar>::EPSILON.as_f64();
    for (norm, square) in norms.iter().zip(&squares) {
        for (other_norm, other_square) in norms.iter().zip(&squares) {
            // n_i s_j = n_j s_i
            let (a, b) = (norm * other_square, other_norm * square);
            if (a - b).abs() > unit * a.max(b) {
                return Err(format!("norms {norms:?} for squares {squares:?}").into());
            }
        }
    }
    Ok(())
}
