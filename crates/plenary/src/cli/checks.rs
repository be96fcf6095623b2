//! `check-modularity` checks the prompts of a host's agents; `verify` checks the store.

use std::path::PathBuf;

use clap::Args;
use plenary_core::report::phrases::count_noun;
use plenary_core::report::safe_text::safe_line;
use plenary_engine::app::agent_check::{
    AgentScan, AgentScanReport, DEFAULT_REVIEW_NAMES, ReviewMention, ReviewName, UnreadPrompt,
    scan_agents,
};
use plenary_engine::app::checks::verify_store;
use plenary_engine::error::Error;
use plenary_engine::store::traits::{VerifyFinding, VerifyReport};
use serde::Serialize;

use crate::cli::session::{CliSession, ExitStatus};

/// Check that prompts of agents do not mention the review
///
/// An agent that knows about the review writes for the review. This command searches the prompts
/// of a host's agents, `DIR/agents/*/prompt.md`, for the names of the review, and prints each line
/// that contains one.
///
/// Exit code 1 if a line mentions the review; 4 if a prompt cannot be read or there is no prompt.
///
/// $ plenary check-modularity .
///
/// $ plenary check-modularity host --name council --exempt router
#[derive(Debug, Args)]
pub(crate) struct CheckModularityArgs {
    /// The folder of the host that contains `agents/`
    dir: PathBuf,
    /// Search for this name instead of the defaults, in any case and also inside identifiers
    /// (`council` matches `council_log`); repeatable
    #[arg(long = "name", value_name = "NAME", default_values = DEFAULT_REVIEW_NAMES)]
    names: Vec<ReviewName>,
    /// Skip this agent, by the name of its folder; repeatable
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
    pub(crate) fn run(&self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let scan = AgentScan { names: &self.names, exempt: &self.exempt };
        let found = scan_agents(&self.dir, &scan)?;
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
                session.ui.print_note(&format!(
                    "`--exempt {}`: there is no such agent",
                    safe_line(agent)
                ));
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
        text.push_str(&format!("… and {} more\n", count_noun(found.unlisted, "line")));
    }
    text.push_str(&summary_line(checked));
    text
}

/// `agents/writer/prompt.md:12: …`, the format that editors and build logs link.
fn reference_line(reference: &ReviewMention) -> String {
    let ReviewMention { path, line, text, .. } = reference;
    format!("{}:{line}: {}\n", safe_line(path), safe_line(text))
}

fn unscanned_line(unscanned: &UnreadPrompt) -> String {
    let UnreadPrompt { path, reason, .. } = unscanned;
    format!("{}: not scanned: {}\n", safe_line(path), safe_line(reason))
}

fn summary_line(checked: &ModularityReport<'_>) -> String {
    let found = &checked.found;
    let names: Vec<String> =
        checked.names.iter().map(|name| safe_line(name.as_written())).collect();
    let scanned = count_noun(found.scanned, "prompt");
    let lines = found.references.len() + found.unlisted;
    let mut printed = match lines {
        0 => format!("No mention of the review in {scanned}"),
        1 => format!("1 line mentions the review, in {scanned}"),
        lines => format!("{lines} lines mention the review, in {scanned}"),
    };
    let apart = [
        (found.unscanned.len(), "not scanned"),
        (found.exempt.len(), "exempt"),
        (found.without_prompt.len(), "without a prompt"),
    ];
    for (count, what) in apart.into_iter().filter(|(count, _)| *count > 0) {
        printed.push_str(&format!(", {count} {what}"));
    }
    format!("{printed}; searched for: {}\n", names.join(", "))
}

/// Check that the record is consistent
///
/// Recomputes the hash chain of the journal, rebuilds every table and the search index from it and
/// compares them, checks foreign keys and ids, and derives each status from its events. A missing
/// payload is a finding. Exit code 1 if anything differs, 4 if the file is not a readable store.
///
/// A person who can write the file can rewrite all of it, or cut off its end. To detect that too, keep
/// the head that this command prints in another place, and pass it with `--head` later.
///
/// $ plenary verify
///
/// $ plenary verify tea-or-coffee-1a2b3c4d
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The id of one dialogue [default: the whole store]
    id: Option<String>,
    /// A head that `verify` printed earlier; it must still be part of the chain
    #[arg(long, value_name = "HASH", value_parser = parse_head)]
    head: Option<String>,
}

/// Parses a chain head: 64 hex digits.
fn parse_head(text: &str) -> Result<String, &'static str> {
    let hash = text.trim().to_ascii_lowercase();
    let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash { Ok(hash) } else { Err("expected 64 hex digits, as `plenary verify` prints them") }
}

impl VerifyArgs {
    pub(crate) fn run(&self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let project = session.open_required()?;
        let result = verify_store(&project, self.id.as_deref(), self.head.as_deref())?;
        let is_compared = self.head.is_some();
        let whose = if self.id.is_some() { "this dialogue" } else { "the store" };
        session.ui.print_result(&result, |result| {
            verification_text(&result.verification, whose, is_compared)
        })?;
        if result.verified && !is_compared && !session.ui.json {
            session.ui.print_note(NOTED_HEAD_HINT);
        }
        Ok(if result.verified { ExitStatus::Ok } else { ExitStatus::WithFindings })
    }
}

/// One changed round can affect hundreds of rows; twenty findings are enough to see it.
const FINDINGS_SHOWN: usize = 20;

/// A check without a noted head finds neither a rewritten store nor one whose end was cut off.
const NOTED_HEAD_HINT: &str = "compare the head with the one that you noted elsewhere; `plenary verify \
                               --head HASH` detects a rewritten or cut record";

fn verification_text(verification: &VerifyReport, whose: &str, is_compared: bool) -> String {
    let VerifyReport { dialogues, entries, head, findings } = verification;
    let dialogues = count_noun(*dialogues, "dialogue");
    // A head that is not found proves a change only if it was typed right.
    let is_unknown_head = !findings.is_empty() && findings.iter().all(|one| one.check == "head");
    let mut text = match findings.len() {
        _ if is_unknown_head => "The head is not part of this record.\n".to_owned(),
        0 if is_compared => {
            format!("The record is unchanged since that head: {dialogues}, {entries} entries.\n")
        }
        0 => format!("The record is consistent: {dialogues}, {entries} entries.\n"),
        1 => "The record was changed: 1 finding.\n".to_owned(),
        count => format!("The record was changed: {count} findings.\n"),
    };
    for finding in findings.iter().take(FINDINGS_SHOWN) {
        text.push_str(&describe_finding(finding));
    }
    if let Some(more) = findings.len().checked_sub(FINDINGS_SHOWN).filter(|more| *more > 0) {
        text.push_str(&format!("  … and {more} more; `--json` lists them all\n"));
    }
    text.push_str(&format!("head of {whose} {head}\n"));
    text
}

fn describe_finding(finding: &VerifyFinding) -> String {
    let dialogue = finding.dialogue_id.as_deref().unwrap_or("store");
    format!(
        "  {}: {}: {} [{}]\n",
        safe_line(dialogue),
        safe_line(&finding.place),
        safe_line(&finding.message),
        finding.check
    )
}
