//! What `apply` may read and write, and what it has to refuse.

use std::sync::OnceLock;

use favard_operator::{Block, BlockRef, Error, LinearOperator, Scalar, Workspace};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::case::{Case, Verdict};

/// With γ = 0 the old Y is not read: NaN and infinities in it leave no trace, not even in a bit.
///
/// # Errors
/// The violation, or a product that fails.
pub fn overwrite<T: Scalar, A: LinearOperator<T> + ?Sized>(
    op: &A,
    alpha: T,
    x: BlockRef<'_, T>,
) -> Verdict {
    let case = Case::new("overwrite", op.shape(), x.cols()).with(&format!("α = {alpha}, γ = 0"));
    let run = |old: T| {
        let mut y = Block::from_fn(op.shape().0, x.cols(), |_, _| old);
        let mut ws = Workspace::new();
        case.run(|| op.apply(alpha, x, T::zero(), y.as_mut(), &mut ws)).map(|()| y)
    };
    let expected = run(T::zero())?;
    for old in [T::nan(), T::infinity()] {
        case.with(&format!("old y = {old}")).bits(expected.as_ref(), run(old)?.as_ref())?;
    }
    Ok(())
}

/// The scratch of a [`Workspace`] holds anything: a used one, here full of NaN, gives the bits of a
/// new one, and so does the operator's own second call with it.
///
/// # Errors
/// The violation, or a product that fails.
pub fn scratch<T: Scalar, A: LinearOperator<T> + ?Sized>(op: &A, x: BlockRef<'_, T>) -> Verdict {
    let case = Case::new("scratch", op.shape(), x.cols());
    let expected = case.run(|| op.multiply(x))?;
    let (rows, cols) = op.shape();
    let mut ws = Workspace::new();
    for len in [rows.max(cols) * x.cols().max(1), rows, cols, 4 * T::LANE] {
        let mut block = Block::zeros(len.max(1), 1);
        block.fill(T::nan());
        ws.give(block);
    }
    for turn in 1..=2 {
        let case = case.with(&format!("used workspace, call {turn}"));
        let mut y = Block::zeros(rows, x.cols());
        case.run(|| op.apply(T::one(), x, T::zero(), y.as_mut(), &mut ws))?;
        case.bits(expected.as_ref(), y.as_ref())?;
    }
    Ok(())
}

/// Pools of 1, 2 and 4 threads, made once.
fn pools() -> Result<&'static [ThreadPool], Error> {
    static POOLS: OnceLock<Vec<ThreadPool>> = OnceLock::new();
    if let Some(pools) = POOLS.get() {
        return Ok(pools);
    }
    let build = |&threads: &usize| ThreadPoolBuilder::new().num_threads(threads).build();
    let pools: Result<Vec<_>, _> = [1, 2, 4].iter().map(build).collect();
    let pools = pools.map_err(Error::external)?;
    Ok(POOLS.get_or_init(|| pools))
}

/// Equal inputs give equal bits on 1, 2 and 4 threads.
///
/// # Errors
/// The violation, or a product that fails.
pub fn threads<T: Scalar, A: LinearOperator<T> + ?Sized>(
    op: &A,
    alpha: T,
    x: BlockRef<'_, T>,
    gamma: T,
    y: BlockRef<'_, T>,
) -> Verdict {
    let case = Case::new("threads", op.shape(), x.cols());
    let mut first: Option<Block<T>> = None;
    for pool in case.run(pools)? {
        let case = case.with(&format!("{} threads", pool.current_num_threads()));
        let found = pool.install(|| {
            let mut found = y.to_owned();
            case.run(|| op.apply(alpha, x, gamma, found.as_mut(), &mut Workspace::new()))?;
            Ok(found)
        })?;
        match &first {
            Some(first) => case.bits(first.as_ref(), found.as_ref())?,
            None => first = Some(found),
        }
    }
    Ok(())
}

/// Blocks that do not fit are refused with an error, without a panic, and before Y is touched.
///
/// # Errors
/// The violation.
pub fn shapes<T: Scalar, A: LinearOperator<T> + ?Sized>(op: &A) -> Verdict {
    let (rows, cols) = op.shape();
    let width = 2;
    // (rows of x, columns of x), (rows of y, columns of y): one of the four is wrong.
    let mut wrong = vec![
        ((cols + 1, width), (rows, width)),
        ((cols, width), (rows + 1, width)),
        ((cols, width), (rows, width + 1)),
        ((cols, width + 1), (rows, width)),
        ((cols, 0), (rows, width)),
        ((cols, width), (rows, 0)),
    ];
    if cols > 0 {
        wrong.push(((cols - 1, width), (rows, width)));
    }
    if rows > 0 {
        wrong.push(((cols, width), (rows - 1, width)));
    }
    if rows != cols {
        wrong.push(((rows, width), (cols, width)));
    }
    for (of_x, of_y) in wrong {
        let case = Case::new("shapes", op.shape(), of_x.1);
        let case =
            case.with(&format!("x is {} × {}, y is {} × {}", of_x.0, of_x.1, of_y.0, of_y.1));
        let x = Block::from_fn(of_x.0, of_x.1, |_, _| T::one());
        for gamma in [T::zero(), T::one()] {
            let mut y = Block::from_fn(of_y.0, of_y.1, |_, _| T::of(0.5));
            let mut ws = Workspace::new();
            case.refuse(&mut y, |y| op.apply(T::one(), x.as_ref(), gamma, y.as_mut(), &mut ws))?;
        }
    }
    Ok(())
}
