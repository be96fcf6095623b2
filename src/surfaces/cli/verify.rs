//! `verify`: checks that the record was not changed.

use clap::Args;

use super::session::{CliSession, ExitStatus};
use crate::error::Error;
use crate::export::{safe_text, wording};
use crate::operations;
use crate::store::{VerifyFinding, VerifyReport};

/// Check that the record is as it was written
///
/// Recomputes the hash chain of the journal, rebuilds every table and the search index from
/// it and compares, checks foreign keys and ids, and derives each status from its events. An
/// entry whose payload is missing is a finding. Exit code 1 when anything differs, 4 when the
/// file cannot be opened as a store.
///
/// Whoever can write the file can also rewrite all of it. Note the head that this
/// prints somewhere else, and give it back with `--head` to find that out too.
#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// One dialogue [default: the whole store]
    id: Option<String>,
    /// A head noted earlier; it must still be part of the chain.
    #[arg(long, value_name = "HASH", value_parser = parse_head)]
    head: Option<String>,
}

/// Parses a chain head: 64 hex digits.
fn parse_head(text: &str) -> Result<String, &'static str> {
    let hash = text.trim().to_ascii_lowercase();
    let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash { Ok(hash) } else { Err("a head is 64 hex digits, as `verify` prints it") }
}

impl VerifyArgs {
    pub(super) fn run(&self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let project = session.open_required()?;
        let result = operations::verify_store(&project, self.id.as_deref(), self.head.as_deref())?;
        session.ui.print_result(&result, |result| verification_text(&result.verification))?;
        Ok(if result.verified { ExitStatus::Ok } else { ExitStatus::WithFindings })
    }
}

/// One changed round can affect hundreds of rows; twenty findings are enough to see it.
const FINDINGS_SHOWN: usize = 20;

fn verification_text(verification: &VerifyReport) -> String {
    let VerifyReport { dialogues, entries, head, findings } = verification;
    let dialogues = wording::count_noun(*dialogues, "dialogue");
    let mut text = match findings.len() {
        0 => format!("The record is as it was written: {dialogues}, {entries} entries.\n"),
        1 => "The record was changed: 1 finding.\n".to_owned(),
        count => format!("The record was changed: {count} findings.\n"),
    };
    for finding in findings.iter().take(FINDINGS_SHOWN) {
        text.push_str(&describe_finding(finding));
    }
    if let Some(more) = findings.len().checked_sub(FINDINGS_SHOWN).filter(|more| *more > 0) {
        text.push_str(&format!("  … and {more} more; `--json` lists them all\n"));
    }
    text.push_str(&format!("head {head}\n"));
    text
}

fn describe_finding(finding: &VerifyFinding) -> String {
    let dialogue = finding.dialogue_id.as_deref().unwrap_or("store");
    format!(
        "  {}: {}: {} [{}]\n",
        safe_text::safe_line(dialogue),
        safe_text::safe_line(&finding.place),
        safe_text::safe_line(&finding.message),
        finding.check
    )
}
