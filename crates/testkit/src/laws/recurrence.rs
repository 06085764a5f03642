//! On a 1 × 1 operator a recurrence is its polynomial.

use favard_operator::{BlockRef, LinearOperator, Scalar};

use crate::case::{Case, Verdict};

/// The iterates on a 1 × 1 operator λ are the values of the Favard polynomials: with the triples
/// $(a_t, b_t, c_t)$, $f_0$ as it is found in the trace and $f_{-1} = 0$,
///
/// $$ f_{t+1} = (a_t \lambda + b_t) f_t - c_t f_{t-1}. $$
///
/// `trace` holds $f_0, f_1, \dots$, one more than there are triples, as a recurrence without a
/// gauge produced it, by whatever engine. λ is what the operator makes of 1.
///
/// The tolerance is the running error of the recurrence itself: a step adds at most
/// $8\varepsilon\,((|a \lambda| + |b|)|f_t| + |c||f_{t-1}|)$ and carries on what was there,
/// $e_{t+1} = |a\lambda + b| e_t + |c| e_{t-1} + \dots$; twice that, for the trace and the reference.
///
/// # Errors
/// The violation: the row is the step t.
///
/// # Example
/// The momentum recurrence $f_{t+1} = \lambda f_t - \beta f_{t-1}$, by hand:
/// ```
/// use favard_operator::Dense;
/// use favard_testkit::laws;
/// use ndarray::array;
/// let op = Dense::new(array![[0.5]])?;
/// let triples = [[1.0, 0.0, 0.25]; 3];
/// laws::scalar_polynomial(&op, &triples, &[1.0, 0.5, 0.0, -0.125])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn scalar_polynomial<T: Scalar, A: LinearOperator<T> + ?Sized>(
    op: &A,
    triples: &[[f64; 3]],
    trace: &[T],
) -> Verdict {
    let case = Case::new("scalar_polynomial", op.shape(), 1);
    let case = case.with(&format!("{} steps", triples.len()));
    let lengths = triples.len() + 1;
    case.with("length of the trace").near_one((0, 0), lengths as f64, trace.len() as f64, 0.0)?;
    let lambda = case.run(|| op.multiply(BlockRef::column(&[T::one()])))?.row(0)[0].as_f64();

    let local = 8.0 * <T as Scalar>::EPSILON.as_f64();
    let (mut cur, mut prev) = (trace[0].as_f64(), 0.0_f64);
    let (mut error, mut error_prev) = (0.0_f64, 0.0_f64);
    for (tick, &[a, b, c]) in triples.iter().enumerate() {
        // f ← (a λ + b) f − c f₋
        let next = (a * lambda + b) * cur - c * prev;
        // e ← |a λ + b| e + |c| e₋ + 8ε((|a λ| + |b|)(|f| + e) + |c|(|f₋| + e₋))
        let made = ((a * lambda).abs() + b.abs()) * (cur.abs() + error)
            + c.abs() * (prev.abs() + error_prev);
        let grown = (a * lambda + b).abs() * error + c.abs() * error_prev + local * made;
        (prev, cur, error_prev, error) = (cur, next, error, grown);
        case.near_one((tick + 1, 0), cur, trace[tick + 1].as_f64(), 2.0 * error)?;
    }
    Ok(())
}
