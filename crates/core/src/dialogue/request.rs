//! Reads the arguments of an operation into its request type.
//!
//! The schema of the type gives the fields, their types and limits; MCP lists the same schema. The
//! reader goes field by field and reports all faults at once. Besides the keywords of JSON Schema a
//! type can use these in `#[schemars(extend(…))]`:
//!
//! - `x-also-known`: allowed names that are not fields; `validate` may read them
//! - `x-item`, `x-named-by`: how faults name an object inside the request
//! - `x-expected`, `x-hint`: texts of the fault for a wrong number
//! - `x-own-check`: only `validate` checks this field

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::dialogue::diagnostics::{Diagnostics, RequestWarning, dialogue_not_found};
use crate::dialogue::expert::{color_fault, slug_fault};
use crate::dialogue::request_fields::{RequestFields, truncate_echo};
use crate::dialogue::verdict::parse::{target_fault, verdict_id_fault, vote_fault};
use crate::ethos::requests::ethos_id_fault;
use crate::model::ids::DialogueId;
use crate::model::limits::LIST_ITEMS_MAX;
use crate::model::string_enum::inlined_schema;
use crate::model::validation_error::{ErrorCode, ErrorItem, ValidationError, ValidationErrors};

/// Arguments of one operation.
pub trait OperationRequest: DeserializeOwned + JsonSchema + 'static {
    /// Rules that a schema cannot state, such as those between two fields.
    fn validate(_fields: &ReadFields<'_>, _notes: &mut Diagnostics) {}
}

/// The fields of a request during reading: some may be missing or faulty.
#[derive(Debug)]
pub struct ReadFields<'a> {
    pub given: &'a RequestFields<'a>,
    sound: &'a Map<String, Value>,
}

impl ReadFields<'_> {
    /// The value of a field; `None` if it is absent or faulty.
    pub fn get<V: DeserializeOwned>(&self, name: &str) -> Option<V> {
        V::deserialize(self.sound.get(name)?).ok()
    }
}

/// Reads a request. An unknown field is a warning, or a fault if it resembles a known one.
pub fn read_request<T: OperationRequest>(
    arguments: &Value,
) -> Result<(T, Vec<RequestWarning>), ValidationErrors> {
    read_with(arguments, UnknownFields::Warn)
}

/// Like [`read_request`], but an unknown field is an error: it may have been meant as a limit.
pub fn read_strict_request<T: OperationRequest>(arguments: &Value) -> Result<T, ValidationErrors> {
    Ok(read_with(arguments, UnknownFields::Refuse)?.0)
}

#[derive(Debug, Clone, Copy)]
enum UnknownFields {
    Warn,
    Refuse,
}

fn read_with<T: OperationRequest>(
    arguments: &Value,
    unknown: UnknownFields,
) -> Result<(T, Vec<RequestWarning>), ValidationErrors> {
    let given = RequestFields::from_arguments(arguments)?;
    let sound = read_object(&given, &schema_of::<T>(), unknown);
    let mut notes = given.take_notes();
    T::validate(&ReadFields { given: &given, sound: &sound }, &mut notes);
    notes.errors.extend(given.take_notes().errors);
    if !notes.errors.is_empty() {
        return Err(ValidationErrors::new(notes.errors));
    }
    match serde_json::from_value(sound.into()) {
        Ok(request) => Ok((request, notes.warnings)),
        // Unreachable if the type accepts all that its schema allows.
        Err(error) => Err(ValidationError::new(ErrorCode::InvalidType, error.to_string()).into()),
    }
}

/// The schema of a request type, derived once per type.
fn schema_of<T: OperationRequest>() -> Arc<Value> {
    static SCHEMAS: LazyLock<Mutex<HashMap<TypeId, Arc<Value>>>> = LazyLock::new(Mutex::default);
    let mut schemas = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
    let schema = schemas.entry(TypeId::of::<T>());
    Arc::clone(schema.or_insert_with(|| Arc::new(inlined_schema::<T>())))
}

/// Reads the fields of the schema; absent and faulty ones are left out.
fn read_object(
    fields: &RequestFields<'_>,
    schema: &Value,
    unknown: UnknownFields,
) -> Map<String, Value> {
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let mut known: Vec<&str> = properties.keys().map(String::as_str).collect();
    known.extend(words_of(schema, "x-also-known"));
    match unknown {
        UnknownFields::Warn => fields.check_unknown_fields(&known),
        UnknownFields::Refuse => fields.reject_unknown_fields(&known),
    }
    let required: Vec<&str> = words_of(schema, "required").collect();
    let read = properties.iter().filter_map(|(name, schema)| {
        let is_required = required.contains(&name.as_str());
        let value = read_field(fields, name, &FieldSchema { schema, is_required })?;
        Some((name.clone(), value))
    });
    read.collect()
}

fn words_of<'a>(schema: &'a Value, keyword: &str) -> impl Iterator<Item = &'a str> {
    schema.get(keyword).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The schema of one field.
#[derive(Debug)]
struct FieldSchema<'a> {
    schema: &'a Value,
    is_required: bool,
}

impl<'a> FieldSchema<'a> {
    fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.schema.get(keyword)
    }

    fn word(&self, keyword: &str) -> Option<&'a str> {
        self.get(keyword)?.as_str()
    }

    /// Its type, without null.
    fn kind(&self) -> &'a str {
        match self.get("type") {
            Some(Value::Array(kinds)) => {
                kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null")
            }
            kind => kind.and_then(Value::as_str),
        }
        .unwrap_or("any")
    }

    fn limit(&self, keyword: &str) -> Option<usize> {
        usize::try_from(self.get(keyword)?.as_u64()?).ok()
    }

    fn chars_max(&self) -> usize {
        self.limit("maxLength").unwrap_or(usize::MAX)
    }

    fn items(&self) -> FieldSchema<'a> {
        FieldSchema { schema: self.get("items").unwrap_or(&Value::Null), is_required: false }
    }
}

fn read_field(fields: &RequestFields<'_>, name: &str, field: &FieldSchema<'_>) -> Option<Value> {
    if field.get("x-own-check").is_some() {
        return fields.get(name).cloned();
    }
    let options: Vec<String> = words_of(field.schema, "enum").map(str::to_owned).collect();
    if !fields.has(name) {
        if field.is_required {
            fields.add_error(fields.missing_field(name).with_options(options));
        }
        return None;
    }
    match field.kind() {
        "string" if !options.is_empty() => fields.option(name, &options).map(Value::from),
        "string" => read_text(fields, name, field).map(Value::from),
        "integer" => {
            let bound = |keyword| field.get(keyword).and_then(Value::as_i64);
            let range = bound("minimum").unwrap_or(i64::MIN)..=bound("maximum").unwrap_or(i64::MAX);
            fields.read_integer(name, range).map(Value::from)
        }
        "number" => read_number(fields, name, field).map(Value::from),
        "boolean" => Some(fields.read_bool(name).into()),
        "array" if field.items().kind() == "object" => read_objects(fields, name, field),
        "array" => read_texts(fields, name, &field.items()),
        "object" if field.get("properties").is_some() => {
            let map = fields.read_object(name)?;
            Some(read_item(fields, map, field.schema))
        }
        // Callers may send any JSON; the schema only shows the usual shape.
        _ => fields.read_json(name),
    }
}

/// Reads a text. A required one must not be empty.
fn read_text(fields: &RequestFields<'_>, name: &str, field: &FieldSchema<'_>) -> Option<String> {
    let text = match field.is_required {
        true => fields.require_text(name, field.chars_max()),
        false => fields.read_text(name, field.chars_max()),
    }?;
    let fault = field.word("format").and_then(|format| {
        check_format(format, &Place { item: fields.item(), field: name }, &text)
    });
    match fault {
        Some(fault) => {
            fields.add_error(fault);
            None
        }
        None => Some(text),
    }
}

fn read_texts(fields: &RequestFields<'_>, name: &str, items: &FieldSchema<'_>) -> Option<Value> {
    let texts = fields.read_texts(name, items.chars_max())?;
    let place = Place { item: fields.item(), field: name };
    let sound = texts.into_iter().filter(|text| {
        let fault = items.word("format").and_then(|format| check_format(format, &place, text));
        let is_sound = fault.is_none();
        fault.into_iter().for_each(|fault| fields.add_error(fault));
        is_sound
    });
    Some(sound.collect())
}

fn read_number(fields: &RequestFields<'_>, name: &str, field: &FieldSchema<'_>) -> Option<f64> {
    let value = fields.get(name)?;
    let bound = |keyword| field.get(keyword).and_then(Value::as_f64);
    let (min, max) = (bound("minimum").unwrap_or(f64::MIN), bound("maximum").unwrap_or(f64::MAX));
    let number = value.as_f64().filter(|number| (min..=max).contains(number));
    if number.is_none() {
        let range = format!("a number from {min:?} to {max:?}");
        let fault =
            fields.wrong_type_error(name, field.word("x-expected").unwrap_or(&range), value);
        fields.add_error(match field.word("x-hint") {
            Some(hint) => fault.with_suggestion(hint),
            None => fault,
        });
    }
    number
}

fn read_objects(fields: &RequestFields<'_>, name: &str, field: &FieldSchema<'_>) -> Option<Value> {
    let items_max = field.limit("maxItems").unwrap_or(LIST_ITEMS_MAX);
    let maps = fields.read_objects(name, items_max);
    Some(maps.into_iter().map(|map| read_item(fields, map, field.items().schema)).collect())
}

/// Reads an object inside the request.
fn read_item(parent: &RequestFields<'_>, map: &Map<String, Value>, schema: &Value) -> Value {
    /// Names of such objects in faults.
    const ITEM_TYPES: [&str; 3] = ["expert", "expert_pool", "panel_seat"];
    let is_meant = |known: &&str| schema.get("x-item").is_some_and(|item| item == *known);
    let item_type = ITEM_TYPES.into_iter().find(is_meant).unwrap_or("item");
    let name = words_of(schema, "x-named-by").find_map(|field| map.get(field));
    let local_id = name.and_then(Value::as_str).map(truncate_echo);
    let fields = parent.nested(map, ErrorItem::Local { item_type, local_id });
    read_object(&fields, schema, UnknownFields::Warn).into()
}

/// The place of a text in a request.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub item: &'a ErrorItem,
    pub field: &'a str,
}

/// Returns the fault of a text that does not have this format.
fn check_format(format: &str, place: &Place<'_>, text: &str) -> Option<ValidationError> {
    match format {
        "dialogue_id" => text.parse::<DialogueId>().is_err().then(|| dialogue_not_found(text)),
        "ethos_id" => ethos_id_fault(text),
        "expert_slug" => slug_fault(place, text),
        "hex_color" => color_fault(place, text),
        "verdict_id" => verdict_id_fault(text),
        "vote" => vote_fault(text),
        _ => target_fault(format.strip_prefix("id of ")?.parse().ok()?, place.field, text),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[schemars(extend("x-also-known" = ["op"]))]
    struct SampleRequest {
        dialogue_id: DialogueId,
        #[schemars(length(max = 5))]
        title: Option<String>,
        round: Option<u16>,
        #[schemars(range(min = 0.0, max = 1.0))]
        share: Option<f64>,
        #[serde(default)]
        #[schemars(inner(length(max = 3)))]
        tags: Vec<String>,
        #[serde(default)]
        force: bool,
        #[schemars(length(max = 2))]
        seats: Option<Vec<SampleSeat>>,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[schemars(extend("x-item" = "panel_seat", "x-named-by" = ["name"]))]
    struct SampleSeat {
        name: String,
    }

    impl OperationRequest for SampleRequest {}

    fn faults(arguments: &Value) -> Vec<String> {
        let refusal = read_request::<SampleRequest>(arguments).unwrap_err();
        refusal.errors.iter().map(|fault| fault.message.clone()).collect()
    }

    #[test]
    fn null_is_as_good_as_absent_and_a_lone_text_is_a_list_of_one() {
        let arguments = json!({"dialogue_id": "a", "title": null, "tags": "x", "op": 7});
        let (request, warnings) = read_request::<SampleRequest>(&arguments).unwrap();
        assert_eq!((request.title, request.tags), (None, vec!["x".to_owned()]));
        assert_eq!(warnings, []);
    }

    #[test]
    fn every_fault_is_reported_in_the_order_of_the_fields() {
        let arguments = json!({
            "titel": "x", "dialogue_id": "A b", "round": 70_000, "share": 2, "tags": ["long", 1],
            "force": "yes", "seats": [{}, 3],
        });
        assert_eq!(
            faults(&arguments),
            [
                "unknown field 'titel'",
                "dialogue 'A b' not found",
                "field 'round' must be an integer from 0 to 65535",
                "field 'share' must be a number from 0.0 to 1.0",
                "field 'tags' has 4 characters, over the limit of 3",
                "field 'tags' must be a list of strings",
                "field 'force' must be true or false",
                "field 'seats' must be a list of objects",
                "required field 'name' is missing",
            ]
        );
        assert_eq!(
            faults(&json!({"title": "too long"})),
            [
                "required field 'dialogue_id' is missing",
                "field 'title' has 8 characters, over the limit of 5",
            ]
        );
    }

    #[test]
    fn an_unknown_field_is_a_warning_or_a_fault() {
        let arguments = json!({"dialogue_id": "a", "colour": 1});
        assert_eq!(read_request::<SampleRequest>(&arguments).unwrap().1.len(), 1);
        let refusal = read_strict_request::<SampleRequest>(&arguments).unwrap_err();
        let hint = "there are dialogue_id, title, round, share, tags, force, seats, op";
        assert_eq!(refusal.errors[0].hint(), hint);
    }
}
