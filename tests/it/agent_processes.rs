//! Agent programs leave no process behind, no matter how the real program ends.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, geteuid, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tempfile::TempDir;

use crate::kit::{
    LiveProcess, RUNAWAYS, RUNAWAYS_COUNT, TestProgram, find_children, plenary_binary,
    wait_until_blocking,
};

const SEATS: usize = 3;

/// A council of three seats that all run one script, with its own temporary folder.
struct ScriptCouncil {
    program: TestProgram,
    temporary: TempDir,
}

impl ScriptCouncil {
    fn new(script: &str) -> Self {
        Self::with_timeouts(
            script,
            "{r1_per_provider: 120s, r2_per_provider: 120s, r3_chair: 120s}",
        )
    }

    fn with_timeouts(script: &str, timeouts: &str) -> Self {
        let program = TestProgram::new();
        program.write_text("agent.sh", script);
        let path = program.path().join("agent.sh");
        let seat = |name: &str| {
            let command = format!("[/bin/sh, \"{}\"]", path.display());
            format!("    - {{name: {name}, role: [participant, chair], command: {command}}}\n")
        };
        let seats: String = ["ann", "bob", "cid"].map(seat).concat();
        program.write_text(
            "council.yaml",
            &format!("council:\n  providers:\n{seats}  timeouts: {timeouts}\n"),
        );
        Self { program, temporary: tempfile::tempdir().unwrap() }
    }

    /// Sets the environment of a command for this council.
    fn set_environment(&self, command: &mut Command) {
        command
            .env("HOME", self.program.path())
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("TMPDIR", self.temporary.path())
            .env("PLENARY_TRUST", "all");
    }

    fn start_command(&self, command: &mut Command) -> ScriptRun<'_> {
        self.set_environment(command);
        let null = || Stdio::null();
        let child = command.stdin(null()).stdout(null()).stderr(null()).spawn().unwrap();
        ScriptRun { council: self, child, processes: Vec::new() }
    }

    fn start_ask(&self) -> ScriptRun<'_> {
        self.start_command(self.program.command().args(["ask", "Tea?"]))
    }

    /// Process ids that the script recorded.
    fn recorded_pids(&self) -> Vec<i32> {
        let files = self.program.path().read_dir().unwrap().flatten();
        let files = files.filter(|file| file.file_name().to_str().unwrap().starts_with("pids."));
        let texts = files.map(|file| std::fs::read_to_string(file.path()).unwrap());
        texts
            .flat_map(|text| text.lines().map(|line| line.parse().unwrap()).collect::<Vec<_>>())
            .collect()
    }

    fn home(&self) -> PathBuf {
        self.temporary.path().join(format!("plenary-{}", geteuid().as_raw()))
    }

    fn scratch_entries(&self) -> Vec<PathBuf> {
        self.home().read_dir().unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    #[track_caller]
    fn assert_scratch_is_gone(&self) {
        let is_gone = wait_until_blocking(|| self.scratch_entries().is_empty());
        assert!(is_gone, "left: {:?}", self.scratch_entries());
    }
}

/// A running `plenary` process.
struct ScriptRun<'a> {
    council: &'a ScriptCouncil,
    child: Child,
    processes: Vec<LiveProcess>,
}

impl ScriptRun<'_> {
    /// Waits until the scripts have started all their children.
    #[track_caller]
    fn wait_until_started(&mut self) {
        let count = SEATS * RUNAWAYS_COUNT;
        let council = self.council;
        assert!(
            wait_until_blocking(|| council.recorded_pids().len() == count),
            "noted: {:?}",
            council.recorded_pids()
        );
        self.processes =
            council.recorded_pids().into_iter().filter_map(LiveProcess::from_pid).collect();
        assert_eq!(self.processes.len(), count, "some have ended already");
        assert!(self.processes.iter().all(LiveProcess::is_alive));
    }

    fn send_signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn wait_exit(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    fn alive_pids(&self) -> Vec<i32> {
        self.processes.iter().filter(|one| one.is_alive()).map(|one| one.pid).collect()
    }

    #[track_caller]
    fn assert_all_gone(&self) {
        assert!(
            wait_until_blocking(|| self.alive_pids().is_empty()),
            "alive: {:?}",
            self.alive_pids()
        );
    }

    #[track_caller]
    fn supervisor_pids(&self) -> Vec<i32> {
        let supervisors = find_children(self.child.id(), "supervisor");
        assert_eq!(supervisors.len(), SEATS);
        supervisors
    }
}

/// A failing test must not leave processes behind.
impl Drop for ScriptRun<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        for one in self.processes.iter().filter(|one| one.is_alive()) {
            let _ = kill_process(Pid::from_raw(one.pid).unwrap(), Signal::KILL);
        }
    }
}

fn waiting_script() -> String {
    format!("{RUNAWAYS}\nexec sleep 1000")
}

#[track_caller]
fn check_signal(signal: Signal) {
    let council = ScriptCouncil::new(&waiting_script());
    let mut running = council.start_ask();
    running.wait_until_started();
    running.send_signal(signal);
    assert_eq!(running.wait_exit().code(), Some(130), "{signal:?}");
    running.assert_all_gone();
    council.assert_scratch_is_gone();
    let listed = council.program.run_command(&["list", "--json"]).stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let id = listed["dialogues"][0]["dialogue_id"].as_str().unwrap();
    let shown = council.program.run_command(&["show", id]).stdout;
    assert!(shown.contains("the run was interrupted"), "{shown}");
}

#[test]
fn a_hangup_stops_a_run_and_its_programs() {
    check_signal(Signal::HUP);
}

#[test]
fn a_quit_stops_a_run_and_its_programs() {
    check_signal(Signal::QUIT);
}

#[test]
fn a_termination_stops_a_run_and_its_programs() {
    check_signal(Signal::TERM);
}

#[test]
fn an_interruption_stops_a_run_and_its_programs() {
    check_signal(Signal::INT);
}

/// The terminal is gone, so failing to print is not an error of the program.
#[test]
fn a_run_whose_terminal_is_gone_is_interrupted() {
    let council = ScriptCouncil::new(&waiting_script());
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let noctty = i32::try_from(OFlags::NOCTTY.bits()).unwrap();
    let output = File::options().read(true).write(true).custom_flags(noctty).open(name).unwrap();
    let mut command = council.program.command();
    council.set_environment(&mut command);
    command.args(["ask", "Tea?"]).stdout(output).stderr(Stdio::null());
    let mut running =
        ScriptRun { council: &council, child: command.spawn().unwrap(), processes: Vec::new() };
    drop(command);
    running.wait_until_started();
    drop(terminal);
    running.send_signal(Signal::HUP);
    assert_eq!(running.wait_exit().code(), Some(130));
    running.assert_all_gone();
}

/// The killed process cannot clean up; its supervisors do.
#[test]
fn programs_end_with_a_run_that_is_killed() {
    let council = ScriptCouncil::new(&waiting_script());
    let mut running = council.start_ask();
    running.wait_until_started();
    running.send_signal(Signal::KILL);
    assert_eq!(running.wait_exit().signal(), Some(9));
    running.assert_all_gone();
    council.assert_scratch_is_gone();
}

#[test]
fn programs_end_with_a_server_that_is_killed() {
    let council = ScriptCouncil::new(&waiting_script());
    let mut command = council.program.command();
    council.set_environment(&mut command);
    let mut child = command
        .arg("mcp")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"council_ask","arguments":{"question":"Tea?"}}}
"#;
    std::io::Write::write_all(&mut input, hello.as_bytes()).unwrap();
    let mut running = ScriptRun { council: &council, child, processes: Vec::new() };
    running.wait_until_started();
    running.send_signal(Signal::KILL);
    assert_eq!(running.wait_exit().signal(), Some(9));
    running.assert_all_gone();
    council.assert_scratch_is_gone();
}

#[test]
fn a_timeout_ends_a_program_with_all_it_started() {
    let timeouts = "{r1_per_provider: 4s, r2_per_provider: 4s, r3_chair: 4s}";
    let council = ScriptCouncil::with_timeouts(&waiting_script(), timeouts);
    let mut running = council.start_ask();
    // On a slow machine the time may run out before all have started: these must end too.
    let status = running.wait_exit();
    assert_eq!(status.code(), Some(3));
    let noted = council.recorded_pids();
    assert!(!noted.is_empty(), "no script was started");
    running.processes = noted.into_iter().filter_map(LiveProcess::from_pid).collect();
    running.assert_all_gone();
    council.assert_scratch_is_gone();
}

/// `nohup` starts a program with SIGHUP ignored.
#[test]
fn a_run_that_ignores_hangups_goes_on() {
    let until_told = "while [ ! -e \"$HOME/go\" ]; do sleep 0.1; done; echo no reply";
    let council = ScriptCouncil::new(&format!("{RUNAWAYS}\n{until_told}"));
    let mut command = Command::new("/bin/sh");
    let ignoring = "trap '' HUP; exec \"$0\" ask Tea?";
    command
        .current_dir(council.program.path())
        .env_clear()
        .args(["-c", ignoring])
        .arg(plenary_binary());
    let mut running = council.start_command(&mut command);
    running.wait_until_started();
    running.send_signal(Signal::HUP);
    council.program.write_text("go", "");
    assert_ne!(running.wait_exit().code(), Some(130));
    running.assert_all_gone();
}

/// The main process can do the work of a killed supervisor. It cannot find a child that changed its
/// environment, so this script starts none.
#[test]
fn programs_end_when_their_supervisors_are_killed() {
    let council = ScriptCouncil::new(&marked_script());
    let mut running = council.start_ask();
    running.wait_until_started();
    for supervisor in running.supervisor_pids() {
        kill_process(Pid::from_raw(supervisor).unwrap(), Signal::KILL).unwrap();
    }
    running.assert_all_gone();
    running.send_signal(Signal::KILL);
}

/// A supervisor obeys a termination signal and ends everything.
#[test]
fn a_supervisor_that_is_told_to_stop_ends_its_program() {
    let council = ScriptCouncil::new(&waiting_script());
    let mut running = council.start_ask();
    running.wait_until_started();
    for (supervisor, signal) in
        running.supervisor_pids().into_iter().zip([Signal::TERM, Signal::HUP, Signal::INT])
    {
        kill_process(Pid::from_raw(supervisor).unwrap(), signal).unwrap();
    }
    running.assert_all_gone();
}

#[test]
fn the_next_start_sweeps_what_a_killed_supervisor_left() {
    let council = ScriptCouncil::new(&marked_script());
    let mut running = council.start_ask();
    running.wait_until_started();
    let supervisors = running.supervisor_pids();
    // Stop the main process first, so that it cannot do the supervisors' work.
    running.send_signal(Signal::STOP);
    for supervisor in supervisors {
        kill_process(Pid::from_raw(supervisor).unwrap(), Signal::KILL).unwrap();
    }
    running.send_signal(Signal::KILL);
    assert_eq!(running.wait_exit().signal(), Some(9));
    // A program dies with its supervisor; its children do not.
    let scripts = council.scratch_entries();
    assert_eq!(scripts.len(), 2 * SEATS, "{scripts:?}");
    assert!(!running.alive_pids().is_empty());
    // A foreign file beside the scratch folder.
    std::fs::write(council.home().join("results.csv"), "x").unwrap();

    let next = council
        .program
        .command()
        .args(["ask", "--rehearse", "Tea?"])
        .env("TMPDIR", council.temporary.path())
        .output()
        .unwrap();
    assert_eq!(next.status.code(), Some(0), "{next:?}");
    running.assert_all_gone();
    assert_eq!(council.scratch_entries(), [council.home().join("results.csv")]);
}

fn marked_script() -> String {
    waiting_script().replace("env -i HOME", "env HOME")
}

/// The hidden command removes a scratch folder, so it must reject any other folder.
#[test]
fn a_supervisor_refuses_a_folder_that_is_no_scratch_folder() {
    let folder = tempfile::tempdir().unwrap();
    let check = |path: &Path| {
        std::fs::create_dir_all(path).unwrap();
        std::fs::write(path.join("results.csv"), "x").unwrap();
        let refused = Command::new(plenary_binary())
            .arg("__supervise")
            .arg(path)
            .arg("true")
            .output()
            .unwrap();
        assert_eq!(refused.status.code(), Some(1), "{}", path.display());
        assert!(path.join("results.csv").exists());
    };
    let user = geteuid().as_raw();
    check(folder.path());
    check(&folder.path().join("work"));
    let name = format!("run-1-{}", "0".repeat(16));
    check(&folder.path().join(&name));
    // A valid name, but the folder has no lock.
    check(&folder.path().join(format!("plenary-{user}")).join(&name));
    let bare = Command::new(plenary_binary()).arg0("plenary").arg("__supervise").output().unwrap();
    assert_eq!(bare.status.code(), Some(1));
}
