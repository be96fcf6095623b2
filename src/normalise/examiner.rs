//! Validates each field of a conclusion against the record and collects all errors.
//! `parse_conclusion` and `parse_revision` call it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::coerce::{Path, described, quoted, text};
use super::council::letter;
use super::schema::conclusion_schema;
use crate::domain::conclusion::{CitedClaim, Field, Grounds, UnresolvedPoint};
use crate::domain::hidden::is_hidden;
use crate::domain::ids::{EntityId, EntityKind, ExpertSlug};
use crate::domain::limits::LIST_ITEMS_MAX;
use crate::domain::time::Day;

/// Characters trimmed from names and ids.
const EDGES: [char; 6] = ['`', '[', ']', '@', '"', ' '];

/// A conclusion: exactly these five fields.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the schema is derived from it; values are read one by one")]
pub(super) struct WrittenConclusion {
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
pub(super) struct Examined {
    pub recommendation: Option<String>,
    pub key_condition: Option<String>,
    pub unresolved_points: Option<Vec<UnresolvedPoint>>,
    pub review_by: Option<Day>,
    pub faults: Vec<String>,
}

/// Validates the wanted fields and ignores the others.
pub(super) fn examined(given: &Given, wanted: &[Field], grounds: &Grounds<'_>) -> Examined {
    let mut examiner = Examiner { grounds, faults: Vec::new() };
    let recommendation = examiner.text(given, wanted, Field::Recommendation);
    let key_condition = examiner.text(given, wanted, Field::KeyCondition);
    let unresolved_points = examiner.points(given, wanted);
    let review_by = examiner.review_by(given, wanted);
    examiner.participants(given, wanted);
    let faults = examiner.faults;
    Examined { recommendation, key_condition, unresolved_points, review_by, faults }
}

/// Returns an error for each field that is not one of the five.
pub(super) fn strangers(given: &Given) -> impl Iterator<Item = String> {
    let unknown = given.keys().filter(|name| Field::named(name).is_none());
    unknown.map(|name| stranger(name))
}

/// Reads fields and collects their errors.
struct Examiner<'a> {
    grounds: &'a Grounds<'a>,
    faults: Vec<String>,
}

type Given = Map<String, Value>;

impl Examiner<'_> {
    fn text(&mut self, given: &Given, wanted: &[Field], field: Field) -> Option<String> {
        let path = Path::Field(&Path::Root, field.name());
        let value = self.wanted(given, wanted, field)?;
        let text: String = self.typed(value, field_schema(field), &path)?;
        self.filled(text, &path)
    }

    fn points(&mut self, given: &Given, wanted: &[Field]) -> Option<Vec<UnresolvedPoint>> {
        let field = Field::UnresolvedPoints;
        let items = self.items(given, wanted, field)?;
        let root = Path::Field(&Path::Root, field.name());
        let schema = items_schema(field);
        let mut points = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let path = Path::Item(&root, index);
            let point = self.typed(item, schema, &path).and_then(|point| self.point(point, &path));
            points.push(point);
        }
        points.into_iter().collect()
    }

    fn review_by(&mut self, given: &Given, wanted: &[Field]) -> Option<Day> {
        let field = Field::ReviewBy;
        let path = Path::Field(&Path::Root, field.name());
        let value = self.wanted(given, wanted, field)?;
        let written: String = self.typed(value, field_schema(field), &path)?;
        let Ok(day) = written.trim().parse::<Day>() else {
            let given = quoted(&written);
            return self.fault(&path, format_args!("{given} is not a date of the form YYYY-MM-DD"));
        };
        let today = self.grounds.today;
        if day <= today {
            return self.fault(&path, format_args!("{day} is not later than today, {today}"));
        }
        Some(day)
    }

    /// Rejects names that did not take part. The conclusion itself takes its participants from the
    /// record.
    fn participants(&mut self, given: &Given, wanted: &[Field]) {
        let field = Field::Participants;
        let Some(items) = self.items(given, wanted, field) else { return };
        let root = Path::Field(&Path::Root, field.name());
        for (index, item) in items.iter().enumerate() {
            let path = Path::Item(&root, index);
            let written: Option<WrittenParticipant> = self.typed(item, items_schema(field), &path);
            if let Some(participant) = written {
                self.agent(&participant.agent, &Path::Field(&path, "agent"));
            }
        }
    }

    fn wanted<'g>(
        &mut self,
        given: &'g Given,
        wanted: &[Field],
        field: Field,
    ) -> Option<&'g Value> {
        if !wanted.contains(&field) {
            return None;
        }
        let value = given.get(field.name());
        if value.is_none() {
            self.fault::<()>(&Path::Field(&Path::Root, field.name()), "missing field");
        }
        value
    }

    fn items<'g>(
        &mut self,
        given: &'g Given,
        wanted: &[Field],
        field: Field,
    ) -> Option<&'g Vec<Value>> {
        let value = self.wanted(given, wanted, field)?;
        let path = Path::Field(&Path::Root, field.name());
        match value {
            Value::Array(items) if items.len() > LIST_ITEMS_MAX => {
                self.fault(&path, format_args!("{} items, over {LIST_ITEMS_MAX}", items.len()))
            }
            Value::Array(items) => Some(items),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_) => {
                self.fault(&path, format_args!("{}, not a list", described(value)))
            }
        }
    }

    /// Deserializes the value if it follows the schema exactly.
    fn typed<T: DeserializeOwned>(
        &mut self,
        value: &Value,
        schema: &Value,
        path: &Path<'_>,
    ) -> Option<T> {
        let before = self.faults.len();
        self.shape(value, schema, path);
        if self.faults.len() > before {
            return None;
        }
        match T::deserialize(value) {
            Ok(typed) => Some(typed),
            Err(error) => self.fault(path, error),
        }
    }

    /// Adds an error for each part of the value that does not follow the schema.
    fn shape(&mut self, value: &Value, schema: &Value, path: &Path<'_>) {
        match (schema.get("type").and_then(Value::as_str), value) {
            (Some("object"), Value::Object(given)) => self.object_shape(given, schema, path),
            (Some("array"), Value::Array(items)) => {
                let of = schema.get("items").unwrap_or(&Value::Null);
                for (index, item) in items.iter().enumerate().take(LIST_ITEMS_MAX) {
                    self.shape(item, of, &Path::Item(path, index));
                }
            }
            (Some("object"), other) => {
                self.fault::<()>(path, format_args!("{}, not an object", described(other)));
            }
            (Some("array"), other) => {
                self.fault::<()>(path, format_args!("{}, not a list", described(other)));
            }
            (_, other) => self.faults.extend(text(other.clone(), path).err()),
        }
    }

    fn object_shape(&mut self, given: &Given, schema: &Value, path: &Path<'_>) {
        let Some(fields) = schema.get("properties").and_then(Value::as_object) else { return };
        for (name, schema) in fields {
            let here = Path::Field(path, name);
            match given.get(name) {
                Some(value) => self.shape(value, schema, &here),
                None => drop(self.fault::<()>(&here, "missing field")),
            }
        }
        let unknown = given.keys().filter(|name| !fields.contains_key(*name));
        self.faults.extend(unknown.map(|name| path.fault(stranger(name))));
    }

    fn point(&mut self, written: WrittenPoint, path: &Path<'_>) -> Option<UnresolvedPoint> {
        let point = self.filled(written.point, &Path::Field(path, "point"));
        let agents = self.agents(&written.agents_involved, &Path::Field(path, "agents_involved"));
        let claims_path = Path::Field(path, "claims");
        if written.claims.is_empty() {
            self.fault::<()>(
                &claims_path,
                "empty: a point without a claim of the record is invented",
            );
        }
        let mut claims = Vec::new();
        for (index, claim) in written.claims.into_iter().enumerate() {
            claims.push(self.claim(claim, &Path::Item(&claims_path, index)));
        }
        let claims: Option<Vec<CitedClaim>> = claims.into_iter().collect();
        let (point, agents_involved, claims) = (point?, agents?, claims?);
        let stray = claims.iter().find(|claim| !agents_involved.contains(&claim.agent));
        if let Some(CitedClaim { agent, id, .. }) = stray {
            let message = format!("{id} is a claim of {agent}, who is not among agents_involved");
            return self.fault(&claims_path, message);
        }
        Some(UnresolvedPoint { point, agents_involved, claims })
    }

    fn agents(&mut self, written: &[String], path: &Path<'_>) -> Option<Vec<ExpertSlug>> {
        if written.is_empty() {
            return self.fault(path, "empty: a point with nobody behind it is invented");
        }
        let mut agents: Vec<ExpertSlug> = Vec::new();
        let mut is_known = true;
        for (index, name) in written.iter().enumerate() {
            match self.agent(name, &Path::Item(path, index)) {
                // The reply may name one participant twice, by name and by letter.
                Some(agent) if agents.contains(&agent) => {}
                Some(agent) => agents.push(agent),
                None => is_known = false,
            }
        }
        is_known.then_some(agents)
    }

    fn claim(&mut self, written: WrittenClaim, path: &Path<'_>) -> Option<CitedClaim> {
        let agent_path = Path::Field(path, "agent");
        let agent = self.agent(&written.agent, &agent_path);
        let id = self.entity(&written.id, &Path::Field(path, "id"));
        let claim = self.filled(written.claim, &Path::Field(path, "claim"));
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
            let whose = listed(contributors.iter());
            return self
                .fault(&agent_path, format_args!("{id} is not by `{agent}`, but by {whose}"));
        }
        Some(CitedClaim { id, agent, claim: claim? })
    }

    fn entity(&mut self, written: &str, path: &Path<'_>) -> Option<EntityId> {
        let plain = written.trim_matches(EDGES).to_ascii_uppercase();
        let known = plain.parse().ok().filter(|id| self.grounds.entities.contains_key(id));
        known.or_else(|| {
            self.fault(path, format_args!("{} is not in the record: invented", quoted(written)))
        })
    }

    /// Returns the participant with this name or letter.
    fn agent(&mut self, written: &str, path: &Path<'_>) -> Option<ExpertSlug> {
        let plain = written.trim_matches(EDGES);
        let took_part = || self.grounds.participants.iter().map(|one| &one.agent);
        let named = took_part().find(|name| name.as_str().eq_ignore_ascii_case(plain));
        let letters: Vec<char> = self.grounds.letters.iter().map(|(letter, _)| *letter).collect();
        let meant = || {
            let letter = letter(written, &letters)?;
            let (_, name) = self.grounds.letters.iter().find(|(known, _)| *known == letter)?;
            took_part().find(|participant| *participant == name)
        };
        let found = named.or_else(meant).cloned();
        found.or_else(|| {
            let (given, who) = (quoted(written), listed(took_part()));
            self.fault(path, format_args!("{given} took no part (took part: {who})"))
        })
    }

    fn filled(&mut self, text: String, path: &Path<'_>) -> Option<String> {
        let is_seen = |letter: char| !letter.is_whitespace() && !is_hidden(letter);
        if text.chars().any(is_seen) { Some(text) } else { self.fault(path, "empty") }
    }

    fn fault<T>(&mut self, path: &Path<'_>, what: impl std::fmt::Display) -> Option<T> {
        self.faults.push(path.fault(what));
        None
    }
}

fn field_schema(field: Field) -> &'static Value {
    let fields = conclusion_schema().get("properties");
    fields.and_then(|fields| fields.get(field.name())).unwrap_or(&Value::Null)
}

fn items_schema(field: Field) -> &'static Value {
    field_schema(field).get("items").unwrap_or(&Value::Null)
}

/// Returns the error for an unknown field.
fn stranger(name: &str) -> String {
    format!("unknown field {}", quoted(name))
}

fn listed<'a>(names: impl Iterator<Item = &'a ExpertSlug>) -> String {
    let names: Vec<&str> = names.map(ExpertSlug::as_str).collect();
    if names.is_empty() { "nobody".to_owned() } else { names.join(", ") }
}
