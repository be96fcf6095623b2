//! Builds the messages of a council's seats: participant, reviewer and chair.

use crate::model::ask::{Ask, AskMessages};
use crate::model::intervention::Intervention;
use crate::model::run_state::RunState;
use crate::prompting::anonymize::NameMask;
use crate::prompting::condense::{CondensedView, condense_view};
use crate::prompting::fence::{MessageParts, RenderedPrompt};
use crate::prompting::instructions::{ADDED, OPINION, PEER_REVIEW, RoleText, SYNTHESIS};
use crate::prompting::reader_view::ReaderView;
use crate::protocols::pending_asks::{InterventionScope, visible_interventions};

/// Masks no names: a participant sees only text of the person who asks.
pub(crate) fn participant_messages(transcript: &RunState, ask: &Ask) -> RenderedPrompt {
    let view = ReaderView::of_question(transcript, ask, InterventionScope::OwnAndPublic);
    render_messages(transcript, ask, OPINION, view, None)
}

pub(crate) fn reviewer_messages(transcript: &RunState, ask: &Ask) -> RenderedPrompt {
    let (view, mask) = (ReaderView::of_reviewer(transcript, ask), mask_for(transcript, ask));
    render_messages(transcript, ask, PEER_REVIEW, view, mask.as_ref())
}

pub(crate) fn chair_messages(transcript: &RunState, ask: &Ask) -> RenderedPrompt {
    let (view, mask) = (ReaderView::of_chair(transcript, ask), mask_for(transcript, ask));
    render_messages(transcript, ask, SYNTHESIS, view, mask.as_ref())
}

fn render_messages(
    transcript: &RunState,
    ask: &Ask,
    role: RoleText,
    mut view: ReaderView,
    mask: Option<&NameMask>,
) -> RenderedPrompt {
    let CondensedView { sections, notes } = condense_view(&mut view, mask);
    let masked = |text: &String| mask.map_or_else(|| text.clone(), |mask| mask.mask_text(text).0);
    let faults = ask.retry_reason.as_ref().map(masked);
    let parts = MessageParts {
        secret: &transcript.plan.secret,
        sections: &sections,
        remarks: &additions_remark(&view).into_iter().collect::<Vec<_>>(),
        task: role.task,
        rejection_reason: faults.as_deref(),
    };
    let system = role.system_prompt(transcript.plan.mode);
    RenderedPrompt {
        messages: AskMessages { system, user: parts.render_message(ask) },
        condensed: notes,
    }
}

/// Tells the seat how to read the Principal's additions, if there are any.
pub(crate) fn additions_remark(view: &ReaderView) -> Option<String> {
    (!view.additions.is_empty()).then(|| ADDED.trim_end().to_owned())
}

/// The names to hide from this seat; `None` when reviews are not anonymous.
fn mask_for(transcript: &RunState, ask: &Ask) -> Option<NameMask> {
    let plan = &transcript.plan;
    if !plan.anonymous_review {
        return None;
    }
    let seats = plan.seats.iter().flat_map(|seat| [seat.name.as_str(), seat.provider.as_str()]);
    let models = plan.seats.iter().flat_map(|seat| [seat.model.as_str(), seat.family.as_str()]);
    let files = plan.context.files.iter().map(|file| file.text.as_str());
    let (seats, models): (Vec<&str>, Vec<&str>) = (seats.collect(), models.collect());
    let asked = std::iter::once(transcript.question()).chain(texts_to_all(transcript, ask));
    let spared: Vec<&str> = asked.chain(files).collect();
    Some(NameMask::new(&seats, &models, &spared))
}

/// Interventions addressed to all seats, which count as part of the question. A private whisper
/// does not allow a name to be shown.
fn texts_to_all<'a>(transcript: &'a RunState, ask: &Ask) -> impl Iterator<Item = &'a str> {
    visible_interventions(transcript, ask, InterventionScope::OwnAndPublic).into_iter().filter_map(
        |noted| match &noted.intervention {
            Intervention::Whisper { text, to: None } | Intervention::Directive { text, .. } => {
                Some(text.as_str())
            }
            Intervention::Whisper { to: Some(_), .. } | Intervention::Stop => None,
        },
    )
}
