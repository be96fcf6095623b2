//! What a run was set up with: everything the protocol needs besides what was said.
//!
//! It is written down when the run begins, so that a resumed run follows the
//! same rules whatever the configuration says by then. It holds no secret but the
//! run's own random bits.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ask::{Purpose, TransportKind};
use super::conclusion::Author;
use super::council::words::Mode;
use super::gate::GatePlan;
use super::ids::ExpertSlug;
use super::words::words;

/// A panel this large sends each reviewer nineteen opinions; beyond that nobody reads.
pub const PARTICIPANTS_MAX: usize = 20;

/// How it is said that nobody on a panel is of another family.
pub const SINGLE_FAMILY: &str = "the panel is of one family";

words! {
    /// What a seat is there for.
    pub enum Role {
        Participant = "participant",
        Chair = "chair",
    }
}

words! {
    /// What it would cost to be wrong, in the caller's words.
    pub enum Stakes {
        Normal = "normal",
        Low = "low",
    }
}

words! {
    /// What the run delivers: the chair's synthesis, or the opinion its peers rate best.
    pub enum Delivery {
        Synthesis = "synthesis",
        Selection = "selection",
    }
}

words! {
    /// When the second round may be skipped; all that are named must hold.
    pub enum SkipReview {
        HighAgreement = "high_agreement_in_r1",
        LowRisk = "low_risk_topic",
    }
}

words! {
    /// When the third round may be skipped; any that is named is enough.
    pub enum SkipSynthesis {
        Confirmed = "r2_confirms_r1_consensus",
        Budget = "budget_constraint",
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub mode: Mode,
    /// Participants in the order of the configuration, then those who only chair.
    pub seats: Vec<Seat>,
    /// Who may chair, in the order in which they are tried.
    pub chairs: Vec<ExpertSlug>,
    pub timeouts: Timeouts,
    pub quorum: Quorum,
    pub short_circuit: ShortCircuit,
    /// Nothing: the run ends with the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conclusion: Option<ConclusionPlan>,
    /// What a review adds; nothing, where it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Arc<GatePlan>>,
    pub stakes: Stakes,
    pub delivery: Delivery,
    pub anonymous_review: bool,
    /// Whether what seats were sent is kept, or only its digest.
    #[serde(default = "kept")]
    pub keep_prompts: bool,
    pub caps: Caps,
    /// 128 random bits in hex: letters, orders and fences follow from them.
    pub secret: String,
    pub context: Arc<ContextPack>,
    /// What drives the rehearsal panel, where it is driven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rehearsal_script: Option<Value>,
    /// What was decided while the run was set up that a reader should know.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// What a seat saw is evidence, unless somebody says otherwise.
fn kept() -> bool {
    true
}

impl Plan {
    pub fn seat(&self, name: &ExpertSlug) -> Option<&Seat> {
        self.seats.iter().find(|seat| seat.name == *name)
    }

    /// Who stands behind a name, as far as the plan knows them.
    pub fn author(&self, name: &ExpertSlug) -> Author {
        let seat = self.seat(name);
        Author {
            seat: name.clone(),
            model: seat.map_or_else(String::new, |seat| seat.model.clone()),
            family: seat.map_or_else(String::new, |seat| seat.family.clone()),
        }
    }

    pub fn participants(&self) -> impl Iterator<Item = &Seat> {
        self.seats.iter().filter(|seat| seat.roles.contains(&Role::Participant))
    }

    /// How long one ask of this kind may take, all its attempts together.
    pub fn timeout_ms(&self, seat: &Seat, purpose: Purpose) -> u64 {
        let own = seat.timeouts.unwrap_or_default();
        match purpose {
            Purpose::Opinion | Purpose::Judgement => {
                own.r1_per_provider.unwrap_or(self.timeouts.r1_per_provider)
            }
            Purpose::Review | Purpose::CrossReading => {
                own.r2_per_provider.unwrap_or(self.timeouts.r2_per_provider)
            }
            Purpose::Synthesis
            | Purpose::Conclusion
            | Purpose::Audit
            | Purpose::Revision
            | Purpose::Restatement
            | Purpose::Adjudication => own.r3_chair.unwrap_or(self.timeouts.r3_chair),
        }
    }
}

words! {
    /// Whether somebody tries to break the conclusion.
    pub enum Auditing {
        Audited = "audited",
        Unaudited = "unaudited",
    }
}

/// Which seats write, audit and mend the conclusion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConclusionPlan {
    pub synthesizer: ExpertSlug,
    pub critic: ExpertSlug,
    pub reviser: ExpertSlug,
    pub auditing: Auditing,
}

/// A place at the table: a role with a model behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seat {
    pub name: ExpertSlug,
    /// The configured provider behind it; several seats may share one.
    pub provider: ExpertSlug,
    pub model: String,
    pub family: String,
    /// The seat's own version: configured, else a short hash of its prompt and model.
    pub version: String,
    pub roles: Vec<Role>,
    /// In the order in which they are tried.
    pub transports: Vec<TransportKind>,
    /// Where the model is, as far as that can be told without a secret.
    pub endpoint: Option<String>,
    pub price: Option<Price>,
    pub output_tokens_max: u32,
    pub temperature: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<OwnTimeouts>,
}

/// Dollars for a million tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Price {
    pub input_per_mtok: f64,
    pub output_per_mtok: f64,
    /// `configuration`, or the day of the price table it was taken from.
    pub source: String,
}

/// Milliseconds for all attempts of one ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeouts {
    pub r1_per_provider: u64,
    pub r2_per_provider: u64,
    pub r3_chair: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { r1_per_provider: 60_000, r2_per_provider: 90_000, r3_chair: 120_000 }
    }
}

/// A provider's own timeouts, where it has any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnTimeouts {
    pub r1_per_provider: Option<u64>,
    pub r2_per_provider: Option<u64>,
    pub r3_chair: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quorum {
    pub r1_min: usize,
    pub r2_min: usize,
    pub r3_required: bool,
    pub allow_partial: bool,
    pub families_min: usize,
}

impl Default for Quorum {
    fn default() -> Self {
        Self { r1_min: 2, r2_min: 1, r3_required: true, allow_partial: true, families_min: 1 }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShortCircuit {
    pub enabled: bool,
    /// Decide, but hold the round anyway, and record whether it would have been right.
    pub shadow: bool,
    pub skip_r2_if: Vec<SkipReview>,
    pub skip_r3_if: Vec<SkipSynthesis>,
}

impl Default for ShortCircuit {
    fn default() -> Self {
        Self {
            enabled: false,
            shadow: false,
            skip_r2_if: SkipReview::ALL.to_vec(),
            skip_r3_if: SkipSynthesis::ALL.to_vec(),
        }
    }
}

/// What a run may spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    pub usd_micros: u64,
    pub tokens: u64,
    pub calls: u32,
    pub wall_ms: u64,
}

impl Default for Caps {
    fn default() -> Self {
        Self { usd_micros: 2_000_000, tokens: 400_000, calls: 60, wall_ms: 15 * 60_000 }
    }
}

/// The files a question came with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextPack {
    pub files: Vec<ContextFile>,
    pub excluded: Vec<Exclusion>,
    /// Files that are only named, because there were too many to send whole.
    pub indexed: Vec<IndexedFile>,
}

/// A file that is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextFile {
    pub path: String,
    pub sha256: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexedFile {
    pub path: String,
    pub bytes: u64,
}

/// A file that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exclusion {
    pub path: String,
    pub reason: String,
}
