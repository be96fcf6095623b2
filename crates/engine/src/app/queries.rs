//! Queries over the store: resolve citations, find similar dialogues, count.

use std::borrow::Cow;

use plenary_core::dialogue::diagnostics::{
    Diagnostics, RequestWarning, dialogue_not_found, target_not_found,
};
use plenary_core::dialogue::request::{OperationRequest, ReadFields, read_request};
use plenary_core::dialogue::request_fields::RequestFields;
use plenary_core::dialogue::similar::{
    CANDIDATES_DEFAULT, SimilarDialogue, rank_hits, search_words,
};
use plenary_core::model::ids::{DialogueId, ExpertSlug};
use plenary_core::model::limits::{LINE_CHARS_MAX, PAGE_ITEMS_MAX, TEXT_CHARS_MAX};
use plenary_core::model::queries::{
    EntityCitation, IncomingReference, OutgoingReference, TopExpert,
};
use plenary_core::model::string_enum::{inlined_schema, word_schema, words};
use plenary_core::model::validation_error::{ErrorCode, ValidationError, ValidationErrors};
use plenary_core::protocols::review::log_row::AdjudicatorRow;
use plenary_core::report::calls::CallDocument;
use plenary_core::report::provenance::{ProvenanceSource, ProvenanceTarget};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::app::cited_ids::{CitedId, not_an_id, parse_address, whole_dialogue};
use crate::app::dialogue_ids::resolve_id;
use crate::app::export_record::{RecordSources, call_not_found, read_calls};
use crate::app::list_dialogues::{ListRequest, ListResult, list_dialogues};
use crate::app::project::Project;
use crate::app::verdict_log::{TailRow, find_verdict_row};
use crate::error::Error;
use crate::store::traits::VerifyFinding;

words! {
    /// What is looked for.
    pub enum SearchOp {
        Cite = "cite",
        Similar = "similar",
        Stats = "stats",
        List = "list",
    }
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum SearchResult {
    Cited(CiteResult),
    Similar(SimilarResult),
    Stats(Box<StatsResult>),
    Listed(ListResult),
}

/// Arguments of `search`: the operation and the fields of that operation.
#[derive(Debug)]
pub struct SearchRequest {
    op: SearchOp,
}

impl SearchRequest {
    /// Reads only the operation, whose own request type reads the other fields.
    fn read(arguments: &Value) -> Result<Self, ValidationErrors> {
        let fields = RequestFields::from_arguments(arguments)?;
        let op = fields.require_enum("op");
        Ok(fields.take_notes().into_result(op.map(|op| Self { op }))?.0)
    }
}

/// Filters of `list` that the tool accepts but does not list, to keep its schema short.
const UNLISTED_FIELDS: [&str; 3] = ["state", "since", "grep"];

/// Lists the fields of all four operations. A field of two operations is listed where
/// the later operation has it.
impl JsonSchema for SearchRequest {
    fn schema_name() -> Cow<'static, str> {
        "SearchRequest".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut fields = Map::new();
        fields.insert("op".to_owned(), word_schema::<SearchOp>(generator).into());
        let requests = [
            inlined_schema::<CiteRequest>(),
            inlined_schema::<SimilarRequest>(),
            inlined_schema::<StatsRequest>(),
            inlined_schema::<ListRequest>(),
        ];
        let all = requests.iter().filter_map(|all| all["properties"].as_object()).flatten();
        for (name, field) in all.filter(|(name, _)| !UNLISTED_FIELDS.contains(&name.as_str())) {
            fields.shift_remove(name);
            fields.insert(name.clone(), field.clone());
        }
        json_schema!({ "type": "object", "properties": fields, "required": ["op"] })
    }
}

pub fn search_store(project: &Project, arguments: &Value) -> Result<SearchResult, Error> {
    Ok(match SearchRequest::read(arguments)?.op {
        SearchOp::Cite => SearchResult::Cited(resolve_citations(project, arguments)?),
        SearchOp::Similar => SearchResult::Similar(find_similar(project, arguments)?),
        SearchOp::Stats => SearchResult::Stats(Box::new(count_records(project, arguments)?)),
        SearchOp::List => SearchResult::Listed(list_dialogues(project, arguments)?),
    })
}

const RESULTS_DEFAULT: usize = 10;

/// Arguments of `similar`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("x-also-known" = ["op"]))]
pub struct SimilarRequest {
    /// similar.
    #[schemars(length(max = TEXT_CHARS_MAX))]
    query: String,
    #[schemars(range(min = 1, max = PAGE_ITEMS_MAX))]
    limit: Option<usize>,
}

impl OperationRequest for SimilarRequest {}

#[derive(Debug, Serialize)]
pub struct SimilarResult {
    pub status: &'static str,
    pub results: Vec<SimilarDialogue>,
    /// Unknown fields of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<RequestWarning>,
}

pub fn find_similar(project: &Project, arguments: &Value) -> Result<SimilarResult, Error> {
    let (SimilarRequest { query, limit }, warnings) = read_request(arguments)?;
    let limit = limit.unwrap_or(RESULTS_DEFAULT);
    let words = search_words(&query);
    let hits = project.store.search_texts(&words, CANDIDATES_DEFAULT.max(limit))?;
    Ok(SimilarResult { status: "success", results: rank_hits(&words, hits, limit), warnings })
}

/// Arguments of `cite`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("x-also-known" = ["op"]))]
pub struct CiteRequest {
    /// cite: P0101 or dialogue/P0101.
    #[serde(default)]
    #[schemars(inner(length(max = LINE_CHARS_MAX)))]
    ids: Vec<String>,
    /// cite: the dialogue of short ids.
    #[schemars(length(max = LINE_CHARS_MAX))]
    dialogue_id: Option<String>,
}

impl OperationRequest for CiteRequest {
    fn validate(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
        let ids: Vec<String> = fields.get("ids").unwrap_or_default();
        if ids.is_empty() && notes.errors.is_empty() {
            let fault = fields.given.missing_field("ids");
            notes.add_error(fault.with_suggestion("name ids such as P0101 or my-dialogue/P0101"));
        }
    }
}

#[derive(Debug, Serialize)]
pub struct CiteResult {
    pub status: &'static str,
    pub citations: Vec<CitedPart>,
    pub errors: Vec<CiteError>,
    /// Unknown fields of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<RequestWarning>,
}

/// What an id names.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum CitedPart {
    Entity(Box<SourcedCitation>),
    Part(Box<PartCitation>),
    Call(Box<CallCitation>),
}

/// An entity with the passages of the replies that it comes from.
#[derive(Debug, Serialize)]
pub struct SourcedCitation {
    #[serde(flatten)]
    pub entity: EntityCitation,
    pub sources: Vec<ProvenanceSource>,
}

/// The `type` of a citation of a field of the conclusion.
pub const CONCLUSION_KIND: &str = "conclusion";

/// A field of the conclusion or a verdict, in the shape of a citation.
#[derive(Debug, Serialize)]
pub struct PartCitation {
    /// `conclusion.recommendation` or `verdict.report`.
    pub id: String,
    pub dialogue_id: DialogueId,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub label: String,
    pub content: String,
    pub contributors: Vec<ExpertSlug>,
    pub references: Vec<OutgoingReference>,
    pub referenced_by: Vec<IncomingReference>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rehearsal: bool,
    pub sources: Vec<ProvenanceSource>,
}

/// A call in the shape of a citation.
#[derive(Debug, Serialize)]
pub struct CallCitation {
    /// `call/7`
    pub id: String,
    pub dialogue_id: DialogueId,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub label: String,
    /// The reply; empty without one.
    pub content: String,
    pub contributors: Vec<ExpertSlug>,
    pub references: Vec<OutgoingReference>,
    pub referenced_by: Vec<IncomingReference>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rehearsal: bool,
    #[serde(flatten)]
    pub call: CallDocument,
}

/// An id that could not be expanded, and why.
#[derive(Debug)]
pub struct CiteError {
    pub id: String,
    pub fault: ValidationError,
}

impl Serialize for CiteError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut document = json!({ "id": self.id });
        if let (Value::Object(map), Value::Object(fault)) =
            (&mut document, self.fault.to_document())
        {
            map.extend(fault.into_iter().filter(|(key, _)| key != "item_type"));
        }
        document.serialize(serializer)
    }
}

/// Resolves ids; errors of bad ids are returned beside the good ones.
pub fn resolve_citations(project: &Project, arguments: &Value) -> Result<CiteResult, Error> {
    let (request, warnings) = read_request::<CiteRequest>(arguments)?;
    let mut cited =
        CiteResult { status: "success", citations: Vec::new(), errors: Vec::new(), warnings };
    let mut sources = None;
    for id in request.ids {
        match expand_id(project, &mut sources, request.dialogue_id.as_deref(), &id)? {
            Ok(citation) => cited.citations.push(citation),
            Err(fault) => cited.errors.push(CiteError { id, fault }),
        }
    }
    report_changed_records(project, &mut cited)?;
    Ok(cited)
}

/// Adds an error for each cited dialogue whose tables differ from its journal: a forged row would
/// otherwise be cited as a statement of the panel. Calls are read from the journal.
fn report_changed_records(project: &Project, cited: &mut CiteResult) -> Result<(), Error> {
    let mut dialogues: Vec<&DialogueId> = Vec::new();
    for part in &cited.citations {
        let id = match part {
            CitedPart::Entity(citation) => &citation.entity.dialogue_id,
            CitedPart::Part(citation) => &citation.dialogue_id,
            CitedPart::Call(_) => continue,
        };
        if !dialogues.contains(&id) {
            dialogues.push(id);
        }
    }
    for id in dialogues {
        let changed = project.store.find_changed_rows(id)?;
        let Some(VerifyFinding { place, message, .. }) = changed.first() else { continue };
        let text = format!("the text of '{id}' differs from its journal: {place}: {message}");
        let fault = ValidationError::new(ErrorCode::RecordChanged, text)
            .with_suggestion(format!("do not trust the text; run `plenary verify {id}`"));
        cited.errors.push(CiteError { id: id.to_string(), fault });
    }
    Ok(())
}

/// A row of the verdict log.
fn cite_verdict(verdict: TailRow, text: &str) -> PartCitation {
    let TailRow { row, dialogue_id, standing, .. } = verdict;
    let AdjudicatorRow { revision_brief, reasoning, .. } = row.adjudicator;
    PartCitation {
        id: row.verdict_id.unwrap_or_else(|| text.to_owned()),
        dialogue_id,
        kind: "verdict",
        label: format!("{standing}: {}", row.artifact),
        content: if revision_brief.trim().is_empty() { reasoning } else { revision_brief },
        contributors: Vec::new(),
        references: Vec::new(),
        referenced_by: Vec::new(),
        rehearsal: row.rehearsal,
        sources: Vec::new(),
    }
}

/// `sources` keeps the sources of the last dialogue: most ids are of one.
fn expand_id(
    project: &Project,
    sources: &mut Option<RecordSources>,
    dialogue: Option<&str>,
    text: &str,
) -> Result<Result<CitedPart, ValidationError>, Error> {
    if let Some(verdict) = find_verdict_row(project.store.as_ref(), text)? {
        return Ok(Ok(CitedPart::Part(Box::new(cite_verdict(verdict, text)))));
    }
    let (dialogue, part) = match parse_address(dialogue, text) {
        Ok(address) => address,
        Err(fault) => {
            let is_whole = dialogue.is_none() && resolve_id(project.store.as_ref(), text).is_ok();
            return Ok(Err(if is_whole { whole_dialogue(text) } else { fault }));
        }
    };
    let dialogue = match resolve_id(project.store.as_ref(), dialogue) {
        Err(Error::Refused(refusal)) => match refusal.errors.into_iter().next() {
            Some(fault) => return Ok(Err(fault)),
            None => return Ok(Err(dialogue_not_found(dialogue))),
        },
        resolved => resolved?,
    };
    if let CitedId::Call(number) = part {
        return cite_call(project, &dialogue, number);
    }
    if sources.as_ref().is_none_or(|loaded| *loaded.record.dialogue.id() != dialogue) {
        *sources = RecordSources::load(project, &dialogue)?;
    }
    let Some(sources) = sources else { return Ok(Err(dialogue_not_found(dialogue.as_str()))) };
    match part {
        CitedId::Entity(id) => {
            let found = project.store.load_citation(&dialogue, id)?;
            let found = found.map(|entity| {
                let target = ProvenanceTarget::Entity(id);
                let sources = sources.find(&target).map(|found| found.sources).unwrap_or_default();
                CitedPart::Entity(Box::new(SourcedCitation { entity, sources }))
            });
            Ok(found.ok_or_else(|| target_not_found(&id.to_string(), &dialogue)))
        }
        CitedId::Part(named) => Ok(cite_part(sources, &named, text)),
        CitedId::Call(number) => cite_call(project, &dialogue, number),
    }
}

/// A field of the conclusion, or a verdict; a verdict may be named by its id alone.
fn cite_part(
    sources: &RecordSources,
    named: &str,
    text: &str,
) -> Result<CitedPart, ValidationError> {
    let dialogue = &sources.record.dialogue;
    let target = ProvenanceTarget::parse(named);
    let target = target.unwrap_or_else(|| ProvenanceTarget::Verdict(named.to_owned()));
    let Some(found) = sources.find(&target) else {
        return Err(match named.contains('.') {
            true => target_not_found(named, dialogue.id()),
            false => not_an_id(text),
        });
    };
    let (kind, label) = match &target {
        ProvenanceTarget::Conclusion(field) => (CONCLUSION_KIND, field.name().replace('_', " ")),
        ProvenanceTarget::Verdict(_) | ProvenanceTarget::Entity(_) => {
            ("verdict", "recommendation and description".to_owned())
        }
        ProvenanceTarget::Audit(_) => ("audit", "objections of the critic".to_owned()),
        ProvenanceTarget::CouncilReport => ("report", "report of the chair".to_owned()),
    };
    let mut contributors: Vec<ExpertSlug> = Vec::new();
    for source in &found.sources {
        if !contributors.contains(&source.seat) {
            contributors.push(source.seat.clone());
        }
    }
    // The text also has the parts of lines that are searched.
    let mut lines: Vec<&str> = Vec::new();
    for line in found.text.lines() {
        let is_part =
            |whole: &&str| whole.trim_end_matches('.').ends_with(line.trim_end_matches('.'));
        if !lines.iter().any(is_part) {
            lines.push(line);
        }
    }
    Ok(CitedPart::Part(Box::new(PartCitation {
        id: found.entity,
        dialogue_id: dialogue.id().clone(),
        kind,
        label,
        content: lines.join("\n"),
        contributors,
        references: Vec::new(),
        referenced_by: Vec::new(),
        rehearsal: dialogue.opening.rehearsal,
        sources: found.sources,
    })))
}

fn cite_call(
    project: &Project,
    id: &DialogueId,
    number: u32,
) -> Result<Result<CitedPart, ValidationError>, Error> {
    let Some(dialogue) = project.store.load_dialogue(id)? else {
        return Ok(Err(dialogue_not_found(id.as_str())));
    };
    let mut calls = read_calls(project, id)?;
    let Some(place) = calls.iter().position(|call| call.call == number) else {
        return Ok(Err(call_not_found(id, number, calls.len())));
    };
    let call = calls.swap_remove(place);
    Ok(Ok(CitedPart::Call(Box::new(CallCitation {
        id: format!("call/{number}"),
        dialogue_id: id.clone(),
        kind: "call",
        label: format!("{} of {}", call.purpose, call.seat),
        content: call.raw.clone().unwrap_or_default(),
        contributors: vec![call.seat.clone()],
        references: Vec::new(),
        referenced_by: Vec::new(),
        rehearsal: dialogue.opening.rehearsal,
        call,
    }))))
}

const TOP_EXPERTS: usize = 10;

/// `stats` has no arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("x-also-known" = ["op"]))]
pub struct StatsRequest {}

impl OperationRequest for StatsRequest {}

#[derive(Debug, Serialize)]
pub struct StatsResult {
    pub status: &'static str,
    pub dialogues: usize,
    pub by_status: Map<String, Value>,
    pub by_protocol: Map<String, Value>,
    pub by_terminal_state: Map<String, Value>,
    pub entities: Map<String, Value>,
    pub averages: Map<String, Value>,
    pub top_experts: Vec<TopExpert>,
    /// Unknown fields of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<RequestWarning>,
}

pub fn count_records(project: &Project, arguments: &Value) -> Result<StatsResult, Error> {
    let (StatsRequest {}, warnings) = read_request(arguments)?;
    let stats = project.store.load_stats(TOP_EXPERTS)?;
    let average = |sum: f64| {
        let mean = sum / stats.dialogues.max(1) as f64;
        json!((mean * 100.0).round() / 100.0)
    };
    let sums = [
        ("rounds", stats.rounds as f64),
        ("experts", stats.experts as f64),
        ("total_alignment", stats.total_alignment as f64),
    ];
    let of_kinds = stats.entities.iter().map(|(kind, count)| (kind.section_name(), *count as f64));
    let averages =
        sums.into_iter().chain(of_kinds).map(|(name, sum)| (name.to_owned(), average(sum)));
    Ok(StatsResult {
        status: "success",
        dialogues: stats.dialogues,
        averages: averages.collect(),
        by_status: counts_by_name(
            stats.by_status.iter().map(|(word, count)| (word.name(), *count)),
        ),
        by_protocol: counts_by_name(
            stats.by_protocol.iter().map(|(word, count)| (word.name(), *count)),
        ),
        by_terminal_state: counts_by_name(
            stats.by_terminal_state.iter().map(|(word, count)| (word.name(), *count)),
        ),
        entities: counts_by_name(
            stats.entities.iter().map(|(kind, count)| (kind.section_name(), *count)),
        ),
        top_experts: stats.top_experts,
        warnings,
    })
}

fn counts_by_name<'a>(counts: impl Iterator<Item = (&'a str, usize)>) -> Map<String, Value> {
    counts.map(|(name, count)| (name.to_owned(), json!(count))).collect()
}
