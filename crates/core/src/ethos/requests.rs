//! Requests about the ethos of a dialogue, and the constraints that `create` takes.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::dialogue::diagnostics::Diagnostics;
use crate::dialogue::request::{OperationRequest, ReadFields};
use crate::dialogue::request_fields::truncate_echo;
use crate::ethos::authoring::{number_constraint, plain_constraint};
use crate::ethos::library::PRIORITY_MAX;
use crate::ethos::rule_set::{ConflictResolution, ConstraintSource, EthosConstraint, EthosId};
use crate::ethos::synthesis::DomainChoice;
use crate::model::ids::DialogueId;
use crate::model::limits::{LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::model::string_enum::{word_schema, words};
use crate::model::validation_error::{ErrorCode, ValidationError};

words! {
    /// Operations on principles, tenets and ethos.
    pub enum EthosOp {
        Overview = "overview",
        PrincipleAdd = "principle_add",
        DomainAdd = "domain_add",
        TenetAdd = "tenet_add",
        LensAdd = "lens_add",
        ConstraintAdd = "constraint_add",
        Deprecate = "deprecate",
        Synthesize = "synthesize",
        Resolve = "resolve",
        Approve = "approve",
        Reject = "reject",
        Get = "get",
        Check = "check",
        Import = "import",
        Export = "export",
    }
}

words! {
    /// How conflicts are found.
    pub enum ConflictDetection {
        Code = "code",
        Model = "model",
    }
}

/// Arguments of `overview` and `export`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("x-also-known" = ["op"]))]
pub struct LibraryRequest {}

/// Arguments of `synthesize`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("x-also-known" = ["op"]))]
pub struct SynthesizeRequest {
    pub dialogue_id: DialogueId,
    /// [the dialogue's domain]
    pub domains: Option<Vec<DomainChoice>>,
    /// Approve if no conflict is open.
    #[serde(default)]
    pub approve: bool,
    #[serde(default)]
    #[schemars(schema_with = "word_schema::<ConflictDetection>")]
    pub detect: Option<ConflictDetection>,
}

/// Arguments of `resolve`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("x-also-known" = ["op"]))]
pub struct ResolveRequest {
    #[schemars(length(max = LINE_CHARS_MAX))]
    pub ethos_id: EthosId,
    pub conflict: u16,
    #[serde(default)]
    #[schemars(schema_with = "word_schema::<ConflictResolution>")]
    pub resolution: Option<ConflictResolution>,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    pub reason: Option<String>,
}

/// Arguments of `approve`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("x-also-known" = ["op"]))]
pub struct ApproveRequest {
    #[schemars(length(max = LINE_CHARS_MAX))]
    pub ethos_id: EthosId,
    #[schemars(length(max = LINE_CHARS_MAX))]
    pub by: Option<String>,
}

/// Arguments of `reject`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("x-also-known" = ["op"]))]
pub struct RejectRequest {
    #[schemars(length(max = LINE_CHARS_MAX))]
    pub ethos_id: EthosId,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    pub reason: String,
}

/// Arguments of `get`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("x-also-known" = ["op"]))]
pub struct GetRequest {
    #[schemars(length(max = LINE_CHARS_MAX))]
    pub ethos_id: Option<EthosId>,
    pub dialogue_id: Option<DialogueId>,
}

/// Arguments of `check`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("x-also-known" = ["op"]))]
pub struct CheckRequest {
    pub dialogue_id: DialogueId,
}

/// Arguments of `import`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("x-also-known" = ["op"]))]
pub struct ImportRequest {
    /// {principles, domains: [{…, tenets, lenses}]}
    #[schemars(schema_with = "document_schema")]
    pub document: Value,
}

fn document_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "x-own-check": true })
}

impl OperationRequest for LibraryRequest {}
impl OperationRequest for SynthesizeRequest {}
impl OperationRequest for ResolveRequest {}
impl OperationRequest for ApproveRequest {}
impl OperationRequest for RejectRequest {}
impl OperationRequest for CheckRequest {}

impl OperationRequest for GetRequest {
    fn validate(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
        if !fields.given.has("ethos_id") && !fields.given.has("dialogue_id") {
            notes.add_error(fields.given.missing_field("ethos_id").with_suggestion(
                "name the ethos with 'ethos_id' or its dialogue with 'dialogue_id'",
            ));
        }
    }
}

impl OperationRequest for ImportRequest {
    fn validate(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
        if !fields.given.has("document") {
            notes.add_error(fields.given.missing_field("document"));
        }
    }
}

/// Returns the fault of a text that is not the id of an ethos.
pub(crate) fn ethos_id_fault(text: &str) -> Option<ValidationError> {
    let shown = truncate_echo(text);
    text.parse::<EthosId>().is_err().then(|| {
        ValidationError::new(ErrorCode::TargetNotFound, format!("there is no ethos '{shown}'"))
            .with_field("ethos_id")
            .with_value(text)
            .with_suggestion("`plenary ethos` lists the ethos of all dialogues")
    })
}

/// The schema of `constraints` in `create`: texts or objects.
pub fn constraints_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": {}, "x-own-check": true })
}

/// Reads the constraints of `create`, each a text or `{label, description?, priority?}`, and gives
/// them ids.
pub fn read_constraints(given: &Value) -> Result<Vec<EthosConstraint>, ValidationError> {
    let fault = |code, message: &str, value: &Value| {
        ValidationError::new(code, message)
            .with_field("constraints")
            .with_value(value.clone())
            .with_suggestion("write texts, or {label, description, priority}")
    };
    let items = match given {
        Value::Null => return Ok(Vec::new()),
        Value::Array(items) => items.as_slice(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            std::slice::from_ref(given)
        }
    };
    let mut read = Vec::new();
    for item in items {
        let map = match item {
            Value::String(label) => Map::from_iter([("label".to_owned(), json!(label))]),
            Value::Object(map) => map.clone(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                let message = "a constraint is neither a text nor an object";
                return Err(fault(ErrorCode::InvalidType, message, item));
            }
        };
        let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::trim);
        let Some(label) = text("label").filter(|label| !label.is_empty()) else {
            return Err(fault(ErrorCode::MissingField, "a constraint has no label", item));
        };
        let description = text("description").filter(|text| !text.is_empty());
        let is_long = label.chars().count() > LINE_CHARS_MAX
            || description.is_some_and(|text| text.chars().count() > TEXT_CHARS_MAX);
        if is_long {
            return Err(fault(ErrorCode::FieldTooLong, "a constraint is too long", item));
        }
        let mut constraint = plain_constraint(label, ConstraintSource::Authored);
        constraint.description = description.map(str::to_owned);
        if let Some(priority) = map.get("priority").filter(|priority| !priority.is_null()) {
            let number = priority.as_u64().and_then(|number| u32::try_from(number).ok());
            let number = number.filter(|number| *number <= PRIORITY_MAX);
            constraint.priority = number.ok_or_else(|| {
                fault(
                    ErrorCode::InvalidType,
                    "the priority of a constraint is no whole number",
                    item,
                )
            })?;
        }
        read.push(number_constraint(constraint, &read)?);
    }
    Ok(read)
}
