//! [`Motion`]: how far a subspace moves.

use faer::Mat;
use favard_operator::{Block, Scalar, Workspace, ops};
use serde::{Deserialize, Serialize};

use crate::error::{ErrorKind, Result};
use crate::symmetric::symmetric_eigen;

/// What two windows in a row have shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moved {
    /// L, in batches.
    pub window: u64,
    /// The sum of the squared principal angles between bases L batches apart.
    pub near: f64,
    /// The same 2L apart.
    pub far: f64,
}

/// Remembers the basis at the start and in the middle of two windows.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound = "T: Scalar")]
pub(super) struct Motion<T: Scalar> {
    window: u64,
    seen: u64,
    start: Block<T>,
    middle: Block<T>,
    first: f64,
}

impl<T: Scalar> Motion<T> {
    pub fn new() -> Self {
        let none = || Block::zeros(0, 0);
        Self { window: 0, seen: 0, start: none(), middle: none(), first: 0.0 }
    }

    /// `Ok` when the bases that it remembers have this shape: they may come from a file.
    pub fn check(&self, shape: (usize, usize)) -> Result<()> {
        let begun = self.window > 0;
        let starts = !begun || self.start.shape() == shape;
        let halfway = begun && self.seen >= self.window;
        if starts && (!halfway || self.middle.shape() == shape) {
            return Ok(());
        }
        Err(ErrorKind::Damaged { problem: "a remembered basis has another shape" }.into())
    }

    /// Forgets the windows that have begun.
    pub fn restart(&mut self) {
        self.window = 0;
    }

    /// Takes the basis after a batch; at the end of two windows of the length asked for at their
    /// start, says how far it has moved.
    pub fn see(
        &mut self,
        basis: &Block<T>,
        window: u64,
        ws: &mut Workspace<T>,
    ) -> Result<Option<Moved>> {
        if self.window == 0 {
            (self.window, self.seen) = (window, 0);
            self.start.reshape(basis.rows(), basis.cols());
            self.start.assign(basis.as_ref())?;
            return Ok(None);
        }
        self.seen += 1;
        if self.seen == self.window {
            self.first = angles(&self.start, basis, ws)?;
            self.middle.reshape(basis.rows(), basis.cols());
            self.middle.assign(basis.as_ref())?;
        }
        if self.seen < 2 * self.window {
            return Ok(None);
        }
        let second = angles(&self.middle, basis, ws)?;
        let far = angles(&self.start, basis, ws)?;
        let moved = Moved { window: self.window, near: f64::midpoint(self.first, second), far };
        (self.window, self.seen) = (window, 0);
        self.start.assign(basis.as_ref())?;
        Ok(Some(moved))
    }
}

/// Σ θ_i² over the principal angles of two orthonormal bases: cos² θ_i are the eigenvalues of
/// CᵀC, C = V₁ᵀ V₂.
fn angles<T: Scalar>(one: &Block<T>, two: &Block<T>, ws: &mut Workspace<T>) -> Result<f64> {
    let cols = one.cols();
    let mut c = ws.take(cols, cols);
    ops::cross(one.as_ref(), two.as_ref(), c.as_mut(), ws)?;
    let square =
        Mat::from_fn(cols, cols, |i, j| (0..cols).map(|p| c.row(p)[i] * c.row(p)[j]).sum::<T>());
    ws.give(c);
    let (values, _) = symmetric_eigen(square.as_ref())?;
    let angle = |cos2: &T| (1.0 - cos2.as_f64()).clamp(0.0, 1.0).sqrt().asin();
    Ok(values.iter().map(|cos2| angle(cos2).powi(2)).sum())
}
