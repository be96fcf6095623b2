//! [`Tool`]: the description of a tool and what it does; [`TOOLS`] lists them all.
//!
//! Clients send the tool list with every conversation, so the JSON schemas are compact.

use std::sync::Arc;

use plenary_core::dialogue::create::CreateRequest;
use plenary_core::dialogue::expert::ExpertRequest;
use plenary_core::dialogue::panel::PanelRequest;
use plenary_core::dialogue::progress::DialogueProgress;
use plenary_core::dialogue::register::batch::RegisterAnswer;
use plenary_core::dialogue::verdict::parse::VerdictRequest;
use plenary_core::markers::extract_request::{ExtractDocument, ExtractRequest, extract_round};
use plenary_core::model::string_enum::{NULL_SAYS_SOMETHING, order_items};
use plenary_engine::app::dialogues::{
    CreateResult, ExpertResult, PanelResult, create_dialogue, create_expert, evolve_panel,
};
use plenary_engine::app::ethos::{EthosToolRequest, run_ethos_tool};
use plenary_engine::app::export_record::{ExportRequest, ExportResult, export_record};
use plenary_engine::app::project::Project;
use plenary_engine::app::queries::{SearchRequest, search_store};
use plenary_engine::app::requests::align::AlignRequest;
use plenary_engine::app::requests::ask::AskRequest;
use plenary_engine::app::requests::intervene::InterveneRequest;
use plenary_engine::app::requests::review::ReviewRequest;
use plenary_engine::app::requests::run_answer::RunAnswer;
use plenary_engine::app::requests::status::StatusRequest;
use plenary_engine::app::round_context::{ContextRequest, read_context};
use plenary_engine::app::rounds::{
    ProgressRequest, VerdictRegistered, give_verdict, read_progress, register_round,
};
use plenary_engine::error::{Error, to_json_text};
use plenary_engine::files::allowed_file::WritePermission;
use rmcp::model::{JsonObject, Tool as Listed, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::mcp::tools::register_schema::RegisterArguments;

/// A tool of the server.
#[derive(Debug)]
pub(crate) struct Tool {
    pub name: &'static str,
    /// Description for agents that do not know Plenary.
    pub about: &'static str,
    pub arguments: fn() -> JsonObject,
    /// The top-level keys of its answer.
    pub answer: &'static [&'static str],
    pub work: Work,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Work {
    /// Reads a record.
    Look(Operation),
    /// Adds to an existing record.
    Add(Operation),
    /// Writes a file, replacing an earlier one.
    Replace(Operation),
    /// Creates a record, and the store if there is none.
    Open(Operation),
    /// Starts or controls a run.
    Run(RunTool),
}

/// An operation and its answer as JSON; the command line calls the same.
pub(crate) type Operation = fn(&Project, &Value) -> Result<String, Error>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunTool {
    Align,
    Ask,
    Review,
    Status,
    Intervene,
}

impl Tool {
    /// Its entry in `tools/list`.
    pub(crate) fn listed(&self) -> Listed {
        let hints = match self.work {
            Work::Look(_) => ToolAnnotations::new().read_only(true),
            // Codex asks a person before it calls a tool that may reach out of the machine.
            Work::Add(_) | Work::Open(_) => {
                ToolAnnotations::new().destructive(false).open_world(false)
            }
            Work::Replace(_) => ToolAnnotations::new().destructive(true).open_world(false),
            Work::Run(_) => ToolAnnotations::new().destructive(false),
        };
        let mut listed = Listed::new(self.name, self.about, Arc::new((self.arguments)()));
        listed.output_schema = Some(Arc::new(answer_schema(self.answer)));
        listed.annotations = Some(hints);
        listed
    }
}

/// The field names of an answer type. A new or renamed field does not compile until it is listed.
macro_rules! keys {
    ($answer:ident { $($field:ident),+ $(,)? }) => {{
        fn _whole(answer: &$answer) {
            let $answer { $($field: _),+ } = answer;
        }
        &[$(stringify!($field)),+]
    }};
}

/// The answer of the tools for runs.
const DELIBERATION: &[&str] =
    keys!(RunAnswer { dialogue_id, status, progress, result, suggestion });

/// In the order in which a Judge needs them.
pub(crate) static TOOLS: [Tool; 16] = [
    Tool {
        name: "blue_dialogue_create",
        about: "Start an alignment dialogue that you lead as its Judge: experts argue in rounds, \
            and each contribution gets an id. Returns its id, the panel of round 0 and \
            `judge_protocol`: read it first.",
        arguments: argument_schema::<CreateRequest>,
        answer: keys!(CreateResult {
            status,
            dialogue_id,
            output_dir,
            panel,
            judge_protocol,
            warnings
        }),
        work: Work::Open(|project, arguments| to_json_text(&create_dialogue(project, arguments)?)),
    },
    Tool {
        name: "blue_dialogue_evolve_panel",
        about: "Set the panel of the next round: retained experts, experts of the pool, created \
            ones. Without it, the last panel stays.",
        arguments: argument_schema::<PanelRequest>,
        answer: keys!(PanelResult { status, round, panel, warnings }),
        work: Work::Add(|project, arguments| to_json_text(&evolve_panel(project, arguments)?)),
    },
    Tool {
        name: "blue_dialogue_round_context",
        about: "Return what the experts of a round may read. Build prompts from it, or set \
            `render`: Plenary writes them.",
        arguments: argument_schema::<ContextRequest>,
        answer: &[
            "dialogue",
            "prior_rounds",
            "active_tensions",
            "calibration",
            "resolved_tensions",
            "requests",
            "verdicts",
            "experts",
            "prompts",
            "warnings",
        ],
        // Rendering writes files.
        work: Work::Add(|project, arguments| {
            read_context(project, arguments, WritePermission::Remote)
        }),
    },
    Tool {
        name: "blue_dialogue_extract",
        about: "Turn experts' replies with markers such as [MUFFIN-P0101: label] into the \
            `batch` of blue_dialogue_round_register. Stores nothing.",
        arguments: argument_schema::<ExtractRequest>,
        answer: keys!(ExtractDocument { status, batch, verdicts, markers, warnings }),
        work: Work::Look(|_, arguments| to_json_text(&extract_round(arguments)?)),
    },
    Tool {
        name: "blue_dialogue_round_register",
        about: "Register a whole round or nothing. Items have local ids such as \
            MUFFIN-P0101 (expert, type P R T E C, round, number); the answer maps them to global \
            ids. Reports all errors at once.",
        arguments: argument_schema::<RegisterArguments>,
        answer: keys!(RegisterAnswer {
            status,
            round,
            id_mapping,
            perspectives,
            recommendations,
            tensions,
            evidence,
            claims,
            tension_updates,
            updates,
            effects,
            warnings,
            replayed,
        }),
        work: Work::Add(|project, arguments| to_json_text(&register_round(project, arguments)?)),
    },
    Tool {
        name: "blue_dialogue_expert_create",
        about: "Create an expert if none on the panel can resolve a tension; then seat it with \
            blue_dialogue_evolve_panel.",
        arguments: argument_schema::<ExpertRequest>,
        answer: keys!(ExpertResult { status, expert, warnings }),
        work: Work::Add(|project, arguments| to_json_text(&create_expert(project, arguments)?)),
    },
    Tool {
        name: "blue_dialogue_progress",
        about: "Return score, velocity, open tensions and whether the dialogue converges. Call \
            it after a round.",
        arguments: argument_schema::<ProgressRequest>,
        answer: keys!(DialogueProgress {
            dialogue_id,
            status,
            round,
            score,
            total_alignment,
            velocity,
            work_remaining,
            open_tensions,
            new_perspectives,
            converge_percent,
            converging,
            leaderboard,
            estimated_rounds_remaining,
            warnings,
        }),
        work: Work::Look(|project, arguments| to_json_text(&read_progress(project, arguments)?)),
    },
    Tool {
        name: "blue_dialogue_verdict_register",
        about: "Register a verdict. A `final` verdict closes the dialogue; it is refused \
            while a tension is neither resolved nor accepted or too few experts agree, unless \
            `forced` with a `warning`.",
        arguments: argument_schema::<VerdictRequest>,
        answer: keys!(VerdictRegistered {
            status,
            dialogue_id,
            verdict_id,
            dialogue_status,
            adopted,
            tensions_resolved,
            warnings,
        }),
        work: Work::Add(|project, arguments| to_json_text(&give_verdict(project, arguments)?)),
    },
    Tool {
        name: "blue_dialogue_export",
        about: "Write a record to a file as JSON, Markdown or HTML; replaces an earlier export.",
        arguments: argument_schema::<ExportRequest>,
        answer: keys!(ExportResult { status, path, stats, warnings }),
        work: Work::Replace(|project, arguments| {
            to_json_text(&export_record(project, arguments, WritePermission::Remote)?)
        }),
    },
    Tool {
        name: "blue_dialogue_search",
        about: "Search all records. cite: explain ids, with references. similar: \
            earlier dialogues on a subject. stats: counts. list: dialogues, page by page.",
        arguments: argument_schema::<SearchRequest>,
        // Which of them are there depends on the op.
        answer: &[
            "status",
            "citations",
            "errors",
            "results",
            "dialogues",
            "next",
            "by_status",
            "by_protocol",
            "by_terminal_state",
            "entities",
            "averages",
            "top_experts",
            "warnings",
        ],
        work: Work::Look(|project, arguments| to_json_text(&search_store(project, arguments)?)),
    },
    Tool {
        name: "blue_ethos",
        // The fields stand here and not in the schema, which would be three times as long.
        about: "Rules of a calibrated dialogue. Fields: principle_add label description rationale \
            priority; domain_add slug code label parent_domains; tenet_add domain label \
            description priority; lens_add domain label include_tenets exclude_tenets \
            priority_overrides; constraint_add dialogue_id label source priority; deprecate id; \
            synthesize dialogue_id domains approve detect(code|model); check dialogue_id; resolve \
            ethos_id conflict resolution reason; approve ethos_id by; reject ethos_id reason; get \
            ethos_id; import document.",
        arguments: argument_schema::<EthosToolRequest>,
        // The others depend on the op.
        answer: &["status", "warnings"],
        work: Work::Open(|project, arguments| to_json_text(&run_ethos_tool(project, arguments)?)),
    },
    Tool {
        name: "council_ask",
        about: "Ask a council of models: each answers alone and reviews the others, a chair \
            reports, a blind critic audits the conclusion. Takes minutes and costs money. \
            Returns an id at once: poll it with deliberation_status, or wait. Cancelling \
            interrupts it; you can resume it.",
        arguments: argument_schema::<AskRequest>,
        answer: DELIBERATION,
        work: Work::Run(RunTool::Ask),
    },
    Tool {
        name: "council_align",
        about: "Let the built-in Judge lead experts until they converge; ends with verdicts and \
            a conclusion. Poll as council_ask.",
        arguments: argument_schema::<AlignRequest>,
        answer: DELIBERATION,
        work: Work::Run(RunTool::Align),
    },
    Tool {
        name: "council_review",
        about: "Review a document before it is published, by path, or as text with a type: four \
            deliberators judge it twice, an adjudicator and a policy decide. Returns SHIP, \
            REVISE with a brief, HOLD or INCOMPLETE; poll as council_ask. `force` judges \
            known content again.",
        arguments: argument_schema::<ReviewRequest>,
        answer: DELIBERATION,
        work: Work::Run(RunTool::Review),
    },
    Tool {
        name: "deliberation_status",
        about: "Return the state of a run, and the result. `resume` continues an \
            interrupted run.",
        arguments: argument_schema::<StatusRequest>,
        answer: DELIBERATION,
        work: Work::Run(RunTool::Status),
    },
    Tool {
        name: "deliberation_intervene",
        about: "Send a message to a run. whisper: every seat asked from now on reads \
            it, or only the seat `to`. direct: all seats follow it from the next round on; \
            without `confirmed` the chair only restates it. stop: conclude with the answers so \
            far.",
        arguments: argument_schema::<InterveneRequest>,
        answer: DELIBERATION,
        work: Work::Run(RunTool::Intervene),
    },
];

/// Keywords that the derive adds to every type and clients do not need.
const NOISE_KEYWORDS: [&str; 8] =
    ["$schema", "title", "format", "minimum", "maximum", "maxLength", "maxItems", "default"];

/// Prefix of the keywords that only our own reader of arguments knows.
const OWN_KEYWORD: &str = "x-";

/// The schema of a tool's arguments. A type that is used once is marked `#[schemars(inline)]`: the
/// schema is shorter, and clients that read a single field see its type.
fn argument_schema<T: JsonSchema>() -> JsonObject {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    let schema = simplify_schema(order_items(schema.into()));
    let mut map = schema.as_object().cloned().unwrap_or_default();
    // The tool has its own description.
    map.shift_remove("description");
    map
}

/// The schema of an answer: only its keys.
fn answer_schema(keys: &[&str]) -> JsonObject {
    let properties: Map<String, Value> =
        keys.iter().map(|key| ((*key).to_owned(), json!({}))).collect();
    Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), properties.into()),
    ])
}

/// Removes noise keywords, and null, because an absent field means the same.
fn simplify_schema(schema: Value) -> Value {
    match schema {
        Value::Object(map) => simplify_map(map).into(),
        Value::Array(list) => list.into_iter().map(simplify_schema).collect(),
        // `true` accepts anything; some clients only accept an object.
        Value::Bool(true) => json!({}),
        Value::Bool(false) | Value::Null | Value::Number(_) | Value::String(_) => schema,
    }
}

fn simplify_map(map: Map<String, Value>) -> Map<String, Value> {
    let types = map.get("type").filter(|_| map.contains_key(NULL_SAYS_SOMETHING)).cloned();
    let map: Map<String, Value> = map.into_iter().filter_map(simplify_entry).collect();
    let mut map = drop_null_choice(map);
    map.extend(types.map(|types| ("type".to_owned(), types)));
    map
}

fn simplify_entry((key, value): (String, Value)) -> Option<(String, Value)> {
    match (key.as_str(), value) {
        // Keys in here are field names, not keywords.
        ("properties" | "$defs", Value::Object(fields)) => {
            let fields: Map<String, Value> =
                fields.into_iter().map(|(name, field)| (name, simplify_schema(field))).collect();
            Some((key, fields.into()))
        }
        ("type", Value::Array(types)) => {
            Some((key, types.into_iter().find(|name| *name != "null")?))
        }
        (keyword, _) if NOISE_KEYWORDS.contains(&keyword) || keyword.starts_with(OWN_KEYWORD) => {
            None
        }
        (_, value) => Some((key, simplify_schema(value))),
    }
}

/// Replaces a choice between one type and null by that type.
fn drop_null_choice(mut schema: Map<String, Value>) -> Map<String, Value> {
    let is_something = |option: &Value| option.get("type").is_none_or(|name| name != "null");
    let Some(Value::Array(options)) = schema.get("anyOf") else { return schema };
    let something: Vec<&Value> = options.iter().filter(|option| is_something(option)).collect();
    if let [Value::Object(only)] = something.as_slice() {
        let only = only.clone();
        schema.shift_remove("anyOf");
        schema.extend(only);
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_tool_cannot_do_without_is_required() {
        let required = |schema: &Map<String, Value>| {
            let names =
                schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
        };
        let listed: Vec<String> = TOOLS
            .iter()
            .map(|tool| format!("{}: {}", tool.name, required(&(tool.arguments)())))
            .collect();
        insta::assert_snapshot!(listed.join("\n"), @r"
        blue_dialogue_create: title
        blue_dialogue_evolve_panel: dialogue_id round panel
        blue_dialogue_round_context: dialogue_id
        blue_dialogue_extract: round replies
        blue_dialogue_round_register: dialogue_id score
        blue_dialogue_expert_create: dialogue_id expert_slug role tier reason
        blue_dialogue_progress: dialogue_id
        blue_dialogue_verdict_register: dialogue_id verdict_id verdict_type recommendation description
        blue_dialogue_export: dialogue_id
        blue_dialogue_search: op
        blue_ethos: op
        council_ask: question
        council_align: question
        council_review: 
        deliberation_status: dialogue_id
        deliberation_intervene: dialogue_id kind
        ");
        let register = argument_schema::<RegisterArguments>();
        let refs = &register["properties"]["refs"]["items"]["required"];
        assert_eq!(refs, &json!(["source_id", "ref_type", "target_id"]));
    }

    /// Clients turn what was typed into a value by the type of the field alone; some take no
    /// reference there, and no choice. Null goes with a text and with nothing else.
    #[test]
    fn every_argument_says_of_what_type_it_is() {
        for tool in &TOOLS {
            let schema = (tool.arguments)();
            for (name, argument) in schema["properties"].as_object().unwrap() {
                let kind = &argument["type"];
                let is_lone = kind.as_str().is_some_and(|kind| kind != "null");
                let is_text_or_null = *kind == json!(["string", "null"]) && name == "author_expert";
                assert!(is_lone || is_text_or_null, "{} {name}: {argument}", tool.name);
            }
            let text = Value::Object(schema).to_string().replace(r#"["string","null"]"#, "");
            assert!(!text.contains("\"null") && !text.contains("anyOf"), "{}: {text}", tool.name);
        }
    }
}
