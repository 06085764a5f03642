//! Sums, products, stacks and the rest are their explicit matrices.

mod common;

use common::{Explicit, check_adjoint, check_rows, check_terms, exact, matrix, positive};
use favard_operator::{
    Adjoint, AdjointOperator, Block, BlockDiagonal, Csr, Dense, Diagonal, ErrorKind, Gram, HStack,
    Identity, LinearOperator, LowRank, Masked, Multiple, Op, Pattern, Product, Scalar, Shifted,
    Sum, VStack,
};
use ndarray::{Array2, Axis, concatenate};

const SHAPES: [(usize, usize); 5] = [(0, 3), (3, 0), (1, 1), (6, 4), (3, 8)];

fn dense<T: Scalar>(rows: usize, cols: usize, seed: u64) -> (Dense<'static, T>, Array2<f64>) {
    let array = matrix::<T>(rows, cols, seed);
    let wide = exact(&array);
    (Dense::new(array).unwrap(), wide)
}

fn sizes(matrix: &Array2<f64>) -> Array2<f64> {
    matrix.mapv(f64::abs)
}

fn elementwise<T: Scalar>(rows: usize, cols: usize) {
    let (a, wide_a) = dense::<T>(rows, cols, 1);
    let (b, wide_b) = dense::<T>(rows, cols, 2);
    let size = sizes(&wide_a) + sizes(&wide_b);
    let sum = Explicit::with_magnitude(&wide_a + &wide_b, size.clone());
    check_adjoint(&Sum::new(&a, &b).unwrap(), &sum);

    let half = Explicit::plain(-0.5 * &wide_a);
    let multiple = Multiple::new(T::of(-0.5), &a).unwrap();
    check_adjoint(&multiple, &half);
    check_rows(&multiple, &half);

    check_adjoint(&Adjoint::new(&a), &Explicit::plain(wide_a.t().to_owned()));

    let formula = (Op::new(&a) - Op::new(&b)).unwrap();
    check_adjoint(&formula, &Explicit::with_magnitude(&wide_a - &wide_b, size));
    check_adjoint(&-Op::new(&a), &Explicit::plain(-&wide_a));
    check_adjoint(&Op::<_, T>::new(&a).adjoint(), &Explicit::plain(wide_a.t().to_owned()));
}

fn products<T: Scalar>(rows: usize, cols: usize) {
    let (a, wide_a) = dense::<T>(rows, 5, 1);
    let (b, wide_b) = dense::<T>(5, cols, 2);
    let size = sizes(&wide_a).dot(&sizes(&wide_b));
    let mut explicit = Explicit::with_magnitude(wide_a.dot(&wide_b), size);
    explicit.depth += 10;
    check_adjoint(&Product::new(&a, &b).unwrap(), &explicit);
    check_adjoint(&(Op::new(&a) * Op::new(&b)).unwrap(), &explicit);

    let (base, wide) = dense::<T>(rows, cols, 3);
    for rank in [0, 1, 3] {
        let (u, v) = (Block::<T>::gaussian(rows, rank, 4), Block::<T>::gaussian(cols, rank, 5));
        let (wide_u, wide_v) = (common::widen(u.as_ref()), common::widen(v.as_ref()));
        let matrix = &wide + &wide_u.dot(&wide_v.t());
        let magnitude = sizes(&wide) + sizes(&wide_u).dot(&sizes(&wide_v).t());
        let mut explicit = Explicit::with_magnitude(matrix, magnitude);
        explicit.depth += rank;
        check_adjoint(&LowRank::new(&base, u, v).unwrap(), &explicit);
    }
}

fn stacks<T: Scalar>(rows: usize, cols: usize) {
    let (a, wide_a) = dense::<T>(rows, cols, 1);
    let (b, wide_b) = dense::<T>(2, cols, 2);
    let (c, wide_c) = dense::<T>(rows, 3, 3);
    let tall = concatenate(Axis(0), &[wide_a.view(), wide_b.view()]).unwrap();
    check_adjoint(&VStack::new(vec![&a, &b]).unwrap(), &Explicit::plain(tall));
    let wide = concatenate(Axis(1), &[wide_a.view(), wide_c.view()]).unwrap();
    check_adjoint(&HStack::new(vec![&a, &c]).unwrap(), &Explicit::plain(wide));

    let zeros = |rows, cols| Array2::<f64>::zeros((rows, cols));
    let upper = concatenate(Axis(1), &[wide_a.view(), zeros(rows, cols).view()]).unwrap();
    let lower = concatenate(Axis(1), &[zeros(2, cols).view(), wide_b.view()]).unwrap();
    let both = concatenate(Axis(0), &[upper.view(), lower.view()]).unwrap();
    check_adjoint(&BlockDiagonal::new(vec![&a, &b]).unwrap(), &Explicit::plain(both));
}

fn diagonals<T: Scalar>(dim: usize) {
    check_adjoint::<T>(&Identity::new(dim), &Explicit::plain(Array2::eye(dim)));
    check_rows::<T>(&Identity::new(dim), &Explicit::plain(Array2::eye(dim)));
    let entries = positive::<T>(dim, 1);
    let wide = Array2::from_diag(&common::exact_vec(&entries));
    check_adjoint(&Diagonal::new(entries).unwrap(), &Explicit::plain(wide));
}

#[test]
fn algebra_is_its_explicit_matrix() {
    for (rows, cols) in SHAPES {
        elementwise::<f64>(rows, cols);
        elementwise::<f32>(rows, cols);
        products::<f64>(rows, cols);
        products::<f32>(rows, cols);
        stacks::<f64>(rows, cols);
        stacks::<f32>(rows, cols);
    }
    for dim in [0, 1, 5] {
        diagonals::<f64>(dim);
        diagonals::<f32>(dim);
    }
}

#[test]
fn numbers_times_operators_read_like_formulas() {
    let (a, wide) = dense::<f64>(3, 3, 1);
    let twice = (2.0 * Op::new(&a) + Op::new(Identity::new(3))).unwrap();
    let size = 2.0 * sizes(&wide) + Array2::<f64>::eye(3);
    check_adjoint(&twice, &Explicit::with_magnitude(2.0 * &wide + Array2::<f64>::eye(3), size));
    let (a, wide) = dense::<f32>(3, 3, 1);
    check_adjoint(&(2.0_f32 * Op::new(&a)), &Explicit::plain(2.0 * wide));
}

/// Rows of a Gram matrix are its terms; multiples, sums and formulas keep them.
#[test]
fn terms_pass_through_the_algebra() {
    let (a, wide_a) = dense::<f64>(4, 3, 1);
    let (b, wide_b) = dense::<f64>(5, 3, 2);
    let gram = |m: &Array2<f64>| m.t().dot(m) / m.nrows() as f64;
    let (ga, gb) = (gram(&wide_a), gram(&wide_b));
    let (sa, sb) = (gram(&sizes(&wide_a)), gram(&sizes(&wide_b)));
    let (op_a, op_b) = (Gram::new(a), Gram::new(b));
    let deep = |matrix, magnitude| Explicit { matrix, magnitude, depth: 64 };
    check_terms(&Multiple::new(-3.0, &op_a).unwrap(), &deep(-3.0 * &ga, 3.0 * &sa));
    let sum = Sum::new(&op_a, &op_b).unwrap();
    check_terms(&sum, &deep(&ga + &gb, &sa + &sb));
    let formula = (2.0 * Op::new(&op_a) - Op::new(&op_b)).unwrap();
    check_terms(&formula, &deep(2.0 * &ga - &gb, 2.0 * &sa + &sb));
}

#[test]
fn shapes_are_checked_when_the_expression_is_built() {
    let (a, _) = dense::<f64>(2, 3, 1);
    let (b, _) = dense::<f64>(4, 5, 2);
    let pair = "the left operand is 2 × 3, the right one 4 × 5";
    let message = |error: favard_operator::Error| error.to_string();
    assert_eq!(message(Sum::new(&a, &b).unwrap_err()), format!("sum: {pair}"));
    assert_eq!(message(Product::new(&a, &b).unwrap_err()), format!("product: {pair}"));
    let stack = VStack::new(vec![&a, &a, &b]).unwrap_err();
    assert_eq!(message(stack), format!("vertical stack: {pair}"));
    let stack = HStack::new(vec![&a, &b]).unwrap_err();
    assert_eq!(message(stack), format!("horizontal stack: {pair}"));
    let formula = (Op::new(&a) - Op::new(&b)).unwrap_err();
    assert!(matches!(formula.kind(), ErrorKind::Mismatch { left: (2, 3), right: (4, 5), .. }));
    let empty = VStack::new::<f64>(Vec::<&Dense<'_, f64>>::new()).unwrap_err();
    assert!(matches!(empty.kind(), ErrorKind::Empty { .. }));
    let update = |u: (usize, usize), v: (usize, usize)| {
        LowRank::new(&a, Block::zeros(u.0, u.1), Block::zeros(v.0, v.1)).map(|_| ()).unwrap_err()
    };
    assert_eq!(
        message(update((3, 1), (3, 1))),
        "low-rank update, A with U: the left operand is 2 × 3, the right one 3 × 1"
    );
    assert!(matches!(update((2, 1), (2, 1)).kind(), ErrorKind::Mismatch { .. }));
    assert!(matches!(update((2, 1), (3, 2)).kind(), ErrorKind::Mismatch { .. }));
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    let (a, _) = dense::<f64>(2, 2, 1);
    assert!(Multiple::new(f64::NAN, &a).is_err());
    assert!(Diagonal::new(vec![1.0, f64::INFINITY]).is_err());
    let u = Block::column(&[1.0, f64::NAN]);
    let error = LowRank::new(&a, u, Block::column(&[1.0, 1.0])).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NonFinite { row: 1, column: 0, .. }));
    // A formula cannot refuse its factor; its product does.
    let formula = f64::NAN * Op::new(&a);
    assert!(!formula.is_infallible());
    assert!(formula.multiply(Block::column(&[1.0, 1.0]).as_ref()).is_err());
}

#[test]
fn parts_of_different_types_stack_as_boxes() {
    let parts: Vec<Box<dyn AdjointOperator<f64>>> =
        vec![Box::new(Identity::new(2)), Box::new(dense::<f64>(1, 2, 1).0)];
    let stack = VStack::new(parts).unwrap();
    assert_eq!(stack.shape(), (3, 2));
    assert!(stack.is_infallible());
}

/// The work of an expression is that of its parts, not of the dense matrix it stands for: a solver
/// that weighs it against its own would take sparse data for dense.
#[test]
fn work_is_that_of_the_parts() {
    let sparse = || {
        let pointers: Vec<usize> = (0..=50_usize).map(|row| row.saturating_sub(47)).collect();
        Csr::new((50, 50), pointers, vec![1, 7, 9], vec![1.0, 2.0, 3.0]).unwrap()
    };
    let work = |op: &dyn LinearOperator<f64>| op.work().to_bits();
    let is = |count: u32| f64::from(count).to_bits();
    assert_eq!(work(&VStack::new(vec![sparse(), sparse()]).unwrap()), is(6));
    assert_eq!(work(&HStack::new(vec![sparse(), sparse()]).unwrap()), is(6));
    assert_eq!(work(&BlockDiagonal::new(vec![sparse(), sparse()]).unwrap()), is(6));
    assert_eq!(work(&Gram::new(Product::new(sparse(), sparse()).unwrap())), is(12));
    let pattern = Pattern::new((50, 50), vec![(48, 7)]).unwrap();
    assert_eq!(work(&Masked::missing(sparse(), pattern).unwrap()), is(4));
    let formula = (2.0 * Op::new(sparse()) + Op::new(Identity::new(50))).unwrap();
    assert_eq!(work(&formula), is(3 + 50));
    let diagonal = Diagonal::new(vec![1.0; 50]).unwrap();
    let sum = Sum::new(Multiple::new(2.0, sparse()).unwrap(), diagonal).unwrap();
    let factors = || Block::<f64>::gaussian(50, 2, 1);
    let low_rank = LowRank::new(sum, factors(), factors()).unwrap();
    // 3 entries, the diagonal, two factors of 100 numbers, and the shift.
    assert_eq!(work(&Shifted::new(low_rank, 0.5).unwrap()), is(3 + 50 + 200 + 50));
}
