//! Runs as tasks, for clients that support tasks.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use super::run_tools::waiting_council;
use super::stdio_client::StdioClient;
use crate::kit::{TestProgram, value_at};

/// The metadata that a client with tasks sends with every request.
fn task_metadata() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } },
    })
}

/// Starts a council as a task and returns the task's name.
fn start_task(agent: &mut StdioClient, arguments: &Value) -> Value {
    let call = json!({ "name": "council_ask", "arguments": arguments, "_meta": task_metadata() });
    let task = agent.request_ok("tools/call", &call);
    assert_eq!(value_at(&task, "resultType"), "task", "{task:#}");
    json!({ "taskId": value_at(&task, "taskId"), "_meta": task_metadata() })
}

/// Asks deliberation_status about a task's run.
fn task_status(agent: &mut StdioClient, task: &Value, more: &Value) -> Value {
    let mut arguments = json!({ "dialogue_id": task["taskId"] });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let call =
        json!({ "name": "deliberation_status", "arguments": arguments, "_meta": task_metadata() });
    value_at(&agent.request_ok("tools/call", &call), "structuredContent").clone()
}

#[test]
fn a_client_that_has_tasks_gets_one_and_its_id_is_that_of_the_dialogue() {
    let program = TestProgram::new();
    let mut agent = StdioClient::without_handshake(&program, &["mcp"]);
    let poll = start_task(&mut agent, &json!({ "question": "Tea?", "rehearse": true }));
    let mut result = agent.request_ok("tasks/get", &poll);
    for _ in 0..100 {
        if result["status"] != "working" {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
        result = agent.request_ok("tasks/get", &poll);
    }
    assert_eq!(value_at(&result, "status"), "completed", "{result:#}");
    assert_eq!(value_at(&result, "result.structuredContent.result.dialogue_id"), &poll["taskId"]);
    // Another server process knows the task too.
    agent.close_client();
    let mut next = StdioClient::without_handshake(&program, &["mcp"]);
    assert_eq!(value_at(&next.request_ok("tasks/get", &poll), "status"), "completed");
    // A finished task cannot be cancelled.
    next.request_ok("tasks/cancel", &poll);
    assert_eq!(value_at(&next.request_ok("tasks/get", &poll), "status"), "completed");
}

#[test]
fn a_task_that_was_cancelled_stays_cancelled_whoever_goes_on_with_its_run() {
    let (council, is_open) = waiting_council();
    let mut agent = StdioClient::without_handshake(&council.program, &["mcp"]);
    let task = start_task(&mut agent, &json!({ "question": "Tea?" }));
    assert_eq!(value_at(&agent.request_ok("tasks/get", &task), "status"), "working");
    agent.request_ok("tasks/cancel", &task);
    assert_eq!(value_at(&agent.request_ok("tasks/get", &task), "status"), "cancelled");
    let mut stand = task_status(&mut agent, &task, &json!({}));
    for _ in 0..100 {
        if stand["status"] == "interrupted" {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
        stand = task_status(&mut agent, &task, &json!({}));
    }
    assert_eq!(value_at(&stand, "status"), "interrupted", "{stand:#}");
    is_open.store(true, Ordering::SeqCst);
    let ended = task_status(&mut agent, &task, &json!({ "resume": true, "wait_seconds": 60 }));
    assert_eq!(value_at(&ended, "status"), "done", "{ended:#}");
    assert_eq!(value_at(&agent.request_ok("tasks/get", &task), "status"), "cancelled");
}

#[test]
fn a_task_that_broke_off_is_not_asked_for_for_ever_and_says_how_it_goes_on() {
    let (council, is_open) = waiting_council();
    let mut agent = StdioClient::without_handshake(&council.program, &["mcp"]);
    let task = start_task(&mut agent, &json!({ "question": "Tea?" }));
    agent.kill_server();
    let mut next = StdioClient::without_handshake(&council.program, &["mcp"]);
    let result = next.request_ok("tasks/get", &task);
    assert_eq!(value_at(&result, "status"), "cancelled", "{result:#}");
    assert!(
        value_at(&result, "statusMessage").as_str().unwrap().contains("resume: true"),
        "{result:#}"
    );
    is_open.store(true, Ordering::SeqCst);
    task_status(&mut next, &task, &json!({ "resume": true, "wait_seconds": 60 }));
    assert_eq!(value_at(&next.request_ok("tasks/get", &task), "status"), "completed");
}

#[test]
fn what_another_process_works_on_is_not_cancelled_and_that_is_said() {
    let (council, _) = waiting_council();
    let mut owner = StdioClient::without_handshake(&council.program, &["mcp"]);
    let task = start_task(&mut owner, &json!({ "question": "Tea?" }));
    let mut other = StdioClient::without_handshake(&council.program, &["mcp"]);
    let id = other.send_request("tasks/cancel", &task);
    let answer = other.wait_answer(id);
    assert_eq!(value_at(&answer, "error.code"), -32602, "{answer:#}");
    assert!(value_at(&answer, "error.message").as_str().unwrap().contains("another process"));
    assert_eq!(value_at(&owner.request_ok("tasks/get", &task), "status"), "working");
    let missing = json!({ "taskId": "nothing", "_meta": task_metadata() });
    let id = other.send_request("tasks/cancel", &missing);
    assert!(other.wait_answer(id).get("error").is_some());
}
