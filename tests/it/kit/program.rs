//! The real program, in a folder of its own and with an empty environment.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub struct TestProgram {
    pub folder: TempDir,
}

/// Exit code and output of one run.
#[derive(Debug)]
pub struct CommandOutput {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl TestProgram {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The program, ready for arguments. It trusts the test's settings.
    pub fn command(&self) -> Command {
        let mut command = self.command_without_trust();
        command.env("PLENARY_TRUST", "all");
        command
    }

    /// The program with an empty environment and no trusted settings.
    pub fn command_without_trust(&self) -> Command {
        let mut command = Command::new(plenary_binary());
        command.current_dir(self.path()).env_clear().stdin(Stdio::null());
        command
    }

    pub fn run_command(&self, arguments: &[&str]) -> CommandOutput {
        let output = self.command().args(arguments).output().unwrap();
        CommandOutput {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Writes a text file into the folder and creates its parent folders.
    pub fn write_text(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Writes a document into the folder and returns its name.
    pub fn write_json(&self, name: &str, document: &Value) -> String {
        std::fs::write(self.path().join(name), document.to_string()).unwrap();
        name.to_owned()
    }

    /// Runs `dialogue OP --data … --json` and returns the exit code and the document.
    #[track_caller]
    pub fn run_operation(&self, operation: &str, arguments: &Value) -> (i32, Value) {
        let file = self.write_json(&format!("{operation}.json"), arguments);
        let ran = self.run_command(&["dialogue", operation, "--data", &file, "--json"]);
        let document = serde_json::from_str(&ran.stdout)
            .unwrap_or_else(|error| panic!("{operation} printed no document: {error}\n{ran:?}"));
        (ran.code, document)
    }
}

pub fn plenary_binary() -> PathBuf {
    assert_cmd::cargo::cargo_bin!("plenary").to_owned()
}
