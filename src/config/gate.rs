//! Settles the `review` section.

use std::path::Path;

use serde_json::json;

use super::file::{DeliberatorEntry, ReviewSection};
use super::ledger::{SettingLog, SettingSource};
use super::locate::ProjectPaths;
use super::own_files;
use super::section::{ProblemList, WithLine};
use super::settings::{DeliberatorSettings, ReviewSettings};
use crate::domain::gate::{LogRedaction, PolicyName};
use crate::domain::store_files::list_store_files;

/// One of the four deliberators of the specification may fail.
const MIN_DELIBERATORS_DEFAULT: usize = 3;
const PRIOR_VERDICTS_DEFAULT: usize = 5;
pub(super) const LOG_PATH_DEFAULT: &str = "council_log.jsonl";

pub(super) fn settle_review(
    file: ReviewSection,
    located: &ProjectPaths,
    ledger: &mut SettingLog,
    problems: &mut ProblemList,
) -> ReviewSettings {
    let folder = &located.folder;
    let (seats, source) = match file.deliberators {
        Some(WithLine { value, line }) => (value, SettingSource::File { line }),
        None => (DeliberatorEntry::built_in(), SettingSource::Default),
    };
    let names: Vec<&str> = seats.iter().map(|seat| seat.name.as_str()).collect();
    ledger.record_value("review.deliberators", json!(names), source.clone());
    let asked = file.min_deliberators.as_ref().map(|at| at.line);
    let adjudicator = ledger.record_file_or(
        "review.adjudicator.provider",
        file.adjudicator.map(|at| at.map(Some)),
        None,
    );
    let policy = ledger.record_file_or("review.policy.name", file.policy, PolicyName::Seed);
    let min_deliberators = ledger.record_file_or(
        "review.policy.min_deliberators",
        file.min_deliberators,
        MIN_DELIBERATORS_DEFAULT,
    );
    if let (true, SettingSource::File { line }) = (min_deliberators > seats.len(), source) {
        // A review that needs more deliberators than it has never passes.
        let fault = format!("is {min_deliberators}, but there are {} deliberators", seats.len());
        problems.add_problem("review.policy.min_deliberators", asked.unwrap_or(line), &fault);
    }
    let prior_verdicts = ledger.record_file_or(
        "review.policy.prior_verdicts",
        file.prior_verdicts,
        PRIOR_VERDICTS_DEFAULT,
    );
    let line = file.log_path.as_ref().map(|at| at.line);
    let log_path =
        ledger.record_file_or("review.log_path", file.log_path, LOG_PATH_DEFAULT.to_owned());
    let log_path = folder.join(log_path);
    if is_reserved_path(&log_path, located) {
        let fault = "must be a file of its own: this one is the store's, or `council.yaml` itself";
        problems.add_problem("review.log_path", line.unwrap_or_default(), fault);
    }
    let parent = log_path.parent().unwrap_or(folder);
    if let Some(link) = own_files::find_first_link(folder, parent) {
        let fault = format!("must not lead through a link: `{}` is one", link.display());
        problems.add_problem("review.log_path", line.unwrap_or_default(), &fault);
    }
    let redact = settle_redaction(file.redact, ledger);
    ReviewSettings {
        deliberators: seats.into_iter().map(|seat| settle_deliberator(seat, folder)).collect(),
        adjudicator,
        policy,
        min_deliberators,
        prior_verdicts,
        log_path,
        redact,
    }
}

/// Whether the log path is the store's file or `council.yaml`.
fn is_reserved_path(log_path: &Path, located: &ProjectPaths) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let log = real(log_path);
    let file = located.file.as_deref().map(real);
    list_store_files(&real(&located.store)).iter().any(|own| log.starts_with(own))
        || file.as_ref() == Some(&log)
}

/// Records only the number of patterns, because a pattern may contain the secret it hides.
fn settle_redaction(file: Option<WithLine<LogRedaction>>, ledger: &mut SettingLog) -> LogRedaction {
    let source =
        file.as_ref().map_or(SettingSource::Default, |at| SettingSource::File { line: at.line });
    let patterns = file.map(|at| at.value).unwrap_or_default();
    ledger.record_value("review.redact", json!(format!("{} patterns", patterns.len())), source);
    patterns
}

fn settle_deliberator(seat: DeliberatorEntry, folder: &Path) -> DeliberatorSettings {
    DeliberatorSettings {
        name: seat.name,
        provider: seat.provider.map(|at| at.value),
        prompt: seat.prompt.map(|path| folder.join(path)),
        context_refs: seat.context_refs.into_iter().map(|path| folder.join(path)).collect(),
        version: seat.version,
    }
}
