//! What every operation works with: the store, the clock, the folders.

use std::sync::Arc;

use crate::ambient::Ambient;
use crate::domain::dialogue::Dialogue;
use crate::domain::ids::DialogueId;
use crate::error::Error;
use crate::files::Folders;
use crate::record::no_dialogue;
use crate::store::{Store, Unit};

#[derive(Debug)]
pub struct Workspace {
    pub store: Arc<dyn Store>,
    pub ambient: Arc<dyn Ambient>,
    pub folders: Folders,
}

/// The dialogue, or the refusal that there is none.
pub(super) fn find(unit: &mut dyn Unit, id: &DialogueId) -> Result<Dialogue, Error> {
    unit.dialogue(id)?.ok_or_else(|| no_dialogue(id.as_str()).into())
}
