//! Temporary files: a killed process leaves one, and the next write in that folder removes it.

use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::kit::{TestProgram, plenary_binary};

fn temporary_names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".tmp")).collect();
    names.sort();
    names
}

/// A program with a dialogue whose export is longer than the limit below.
fn program_with_long_dialogue() -> TestProgram {
    let program = TestProgram::new();
    let question = "x".repeat(90_000);
    let background = json!({ "a": question, "b": question });
    let (code, created) = program.run_operation(
        "create",
        &json!({ "title": "Talk", "question": question, "background": background }),
    );
    assert_eq!(code, 0, "{created:#}");
    program
}

/// The kernel kills a process that exceeds its file size limit: here in the middle of the export,
/// every time.
fn kill_during_export(program: &TestProgram, output: &str) {
    // Blocks of 512 or 1,024 bytes: more than SQLite's index of 32 KiB, less than the export.
    let script = format!("ulimit -c 0; ulimit -f 160; exec \"$0\" export talk --output {output}");
    let status = Command::new("sh")
        .args(["-c", &script])
        .arg(plenary_binary())
        .current_dir(program.path())
        .env_clear()
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.signal().is_some(), "it was not killed: {status:?}");
}

#[test]
fn what_a_killed_export_left_is_removed_by_the_next() {
    let program = program_with_long_dialogue();
    kill_during_export(&program, "out.json");
    kill_during_export(&program, "out.json");
    assert!(!program.path().join("out.json").exists());
    assert_eq!(temporary_names(program.path()).len(), 1, "one is left, the earlier one is swept");
    let ran = program.run_command(&["export", "talk", "--output", "out.json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(temporary_names(program.path()), Vec::<String>::new());
}

#[test]
fn a_file_that_is_not_a_leftover_of_ours_stays() {
    let program = program_with_long_dialogue();
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("target");
    std::fs::write(&target, "of the user").unwrap();
    // No process has the largest number that fits.
    let gone = i32::MAX;
    let alive = format!(".plenary-{}-0.tmp", std::process::id());
    let not_ours =
        [".plenary-notes.tmp", ".plenary-1x-0.tmp", ".plenary--0.tmp", "plenary-1-0.tmp", "x.tmp"];
    for name in not_ours.into_iter().chain([alive.as_str()]) {
        program.write_text(name, "of the user");
    }
    symlink(&target, program.path().join(format!(".plenary-{gone}-0.tmp"))).unwrap();
    std::fs::create_dir(program.path().join(format!(".plenary-{gone}-1.tmp"))).unwrap();
    std::fs::hard_link(&target, program.path().join(format!(".plenary-{gone}-2.tmp"))).unwrap();
    let before = temporary_names(program.path());
    assert_eq!(before.len(), 9);
    program.write_text(&format!(".plenary-{gone}-3.tmp"), "left by a process that is gone");
    let held = program.path().join(format!(".plenary-{gone}-4.tmp"));
    std::fs::write(&held, "a process of another container is still at it").unwrap();
    let lock = std::fs::File::open(&held).unwrap();
    lock.lock().unwrap();
    let ran = program.run_command(&["export", "talk", "--output", "out.json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(held.exists());
    std::fs::remove_file(&held).unwrap();
    assert_eq!(temporary_names(program.path()), before);
    assert_eq!(std::fs::read_to_string(target).unwrap(), "of the user");
}
