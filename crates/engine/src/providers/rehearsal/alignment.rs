//! The rehearsal of an alignment dialogue: three rounds, one expert created, one tension accepted, a
//! minority verdict. Each reply follows from the messages alone.

use plenary_core::model::ids::{EntityId, EntityKind, ExpertSlug, LocalId};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::providers::rehearsal::template::{find_part, parts_of_kind, read_question};
use crate::providers::transport::CallRequest;

const TEXTS: &str = include_str!("../../../../../data/rehearsal/alignment/texts.json");

/// The round after which the rehearsal converges.
const LAST_ROUND: u8 = 2;

/// A title and a text.
type LabeledText = (String, String);

#[derive(Deserialize)]
struct AlignmentTexts {
    design: Value,
    perspectives: Vec<LabeledText>,
    evidence: LabeledText,
    tensions: Vec<LabeledText>,
    recommendation: LabeledText,
    answer: LabeledText,
    created: Map<String, Value>,
    gap: String,
    minority: LabeledText,
    accepted: String,
    resolved: String,
    addressed: String,
    titles: Vec<String>,
    summary: String,
    merged: LabeledText,
    #[serde(rename = "final")]
    last: FinalTexts,
}

#[derive(Deserialize)]
struct FinalTexts {
    recommendation: String,
    description: String,
    compliance: String,
    conditions: Vec<String>,
}

impl AlignmentTexts {
    /// The role of the expert whom the Judge creates.
    fn created_role(&self) -> &str {
        self.created.get("role").and_then(Value::as_str).unwrap_or_default()
    }
}

fn alignment_texts() -> Option<AlignmentTexts> {
    serde_json::from_str(TEXTS).ok()
}

pub(crate) fn write_design(_: &CallRequest) -> Option<String> {
    Some(alignment_texts()?.design.to_string())
}

/// A tension as the Judge's prompt lists it.
#[derive(Deserialize)]
struct RehearsedTension {
    id: EntityId,
    status: String,
    raised_by: Vec<ExpertSlug>,
    #[serde(default)]
    accepted: Option<String>,
}

impl RehearsedTension {
    fn is_unsettled(&self) -> bool {
        self.status != "resolved" && self.accepted.is_none()
    }
}

fn read_list<T: for<'de> Deserialize<'de>>(user: &str, label: &str) -> Vec<T> {
    let text = find_part(user, label).unwrap_or_default();
    serde_json::from_str(text).unwrap_or_default()
}

/// Retains the panel; in the second round a created expert replaces a seat without a tension.
pub(crate) fn write_panel(request: &CallRequest) -> Option<String> {
    #[derive(Deserialize)]
    struct ExpertRow {
        expert_slug: ExpertSlug,
        role: String,
        #[serde(default)]
        sat_in_last_round: bool,
    }
    let (user, texts) = (request.messages.user_message(), alignment_texts()?);
    let tensions: Vec<RehearsedTension> = read_list(&user, "TENSIONS");
    let experts: Vec<ExpertRow> = read_list(&user, "EXPERTS");
    let role = texts.created_role();
    let has_created = experts.iter().any(|expert| expert.role == role);
    let mut seats: Vec<Value> = experts
        .iter()
        .filter(|expert| expert.sat_in_last_round)
        .map(|expert| {
            let own = tensions.iter().filter(|row| row.raised_by.contains(&expert.expert_slug));
            let own: Vec<EntityId> =
                own.filter(|row| row.is_unsettled()).map(|row| row.id).collect();
            json!({
                "expert_slug": expert.expert_slug, "source": "retained", "tensions": own,
                "reason": "This seat argued in the last round.",
                "directive": "Say what would settle the open tensions from your point of view.",
            })
        })
        .collect();
    if !has_created && find_part(&user, "EXPERTS").is_some() {
        let is_idle = |seat: &Value| {
            seat.get("tensions").and_then(Value::as_array).is_some_and(Vec::is_empty)
        };
        if let Some(place) = seats.iter().rposition(is_idle) {
            seats.remove(place);
        }
        let mut created = texts.created.clone();
        created.insert("source".to_owned(), json!("created"));
        created.insert("tensions".to_owned(), json!([]));
        seats.push(Value::Object(created));
    }
    Some(json!({ "seats": seats }).to_string())
}

/// An expert's reply: positions first, then an answer to the tensions, then convergence.
pub(crate) fn write_contribution(request: &CallRequest) -> Option<String> {
    let (user, texts) = (request.messages.user_message(), alignment_texts()?);
    let (round, seat) = (request.round, request.seat.as_str());
    let number = seat.bytes().map(usize::from).sum::<usize>();
    let id = |kind: char| format!("{}-{kind}{round:02}01", seat.to_ascii_uppercase());
    let entity = |kind: char, (label, text): &LabeledText| {
        format!("[{}: {}]\n{}\n", id(kind), quoted_in_label(label, &user), fill(text, &user))
    };
    let mut parts = Vec::new();
    let opinion = texts.perspectives.get(number % texts.perspectives.len().max(1))?;
    let tensions = named_tensions(&user);
    if round == 0 {
        parts.push(entity('E', &texts.evidence));
        parts.push(entity('P', opinion));
        let tension = texts.tensions.get(number % texts.tensions.len().max(1));
        if let Some(tension) = tension.filter(|_| raises_tension(&user)) {
            parts.push(format!("{}[RE:DEPEND {}]\n", entity('T', tension), id('P')));
        }
        parts.push(format!("{}[RE:DEPEND {}]\n", entity('R', &texts.recommendation), id('P')));
        return Some(parts.join("\n"));
    }
    let address: Vec<String> = tensions.iter().map(|id| format!("[RE:ADDRESS {id}]")).collect();
    parts.push(format!("{}{}\n", entity('P', &texts.answer), address.join(" ")));
    if round < LAST_ROUND {
        parts.push(format!("{}[RE:DEPEND {}]\n", entity('R', &texts.recommendation), id('P')));
        return Some(parts.join("\n"));
    }
    let role = find_part(&user, "YOUR ROLE").unwrap_or_default();
    if role.contains(texts.created_role()) {
        let (label, text) = &texts.minority;
        parts.push(format!("[MINORITY VERDICT: {label}]\n{text}\n"));
    }
    let named: Vec<String> = tensions.iter().map(ToString::to_string).collect();
    parts.push(format!("The open tensions are settled for me: {}.\n", named.join(", ")));
    parts.push("[MOVE:CONVERGE]\n".to_owned());
    Some(parts.join("\n"))
}

/// Core and Wildcard experts object. The others leave a seat to the expert whom the Judge creates.
fn raises_tension(user: &str) -> bool {
    let role = find_part(user, "YOUR ROLE").unwrap_or_default();
    let tier = role.lines().next().and_then(|line| line.rsplit(" | ").next());
    tier.is_some_and(|tier| ["Core", "Wildcard"].contains(&tier.trim()))
}

/// The ids of the rules that bind the dialogue.
fn rule_ids(user: &str) -> Vec<&str> {
    let rules = find_part(user, "RULES").unwrap_or_default();
    let rules = rules.lines().filter_map(|line| line.strip_prefix("- ")?.split(' ').next());
    rules.collect()
}

/// Brackets would end the label.
fn quoted_in_label(label: &str, user: &str) -> String {
    fill(label, user).replace(['[', ']'], "-")
}

fn fill(text: &str, user: &str) -> String {
    text.replace("{question}", &read_question(user))
}

/// The ids of the tensions that a message names, each once.
fn named_tensions(user: &str) -> Vec<EntityId> {
    let words = user.split(|letter: char| !letter.is_ascii_alphanumeric());
    let mut ids: Vec<EntityId> = Vec::new();
    for id in words.filter_map(|word| word.parse::<EntityId>().ok()) {
        if id.kind == EntityKind::Tension && !ids.contains(&id) {
            ids.push(id);
        }
    }
    // The explanation of the markers has examples; a round has named its tensions with a status.
    let message = |id: &EntityId| user.contains(&format!("[TENSION {id}:"));
    ids.retain(message);
    ids.sort_unstable();
    ids
}

/// Scores every reply, merges two positions in the first round, and settles the tensions step by
/// step: all but the last are resolved in the second round, the last is accepted in the third.
pub(crate) fn write_reconciliation(request: &CallRequest) -> Option<String> {
    #[derive(Deserialize)]
    struct LocalRow {
        id: LocalId,
    }
    let (user, texts) = (request.messages.user_message(), alignment_texts()?);
    let replies = parts_of_kind(&user, "REPLY OF ");
    let local: Vec<LocalRow> = read_list(&user, "LOCAL IDS");
    let first_of = |kind: EntityKind| local.iter().find(|row| row.id.kind == kind);
    // The same scores for each draw of experts.
    let scores: Vec<Value> = (0..3)
        .cycle()
        .zip(&replies)
        .filter_map(|(number, (name, text))| {
            let slug = name.split_whitespace().next()?;
            let step = u32::from(request.round);
            Some(json!({
                "expert_slug": slug, "quote": quote_of(text), "wisdom": 5 + number,
                "consistency": 4 + step, "truth": 3 + number, "relationships": 2 + step * 2,
            }))
        })
        .collect();
    let open: Vec<RehearsedTension> = read_list::<RehearsedTension>(&user, "TENSIONS")
        .into_iter()
        .filter(RehearsedTension::is_unsettled)
        .collect();
    let via = first_of(EntityKind::Recommendation).or(first_of(EntityKind::Perspective));
    let via = via.map(|row| row.id.to_string());
    let mut updates = Vec::new();
    let mut accepted = Vec::new();
    for (place, row) in open.iter().enumerate() {
        let is_last = place + 1 == open.len();
        match (request.round, is_last) {
            (0, _) => {}
            (1, true) => updates.push(json!({ "id": row.id, "via": via,
                "reason": texts.addressed, "status": "addressed" })),
            (1, false) => updates.push(json!({ "id": row.id, "via": via,
                "reason": texts.resolved, "status": "resolved" })),
            (_, true) => accepted.push(json!({ "id": row.id, "reason": texts.accepted })),
            (_, false) => updates.push(json!({ "id": row.id, "via": via,
                "reason": texts.resolved, "status": "resolved" })),
        }
    }
    // Each reply is marked as evidence for the first rule, if there are rules.
    let rule = rule_ids(&user).first().copied();
    let marks = replies.iter().filter_map(|(name, text)| {
        let slug = name.split_whitespace().next()?;
        Some(json!({ "expert_slug": slug, "rule_id": rule?, "quote": quote_of(text),
            "kind": "evidence" }))
    });
    let marks: Vec<Value> = marks.collect();
    let positions = local.iter().filter(|row| row.id.kind == EntityKind::Perspective);
    let positions: Vec<String> = positions.take(2).map(|row| row.id.to_string()).collect();
    let (label, content) = &texts.merged;
    let merges: Vec<Value> = (request.round == 0 && positions.len() == 2)
        .then(|| json!({ "ids": positions, "label": label, "content": content }))
        .into_iter()
        .collect();
    let gaps = if request.round == 0 { vec![texts.gap.clone()] } else { Vec::new() };
    let title = texts.titles.get(usize::from(request.round)).or(texts.titles.last())?;
    Some(
        json!({
            "merges": merges, "tension_updates": updates, "accepted": accepted,
            "scores": scores, "calibration": marks, "gaps": gaps, "title": title, "summary": texts.summary,
        })
        .to_string(),
    )
}

/// The first line of a reply that is not a marker. Neutralizing may have marked other lines.
fn quote_of(text: &str) -> &str {
    let is_prose = |line: &&str| !line.is_empty() && !line.starts_with(['[', '\\']);
    text.lines().map(str::trim).find(is_prose).unwrap_or("[")
}

/// Names what the record has: a recommendation, the accepted tension, the marked minority.
pub(crate) fn write_verdicts(request: &CallRequest) -> Option<String> {
    #[derive(Deserialize)]
    struct RehearsedEntity {
        id: EntityId,
        status: String,
    }
    #[derive(Deserialize)]
    struct DraftRow {
        author_expert: ExpertSlug,
        #[serde(default)]
        recommendation: Option<String>,
        #[serde(default)]
        description: Option<String>,
    }
    let (user, texts) = (request.messages.user_message(), alignment_texts()?);
    let entities: Vec<RehearsedEntity> = read_list(&user, "STATUS OF THE ENTITIES");
    let of_kind = |kind: EntityKind| {
        let found =
            entities.iter().rev().find(|row| row.id.kind == kind && row.status != "rejected");
        found.map(|row| row.id).into_iter().collect::<Vec<_>>()
    };
    let accepted: Vec<Value> = read_list::<RehearsedTension>(&user, "TENSIONS")
        .into_iter()
        .filter(|row| row.status != "resolved")
        .filter_map(|row| Some(json!({ "id": row.id, "reason": row.accepted? })))
        .collect();
    let minority: Vec<Value> = read_list::<DraftRow>(&user, "MARKED DISSENTS")
        .into_iter()
        .map(|draft| {
            let (label, text) = &texts.minority;
            json!({
                "author": draft.author_expert, "supporting_experts": [draft.author_expert],
                "recommendation": draft.recommendation.as_ref().unwrap_or(label),
                "description": draft.description.as_ref().unwrap_or(text),
            })
        })
        .collect();
    let adopted = of_kind(EntityKind::Recommendation);
    let rules: Vec<Value> = rule_ids(&user)
        .into_iter()
        .map(|rule| {
            json!({ "rule_id": rule, "status": "compliant", "reason": texts.last.compliance,
                "ids": adopted })
        })
        .collect();
    let compliance = (!rules.is_empty()).then(|| json!({ "rules": rules }));
    let is_divided = user.contains("NOT CONVERGED");
    Some(
        json!({
            "minority": minority,
            "dissents": [],
            "final": {
                "key_evidence": of_kind(EntityKind::Evidence),
                "key_claims": of_kind(EntityKind::Claim),
                "recommendations_adopted": adopted,
                "tensions_accepted": accepted,
                "description": texts.last.description,
                "ethos_compliance": compliance,
                "conditions": texts.last.conditions,
                "recommendation": fill(&texts.last.recommendation, &user),
                "confidence": if is_divided { "contested" } else { "strong" },
            },
        })
        .to_string(),
    )
}
