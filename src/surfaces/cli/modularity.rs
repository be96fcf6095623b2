//! `check-modularity`: checks that the prompts of a host's agents do not mention the review gate.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::session::{CliSession, ExitStatus};
use crate::error::Error;
use crate::export::{safe_text, wording};
use crate::modularity::{
    self, AgentScan, AgentScanReport, ReviewMention, ReviewName, UnreadPrompt,
};

/// Check that a host's agents do not know of the gate
///
/// An agent that knows of the gate that reviews it writes for the gate. This looks through
/// the prompts of a host's agents, `DIR/agents/*/prompt.md`, for the gate's names, and prints
/// each line that has one in it, with its file and number.
///
/// Exit code 1 when there is such a line; 4 when a prompt could not be read, or when there
/// was nothing to look at: what nobody looked at does not pass.
#[derive(Debug, Args)]
pub(super) struct CheckModularityArgs {
    /// The folder of the host, in which `agents/` lies.
    dir: PathBuf,
    /// What the gate is called, in place of the defaults. A word in any case, alone or in an
    /// identifier: `council` is also in `council_log`. May be repeated.
    #[arg(long = "name", value_name = "NAME", default_values = modularity::DEFAULT_REVIEW_NAMES)]
    names: Vec<ReviewName>,
    /// An agent that may know of the gate, by the name of its folder: a router. May be repeated.
    #[arg(long, value_name = "AGENT")]
    exempt: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ModularityReport<'a> {
    status: &'static str,
    names: &'a [ReviewName],
    #[serde(flatten)]
    found: AgentScanReport,
}

impl CheckModularityArgs {
    pub(super) fn run(&self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let scan = AgentScan { names: &self.names, exempt: &self.exempt };
        let found = modularity::scan_agents(&self.dir, &scan)?;
        let done = match (found.unscanned.is_empty(), found.references.is_empty()) {
            (false, _) => ExitStatus::Unreadable,
            (true, false) => ExitStatus::WithFindings,
            (true, true) => ExitStatus::Ok,
        };
        let status = if done == ExitStatus::Ok { "success" } else { "error" };
        let checked = ModularityReport { status, names: &self.names, found };
        session.ui.print_result(&checked, modularity_text)?;
        if !session.ui.json {
            for agent in &checked.found.unknown_exempt {
                session
                    .ui
                    .print_note(&format!("no agent is called `{}`", safe_text::safe_line(agent)));
            }
        }
        Ok(done)
    }
}

fn modularity_text(checked: &ModularityReport<'_>) -> String {
    let found = &checked.found;
    let references = found.references.iter().map(reference_line);
    let unscanned = found.unscanned.iter().map(unscanned_line);
    let mut text: String = references.chain(unscanned).collect();
    if found.unlisted > 0 {
        text.push_str(&format!("… and {} more\n", wording::count_noun(found.unlisted, "line")));
    }
    text.push_str(&summary_line(checked));
    text
}

/// `agents/writer/prompt.md:12: …`, the format that editors and build logs link.
fn reference_line(reference: &ReviewMention) -> String {
    let ReviewMention { path, line, text, .. } = reference;
    format!("{}:{line}: {}\n", safe_text::safe_line(path), safe_text::safe_line(text))
}

fn unscanned_line(unscanned: &UnreadPrompt) -> String {
    let UnreadPrompt { path, reason, .. } = unscanned;
    format!("{}: not scanned: {}\n", safe_text::safe_line(path), safe_text::safe_line(reason))
}

fn summary_line(checked: &ModularityReport<'_>) -> String {
    let found = &checked.found;
    let names: Vec<String> =
        checked.names.iter().map(|name| safe_text::safe_line(name.as_written())).collect();
    let scanned = wording::count_noun(found.scanned, "prompt");
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
