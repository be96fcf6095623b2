//! An MCP server written with the reference library, behind the MCP transport.

use std::sync::Arc;

use plenary_core::model::ask::CallErrorType;
use plenary_engine::providers::mcp::McpTransport;
use plenary_engine::providers::transport::McpTool;

use crate::kit::{find_processes_with, make_environment, make_provider, make_request, wait_until};

#[tokio::test]
#[ignore = "needs the Python that `./check real` installs"]
async fn a_tool_of_the_reference_library_answers_and_fails_as_a_seat() {
    let home = tempfile::tempdir().unwrap();
    let python = std::env::var("PLENARY_REAL_PYTHON").expect("`./check real` says where it is");
    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/it/real/mcp_server.py");
    let mut provider = make_provider("served", &[]);
    provider.mcp = Some(McpTool {
        command: python,
        args: vec![server.to_owned()],
        env: vec![("GREETING".to_owned(), "Well".into())],
        tool: "consult".to_owned(),
        argument: "prompt".to_owned(),
    });
    let transport =
        McpTransport::with_environment(Arc::new(provider), make_environment(home.path(), &[]));

    let received = transport.send(&make_request("You are the Chair.", "Is it so?")).await.unwrap();
    assert_eq!(received.text, "Well, You are the Chair.\n\nIs it so?");

    let error = transport.send(&make_request("", "fail")).await.unwrap_err();
    assert_eq!(error.error_type, CallErrorType::Unknown);
    assert!(error.message.contains("the oracle is asleep"), "{error}");

    let home = home.path().to_str().unwrap();
    assert!(
        wait_until(|| find_processes_with(home).is_empty()).await,
        "a server outlived its call"
    );
}
