//! Same seed, same bits, at 1, 2 and 4 threads.

use favard_models::least_squares::{Method, Sampled, Solution};
use favard_models::{Kaczmarz, LeastSquares};
use favard_operator::{Block, Csr, LinearOperator, Scalar};

/// 20,000 × 2,000, twelve entries a row, so that every kernel is cut into pieces.
fn matrix<T: Scalar>() -> Csr<'static, T> {
    let (rows, cols, per_row) = (20_000, 2000, 12);
    let noise = Block::<f64>::gaussian(rows, per_row, 5);
    let mut columns = Vec::new();
    for i in 0..rows {
        let mut line: Vec<u32> = (0..per_row)
            .map(|p| u32::try_from(p * cols / per_row + (i * (p + 7)) % (cols / per_row)).unwrap())
            .collect();
        line.sort_unstable();
        columns.extend(line);
    }
    let values: Vec<T> = (0..rows).flat_map(|i| noise.row(i).to_vec()).map(T::of).collect();
    let pointers: Vec<usize> = (0..=rows).map(|i| i * per_row).collect();
    Csr::new((rows, cols), pointers, columns, values).unwrap()
}

fn assert_same<T: Scalar>(name: &str, solve: impl Fn() -> Solution<T> + Sync) {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(&solve)
    };
    let one = on(1);
    assert!(one.info.iterations > 0, "{name}");
    for threads in [2, 4] {
        assert!(one == on(threads), "{name} differs at {threads} threads");
    }
}

#[test]
fn exact_methods() {
    let (a, narrow) = (matrix::<f64>(), matrix::<f32>());
    for cols in [1, 3] {
        let b = Block::<f64>::gaussian(20_000, cols, 1);
        let short = Block::<f32>::gaussian(20_000, cols, 1);
        for method in [Method::Cg, Method::Lsmr, Method::HeavyBall { bounds: None }] {
            let plan = LeastSquares::new().method(method).intercept(true).ridge(0.1);
            let plan = plan.tolerance(1e-4).passes(60.0);
            assert_same(&format!("{method:?}"), || plan.fit(&a, &b).unwrap());
            assert_same(&format!("{method:?}, probes"), || plan.solve(&a, &b).unwrap());
            assert_same(&format!("{method:?}, f32"), || plan.fit(&narrow, &short).unwrap());
        }
    }
}

#[test]
fn sampled_methods() {
    let a = matrix::<f64>();
    let b = a.multiply(Block::gaussian(2000, 2, 1).as_ref()).unwrap();
    let plan = LeastSquares::new().passes(4.0);
    assert_same("mini-batch", || plan.solve_rows(&a, &b, &Sampled::mini_batch(500)).unwrap());
    assert_same("SVRG", || plan.solve_rows(&a, &b, &Sampled::svrg(500)).unwrap());
    let kaczmarz = Kaczmarz::new().batch(300).passes(4.0).bounds(1e-4, 2e-3);
    assert_same("Kaczmarz", || kaczmarz.solve(&a, &b).unwrap());
    let blocks = Kaczmarz::new().blocks(10).passes(4.0);
    assert_same("blocks", || blocks.solve(&a, &b).unwrap());
}

/// The direct method's small eigenproblem, large enough for a parallel solver to differ.
#[test]
fn direct() {
    let x = Block::<f64>::gaussian(3000, 120, 3);
    let a = favard_operator::Dense::new(x.view()).unwrap();
    let b = Block::<f64>::gaussian(3000, 2, 4);
    assert_same("direct", || LeastSquares::new().method(Method::Direct).fit(&a, &b).unwrap());
}
