//! Ids of dialogues that are opened by the hundred.

use crate::domain::dice::SplitMix;
use crate::domain::ids::DialogueId;
use crate::domain::slug;
use crate::error::Error;
use crate::store::{StoreError, Unit};

/// The slug of the title and eight hex digits: never exhausted.
pub(crate) fn hexed_id(
    unit: &mut dyn Unit,
    title: &str,
    dice: &mut SplitMix,
) -> Result<DialogueId, Error> {
    loop {
        let text = format!("{}-{:08x}", slug::of_title(title), dice.roll() >> 32);
        let malformed = |_| StoreError::Malformed { what: "dialogue id", text: text.clone() };
        let id = text.parse().map_err(malformed)?;
        if !unit.is_taken(&id)? {
            return Ok(id);
        }
    }
}
