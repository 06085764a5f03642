//! Expressions of operators are the expressions of their matrices.

use favard_operator::{
    Adjoint, AdjointOperator, Block, BlockDiagonal, Centered, Diagonal, Gram, HStack, Identity,
    LowRank, Multiple, Op, Product, Scalar, Sum, VStack,
};
use ndarray::{Array2, concatenate, s};

use crate::support::{Checked, Data, Reference, over_data};

over_data! {
    sums(24): check_sums;
    stacks(24): check_stacks;
    small(24): check_small;
    formulas(24): check_formulas;
}

fn check_sums<T: Scalar>(data: &Data<T>) -> Checked {
    let trial = data.trial();
    let (dense, csr) = (data.dense(), data.csr());
    let (left, right) = (data.of_dense(), data.of_sparse());

    left.plus(&right).check_adjoint(&Sum::new(&dense, &csr)?, &trial)?;
    right.times(-1.5).check_rows(&Multiple::new(T::of(-1.5), &csr)?, &trial)?;
    right.times(0.0).check_rows(&Multiple::new(T::zero(), &csr)?, &trial)?;
    left.adjoint().check_adjoint(&Adjoint::new(&dense), &trial)?;
    right.adjoint().check_adjoint(&Adjoint::new(&csr), &trial)?;
    let product = Product::new(Adjoint::new(&dense), &csr)?;
    left.adjoint().dot(&right).check_adjoint(&product, &trial)?;
    let product = Product::new(&csr, Adjoint::new(Centered::new(&dense, data.mean.clone())?))?;
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
    Reference::stack(0, &all).mean_gram().check_adjoint(&Gram::new(&tall), &trial)?;
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
    let op = LowRank::new(data.csr(), blocks.0, blocks.1)?;
    data.of_sparse().plus(&product).check_adjoint(&op, &trial)
}

/// The same with `std::ops`: (A − 2B)ᵀ(A + B), and a sum of stochastic operators.
fn check_formulas<T: Scalar>(data: &Data<T>) -> Checked {
    let trial = data.trial();
    let (dense, csr) = (data.dense(), data.csr());
    let (left, right) = (data.of_dense(), data.of_sparse());
    let two = || Multiple::new(T::of(2.0), &csr);
    let difference = (Op::new(&dense) - Op::new(two()?))?;
    let sum = (Op::new(&dense) + Op::new(&csr))?;
    let reference = left.plus(&right.times(-2.0)).adjoint().dot(&left.plus(&right));
    reference.check_adjoint(&(difference.adjoint() * sum)?, &trial)?;
    left.times(-1.0).check_adjoint(&-Op::new(&dense), &trial)?;

    let (first, second) = (Gram::new(&dense), Multiple::new(T::of(-0.5), Gram::new(&csr))?);
    let reference = left.mean_gram().plus(&right.mean_gram().times(-0.5));
    reference.check_stochastic(&second_sum(&first, &second)?, &trial)?;
    reference.check_stochastic(&(Op::new(&first) + Op::new(&second))?, &trial)?;

    let stacked = concatenate(ndarray::Axis(0), &[data.matrix.view(), data.matrix.view()])?;
    let error = Sum::new(&dense, favard_operator::Dense::new(stacked)?).map(|_| ()).err();
    assert_eq!(error.is_some(), data.matrix.nrows() > 0);
    Ok(())
}

fn second_sum<'a, T: Scalar, A, B>(
    left: &'a A,
    right: &'a B,
) -> favard_operator::Result<Sum<&'a A, &'a B, T>>
where
    A: favard_operator::LinearOperator<T>,
    B: favard_operator::LinearOperator<T>,
{
    Sum::new(left, right)
}
