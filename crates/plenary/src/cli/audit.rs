//! `audit`: prints statistics of the verdict log.

use anstyle::Style;
use clap::Args;
use plenary_core::dialogue::health::percent_of;
use plenary_core::model::time::SinceTime;
use plenary_core::protocols::review::drift::{DRIFT_WEEKS, DriftVerdict, VERDICTS_PER_WEEK_MIN};
use plenary_core::protocols::review::statistics::RemarkCode;
use plenary_core::protocols::review::statistics::ReviewStatistics;
use plenary_core::protocols::review::verdict_counts::VerdictTally;
use plenary_core::report::phrases::count_noun;
use plenary_core::report::statistics_page::{NO_VALUE, statistics_sections};
use plenary_core::report::terminal::layout::{
    BAD, CAUTION, FAINT, GOOD, MARGIN, PageCanvas, STRONG, StyledLine, draw_bar, draw_heading,
    hang_block, join_sections,
};
use plenary_core::report::terminal::page::draw_sections;
use plenary_core::report::terminal::wrap::wrap_line;
use plenary_engine::app::checks::{AuditFilter, AuditResult, audit_verdicts};
use plenary_engine::error::Error;

use crate::cli::runs::output::repair_project_log;
use crate::cli::runs::value_parsers::parse_since;
use crate::cli::session::{CliSession, ExitStatus};

/// Show statistics of the verdict log
///
/// Shows verdicts by type, producer and ISO week; how often each deliberator blocks, is absent and
/// changes its verdict between the rounds; scores by week; and overrides.
///
/// It also detects drift: the share of verdicts other than SHIP, or a mean score, moved in one
/// direction over the last three weeks of a type or a producer. Drift needs five verdicts in each
/// week and a change of twenty points (half a point of a score) that chance does not explain. The
/// exit code is then 1.
///
/// Rehearsals do not count; imported verdicts do.
///
/// $ plenary audit
///
/// $ plenary audit --since 4w --type linkedin_post
#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Count only verdicts within a time (24h, 30d, 4w) or since a day (2026-01-01)
    #[arg(long, value_name = "TIME|DAY", value_parser = parse_since)]
    since: Option<SinceTime>,
    /// Count only documents of this type
    #[arg(long = "type", value_name = "TYPE")]
    artifact_type: Option<String>,
    /// Count only documents of this producer
    #[arg(long, value_name = "NAME")]
    producer: Option<String>,
}

impl AuditArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let wish = AuditFilter {
            since: self.since,
            artifact_type: self.artifact_type,
            producer: self.producer,
        };
        let project = session.open_existing()?;
        repair_project_log(session, &project);
        let audited = audit_verdicts(&project, wish)?;
        let canvas = session.ui.page_canvas();
        session.ui.print_result(&audited, |audited| draw_audit_page(audited, canvas))?;
        Ok(match audited.audit.drift.verdict {
            DriftVerdict::Drift => ExitStatus::WithFindings,
            DriftVerdict::Steady | DriftVerdict::CannotTell => ExitStatus::Ok,
        })
    }
}

/// Remarks on the page; `--json` prints all of them.
const REMARKS_SHOWN: usize = 8;

/// Below this width the heading omits the period.
const PERIOD_COLUMNS_MIN: usize = 60;

/// Width of the longest verdict, `INCOMPLETE`, with a gap.
const VERDICT_WIDTH: usize = 12;

/// Width of a right-aligned percentage such as `100.0 %`.
const NUMBER: usize = 8;

/// Width of a full bar, if the terminal has the space: four percent per column.
const BAR_WIDTH_MAX: usize = 25;

/// Width of the count after the bar, with a space.
const COUNT_WIDTH: usize = 7;

pub(crate) fn draw_audit_head(audited: &AuditResult, canvas: PageCanvas) -> Vec<StyledLine> {
    let audit = &audited.audit;
    let mut lines = vec![StyledLine::blank()];
    lines.extend(draw_heading("AUDIT", &describe_window(audited, canvas), canvas));
    let printed = list_remarks(audit);
    for (mark, text, style) in printed.iter().take(REMARKS_SHOWN) {
        lines.extend(draw_sentence(mark, text, *style, canvas));
    }
    if let Some(more @ 1..) = printed.len().checked_sub(REMARKS_SHOWN) {
        lines.extend(draw_sentence("○", &format!("{more} more with --json."), FAINT, canvas));
    }
    let left_out = audit.rehearsals_left_out;
    if left_out > 0 {
        let text = format!("{} left out.", count_noun(left_out, "rehearsal"));
        lines.extend(draw_sentence("○", &text, FAINT, canvas));
    }
    if audit.spread.count_logged() > 0 {
        lines.push(StyledLine::blank());
        lines.extend(draw_shares(audit.spread, canvas));
    }
    lines
}

/// For example `128 verdicts on linkedin_post by ann since 2026-01-01`.
fn describe_window(audited: &AuditResult, canvas: PageCanvas) -> String {
    let window = &audited.window;
    let mut text = count_noun(audited.audit.spread.count_logged(), "verdict");
    if let Some(artifact_type) = &window.artifact_type {
        text.push_str(&format!(" on {artifact_type}"));
    }
    if let Some(producer) = &window.producer {
        text.push_str(&format!(" by {producer}"));
    }
    match (window.since, audited.audit.from, audited.audit.to) {
        (Some(since), ..) => text.push_str(&format!(" since {}", since.utc_day())),
        (None, Some(from), Some(to)) if canvas.column_count() >= PERIOD_COLUMNS_MIN => {
            text.push_str(&format!(", {} to {}", from.utc_day(), to.utc_day()));
        }
        (None, ..) => {}
    }
    text
}

fn list_remarks(audit: &ReviewStatistics) -> Vec<(&'static str, String, Style)> {
    if audit.spread.count_logged() == 0 {
        return vec![("○", "There is no verdict to count.".to_owned(), CAUTION)];
    }
    let (drifts, others): (Vec<_>, Vec<_>) =
        audit.remarks.iter().partition(|remark| remark.code == RemarkCode::Drift);
    let mut printed: Vec<_> = drifts
        .iter()
        .map(|remark| ("▲", format!("DRIFT: {}.", remark.message), BAD.bold()))
        .collect();
    let others_said = others.iter().map(|remark| ("◐", format!("{}.", remark.message), CAUTION));
    printed.extend(others_said);
    match audit.drift.verdict {
        DriftVerdict::Drift => {}
        DriftVerdict::Steady if others.is_empty() => {
            printed.push(("●", format!("No remarks and no drift over {DRIFT_WEEKS} weeks."), GOOD));
        }
        DriftVerdict::Steady => {
            printed.push(("●", format!("No drift over {DRIFT_WEEKS} weeks."), GOOD));
        }
        DriftVerdict::CannotTell => {
            let text = format!(
                "Too few verdicts to detect drift: a type or a producer needs {VERDICTS_PER_WEEK_MIN} in each of {DRIFT_WEEKS} weeks."
            );
            printed.push(("○", text, CAUTION));
        }
    }
    printed
}

fn draw_sentence(mark: &str, text: &str, style: Style, canvas: PageCanvas) -> Vec<StyledLine> {
    let lead = StyledLine::with_indent(MARGIN).push_styled(mark, style).push_plain(" ");
    let room = canvas.text_width().saturating_sub(lead.width());
    hang_block(lead, &wrap_line(text, room), style)
}

/// Draws each verdict as a share of the decided reviews; incomplete ones are only counted.
fn draw_shares(spread: VerdictTally, canvas: PageCanvas) -> Vec<StyledLine> {
    let decided = spread.count_decided();
    let verdicts = [
        ("SHIP", spread.ship, GOOD),
        ("REVISE", spread.revise, CAUTION),
        ("HOLD", spread.hold, BAD),
    ];
    let mut lines: Vec<StyledLine> = verdicts
        .into_iter()
        .map(|(verdict, count, style)| draw_share(verdict, count, decided, style, canvas))
        .collect();
    if spread.incomplete > 0 {
        let line = StyledLine::with_indent(MARGIN).push_styled("INCOMPLETE", STRONG);
        let line = line.pad_to_column(MARGIN + VERDICT_WIDTH + NUMBER).push_plain("  ");
        lines.push(line.push_styled(&format!(" {} apart", spread.incomplete), FAINT));
    }
    lines
}

fn draw_share(
    verdict: &str,
    count: usize,
    decided: usize,
    style: Style,
    canvas: PageCanvas,
) -> StyledLine {
    let result =
        percent_of(count, decided).map_or(NO_VALUE.to_owned(), |share| format!("{share:.1} %"));
    let line = StyledLine::with_indent(MARGIN)
        .push_styled(verdict, STRONG)
        .pad_to_column(MARGIN + VERDICT_WIDTH);
    let line = line.push_plain(&format!("{result:>NUMBER$}  "));
    let room = canvas.column_count().saturating_sub(line.width() + COUNT_WIDTH).min(BAR_WIDTH_MAX);
    let [part, whole] = [count, decided].map(|count| i64::try_from(count).unwrap_or(0));
    line.push_styled(&draw_bar(part, whole, room), style).push_styled(&format!(" {count}"), FAINT)
}

pub(crate) fn draw_audit_page(audited: &AuditResult, canvas: PageCanvas) -> String {
    let mut lines = draw_audit_head(audited, canvas);
    lines.extend(draw_sections(&statistics_sections(&audited.audit), canvas));
    join_sections(&[lines])
}
