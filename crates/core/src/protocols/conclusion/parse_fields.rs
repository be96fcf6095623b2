//! Validates each field of a conclusion against the record and collects all errors.
//! `parse_conclusion` and `parse_revision` call it.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::model::ids::{ClaimSource, EntityKind, ExpertSlug};
use crate::model::limits::LIST_ITEMS_MAX;
use crate::model::text::is_invisible;
use crate::model::time::Day;
use crate::parsing::coerce::{describe_value, find_text_error, quote_safely};
use crate::parsing::schema::CONCLUSION_SCHEMA;
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
    /// Disagreements that the record left open; none are invented, there may be none.
    unresolved_points: Vec<WrittenPoint>,
    /// What was decided and why. A format that the question asks for applies to this text.
    recommendation: String,
    /// The one assumption that must hold; if it fails, the recommendation is to be revisited.
    key_condition: String,
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
    /// Its id in the record, such as P0101, or the id of a verdict.
    id: String,
    agent: String,
    claim: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenParticipant {
    agent: String,
    #[expect(dead_code, reason = "the version comes from the record")]
    version: String,
}

/// The wanted fields that are valid, and the errors of the others.
pub(crate) struct ValidatedFields {
    pub recommendation: Option<String>,
    pub key_condition: Option<String>,
    pub unresolved_points: Option<Vec<UnresolvedPoint>>,
    pub review_by: Option<Day>,
    /// The reply lists a participant that took no part.
    pub is_corrected: bool,
    pub errors: Vec<String>,
}

type ConclusionFields = Map<String, Value>;

/// Validates the wanted fields and ignores the others.
pub(crate) fn validate_fields(
    given: &ConclusionFields,
    wanted: &[ConclusionField],
    context: &ConclusionContext<'_>,
) -> ValidatedFields {
    let mut validator = FieldValidator { given, wanted, context, errors: Vec::new() };
    let recommendation = validator.read_text(ConclusionField::Recommendation);
    let key_condition = validator.read_text(ConclusionField::KeyCondition);
    let unresolved_points =
        validator.read_items(ConclusionField::UnresolvedPoints, FieldValidator::check_point);
    let review_by = validator.read_review_by();
    // The conclusion takes its participants from the record, so a wrong name is corrected.
    let named = validator
        .read_items(ConclusionField::Participants, |validator, written: WrittenParticipant, _| {
            Some(validator.find_agent(&written.agent))
        });
    let is_corrected = named.is_some_and(|named| named.iter().any(Option::is_none));
    let errors = validator.errors;
    ValidatedFields {
        recommendation,
        key_condition,
        unresolved_points,
        review_by,
        is_corrected,
        errors,
    }
}

/// Returns an error for each field that is not one of the five.
pub(crate) fn unknown_fields(given: &ConclusionFields) -> impl Iterator<Item = String> {
    let unknown = given.keys().filter(|name| ConclusionField::named(name).is_none());
    unknown.map(|name| format!("unknown field {}", quote_safely(name)))
}

/// Reads fields and collects their errors.
struct FieldValidator<'a> {
    given: &'a ConclusionFields,
    wanted: &'a [ConclusionField],
    context: &'a ConclusionContext<'a>,
    errors: Vec<String>,
}

impl<'a> FieldValidator<'a> {
    fn read_text(&mut self, field: ConclusionField) -> Option<String> {
        let value = self.wanted_value(field)?;
        let text = self.read_value(value, field_schema(field), field.name())?;
        self.require_filled(text, field.name())
    }

    /// Reads a list; `check` validates each item that has the right shape.
    fn read_items<T: DeserializeOwned, U>(
        &mut self,
        field: ConclusionField,
        check: impl Fn(&mut Self, T, &str) -> Option<U>,
    ) -> Option<Vec<U>> {
        let (value, name) = (self.wanted_value(field)?, field.name());
        let Value::Array(items) = value else {
            return self.add_error(name, format_args!("{}, not a list", describe_value(value)));
        };
        if items.len() > LIST_ITEMS_MAX {
            let count = items.len();
            return self.add_error(name, format_args!("{count} items, over {LIST_ITEMS_MAX}"));
        }
        let schema = field_schema(field).get("items").unwrap_or(&Value::Null);
        let mut read = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let path = format!("{name}[{index}]");
            let item = self.read_value(item, schema, &path);
            read.push(item.and_then(|item| check(self, item, &path)));
        }
        read.into_iter().collect()
    }

    fn read_review_by(&mut self) -> Option<Day> {
        let field = ConclusionField::ReviewBy;
        let value = self.wanted_value(field)?;
        let written: String = self.read_value(value, field_schema(field), field.name())?;
        let Ok(day) = written.trim().parse::<Day>() else {
            let given = quote_safely(&written);
            let message = format!("{given} is not a date of the form YYYY-MM-DD");
            return self.add_error(field.name(), message);
        };
        let today = self.context.today;
        if day <= today {
            let message = format!("{day} is not later than today, {today}");
            return self.add_error(field.name(), message);
        }
        Some(day)
    }

    fn wanted_value(&mut self, field: ConclusionField) -> Option<&'a Value> {
        if !self.wanted.contains(&field) {
            return None;
        }
        let value = self.given.get(field.name());
        value.or_else(|| self.add_error(field.name(), "missing field"))
    }

    /// Deserializes the value if it follows the schema exactly.
    fn read_value<T: DeserializeOwned>(
        &mut self,
        value: &Value,
        schema: &Value,
        path: &str,
    ) -> Option<T> {
        let before = self.errors.len();
        self.check_shape(value, schema, path);
        if self.errors.len() > before {
            return None;
        }
        T::deserialize(value).map_err(|error| self.add_error::<()>(path, error)).ok()
    }

    /// Adds an error for each part of the value that does not follow the schema.
    fn check_shape(&mut self, value: &Value, schema: &Value, path: &str) {
        let message = match (schema.get("type").and_then(Value::as_str), value) {
            (Some("object"), Value::Object(given)) => {
                return self.check_object_shape(given, schema, path);
            }
            (Some("array"), Value::Array(items)) => {
                let of = schema.get("items").unwrap_or(&Value::Null);
                for (index, item) in items.iter().enumerate().take(LIST_ITEMS_MAX) {
                    self.check_shape(item, of, &format!("{path}[{index}]"));
                }
                return;
            }
            (Some("object"), other) => Some(format!("{}, not an object", describe_value(other))),
            (Some("array"), other) => Some(format!("{}, not a list", describe_value(other))),
            (_, other) => find_text_error(other),
        };
        if let Some(message) = message {
            self.add_error::<()>(path, message);
        }
    }

    fn check_object_shape(&mut self, given: &ConclusionFields, schema: &Value, path: &str) {
        let Some(fields) = schema.get("properties").and_then(Value::as_object) else { return };
        for (name, schema) in fields {
            let here = format!("{path}.{name}");
            match given.get(name) {
                Some(value) => self.check_shape(value, schema, &here),
                None => drop(self.add_error::<()>(&here, "missing field")),
            }
        }
        for name in given.keys().filter(|name| !fields.contains_key(*name)) {
            self.add_error::<()>(path, format_args!("unknown field {}", quote_safely(name)));
        }
    }

    fn check_point(&mut self, written: WrittenPoint, path: &str) -> Option<UnresolvedPoint> {
        let point = self.require_filled(written.point, &format!("{path}.point"));
        let agents_involved = self.resolve_agents(&written.agents_involved, path);
        let claims_path = format!("{path}.claims");
        if written.claims.is_empty() {
            let message = "the list is empty, but each point must cite a claim of the record";
            self.add_error::<()>(&claims_path, message);
        }
        let mut claims = Vec::new();
        for (index, claim) in written.claims.into_iter().enumerate() {
            claims.push(self.check_claim(claim, &format!("{claims_path}[{index}]")));
        }
        let claims: Option<Vec<CitedClaim>> = claims.into_iter().collect();
        let (point, agents_involved, claims) = (point?, agents_involved?, claims?);
        let stray = claims.iter().find(|claim| !agents_involved.contains(&claim.agent));
        if let Some(CitedClaim { agent, id, .. }) = stray {
            let message = format!("{id} is a claim of {agent}, who is not among agents_involved");
            return self.add_error(&claims_path, message);
        }
        Some(UnresolvedPoint { point, agents_involved, claims })
    }

    fn resolve_agents(&mut self, written: &[String], path: &str) -> Option<Vec<ExpertSlug>> {
        let path = format!("{path}.agents_involved");
        if written.is_empty() {
            return self.add_error(&path, "the list is empty, but each point must name its agents");
        }
        let mut agents = Vec::new();
        for (index, name) in written.iter().enumerate() {
            agents.push(self.resolve_agent(name, &format!("{path}[{index}]")));
        }
        let mut agents = agents.into_iter().collect::<Option<Vec<ExpertSlug>>>()?;
        // The reply may name one participant twice, by name and by letter.
        let mut seen = BTreeSet::new();
        agents.retain(|agent| seen.insert(agent.clone()));
        Some(agents)
    }

    fn check_claim(&mut self, written: WrittenClaim, path: &str) -> Option<CitedClaim> {
        let agent_path = format!("{path}.agent");
        let agent = self.resolve_agent(&written.agent, &agent_path);
        let id = self.resolve_id(&written.id, &format!("{path}.id"));
        let claim = self.require_filled(written.claim, &format!("{path}.claim"));
        let (id, agent) = (id?, agent?);
        let (contributors, is_tension) = match &id {
            ClaimSource::Entity(id) => {
                (self.context.entities.get(id), id.kind == EntityKind::Tension)
            }
            ClaimSource::Verdict(id) => (self.context.verdicts.get(id), false),
        };
        let contributors = contributors.map(Vec::as_slice).unwrap_or_default();
        // A tension is between several participants, so any of them may be cited for it.
        if !is_tension && !contributors.contains(&agent) {
            let authors = join_slugs(contributors.iter());
            let message = format!("{id} is not by `{agent}`, but by {authors}");
            return self.add_error(&agent_path, message);
        }
        Some(CitedClaim { id, agent, claim: claim? })
    }

    /// Returns the entity or the verdict with this id.
    fn resolve_id(&mut self, written: &str, path: &str) -> Option<ClaimSource> {
        let plain = written.trim_matches(TRIMMED_CHARS);
        let entity = plain.to_ascii_uppercase().parse().ok();
        let entity = entity.filter(|id| self.context.entities.contains_key(id));
        let mut verdicts = self.context.verdicts.keys();
        let verdict = verdicts.find(|id| id.as_str().eq_ignore_ascii_case(plain)).cloned();
        let known = entity.map(ClaimSource::Entity).or(verdict.map(ClaimSource::Verdict));
        let message = || format!("{} is not an id of the record", quote_safely(written));
        known.or_else(|| self.add_error(path, message()))
    }

    /// Returns the participant with this name or letter.
    fn resolve_agent(&mut self, written: &str, path: &str) -> Option<ExpertSlug> {
        self.find_agent(written).or_else(|| {
            let participants = self.context.participants.iter().map(|one| &one.agent);
            let (given, who) = (quote_safely(written), join_slugs(participants));
            self.add_error(path, format_args!("{given} is not a participant (participants: {who})"))
        })
    }

    fn find_agent(&self, written: &str) -> Option<ExpertSlug> {
        let plain = written.trim_matches(TRIMMED_CHARS);
        let context = self.context;
        let participants = || context.participants.iter().map(|one| &one.agent);
        let by_name = participants().find(|name| name.as_str().eq_ignore_ascii_case(plain));
        let by_letter = || {
            let letters: Vec<char> = context.letters.iter().map(|(letter, _)| *letter).collect();
            let letter = match_letter(written, &letters)?;
            let (_, name) = context.letters.iter().find(|(known, _)| *known == letter)?;
            participants().find(|participant| *participant == name)
        };
        by_name.or_else(by_letter).cloned()
    }

    fn require_filled(&mut self, text: String, path: &str) -> Option<String> {
        let is_seen = |letter: char| !letter.is_whitespace() && !is_invisible(letter);
        if text.chars().any(is_seen) { Some(text) } else { self.add_error(path, "empty") }
    }

    fn add_error<T>(&mut self, path: &str, what: impl std::fmt::Display) -> Option<T> {
        self.errors.push(format!("{path}: {what}"));
        None
    }
}

fn field_schema(field: ConclusionField) -> &'static Value {
    let fields = CONCLUSION_SCHEMA.get("properties");
    fields.and_then(|fields| fields.get(field.name())).unwrap_or(&Value::Null)
}

fn join_slugs<'a>(names: impl Iterator<Item = &'a ExpertSlug>) -> String {
    let names: Vec<&str> = names.map(ExpertSlug::as_str).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
