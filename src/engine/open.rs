//! Opens the dialogue of a run and writes its plan down.

use super::connections::Connections;
use super::deliberation::{Deliberation, Surroundings};
use super::owner::Owner;
use crate::domain::change::{Change, EntryKind};
use crate::domain::dialogue::{Opening, Protocol};
use crate::domain::expert::{Profile, Source, Tier};
use crate::domain::ids::DialogueId;
use crate::domain::plan::{Plan, Role, Seat};
use crate::domain::slug;
use crate::domain::transcript::Transcript;
use crate::error::Error;
use crate::files::Folders;
use crate::store::StoreError;

/// The title is what lists show; the question itself may be pages long.
const TITLE_CHARS_MAX: usize = 100;

/// What a council is asked.
#[derive(Debug, Clone)]
pub struct Question {
    pub text: String,
    pub rehearsal: bool,
    pub plan: Plan,
}

/// Opens a council; from here on it can be resumed.
pub async fn open(
    question: Question,
    connections: Connections,
    owner: &Owner,
    folders: &Folders,
    surroundings: Surroundings,
) -> Result<Deliberation, Error> {
    let title = title(&question.text);
    let at = surroundings.ambient.now();
    let chance = surroundings.ambient.chance();
    let dialogue_id = id(&title, chance)
        .ok_or(StoreError::Malformed { what: "dialogue id", text: title.clone() })?;
    let opening = Opening {
        output_dir: folders.default_output_dir(dialogue_id.as_str()),
        dialogue_id: dialogue_id.clone(),
        title,
        question: Some(question.text),
        background: None,
        protocol: Protocol::Council,
        rehearsal: question.rehearsal,
        convergence_percent: 100,
        panel_seed: None,
    };
    let mut changes = vec![Change::DialogueOpened(opening)];
    changes.extend(question.plan.seats.iter().map(expert).map(Change::ExpertAdded));
    changes.push(Change::RunPlanned(Box::new(question.plan)));
    changes.push(Change::RunStarted { owner: owner.token.clone() });
    let changes =
        surroundings.journal.append(&dialogue_id, EntryKind::DialogueCreated, at, changes).await?;
    let transcript = Transcript::begin(at, &changes).ok_or(StoreError::NotRun)?;
    surroundings.observer.saw(&dialogue_id, at, &changes);
    Ok(Deliberation::new(transcript, connections, surroundings))
}

/// The slug of the title and eight hex digits: never exhausted.
fn id(title: &str, chance: u64) -> Option<DialogueId> {
    let digits = chance >> 32 ^ chance & 0xffff_ffff;
    format!("{}-{digits:08x}", slug::of_title(title)).parse().ok()
}

/// The first line of the question, cut where a list would cut it.
fn title(question: &str) -> String {
    let line = question.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("Question");
    match line.char_indices().nth(TITLE_CHARS_MAX) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()),
    }
}

fn expert(seat: &Seat) -> Profile {
    let role = if seat.roles.contains(&Role::Participant) { "Participant" } else { "Chair" };
    let mut profile = Profile::new(seat.name.clone(), role, Tier::Core, Source::Pool);
    profile.description = Some(format!("{} ({})", seat.model, seat.family));
    profile
}
