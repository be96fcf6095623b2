//! Arguments of `verdict_register` and their rules.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::dialogue::diagnostics::{Diagnostics, not_an_id, wrong_kind};
use crate::dialogue::request::{OperationRequest, ReadFields};
use crate::dialogue::request_fields::truncate_echo;
use crate::ethos::compliance::GivenCompliance;
use crate::model::ids::{DialogueId, EntityKind, EntityTarget, ExpertSlug, JUDGE_SLUG, VerdictId};
use crate::model::limits::{LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::model::record::LookupRequest;
use crate::model::string_enum::{NULL_SAYS_SOMETHING, word_schema};
use crate::model::validation_error::{ErrorCode, ErrorItem, ValidationError};
use crate::model::verdict::{VerdictConfidence, VerdictType, VoteTally};

/// Arguments of `verdict_register`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct VerdictRequest {
    pub dialogue_id: DialogueId,
    /// final, V01, minority-esg …
    #[schemars(length(max = LINE_CHARS_MAX))]
    pub(crate) verdict_id: VerdictId,
    #[schemars(schema_with = "word_schema::<VerdictType>")]
    pub(crate) verdict_type: VerdictType,
    pub(crate) round: Option<u16>,
    /// Slug; null: the Judge.
    #[serde(default)]
    #[schemars(schema_with = "text_or_null")]
    pub(crate) author_expert: Option<String>,
    #[schemars(length(max = LINE_CHARS_MAX))]
    pub(crate) recommendation: String,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    pub(crate) description: String,
    #[schemars(inner(length(max = TEXT_CHARS_MAX)))]
    pub(crate) conditions: Option<Vec<String>>,
    /// 12-0, 10-1-1 or unanimous.
    #[schemars(length(max = LINE_CHARS_MAX))]
    pub(crate) vote: Option<VoteTally>,
    #[serde(default)]
    #[schemars(schema_with = "word_schema::<VerdictConfidence>")]
    pub(crate) confidence: Option<VerdictConfidence>,
    #[serde(default)]
    #[schemars(schema_with = "ids_of::<'T'>")]
    pub(crate) tensions_resolved: Option<Vec<EntityTarget>>,
    #[serde(default)]
    #[schemars(schema_with = "ids_of::<'T'>")]
    pub(crate) tensions_accepted: Option<Vec<EntityTarget>>,
    #[serde(default)]
    #[schemars(schema_with = "ids_of::<'R'>")]
    pub(crate) recommendations_adopted: Option<Vec<EntityTarget>>,
    #[serde(default)]
    #[schemars(schema_with = "ids_of::<'E'>")]
    pub(crate) key_evidence: Option<Vec<EntityTarget>>,
    #[serde(default)]
    #[schemars(schema_with = "ids_of::<'C'>")]
    pub(crate) key_claims: Option<Vec<EntityTarget>>,
    /// The experts of a minority verdict.
    #[schemars(inner(length(max = LINE_CHARS_MAX)))]
    pub(crate) supporting_experts: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) forced: bool,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    pub(crate) warning: Option<String>,
    /// {rules: [{rule_id, status, reason, ids}]}
    #[serde(default)]
    #[schemars(schema_with = "compliance_schema")]
    pub(crate) ethos_compliance: Value,
}

/// The schema of a string that may be null. It lists no other type: some clients send the typed
/// text unchanged only for a plain string.
fn text_or_null(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["string", "null"], "maxLength": LINE_CHARS_MAX, NULL_SAYS_SOMETHING: true,
    })
}

fn compliance_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "x-own-check": true })
}

/// The schema of a list of ids of the kind with this letter.
fn ids_of<const KIND: char>(_: &mut SchemaGenerator) -> Schema {
    let format = format!("id of {KIND}");
    let item = json!({ "type": "string", "maxLength": LINE_CHARS_MAX, "format": format });
    json_schema!({ "type": "array", "items": item })
}

impl OperationRequest for VerdictRequest {
    fn validate(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
        check_warning(fields, notes);
        check_type_requirements(fields, notes);
        if let Some(given) = fields.given.get("ethos_compliance") {
            GivenCompliance::read(given, &mut notes.errors);
        }
    }
}

/// A forced verdict needs a warning.
fn check_warning(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
    if fields.get("forced") != Some(true) {
        return;
    }
    let missing = fields.given.missing_field("warning");
    match fields.get::<String>("warning") {
        Some(text) if text.trim().is_empty() => notes.add_error(missing.with_value(text)),
        None if !fields.given.has("warning") => notes.add_error(missing),
        Some(_) | None => {}
    }
}

/// Returns the fault of a text that is not a verdict id.
pub(crate) fn verdict_id_fault(text: &str) -> Option<ValidationError> {
    if text.parse::<VerdictId>().is_ok() {
        return None;
    }
    let message = format!(
        "verdict_id '{}' is not a name: letters, digits, '-' and '_', such as 'final' or 'V01', and not an entity's id",
        truncate_echo(text)
    );
    Some(
        ValidationError::new(ErrorCode::InvalidSlug, message)
            .with_field("verdict_id")
            .with_value(text),
    )
}

/// Returns the fault of a text that is not a vote.
pub(crate) fn vote_fault(text: &str) -> Option<ValidationError> {
    if text.parse::<VoteTally>().is_ok() {
        return None;
    }
    let fault = ValidationError::new(
        ErrorCode::InvalidVote,
        format!("vote '{}' is not a tally", truncate_echo(text)),
    );
    Some(
        fault
            .with_field("vote")
            .with_value(text)
            .with_options(["N-M", "N-M-A", "unanimous"])
            .with_suggestion("write '11-1', '11-1-2' with two abstentions, or 'unanimous'"),
    )
}

/// Returns the fault of a text that is not the id of an entity of this kind.
pub(crate) fn target_fault(kind: EntityKind, field: &str, text: &str) -> Option<ValidationError> {
    let fault = match text.parse::<EntityTarget>() {
        Ok(target)
            if target.entity_kind() == kind && !matches!(target, EntityTarget::Position(_)) =>
        {
            return None;
        }
        Ok(_) => wrong_kind(field, kind, text),
        Err(_) => not_an_id(field, text),
    };
    Some(fault.about_item(&ErrorItem::Source {
        item_type: "verdict",
        source_id: Some(truncate_echo(text)),
    }))
}

/// A minority verdict needs supporting experts, a dissent needs an author.
fn check_type_requirements(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
    match fields.get("verdict_type") {
        Some(VerdictType::Minority) => {
            let supporters: Vec<String> = fields.get("supporting_experts").unwrap_or_default();
            if supporters.is_empty() {
                let fault = fields.given.missing_field("supporting_experts");
                notes.add_error(
                    fault.with_suggestion("a minority verdict needs 'supporting_experts'"),
                );
            }
        }
        Some(VerdictType::Dissent) => {
            let author: Option<String> = fields.get("author_expert");
            if author.is_none_or(|author| author == JUDGE_SLUG) {
                let fault = fields.given.missing_field("author_expert");
                notes.add_error(fault.with_suggestion("a dissent names the expert who objects"));
            }
        }
        Some(VerdictType::Interim | VerdictType::Final) | None => {}
    }
}

impl VerdictRequest {
    /// A verdict as a protocol gives it, without any of the optional fields.
    pub fn new(
        dialogue_id: DialogueId,
        verdict_id: VerdictId,
        verdict_type: VerdictType,
        recommendation: String,
        description: String,
    ) -> Self {
        Self {
            dialogue_id,
            verdict_id,
            verdict_type,
            round: None,
            author_expert: None,
            recommendation,
            description,
            conditions: None,
            vote: None,
            confidence: None,
            tensions_resolved: None,
            tensions_accepted: None,
            recommendations_adopted: None,
            key_evidence: None,
            key_claims: None,
            supporting_experts: None,
            forced: false,
            warning: None,
            ethos_compliance: Value::Null,
        }
    }

    #[must_use]
    pub fn with_round(self, round: u8) -> Self {
        Self { round: Some(round.into()), ..self }
    }

    /// The seat that decided; without one, or if it is called `judge`, the Judge.
    #[must_use]
    pub fn with_author(self, author: Option<&ExpertSlug>) -> Self {
        let author = author.map(ToString::to_string).filter(|author| author != JUDGE_SLUG);
        Self { author_expert: author, ..self }
    }

    #[must_use]
    pub fn accept_tensions(self, tensions: Vec<EntityTarget>) -> Self {
        Self { tensions_accepted: Some(tensions), ..self }
    }

    #[must_use]
    pub fn supported_by<'a>(self, experts: impl IntoIterator<Item = &'a ExpertSlug>) -> Self {
        let experts = experts.into_iter().map(ToString::to_string).collect();
        Self { supporting_experts: Some(experts), ..self }
    }

    #[must_use]
    pub fn with_vote(self, vote: VoteTally) -> Self {
        Self { vote: Some(vote), ..self }
    }

    /// The built-in Judge's requests do not pass `validate`, so this adds the faults again.
    pub(crate) fn compliance(&self, faults: &mut Vec<ValidationError>) -> Option<GivenCompliance> {
        let is_given = !self.ethos_compliance.is_null();
        is_given.then(|| GivenCompliance::read(&self.ethos_compliance, faults))
    }

    /// The expert who wrote it; `None` for the Judge.
    pub(crate) fn author(&self) -> Option<&str> {
        self.author_expert.as_deref().filter(|author| *author != JUDGE_SLUG)
    }

    pub fn lookup_request(&self) -> LookupRequest {
        let lists = [
            &self.tensions_resolved,
            &self.tensions_accepted,
            &self.recommendations_adopted,
            &self.key_evidence,
            &self.key_claims,
        ];
        let compliance = self.compliance(&mut Vec::new()).unwrap_or_default();
        let targets = lists.into_iter().flatten().flatten().chain(compliance.targets());
        LookupRequest {
            targets: targets.cloned().collect(),
            verdict: Some(self.verdict_id.clone()),
            ..LookupRequest::default()
        }
    }
}
