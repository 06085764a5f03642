//! What was measured, as a line, a table and JSON.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use crate::data::Matrix;
use crate::peer::Problem;

/// favard's side.
#[derive(Debug, Clone, Serialize)]
pub struct Ours {
    /// The method that `Solver::Auto` chose.
    pub solver: String,
    /// Why it stopped.
    pub stop: String,
    /// Block products.
    pub products: u64,
    /// Passes over the data.
    pub passes: f64,
    /// The shortest round.
    pub seconds: f64,
    /// Measured by the function that measures the peers.
    pub residual: f64,
    /// Singular values.
    pub values: Vec<f64>,
}

/// A peer's side.
#[derive(Debug, Clone, Serialize)]
pub struct Theirs {
    /// Who.
    pub name: String,
    /// What.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// How a peer fared.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// The accuracy was reached with the parameter.
    Reached {
        /// The loosest that reaches it.
        parameter: f64,
        /// The shortest round.
        seconds: f64,
        /// What was reached.
        residual: f64,
        /// max_j |s_j² − s'_j²| / s_1² from favard's values.
        deviation: f64,
        /// Whether that is within the two residuals.
        agrees: bool,
    },
    /// No parameter reaches the accuracy.
    Missed {
        /// The smallest seen.
        residual: f64,
    },
    /// Given up: less accuracy takes that long already.
    Slow {
        /// Of the last attempt.
        seconds: f64,
    },
    /// It gave no answer.
    Failed {
        /// Why.
        message: String,
    },
}

/// One line of the comparison.
#[derive(Debug, Clone, Serialize)]
pub struct Case {
    /// The data set.
    pub data: String,
    /// Rows and columns.
    pub shape: (usize, usize),
    /// Numbers stored.
    pub entries: usize,
    /// Whether the mean is subtracted.
    pub center: bool,
    /// Number of components.
    pub k: usize,
    /// The residual asked for.
    pub target: f64,
    /// favard.
    pub ours: Ours,
    /// The others.
    pub peers: Vec<Theirs>,
}

impl Case {
    /// Before the peers are asked.
    pub fn new(data: &str, x: &Matrix, problem: Problem, target: f64, ours: Ours) -> Self {
        let (data, shape, entries) = (data.to_owned(), x.shape(), x.entries());
        let Problem { center, k } = problem;
        Self { data, shape, entries, center, k, target, ours, peers: Vec::new() }
    }

    /// The fastest peer that reached the accuracy, and its time over ours.
    pub fn fastest(&self) -> Option<(&str, f64)> {
        self.ratios().min_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn ratios(&self) -> impl Iterator<Item = (&str, f64)> {
        self.peers.iter().filter_map(|peer| match peer.verdict {
            Verdict::Reached { seconds, .. } => {
                Some((peer.name.as_str(), seconds / self.ours.seconds))
            }
            _ => None,
        })
    }

    fn ratio(&self, name: &str) -> String {
        let Some(peer) = self.peers.iter().find(|peer| peer.name == name) else {
            return String::new();
        };
        match peer.verdict {
            Verdict::Reached { seconds, .. } => format!("{:.1}", seconds / self.ours.seconds),
            Verdict::Slow { seconds } => format!("> {:.0}", seconds / self.ours.seconds),
            Verdict::Missed { .. } | Verdict::Failed { .. } => "—".into(),
        }
    }

    fn own_residual(&self) -> String {
        let missed = if self.ours.residual > self.target { " (missed)" } else { "" };
        format!("{:.0e}{missed}", self.ours.residual)
    }

    fn centred(&self) -> &'static str {
        if self.center { "centred" } else { "raw" }
    }
}

impl Display for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { data, shape: (rows, cols), entries, k, target, ours, .. } = self;
        write!(
            f,
            "{data} {rows}×{cols} {entries} entries, {}, k {k}, {target:.0e}",
            self.centred()
        )?;
        write!(
            f,
            " | favard: {} {} products {:.1} passes {:.1} ms {}",
            ours.solver,
            ours.products,
            ours.passes,
            ours.seconds * 1e3,
            self.own_residual(),
        )?;
        if ours.stop != "Converged" {
            write!(f, " stopped: {}", ours.stop)?;
        }
        for peer in &self.peers {
            write!(f, " | {}: ", peer.name)?;
            match &peer.verdict {
                Verdict::Reached { parameter, seconds, residual, deviation, agrees } => {
                    let ratio = seconds / ours.seconds;
                    let ms = seconds * 1e3;
                    write!(f, "{ms:.1} ms {residual:.0e} ×{ratio:.2} (at {parameter:.1e})")?;
                    if !agrees {
                        write!(f, " OTHER VALUES, by {deviation:.0e}")?;
                    }
                }
                Verdict::Missed { residual } => write!(f, "— (best {residual:.0e})")?,
                Verdict::Slow { seconds } => {
                    write!(f, "given up, ×{:.0} without reaching it", seconds / ours.seconds)?;
                }
                Verdict::Failed { message } => write!(f, "— ({message})")?,
            }
        }
        match self.fastest() {
            Some((name, ratio)) => write!(f, " | fastest peer ×{ratio:.2} ({name})"),
            None => write!(f, " | no peer reached it"),
        }
    }
}

/// The table for people: one row a case.
pub fn markdown(cases: &[Case]) -> String {
    let mut lines = vec![
        "| data | shape | entries | | k | τ | solver | passes | ms | residual | × ARPACK | × fastest |"
            .to_owned(),
        "|---|---|---|---|---|---|---|---|---|---|---|---|".to_owned(),
    ];
    lines.extend(cases.iter().map(|case| {
        let (rows, cols) = case.shape;
        let fastest = case.fastest().map_or_else(|| "—".into(), |(name, r)| format!("{r:.1} ({name})"));
        format!(
            "| {} | {rows} × {cols} | {:.1} M | {} | {} | {:.0e} | {} | {:.1} | {:.1} | {} | {} | {fastest} |",
            case.data,
            case.entries as f64 / 1e6,
            case.centred(),
            case.k,
            case.target,
            case.ours.solver,
            case.ours.passes,
            case.ours.seconds * 1e3,
            case.own_residual(),
            case.ratio("ARPACK"),
        )
    }));
    lines.join("\n")
}
