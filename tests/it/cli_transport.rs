//! The command-line transport, tested with small shell scripts as agents.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use plenary_core::model::ask::{CallErrorType, RequestParameter};
use plenary_engine::providers::cli::transport::CliTransport;
use plenary_engine::providers::process::supervisor::SupervisorBinary;
use plenary_engine::providers::transport::{CallError, CallReply};
use tempfile::TempDir;

use crate::kit::{
    RUNAWAYS, find_processes_with, make_environment, make_provider, make_request, plenary_binary,
    wait_until,
};

/// A script used as a provider's program, with its own home folder.
struct ScriptProvider {
    home: TempDir,
    script: PathBuf,
}

impl ScriptProvider {
    fn new(text: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let script = home.path().join("program.sh");
        std::fs::write(&script, text).unwrap();
        Self { home, script }
    }

    fn path(&self) -> &Path {
        self.home.path()
    }

    fn make_transport(&self, more: &[(&str, &str)]) -> CliTransport {
        let provider = make_provider("scripted", &["/bin/sh", self.script.to_str().unwrap()]);
        with_supervisor(CliTransport::with_environment(
            Arc::new(provider),
            make_environment(self.path(), more),
        ))
    }

    async fn send_request(&self, system: &str, user: &str) -> Result<CallReply, CallError> {
        self.make_transport(&[]).send(&make_request(system, user)).await
    }

    async fn expect_reply(&self) -> String {
        self.send_request("", "anything").await.unwrap().text
    }

    async fn expect_error(&self) -> CallError {
        self.send_request("", "anything").await.unwrap_err()
    }
}

/// Wraps the transport in a supervisor, as the real program does.
fn with_supervisor(transport: CliTransport) -> CliTransport {
    transport.with_supervisor(Some(SupervisorBinary::from_path(plenary_binary())))
}

#[tokio::test]
async fn the_prompt_arrives_on_standard_input_with_the_instructions_first() {
    let cat = ScriptProvider::new("cat");
    let received = cat.send_request("You are the Chair.", "Is it so?").await.unwrap();
    assert_eq!(received.text, "You are the Chair.\n\nIs it so?");
    assert!(!received.structured);
    assert_eq!(cat.send_request("", "Is it so?").await.unwrap().text, "Is it so?");
}

#[tokio::test]
async fn a_prompt_may_be_longer_than_any_argument() {
    let long = "x".repeat(3_000_000);
    let count = ScriptProvider::new("wc -c").send_request("", &long).await.unwrap();
    assert_eq!(count.text, "3000000");
}

#[tokio::test]
async fn a_program_that_does_not_read_its_prompt_may_answer_all_the_same() {
    let long = "x".repeat(3_000_000);
    assert_eq!(
        ScriptProvider::new("echo no need").send_request("", &long).await.unwrap().text,
        "no need"
    );
}

#[tokio::test]
async fn the_environment_is_bare() {
    let names = ScriptProvider::new("env | sed 's/=.*//' | sort");
    let more = [
        ("CANARY", "sings"),
        ("OPENAI_API_KEY", "sk-canary"),
        ("LC_CTYPE", "C.UTF-8"),
        ("https_proxy", "http://proxy.example"),
    ];
    let received = names.make_transport(&more).send(&make_request("", "?")).await.unwrap();
    // The last few are the shell's own.
    assert_eq!(received.text, "HOME\nLC_CTYPE\nNO_COLOR\nPATH\nPWD\nTERM\nTMPDIR\nhttps_proxy");
}

#[tokio::test]
async fn a_key_that_is_configured_for_the_provider_goes_with_it() {
    let script = ScriptProvider::new("echo key: $MY_MODEL_KEY");
    let mut provider = make_provider("scripted", &["/bin/sh", script.script.to_str().unwrap()]);
    provider.key_variable = Some("MY_MODEL_KEY".to_owned());
    provider.key = Some("abc123".into());
    let transport = with_supervisor(CliTransport::with_environment(
        Arc::new(provider),
        make_environment(script.path(), &[]),
    ));
    assert_eq!(transport.send(&make_request("", "?")).await.unwrap().text, "key: abc123");
}

#[tokio::test]
async fn it_runs_in_an_empty_folder_that_is_gone_afterwards() {
    let script =
        ScriptProvider::new("ls -A; touch left behind; echo x > $TMPDIR/y; pwd; echo $TMPDIR");
    let reply = script.expect_reply().await;
    let folders: Vec<&str> = reply.lines().collect();
    assert_eq!(folders.len(), 2, "the folder was not empty: {reply}");
    assert_ne!(folders[0], folders[1]);
    for folder in folders {
        let parent = Path::new(folder).parent().unwrap();
        assert!(parent.file_name().unwrap().to_str().unwrap().starts_with("run-"));
        assert!(wait_until(|| !parent.exists()).await, "{folder} is still there");
    }
}

#[tokio::test]
async fn a_dropped_call_ends_the_program_and_its_children() {
    // Both shells, all three sleeps, and the supervisor.
    check_dropped_call(|transport| transport, 6).await;
}

/// For systems without supervisors.
#[tokio::test]
async fn without_a_supervisor_a_dropped_call_ends_the_group() {
    check_dropped_call(|transport| transport.with_supervisor(None), 5).await;
}

async fn check_dropped_call(change: impl Fn(CliTransport) -> CliTransport, processes: usize) {
    let script =
        ScriptProvider::new("sh -c 'sleep 1000 & sleep 1000' & pwd > $HOME/started; sleep 1000");
    let home = script.path().to_str().unwrap();
    let started = script.path().join("started");
    let folder_of = || std::fs::read_to_string(&started).unwrap_or_default();
    let transport = change(script.make_transport(&[]));
    let asked = make_request("", "?");
    let call = transport.send(&asked);
    let running = async {
        wait_until(|| folder_of().ends_with('\n') && find_processes_with(home).len() == processes)
            .await
    };
    tokio::select! {
        outcome = call => panic!("it ended by itself: {outcome:?}"),
        all = running => assert!(all, "alive: {:?}", find_processes_with(home)),
    }
    assert!(
        wait_until(|| find_processes_with(home).is_empty()).await,
        "alive: {:?}",
        find_processes_with(home)
    );
    assert!(
        wait_until(|| !Path::new(folder_of().trim()).exists()).await,
        "its folder is still there"
    );
}

#[tokio::test]
async fn what_a_program_leaves_running_neither_holds_the_reply_nor_survives_it() {
    let script = ScriptProvider::new("sleep 1000 & echo done");
    let reply = tokio::time::timeout(Duration::from_secs(20), script.expect_reply()).await;
    assert_eq!(reply.expect("the reply was held back"), "done");
    let home = script.path().to_str().unwrap();
    assert!(
        wait_until(|| find_processes_with(home).is_empty()).await,
        "alive: {:?}",
        find_processes_with(home)
    );
}

#[tokio::test]
async fn children_in_other_sessions_end_with_the_program() {
    let script = ScriptProvider::new(&format!("{RUNAWAYS} echo done"));
    assert_eq!(script.expect_reply().await, "done");
    let home = script.path().to_str().unwrap();
    // The reply came after their end, so there is nothing to wait for.
    assert_eq!(find_processes_with(home), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn children_in_other_sessions_end_with_a_dropped_call() {
    let script = ScriptProvider::new(&format!("{RUNAWAYS} touch $HOME/started; sleep 1000"));
    let home = script.path().to_str().unwrap();
    let started = script.path().join("started");
    let (transport, asked) = (script.make_transport(&[]), make_request("", "?"));
    tokio::select! {
        outcome = transport.send(&asked) => panic!("it ended by itself: {outcome:?}"),
        all = wait_until(|| started.exists()) => assert!(all, "alive: {:?}", find_processes_with(home)),
    }
    assert!(
        wait_until(|| find_processes_with(home).is_empty()).await,
        "alive: {:?}",
        find_processes_with(home)
    );
}

/// Readers see the end of a pipe when the program closes it, not when its supervisor exits.
#[tokio::test]
async fn a_program_may_close_its_input_and_go_on() {
    let long = "x".repeat(3_000_000);
    let script = ScriptProvider::new("exec <&-; echo no need");
    assert_eq!(script.send_request("", &long).await.unwrap().text, "no need");
}

#[tokio::test]
async fn a_program_without_a_supervisor_answers_and_is_missed_the_same() {
    let script = ScriptProvider::new("sleep 1000 & echo done");
    let transport = script.make_transport(&[]).with_supervisor(None);
    assert_eq!(transport.send(&make_request("", "?")).await.unwrap().text, "done");
    let provider = Arc::new(make_provider("mine", &["no-such-program"]));
    let ambient = make_environment(script.path(), &[]);
    let transport = CliTransport::with_environment(provider, ambient).with_supervisor(None);
    let error = transport.send(&make_request("", "?")).await.unwrap_err();
    assert_eq!(error.message, "the program `no-such-program` was not found");
    let home = script.path().to_str().unwrap();
    assert!(
        wait_until(|| find_processes_with(home).is_empty()).await,
        "alive: {:?}",
        find_processes_with(home)
    );
}

#[tokio::test]
async fn endless_output_is_cut_off() {
    let script = ScriptProvider::new("yes");
    let error = script.expect_error().await;
    assert_eq!(error.error_type, CallErrorType::ParseError);
    assert_eq!(error.message, "the program wrote more than 16777216 bytes");
    let home = script.path().to_str().unwrap();
    assert!(
        wait_until(|| find_processes_with(home).is_empty()).await,
        "alive: {:?}",
        find_processes_with(home)
    );
}

#[tokio::test]
async fn endless_complaints_do_not_fill_memory_and_their_end_is_kept() {
    let script = ScriptProvider::new("yes | head -c 20000000 >&2; echo out of paper >&2; exit 3");
    let error = script.expect_error().await;
    assert_eq!(error.message, "`sh`: exit status: 3: y y y out of paper");
}

#[tokio::test]
async fn bad_output_is_told_as_what_it_is() {
    let check = async |script: &str, error_type: CallErrorType, message: &str| {
        let error = ScriptProvider::new(script).expect_error().await;
        assert_eq!((error.error_type, error.message.as_str()), (error_type, message), "{script}");
    };
    check(r"printf '\377\376'", CallErrorType::ParseError, "`sh`: its output is not UTF-8 text")
        .await;
    check("true", CallErrorType::ParseError, "`sh`: its reply is empty").await;
    check("echo '   '", CallErrorType::ParseError, "`sh`: its reply is empty").await;
    check("exit 1", CallErrorType::Unknown, "`sh`: exit status: 1: it failed without a message")
        .await;
    check(
        r"printf 'no \033[31mpaper\033[0m\n' >&2; echo half a reply; exit 1",
        CallErrorType::Unknown,
        "`sh`: exit status: 1: no paper",
    )
    .await;
    check(
        "echo 'Invalid API key' >&2; exit 1",
        CallErrorType::Auth,
        "`sh`: exit status: 1: Invalid API key",
    )
    .await;
    check(
        "kill -9 $$",
        CallErrorType::Unknown,
        "`sh`: signal: 9 (SIGKILL): it failed without a message",
    )
    .await;
}

#[tokio::test]
async fn keys_do_not_appear_in_messages() {
    let script = ScriptProvider::new("echo cannot use $MY_KEY >&2; exit 1");
    let mut provider = make_provider("scripted", &["/bin/sh", script.script.to_str().unwrap()]);
    provider.key_variable = Some("MY_KEY".to_owned());
    provider.key = Some("sk-abcdef".into());
    let transport = with_supervisor(CliTransport::with_environment(
        Arc::new(provider),
        make_environment(script.path(), &[]),
    ));
    let error = transport.send(&make_request("", "?")).await.unwrap_err();
    assert_eq!(error.message, "`sh`: exit status: 1: cannot use ***");
    assert!(!format!("{transport:?}").contains("sk-abcdef"));
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let home = tempfile::tempdir().unwrap();
    let check = async |name: &str, command: &[&str], message: &str| {
        let provider = Arc::new(make_provider(name, command));
        let ambient = make_environment(home.path(), &[]);
        let transport = with_supervisor(CliTransport::with_environment(provider, ambient));
        let error = transport.send(&make_request("", "?")).await.unwrap_err();
        assert_eq!((error.error_type, error.message.as_str()), (CallErrorType::Unknown, message));
    };
    check("mine", &["no-such-program"], "the program `no-such-program` was not found").await;
    check("mine", &["/no/such/program"], "the program `/no/such/program` was not found").await;
    check(
        "mine",
        &[],
        "no program is known for the provider `mine`: set its `command` in council.yaml",
    )
    .await;
    let folder = home.path().to_str().unwrap();
    let refused =
        format!("the program `{folder}` could not be started: Permission denied (os error 13)");
    check("mine", &[folder], &refused).await;
}

#[tokio::test]
async fn a_program_without_a_stream_is_called_again_without_its_options() {
    let script = ScriptProvider::new(
        "case \"$*\" in *stream-json*) echo \"error: unknown option '--verbose'\" >&2; exit 1;; esac\n\
         echo '{\"is_error\": false, \"result\": \"It is so.\"}'",
    );
    let claude = script.path().join("claude");
    std::fs::write(&claude, format!("#!/bin/sh\n. {}\n", script.script.display())).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&claude, mode).unwrap();
    let provider = Arc::new(make_provider("mine", &[claude.to_str().unwrap()]));
    let ambient = make_environment(script.path(), &[]);
    let transport = with_supervisor(CliTransport::with_environment(provider, ambient));
    let request = make_request("", "Is it so?");
    // Each run of the program is a call of its own, which the engine journals.
    let error = transport.send(&request).await.unwrap_err();
    assert_eq!(error.refused, Some(RequestParameter::Stream), "{error}");
    assert_eq!(transport.send(&request).await.unwrap().text, "It is so.");
}
