//! Builds the messages of the synthesizer and the reviser, who write the conclusion.
//!
//! Unlike the chair they see the agents' names, because the conclusion names them; so nothing is
//! masked.

use super::brief::ConclusionBrief;
use super::condense::condense_brief;
use crate::domain::ask::{Ask, AskMessages};
use crate::domain::council::words::OpinionStance;
use crate::domain::record::DialogueRecord;
use crate::domain::time::Day;
use crate::domain::transcript::RunState;
use crate::prompting::council::additions_remark;
use crate::prompting::instructions::{DRAFT, REVISION, RoleText};
use crate::prompting::message::{MessageParts, RenderedPrompt};
use crate::protocols::conclusion::{audit_trail, draft_conclusion};
use crate::protocols::council::{list_opinions, tally_stances};

/// The synthesizer's messages: the whole record, without private whispers.
pub fn synthesizer_messages(
    transcript: &RunState,
    record: &DialogueRecord,
    ask: &Ask,
) -> RenderedPrompt {
    render_messages(
        transcript,
        DRAFT,
        ConclusionBrief::from_state(transcript, record, ask),
        ask,
        Vec::new(),
    )
}

/// The reviser's messages: the same, with the conclusion and the objections to it.
pub fn reviser_messages(
    transcript: &RunState,
    record: &DialogueRecord,
    ask: &Ask,
) -> RenderedPrompt {
    let mut brief = ConclusionBrief::from_state(transcript, record, ask);
    let mut remarks = Vec::new();
    if let (Some(draft), Some(trail)) = (draft_conclusion(transcript), audit_trail(transcript)) {
        brief = brief.with_objections(draft, &trail.objections);
        let fields = trail.revised_fields.iter().map(|field| format!("`{field}`"));
        let fields = fields.collect::<Vec<_>>().join(", ");
        remarks.push(format!("Flagged, and to be mended: {fields}. Everything else stays."));
    }
    render_messages(transcript, REVISION, brief, ask, remarks)
}

fn render_messages(
    transcript: &RunState,
    role: RoleText,
    mut brief: ConclusionBrief<'_>,
    ask: &Ask,
    more: Vec<String>,
) -> RenderedPrompt {
    let condensed = condense_brief(&mut brief);
    let mut remarks: Vec<String> = additions_remark(&brief.view).into_iter().collect();
    remarks.extend(stances_remark(transcript));
    remarks.push(format!("Today is {}.", ask_day(transcript, ask)));
    remarks.extend(more);
    let parts = MessageParts {
        secret: &transcript.plan.secret,
        sections: &brief.all_sections(),
        remarks: &remarks,
        task: role.task,
        rejection_reason: ask.retry_reason.as_deref(),
    };
    let system = role.system_prompt(transcript.plan.mode);
    RenderedPrompt { messages: AskMessages { system, user: parts.render_message(ask) }, condensed }
}

/// The stances of a council's first round, counted by the program.
fn stances_remark(transcript: &RunState) -> Option<String> {
    let tally = tally_stances(transcript);
    let counts =
        OpinionStance::ALL.iter().map(|stance| format!("{} {stance}", tally.count_of(*stance)));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let is_council = !list_opinions(transcript).is_empty();
    is_council.then(|| format!("The stances of the first round, counted: {counts}."))
}

/// The day the ask was made, also when it is sent again after a crash.
fn ask_day(transcript: &RunState, ask: &Ask) -> Day {
    let made =
        transcript.find_ask(ask.id).map_or(transcript.last_entry_at, |asked| asked.prepared_at);
    made.utc_day()
}
