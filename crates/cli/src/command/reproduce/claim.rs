//! [`Claim`]: what the paper says, the rule that decides, and the number that was measured.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::shown;

/// A number and the range in which it has to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// What the number is.
    pub what: String,
    pub value: f64,
    at_least: Option<f64>,
    at_most: Option<f64>,
}

impl Check {
    /// `value` ≤ `most`.
    pub fn at_most(what: impl Into<String>, value: f64, most: f64) -> Self {
        Self { what: what.into(), value, at_least: None, at_most: Some(most) }
    }

    /// `value` ≥ `least`.
    pub fn at_least(what: impl Into<String>, value: f64, least: f64) -> Self {
        Self { what: what.into(), value, at_least: Some(least), at_most: None }
    }

    /// Both.
    pub fn between(what: impl Into<String>, value: f64, least: f64, most: f64) -> Self {
        Self { what: what.into(), value, at_least: Some(least), at_most: Some(most) }
    }

    /// Whether the number is in its range; what is no number is not.
    pub fn is_met(&self) -> bool {
        self.value >= self.at_least.unwrap_or(f64::NEG_INFINITY)
            && self.value <= self.at_most.unwrap_or(f64::INFINITY)
    }

    /// The range in words.
    pub fn rule(&self) -> String {
        match (self.at_least, self.at_most) {
            (Some(least), Some(most)) if least >= most => number(least),
            (Some(least), Some(most)) => {
                format!("between {} and {}", number(least), number(most))
            }
            (Some(least), None) => format!("at least {}", number(least)),
            (None, Some(most)) => format!("at most {}", number(most)),
            (None, None) => "anything".to_string(),
        }
    }
}

impl Serialize for Check {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_struct("Check", 5)?;
        map.serialize_field("what", &self.what)?;
        map.serialize_field("value", &self.value)?;
        map.serialize_field("at_least", &self.at_least)?;
        map.serialize_field("at_most", &self.at_most)?;
        map.serialize_field("met", &self.is_met())?;
        map.end()
    }
}

/// A number as people write it: whole ones without a point.
pub fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e6 {
        format!("{value:.0}")
    } else {
        shown::number(value)
    }
}

/// A claim put right.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Correction {
    /// Its number in the errata (docs/reproduce.md).
    pub erratum: &'static str,
    pub says: &'static str,
    pub check: Check,
}

/// A claim of the paper with what was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// Where it is in the paper.
    pub place: &'static str,
    pub says: &'static str,
    /// The claim as printed.
    pub printed: Check,
    /// The claim in its corrected form, where the printed one is known to be wrong or incomplete.
    pub corrected: Option<Correction>,
}

impl Claim {
    /// A claim without a correction.
    pub fn new(place: &'static str, says: &'static str, printed: Check) -> Self {
        Self { place, says, printed, corrected: None }
    }

    /// With a correction.
    pub fn corrected(mut self, erratum: &'static str, says: &'static str, check: Check) -> Self {
        self.corrected = Some(Correction { erratum, says, check });
        self
    }

    /// As printed if that is met, else in corrected form if that is met, else not at all.
    pub fn verdict(&self) -> Verdict {
        match &self.corrected {
            _ if self.printed.is_met() => Verdict::Holds,
            Some(correction) if correction.check.is_met() => Verdict::Corrected,
            _ => Verdict::Fails,
        }
    }
}

impl Serialize for Claim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_struct("Claim", 5)?;
        map.serialize_field("place", self.place)?;
        map.serialize_field("claim", self.says)?;
        map.serialize_field("verdict", &self.verdict().to_string())?;
        map.serialize_field("printed", &self.printed)?;
        map.serialize_field("corrected", &self.corrected)?;
        map.end()
    }
}

/// What follows for a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Holds,
    Corrected,
    Fails,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Holds => "holds",
            Self::Corrected => "holds in corrected form",
            Self::Fails => "does not hold",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The printed form decides first, then the corrected one; NaN meets nothing.
    #[test]
    fn verdicts_follow_the_numbers() {
        let claim = |printed, corrected| {
            Claim::new("", "", Check::at_most("a", printed, 1.0)).corrected(
                "",
                "",
                Check::between("b", corrected, 0.0, 1.0),
            )
        };
        assert_eq!(claim(1.0, f64::NAN).verdict(), Verdict::Holds);
        assert_eq!(claim(1.1, 0.5).verdict(), Verdict::Corrected);
        assert_eq!(claim(f64::NAN, 1.1).verdict(), Verdict::Fails);
        assert_eq!(Claim::new("", "", Check::at_least("c", 0.0, 1.0)).verdict(), Verdict::Fails);
    }
}
