//! A line of the verdict log, in the seed's second version, and what we add to it.

use serde::{Deserialize, Serialize};

use super::artifact::Tier;
use super::judgement::Judgement;
use super::policy::Arithmetic;
use super::ruling::GateVerdict;
use crate::domain::ask::ErrorType;
use crate::domain::digest::sha256_hex;
use crate::domain::time::Moment;

/// The version of the shape.
pub const ROW_VERSION: u8 = 2;

/// One review. The order of the fields is the order in which they are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogRow {
    pub v: u8,
    pub ts: Moment,
    pub artifact: String,
    pub artifact_type: String,
    pub round1: Vec<SeatRow>,
    pub round2: Vec<SeatRow>,
    pub adjudicator: AdjudicatorRow,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_sha256: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    #[serde(default)]
    pub producer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict_id: Option<String>,
    #[serde(default)]
    pub rehearsal: bool,
    /// It came from another log.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imported: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Arithmetic>,
}

impl LogRow {
    /// The digest of what it says, whoever gave it which id: by this a row is known again.
    pub fn fingerprint(&self) -> Result<String, serde_json::Error> {
        let bare = Self { verdict_id: None, imported: false, ..self.clone() };
        Ok(sha256_hex([serde_json::to_string(&bare)?.as_bytes()]))
    }
}

/// What one deliberator held in one round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SeatRow {
    Absent {
        deliberator: String,
        /// Always true: it is what tells the two apart.
        absent: bool,
        error_type: ErrorType,
    },
    Present {
        deliberator: String,
        #[serde(flatten)]
        judgement: Judgement,
        /// The second round could not be read: this is what it held in the first.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        fallback: bool,
        /// It changed its mind without naming a concern of anybody.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        uncited: bool,
    },
}

impl SeatRow {
    pub fn deliberator(&self) -> &str {
        match self {
            Self::Absent { deliberator, .. } | Self::Present { deliberator, .. } => deliberator,
        }
    }

    /// Nothing, of whoever is absent.
    pub fn judgement(&self) -> Option<&Judgement> {
        match self {
            Self::Present { judgement, .. } => Some(judgement),
            Self::Absent { .. } => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdjudicatorRow {
    /// What the gate decided: the adjudicator's word and the policy together.
    pub final_verdict: GateVerdict,
    pub reasoning: String,
    #[serde(default)]
    pub revision_brief: String,
    #[serde(default)]
    pub applied_compounding: bool,
    #[serde(default)]
    pub prior_verdicts_consulted: usize,
}
