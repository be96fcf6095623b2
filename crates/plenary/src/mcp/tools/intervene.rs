//! `deliberation_intervene`

use plenary_core::dialogue::diagnostics::Diagnostics;
use plenary_core::dialogue::request::{OperationRequest, ReadFields};
use plenary_core::model::ids::DialogueId;
use plenary_core::model::inlined_schema::word_schema;
use plenary_core::model::intervention::{
    INTERVENTION_CHARS_MAX, Intervention, InterventionCommand,
};
use plenary_core::model::limits::LINE_CHARS_MAX;
use plenary_core::model::run_state::RunState;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_engine::engine::interventions::unknown_seat;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::schema::argument_schema;
use crate::mcp::tools::deliberation::DELIBERATION;
use crate::mcp::tools::tool::{Run, Tool, Work};

pub(crate) const TOOL: Tool = Tool {
    name: "deliberation_intervene",
    about: "Speak to a running council. whisper: everybody who is asked from now on reads it, or \
        the seat `to` alone. direct: all take it up when the next round begins; without \
        `confirmed` it is only restated. stop: it concludes on what was heard.",
    arguments: argument_schema::<InterveneRequest>,
    answer: DELIBERATION,
    work: Work::Run(Run::Intervene),
};

/// Arguments of `deliberation_intervene`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct InterveneRequest {
    pub dialogue_id: DialogueId,
    #[schemars(schema_with = "word_schema::<InterventionCommand>")]
    pub kind: InterventionCommand,
    #[serde(default)]
    #[schemars(length(max = INTERVENTION_CHARS_MAX))]
    pub text: String,
    #[schemars(length(max = LINE_CHARS_MAX))]
    to: Option<String>,
    #[serde(default)]
    pub confirmed: bool,
}

impl OperationRequest for InterveneRequest {
    fn validate(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
        let kind: Option<InterventionCommand> = fields.get("kind");
        if matches!(kind, Some(InterventionCommand::Whisper | InterventionCommand::Direct))
            && !fields.given.has("text")
        {
            notes.add_error(fields.given.missing_field("text"));
        }
        if fields.get::<String>("to").is_some() && kind != Some(InterventionCommand::Whisper) {
            let fault = ValidationError::new(
                ErrorCode::NotSupported,
                "only a whisper is to one seat alone",
            );
            notes.add_error(fault.with_field("to").with_suggestion("leave 'to' out"));
        }
    }
}

impl InterveneRequest {
    /// A whisper, with its seat if one was named.
    pub(crate) fn whisper(&self, transcript: &RunState) -> Result<Intervention, ValidationError> {
        let seat = |name: &String| name.parse().map_err(|_| unknown_seat(transcript, name));
        let to = self.to.as_ref().map(seat).transpose()?;
        Ok(Intervention::Whisper { text: self.text.clone(), to })
    }
}
