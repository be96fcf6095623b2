//! Builds the messages of a council's seats: participant, reviewer and chair.

use crate::model::ask::Ask;
use crate::model::run_state::RunState;
use crate::prompting::anonymize::NameMask;
use crate::prompting::condense::{CondensedView, condense_view};
use crate::prompting::instructions::{OPINION, PEER_REVIEW, RoleText, SYNTHESIS};
use crate::prompting::layout::{MessageParts, RenderedPrompt};
use crate::prompting::lens::{LensPrompt, lenses_remark};
use crate::prompting::reader_view::ReaderView;
use crate::prompting::shared_block::question_block;
use crate::protocols::council::answers::{SeatLetters, list_opinions, list_peer_reviews};
use crate::protocols::pending_asks::InterventionScope;

pub(crate) fn participant_messages(state: &RunState, ask: &Ask) -> RenderedPrompt {
    let mut view = ReaderView::of_participant(state, ask, InterventionScope::OwnAndPublic);
    let lens = state.plan.find_seat(&ask.seat).and_then(|seat| seat.lens.as_deref());
    let lens = lens.map(LensPrompt::from_setting);
    let remark = lens.as_ref().map(|lens| lens.remark.clone());
    view.additions.extend(lens.and_then(|lens| lens.section));
    render_messages(state, ask, OPINION, view, None, remark.as_slice())
}

pub(crate) fn reviewer_messages(state: &RunState, ask: &Ask) -> RenderedPrompt {
    let (view, mask) = (ReaderView::of_reviewer(state, ask), mask_for(state));
    render_messages(state, ask, PEER_REVIEW, view, mask.as_ref(), &[])
}

/// Masks no names: the chair decides, and knows the authors by letters only.
pub(crate) fn chair_messages(state: &RunState, ask: &Ask) -> RenderedPrompt {
    let view = ReaderView::of_chair(state, ask);
    let lenses = lenses_remark(&state.plan).into_iter();
    let remarks: Vec<String> = lenses.chain(absence_remarks(state)).collect();
    render_messages(state, ask, SYNTHESIS, view, None, &remarks)
}

fn render_messages(
    state: &RunState,
    ask: &Ask,
    role: RoleText,
    mut view: ReaderView,
    mask: Option<&NameMask>,
    remarks: &[String],
) -> RenderedPrompt {
    let own = question_block(state, &ask.seat);
    let CondensedView { sections, notes } = condense_view(&mut view, own.bytes_left, mask);
    let parts = MessageParts {
        secret: &state.plan.secret,
        block: Some(&own),
        role: &role.parts(state.plan.mode),
        sections: &sections,
        remarks,
    };
    let condensed = own.notes().chain(notes).collect();
    RenderedPrompt { messages: parts.render_messages(ask), condensed }
}

/// Tells the chair which round was skipped and who gave no opinion or no review.
fn absence_remarks(state: &RunState) -> Vec<String> {
    let letters = SeatLetters::from_plan(&state.plan);
    let (opinions, reviews) = (list_opinions(state), list_peer_reviews(state));
    let mut remarks = Vec::new();
    for (letter, name) in letters.iter() {
        if opinions.iter().all(|voice| voice.seat != name) {
            remarks.push(format!("{letter} gave no opinion."));
        }
        if !reviews.is_empty() && reviews.iter().all(|voice| voice.seat != name) {
            remarks.push(format!("{letter} gave no review."));
        }
    }
    if state.skips_round(2) {
        remarks.push("Round 2 was skipped by rule: the opinions were not reviewed.".to_owned());
    } else if reviews.is_empty() {
        remarks.push("The opinions were not reviewed.".to_owned());
    }
    remarks
}

/// The names with which an author may identify itself; `None` when reviews are not anonymous.
fn mask_for(state: &RunState) -> Option<NameMask> {
    let plan = &state.plan;
    if !plan.anonymous_review {
        return None;
    }
    let seats = plan.seats.iter().flat_map(|seat| [seat.name.as_str(), seat.provider.as_str()]);
    let models = plan.seats.iter().flat_map(|seat| [seat.model.as_str(), seat.family.as_str()]);
    let (seats, models): (Vec<&str>, Vec<&str>) = (seats.collect(), models.collect());
    Some(NameMask::new(&seats, &models))
}
