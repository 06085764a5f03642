//! [`Certificate`]: what is proved about eigenpairs.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Components that cannot be told apart: their space is determined, the vectors in it are not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// Which components.
    pub range: Range<usize>,
    /// A bound on the sine of the largest angle between the space that they span and the
    /// eigenspace that it stands for. `None` when the cluster may go on beyond the last component.
    pub angle_bound: Option<f64>,
}

/// What follows from the residuals $r_j = \lVert A v_j - \theta_j v_j \rVert$, recomputed from the
/// operator, about eigenpairs $(\theta_j, v_j)$ of a symmetric operator, largest first.
///
/// Every residual is taken with $8 \epsilon \sqrt{n} \theta_1$ for the rounding of its own
/// computation. With $\delta_j$ the distance from $\theta_j$ to the neighbouring values, less
/// their residuals:
///
/// - there is an eigenvalue within $\min(r_j, r_j^2 / \delta_j)$ of $\theta_j$, and its own
///   rounding (Kato, Temple);
/// - $\sin\angle(v_j, u_j) \le r_j / \delta_j$ for its eigenvector $u_j$ (Davis and Kahan);
/// - neighbours with $\theta_j - \theta_{j+1} \le r_j + r_{j+1}$ are a [`Cluster`]: both bounds hold
///   for their space, with the root of the sum of the squared residuals in the place of $r_j$.
///
/// What is below the last component comes from the guard value $\theta_{k+1} + r_{k+1}$ where the
/// solver has one, and from the trace where that is known: no eigenvalue left out is larger than
/// $\operatorname{tr} A - \sum_j \theta_j$ when $A$ is positive semidefinite. The guard is an
/// estimate, the trace a proof; [`is_complete`](Self::is_complete) tells whether the trace excludes
/// that a larger eigenvalue was missed.
///
/// Numbers only: it is made from an [`Evidence`], and travels with [`Info`](crate::Info). The
/// default proves nothing, about no component.
///
/// # Example
/// ```
/// use favard_engine::{Certificate, Evidence};
/// // 2, and 1 twice, of an operator of dimension 100, with residuals of 1e-9.
/// let certificate = Certificate::new(&Evidence {
///     values: &[2.0, 1.0, 1.0],
///     residuals: &[1e-9; 3],
///     rounding: 1e-14,
///     guard: Some(0.5), // the next eigenvalue is at most this
///     rest: None,
///     orthogonality: 1e-15,
///     orthogonality_rounding: 1e-13,
///     tolerance: 1e-8,
///     wanted: 3,
/// });
/// assert!(certificate.is_certified());
/// assert!(certificate.angle_bounds()[0].unwrap() < 1.01e-9); // the gap is 1
/// assert_eq!(certificate.angle_bounds()[1], None); // any two vectors of their space
/// assert_eq!(certificate.clusters()[0].range, 1..3);
/// assert!(certificate.clusters()[0].angle_bound.unwrap() < 3e-9);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    tolerance: f64,
    residuals: Vec<f64>,
    value_bounds: Vec<f64>,
    angle_bounds: Vec<Option<f64>>,
    clusters: Vec<Cluster>,
    orthogonality: f64,
    complete: bool,
    each: Vec<bool>,
    certified: bool,
}

/// What a [`Certificate`] is made from.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// θ, descending.
    pub values: &'a [f64],
    /// ‖A v − θ v‖.
    pub residuals: &'a [f64],
    /// The rounding of a residual.
    pub rounding: f64,
    /// An eigenvalue that follows, at most; minus infinity when none does.
    pub guard: Option<f64>,
    /// No eigenvalue left out is larger, proved.
    pub rest: Option<f64>,
    /// ‖VᵀV − I‖.
    pub orthogonality: f64,
    /// The rounding of that.
    pub orthogonality_rounding: f64,
    /// What was asked for: residuals, relative to the largest value.
    pub tolerance: f64,
    /// How many pairs were asked for.
    pub wanted: usize,
}

impl Certificate {
    /// What follows from the evidence.
    ///
    /// # Panics
    /// Unless there is a residual for each value.
    #[must_use]
    pub fn new(evidence: &Evidence<'_>) -> Self {
        let &Evidence { values, residuals, rounding, guard, rest, orthogonality, .. } = evidence;
        let (count, found) = (values.len(), residuals.len());
        assert!(
            count == found,
            "a certificate of {count} values needs as many residuals, not {found}"
        );
        let residual = |j: usize| residuals[j] + rounding;
        // The next eigenvalue is at most this: the sharper of the estimate and the proof.
        let next = match (guard, rest) {
            (Some(guard), Some(rest)) => Some(guard.min(rest)),
            (guard, rest) => guard.or(rest),
        };
        let above = |j: usize| {
            if j == 0 { f64::INFINITY } else { values[j - 1] - residual(j - 1) - values[j] }
        };
        let below = |j: usize| match values.get(j + 1) {
            Some(follower) => Some(values[j] - follower - residual(j + 1)),
            None => next.map(|next| values[j] - next),
        };
        let apart = |j: usize| values[j] - values[j + 1] > residual(j) + residual(j + 1);
        let mut certificate = Self {
            tolerance: evidence.tolerance,
            residuals: residuals.to_vec(),
            value_bounds: vec![f64::INFINITY; count],
            angle_bounds: vec![None; count],
            clusters: Vec::new(),
            orthogonality,
            complete: rest.is_some_and(|rest| {
                (0..count).next_back().is_none_or(|j| rest < values[j] - residual(j))
            }),
            each: evidence.met().collect(),
            certified: evidence.certifies(),
        };
        let mut from = 0;
        while from < count {
            let end = (from..count - 1).find(|&j| apart(j)).map_or(count, |j| j + 1);
            let range = from..end;
            // ‖R‖ ≤ (Σ r²)^½ over the cluster, δ the distance of its hull from the rest
            let size = range.clone().map(|j| residual(j).powi(2)).sum::<f64>().sqrt();
            let gap = below(end - 1).map(|below| below.min(above(from)));
            let safe = gap.filter(|&gap| gap > size);
            let angle = safe.map(|gap| size / gap);
            let error = safe.map_or(size, |gap| size.min(size * size / gap));
            certificate.value_bounds[range.clone()].fill(error + rounding);
            // The trace alone says that the next value is not known to be apart, not that it is near.
            let open = end == count && guard.is_some() && safe.is_none();
            if range.len() > 1 || open {
                certificate.clusters.push(Cluster { range, angle_bound: angle });
            } else {
                certificate.angle_bounds[from] = angle;
            }
            from = end;
        }
        certificate
    }

    /// The tolerance that was asked for, relative to the largest value.
    #[must_use]
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// $\lVert A v_j - \theta_j v_j \rVert$.
    #[must_use]
    pub fn residuals(&self) -> &[f64] {
        &self.residuals
    }

    /// How far the eigenvalue that $\theta_j$ stands for can be from it.
    #[must_use]
    pub fn value_bounds(&self) -> &[f64] {
        &self.value_bounds
    }

    /// A bound on the sine of the angle between each vector and the eigenvector it stands for.
    /// `None` in a cluster, and for the last one when nothing is known of what follows.
    #[must_use]
    pub fn angle_bounds(&self) -> &[Option<f64>] {
        &self.angle_bounds
    }

    /// The runs of components of which only the space is determined. A single last component is
    /// one when it cannot be told from the next that was not asked for.
    #[must_use]
    pub fn clusters(&self) -> &[Cluster] {
        &self.clusters
    }

    /// $\lVert V^T V - I \rVert_F$: how far the vectors are from orthonormal.
    #[must_use]
    pub fn orthogonality(&self) -> f64 {
        self.orthogonality
    }

    /// Whether the trace proves that no larger eigenvalue was missed. `false` says that it does
    /// not, not that one was.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// For each component, whether its residual is at most the tolerance times the largest value.
    #[must_use]
    pub fn certified(&self) -> &[bool] {
        &self.each
    }

    /// Whether all that was asked for was found, every residual is at most the tolerance times the
    /// largest value, and the vectors are orthonormal to the tolerance.
    #[must_use]
    pub fn is_certified(&self) -> bool {
        self.certified
    }
}

impl Evidence<'_> {
    /// Which residuals meet the tolerance.
    fn met(&self) -> impl Iterator<Item = bool> + '_ {
        let largest = self.values.iter().fold(0.0_f64, |m, value| m.max(value.abs()));
        self.residuals.iter().map(move |&r| r <= self.tolerance * largest)
    }

    fn certifies(&self) -> bool {
        let orthonormal = self.tolerance.max(self.orthogonality_rounding);
        self.values.len() >= self.wanted
            && self.met().all(|met| met)
            && self.orthogonality <= orthonormal
    }
}
