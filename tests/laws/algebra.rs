//! Expressions of operators are the expressions of their matrices.

use favard_operator::{
    Adjoint, AdjointOperator, Block, BlockDiagonal, Centered, Dense, Diagonal, Gram, HStack,
    Identity, LowRank, Multiple, Op, Product, Scalar, Sum, VStack,
};
use ndarray::{Array2, s};

use crate::support::{Both, Checked, Data, Reference, Rows, Terms, over_data};

over_data! {
    sums(24): check_sums;
    stacks(24): check_stacks;
    small(24): check_small;
    formulas(24): check_formulas;
}

fn check_sums<T: Scalar>(data: &Data<T>) -> Checked {
    let trial = data.trial();
    let (dense, csr) = (data.dense(), data.csr());
    let (a, b): (Both<'_, T>, Both<'_, T>) = (&dense, &csr);
    let (left, right) = (data.of_dense(), data.of_sparse());

    left.plus(&right).check_adjoint(&Sum::new(a, b)?, &trial)?;
    let multiple = |factor| Multiple::new(factor, &csr as Rows<'_, T>);
    right.times(-1.5).check_rows(&multiple(T::of(-1.5))?, &trial)?;
    right.times(0.0).check_rows(&multiple(T::zero())?, &trial)?;
    left.adjoint().check_adjoint(&Adjoint::new(a), &trial)?;
    right.adjoint().check_adjoint(&Adjoint::new(b), &trial)?;
    let turned = Adjoint::new(a);
    let product = Product::new(&turned as Both<'_, T>, b)?;
    left.adjoint().dot(&right).check_adjoint(&product, &trial)?;
    let centered = Adjoint::new(Centered::new(a, data.mean.clone())?);
    let product = Product::new(b, &centered as Both<'_, T>)?;
    right.dot(&left.centered(&data.mean).adjoint()).check_adjoint(&product, &trial)
}

fn check_stacks<T: Scalar>(data: &Data<T>) -> Checked {
    let trial = data.trial();
    let (left, right) = (data.of_dense(), data.of_sparse());
    let parts = || -> Vec<Box<dyn AdjointOperator<T> + '_>> {
        vec![Box::new(data.dense()), Box::new(data.csr()), Box::new(data.dense())]
    };
    let all = [&left, &right, &left];
    let tall = VStack::new(parts())?;
    Reference::stack(0, &all).check_adjoint(&tall, &trial)?;
    Reference::stack(0, &all)
        .mean_gram()
        .check_adjoint(&Gram::new(&tall as Both<'_, T>), &trial)?;
    Reference::stack(1, &all).check_adjoint(&HStack::new(parts())?, &trial)?;

    // diag(A, Bᵀ): parts that are not square.
    let turned = right.adjoint();
    let zeros = |rows: &Reference, cols: &Reference| {
        Reference::new(&Array2::<f64>::zeros((rows.matrix.nrows(), cols.matrix.ncols())))
    };
    let (above, below) = (zeros(&left, &turned), zeros(&turned, &left));
    let top = Reference::stack(1, &[&left, &above]);
    let bottom = Reference::stack(1, &[&below, &turned]);
    let parts: Vec<Box<dyn AdjointOperator<T> + '_>> =
        vec![Box::new(data.dense()), Box::new(Adjoint::new(data.csr()))];
    Reference::stack(0, &[&top, &bottom]).check_adjoint(&BlockDiagonal::new(parts)?, &trial)
}

fn check_small<T: Scalar>(data: &Data<T>) -> Checked {
    let trial = data.trial();
    let dim = data.mean.len();
    let identity = Reference::new(&Array2::<f64>::eye(dim));
    identity.check_rows::<T>(&Identity::new(dim), &trial)?;
    let diagonal: Vec<f64> = data.mean.iter().map(|v| v.as_f64()).collect();
    let diagonal = Reference::new(&Array2::from_diag(&ndarray::arr1(&diagonal)));
    diagonal.check_adjoint(&Diagonal::new(data.mean.clone())?, &trial)?;

    // S + U Vᵀ with U the first columns of A and V rows of its transpose; rank 0 included.
    let (rows, cols) = data.matrix.dim();
    let rank = rows.min(cols).min(3);
    let u = data.matrix.slice(s![.., ..rank]).to_owned();
    let v = data.matrix.slice(s![..rank, ..]).t().to_owned();
    let product = Reference::new(&u).dot(&Reference::new(&v).adjoint());
    let blocks = (Block::from_array(u.view()), Block::from_array(v.view()));
    let csr = data.csr();
    let op = LowRank::new(&csr as Both<'_, T>, blocks.0, blocks.1)?;
    data.of_sparse().plus(&product).check_adjoint(&op, &trial)
}

/// The same with `std::ops`: (A − B)ᵀ(A + B), and a sum of stochastic operators.
fn check_formulas<T: Scalar>(data: &Data<T>) -> Checked {
    let trial = data.trial();
    let (dense, csr) = (data.dense(), data.csr());
    let (a, b): (Rows<'_, T>, Rows<'_, T>) = (&dense, &csr);
    let (left, right) = (data.of_dense(), data.of_sparse());
    let difference = (Op::new(a) - Op::new(b))?;
    let sum = (Op::new(a) + Op::new(b))?;
    let reference = left.plus(&right.times(-1.0)).adjoint().dot(&left.plus(&right));
    reference.check_adjoint(&(difference.adjoint() * sum)?, &trial)?;
    left.times(-1.0).check_adjoint(&-Op::new(a), &trial)?;

    let (first, second) = (Gram::new(a), Multiple::new(T::of(-0.5), Gram::new(b))?);
    let reference = left.mean_gram().plus(&right.mean_gram().times(-0.5));
    let (first, second): (Terms<'_, T>, Terms<'_, T>) = (&first, &second);
    reference.check_stochastic(&Sum::new(first, second)?, &trial)?;
    reference.check_stochastic(&(Op::new(first) + Op::new(second))?, &trial)?;

    let taller = Array2::from_elem((data.matrix.nrows() + 1, data.matrix.ncols()), T::one());
    assert!(Sum::new(a, &Dense::new(taller)? as Rows<'_, T>).is_err());
    Ok(())
}
