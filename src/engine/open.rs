//! Opens the dialogue of a run and writes its plan down.

use super::connections::Connections;
use super::deliberation::{Deliberation, Surroundings};
use super::journal::Written;
use super::owner::Owner;
use super::resume::unreachable_seat;
use crate::domain::change::{Change, EntryKind};
use crate::domain::dialogue::{Opening, Protocol};
use crate::domain::dice::SplitMix;
use crate::domain::expert::{Profile, Source, Tier};
use crate::domain::ids::DialogueId;
use crate::domain::plan::{Plan, Role, Seat};
use crate::domain::shortened::trimmed_head;
use crate::domain::transcript::Transcript;
use crate::error::Error;
use crate::files::Folders;
use crate::operations::hexed_id;
use crate::store::StoreError;

/// The title is what lists show; the question itself may be pages long.
const TITLE_CHARS_MAX: usize = 100;

/// What a run is about.
#[derive(Debug, Clone)]
pub struct Question {
    /// What is asked; of a review, what is judged.
    pub text: String,
    pub rehearsal: bool,
    pub plan: Plan,
}

/// Opens a run; from here on it can be resumed.
pub async fn open(
    question: Question,
    connections: Connections,
    owner: &Owner,
    folders: &Folders,
    surroundings: Surroundings,
) -> Result<Deliberation, Error> {
    let seats = question.plan.seats.iter().map(|seat| &seat.name);
    if let Some(seat) = connections.missing(seats) {
        return Err(unreachable_seat(seat).into());
    }
    let Surroundings { journal, ambient, observer, .. } = &surroundings;
    let (at, folders, token) = (ambient.now(), folders.clone(), owner.token.clone());
    let mut dice = SplitMix::new(ambient.chance());
    // The id of a review stands in its line of the log.
    let named_by = surroundings.redaction.text(&title(&question.text));
    let opened = journal.run(move |unit| {
        let id = hexed_id(unit, &named_by, &mut dice)?;
        let changes = opening(&id, question, folders.default_output_dir(id.as_str()), token);
        let seq = unit.apply(&id, EntryKind::DialogueCreated, at, &changes)?;
        Ok(Written::one(seq, changes))
    });
    let Written { last, changes, .. } = opened.await?;
    let transcript = Transcript::begin(at, &changes).ok_or(StoreError::NotRun)?;
    let id = &transcript.opening.dialogue_id;
    // The dialogue is new: no other run can have it.
    let claim = owner.claim(id).ok_or(StoreError::NotRun)?;
    observer.saw(id, at, &changes);
    Ok(Deliberation::new(transcript, last, claim, connections, surroundings))
}

fn opening(id: &DialogueId, question: Question, output_dir: String, owner: String) -> Vec<Change> {
    let Question { text, rehearsal, plan } = question;
    let (protocol, title) = match plan.gate {
        Some(_) => (Protocol::Review, text.clone()),
        None => (Protocol::Council, title(&text)),
    };
    let mut changes = vec![Change::DialogueOpened(Opening {
        dialogue_id: id.clone(),
        title,
        question: (protocol == Protocol::Council).then_some(text),
        background: None,
        protocol,
        rehearsal,
        convergence_percent: 100,
        panel_seed: None,
        output_dir,
    })];
    let names = match protocol {
        Protocol::Review => ("Deliberator", "Adjudicator"),
        Protocol::Council | Protocol::Alignment => ("Participant", "Chair"),
    };
    changes.extend(plan.seats.iter().map(|seat| Change::ExpertAdded(expert(seat, names))));
    changes.push(Change::RunPlanned(Box::new(plan)));
    changes.push(Change::RunStarted { owner });
    changes
}

/// The first line of the question, cut where a list would cut it.
fn title(question: &str) -> String {
    let line = question.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("Question");
    trimmed_head(line, TITLE_CHARS_MAX)
}

/// A seat as an expert of the record; what those who speak and who chair are called there
/// depends on the protocol.
fn expert(seat: &Seat, (speaker, chair): (&str, &str)) -> Profile {
    let roles = [(Role::Participant, speaker), (Role::Chair, chair)];
    let role = roles.iter().find(|(role, _)| seat.roles.contains(role));
    // Whoever has no role in the rounds is there for the ending.
    let role = role.map_or("Auditor", |(_, name)| name);
    let mut profile = Profile::new(seat.name.clone(), role, Tier::Core, Source::Pool);
    profile.description = Some(format!("{} ({})", seat.model, seat.family));
    profile
}
