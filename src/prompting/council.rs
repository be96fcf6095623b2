//! Builds the messages of a council's seats: participant, reviewer and chair.

use super::condense::{Condensed, condense};
use super::instructions::{ADDED, OPINION, PEER_REVIEW, RoleText, SYNTHESIS};
use super::mask::Mask;
use super::message::{Parts, Prepared};
use super::view::View;
use crate::domain::ask::{Ask, Messages};
use crate::domain::intervention::Intervention;
use crate::domain::transcript::Transcript;
use crate::protocols::interventions::{Hearing, heard_by};

/// Masks no names: a participant sees only text of the person who asks.
pub(crate) fn participant(transcript: &Transcript, ask: &Ask) -> Prepared {
    let view = View::of_question(transcript, ask, Hearing::OwnAndPublic);
    prepared(transcript, ask, OPINION, view, None)
}

pub(crate) fn reviewer(transcript: &Transcript, ask: &Ask) -> Prepared {
    let mask = mask_for(transcript, ask);
    prepared(transcript, ask, PEER_REVIEW, View::of_reviewer(transcript, ask), mask.as_ref())
}

pub(crate) fn chair(transcript: &Transcript, ask: &Ask) -> Prepared {
    let mask = mask_for(transcript, ask);
    prepared(transcript, ask, SYNTHESIS, View::of_chair(transcript, ask), mask.as_ref())
}

fn prepared(
    transcript: &Transcript,
    ask: &Ask,
    role: RoleText,
    mut view: View,
    mask: Option<&Mask>,
) -> Prepared {
    let Condensed { sections, notes } = condense(&mut view, mask);
    let masked = |text: &String| mask.map_or_else(|| text.clone(), |mask| mask.apply(text).0);
    let faults = ask.stricter.as_ref().map(masked);
    let parts = Parts {
        secret: &transcript.plan.secret,
        sections: &sections,
        remarks: &added(&view).into_iter().collect::<Vec<_>>(),
        task: role.task,
        faults: faults.as_deref(),
    };
    let system = role.system(transcript.plan.mode);
    Prepared { messages: Messages { system, user: parts.message(ask) }, condensed: notes }
}

/// Tells the seat how to read the Principal's additions, if there are any.
pub(super) fn added(view: &View) -> Option<String> {
    (!view.additions.is_empty()).then(|| ADDED.trim_end().to_owned())
}

/// The names to hide from this seat; `None` when reviews are not anonymous.
fn mask_for(transcript: &Transcript, ask: &Ask) -> Option<Mask> {
    let plan = &transcript.plan;
    if !plan.anonymous_review {
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

/// Interventions addressed to all seats, which count as part of the question. A private whisper
/// does not allow a name to be shown.
fn said_to_all<'a>(transcript: &'a Transcript, ask: &Ask) -> impl Iterator<Item = &'a str> {
    heard_by(transcript, ask, Hearing::OwnAndPublic).into_iter().filter_map(|noted| {
        match &noted.intervention {
            Intervention::Whisper { text, to: None } | Intervention::Directive { text, .. } => {
                Some(text.as_str())
            }
            Intervention::Whisper { to: Some(_), .. } | Intervention::Stop => None,
        }
    })
}
