//! What each seat of a council is sent.
//!
//! The system message is ours alone: it is put together from files in `prompts/`
//! and holds not one word of the question, the files or a model. All of that comes
//! in the user message, fenced.

use super::condense::{Condensed, condense};
use super::fence::Fences;
use super::mask::Mask;
use super::view::View;
use crate::domain::ask::{Ask, Messages, Purpose};
use crate::domain::council::words::Mode;
use crate::domain::digest::sha256_hex;
use crate::domain::intervention::Intervention;
use crate::domain::transcript::Transcript;
use crate::protocols::interventions::heard_by;

const PARTICIPANT: &str = include_str!("../../prompts/council/participant.md");
const REVIEWER: &str = include_str!("../../prompts/council/reviewer.md");
const CHAIR: &str = include_str!("../../prompts/council/chair.md");
const STRICTER: &str = include_str!("../../prompts/council/stricter.md");
const ADDED: &str = include_str!("../../prompts/council/added.md");

const MODE_GENERAL: &str = include_str!("../../prompts/council/mode-general.md");
const MODE_ARCHITECTURE: &str = include_str!("../../prompts/council/mode-architecture.md");
const MODE_REVIEW: &str = include_str!("../../prompts/council/mode-review.md");

/// What mode `review` adds to the shape of a reply, and mode `architecture` to the chair's.
const FINDINGS: &str = include_str!("../../prompts/council/shape-findings.md");
const FINDING_POSITIONS: &str = include_str!("../../prompts/council/shape-finding-positions.md");
const MERGED_FINDINGS: &str = include_str!("../../prompts/council/shape-merged-findings.md");
const ARCHITECTURE: &str = include_str!("../../prompts/council/shape-architecture.md");

/// Messages, and what had to be cut from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    pub messages: Messages,
    pub condensed: Vec<String>,
}

/// Exactly what a seat sees.
pub fn prepare(transcript: &Transcript, ask: &Ask) -> Prepared {
    let mut view = View::of(transcript, ask);
    let mask = mask_for(transcript, ask);
    let Condensed { sections, notes } = condense(&mut view, mask.as_ref());
    // What our reader says of a reply may quote it.
    let faults = ask.stricter.as_deref().unwrap_or_default();
    let faults = mask.as_ref().map_or(faults.to_owned(), |mask| mask.apply(faults).0);
    let mut texts: Vec<&str> = sections.iter().map(|section| section.text.as_str()).collect();
    texts.push(&faults);
    let fences = Fences::new(&transcript.plan.secret, ask.round, &texts);
    let mut user = String::new();
    for section in &sections {
        user.push_str(&section.fenced(&fences));
        user.push_str("\n\n");
    }
    if !view.additions.is_empty() {
        user.push_str(&format!("{}\n\n", ADDED.trim_end()));
    }
    user.push_str(task(ask.purpose));
    if ask.stricter.is_some() {
        let reason = fences.around("REASON", "what our reader says about your last reply", &faults);
        user.push_str(&format!("\n\n{}\n\n{reason}", STRICTER.trim_end()));
    }
    Prepared {
        messages: Messages { system: system(ask.purpose, transcript.plan.mode), user },
        condensed: notes,
    }
}

/// The instructions of a role, which depend on nothing but role and mode.
pub fn system(purpose: Purpose, mode: Mode) -> String {
    let role = match purpose {
        Purpose::Opinion => PARTICIPANT,
        Purpose::Review => REVIEWER,
        Purpose::Synthesis
        | Purpose::Conclusion
        | Purpose::Audit
        | Purpose::Revision
        | Purpose::Restatement => CHAIR,
    };
    let manner = match mode {
        Mode::General => MODE_GENERAL,
        Mode::Architecture => MODE_ARCHITECTURE,
        Mode::Review => MODE_REVIEW,
    };
    let shape = match (purpose, mode) {
        (Purpose::Opinion, Mode::Review) => FINDINGS,
        (Purpose::Review, Mode::Review) => FINDING_POSITIONS,
        (Purpose::Synthesis, Mode::Review) => MERGED_FINDINGS,
        (Purpose::Synthesis, Mode::Architecture) => ARCHITECTURE,
        (Purpose::Opinion | Purpose::Review, Mode::General | Mode::Architecture)
        | (Purpose::Synthesis, Mode::General)
        | (Purpose::Conclusion | Purpose::Audit | Purpose::Revision | Purpose::Restatement, _) => {
            ""
        }
    };
    // The fields of a mode follow a field that every mode has.
    let shape = match shape.trim_end() {
        "" => String::new(),
        fields => format!(",\n{fields}"),
    };
    role.replace("{mode}", manner.trim_end()).replace("{mode_fields}", &shape).trim_end().to_owned()
}

/// Changes when any instruction does: part of a seat's version.
pub fn digest() -> String {
    let roles = Purpose::ALL.iter().flat_map(|purpose| {
        let systems = Mode::ALL.iter().map(|mode| system(*purpose, *mode));
        systems.chain([task(*purpose).to_owned()])
    });
    let all: Vec<String> = roles.chain([STRICTER.to_owned(), ADDED.to_owned()]).collect();
    sha256_hex(all.iter().map(String::as_bytes))
}

fn task(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Opinion => "Give your opinion on the question as the JSON object described.",
        Purpose::Review => "Review each of the opinions as the JSON object described.",
        Purpose::Synthesis
        | Purpose::Conclusion
        | Purpose::Audit
        | Purpose::Revision
        | Purpose::Restatement => "Write the report as the JSON object described.",
    }
}

/// Names that must not reach a reader: none are hidden in the first round, where nobody's
/// text is shown but the asker's, nor when reviews are not anonymous.
fn mask_for(transcript: &Transcript, ask: &Ask) -> Option<Mask> {
    let plan = &transcript.plan;
    if ask.purpose == Purpose::Opinion || !plan.anonymous_review {
        return None;
    }
    let seats = plan.seats.iter().flat_map(|seat| [seat.name.as_str(), seat.provider.as_str()]);
    let models = plan.seats.iter().flat_map(|seat| [seat.model.as_str(), seat.family.as_str()]);
    let files = plan.context.files.iter().map(|file| file.text.as_str());
    let (seats, models): (Vec<&str>, Vec<&str>) = (seats.collect(), models.collect());
    let asked = std::iter::once(transcript.question()).chain(said_to_all(transcript, ask));
    let spared: Vec<&str> = asked.chain(files).collect();
    Some(Mask::new(&seats, &models, &spared))
}

/// What the Principal has said to everybody is part of the question; what was said to one seat
/// unmasks nobody.
fn said_to_all<'a>(transcript: &'a Transcript, ask: &Ask) -> impl Iterator<Item = &'a str> {
    heard_by(transcript, ask).into_iter().filter_map(|noted| match &noted.intervention {
        Intervention::Whisper { text, to: None } | Intervention::Directive { text, .. } => {
            Some(text.as_str())
        }
        Intervention::Whisper { to: Some(_), .. } | Intervention::Stop => None,
    })
}
