//! What stands between a user's closure and the library: panics and non-finite results stop here.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{ErrorKind, Result};
use crate::{BlockMut, BlockRef, Scalar, Workspace, ops};

/// Runs `f`; a panic becomes [`ErrorKind::Panicked`] with its message.
pub(super) fn catch(what: &'static str, f: impl FnOnce() -> Result<()>) -> Result<()> {
    // What the closure leaves half written is scratch that nobody reads after an error.
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|payload| {
        let message = message_of(payload.as_ref());
        Err(ErrorKind::Panicked { what, message }.into())
    })
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "(a panic without a message)".to_owned())
}

/// `Ok` when all entries are finite, else [`ErrorKind::NonFinite`] with the first that is not.
pub(super) fn check_finite<T: Scalar>(what: &'static str, z: BlockRef<'_, T>) -> Result<()> {
    match ops::find_non_finite(z) {
        None => Ok(()),
        Some((row, column)) => {
            let value = z.row(row)[column].as_f64();
            Err(ErrorKind::NonFinite { what, row, column, value }.into())
        }
    }
}

/// y ← α z + γ y where the closure computes z, which it finds filled with zeros. When the closure
/// fails, panics or leaves a non-finite entry, y is as it was.
pub(super) fn combine<T: Scalar>(
    what: &'static str,
    alpha: T,
    gamma: T,
    y: BlockMut<'_, T>,
    ws: &mut Workspace<T>,
    f: impl FnOnce(BlockMut<'_, T>, &mut Workspace<T>) -> Result<()>,
) -> Result<()> {
    let mut z = ws.take_zeros(y.rows(), y.cols());
    let outcome = catch(what, || f(z.as_mut(), ws))
        .and_then(|()| check_finite(what, z.as_ref()))
        .and_then(|()| ops::axpby(alpha, z.as_ref(), gamma, y));
    ws.give(z);
    outcome
}
