//! `check-modularity`: checks that the prompts of a host's agents do not mention the review gate.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::session::{Done, Session};
use crate::error::Error;
use crate::export::{safe_text, wording};
use crate::modularity::{self, Name, Reference, Scan, Scanned, Unscanned};

/// Check that a host's agents do not know of the gate
///
/// An agent that knows of the gate that reviews it writes for the gate. This looks through
/// the prompts of a host's agents, `DIR/agents/*/prompt.md`, for the gate's names, and prints
/// each line that has one in it, with its file and number.
///
/// Exit code 1 when there is such a line; 4 when a prompt could not be read, or when there
/// was nothing to look at: what nobody looked at does not pass.
#[derive(Debug, Args)]
pub(super) struct CheckModularity {
    /// The folder of the host, in which `agents/` lies.
    dir: PathBuf,
    /// What the gate is called, in place of the defaults. A word in any case, alone or in an
    /// identifier: `council` is also in `council_log`. May be repeated.
    #[arg(long = "name", value_name = "NAME", default_values = modularity::DEFAULT_NAMES)]
    names: Vec<Name>,
    /// An agent that may know of the gate, by the name of its folder: a router. May be repeated.
    #[arg(long, value_name = "AGENT")]
    exempt: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Checked<'a> {
    status: &'static str,
    names: &'a [Name],
    #[serde(flatten)]
    found: Scanned,
}

impl CheckModularity {
    pub(super) fn run(&self, session: &Session<'_>) -> Result<Done, Error> {
        let scan = Scan { names: &self.names, exempt: &self.exempt };
        let found = modularity::scan(&self.dir, &scan)?;
        let done = match (found.unscanned.is_empty(), found.references.is_empty()) {
            (false, _) => Done::Unreadable,
            (true, false) => Done::WithFindings,
            (true, true) => Done::Well,
        };
        let status = if done == Done::Well { "success" } else { "error" };
        let checked = Checked { status, names: &self.names, found };
        session.ui.answer(&checked, text)?;
        if !session.ui.json {
            for agent in &checked.found.unknown_exempt {
                session.ui.say(&format!("no agent is called `{}`", safe_text::line(agent)));
            }
        }
        Ok(done)
    }
}

fn text(checked: &Checked<'_>) -> String {
    let found = &checked.found;
    let references = found.references.iter().map(reference);
    let unscanned = found.unscanned.iter().map(not_scanned);
    let mut text: String = references.chain(unscanned).collect();
    if found.unlisted > 0 {
        text.push_str(&format!("… and {} more\n", wording::count(found.unlisted, "line")));
    }
    text.push_str(&summary(checked));
    text
}

/// `agents/writer/prompt.md:12: …`, the format that editors and build logs link.
fn reference(reference: &Reference) -> String {
    let Reference { path, line, text, .. } = reference;
    format!("{}:{line}: {}\n", safe_text::line(path), safe_text::line(text))
}

fn not_scanned(unscanned: &Unscanned) -> String {
    let Unscanned { path, reason, .. } = unscanned;
    format!("{}: not scanned: {}\n", safe_text::line(path), safe_text::line(reason))
}

fn summary(checked: &Checked<'_>) -> String {
    let found = &checked.found;
    let names: Vec<String> =
        checked.names.iter().map(|name| safe_text::line(name.spelled())).collect();
    let scanned = wording::count(found.scanned, "prompt");
    let lines = found.references.len() + found.unlisted;
    let mut said = match lines {
        0 => format!("No reference to the gate in {scanned}"),
        1 => format!("1 line refers to the gate, of {scanned}"),
        lines => format!("{lines} lines refer to the gate, of {scanned}"),
    };
    let apart = [
        (found.unscanned.len(), "not scanned"),
        (found.exempt.len(), "exempt"),
        (found.without_prompt.len(), "without a prompt"),
    ];
    for (count, what) in apart.into_iter().filter(|(count, _)| *count > 0) {
        said.push_str(&format!(", {count} {what}"));
    }
    format!("{said}; looked for: {}\n", names.join(", "))
}
