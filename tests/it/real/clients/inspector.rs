//! The MCP inspector's command line: every call starts its own client and server, on one store.

use std::process::Command;

use serde_json::{Value, json};

use super::forwarder::Forwarder;
use super::harness::{House, Served, examples, installed};
use crate::kit::{at, binary, fixture};

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
struct Inspector {
    house: House,
    server: Vec<String>,
}

impl Inspector {
    fn of_program() -> Self {
        let program = binary().to_str().unwrap().to_owned();
        Self { house: House::new(), server: vec![program, "mcp".to_owned()] }
    }

    #[track_caller]
    fn ask(&self, method: &str, options: &[&str]) -> Value {
        let mut command = self.command();
        command.args(["--method", method]).args(options);
        let output = command.output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{method} {options:?}\n{shown}\n{said}");
        serde_json::from_str(&shown).unwrap_or_else(|error| panic!("{error}: {shown}"))
    }

    fn command(&self) -> Command {
        let mut command = self.house.client(&installed("INSPECTOR"));
        command.arg("--cli").args(&self.server);
        command
    }

    /// Calls a tool with its arguments as command-line text; `null` cannot be written that way.
    #[track_caller]
    fn call(&self, tool: &str, arguments: &Value) -> Value {
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
        let answer = self.ask("tools/call", &options);
        assert!(answer.get("isError").is_none_or(|is| is == false), "{tool}: {answer:#}");
        at(&answer, "structuredContent").clone()
    }
}

#[test]
#[ignore = "needs the MCP clients that `./check real` installs"]
fn the_inspector_plays_the_dialogue_with_a_server_for_each_call() {
    let inspector = Inspector::of_program();
    let tools = inspector.ask("tools/list", &[]);
    assert_eq!(at(&tools, "tools").as_array().unwrap().len(), 13);
    for (tool, file) in STEPS {
        let path = examples().join(format!("{file}.json"));
        let answer = inspector.call(tool, &fixture(path.to_str().unwrap()));
        assert_eq!(at(&answer, "status"), "success", "{file}: {answer:#}");
    }
    let context = json!({ "dialogue_id": ID, "round": 2 });
    let context = inspector.call("blue_dialogue_round_context", &context);
    assert_eq!(at(&context, "experts.palmier.source"), "created");
    let exported = inspector.call("blue_dialogue_export", &json!({ "dialogue_id": ID }));
    assert_eq!(at(&exported, "stats.experts"), 13);
    let uri = format!("plenary://dialogues/{ID}/transcript");
    let read = inspector.ask("resources/read", &["--uri", &uri]);
    assert!(at(&read, "contents.0.text").as_str().unwrap().contains("minority-esg"));
    inspector.house.verify();
}

#[test]
#[ignore = "needs the MCP clients that `./check real` installs"]
fn the_inspector_finds_what_an_earlier_server_concluded() {
    let inspector = Inspector::of_program();
    let asked = json!({ "question": "Should we?", "rehearse": true, "wait_seconds": 30 });
    let answered = inspector.call("council_ask", &asked);
    assert_eq!(at(&answered, "status"), "done");
    let status = json!({ "dialogue_id": at(&answered, "dialogue_id") });
    let polled = inspector.call("deliberation_status", &status);
    assert_eq!(at(&polled, "result"), at(&answered, "result"));

    // The server ends with its client; the next one can resume the run.
    let begun = inspector.call("council_ask", &json!({ "question": "Should we not?" }));
    let mut status = json!({ "dialogue_id": at(&begun, "dialogue_id") });
    assert_eq!(at(&inspector.call("deliberation_status", &status), "status"), "interrupted");
    status["resume"] = true.into();
    status["wait_seconds"] = 50.into();
    assert_eq!(at(&inspector.call("deliberation_status", &status), "status"), "done");
    inspector.house.verify();
}

#[test]
#[ignore = "needs the MCP clients that `./check real` installs"]
fn the_inspector_reads_and_calls_by_http() {
    let house = House::new();
    let served = Served::new(&house.program);
    // The inspector's command line sends no headers.
    let inspector = Inspector { server: vec![Forwarder::start(&served, |_| None)], house };
    let created = inspector.call("blue_dialogue_create", &json!({ "title": "By HTTP" }));
    assert_eq!(at(&created, "dialogue_id"), "by-http");
    let prompts = inspector.ask("prompts/list", &[]);
    assert_eq!(at(&prompts, "prompts.0.name"), "judge_protocol");
    let listed = inspector.ask("resources/list", &[]);
    assert_eq!(at(&listed, "resources.0.uri"), "plenary://dialogues/by-http");
    let templates = inspector.ask("resources/templates/list", &[]);
    assert_eq!(at(&templates, "resourceTemplates").as_array().unwrap().len(), 3);

    let mut stranger = inspector.house.client(&installed("INSPECTOR"));
    stranger.args(["--cli", &served.url, "--method", "tools/list"]);
    let output = stranger.output().unwrap();
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
}
