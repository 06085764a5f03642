//! [`caught`]: a panic that is an answer, and so says nothing.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is caught and told otherwise.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// What `f` gives; `None` when it panics. The panic's message is not printed: the caller has an
/// error to show instead. The hook that prints the panics of everybody else stays in place.
pub(crate) fn caught<V>(f: impl FnOnce() -> V) -> Option<V> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IS_QUIET.get() {
                before(panic);
            }
        }));
    });
    let outer = IS_QUIET.replace(true);
    let found = catch_unwind(AssertUnwindSafe(f));
    IS_QUIET.set(outer);
    found.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A panic inside is not printed; one outside is, by the hook that was there before. (The only
    /// test here that sets the hook of the process.)
    #[test]
    fn only_panics_inside_are_quiet() {
        static PRINTED: AtomicUsize = AtomicUsize::new(0);
        std::panic::set_hook(Box::new(|_| {
            PRINTED.fetch_add(1, Ordering::SeqCst);
        }));
        assert_eq!(caught(|| 7), Some(7));
        assert_eq!(caught(|| -> i32 { panic!("inside") }), None);
        assert_eq!(PRINTED.load(Ordering::SeqCst), 0);
        assert!(catch_unwind(|| panic!("outside")).is_err());
        assert_eq!(PRINTED.load(Ordering::SeqCst), 1);
    }
}
