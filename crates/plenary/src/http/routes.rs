//! [`ROUTES`]: every route of the API, with its handler and its types. The router and the OpenAPI
//! document are built from this table.

use std::sync::Arc;

use axum::routing::{MethodRouter, get, post};
use plenary_core::dialogue::expert::ExpertRequest;
use plenary_core::dialogue::panel::PanelRequest;
use plenary_core::dialogue::verdict::parse::VerdictRequest;
use plenary_core::ethos::rule_set::EthosStatus;
use plenary_core::model::string_enum::inlined_schema;
use plenary_core::report::call_rows::{CallDetail, CallsAnswer};
use plenary_core::report::graph::{EntitiesAnswer, GraphDocument, TensionBoard};
use plenary_core::report::provenance::ProvenanceDocument;
use plenary_core::report::scoreboard::DialogueScoreboard;
use plenary_core::report::transcript::TranscriptDocument;
use plenary_engine::app::checks::{DueResult, OutcomeRequest};
use plenary_engine::app::conclude::ConcludeRequest;
use plenary_engine::app::ethos::EthosToolRequest;
use plenary_engine::app::requests::align::AlignRequest;
use plenary_engine::app::requests::ask::AskRequest;
use plenary_engine::app::requests::intervene::InterveneRequest;
use plenary_engine::app::requests::review::ReviewRequest;
use plenary_engine::app::requests::run_answer::RunAnswer;
use plenary_engine::app::requests::status::StatusRequest;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::http::dialogue_list::{DialogueListAnswer, list_dialogues};
use crate::http::openapi::show_openapi;
use crate::http::router::{ApiState, show_health};
use crate::http::session::{SessionRequest, open_session};
use crate::http::starts::{StartAnswer, start_alignment, start_council, start_review};
use crate::http::{dialogues, events, operations, views};

/// A route of the API.
pub(crate) struct ApiRoute {
    pub method: &'static str,
    pub path: &'static str,
    pub about: &'static str,
    /// Names and meanings of the values of a query.
    pub query: &'static [(&'static str, &'static str)],
    /// The schema of the body. The path fixes `dialogue_id`, `kind` and `resume`.
    pub body: Option<fn() -> Value>,
    pub answer: RouteAnswer,
    pub handler: fn() -> MethodRouter<Arc<ApiState>>,
}

/// What a route answers.
#[derive(Clone, Copy)]
pub(crate) enum RouteAnswer {
    Json(fn(&mut SchemaGenerator) -> Schema),
    /// 202 with the address of the dialogue; 200 if no run is needed.
    Started,
    NoContent,
    Events,
    File,
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// A document whose fields another page describes.
fn open_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

/// The export document, and beside it the state of the run and the head of the journal.
fn dialogue_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "The document of `plenary export --format json`, with `state` and `head`.",
        "required": ["id", "title", "protocol", "status", "created_at", "rounds", "headHash",
            "state", "head"],
    })
}

fn health_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object", "properties": { "status": { "const": "ok" } }, "required": ["status"],
    })
}

/// The library of an ethos; each part has the fields of `plenary ethos export`.
fn ethos_schema(_: &mut SchemaGenerator) -> Schema {
    let list = json!({ "type": "array", "items": { "type": "object" } });
    let made = json!({ "type": "array", "items": {
        "type": "object", "required": ["ethos_id", "dialogue_id", "ethos_status", "title"],
        "properties": { "ethos_id": { "type": "string" }, "dialogue_id": { "type": "string" },
            "ethos_status": { "enum": EthosStatus::ALL }, "title": { "type": "string" } },
    } });
    json_schema!({
        "type": "object", "required": ["status", "principles", "domains", "ethos"],
        "properties": { "status": { "const": "success" }, "principles": list, "domains": list,
            "ethos": made },
    })
}

fn register_body() -> Value {
    json!({
        "type": "object",
        "description": "The arguments of `blue_dialogue_round_register`, or the document of \
            `plenary dialogue extract`.",
    })
}

const NO_QUERY: &[(&str, &str)] = &[];

const fn read_route(
    path: &'static str,
    about: &'static str,
    query: &'static [(&'static str, &'static str)],
    answer: RouteAnswer,
    handler: fn() -> MethodRouter<Arc<ApiState>>,
) -> ApiRoute {
    ApiRoute { method: "get", path, about, query, body: None, answer, handler }
}

const fn change_route(
    path: &'static str,
    about: &'static str,
    body: fn() -> Value,
    answer: RouteAnswer,
    handler: fn() -> MethodRouter<Arc<ApiState>>,
) -> ApiRoute {
    ApiRoute { method: "post", path, about, query: NO_QUERY, body: Some(body), answer, handler }
}

use RouteAnswer::{Events, File, Json, NoContent, Started};

pub(crate) static ROUTES: &[ApiRoute] = &[
    read_route(
        "/api/health",
        "Whether the process answers; needs no token",
        NO_QUERY,
        Json(health_schema),
        || get(show_health),
    ),
    change_route(
        "/api/session",
        "Exchange the token, or a one-time token, for a session cookie",
        inlined_schema::<SessionRequest>,
        NoContent,
        || post(open_session),
    ),
    read_route("/api/openapi.json", "This document", NO_QUERY, Json(open_object), || {
        get(show_openapi)
    }),
    read_route(
        "/api/dialogues",
        "List dialogues, newest first",
        &[
            ("state", "running, open, done, incomplete, failed or interrupted"),
            ("protocol", "council, review or alignment"),
            ("q", "words to search for"),
            ("after", "`next` of the last page"),
            ("limit", "rows of a page [50]"),
        ],
        Json(schema_of::<DialogueListAnswer>),
        || get(list_dialogues),
    ),
    read_route(
        "/api/dialogues/{id}",
        "The whole record and the state of its run",
        NO_QUERY,
        Json(dialogue_schema),
        || get(dialogues::show_dialogue),
    ),
    read_route(
        "/api/dialogues/{id}/transcript",
        "What each seat said, by round",
        NO_QUERY,
        Json(schema_of::<TranscriptDocument>),
        || get(dialogues::show_transcript),
    ),
    read_route(
        "/api/dialogues/{id}/entities",
        "The entities with their history",
        NO_QUERY,
        Json(schema_of::<EntitiesAnswer>),
        || get(views::show_entities),
    ),
    read_route(
        "/api/dialogues/{id}/graph",
        "Entities and their references",
        NO_QUERY,
        Json(schema_of::<GraphDocument>),
        || get(views::show_graph),
    ),
    read_route(
        "/api/dialogues/{id}/tensions",
        "The tensions by what became of them",
        &[("round", "the board as it was after this round")],
        Json(schema_of::<TensionBoard>),
        || get(views::show_tensions),
    ),
    read_route(
        "/api/dialogues/{id}/scoreboard",
        "The scores of an alignment dialogue, by round; `null` for a dialogue without scores",
        NO_QUERY,
        Json(schema_of::<Option<DialogueScoreboard>>),
        || get(views::show_scoreboard),
    ),
    read_route(
        "/api/dialogues/{id}/calls",
        "The calls of the run, without texts",
        NO_QUERY,
        Json(schema_of::<CallsAnswer>),
        || get(dialogues::show_calls),
    ),
    read_route(
        "/api/dialogues/{id}/calls/{call}",
        "One call with messages and reply",
        NO_QUERY,
        Json(schema_of::<CallDetail>),
        || get(dialogues::show_call),
    ),
    read_route(
        "/api/dialogues/{id}/provenance/{entity}",
        "The passages that an entity, `conclusion.FIELD`, `verdict.ID`, `audit.1`, `audit.2` or \
         `council.report` comes from",
        NO_QUERY,
        Json(schema_of::<ProvenanceDocument>),
        || get(views::show_provenance),
    ),
    read_route(
        "/api/dialogues/{id}/export",
        "The record as a file",
        &[("format", "json, markdown or html [json]"), ("full", "true adds the calls")],
        File,
        || get(views::show_export),
    ),
    read_route(
        "/api/events",
        "Follow dialogues; without one, changes of the store",
        &[("dialogue", "the id; may be repeated"), ("after", "the id of the last event")],
        Events,
        || get(events::stream_events),
    ),
    read_route("/api/ethos", "Principles, domains and ethos", NO_QUERY, Json(ethos_schema), || {
        get(operations::show_ethos)
    }),
    change_route(
        "/api/ethos",
        "Run an operation of calibration, as `blue_ethos` does",
        inlined_schema::<EthosToolRequest>,
        Json(open_object),
        || post(operations::change_ethos),
    ),
    read_route("/api/stats", "Counts over the whole store", NO_QUERY, Json(open_object), || {
        get(views::show_stats)
    }),
    read_route("/api/audit", "Statistics of the verdict log", NO_QUERY, Json(open_object), || {
        get(views::show_audit)
    }),
    read_route(
        "/api/due",
        "Conclusions to revisit",
        &[("within", "also those due in, such as 30d")],
        Json(schema_of::<DueResult>),
        || get(views::show_due),
    ),
    change_route("/api/ask", "Ask a council", inlined_schema::<AskRequest>, Started, || {
        post(start_council)
    }),
    change_route(
        "/api/align",
        "Let the built-in Judge lead experts",
        inlined_schema::<AlignRequest>,
        Started,
        || post(start_alignment),
    ),
    change_route(
        "/api/review",
        "Review a document",
        inlined_schema::<ReviewRequest>,
        Started,
        || post(start_review),
    ),
    change_route(
        "/api/dialogues/{id}/resume",
        "Continue an interrupted or incomplete run",
        inlined_schema::<StatusRequest>,
        Started,
        || post(operations::resume),
    ),
    change_route(
        "/api/dialogues/{id}/conclude",
        "Write the audited conclusion of a record",
        inlined_schema::<ConcludeRequest>,
        Started,
        || post(operations::conclude),
    ),
    change_route(
        "/api/dialogues/{id}/whisper",
        "Send a message to all seats or one",
        inlined_schema::<InterveneRequest>,
        Json(schema_of::<RunAnswer>),
        || post(operations::whisper),
    ),
    change_route(
        "/api/dialogues/{id}/direct",
        "Give a directive; `confirmed` makes it count",
        inlined_schema::<InterveneRequest>,
        Json(schema_of::<RunAnswer>),
        || post(operations::direct),
    ),
    change_route(
        "/api/dialogues/{id}/stop",
        "Stop the rounds; the run concludes on its answers",
        inlined_schema::<InterveneRequest>,
        Json(schema_of::<RunAnswer>),
        || post(operations::stop),
    ),
    change_route(
        "/api/dialogues/{id}/register",
        "Register a round of a led dialogue",
        register_body,
        Json(open_object),
        || post(operations::register),
    ),
    change_route(
        "/api/dialogues/{id}/verdict",
        "Register a verdict of a led dialogue",
        inlined_schema::<VerdictRequest>,
        Json(open_object),
        || post(operations::verdict),
    ),
    change_route(
        "/api/dialogues/{id}/panel",
        "Set the panel of the next round",
        inlined_schema::<PanelRequest>,
        Json(open_object),
        || post(operations::panel),
    ),
    change_route(
        "/api/dialogues/{id}/expert",
        "Create an expert",
        inlined_schema::<ExpertRequest>,
        Json(open_object),
        || post(operations::expert),
    ),
    change_route(
        "/api/dialogues/{id}/outcome",
        "Record how a conclusion turned out",
        inlined_schema::<OutcomeRequest>,
        Json(open_object),
        || post(operations::outcome),
    ),
];

/// The schema of an answer that started a run.
pub(crate) fn start_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<StartAnswer>()
}
