//! Validation errors of a request, in a form that a Judge can act on.
//!
//! A [`ValidationError`] is one problem with one item; [`ValidationErrors`] has all of them. Codes
//! are stable, because programs branch on them.

use serde::Serialize;
use serde_json::{Value, json};

use super::limits::ECHO_CHARS_MAX;
use super::shortened::head;
use super::words::words;

words! {
    /// The kind of problem. The seed defines the first seven.
    pub enum Code {
        InvalidEntityType = "invalid_entity_type",
        InvalidRefType = "invalid_ref_type",
        TypeIdMismatch = "type_id_mismatch",
        InvalidRefTarget = "invalid_ref_target",
        RefineTypeMismatch = "refine_type_mismatch",
        TargetNotFound = "target_not_found",
        InvalidStatusTransition = "invalid_status_transition",
        MissingField = "missing_field",
        InvalidType = "invalid_type",
        InvalidEnum = "invalid_enum",
        InvalidLocalId = "invalid_local_id",
        InvalidDisplayId = "invalid_display_id",
        DuplicateLocalId = "duplicate_local_id",
        ExpertNotInDialogue = "expert_not_in_dialogue",
        ExpertExists = "expert_exists",
        InvalidRound = "invalid_round",
        RoundAlreadyRegistered = "round_already_registered",
        RoundCapacityExceeded = "round_capacity_exceeded",
        NotAuthorized = "not_authorized",
        NotConverged = "not_converged",
        NotConcluded = "not_concluded",
        VerdictExists = "verdict_exists",
        VerdictNotFound = "verdict_not_found",
        FieldTooLong = "field_too_long",
        DialogueNotFound = "dialogue_not_found",
        DialogueClosed = "dialogue_closed",
        TooManySimilarTitles = "too_many_similar_titles",
        PathNotAllowed = "path_not_allowed",
        InvalidSlug = "invalid_slug",
        InvalidVote = "invalid_vote",
        InvalidJson = "invalid_json",
        NotSupported = "not_supported",
    }
}

impl Code {
    /// The rule family of the code: the seed's five validation steps, and limits.
    pub fn constraint(self) -> &'static str {
        match self {
            Self::InvalidEntityType
            | Self::MissingField
            | Self::InvalidType
            | Self::InvalidEnum
            | Self::InvalidVote
            | Self::InvalidJson
            | Self::NotSupported => "type_enum",
            Self::InvalidRefType => "ref_enum",
            Self::TypeIdMismatch
            | Self::InvalidLocalId
            | Self::InvalidDisplayId
            | Self::DuplicateLocalId
            | Self::InvalidSlug => "type_consistency",
            Self::TargetNotFound
            | Self::ExpertNotInDialogue
            | Self::ExpertExists
            | Self::VerdictExists
            | Self::VerdictNotFound
            | Self::DialogueNotFound => "referential",
            Self::InvalidRefTarget
            | Self::RefineTypeMismatch
            | Self::NotAuthorized
            | Self::PathNotAllowed => "semantic",
            Self::InvalidStatusTransition
            | Self::InvalidRound
            | Self::RoundAlreadyRegistered
            | Self::NotConverged
            | Self::NotConcluded
            | Self::DialogueClosed => "lifecycle",
            Self::RoundCapacityExceeded | Self::FieldTooLong | Self::TooManySimilarTitles => {
                "limit"
            }
        }
    }
}

impl Code {
    /// Default hint of the code.
    fn hint(self) -> &'static str {
        match self {
            Self::MissingField => "add the field",
            Self::InvalidType => "send what the message asks for",
            Self::InvalidEnum
            | Self::InvalidEntityType
            | Self::InvalidRefType
            | Self::InvalidStatusTransition => "use one of those the message names",
            Self::FieldTooLong => "shorten it, or split it over several items",
            Self::InvalidLocalId => "write EXPERT-P0101: slug in capitals, kind, round, number",
            Self::DuplicateLocalId => "number the items of one expert 01, 02, 03",
            Self::TypeIdMismatch => "use an id of the kind that the message names",
            Self::InvalidRefTarget | Self::RefineTypeMismatch => "point at another item",
            Self::TargetNotFound | Self::InvalidDisplayId => {
                "check the id: `plenary show` lists them"
            }
            Self::ExpertNotInDialogue => "create the expert first, or check the slug",
            Self::ExpertExists | Self::VerdictExists | Self::TooManySimilarTitles => {
                "choose another name"
            }
            Self::InvalidRound | Self::RoundAlreadyRegistered => {
                "ask for `progress` to see the round"
            }
            Self::RoundCapacityExceeded => "merge what is alike, or go on in the next round",
            Self::NotAuthorized => "let a contributor or the judge do it",
            Self::NotConverged => "hold another round, or force the verdict with a warning",
            Self::NotConcluded => "conclude the dialogue first",
            Self::VerdictNotFound => "`plenary log tail` shows the last verdicts",
            Self::DialogueNotFound => "`plenary list` shows the dialogues of this store",
            Self::DialogueClosed => "create a new dialogue to go on",
            Self::PathNotAllowed => "choose a path inside the allowed folders",
            Self::InvalidSlug => "use lower-case letters, digits, '-' and '_'",
            Self::InvalidVote => "write '11-1', '11-1-2' or 'unanimous'",
            Self::InvalidJson => "send one JSON object with the operation's fields",
            Self::NotSupported => "leave the field out",
        }
    }
}

/// The item of the request that an error is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// The request as a whole.
    Whole,
    /// An item to register, by its local id (if it has one).
    Local { item_type: &'static str, local_id: Option<String> },
    /// A reference, move or update, by the id of its source.
    Source { item_type: &'static str, source_id: Option<String> },
}

/// One problem with one item.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub item: Item,
    pub code: Code,
    pub message: String,
    pub field: Option<String>,
    pub value: Option<Value>,
    pub valid_options: Vec<String>,
    pub suggestion: Option<String>,
    pub context: Option<Value>,
}

impl Fault {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            item: Item::Whole,
            code,
            message: message.into(),
            field: None,
            value: None,
            valid_options: Vec::new(),
            suggestion: None,
            context: None,
        }
    }

    #[must_use]
    pub fn about(mut self, item: &Item) -> Self {
        self.item = item.clone();
        self
    }

    #[must_use]
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    #[must_use]
    pub fn value(mut self, value: impl Into<Value>) -> Self {
        self.value = Some(echo(value.into()));
        self
    }

    #[must_use]
    pub fn options<T: ToString>(mut self, options: impl IntoIterator<Item = T>) -> Self {
        self.valid_options = options.into_iter().map(|option| option.to_string()).collect();
        self
    }

    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    #[must_use]
    pub fn context(mut self, context: Value) -> Self {
        self.context = Some(context);
        self
    }

    /// The suggestion of the error, or the default hint of its code.
    pub fn hint(&self) -> &str {
        self.suggestion.as_deref().unwrap_or_else(|| self.code.hint())
    }

    /// Builds the error as an object of the seed's error format.
    pub fn document(&self) -> Value {
        #[derive(Serialize)]
        struct Document<'a> {
            item_type: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            local_id: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            source_id: Option<&'a str>,
            error_code: Code,
            message: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            field: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            value: Option<&'a Value>,
            constraint: &'a str,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            valid_options: &'a [String],
            suggestion: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            context: Option<&'a Value>,
        }
        let (item_type, local_id, source_id) = match &self.item {
            Item::Whole => ("batch", None, None),
            Item::Local { item_type, local_id } => (*item_type, local_id.as_deref(), None),
            Item::Source { item_type, source_id } => (*item_type, None, source_id.as_deref()),
        };
        let document = Document {
            item_type,
            local_id,
            source_id,
            error_code: self.code,
            message: &self.message,
            field: self.field.as_deref(),
            value: self.value.as_ref(),
            constraint: self.code.constraint(),
            valid_options: &self.valid_options,
            suggestion: self.hint(),
            context: self.context.as_ref(),
        };
        json!(document)
    }
}

/// Cuts long values, so that an error message stays readable and small.
fn echo(value: Value) -> Value {
    let text = match &value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => value.to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) => return value,
    };
    let shown = head(&text, ECHO_CHARS_MAX);
    if shown == text { value } else { Value::String(shown) }
}

/// All problems of a request. The request changed nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    pub faults: Vec<Fault>,
    envelope: Envelope,
}

/// A batch always wraps its errors; other requests report a single error directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Envelope {
    WhenSeveral,
    Always,
}

impl Refusal {
    pub fn new(faults: Vec<Fault>) -> Self {
        Self { faults, envelope: Envelope::WhenSeveral }
    }

    /// Uses the seed's `batch_validation_failed` envelope.
    #[must_use]
    pub fn of_batch(self) -> Self {
        Self { envelope: Envelope::Always, ..self }
    }

    /// Returns true if any error has this code.
    pub fn has(&self, code: Code) -> bool {
        self.faults.iter().any(|fault| fault.code == code)
    }

    /// Returns the error if there is only one and no envelope is required.
    pub fn lone(&self) -> Option<&Fault> {
        match (self.envelope, self.faults.as_slice()) {
            (Envelope::WhenSeveral, [fault]) => Some(fault),
            (Envelope::WhenSeveral | Envelope::Always, _) => None,
        }
    }

    pub fn message(&self) -> String {
        match (self.lone(), self.faults.len()) {
            (Some(fault), _) => fault.message.clone(),
            (None, 1) => "1 item failed validation".to_owned(),
            (None, count) => format!("{count} items failed validation"),
        }
    }

    /// Builds the error document of the seed.
    pub fn document(&self) -> Value {
        let Some(fault) = self.lone() else {
            return json!({
                "status": "error",
                "error_code": "batch_validation_failed",
                "message": self.message(),
                "errors": self.faults.iter().map(Fault::document).collect::<Vec<_>>(),
                "suggestion": "Fix all errors and resubmit the entire batch",
            });
        };
        let mut document = json!({ "status": "error" });
        if let (Value::Object(all), Value::Object(own)) = (&mut document, fault.document()) {
            let is_named = fault.item != Item::Whole;
            all.extend(own.into_iter().filter(|(key, _)| is_named || key != "item_type"));
        }
        document
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::new(vec![fault])
    }
}
