//! GitHub workflow annotations of a review: each concern on its lines.
//!
//! **Invariant:** every line begins and ends with our own text, so no text of a model, a document
//! or a file name becomes a workflow command.

use crate::protocols::review::document::{OverrideMark, PlacedConcern, ReviewDocument};
use crate::protocols::review::phrases::{
    block_label, concern_text, matches_policy_count, missing_context_note, outcome_sentence,
    policy_sentence,
};
use crate::protocols::review::policy::ReviewVerdict;
use crate::report::safe_text::{safe_line, safe_lines};

/// The review as workflow commands, then a line for the log.
///
/// The verdict comes first, because GitHub shows only the first ten annotations of each level.
pub fn github_annotations(result: &ReviewDocument) -> String {
    let verdict = FindingLevel::of_verdict(result.verdict).map(|grade| {
        let title = verdict_headline(result);
        workflow_command(
            grade,
            &AnnotationPlace::of_file(&result.found_at),
            &title,
            &verdict_summary(result),
        )
    });
    let concerns = result.concerns.iter().map(|concern| concern_annotation(result, concern));
    let last = log_line(&format!(
        "{}: {}: {}",
        verdict_headline(result),
        result.artifact,
        verdict_summary(result)
    ));
    verdict.into_iter().chain(concerns).chain([last]).collect::<Vec<_>>().join("\n")
}

/// The annotation of a file that could not be read.
pub fn unreadable_annotation(path: &str, message: &str) -> String {
    workflow_command(FindingLevel::Error, &AnnotationPlace::of_file(path), "Not reviewed", message)
}

/// The location of an annotation.
struct AnnotationPlace<'a> {
    path: &'a str,
    line: Option<usize>,
    end_line: Option<usize>,
}

impl<'a> AnnotationPlace<'a> {
    fn of_file(path: &'a str) -> Self {
        Self { path, line: None, end_line: None }
    }
}

fn concern_annotation(result: &ReviewDocument, placed: &PlacedConcern) -> String {
    let place =
        AnnotationPlace { path: &result.found_at, line: placed.line, end_line: placed.end_line };
    let stands =
        block_label(placed.block_kind()).map(|block| format!(" {block}")).unwrap_or_default();
    let rehearsal = if result.rehearsal { "REHEARSAL: " } else { "" };
    let title = format!("{rehearsal}{}{stands}", placed.id);
    workflow_command(
        FindingLevel::of_concern(result, placed),
        &place,
        &title,
        &concern_text(placed),
    )
}

/// `HOLD`, with REHEARSAL and DEGRADED if they apply, and with the blocks of a SHIP.
fn verdict_headline(result: &ReviewDocument) -> String {
    let mut words = vec![result.headline.as_str()];
    words.extend(result.rehearsal.then_some("REHEARSAL"));
    words.extend(result.panel.degraded.then_some("DEGRADED"));
    words.join(", ")
}

/// The reasons and the requested changes.
fn verdict_summary(result: &ReviewDocument) -> String {
    let skipped = result.skipped_because.clone();
    let error =
        result.error.as_ref().map(|error| format!("{}\n{}", error.message, error.suggestion));
    let counted = result.policy.as_ref().map(|sum| {
        // If tally and decision differ, the summary says why.
        let outcome = outcome_sentence(result).filter(|_| !matches_policy_count(result));
        let outcome = outcome.map(|outcome| format!("; {outcome}")).unwrap_or_default();
        format!("{}{outcome}", policy_sentence(sum))
    });
    let brief = Some(result.revision_brief.trim()).filter(|brief| !brief.is_empty());
    let missing = missing_context_note(result);
    let id = result.verdict_id.as_ref().map(|id| format!("Verdict {id}"));
    // The person's decision is the reason for the verdict; the count of the blocks is not.
    let person = result.overridden.as_ref().map(OverrideMark::sentence);
    let counted = counted.filter(|_| person.is_none());
    let parts = [person, skipped, error, brief.map(str::to_owned), missing, counted, id];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// `::error file=…,line=…,endLine=…,title=…::message`
fn workflow_command(
    grade: FindingLevel,
    place: &AnnotationPlace<'_>,
    title: &str,
    message: &str,
) -> String {
    let name = match grade {
        FindingLevel::Error => "error",
        FindingLevel::Warning => "warning",
        FindingLevel::Note => "notice",
    };
    let mut properties = Vec::new();
    // Standard input is not a file of the repository.
    if place.path != "-" {
        properties.push(format!("file={}", escape_property(place.path)));
        properties.extend(place.line.map(|line| format!("line={line}")));
        properties.extend(place.end_line.map(|line| format!("endLine={line}")));
    }
    properties.push(format!("title={}", escape_property(title)));
    format!("::{name} {}::{}", properties.join(","), escape_data(message))
}

fn escape_data(text: &str) -> String {
    let shown = safe_lines(text).join("\n");
    shown.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    let shown = safe_line(text).replace('%', "%25");
    shown.replace(':', "%3A").replace(',', "%2C")
}

/// A line that is not a command. The runner also recognises the older `##[` form inside a line.
fn log_line(text: &str) -> String {
    safe_line(text).replace("##[", "## [")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FindingLevel {
    Error,
    Warning,
    Note,
}

impl FindingLevel {
    /// The level of a verdict; `None` for a skipped file.
    pub(crate) fn of_verdict(verdict: ReviewVerdict) -> Option<Self> {
        match verdict {
            ReviewVerdict::Hold | ReviewVerdict::Incomplete => Some(Self::Error),
            ReviewVerdict::Revise => Some(Self::Warning),
            ReviewVerdict::Ship => Some(Self::Note),
            ReviewVerdict::Skipped => None,
        }
    }

    /// A blocking concern is an error. If the verdict is SHIP, each concern is one level lower.
    pub(crate) fn of_concern(result: &ReviewDocument, concern: &PlacedConcern) -> Self {
        let is_overruled = result.overridden.is_some();
        match (result.verdict == ReviewVerdict::Ship, concern.blocking) {
            (false, true) => Self::Error,
            (true, true) if !is_overruled => Self::Warning,
            (false, false) => Self::Warning,
            (true, _) => Self::Note,
        }
    }
}
