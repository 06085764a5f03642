//! [`turned`]: a copy of sparse data that is stored by its longer side.

use favard_operator::{ColumnMoments, RowOperator, Scalar, Sparse};

use super::Plan;

/// Bytes of a block that stays in cache.
const CACHE: usize = 3 << 19;

/// The bytes of the copy where a fit makes one: of data stored by the shorter side whose blocks of the other one fit no
/// cache, while it takes no more than $2 (n + d)(k + 8)$ numbers. Methods that sample rows take them as
/// they are stored.
pub(crate) fn turned_bytes<T: Scalar, X>(x: &X, plan: &Plan) -> Option<usize>
where
    X: RowOperator<T> + ColumnMoments<T>,
{
    let (rows, cols) = x.shape();
    let is_far = rows.max(cols) * 8 * size_of::<T>() > CACHE;
    let columns = plan.components.saturating_add(8);
    let most = (2 * (rows + cols) * size_of::<T>()).saturating_mul(columns);
    let wanted = is_far && !plan.solver.is_sampled();
    x.turned_bytes().filter(|&bytes| wanted && bytes <= most)
}

/// That copy.
pub(crate) fn turned<T: Scalar, X>(x: &X, plan: &Plan) -> Option<Sparse<'static, T>>
where
    X: RowOperator<T> + ColumnMoments<T>,
{
    turned_bytes(x, plan).and_then(|_| x.turned())
}
