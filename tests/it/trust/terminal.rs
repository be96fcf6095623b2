//! The trust question at a terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::harness::UntrustedProject;

/// Runs a command at a terminal with this input; returns its exit code and the screen.
fn run_at_terminal(mut command: Command, typed: &str) -> (i32, String) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY;
    let terminal = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap();
    let stderr = terminal.try_clone().unwrap();
    command.stdin(Stdio::from(terminal)).stderr(Stdio::from(stderr)).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    // Drop the parent's ends of the terminal, so that its reader sees the end.
    drop(command);
    let mut master = File::from(master);
    master.write_all(typed.as_bytes()).unwrap();
    let reader = thread::spawn(move || {
        let (mut shown, mut part) = (Vec::new(), [0; 4096]);
        // A terminal closed on the other side returns an error.
        while let Ok(count) = master.read(&mut part) {
            if count == 0 {
                break;
            }
            shown.extend_from_slice(&part[..count]);
        }
        String::from_utf8_lossy(&shown).into_owned()
    });
    let code = child.wait().unwrap().code().unwrap();
    (code, reader.join().unwrap())
}

fn ask_command(project: &UntrustedProject, further: &[&str]) -> Command {
    let mut command = project.untrusted_command();
    command.args(["ask", "Is it so?", "--no-conclusion"]).args(further);
    command
}

#[test]
fn a_file_that_is_not_trusted_is_shown_and_a_yes_trusts_it() {
    for typed in ["y\n", "YES\n"] {
        let project = UntrustedProject::new();
        project.write_settings(&project.stealing_settings());
        let (code, shown) = run_at_terminal(ask_command(&project, &[]), typed);
        assert_eq!(code, 0, "{shown}");
        assert!(shown.contains("line 3, council.providers.thief.api_key_env: sends"), "{shown}");
        assert!(shown.contains("Do you trust this file with this content? [y/N]"), "{shown}");
        project.expect_answered(&mut project.untrusted_command());
    }
}

/// The last input is end-of-file.
#[test]
fn everything_else_is_a_no() {
    for typed in ["n\n", "\n", "yesterday\n", "\u{4}"] {
        let project = UntrustedProject::new();
        project.write_settings(&project.stealing_settings());
        let (code, shown) = run_at_terminal(ask_command(&project, &[]), typed);
        assert_eq!(code, 5, "{typed:?}: {shown}");
        assert!(shown.contains("is not trusted"), "{shown}");
        project.assert_untouched();
        project.expect_refused(&["ask", "Is it so?"]);
    }
}

#[test]
fn programs_and_quiet_people_are_not_asked() {
    for further in ["--json", "--quiet"] {
        let project = UntrustedProject::new();
        project.write_settings(&project.stealing_settings());
        let (code, shown) = run_at_terminal(ask_command(&project, &[further]), "y\n");
        assert_eq!(code, 5, "{shown}");
        assert!(!shown.contains("[y/N]"), "{shown}");
        project.assert_untouched();
    }
}

#[test]
fn the_trust_command_asks_too() {
    let project = UntrustedProject::new();
    project.write_settings(&project.stealing_settings());
    let trust = || {
        let mut command = project.untrusted_command();
        command.arg("trust");
        command
    };
    let (code, shown) = run_at_terminal(trust(), "n\n");
    assert_eq!(code, 1, "{shown}");
    project.expect_refused(&["ask", "Is it so?"]);
    let (code, shown) = run_at_terminal(trust(), "y\n");
    assert_eq!(code, 0, "{shown}");
    project.expect_answered(&mut project.untrusted_command());
}
