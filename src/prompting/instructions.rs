//! System prompts and tasks of the council and conclusion roles.
//!
//! They are assembled from files in `prompts/` and depend only on purpose and mode, so no text
//! of the question, the files or a model can enter them.

use super::gate;
use crate::domain::ask::Purpose;
use crate::domain::council::words::Mode;
use crate::domain::digest::sha256_hex;

const PARTICIPANT: &str = include_str!("../../prompts/council/participant.md");
const REVIEWER: &str = include_str!("../../prompts/council/reviewer.md");
const CHAIR: &str = include_str!("../../prompts/council/chair.md");
const RESTATEMENT: &str = include_str!("../../prompts/council/restatement.md");
const SYNTHESIZER: &str = include_str!("../../prompts/conclusion/synthesizer.md");
const CRITIC: &str = include_str!("../../prompts/conclusion/critic.md");
const REVISER: &str = include_str!("../../prompts/conclusion/reviser.md");

const MODE_GENERAL: &str = include_str!("../../prompts/council/mode-general.md");
const MODE_ARCHITECTURE: &str = include_str!("../../prompts/council/mode-architecture.md");
const MODE_REVIEW: &str = include_str!("../../prompts/council/mode-review.md");

/// Fields that mode `review` adds to a reply, and mode `architecture` to the chair's report.
const FINDINGS: &str = include_str!("../../prompts/council/shape-findings.md");
const FINDING_POSITIONS: &str = include_str!("../../prompts/council/shape-finding-positions.md");
const MERGED_FINDINGS: &str = include_str!("../../prompts/council/shape-merged-findings.md");
const ARCHITECTURE: &str = include_str!("../../prompts/council/shape-architecture.md");

const CONCLUSION: &str = include_str!("../../prompts/conclusion/shape.md");

/// Sent after a reply that could not be parsed.
pub(super) const STRICTER: &str = include_str!("../../prompts/council/stricter.md");
pub(super) const STRICTER_CRITIC: &str =
    include_str!("../../prompts/conclusion/stricter-critic.md");

/// Sent after a reply that was truncated.
pub(super) const SHORTER: &str = include_str!("../../prompts/council/shorter.md");
pub(super) const SHORTER_CRITIC: &str = include_str!("../../prompts/conclusion/shorter-critic.md");

/// Sent after the Principal's additions.
pub(super) const ADDED: &str = include_str!("../../prompts/council/added.md");

/// The system prompt of a role.
pub fn system(purpose: Purpose, mode: Mode) -> String {
    match purpose {
        Purpose::Opinion => in_mode(PARTICIPANT, mode, only_in(mode, Mode::Review, FINDINGS)),
        Purpose::Review => in_mode(REVIEWER, mode, only_in(mode, Mode::Review, FINDING_POSITIONS)),
        Purpose::Synthesis => in_mode(CHAIR, mode, fields_of_report(mode)),
        // Conclusion and audit do not depend on the mode.
        Purpose::Conclusion => SYNTHESIZER.replace("{shape}", CONCLUSION).trim_end().to_owned(),
        Purpose::Audit => CRITIC.trim_end().to_owned(),
        Purpose::Revision => REVISER.replace("{shape}", CONCLUSION).trim_end().to_owned(),
        Purpose::Restatement => RESTATEMENT.trim_end().to_owned(),
        // These depend on the seat and its plan; `review_system_prompt` renders them.
        Purpose::Judgement | Purpose::CrossReading | Purpose::Adjudication => String::new(),
    }
}

pub(super) fn task(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Opinion => "Give your opinion on the question as the JSON object described.",
        Purpose::Review => "Review each of the opinions as the JSON object described.",
        Purpose::Synthesis => "Write the report as the JSON object described.",
        Purpose::Conclusion => "Write the conclusion as the JSON object described.",
        Purpose::Audit => "Audit the conclusion: reply PASS, or with FLAG lines, as described.",
        Purpose::Revision => "Mend the flagged fields and reply with the JSON object described.",
        Purpose::Restatement => "Restate what they want in one sentence.",
        Purpose::Judgement => "Judge the artifact as the JSON object described.",
        Purpose::CrossReading => "Judge the artifact again as the JSON object described.",
        Purpose::Adjudication => "Decide, as the JSON object described.",
    }
}

/// Digest of all instructions; part of a seat's version.
pub fn digest() -> String {
    let roles = Purpose::ALL.iter().flat_map(|purpose| {
        let systems = Mode::ALL.iter().map(|mode| system(*purpose, *mode));
        systems.chain([task(*purpose).to_owned()])
    });
    let others = [STRICTER, STRICTER_CRITIC, SHORTER, SHORTER_CRITIC, ADDED].map(str::to_owned);
    let all: Vec<String> = roles.chain(others).chain(gate::texts()).collect();
    sha256_hex(all.iter().map(String::as_bytes))
}

/// Fills the mode's text and reply fields into a council role.
fn in_mode(role: &str, mode: Mode, fields: &str) -> String {
    let manner = match mode {
        Mode::General => MODE_GENERAL,
        Mode::Architecture => MODE_ARCHITECTURE,
        Mode::Review => MODE_REVIEW,
    };
    // The mode's fields follow a field that every mode has.
    let fields = match fields.trim_end() {
        "" => String::new(),
        fields => format!(",\n{fields}"),
    };
    let role = role.replace("{mode}", manner.trim_end()).replace("{mode_fields}", &fields);
    role.trim_end().to_owned()
}

fn only_in(mode: Mode, wanted: Mode, fields: &'static str) -> &'static str {
    if mode == wanted { fields } else { "" }
}

fn fields_of_report(mode: Mode) -> &'static str {
    match mode {
        Mode::General => "",
        Mode::Architecture => ARCHITECTURE,
        Mode::Review => MERGED_FINDINGS,
    }
}
