//! Far more right-hand sides than unknowns.

use favard_models::least_squares::{Method, Sampled, Solution};
use favard_models::{Kaczmarz, LeastSquares};
use favard_operator::{Block, Dense, LinearOperator};

use crate::support::{array, assert_exact, exact, geometric, with_singular_values};

/// 5000 right-hand sides for 3 unknowns are 1667 parts. They were once solved one inside the other,
/// which took a stack of that depth and copied the rest of the right-hand sides for each. Every column
/// is that of the exact solution, the last one of an incomplete part, too.
#[test]
fn parts_are_solved_one_after_the_other() {
    let a = with_singular_values(30, &geometric(3, 2.0), 3);
    let (op, columns) = (Dense::new(a.view()).unwrap(), Dense::new(a.t()).unwrap());
    let noisy = Block::<f64>::gaussian(30, 5000, 4);
    let solvable = op.multiply(Block::<f64>::gaussian(3, 5000, 5).as_ref()).unwrap();
    let seen = |found: Solution<f64>, b: &Block<f64>, what: &str| {
        assert_exact(&found, &exact(&a, &array(b), 0.0), what);
        let counts = [&found.residuals, &found.certificates, &found.sizes, &found.intercept];
        assert!(counts.iter().all(|list| list.len() == 5000), "{what}");
    };
    for method in [Method::Auto, Method::Direct, Method::HeavyBall { bounds: None }] {
        let plan = LeastSquares::new().method(method);
        seen(plan.fit(&op, &noisy).unwrap(), &noisy, &format!("{method:?}"));
    }
    let sampled = LeastSquares::new().solve_rows(&op, &solvable, &Sampled::mini_batch(10));
    seen(sampled.unwrap(), &solvable, "mini-batches");
    let blocks = Kaczmarz::new().blocks(3).solve(&op, &solvable);
    seen(blocks.unwrap(), &solvable, "blocks");
    let extended = Kaczmarz::new().batch(6).solve_extended(&op, &columns, &noisy);
    seen(extended.unwrap(), &noisy, "extended");
}
