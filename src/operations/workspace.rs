//! What every operation works with: the store, the clock, the folders.

use std::sync::Arc;

use crate::ambient::Ambient;
use crate::domain::dialogue::{Dialogue, Protocol};
use crate::domain::ids::DialogueId;
use crate::domain::refusal::{Code, Fault};
use crate::error::Error;
use crate::files::Folders;
use crate::record::no_dialogue;
use crate::store::{Store, Unit};

#[derive(Debug)]
pub struct Workspace {
    pub store: Arc<dyn Store>,
    pub ambient: Arc<dyn Ambient>,
    pub folders: Folders,
    /// What a dialogue asks for when its creator does not say, where the project does.
    pub convergence_percent: Option<u8>,
}

/// The dialogue, or the refusal that there is none.
pub(super) fn find(unit: &mut dyn Unit, id: &DialogueId) -> Result<Dialogue, Error> {
    unit.dialogue(id)?.ok_or_else(|| no_dialogue(id.as_str()).into())
}

/// The dialogue, as long as something can be added to what was said: a conclusion rests on the
/// record that its Synthesizer saw.
pub(super) fn find_open(unit: &mut dyn Unit, id: &DialogueId) -> Result<Dialogue, Error> {
    let dialogue = find(unit, id)?;
    if unit.is_ending(id)? {
        let message =
            format!("the conclusion of '{id}' was begun: nothing is added to it any more");
        let fault = Fault::new(Code::DialogueClosed, message);
        let hint = format!("`plenary resume {id}` goes on with it, `plenary show {id}` shows it");
        return Err(fault.suggest(hint).into());
    }
    Ok(dialogue)
}

/// Nobody adds to a review by hand: what was not asked of its seats was not said by them.
pub(super) fn refuse_review(unit: &mut dyn Unit, id: &DialogueId) -> Result<(), Error> {
    if find(unit, id)?.opening.protocol != Protocol::Review {
        return Ok(());
    }
    let fault = Fault::new(Code::NotSupported, format!("'{id}' is a review: nobody adds to it"));
    let hint = format!(
        "`plenary resume {id}` goes on with it; `plenary override` records a person's decision"
    );
    Err(fault.suggest(hint).into())
}
