//! Built-in replies: which file or function answers an ask, and the replies of the synthesizer, the
//! critic and the reviser.

use plenary_core::ethos::conflict_ask::FIND_CONFLICTS;
use plenary_core::model::ask::{AskPurpose, CallErrorType};
use plenary_core::model::ids::{ClaimSource, EntityId, EntityKind, ExpertSlug};
use plenary_core::model::time::Day;
use plenary_core::protocols::classification::protocol::CLASSIFY;
use plenary_core::protocols::conclusion::format::constraint::find_violations;
use plenary_core::protocols::conclusion::types::{
    CitedClaim, Conclusion, ConclusionField, ConclusionParticipant, UnresolvedPoint,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::providers::rehearsal::alignment::{
    write_contribution, write_design, write_panel, write_reconciliation, write_verdicts,
};
use crate::providers::rehearsal::review::{
    adjudicate_review, classify_artifact, judge_artifact, reconsider_judgement,
};
use crate::providers::rehearsal::template::{
    fill_file, find_part, read_question, split_parts, to_quote,
};
use crate::providers::transport::{CallError, CallRequest};

/// A council seat and its files.
pub(crate) struct SeatFiles {
    pub(crate) name: &'static str,
    opinion: &'static str,
    peer_review: &'static str,
}

macro_rules! council_file {
    ($name:literal) => {
        include_str!(concat!("../../../../../data/rehearsal/council/", $name, ".json"))
    };
}

pub(crate) const COUNCIL_SEATS: [SeatFiles; 3] = [
    SeatFiles {
        name: "optimist",
        opinion: council_file!("opinion-optimist"),
        peer_review: council_file!("review-optimist"),
    },
    SeatFiles {
        name: "skeptic",
        opinion: council_file!("opinion-skeptic"),
        peer_review: council_file!("review-skeptic"),
    },
    SeatFiles {
        name: "pragmatist",
        opinion: council_file!("opinion-pragmatist"),
        peer_review: council_file!("review-pragmatist"),
    },
];

const REPORT: &str = council_file!("report");
const CONCLUSION: &str = include_str!("../../../../../data/rehearsal/conclusion/replies.json");

type ReplyWriter = fn(&CallRequest) -> Option<String>;

/// Who answers which ask.
const REPLY_WRITERS: [(AskPurpose, ReplyWriter); 17] = [
    (AskPurpose::Opinion, |request| fill_file(request, files_of(&request.seat)?.opinion)),
    (AskPurpose::PeerReview, |request| fill_file(request, files_of(&request.seat)?.peer_review)),
    (AskPurpose::Synthesis, |request| fill_file(request, REPORT)),
    (AskPurpose::Conclusion, |request| {
        to_json(&write_conclusion(&request.messages.user_message())?)
    }),
    (AskPurpose::Audit, |request| audit_conclusion(&request.messages.user_message())),
    (AskPurpose::Revision, |request| to_json(&write_revision(&request.messages.user_message())?)),
    (AskPurpose::Restatement, |request| restate_directive(&request.messages.user_message())),
    (AskPurpose::Judgement, |request| to_json(&judge_artifact(request)?)),
    (AskPurpose::CrossReading, |request| to_json(&reconsider_judgement(request)?)),
    (AskPurpose::Adjudication, |request| to_json(&adjudicate_review(&request.messages))),
    (CLASSIFY, |request| classify_artifact(&request.messages)),
    (AskPurpose::Design, write_design),
    (FIND_CONFLICTS, |_| Some("{\"conflicts\": []}".to_owned())),
    (AskPurpose::Panel, write_panel),
    (AskPurpose::Contribution, write_contribution),
    (AskPurpose::Reconciliation, write_reconciliation),
    (AskPurpose::Verdicts, write_verdicts),
];

/// Returns the built-in reply to an ask.
pub(crate) fn write_reply(request: &CallRequest) -> Result<String, CallError> {
    let writer = REPLY_WRITERS.iter().find(|(purpose, _)| *purpose == request.purpose);
    writer.and_then(|(_, write)| write(request)).ok_or_else(|| {
        let message = format!(
            "the rehearsal panel has no reply for the purpose `{}`: write one into a script and \
             pass it with `--rehearse FILE`",
            request.purpose
        );
        CallError::new(CallErrorType::BadRequest, message)
    })
}

fn to_json(document: &impl serde::Serialize) -> Option<String> {
    serde_json::to_string(document).ok()
}

/// A seat of another name, as in a configured panel, uses the files of one of the three.
fn files_of(seat: &ExpertSlug) -> Option<&'static SeatFiles> {
    let named = COUNCIL_SEATS.iter().find(|files| seat.as_str().starts_with(files.name));
    let number = seat.as_str().bytes().map(usize::from).sum::<usize>() % COUNCIL_SEATS.len();
    named.or(COUNCIL_SEATS.get(number))
}

/// Texts of the synthesizer, the critic and the reviser.
#[derive(Deserialize)]
struct ConclusionTexts {
    recommendation: String,
    key_condition: String,
    unresolved_point: String,
    review_days: u32,
    objection: String,
    revised_recommendation: String,
    /// The critic passes a conclusion that contains this sentence.
    revised_key_condition: String,
    revised_review_days: u32,
    format_sentences: Vec<String>,
    format_words: Vec<String>,
    restatement: String,
}

fn conclusion_texts() -> Option<ConclusionTexts> {
    serde_json::from_str(CONCLUSION).ok()
}

fn write_conclusion(user: &str) -> Option<Conclusion> {
    let texts = conclusion_texts()?;
    Some(Conclusion {
        recommendation: texts.recommendation.replace("{question}", &read_question(user)),
        key_condition: texts.key_condition,
        unresolved_points: list_unresolved_points(user, &texts.unresolved_point),
        review_by: date_in_days(user, texts.review_days),
        participants: read_participants(user),
    })
}

fn date_in_days(user: &str, days: u32) -> Day {
    // A conclusion that is written later than the run began has a second date.
    let own_text = split_parts(user).1;
    let today = own_text.lines().rev().find_map(|line| line.strip_prefix("Today is "));
    let today: Option<Day> = today.and_then(|day| {
        // `Monday, 2026-02-02.`
        day.strip_suffix('.')?.rsplit(' ').next()?.parse().ok()
    });
    // Only a foreign prompt has no date; then use the last possible day.
    today.map_or(Day::LAST, |today| today.plus_days(days))
}

/// Parses a part of JSON lines; lines that neutralizing made invalid are skipped.
fn read_json_lines<T: for<'de> Deserialize<'de>>(user: &str, label: &str) -> Vec<T> {
    let lines = find_part(user, label).unwrap_or_default().lines();
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn read_participants(user: &str) -> Vec<ConclusionParticipant> {
    /// A line also has the letter and the role of the participant.
    #[derive(Deserialize)]
    struct ParticipantLine {
        agent: ExpertSlug,
        version: String,
    }
    let lines: Vec<ParticipantLine> = read_json_lines(user, "PARTICIPANTS");
    let listed = lines.into_iter();
    listed.map(|line| ConclusionParticipant { agent: line.agent, version: line.version }).collect()
}

/// One point on which the first two participants with a recommendation differ.
fn list_unresolved_points(user: &str, point: &str) -> Vec<UnresolvedPoint> {
    /// An entity in the record digest.
    #[derive(Deserialize)]
    struct RecordEntity {
        id: EntityId,
        agents: Vec<ExpertSlug>,
        /// Its first line is the recommendation; a record that is cut has labels only.
        #[serde(default)]
        text: String,
        #[serde(default)]
        label: String,
    }
    let mut claims: Vec<CitedClaim> = Vec::new();
    for entity in read_json_lines::<RecordEntity>(user, "RECORD") {
        let agent = entity.agents.first().filter(|_| entity.id.kind == EntityKind::Recommendation);
        let is_new = |agent: &&ExpertSlug| claims.iter().all(|claim| claim.agent != **agent);
        if let Some(agent) = agent.filter(is_new).filter(|_| !entity.label.is_empty()) {
            let id = ClaimSource::Entity(entity.id);
            let claim = entity.text.lines().next().unwrap_or(&entity.label).to_owned();
            claims.push(CitedClaim { id, agent: agent.clone(), claim });
        }
    }
    claims.truncate(2);
    let agents_involved = claims.iter().map(|claim| claim.agent.clone()).collect();
    let point = UnresolvedPoint { point: point.to_owned(), agents_involved, claims };
    Some(point).filter(|point| point.claims.len() == 2).into_iter().collect()
}

/// Flags one field once.
fn audit_conclusion(user: &str) -> Option<String> {
    let texts = conclusion_texts()?;
    let is_revised = find_part(user, "CONCLUSION")?.contains(&texts.revised_key_condition);
    Some(if is_revised { "PASS".to_owned() } else { texts.objection })
}

/// Revises the fields to which there are objections.
fn write_revision(user: &str) -> Option<Value> {
    #[derive(Deserialize)]
    struct FlaggedField {
        field: ConclusionField,
    }
    let flagged: Vec<FlaggedField> = serde_json::from_str(find_part(user, "OBJECTIONS")?).ok()?;
    // If neutralizing made the draft invalid JSON, write it again.
    let shown = find_part(user, "CONCLUSION").and_then(|text| serde_json::from_str(text).ok());
    let draft = shown.or_else(|| write_conclusion(user))?;
    let texts = conclusion_texts()?;
    let revised = flagged
        .iter()
        .map(|flag| (flag.field.to_string(), revise_field(flag.field, &draft, user, &texts)));
    Some(Value::Object(revised.collect::<Map<_, _>>()))
}

fn revise_field(
    field: ConclusionField,
    draft: &Conclusion,
    user: &str,
    texts: &ConclusionTexts,
) -> Value {
    match field {
        ConclusionField::Recommendation => {
            let question = find_part(user, "QUESTION").unwrap_or_default();
            fit_format(question, &draft.recommendation, texts).into()
        }
        ConclusionField::KeyCondition => {
            format!("{} {}", draft.key_condition, texts.revised_key_condition).into()
        }
        // Either a point is missing, or there is one too many.
        ConclusionField::UnresolvedPoints if draft.unresolved_points.is_empty() => {
            json!(list_unresolved_points(user, &texts.unresolved_point))
        }
        ConclusionField::UnresolvedPoints => json!([]),
        ConclusionField::ReviewBy => json!(date_in_days(user, texts.revised_review_days)),
        ConclusionField::Participants => json!(read_participants(user)),
    }
}

/// Longest answer that is tried, in pieces.
const PIECES_MAX: usize = 300;

/// Adds a sentence to a draft in the requested format. Otherwise returns the shortest answer of
/// sentences, lines, bullets or single verbs that has the format.
fn fit_format(question: &str, draft: &str, texts: &ConclusionTexts) -> String {
    let fits = |text: &String| find_violations(question, text).is_empty();
    let longer = format!("{draft} {}", texts.revised_recommendation);
    if fits(&longer) {
        return longer;
    }
    let candidates = (1..=PIECES_MAX).flat_map(|count| {
        let sentences: Vec<&str> =
            texts.format_sentences.iter().cycle().take(count).map(String::as_str).collect();
        let words: Vec<&str> =
            texts.format_words.iter().cycle().take(count).map(String::as_str).collect();
        let bullets: Vec<String> = sentences.iter().map(|text| format!("- {text}")).collect();
        let mut list = format!("{}.", words.join(", "));
        if let Some(first) = list.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        [sentences.join(" "), sentences.join("\n"), bullets.join("\n"), list]
    });
    candidates.into_iter().find(fits).unwrap_or_else(|| draft.to_owned())
}

/// Restates the Principal's directive in one sentence.
fn restate_directive(user: &str) -> Option<String> {
    let directive = to_quote(find_part(user, "DIRECTIVE").unwrap_or_default());
    Some(conclusion_texts()?.restatement.replace("{directive}", &directive))
}
