//! Runs as tasks, for clients that support tasks.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use super::run_tools::waiting;
use super::stdio_client::Agent;
use crate::kit::{Program, at};

/// The metadata that a client with tasks sends with every request.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } },
    })
}

/// Starts a council as a task and returns the task's name.
fn begun(agent: &mut Agent, arguments: &Value) -> Value {
    let call = json!({ "name": "council_ask", "arguments": arguments, "_meta": meta() });
    let task = agent.ask("tools/call", &call);
    assert_eq!(at(&task, "resultType"), "task", "{task:#}");
    json!({ "taskId": at(&task, "taskId"), "_meta": meta() })
}

/// Asks deliberation_status about a task's run.
fn status(agent: &mut Agent, task: &Value, more: &Value) -> Value {
    let mut arguments = json!({ "dialogue_id": task["taskId"] });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let call = json!({ "name": "deliberation_status", "arguments": arguments, "_meta": meta() });
    at(&agent.ask("tools/call", &call), "structuredContent").clone()
}

#[test]
fn a_client_that_has_tasks_gets_one_and_its_id_is_that_of_the_dialogue() {
    let program = Program::new();
    let mut agent = Agent::silent(&program, &["mcp"]);
    let poll = begun(&mut agent, &json!({ "question": "Tea?", "rehearse": true }));
    let mut told = agent.ask("tasks/get", &poll);
    for _ in 0..100 {
        if told["status"] != "working" {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
        told = agent.ask("tasks/get", &poll);
    }
    assert_eq!(at(&told, "status"), "completed", "{told:#}");
    assert_eq!(at(&told, "result.structuredContent.result.dialogue_id"), &poll["taskId"]);
    // Another server process knows the task too.
    agent.leave();
    let mut next = Agent::silent(&program, &["mcp"]);
    assert_eq!(at(&next.ask("tasks/get", &poll), "status"), "completed");
    // A finished task cannot be cancelled.
    next.ask("tasks/cancel", &poll);
    assert_eq!(at(&next.ask("tasks/get", &poll), "status"), "completed");
}

#[test]
fn a_task_that_was_cancelled_stays_cancelled_whoever_goes_on_with_its_run() {
    let (council, is_open) = waiting();
    let mut agent = Agent::silent(&council.program, &["mcp"]);
    let task = begun(&mut agent, &json!({ "question": "Tea?" }));
    assert_eq!(at(&agent.ask("tasks/get", &task), "status"), "working");
    agent.ask("tasks/cancel", &task);
    assert_eq!(at(&agent.ask("tasks/get", &task), "status"), "cancelled");
    let mut stand = status(&mut agent, &task, &json!({}));
    for _ in 0..100 {
        if stand["status"] == "interrupted" {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
        stand = status(&mut agent, &task, &json!({}));
    }
    assert_eq!(at(&stand, "status"), "interrupted", "{stand:#}");
    is_open.store(true, Ordering::SeqCst);
    let ended = status(&mut agent, &task, &json!({ "resume": true, "wait_seconds": 60 }));
    assert_eq!(at(&ended, "status"), "done", "{ended:#}");
    assert_eq!(at(&agent.ask("tasks/get", &task), "status"), "cancelled");
}

#[test]
fn a_task_that_broke_off_is_not_asked_for_for_ever_and_says_how_it_goes_on() {
    let (council, is_open) = waiting();
    let mut agent = Agent::silent(&council.program, &["mcp"]);
    let task = begun(&mut agent, &json!({ "question": "Tea?" }));
    agent.kill();
    let mut next = Agent::silent(&council.program, &["mcp"]);
    let told = next.ask("tasks/get", &task);
    assert_eq!(at(&told, "status"), "cancelled", "{told:#}");
    assert!(at(&told, "statusMessage").as_str().unwrap().contains("resume: true"), "{told:#}");
    is_open.store(true, Ordering::SeqCst);
    status(&mut next, &task, &json!({ "resume": true, "wait_seconds": 60 }));
    assert_eq!(at(&next.ask("tasks/get", &task), "status"), "completed");
}

#[test]
fn what_another_process_works_on_is_not_cancelled_and_that_is_said() {
    let (council, _) = waiting();
    let mut owner = Agent::silent(&council.program, &["mcp"]);
    let task = begun(&mut owner, &json!({ "question": "Tea?" }));
    let mut other = Agent::silent(&council.program, &["mcp"]);
    let id = other.request("tasks/cancel", &task);
    let answer = other.answer(id);
    assert_eq!(at(&answer, "error.code"), -32602, "{answer:#}");
    assert!(at(&answer, "error.message").as_str().unwrap().contains("another process"));
    assert_eq!(at(&owner.ask("tasks/get", &task), "status"), "working");
    let missing = json!({ "taskId": "nothing", "_meta": meta() });
    let id = other.request("tasks/cancel", &missing);
    assert!(other.answer(id).get("error").is_some());
}
