//! A line of the verdict log (version 2 of the seed's format, with our additional fields), queries
//! of the log, and the summary of an earlier verdict for the adjudicator.

use serde::{Deserialize, Serialize};

use super::artifact::ReviewTier;
use super::judgement::DeliberatorJudgement;
use super::policy::BlockTally;
use super::ruling::FinalVerdict;
use crate::domain::ask::CallErrorType;
use crate::domain::digest::sha256_hex;
use crate::domain::time::Moment;

/// Version of the format.
pub const ROW_VERSION: u8 = 2;

/// The row of one review. Fields are written in this order.
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
    pub tier: Option<ReviewTier>,
    #[serde(default)]
    pub producer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict_id: Option<String>,
    #[serde(default)]
    pub rehearsal: bool,
    /// The row was imported from another log.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imported: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<BlockTally>,
}

impl LogRow {
    /// Hash of the content without id and import flag, to recognise a row again.
    pub fn content_hash(&self) -> Result<String, serde_json::Error> {
        let bare = Self { verdict_id: None, imported: false, ..self.clone() };
        Ok(sha256_hex([serde_json::to_string(&bare)?.as_bytes()]))
    }
}

/// A deliberator's judgement in one round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SeatRow {
    Absent {
        deliberator: String,
        /// Always true; it distinguishes the two variants when parsing.
        absent: bool,
        error_type: CallErrorType,
    },
    Present {
        deliberator: String,
        #[serde(flatten)]
        judgement: DeliberatorJudgement,
        /// The second round was unreadable, so this repeats the judgement of the first.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        fallback: bool,
        /// The deliberator changed its position without naming a peer's concern.
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

    /// `None` if the deliberator is absent.
    pub fn judgement(&self) -> Option<&DeliberatorJudgement> {
        match self {
            Self::Present { judgement, .. } => Some(judgement),
            Self::Absent { .. } => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdjudicatorRow {
    /// The final verdict, from the adjudicator and the policy together.
    pub final_verdict: FinalVerdict,
    pub reasoning: String,
    #[serde(default)]
    pub revision_brief: String,
    #[serde(default)]
    pub applied_compounding: bool,
    #[serde(default)]
    pub prior_verdicts_consulted: usize,
}
