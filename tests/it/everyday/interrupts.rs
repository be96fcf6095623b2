//! Ctrl-C at a terminal: it ends with the commands that resume, and leaves no row on the screen.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::kit::{TestProgram, plenary_binary};

/// Longer than a rehearsed round at a terminal takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs the program with a terminal of its own, and presses Ctrl-C once `sign` is on the screen.
/// Returns the exit code and the screen.
fn interrupt_at(program: &TestProgram, arguments: &[&str], sign: &str) -> (i32, String) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY;
    let terminal = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap();
    let stderr = terminal.try_clone().unwrap();
    // Ctrl-C is a signal only at the controlling terminal.
    let mut command = Command::new("setsid");
    command.arg("--ctty").arg(plenary_binary()).args(arguments);
    command.current_dir(program.path()).env_clear().env("PATH", "/usr/bin:/bin");
    command.env("TERM", "xterm").env("PLENARY_TRUST", "all");
    command.stdin(Stdio::from(terminal)).stderr(Stdio::from(stderr)).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut keys = File::from(master.try_clone().unwrap());
    let mut screen = File::from(master);
    let (sender, parts) = channel();
    thread::spawn(move || {
        let mut part = [0; 4096];
        while let Ok(count @ 1..) = screen.read(&mut part) {
            let _ = sender.send(String::from_utf8_lossy(&part[..count]).into_owned());
        }
    });
    let mut shown = String::new();
    while !shown.contains(sign) {
        shown.push_str(&parts.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{shown}")));
    }
    keys.write_all(b"\x03").unwrap();
    let code = child.wait().unwrap().code().unwrap();
    shown.extend(parts.iter());
    (code, shown)
}

/// A project with two documents, whose second round takes long.
fn slow_project() -> TestProgram {
    let program = TestProgram::new();
    program.write_text("slow.yaml", "- {round: 2, reply: '{}', delay_ms: 60000}\n");
    program.write_text("a.md", "# A\n\nText.\n");
    program.write_text("b.md", "# B\n\nText.\n");
    program.write_text("questions.jsonl", "\"Is it so?\"\n\"Is it not so?\"\n");
    program
}

#[test]
fn ctrl_c_ends_with_the_commands_that_resume() {
    let cases: [(&[&str], &str, &str, usize); 4] = [
        (&["ask", "Is it so?"], "R2 cross review", "Interrupted; the record keeps 3 replies", 1),
        (&["review", "a.md"], "R2 cross-reading", "Interrupted; the record keeps 4 replies", 1),
        (&["review", "a.md", "b.md"], "4s", "Interrupted: 0 of 2 files are done", 2),
        (&["ask", "--batch", "questions.jsonl"], "4s", "Interrupted: 0 of 2 done", 2),
    ];
    for (arguments, sign, message, runs) in cases {
        let program = slow_project();
        let arguments = [arguments, &["--rehearse", "slow.yaml"]].concat();
        let (code, shown) = interrupt_at(&program, &arguments, sign);
        assert_eq!(code, 130, "{arguments:?}: {shown}");
        let (_, end) =
            shown.rsplit_once(message).unwrap_or_else(|| panic!("{arguments:?}: {shown}"));
        let lines: Vec<&str> = end.lines().skip(1).collect();
        assert_eq!(lines.len(), runs, "{arguments:?}: {lines:?}");
        assert!(lines.iter().all(|line| line.starts_with("plenary resume ")), "{lines:?}");
        // The terminal's own `^C` would move the cursor, and one row would stay.
        assert!(!shown.contains("^C"), "{arguments:?}: {shown}");
    }
}
