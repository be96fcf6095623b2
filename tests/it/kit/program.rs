//! The real program, in a folder of its own and with an empty environment.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub struct Program {
    pub folder: TempDir,
}

/// Exit code and output of one run.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Program {
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
        let mut command = Command::new(binary());
        command.current_dir(self.path()).env_clear().stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        let output = self.command().args(arguments).output().unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Writes a text file into the folder and creates its parent folders.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Writes a document into the folder and returns its name.
    pub fn file(&self, name: &str, document: &Value) -> String {
        std::fs::write(self.path().join(name), document.to_string()).unwrap();
        name.to_owned()
    }

    /// Runs `dialogue OP --data … --json` and returns the exit code and the document.
    #[track_caller]
    pub fn operation(&self, operation: &str, arguments: &Value) -> (i32, Value) {
        let file = self.file(&format!("{operation}.json"), arguments);
        let ran = self.run(&["dialogue", operation, "--data", &file, "--json"]);
        let document = serde_json::from_str(&ran.stdout)
            .unwrap_or_else(|error| panic!("{operation} printed no document: {error}\n{ran:?}"));
        (ran.code, document)
    }
}

pub fn binary() -> PathBuf {
    assert_cmd::cargo::cargo_bin!("plenary").to_owned()
}
