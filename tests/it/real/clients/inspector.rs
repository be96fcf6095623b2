//! The MCP inspector's command line: every call starts its own client and server, on one store.

use std::process::Command;

use serde_json::{Value, json};

use super::forwarder::TokenForwarder;
use super::harness::{ClientProject, ServeProcess, examples_folder, installed_path};
use crate::kit::{plenary_binary, read_fixture, value_at};

const ID: &str = "nvidia-investment-decision";

/// The steps of `examples/nvidia`, in order.
const STEPS: [(&str, &str); 10] = [
    ("blue_dialogue_create", "01-create"),
    ("blue_dialogue_round_register", "02-round-0"),
    ("blue_dialogue_evolve_panel", "03-panel-1"),
    ("blue_dialogue_round_register", "04-round-1"),
    ("blue_dialogue_expert_create", "05-expert-palmier"),
    ("blue_dialogue_evolve_panel", "06-panel-2"),
    ("blue_dialogue_round_register", "07-round-2"),
    ("blue_dialogue_verdict_register", "08-verdict-final"),
    ("blue_dialogue_verdict_register", "09-verdict-minority"),
    ("blue_dialogue_verdict_register", "10-verdict-dissent"),
];

/// The inspector in front of a server: a program that it starts, or a URL.
struct InspectorClient {
    project: ClientProject,
    server: Vec<String>,
}

impl InspectorClient {
    fn for_program() -> Self {
        let program = plenary_binary().to_str().unwrap().to_owned();
        Self { project: ClientProject::new(), server: vec![program, "mcp".to_owned()] }
    }

    #[track_caller]
    fn send_request(&self, method: &str, options: &[&str]) -> Value {
        let mut command = self.base_command();
        command.args(["--method", method]).args(options);
        let output = command.output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{method} {options:?}\n{shown}\n{message}");
        serde_json::from_str(&shown).unwrap_or_else(|error| panic!("{error}: {shown}"))
    }

    fn base_command(&self) -> Command {
        let mut command = self.project.client_command(&installed_path("INSPECTOR"));
        command.arg("--cli").args(&self.server);
        command
    }

    /// Calls a tool with its arguments as command-line text; `null` cannot be written that way.
    #[track_caller]
    fn call_tool(&self, tool: &str, arguments: &Value) -> Value {
        let given = arguments.as_object().unwrap().iter().filter(|(_, value)| !value.is_null());
        let typed: Vec<String> = given
            .map(|(name, value)| match value.as_str() {
                Some(text) => format!("{name}={text}"),
                None => format!("{name}={value}"),
            })
            .collect();
        let mut options = vec!["--tool-name", tool];
        for pair in &typed {
            options.extend(["--tool-arg", pair.as_str()]);
        }
        let answer = self.send_request("tools/call", &options);
        assert!(answer.get("isError").is_none_or(|is| is == false), "{tool}: {answer:#}");
        value_at(&answer, "structuredContent").clone()
    }
}

#[test]
#[ignore = "needs the MCP clients that `./check real` installs"]
fn the_inspector_plays_the_dialogue_with_a_server_for_each_call() {
    let inspector = InspectorClient::for_program();
    let tools = inspector.send_request("tools/list", &[]);
    assert_eq!(value_at(&tools, "tools").as_array().unwrap().len(), 16);
    for (tool, file) in STEPS {
        let path = examples_folder().join(format!("{file}.json"));
        let answer = inspector.call_tool(tool, &read_fixture(path.to_str().unwrap()));
        assert_eq!(value_at(&answer, "status"), "success", "{file}: {answer:#}");
    }
    let context = json!({ "dialogue_id": ID, "round": 2 });
    let context = inspector.call_tool("blue_dialogue_round_context", &context);
    assert_eq!(value_at(&context, "experts.palmier.source"), "created");
    let exported = inspector.call_tool("blue_dialogue_export", &json!({ "dialogue_id": ID }));
    assert_eq!(value_at(&exported, "stats.experts"), 13);
    let uri = format!("plenary://dialogues/{ID}/transcript");
    let read = inspector.send_request("resources/read", &["--uri", &uri]);
    assert!(value_at(&read, "contents.0.text").as_str().unwrap().contains("minority-esg"));
    inspector.project.assert_verified();
}

#[test]
#[ignore = "needs the MCP clients that `./check real` installs"]
fn the_inspector_finds_what_an_earlier_server_concluded() {
    let inspector = InspectorClient::for_program();
    let asked = json!({ "question": "Should we?", "rehearse": true, "wait_seconds": 30 });
    let answered = inspector.call_tool("council_ask", &asked);
    assert_eq!(value_at(&answered, "status"), "done");
    let status = json!({ "dialogue_id": value_at(&answered, "dialogue_id") });
    let polled = inspector.call_tool("deliberation_status", &status);
    assert_eq!(value_at(&polled, "result"), value_at(&answered, "result"));

    // The server ends with its client; the next one can resume the run.
    let begun = inspector.call_tool("council_ask", &json!({ "question": "Should we not?" }));
    let mut status = json!({ "dialogue_id": value_at(&begun, "dialogue_id") });
    assert_eq!(
        value_at(&inspector.call_tool("deliberation_status", &status), "status"),
        "interrupted"
    );
    status["resume"] = true.into();
    status["wait_seconds"] = 50.into();
    assert_eq!(value_at(&inspector.call_tool("deliberation_status", &status), "status"), "done");
    inspector.project.assert_verified();
}

#[test]
#[ignore = "needs the MCP clients that `./check real` installs"]
fn the_inspector_reads_and_calls_by_http() {
    let house = ClientProject::new();
    let served = ServeProcess::new(&house.program);
    // The inspector's command line sends no headers.
    let inspector = InspectorClient {
        server: vec![TokenForwarder::start_forwarder(&served, |_| None)],
        project: house,
    };
    let created = inspector.call_tool("blue_dialogue_create", &json!({ "title": "By HTTP" }));
    assert_eq!(value_at(&created, "dialogue_id"), "by-http");
    let prompts = inspector.send_request("prompts/list", &[]);
    assert_eq!(value_at(&prompts, "prompts.0.name"), "judge_protocol");
    let listed = inspector.send_request("resources/list", &[]);
    assert_eq!(value_at(&listed, "resources.0.uri"), "plenary://dialogues/by-http");
    let templates = inspector.send_request("resources/templates/list", &[]);
    assert_eq!(value_at(&templates, "resourceTemplates").as_array().unwrap().len(), 3);

    let mut stranger = inspector.project.client_command(&installed_path("INSPECTOR"));
    stranger.args(["--cli", &served.url, "--method", "tools/list"]);
    let output = stranger.output().unwrap();
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
}
