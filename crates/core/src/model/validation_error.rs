//! Validation errors of a request, in a form that a Judge can act on.
//!
//! A [`ValidationError`] is one problem with one item; [`ValidationErrors`] has all of them. Codes
//! are stable, because programs branch on them.

use serde_json::{Value, json};

use crate::model::limits::ERROR_VALUE_CHARS_MAX;
use crate::model::string_enum::words;
use crate::model::text::truncate_after;

words! {
    /// The kind of problem. The seed defines the first seven.
    pub enum ErrorCode {
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
        AmbiguousId = "ambiguous_id",
        DialogueClosed = "dialogue_closed",
        TooManySimilarTitles = "too_many_similar_titles",
        PathNotAllowed = "path_not_allowed",
        InvalidSlug = "invalid_slug",
        InvalidVote = "invalid_vote",
        InvalidJson = "invalid_json",
        NotSupported = "not_supported",
        EthosNotApproved = "ethos_not_approved",
        EthosImmutable = "ethos_immutable",
        EthosConflictOpen = "ethos_conflict_open",
        EthosComplianceMissing = "ethos_compliance_missing",
        EthosViolationUnacknowledged = "ethos_violation_unacknowledged",
        RuleNotFound = "rule_not_found",
        DomainCycle = "domain_cycle",
        CodeTaken = "code_taken",
    }
}

impl ErrorCode {
    /// The rule family of the code: the seed's five validation steps, and limits.
    pub fn constraint_name(self) -> &'static str {
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
            | Self::DialogueNotFound
            | Self::RuleNotFound
            | Self::CodeTaken
            | Self::AmbiguousId => "referential",
            Self::InvalidRefTarget
            | Self::RefineTypeMismatch
            | Self::NotAuthorized
            | Self::DomainCycle
            | Self::EthosComplianceMissing
            | Self::EthosViolationUnacknowledged
            | Self::PathNotAllowed => "semantic",
            Self::InvalidStatusTransition
            | Self::InvalidRound
            | Self::RoundAlreadyRegistered
            | Self::NotConverged
            | Self::NotConcluded
            | Self::EthosNotApproved
            | Self::EthosImmutable
            | Self::EthosConflictOpen
            | Self::DialogueClosed => "lifecycle",
            Self::RoundCapacityExceeded | Self::FieldTooLong | Self::TooManySimilarTitles => {
                "limit"
            }
        }
    }
}

impl ErrorCode {
    /// Default hint of the code.
    fn default_hint(self) -> &'static str {
        match self {
            Self::MissingField => "add the field",
            Self::InvalidType => "send a value of the type that the message names",
            Self::InvalidEnum
            | Self::InvalidEntityType
            | Self::InvalidRefType
            | Self::InvalidStatusTransition => "use one of the values that the message lists",
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
                "`plenary dialogue progress ID` shows the round"
            }
            Self::RoundCapacityExceeded => {
                "merge similar items, or register some in the next round"
            }
            Self::NotAuthorized => "name a contributor or the judge in 'by'",
            Self::NotConverged => "register another round, or force the verdict with a warning",
            Self::NotConcluded => "conclude the dialogue first",
            Self::VerdictNotFound => "`plenary log tail` shows the last verdicts",
            Self::DialogueNotFound => "`plenary list` shows the dialogues of this store",
            Self::AmbiguousId => "write more of the id",
            Self::DialogueClosed => "create a new dialogue to continue",
            Self::PathNotAllowed => "choose a path inside the allowed folders",
            Self::InvalidSlug => "use lower-case letters, digits, '-' and '_'",
            Self::InvalidVote => "write '11-1', '11-1-2' or 'unanimous'",
            Self::InvalidJson => "send one JSON object with the operation's fields",
            Self::NotSupported => "leave the field out",
            Self::EthosNotApproved => "synthesize and approve the ethos first",
            Self::EthosImmutable => "synthesize the next version",
            Self::EthosConflictOpen => "resolve the conflicts with `plenary ethos resolve`",
            Self::EthosComplianceMissing => "give each rule a status in 'ethos_compliance'",
            Self::EthosViolationUnacknowledged => "register a tension that challenges the rule",
            Self::RuleNotFound => "`plenary ethos check` lists the rules of a dialogue",
            Self::DomainCycle => "remove one of the parents in the path",
            Self::CodeTaken => "choose another code or name",
        }
    }
}

/// The item of the request that an error is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorItem {
    /// The request as a whole.
    Whole,
    /// An item to register, by its local id (if it has one).
    Local { item_type: &'static str, local_id: Option<String> },
    /// A reference, move or update, by the id of its source.
    Source { item_type: &'static str, source_id: Option<String> },
}

/// One problem with one item.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidationError {
    pub item: ErrorItem,
    pub code: ErrorCode,
    pub message: String,
    pub field: Option<String>,
    pub value: Option<Value>,
    pub valid_options: Vec<String>,
    pub suggestion: Option<String>,
    pub context: Option<Value>,
}

impl ValidationError {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            item: ErrorItem::Whole,
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
    pub fn about_item(mut self, item: &ErrorItem) -> Self {
        self.item = item.clone();
        self
    }

    #[must_use]
    pub fn with_field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    #[must_use]
    pub fn with_value(mut self, value: impl Into<Value>) -> Self {
        self.value = Some(truncate_value(value.into()));
        self
    }

    #[must_use]
    pub fn with_options<T: ToString>(mut self, options: impl IntoIterator<Item = T>) -> Self {
        self.valid_options = options.into_iter().map(|option| option.to_string()).collect();
        self
    }

    #[must_use]
    pub fn with_suggestion(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    #[must_use]
    pub fn with_context(mut self, context: Value) -> Self {
        self.context = Some(context);
        self
    }

    /// The suggestion of the error, or the default hint of its code.
    pub fn hint(&self) -> &str {
        self.suggestion.as_deref().unwrap_or_else(|| self.code.default_hint())
    }

    /// Builds the error as an object of the seed's error format.
    pub fn to_document(&self) -> Value {
        let (item_type, local_id, source_id) = match &self.item {
            ErrorItem::Whole => ("batch", None, None),
            ErrorItem::Local { item_type, local_id } => (*item_type, local_id.as_deref(), None),
            ErrorItem::Source { item_type, source_id } => (*item_type, None, source_id.as_deref()),
        };
        let options = Some(&self.valid_options).filter(|options| !options.is_empty());
        let mut document = json!({
            "item_type": item_type,
            "local_id": local_id,
            "source_id": source_id,
            "error_code": self.code,
            "message": self.message,
            "field": self.field,
            "value": self.value,
            "constraint": self.code.constraint_name(),
            "valid_options": options,
            "suggestion": self.hint(),
            "context": self.context,
        });
        if let Some(fields) = document.as_object_mut() {
            // A null may be the value that the error is about.
            let has_value = self.value.is_some();
            fields.retain(|name, value| !value.is_null() || (name == "value" && has_value));
        }
        document
    }
}

/// Cuts long values, so that an error message stays readable and small.
fn truncate_value(value: Value) -> Value {
    let text = match &value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => value.to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) => return value,
    };
    let shown = truncate_after(&text, ERROR_VALUE_CHARS_MAX);
    if shown == text { value } else { Value::String(shown) }
}

/// All problems of a request. The request changed nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidationErrors {
    pub errors: Vec<ValidationError>,
    envelope: ErrorEnvelope,
}

/// A batch always wraps its errors; other requests report a single error directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ErrorEnvelope {
    WhenSeveral,
    Always,
}

impl ValidationErrors {
    pub fn new(faults: Vec<ValidationError>) -> Self {
        Self { errors: faults, envelope: ErrorEnvelope::WhenSeveral }
    }

    /// Uses the seed's `batch_validation_failed` envelope.
    #[must_use]
    pub fn of_batch(self) -> Self {
        Self { envelope: ErrorEnvelope::Always, ..self }
    }

    /// Returns true if any error has this code.
    pub fn has_code(&self, code: ErrorCode) -> bool {
        self.errors.iter().any(|fault| fault.code == code)
    }

    /// Returns the error if there is only one and no envelope is required.
    pub fn single_error(&self) -> Option<&ValidationError> {
        match (self.envelope, self.errors.as_slice()) {
            (ErrorEnvelope::WhenSeveral, [fault]) => Some(fault),
            (ErrorEnvelope::WhenSeveral | ErrorEnvelope::Always, _) => None,
        }
    }

    pub fn summary_message(&self) -> String {
        match (self.single_error(), self.errors.len()) {
            (Some(fault), _) => fault.message.clone(),
            (None, 1) => "1 item failed validation".to_owned(),
            (None, count) => format!("{count} items failed validation"),
        }
    }

    /// Builds the error document of the seed.
    pub fn to_document(&self) -> Value {
        let Some(fault) = self.single_error() else {
            return json!({
                "status": "error",
                "error_code": "batch_validation_failed",
                "message": self.summary_message(),
                "errors": self.errors.iter().map(ValidationError::to_document).collect::<Vec<_>>(),
                "suggestion": "Fix all errors and resubmit the entire batch",
            });
        };
        let mut document = json!({ "status": "error" });
        if let (Value::Object(all), Value::Object(own)) = (&mut document, fault.to_document()) {
            let is_named = fault.item != ErrorItem::Whole;
            all.extend(own.into_iter().filter(|(key, _)| is_named || key != "item_type"));
        }
        document
    }
}

impl From<ValidationError> for ValidationErrors {
    fn from(fault: ValidationError) -> Self {
        Self::new(vec![fault])
    }
}
