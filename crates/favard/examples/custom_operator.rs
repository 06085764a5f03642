//! A custom operator in 20 lines: the adjacency of a ring of n nodes with one heavy chord.
//! Run with `cargo run --release -p favard --example custom_operator`.

use favard::prelude::*;

struct Ring(usize);

impl LinearOperator<f64> for Ring {
    fn shape(&self) -> (usize, usize) {
        (self.0, self.0)
    }

    // y ← α A x + γ y
    fn apply(
        &self,
        alpha: f64,
        x: BlockRef<'_, f64>,
        gamma: f64,
        mut y: BlockMut<'_, f64>,
        _: &mut Workspace<f64>,
    ) -> favard::operator::Result<()> {
        self.check_apply(x, &y)?;
        let n = self.0;
        for i in 0..n {
            let (left, right) = (x.row((i + n - 1) % n), x.row((i + 1) % n));
            let chord = if i == 0 { x.row(n / 2) } else { x.row(0) };
            let weight = if i == 0 || i == n / 2 { 0.5 } else { 0.0 };
            for (j, y) in y.row_mut(i).iter_mut().enumerate() {
                let old = if gamma == 0.0 { 0.0 } else { gamma * *y };
                *y = alpha * (left[j] + right[j] + weight * chord[j]) + old;
            }
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dim = 200;
    let start = Block::from_fn(dim, 1, |_, _| 1.0);
    // The graph is bipartite: its spectrum is symmetric, so shift it before iterating.
    let shifted = Shifted::new(Ring(dim), -2.0)?;
    let mut engine = Engine::new(Exact::new(shifted)?, Dynamic::default(), start)?.with_gauge(Norm);
    let info = engine.run(5000, &mut Tolerance::new(1e-10, 1)?)?;
    println!("largest eigenvalue {:.12}", info.ritz[0] - 2.0);
    println!("residual {:.1e} after {} products", info.residuals[0], info.applications);
    assert_eq!(info.stop, Stop::Converged);
    Ok(())
}
