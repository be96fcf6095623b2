//! Our own text: the system message of all roles, and the roles of council and conclusion.
//!
//! It is assembled from files in `prompts/` and depends only on purpose and mode, so no text
//! of the question, the files or a model can enter it.

use crate::model::hash::sha256_hex;
use crate::protocols::alignment::messages::all_instructions as judge_instructions;
use crate::protocols::council::types::QuestionMode;
use crate::protocols::review::messages::all_instructions;

/// The system message of all roles.
pub const SYSTEM: &str = include_str!("../../../../prompts/system.md");

const PARTICIPANT: &str = include_str!("../../../../prompts/council/participant.md");
const REVIEWER: &str = include_str!("../../../../prompts/council/reviewer.md");
const CHAIR: &str = include_str!("../../../../prompts/council/chair.md");
const RESTATEMENT: &str = include_str!("../../../../prompts/council/restatement.md");
const SYNTHESIZER: &str = include_str!("../../../../prompts/conclusion/synthesizer.md");
const CRITIC: &str = include_str!("../../../../prompts/conclusion/critic.md");
const REVISER: &str = include_str!("../../../../prompts/conclusion/reviser.md");

/// Text that a mode adds to a council role: how to work, then the fields that it adds to the reply.
const PARTICIPANT_ARCHITECTURE: &str =
    include_str!("../../../../prompts/council/participant-architecture.md");
const PARTICIPANT_REVIEW: &str = include_str!("../../../../prompts/council/participant-review.md");
const REVIEWER_ARCHITECTURE: &str =
    include_str!("../../../../prompts/council/reviewer-architecture.md");
const REVIEWER_REVIEW: &str = include_str!("../../../../prompts/council/reviewer-review.md");
const CHAIR_ARCHITECTURE: &str = include_str!("../../../../prompts/council/chair-architecture.md");
const CHAIR_REVIEW: &str = include_str!("../../../../prompts/council/chair-review.md");

/// Where a participant may be told to look first, one lens per line.
pub(crate) const LENSES: &str = include_str!("../../../../prompts/council/lenses.md");

/// The line of a prompt file at which the format of the reply begins.
const REPLY_MARKER: &str = "## Reply";

const CONCLUSION: &str = include_str!("../../../../prompts/conclusion/shape.md");

/// Sent after a reply that could not be parsed.
pub(crate) const STRICTER: &str = include_str!("../../../../prompts/council/stricter.md");
pub(crate) const STRICTER_CRITIC: &str =
    include_str!("../../../../prompts/conclusion/stricter-critic.md");

/// Sent after a reply that was truncated.
pub(crate) const SHORTER: &str = include_str!("../../../../prompts/council/shorter.md");
pub(crate) const SHORTER_CRITIC: &str =
    include_str!("../../../../prompts/conclusion/shorter-critic.md");

/// The instructions of a role and the format of its reply, which ends the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleParts {
    pub role: String,
    pub format: String,
}

impl RoleParts {
    /// Splits a role text at its last format heading; without one all of it is the role.
    pub fn from_text(text: &str) -> Self {
        let heading = format!("\n{REPLY_MARKER}\n");
        let (role, format) = match text.rfind(&heading) {
            Some(at) => text.split_at(at),
            None => (text, ""),
        };
        Self { role: role.trim().to_owned(), format: format.trim().to_owned() }
    }

    /// The system message of a seat that gets no shared block.
    pub fn system_message(&self) -> String {
        format!("{}\n\n{}", SYSTEM.trim_end(), self.role)
    }

    pub fn byte_len(&self) -> usize {
        SYSTEM.len() + self.role.len() + self.format.len()
    }
}

/// The text of a role. It depends on the mode and on nothing else.
#[derive(Debug, Clone, Copy)]
pub struct RoleText(fn(QuestionMode) -> String);

impl RoleText {
    pub fn parts(&self, mode: QuestionMode) -> RoleParts {
        RoleParts::from_text(&(self.0)(mode))
    }
}

pub const OPINION: RoleText =
    RoleText(|mode| with_mode(PARTICIPANT, mode, PARTICIPANT_ARCHITECTURE, PARTICIPANT_REVIEW));
pub const PEER_REVIEW: RoleText =
    RoleText(|mode| with_mode(REVIEWER, mode, REVIEWER_ARCHITECTURE, REVIEWER_REVIEW));
pub const SYNTHESIS: RoleText =
    RoleText(|mode| with_mode(CHAIR, mode, CHAIR_ARCHITECTURE, CHAIR_REVIEW));
// A conclusion is written and audited in the same way in every mode.
pub const DRAFT: RoleText = RoleText(|_| SYNTHESIZER.replace("{shape}", CONCLUSION));
pub const AUDIT: RoleText = RoleText(|_| CRITIC.to_owned());
pub const REVISION: RoleText = RoleText(|_| REVISER.replace("{shape}", CONCLUSION));
pub const DIRECTIVE: RoleText = RoleText(|_| RESTATEMENT.to_owned());

/// Digest of all instructions; part of a seat's version.
pub fn instructions_digest() -> String {
    let roles = [OPINION, PEER_REVIEW, SYNTHESIS, DRAFT, AUDIT, REVISION, DIRECTIVE];
    let roles = roles.iter().flat_map(|role| QuestionMode::ALL.iter().map(|mode| (role.0)(*mode)));
    let others =
        [SYSTEM, STRICTER, STRICTER_CRITIC, SHORTER, SHORTER_CRITIC, LENSES].map(str::to_owned);
    let all: Vec<String> =
        roles.chain(others).chain(all_instructions()).chain(judge_instructions()).collect();
    sha256_hex(all.iter().map(String::as_bytes))
}

/// Fills in what the mode adds to a council role. A general question adds nothing.
fn with_mode(role: &str, mode: QuestionMode, architecture: &str, review: &str) -> String {
    let added = match mode {
        QuestionMode::General => "",
        QuestionMode::Architecture => architecture,
        QuestionMode::Review => review,
    };
    let (manner, fields) = added.split_once(REPLY_MARKER).unwrap_or((added, ""));
    // The mode's paragraph and its fields follow text that every mode has.
    let manner = match manner.trim() {
        "" => String::new(),
        manner => format!("\n\n{manner}"),
    };
    let fields = match fields.trim_matches('\n') {
        "" => String::new(),
        fields => format!(",\n{fields}"),
    };
    let role = role.replace("\n\n{mode}", &manner).replace("{mode_fields}", &fields);
    role.trim_end().to_owned()
}
