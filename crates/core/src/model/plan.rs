//! The plan of a run: everything the protocol needs besides the replies.
//!
//! The engine journals the plan when the run starts, so that a resumed run follows the same rules
//! even if the configuration has changed. The plan contains no secret except the run's own random
//! bits.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::ask::TransportKind;
use crate::model::ids::ExpertSlug;
use crate::model::string_enum::words;
use crate::protocols::alignment::types::AlignmentPlan;
use crate::protocols::conclusion::types::SeatAuthor;
use crate::protocols::council::types::QuestionMode;
use crate::protocols::review::types::ReviewPlan;

/// With this many seats each reviewer reads nineteen opinions; more would not be read.
pub const PARTICIPANTS_MAX: usize = 20;

/// Note for a panel whose seats all belong to one model family.
pub const SINGLE_FAMILY_NOTE: &str = "all models of the panel belong to one family";

words! {
    /// Role of a seat in a council.
    pub enum SeatRole {
        Participant = "participant",
        Chair = "chair",
    }
}

words! {
    /// The cost of a wrong answer, as stated by the caller.
    pub enum StakesLevel {
        Normal = "normal",
        Low = "low",
    }
}

words! {
    /// The result of a run: the chair's synthesis, or the opinion that the peers rate best.
    pub enum DeliveryMode {
        Synthesis = "synthesis",
        Selection = "selection",
    }
}

words! {
    /// Conditions for skipping the second round; all listed ones must be true.
    pub enum SkipReviewRule {
        HighAgreement = "high_agreement_in_r1",
        LowRisk = "low_risk_topic",
    }
}

words! {
    /// Conditions for skipping the third round; one of the listed ones is enough.
    pub enum SkipSynthesisRule {
        Confirmed = "r2_confirms_r1_consensus",
        Budget = "budget_constraint",
    }
}

words! {
    /// How much a model thinks before it answers.
    pub enum EffortLevel {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub mode: QuestionMode,
    /// Participants in the order of the configuration, then seats that only chair.
    pub seats: Vec<Seat>,
    /// Seats that may chair, in the order in which the engine tries them.
    pub chairs: Vec<ExpertSlug>,
    pub timeouts: RoundTimeouts,
    pub quorum: QuorumRules,
    pub short_circuit: ShortCircuitRules,
    /// `None`: the run ends with the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conclusion: Option<ConclusionPlan>,
    /// Set for a review only.
    #[serde(rename = "gate", default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Arc<ReviewPlan>>,
    /// Set for an alignment dialogue that the built-in Judge leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alignment: Option<Arc<AlignmentPlan>>,
    pub stakes: StakesLevel,
    pub delivery: DeliveryMode,
    pub anonymous_review: bool,
    /// Whether the record keeps the messages to seats, or only their hash.
    #[serde(default = "kept")]
    pub keep_prompts: bool,
    pub caps: BudgetCaps,
    /// 128 random bits in hex. Letters, orders and fences are derived from them.
    pub secret: String,
    pub context: Arc<ContextPack>,
    /// Script of the rehearsal panel, if one is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rehearsal_script: Option<Value>,
    /// Planning decisions that a reader should know.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A plan without seats, for a dialogue without a run in which a model was asked.
impl Default for Plan {
    fn default() -> Self {
        Self {
            mode: QuestionMode::General,
            seats: Vec::new(),
            chairs: Vec::new(),
            timeouts: RoundTimeouts::default(),
            quorum: QuorumRules::default(),
            short_circuit: ShortCircuitRules::default(),
            conclusion: None,
            review: None,
            alignment: None,
            stakes: StakesLevel::Normal,
            delivery: DeliveryMode::Synthesis,
            anonymous_review: false,
            keep_prompts: kept(),
            caps: BudgetCaps::default(),
            secret: String::new(),
            context: Arc::default(),
            rehearsal_script: None,
            notes: Vec::new(),
        }
    }
}

/// Prompts are kept by default, because they are evidence of what a seat saw.
fn kept() -> bool {
    true
}

impl Plan {
    pub fn find_seat(&self, name: &ExpertSlug) -> Option<&Seat> {
        self.seats.iter().find(|seat| seat.name == *name)
    }

    /// The seat's name with its model and family, as far as the plan knows them.
    pub fn author_of(&self, name: &ExpertSlug) -> SeatAuthor {
        let seat = self.find_seat(name);
        SeatAuthor {
            seat: name.clone(),
            model: seat.map_or_else(String::new, |seat| seat.model.clone()),
            family: seat.map_or_else(String::new, |seat| seat.family.clone()),
        }
    }

    /// Bytes that the messages to a seat may have.
    pub fn input_bytes_max(&self, seat: &ExpertSlug) -> usize {
        self.find_seat(seat).map_or(INPUT_BYTES_MAX, Seat::input_bytes_max)
    }

    /// The same for the seat with the largest window.
    pub fn largest_input_bytes(&self) -> usize {
        self.seats.iter().map(Seat::input_bytes_max).max().unwrap_or(INPUT_BYTES_MAX)
    }

    pub fn participant_seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.iter().filter(|seat| seat.roles.contains(&SeatRole::Participant))
    }

    /// Time limit of one ask of this purpose, for all its attempts together.
    pub fn timeout_ms(&self, seat: &Seat, limit: TimeLimit) -> u64 {
        let own = seat.timeouts.unwrap_or_default();
        match limit {
            TimeLimit::FirstRound => own.r1_per_provider.unwrap_or(self.timeouts.r1_per_provider),
            TimeLimit::SecondRound => own.r2_per_provider.unwrap_or(self.timeouts.r2_per_provider),
            TimeLimit::Chair => own.r3_chair.unwrap_or(self.timeouts.r3_chair),
        }
    }
}

/// Which of the time limits applies to an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLimit {
    /// `r1_per_provider`
    FirstRound,
    /// `r2_per_provider`
    SecondRound,
    /// `r3_chair`
    Chair,
}

impl TimeLimit {
    /// The setting below `timeouts`.
    pub fn setting_name(self) -> &'static str {
        match self {
            Self::FirstRound => "r1_per_provider",
            Self::SecondRound => "r2_per_provider",
            Self::Chair => "r3_chair",
        }
    }
}

words! {
    /// Whether a critic audits the conclusion.
    pub enum AuditMode {
        Audited = "audited",
        Unaudited = "unaudited",
    }
}

/// The seats that write, audit and revise the conclusion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConclusionPlan {
    pub synthesizer: ExpertSlug,
    pub critic: ExpertSlug,
    pub reviser: ExpertSlug,
    pub auditing: AuditMode,
}

/// A role with a model behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seat {
    pub name: ExpertSlug,
    /// The configured provider of the seat; several seats may share one.
    pub provider: ExpertSlug,
    pub model: String,
    pub family: String,
    /// Version of the seat: configured, or a short hash of its prompt and model.
    pub version: String,
    pub roles: Vec<SeatRole>,
    /// In the order in which the engine tries them.
    pub transports: Vec<TransportKind>,
    /// Address of the model, without secrets.
    pub endpoint: Option<String>,
    pub price: Option<TokenPrice>,
    pub output_tokens_max: u32,
    pub temperature: Option<f64>,
    /// Tokens that the messages may have; `None` in plans of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens_max: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<EffortLevel>,
    /// Where the seat looks first when it gives an opinion: the name of a lens, or a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lens: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<SeatTimeouts>,
}

/// A token is rarely shorter than three bytes, so messages of this size fit.
const BYTES_PER_TOKEN: u64 = 3;

/// Limit of seats in plans of earlier versions, and of rehearsed seats: about 150,000 tokens.
pub const INPUT_BYTES_MAX: usize = 600_000;

/// Input of a model of which no window is known. Every current model takes this many tokens.
pub const INPUT_TOKENS_UNKNOWN: u64 = 100_000;

impl Seat {
    /// Whether neither the server nor the facts nor the configuration say how much it reads.
    pub fn has_unknown_window(&self) -> bool {
        self.input_tokens_max == Some(INPUT_TOKENS_UNKNOWN)
    }

    /// Bytes that the messages to this seat may have.
    pub fn input_bytes_max(&self) -> usize {
        let bytes = self.input_tokens_max.map(|tokens| tokens.saturating_mul(BYTES_PER_TOKEN));
        bytes.map_or(INPUT_BYTES_MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
    }
}

/// A setting of a seat that was corrected, in the words of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingChange {
    pub field: String,
    pub from: String,
    pub to: String,
}

/// Price in dollars per million tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenPrice {
    pub input_per_mtok: f64,
    pub output_per_mtok: f64,
    /// Input that the provider reads from its cache; `None`: the price of other input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_per_mtok: Option<f64>,
    /// Input that the provider writes to its cache; `None`: the price of other input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_per_mtok: Option<f64>,
    /// `configuration`, `provider`, `loopback`, or the date of the price table.
    pub source: String,
}

impl TokenPrice {
    /// A price without rates for cached input.
    pub fn new(input_per_mtok: f64, output_per_mtok: f64, source: &str) -> Self {
        let (cached_input_per_mtok, cache_write_per_mtok) = (None, None);
        let source = source.to_owned();
        Self {
            input_per_mtok,
            output_per_mtok,
            cached_input_per_mtok,
            cache_write_per_mtok,
            source,
        }
    }
}

/// Time limits in milliseconds, for all attempts of one ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTimeouts {
    pub r1_per_provider: u64,
    pub r2_per_provider: u64,
    pub r3_chair: u64,
}

impl Default for RoundTimeouts {
    fn default() -> Self {
        Self { r1_per_provider: 60_000, r2_per_provider: 90_000, r3_chair: 120_000 }
    }
}

/// Time limits that a provider overrides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatTimeouts {
    pub r1_per_provider: Option<u64>,
    pub r2_per_provider: Option<u64>,
    pub r3_chair: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuorumRules {
    pub r1_min: usize,
    pub r2_min: usize,
    pub r3_required: bool,
    pub allow_partial: bool,
    pub families_min: usize,
}

impl Default for QuorumRules {
    fn default() -> Self {
        Self { r1_min: 2, r2_min: 1, r3_required: true, allow_partial: true, families_min: 1 }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShortCircuitRules {
    pub enabled: bool,
    /// Evaluate the rule but run the round anyway, and record whether skipping was right.
    pub shadow: bool,
    pub skip_r2_if: Vec<SkipReviewRule>,
    pub skip_r3_if: Vec<SkipSynthesisRule>,
}

impl Default for ShortCircuitRules {
    fn default() -> Self {
        Self {
            enabled: false,
            shadow: false,
            skip_r2_if: SkipReviewRule::ALL.to_vec(),
            skip_r3_if: SkipSynthesisRule::ALL.to_vec(),
        }
    }
}

/// Spending limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetCaps {
    pub usd_micros: u64,
    pub tokens: u64,
    pub calls: u32,
    pub wall_ms: u64,
}

impl Default for BudgetCaps {
    fn default() -> Self {
        Self { usd_micros: 2_000_000, tokens: 2_000_000, calls: 60, wall_ms: 15 * 60_000 }
    }
}

/// The files sent with a question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextPack {
    pub files: Vec<ContextFile>,
    pub excluded: Vec<ExcludedFile>,
    /// Files listed by name only, because there are too many to send whole.
    pub indexed: Vec<IndexedFile>,
}

/// A file sent whole.
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

/// A file that was left out, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExcludedFile {
    pub path: String,
    pub reason: String,
}
