//! What is ours in a message: the instructions of each role, and its task.
//!
//! They are put together from files in `prompts/` and depend on nothing but what is
//! asked for and the mode, so not one word of the question, the files or a model can
//! be among them.

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

/// What mode `review` adds to the shape of a reply, and mode `architecture` to the chair's.
const FINDINGS: &str = include_str!("../../prompts/council/shape-findings.md");
const FINDING_POSITIONS: &str = include_str!("../../prompts/council/shape-finding-positions.md");
const MERGED_FINDINGS: &str = include_str!("../../prompts/council/shape-merged-findings.md");
const ARCHITECTURE: &str = include_str!("../../prompts/council/shape-architecture.md");

const CONCLUSION: &str = include_str!("../../prompts/conclusion/shape.md");

/// After a reply that could not be used.
pub(super) const STRICTER: &str = include_str!("../../prompts/council/stricter.md");
pub(super) const STRICTER_CRITIC: &str =
    include_str!("../../prompts/conclusion/stricter-critic.md");

/// After a reply that was cut off.
pub(super) const SHORTER: &str = include_str!("../../prompts/council/shorter.md");
pub(super) const SHORTER_CRITIC: &str = include_str!("../../prompts/conclusion/shorter-critic.md");

/// After what the Principal has added.
pub(super) const ADDED: &str = include_str!("../../prompts/council/added.md");

/// The instructions of a role, which depend on nothing but what it is asked for and the mode.
pub fn system(purpose: Purpose, mode: Mode) -> String {
    match purpose {
        Purpose::Opinion => in_mode(PARTICIPANT, mode, only_in(mode, Mode::Review, FINDINGS)),
        Purpose::Review => in_mode(REVIEWER, mode, only_in(mode, Mode::Review, FINDING_POSITIONS)),
        Purpose::Synthesis => in_mode(CHAIR, mode, fields_of_report(mode)),
        // How a conclusion is written and audited is the same whatever the mode.
        Purpose::Conclusion => SYNTHESIZER.replace("{shape}", CONCLUSION).trim_end().to_owned(),
        Purpose::Audit => CRITIC.trim_end().to_owned(),
        Purpose::Revision => REVISER.replace("{shape}", CONCLUSION).trim_end().to_owned(),
        Purpose::Restatement => RESTATEMENT.trim_end().to_owned(),
        // What these are told depends on the seat and its plan: `gate_system` has it.
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

/// Changes when any instruction does: part of a seat's version.
pub fn digest() -> String {
    let roles = Purpose::ALL.iter().flat_map(|purpose| {
        let systems = Mode::ALL.iter().map(|mode| system(*purpose, *mode));
        systems.chain([task(*purpose).to_owned()])
    });
    let others = [STRICTER, STRICTER_CRITIC, SHORTER, SHORTER_CRITIC, ADDED].map(str::to_owned);
    let all: Vec<String> = roles.chain(others).chain(gate::texts()).collect();
    sha256_hex(all.iter().map(String::as_bytes))
}

/// A role of a council, with what its mode says and adds to its reply.
fn in_mode(role: &str, mode: Mode, fields: &str) -> String {
    let manner = match mode {
        Mode::General => MODE_GENERAL,
        Mode::Architecture => MODE_ARCHITECTURE,
        Mode::Review => MODE_REVIEW,
    };
    // The fields of a mode follow a field that every mode has.
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
