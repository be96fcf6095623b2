//! A clone that contains links under the names of Plenary's own files.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::kit::{CommandOutput, TestProgram};

#[track_caller]
fn check_refused(ran: &CommandOutput, code: i32, message: &str) {
    assert_eq!(ran.code, code, "{ran:?}");
    assert!(ran.stderr.contains("is a link"), "{ran:?}");
    assert!(ran.stderr.contains(message), "{ran:?}");
}

fn list_names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap();
    names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_store_folder_that_is_a_link_is_refused() {
    let (program, outside) = (TestProgram::new(), tempfile::tempdir().unwrap());
    symlink(outside.path(), program.path().join(".plenary")).unwrap();
    for arguments in [&["list"][..], &["dialogue", "create", "Talk"], &["serve", "--port", "0"]] {
        check_refused(&program.run_command(arguments), 5, "--store FILE");
    }
    assert_eq!(list_names(outside.path()), Vec::<String>::new());
}

#[test]
fn a_store_file_that_is_a_link_is_refused() {
    let (program, outside) = (TestProgram::new(), tempfile::tempdir().unwrap());
    std::fs::create_dir(program.path().join(".plenary")).unwrap();
    let target = outside.path().join("other.db");
    symlink(&target, program.path().join(".plenary/plenary.db")).unwrap();
    check_refused(&program.run_command(&["dialogue", "create", "Talk"]), 5, "plenary.db");
    // The same through the project's settings file.
    program.write_text("council.yaml", "storage: {url: 'sqlite:data/talks.db'}\n");
    symlink(outside.path(), program.path().join("data")).unwrap();
    check_refused(&program.run_command(&["dialogue", "create", "Talk"]), 5, "data");
    assert_eq!(list_names(outside.path()), Vec::<String>::new());
    // The operator may choose this path on the command line.
    let ran = program.run_command(&["--store", "data/talks.db", "dialogue", "create", "Talk"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn a_verdict_log_that_is_a_link_is_not_written_through() {
    let (program, outside) = (TestProgram::new(), tempfile::tempdir().unwrap());
    let target = outside.path().join("profile");
    std::fs::write(&target, "of the user\n").unwrap();
    symlink(&target, program.path().join("council_log.jsonl")).unwrap();
    program.write_text("post.md", "A post.\n");
    let ran = program.run_command(&["review", "--rehearse", "post.md"]);
    assert!(ran.stderr.contains("is a link"), "{ran:?}");
    let ran = program.run_command(&["log", "repair"]);
    check_refused(&ran, 5, "review.log_path");
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "of the user\n");
    // Follow the hint of the error.
    std::fs::remove_file(program.path().join("council_log.jsonl")).unwrap();
    assert_eq!(program.run_command(&["log", "repair"]).code, 0);
    let log = std::fs::read_to_string(program.path().join("council_log.jsonl")).unwrap();
    assert_eq!(log.lines().count(), 1, "{log}");
}

#[test]
fn a_verdict_log_in_a_folder_that_is_a_link_is_refused() {
    let (program, outside) = (TestProgram::new(), tempfile::tempdir().unwrap());
    program.write_text("council.yaml", "review: {log_path: logs/of/verdicts.jsonl}\n");
    symlink(outside.path(), program.path().join("logs")).unwrap();
    program.write_text("post.md", "A post.\n");
    let ran = program.run_command(&["review", "--rehearse", "post.md"]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.stderr.contains("must not lead through a link"), "{ran:?}");
    assert_eq!(list_names(outside.path()), Vec::<String>::new());
}
