//! Results of reviews as a JUnit XML document: a test case per file. Most build servers show it.
//!
//! **Invariant:** text of models, documents and file names is escaped, so it adds no element.

use crate::protocols::review::document::{OverrideMark, PlacedConcern, ReviewDocument};
use crate::protocols::review::phrases::{block_label, concern_text};
use crate::protocols::review::policy::ReviewVerdict;
use crate::report::safe_text::safe_lines;

/// One document for all files; `unread` has the paths and errors of files without a review.
pub fn junit_document(reviewed: &[ReviewDocument], unread: &[(String, String)]) -> String {
    let count = |fits: fn(ReviewVerdict) -> bool| {
        reviewed.iter().filter(|result| fits(result.verdict)).count()
    };
    let failures = count(|verdict| matches!(verdict, ReviewVerdict::Revise | ReviewVerdict::Hold));
    let errors = count(|verdict| verdict == ReviewVerdict::Incomplete) + unread.len();
    let skipped = count(|verdict| verdict == ReviewVerdict::Skipped);
    let tests = reviewed.len() + unread.len();
    let counts = format!(
        "tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\""
    );
    let cases: String = reviewed.iter().map(review_case).collect();
    let unread: String = unread.iter().map(|(path, error)| unread_case(path, error)).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"plenary review\" {counts}>\n  \
         <testsuite name=\"plenary review\" {counts}>\n{cases}{unread}  </testsuite>\n</testsuites>"
    )
}

fn review_case(result: &ReviewDocument) -> String {
    let seconds =
        result.metrics.as_ref().map_or(0, |run| run.session.total_duration_ms) as f64 / 1e3;
    let open = format!(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{seconds:.3}\"",
        escape(&result.artifact_type),
        escape(&result.found_at)
    );
    let rehearsal = if result.rehearsal { "REHEARSAL: " } else { "" };
    let headline = escape(&format!("{rehearsal}{}", result.headline));
    let text = escape(&describe_review(result));
    let element = match result.verdict {
        ReviewVerdict::Ship => format!("<system-out>{headline}\n{text}</system-out>"),
        ReviewVerdict::Skipped => format!("<skipped message=\"{text}\"/>"),
        ReviewVerdict::Revise | ReviewVerdict::Hold => {
            format!("<failure type=\"{}\" message=\"{headline}\">{text}</failure>", result.verdict)
        }
        ReviewVerdict::Incomplete => {
            format!("<error type=\"INCOMPLETE\" message=\"{headline}\">{text}</error>")
        }
    };
    format!("{open}>\n      {element}\n    </testcase>\n")
}

fn unread_case(path: &str, error: &str) -> String {
    let (path, error) = (escape(path), escape(error));
    format!(
        "    <testcase classname=\"unreadable\" name=\"{path}\">\n      \
         <error type=\"UNREADABLE\" message=\"{error}\"/>\n    </testcase>\n"
    )
}

/// The reasons, then each concern with its line.
fn describe_review(result: &ReviewDocument) -> String {
    let brief = Some(result.revision_brief.trim().to_owned()).filter(|brief| !brief.is_empty());
    let error = result.error.as_ref().map(|error| error.message.clone());
    let concerns = result.concerns.iter().map(describe_concern);
    let person = result.overridden.as_ref().map(OverrideMark::sentence);
    let parts = [person, result.skipped_because.clone(), error, brief].into_iter().flatten();
    parts.chain(concerns).collect::<Vec<_>>().join("\n")
}

fn describe_concern(placed: &PlacedConcern) -> String {
    let line = placed.line.map(|line| format!("line {line}: ")).unwrap_or_default();
    let block =
        block_label(placed.block_kind()).map(|block| format!(" {block}")).unwrap_or_default();
    format!("{line}{}{block}: {}", placed.id, concern_text(placed))
}

/// Escapes text for an element or an attribute; XML allows no control characters.
fn escape(text: &str) -> String {
    let text = safe_lines(text).join("\n");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
