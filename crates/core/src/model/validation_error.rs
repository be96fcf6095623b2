//! Validation errors of a request, in a form that a Judge can act on.
//!
//! A [`ValidationError`] is one problem with one item; [`ValidationErrors`] has all of them. Codes
//! are stable, because programs branch on them.

use serde_json::{Value, json};

use crate::model::limits::ERROR_VALUE_CHARS_MAX;
use crate::model::string_enum::words;
use crate::model::text::truncate_after;

/// Declares `ErrorCode`: variant, stored name, rule family and default hint.
macro_rules! error_codes {
    ($($variant:ident = $name:literal, $constraint:literal, $hint:literal;)+) => {
        words! {
            /// The kind of problem. The seed defines the first seven.
            pub enum ErrorCode { $($variant = $name,)+ }
        }

        impl ErrorCode {
            /// The rule family of the code: the seed's five validation steps, and limits.
            pub fn constraint_name(self) -> &'static str {
                match self { $(Self::$variant => $constraint,)+ }
            }

            /// Default hint of the code.
            fn default_hint(self) -> &'static str {
                match self { $(Self::$variant => $hint,)+ }
            }
        }
    };
}

error_codes! {
    InvalidEntityType = "invalid_entity_type", "type_enum",
        "use one of the values that the message lists";
    InvalidRefType = "invalid_ref_type", "ref_enum", "use one of the values that the message lists";
    TypeIdMismatch = "type_id_mismatch", "type_consistency",
        "use an id of the kind that the message names";
    InvalidRefTarget = "invalid_ref_target", "semantic", "point at another item";
    RefineTypeMismatch = "refine_type_mismatch", "semantic", "point at another item";
    TargetNotFound = "target_not_found", "referential", "check the id: `plenary show` lists them";
    InvalidStatusTransition = "invalid_status_transition", "lifecycle",
        "use one of the values that the message lists";
    MissingField = "missing_field", "type_enum", "add the field";
    InvalidType = "invalid_type", "type_enum", "send a value of the type that the message names";
    InvalidEnum = "invalid_enum", "type_enum", "use one of the values that the message lists";
    InvalidLocalId = "invalid_local_id", "type_consistency",
        "write EXPERT-P0101: slug in capitals, kind, round, number";
    InvalidDisplayId = "invalid_display_id", "type_consistency",
        "check the id: `plenary show` lists them";
    DuplicateLocalId = "duplicate_local_id", "type_consistency",
        "number the items of one expert 01, 02, 03";
    ExpertNotInDialogue = "expert_not_in_dialogue", "referential",
        "create the expert first, or check the slug";
    ExpertExists = "expert_exists", "referential", "choose another name";
    InvalidRound = "invalid_round", "lifecycle", "`plenary dialogue progress ID` shows the round";
    RoundAlreadyRegistered = "round_already_registered", "lifecycle",
        "`plenary dialogue progress ID` shows the round";
    RoundCapacityExceeded = "round_capacity_exceeded", "limit",
        "merge similar items, or register some in the next round";
    NotAuthorized = "not_authorized", "semantic", "name a contributor or the judge in 'by'";
    NotConverged = "not_converged", "lifecycle",
        "register another round, or force the verdict with a warning";
    NotConcluded = "not_concluded", "lifecycle", "conclude the dialogue first";
    VerdictExists = "verdict_exists", "referential", "choose another name";
    VerdictNotFound = "verdict_not_found", "referential",
        "`plenary log tail` shows the last verdicts";
    FieldTooLong = "field_too_long", "limit", "shorten it, or split it over several items";
    DialogueNotFound = "dialogue_not_found", "referential",
        "`plenary list` shows the dialogues of this store";
    AmbiguousId = "ambiguous_id", "referential", "write more of the id";
    DialogueClosed = "dialogue_closed", "lifecycle", "create a new dialogue to continue";
    TooManySimilarTitles = "too_many_similar_titles", "limit", "choose another name";
    PathNotAllowed = "path_not_allowed", "semantic", "choose a path inside the allowed folders";
    InvalidSlug = "invalid_slug", "type_consistency", "use lower-case letters, digits, '-' and '_'";
    InvalidVote = "invalid_vote", "type_enum", "write '11-1', '11-1-2' or 'unanimous'";
    InvalidJson = "invalid_json", "type_enum", "send one JSON object with the operation's fields";
    ContainsSecret = "contains_secret", "type_enum", "remove the key from the text";
    NotSupported = "not_supported", "type_enum", "leave the field out";
    EthosNotApproved = "ethos_not_approved", "lifecycle", "synthesize and approve the ethos first";
    EthosImmutable = "ethos_immutable", "lifecycle", "synthesize the next version";
    EthosConflictOpen = "ethos_conflict_open", "lifecycle",
        "resolve the conflicts with `plenary ethos resolve`";
    EthosComplianceMissing = "ethos_compliance_missing", "semantic",
        "give each rule a status in 'ethos_compliance'";
    EthosViolationUnacknowledged = "ethos_violation_unacknowledged", "semantic",
        "register a tension that challenges the rule";
    RuleNotFound = "rule_not_found", "referential",
        "`plenary ethos check` lists the rules of a dialogue";
    DomainCycle = "domain_cycle", "semantic", "remove one of the parents in the path";
    RecordChanged = "record_changed", "integrity", "`plenary verify` lists what was changed";
    CodeTaken = "code_taken", "referential", "choose another code or name";
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
