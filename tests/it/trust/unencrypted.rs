//! A key that would cross a network unencrypted.

use std::net::TcpListener;

use super::harness::{KEY, UntrustedProject, parse_document, run_output};
use crate::kit::CommandOutput;

const WARNING: &str = "warning: the key of `far` goes to http://models.invalid:8099 unencrypted";

/// Runs with remote providers behind a proxy on this machine.
fn run_behind_proxy(project: &UntrustedProject, scheme: &str, arguments: &[&str]) -> CommandOutput {
    project.write_settings(&format!(
        "council:\n  providers:\n    - {{name: far, role: [participant, chair], dialect: openai, model: m, \
         base_url: \"{scheme}://models.invalid:8099/v1\", api_key_env: {}}}\n  quorum: {{r1_min: 1}}\n",
        KEY.0
    ));
    // The port was free a moment ago: a proxy that refuses every connection.
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let proxy = format!("http://{proxy}");
    let mut command = project.untrusted_command();
    command.envs([("HTTP_PROXY", &proxy), ("HTTPS_PROXY", &proxy)]).env("PLENARY_TRUST", "all");
    run_output(command.args(arguments))
}

#[test]
fn a_key_over_plain_http_is_warned_of_once_wherever_it_would_be_sent() {
    let project = UntrustedProject::new();
    for arguments in [
        &["ask", "Is it so?", "--dry-run"][..],
        &["ask", "Is it so?", "--deadline", "1s"],
        &["config"],
        &["doctor"],
    ] {
        let ran = run_behind_proxy(&project, "http", arguments);
        assert_eq!(ran.stderr.matches(WARNING).count(), 1, "{arguments:?}: {ran:?}");
        assert!(!ran.stderr.contains(KEY.1), "{ran:?}");
    }
    let planned = parse_document(&run_behind_proxy(
        &project,
        "http",
        &["ask", "Is it so?", "--dry-run", "--json"],
    ));
    let warning = planned["warnings"][0].as_str().unwrap();
    assert!(WARNING.ends_with(warning.split(';').next().unwrap()), "{warning}");
    let checked = parse_document(&run_behind_proxy(&project, "http", &["doctor", "--json"]));
    assert!(checked["advice"].to_string().contains("unencrypted"), "{checked}");
}

#[test]
fn a_key_over_https_and_a_rehearsal_need_no_warning() {
    let project = UntrustedProject::new();
    let ran = run_behind_proxy(&project, "https", &["ask", "Is it so?", "--dry-run"]);
    assert!(!ran.stderr.contains("unencrypted"), "{ran:?}");
    let ran = run_behind_proxy(&project, "http", &["ask", "Is it so?", "--rehearse"]);
    assert!(!ran.stderr.contains("unencrypted"), "{ran:?}");
    let ran = run_behind_proxy(&project, "http", &["config", "--quiet"]);
    assert_eq!(ran.stderr, "");
}
