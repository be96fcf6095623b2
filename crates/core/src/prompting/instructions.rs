//! System prompts and tasks of the council and conclusion roles.
//!
//! They are assembled from files in `prompts/` and depend only on purpose and mode, so no text
//! of the question, the files or a model can enter them.

use crate::model::hash::sha256_hex;
use crate::protocols::council::types::QuestionMode;
use crate::protocols::review::messages::all_instructions;

const PARTICIPANT: &str = include_str!("../../../../prompts/council/participant.md");
const REVIEWER: &str = include_str!("../../../../prompts/council/reviewer.md");
const CHAIR: &str = include_str!("../../../../prompts/council/chair.md");
const RESTATEMENT: &str = include_str!("../../../../prompts/council/restatement.md");
const SYNTHESIZER: &str = include_str!("../../../../prompts/conclusion/synthesizer.md");
const CRITIC: &str = include_str!("../../../../prompts/conclusion/critic.md");
const REVISER: &str = include_str!("../../../../prompts/conclusion/reviser.md");

const MODE_GENERAL: &str = include_str!("../../../../prompts/council/mode-general.md");
const MODE_ARCHITECTURE: &str = include_str!("../../../../prompts/council/mode-architecture.md");
const MODE_REVIEW: &str = include_str!("../../../../prompts/council/mode-review.md");

/// Fields that mode `review` adds to a reply, and mode `architecture` to the chair's report.
const FINDINGS: &str = include_str!("../../../../prompts/council/shape-findings.md");
const FINDING_POSITIONS: &str =
    include_str!("../../../../prompts/council/shape-finding-positions.md");
const MERGED_FINDINGS: &str = include_str!("../../../../prompts/council/shape-merged-findings.md");
const ARCHITECTURE: &str = include_str!("../../../../prompts/council/shape-architecture.md");

const CONCLUSION: &str = include_str!("../../../../prompts/conclusion/shape.md");

/// Sent after a reply that could not be parsed.
pub(crate) const STRICTER: &str = include_str!("../../../../prompts/council/stricter.md");
pub(crate) const STRICTER_CRITIC: &str =
    include_str!("../../../../prompts/conclusion/stricter-critic.md");

/// Sent after a reply that was truncated.
pub(crate) const SHORTER: &str = include_str!("../../../../prompts/council/shorter.md");
pub(crate) const SHORTER_CRITIC: &str =
    include_str!("../../../../prompts/conclusion/shorter-critic.md");

/// Sent after the Principal's additions.
pub(crate) const ADDED: &str = include_str!("../../../../prompts/council/added.md");

/// The instructions of a role and the task that ends its messages.
#[derive(Debug, Clone, Copy)]
pub struct RoleText {
    system: fn(QuestionMode) -> String,
    pub(crate) task: &'static str,
}

impl RoleText {
    /// The system message. It depends on the mode and on nothing else.
    pub fn system_prompt(&self, mode: QuestionMode) -> String {
        (self.system)(mode)
    }
}

pub const OPINION: RoleText = RoleText {
    system: |mode| {
        with_mode(PARTICIPANT, mode, fields_in_mode(mode, QuestionMode::Review, FINDINGS))
    },
    task: "Give your opinion on the question as the JSON object described.",
};
pub const PEER_REVIEW: RoleText = RoleText {
    system: |mode| {
        with_mode(REVIEWER, mode, fields_in_mode(mode, QuestionMode::Review, FINDING_POSITIONS))
    },
    task: "Review each of the opinions as the JSON object described.",
};
pub const SYNTHESIS: RoleText = RoleText {
    system: |mode| with_mode(CHAIR, mode, report_fields(mode)),
    task: "Write the report as the JSON object described.",
};
// A conclusion is written and audited in the same way in every mode.
pub const DRAFT: RoleText = RoleText {
    system: |_| SYNTHESIZER.replace("{shape}", CONCLUSION).trim_end().to_owned(),
    task: "Write the conclusion as the JSON object described.",
};
pub const AUDIT: RoleText = RoleText {
    system: |_| CRITIC.trim_end().to_owned(),
    task: "Audit the conclusion: reply PASS, or with FLAG lines, as described.",
};
pub const REVISION: RoleText = RoleText {
    system: |_| REVISER.replace("{shape}", CONCLUSION).trim_end().to_owned(),
    task: "Mend the flagged fields and reply with the JSON object described.",
};
pub const DIRECTIVE: RoleText = RoleText {
    system: |_| RESTATEMENT.trim_end().to_owned(),
    task: "Restate what they want in one sentence.",
};
// The system messages of a review depend on the seat and its plan: see `gate_system`.
pub const JUDGEMENT: RoleText = RoleText {
    system: |_| String::new(),
    task: "Judge the artifact as the JSON object described.",
};
pub const CROSS_READING: RoleText = RoleText {
    system: |_| String::new(),
    task: "Judge the artifact again as the JSON object described.",
};
pub const ADJUDICATION: RoleText =
    RoleText { system: |_| String::new(), task: "Decide, as the JSON object described." };

/// All roles, in the order in which [`digest`] reads them.
const ROLES: [RoleText; 10] = [
    OPINION,
    PEER_REVIEW,
    SYNTHESIS,
    DRAFT,
    AUDIT,
    REVISION,
    DIRECTIVE,
    JUDGEMENT,
    CROSS_READING,
    ADJUDICATION,
];

/// Digest of all instructions; part of a seat's version.
pub fn instructions_digest() -> String {
    let roles = ROLES.iter().flat_map(|role| {
        let systems = QuestionMode::ALL.iter().map(|mode| role.system_prompt(*mode));
        systems.chain([role.task.to_owned()])
    });
    let others = [STRICTER, STRICTER_CRITIC, SHORTER, SHORTER_CRITIC, ADDED].map(str::to_owned);
    let all: Vec<String> = roles.chain(others).chain(all_instructions()).collect();
    sha256_hex(all.iter().map(String::as_bytes))
}

/// Fills the mode's text and reply fields into a council role.
fn with_mode(role: &str, mode: QuestionMode, fields: &str) -> String {
    let manner = match mode {
        QuestionMode::General => MODE_GENERAL,
        QuestionMode::Architecture => MODE_ARCHITECTURE,
        QuestionMode::Review => MODE_REVIEW,
    };
    // The mode's fields follow a field that every mode has.
    let fields = match fields.trim_end() {
        "" => String::new(),
        fields => format!(",\n{fields}"),
    };
    let role = role.replace("{mode}", manner.trim_end()).replace("{mode_fields}", &fields);
    role.trim_end().to_owned()
}

fn fields_in_mode(mode: QuestionMode, wanted: QuestionMode, fields: &'static str) -> &'static str {
    if mode == wanted { fields } else { "" }
}

fn report_fields(mode: QuestionMode) -> &'static str {
    match mode {
        QuestionMode::General => "",
        QuestionMode::Architecture => ARCHITECTURE,
        QuestionMode::Review => MERGED_FINDINGS,
    }
}
