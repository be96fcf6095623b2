//! Validates each field of a conclusion against the record and collects all errors.
//! `parse_conclusion` and `parse_revision` call it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::model::ids::{EntityId, EntityKind, ExpertSlug};
use crate::model::limits::LIST_ITEMS_MAX;
use crate::model::text::is_invisible;
use crate::model::time::Day;
use crate::parsing::coerce::{ValuePath, coerce_text, describe_value, quote_safely};
use crate::parsing::schema::conclusion_schema;
use crate::protocols::conclusion::types::{
    CitedClaim, ConclusionContext, ConclusionField, UnresolvedPoint,
};
use crate::protocols::council::parse::match_letter;

/// Characters trimmed from names and ids.
const TRIMMED_CHARS: [char; 6] = ['`', '[', ']', '@', '"', ' '];

/// A conclusion: exactly these five fields.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the schema is derived from it; values are read one by one")]
pub(crate) struct WrittenConclusion {
    /// What was decided and why. A format that the question asks for applies to this text.
    recommendation: String,
    /// The one assumption that must hold; if it fails, the recommendation is to be revisited.
    key_condition: String,
    /// Disagreements of the record that were left standing; none are invented, there may be none.
    unresolved_points: Vec<WrittenPoint>,
    /// The day on which to revisit this: YYYY-MM-DD, later than today.
    review_by: String,
    /// Who took part.
    participants: Vec<WrittenParticipant>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenPoint {
    /// What they disagree on.
    point: String,
    agents_involved: Vec<String>,
    /// What each of them said.
    claims: Vec<WrittenClaim>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenClaim {
    /// Its id in the record, such as P0101.
    id: String,
    agent: String,
    claim: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenParticipant {
    agent: String,
    #[expect(dead_code, reason = "which version took part is on record, whatever is written")]
    version: String,
}

/// The wanted fields that are valid, and the errors of the others.
pub(crate) struct ValidatedFields {
    pub recommendation: Option<String>,
    pub key_condition: Option<String>,
    pub unresolved_points: Option<Vec<UnresolvedPoint>>,
    pub review_by: Option<Day>,
    pub errors: Vec<String>,
}

/// Validates the wanted fields and ignores the others.
pub(crate) fn validate_fields(
    given: &ConclusionFields,
    wanted: &[ConclusionField],
    grounds: &ConclusionContext<'_>,
) -> ValidatedFields {
    let mut examiner = FieldValidator { grounds, errors: Vec::new() };
    let recommendation = examiner.read_text(given, wanted, ConclusionField::Recommendation);
    let key_condition = examiner.read_text(given, wanted, ConclusionField::KeyCondition);
    let unresolved_points = examiner.read_points(given, wanted);
    let review_by = examiner.read_review_by(given, wanted);
    examiner.check_participants(given, wanted);
    let faults = examiner.errors;
    ValidatedFields { recommendation, key_condition, unresolved_points, review_by, errors: faults }
}

/// Returns an error for each field that is not one of the five.
pub(crate) fn unknown_fields(given: &ConclusionFields) -> impl Iterator<Item = String> {
    let unknown = given.keys().filter(|name| ConclusionField::named(name).is_none());
    unknown.map(|name| unknown_field_error(name))
}

/// Reads fields and collects their errors.
struct FieldValidator<'a> {
    grounds: &'a ConclusionContext<'a>,
    errors: Vec<String>,
}

type ConclusionFields = Map<String, Value>;

impl FieldValidator<'_> {
    fn read_text(
        &mut self,
        given: &ConclusionFields,
        wanted: &[ConclusionField],
        field: ConclusionField,
    ) -> Option<String> {
        let path = ValuePath::Field(&ValuePath::Root, field.name());
        let value = self.wanted_value(given, wanted, field)?;
        let text: String = self.deserialize_checked(value, field_schema(field), &path)?;
        self.require_filled(text, &path)
    }

    fn read_points(
        &mut self,
        given: &ConclusionFields,
        wanted: &[ConclusionField],
    ) -> Option<Vec<UnresolvedPoint>> {
        let field = ConclusionField::UnresolvedPoints;
        let items = self.wanted_items(given, wanted, field)?;
        let root = ValuePath::Field(&ValuePath::Root, field.name());
        let schema = items_schema(field);
        let mut points = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let path = ValuePath::Item(&root, index);
            let point = self
                .deserialize_checked(item, schema, &path)
                .and_then(|point| self.check_point(point, &path));
            points.push(point);
        }
        points.into_iter().collect()
    }

    fn read_review_by(
        &mut self,
        given: &ConclusionFields,
        wanted: &[ConclusionField],
    ) -> Option<Day> {
        let field = ConclusionField::ReviewBy;
        let path = ValuePath::Field(&ValuePath::Root, field.name());
        let value = self.wanted_value(given, wanted, field)?;
        let written: String = self.deserialize_checked(value, field_schema(field), &path)?;
        let Ok(day) = written.trim().parse::<Day>() else {
            let given = quote_safely(&written);
            return self
                .add_error(&path, format_args!("{given} is not a date of the form YYYY-MM-DD"));
        };
        let today = self.grounds.today;
        if day <= today {
            return self.add_error(&path, format_args!("{day} is not later than today, {today}"));
        }
        Some(day)
    }

    /// Rejects names that did not take part. The conclusion itself takes its participants from the
    /// record.
    fn check_participants(&mut self, given: &ConclusionFields, wanted: &[ConclusionField]) {
        let field = ConclusionField::Participants;
        let Some(items) = self.wanted_items(given, wanted, field) else { return };
        let root = ValuePath::Field(&ValuePath::Root, field.name());
        for (index, item) in items.iter().enumerate() {
            let path = ValuePath::Item(&root, index);
            let written: Option<WrittenParticipant> =
                self.deserialize_checked(item, items_schema(field), &path);
            if let Some(participant) = written {
                self.resolve_agent(&participant.agent, &ValuePath::Field(&path, "agent"));
            }
        }
    }

    fn wanted_value<'g>(
        &mut self,
        given: &'g ConclusionFields,
        wanted: &[ConclusionField],
        field: ConclusionField,
    ) -> Option<&'g Value> {
        if !wanted.contains(&field) {
            return None;
        }
        let value = given.get(field.name());
        if value.is_none() {
            self.add_error::<()>(
                &ValuePath::Field(&ValuePath::Root, field.name()),
                "missing field",
            );
        }
        value
    }

    fn wanted_items<'g>(
        &mut self,
        given: &'g ConclusionFields,
        wanted: &[ConclusionField],
        field: ConclusionField,
    ) -> Option<&'g Vec<Value>> {
        let value = self.wanted_value(given, wanted, field)?;
        let path = ValuePath::Field(&ValuePath::Root, field.name());
        match value {
            Value::Array(items) if items.len() > LIST_ITEMS_MAX => {
                self.add_error(&path, format_args!("{} items, over {LIST_ITEMS_MAX}", items.len()))
            }
            Value::Array(items) => Some(items),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_) => {
                self.add_error(&path, format_args!("{}, not a list", describe_value(value)))
            }
        }
    }

    /// Deserializes the value if it follows the schema exactly.
    fn deserialize_checked<T: DeserializeOwned>(
        &mut self,
        value: &Value,
        schema: &Value,
        path: &ValuePath<'_>,
    ) -> Option<T> {
        let before = self.errors.len();
        self.check_shape(value, schema, path);
        if self.errors.len() > before {
            return None;
        }
        match T::deserialize(value) {
            Ok(typed) => Some(typed),
            Err(error) => self.add_error(path, error),
        }
    }

    /// Adds an error for each part of the value that does not follow the schema.
    fn check_shape(&mut self, value: &Value, schema: &Value, path: &ValuePath<'_>) {
        match (schema.get("type").and_then(Value::as_str), value) {
            (Some("object"), Value::Object(given)) => self.check_object_shape(given, schema, path),
            (Some("array"), Value::Array(items)) => {
                let of = schema.get("items").unwrap_or(&Value::Null);
                for (index, item) in items.iter().enumerate().take(LIST_ITEMS_MAX) {
                    self.check_shape(item, of, &ValuePath::Item(path, index));
                }
            }
            (Some("object"), other) => {
                self.add_error::<()>(
                    path,
                    format_args!("{}, not an object", describe_value(other)),
                );
            }
            (Some("array"), other) => {
                self.add_error::<()>(path, format_args!("{}, not a list", describe_value(other)));
            }
            (_, other) => self.errors.extend(coerce_text(other.clone(), path).err()),
        }
    }

    fn check_object_shape(
        &mut self,
        given: &ConclusionFields,
        schema: &Value,
        path: &ValuePath<'_>,
    ) {
        let Some(fields) = schema.get("properties").and_then(Value::as_object) else { return };
        for (name, schema) in fields {
            let here = ValuePath::Field(path, name);
            match given.get(name) {
                Some(value) => self.check_shape(value, schema, &here),
                None => drop(self.add_error::<()>(&here, "missing field")),
            }
        }
        let unknown = given.keys().filter(|name| !fields.contains_key(*name));
        self.errors.extend(unknown.map(|name| path.error_text(unknown_field_error(name))));
    }

    fn check_point(
        &mut self,
        written: WrittenPoint,
        path: &ValuePath<'_>,
    ) -> Option<UnresolvedPoint> {
        let point = self.require_filled(written.point, &ValuePath::Field(path, "point"));
        let agents = self
            .resolve_agents(&written.agents_involved, &ValuePath::Field(path, "agents_involved"));
        let claims_path = ValuePath::Field(path, "claims");
        if written.claims.is_empty() {
            self.add_error::<()>(
                &claims_path,
                "empty: a point without a claim of the record is invented",
            );
        }
        let mut claims = Vec::new();
        for (index, claim) in written.claims.into_iter().enumerate() {
            claims.push(self.check_claim(claim, &ValuePath::Item(&claims_path, index)));
        }
        let claims: Option<Vec<CitedClaim>> = claims.into_iter().collect();
        let (point, agents_involved, claims) = (point?, agents?, claims?);
        let stray = claims.iter().find(|claim| !agents_involved.contains(&claim.agent));
        if let Some(CitedClaim { agent, id, .. }) = stray {
            let message = format!("{id} is a claim of {agent}, who is not among agents_involved");
            return self.add_error(&claims_path, message);
        }
        Some(UnresolvedPoint { point, agents_involved, claims })
    }

    fn resolve_agents(
        &mut self,
        written: &[String],
        path: &ValuePath<'_>,
    ) -> Option<Vec<ExpertSlug>> {
        if written.is_empty() {
            return self.add_error(path, "empty: a point with nobody behind it is invented");
        }
        let mut agents: Vec<ExpertSlug> = Vec::new();
        let mut is_known = true;
        for (index, name) in written.iter().enumerate() {
            match self.resolve_agent(name, &ValuePath::Item(path, index)) {
                // The reply may name one participant twice, by name and by letter.
                Some(agent) if agents.contains(&agent) => {}
                Some(agent) => agents.push(agent),
                None => is_known = false,
            }
        }
        is_known.then_some(agents)
    }

    fn check_claim(&mut self, written: WrittenClaim, path: &ValuePath<'_>) -> Option<CitedClaim> {
        let agent_path = ValuePath::Field(path, "agent");
        let agent = self.resolve_agent(&written.agent, &agent_path);
        let id = self.resolve_entity(&written.id, &ValuePath::Field(path, "id"));
        let claim = self.require_filled(written.claim, &ValuePath::Field(path, "claim"));
        let (id, agent) = (id?, agent?);
        let contributors = self.grounds.entities.get(&id).map(Vec::as_slice).unwrap_or_default();
        let is_theirs = match id.kind {
            // A tension is between several participants, so any of them may be cited for it.
            EntityKind::Tension => true,
            EntityKind::Perspective
            | EntityKind::Recommendation
            | EntityKind::Evidence
            | EntityKind::Claim => contributors.contains(&agent),
        };
        if !is_theirs {
            let whose = join_slugs(contributors.iter());
            return self
                .add_error(&agent_path, format_args!("{id} is not by `{agent}`, but by {whose}"));
        }
        Some(CitedClaim { id, agent, claim: claim? })
    }

    fn resolve_entity(&mut self, written: &str, path: &ValuePath<'_>) -> Option<EntityId> {
        let plain = written.trim_matches(TRIMMED_CHARS).to_ascii_uppercase();
        let known = plain.parse().ok().filter(|id| self.grounds.entities.contains_key(id));
        known.or_else(|| {
            self.add_error(
                path,
                format_args!("{} is not in the record: invented", quote_safely(written)),
            )
        })
    }

    /// Returns the participant with this name or letter.
    fn resolve_agent(&mut self, written: &str, path: &ValuePath<'_>) -> Option<ExpertSlug> {
        let plain = written.trim_matches(TRIMMED_CHARS);
        let took_part = || self.grounds.participants.iter().map(|one| &one.agent);
        let named = took_part().find(|name| name.as_str().eq_ignore_ascii_case(plain));
        let letters: Vec<char> = self.grounds.letters.iter().map(|(letter, _)| *letter).collect();
        let meant = || {
            let letter = match_letter(written, &letters)?;
            let (_, name) = self.grounds.letters.iter().find(|(known, _)| *known == letter)?;
            took_part().find(|participant| *participant == name)
        };
        let found = named.or_else(meant).cloned();
        found.or_else(|| {
            let (given, who) = (quote_safely(written), join_slugs(took_part()));
            self.add_error(path, format_args!("{given} took no part (took part: {who})"))
        })
    }

    fn require_filled(&mut self, text: String, path: &ValuePath<'_>) -> Option<String> {
        let is_seen = |letter: char| !letter.is_whitespace() && !is_invisible(letter);
        if text.chars().any(is_seen) { Some(text) } else { self.add_error(path, "empty") }
    }

    fn add_error<T>(&mut self, path: &ValuePath<'_>, what: impl std::fmt::Display) -> Option<T> {
        self.errors.push(path.error_text(what));
        None
    }
}

fn field_schema(field: ConclusionField) -> &'static Value {
    let fields = conclusion_schema().get("properties");
    fields.and_then(|fields| fields.get(field.name())).unwrap_or(&Value::Null)
}

fn items_schema(field: ConclusionField) -> &'static Value {
    field_schema(field).get("items").unwrap_or(&Value::Null)
}

/// Returns the error for an unknown field.
fn unknown_field_error(name: &str) -> String {
    format!("unknown field {}", quote_safely(name))
}

fn join_slugs<'a>(names: impl Iterator<Item = &'a ExpertSlug>) -> String {
    let names: Vec<&str> = names.map(ExpertSlug::as_str).collect();
    if names.is_empty() { "nobody".to_owned() } else { names.join(", ") }
}
