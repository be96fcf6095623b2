//! Settles the `review` section.

use std::path::Path;

use serde_json::json;

use super::file::{DeliberatorEntry, ReviewSection};
use super::ledger::{Ledger, Source};
use super::locate::Located;
use super::own_files;
use super::section::{At, Problems};
use super::settings::{Deliberator, Review};
use crate::domain::gate::{PolicyName, Redaction};
use crate::domain::store_files::store_files;

/// One of the four deliberators of the specification may fail.
const MIN_DELIBERATORS_DEFAULT: usize = 3;
const PRIOR_VERDICTS_DEFAULT: usize = 5;
pub(super) const LOG_PATH_DEFAULT: &str = "council_log.jsonl";

pub(super) fn settle(
    file: ReviewSection,
    located: &Located,
    ledger: &mut Ledger,
    problems: &mut Problems,
) -> Review {
    let folder = &located.folder;
    let (seats, source) = match file.deliberators {
        Some(At { value, line }) => (value, Source::File { line }),
        None => (DeliberatorEntry::built_in(), Source::Default),
    };
    let names: Vec<&str> = seats.iter().map(|seat| seat.name.as_str()).collect();
    ledger.note("review.deliberators", json!(names), source.clone());
    let asked = file.min_deliberators.as_ref().map(|at| at.line);
    let adjudicator = ledger.file_or(
        "review.adjudicator.provider",
        file.adjudicator.map(|at| at.map(Some)),
        None,
    );
    let policy = ledger.file_or("review.policy.name", file.policy, PolicyName::Seed);
    let min_deliberators = ledger.file_or(
        "review.policy.min_deliberators",
        file.min_deliberators,
        MIN_DELIBERATORS_DEFAULT,
    );
    if let (true, Source::File { line }) = (min_deliberators > seats.len(), source) {
        // A review that needs more deliberators than it has never passes.
        let fault = format!("is {min_deliberators}, but there are {} deliberators", seats.len());
        problems.note("review.policy.min_deliberators", asked.unwrap_or(line), &fault);
    }
    let prior_verdicts =
        ledger.file_or("review.policy.prior_verdicts", file.prior_verdicts, PRIOR_VERDICTS_DEFAULT);
    let line = file.log_path.as_ref().map(|at| at.line);
    let log_path = ledger.file_or("review.log_path", file.log_path, LOG_PATH_DEFAULT.to_owned());
    let log_path = folder.join(log_path);
    if is_taken(&log_path, located) {
        let fault = "must be a file of its own: this one is the store's, or `council.yaml` itself";
        problems.note("review.log_path", line.unwrap_or_default(), fault);
    }
    let parent = log_path.parent().unwrap_or(folder);
    if let Some(link) = own_files::first_link(folder, parent) {
        let fault = format!("must not lead through a link: `{}` is one", link.display());
        problems.note("review.log_path", line.unwrap_or_default(), &fault);
    }
    let redact = redact(file.redact, ledger);
    Review {
        deliberators: seats.into_iter().map(|seat| deliberator(seat, folder)).collect(),
        adjudicator,
        policy,
        min_deliberators,
        prior_verdicts,
        log_path,
        redact,
    }
}

/// Whether the log path is the store's file or `council.yaml`.
fn is_taken(log_path: &Path, located: &Located) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let log = real(log_path);
    let file = located.file.as_deref().map(real);
    store_files(&real(&located.store)).iter().any(|own| log.starts_with(own))
        || file.as_ref() == Some(&log)
}

/// Records only the number of patterns, because a pattern may contain the secret it hides.
fn redact(file: Option<At<Redaction>>, ledger: &mut Ledger) -> Redaction {
    let source = file.as_ref().map_or(Source::Default, |at| Source::File { line: at.line });
    let patterns = file.map(|at| at.value).unwrap_or_default();
    ledger.note("review.redact", json!(format!("{} patterns", patterns.len())), source);
    patterns
}

fn deliberator(seat: DeliberatorEntry, folder: &Path) -> Deliberator {
    Deliberator {
        name: seat.name,
        provider: seat.provider.map(|at| at.value),
        prompt: seat.prompt.map(|path| folder.join(path)),
        context_refs: seat.context_refs.into_iter().map(|path| folder.join(path)).collect(),
        version: seat.version,
    }
}
