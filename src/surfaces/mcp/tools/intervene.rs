//! `deliberation_intervene`

use schemars::JsonSchema;
use serde_json::Value;

use super::deliberation::DELIBERATION;
use super::tool::{Run, Tool, Work};
use crate::domain::ids::DialogueId;
use crate::domain::intervention::{Deed, Intervention, TEXT_CHARS_MAX};
use crate::domain::limits::LINE_CHARS_MAX;
use crate::domain::refusal::{Code, Fault};
use crate::domain::transcript::Transcript;
use crate::engine::unknown_seat;
use crate::error::Error;
use crate::operations::read_strictly;
use crate::record::read_dialogue_id;
use crate::surfaces::mcp::schema;

pub(super) const TOOL: Tool = Tool {
    name: "deliberation_intervene",
    about: "Speak to a running council. whisper: everybody who is asked from now on reads it, or \
        the seat `to` alone. direct: all take it up when the next round begins; without \
        `confirmed` it is only restated. stop: it concludes on what was heard.",
    arguments: schema::arguments::<Arguments>,
    answer: DELIBERATION,
    work: Work::Run(Run::Intervene),
};

#[expect(dead_code, reason = "describes what `InterveneArguments` reads")]
#[derive(JsonSchema)]
struct Arguments {
    dialogue_id: String,
    #[schemars(schema_with = "schema::word::<Deed>")]
    kind: Deed,
    text: Option<String>,
    to: Option<String>,
    confirmed: Option<bool>,
}

/// Arguments of `deliberation_intervene`.
#[derive(Debug)]
pub(in crate::surfaces::mcp) struct InterveneArguments {
    pub id: DialogueId,
    pub kind: Deed,
    pub text: String,
    to: Option<String>,
    pub confirmed: bool,
}

impl InterveneArguments {
    pub(in crate::surfaces::mcp) fn read(arguments: &Value) -> Result<Self, Error> {
        let known = ["dialogue_id", "kind", "text", "to", "confirmed"];
        read_strictly(arguments, &known, |fields, notes| {
            let kind = fields.required_word("kind", notes);
            // `check_intervention` checks its length.
            let text = fields.text("text", TEXT_CHARS_MAX, notes);
            if matches!(kind, Some(Deed::Whisper | Deed::Direct)) && !fields.has("text") {
                notes.fault(fields.missing("text"));
            }
            let to = fields.text("to", LINE_CHARS_MAX, notes);
            if to.is_some() && kind != Some(Deed::Whisper) {
                let fault = Fault::new(Code::NotSupported, "only a whisper is to one seat alone");
                notes.fault(fault.field("to").suggest("leave 'to' out"));
            }
            let confirmed = fields.boolean("confirmed", notes);
            let id = read_dialogue_id(fields, notes);
            Some(Self { id: id?, kind: kind?, text: text.unwrap_or_default(), to, confirmed })
        })
    }

    /// A whisper, with its seat if one was named.
    pub(in crate::surfaces::mcp) fn whisper(
        &self,
        transcript: &Transcript,
    ) -> Result<Intervention, Fault> {
        let seat = |name: &String| name.parse().map_err(|_| unknown_seat(transcript, name));
        let to = self.to.as_ref().map(seat).transpose()?;
        Ok(Intervention::Whisper { text: self.text.clone(), to })
    }
}
