//! [`Task`]: what a decomposition is asked for.

use favard_models::{Pca, Result, Solver, TruncatedSvd};
use pyo3::prelude::*;

/// The parameters that `pca` and `svd` share.
#[derive(Debug, Clone, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Task {
    pub components: usize,
    solver: String,
    tolerance: f64,
    products: u64,
    seed: u64,
    batch: Option<usize>,
    beta: Option<f64>,
}

/// Everything but the number of components.
macro_rules! plan {
    ($model:expr, $task:expr) => {{
        let task = $task;
        let model = $model.solver(task.method()?).tolerance(task.tolerance);
        let mut model = model.products(task.products).seed(task.seed);
        if let Some(batch) = task.batch {
            model = model.batch(batch);
        }
        if let Some(beta) = task.beta {
            model = model.beta(beta);
        }
        model
    }};
}

impl Task {
    pub fn method(&self) -> Result<Solver> {
        self.solver.parse()
    }

    pub fn pca(&self, components: usize, center: bool, scale: bool) -> Result<Pca> {
        Ok(plan!(Pca::new(components).center(center).scale(scale), self))
    }

    pub fn svd(&self) -> Result<TruncatedSvd> {
        Ok(plan!(TruncatedSvd::new(self.components), self))
    }
}
