//! `health`: compares the terminal states of audited conclusions with their target shares.

use anstyle::Style;
use clap::Args;
use plenary_core::dialogue::health::{
    ConclusionHealth, CriticHealth, HEALTH_LAST_MAX, HealthVerdict, SAMPLE_MIN, StateCounts,
    StateShare,
};
use plenary_core::model::dialogue::TerminalState;
use plenary_core::model::time::SinceTime;
use plenary_core::report::marks::terminal_state_mark;
use plenary_core::report::phrases::count_noun;
use plenary_core::report::terminal::layout::{
    BAD, CAUTION, FAINT, GOOD, MARGIN, PLAIN, PageCanvas, STRONG, StyledLine, draw_bar,
    draw_heading, hang_block, join_sections,
};
use plenary_core::report::terminal::wrap::wrap_line;
use plenary_engine::app::checks::{HealthResult, HealthWindow, check_health};
use plenary_engine::error::Error;
use unicode_width::UnicodeWidthStr;

use crate::cli::runs::value_parsers::{from_one_to, parse_since};
use crate::cli::session::{CliSession, ExitStatus};

/// Compare how audited conclusions ended with the targets
///
/// About 60 % should pass the Blind Critic at once (clean), 30 % after a revision (revised) and
/// 10 % not at all (unconverged). Over 80 % clean, the critic may be too lenient; over 20 %
/// unconverged, the Synthesizer may need recalibration. Each is an alarm, and the exit code is 1.
/// It needs at least 10 conclusions.
///
/// Rehearsals and unaudited conclusions do not count. The page also has tables by protocol, critic
/// and week.
///
/// $ plenary health
///
/// $ plenary health --since 4w
#[derive(Debug, Args)]
pub(crate) struct HealthArgs {
    /// Count only the newest N [default: 50, or all with `--since`]
    #[arg(long, value_name = "N", value_parser = from_one_to(HEALTH_LAST_MAX))]
    last: Option<usize>,
    /// Count only those within a time (24h, 30d, 4w) or since a day (2026-01-01)
    #[arg(long, value_name = "TIME|DAY", value_parser = parse_since)]
    since: Option<SinceTime>,
}

impl HealthArgs {
    pub(crate) fn run(&self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let examined = check_health(&session.open_existing()?, self.last, self.since)?;
        let canvas = session.ui.page_canvas();
        session.ui.print_result(&examined, |examined| draw_health_page(examined, canvas))?;
        Ok(match examined.health.verdict {
            HealthVerdict::Alarm => ExitStatus::WithFindings,
            HealthVerdict::Healthy | HealthVerdict::TooFew => ExitStatus::Ok,
        })
    }
}

/// Width of the longest state, `unconverged`, with a gap.
const STATE_WIDTH: usize = 13;

/// Width of a right-aligned number column.
const NUMBER: usize = 9;

/// Width of a full bar, if the terminal has the space: four percent per column.
const BAR_WIDTH_MAX: usize = 25;

/// Width of the count after the bar, with a space.
const COUNT_WIDTH: usize = 6;

/// The right-aligned count columns of a group table, with their headings.
const COUNT_COLUMNS: [(&str, usize); 4] =
    [("all", 7), ("clean", 7), ("revised", 9), ("unconverged", 13)];

/// Longer names are cut, so that a table fits eighty columns.
const NAME_MAX: usize = 40;

/// A quarter of a year; `--json` prints all weeks.
const WEEKS_SHOWN: usize = 13;

pub(crate) fn draw_health_page(examined: &HealthResult, canvas: PageCanvas) -> String {
    let health = &examined.health;
    let protocols =
        health.by_protocol.iter().map(|group| (group.protocol.name().to_owned(), group.counts));
    let critics = health.by_critic.iter().map(|group| (critic_name(group), group.counts));
    let weeks = health.by_week.iter().map(|group| (group.week.clone(), group.counts));
    let groups: [HealthGroups; 3] =
        [protocols.collect(), critics.collect(), weeks.take(WEEKS_SHOWN).collect()];
    let name = name_width(groups.iter().flatten(), canvas);
    let [protocols, critics, weeks] = groups;
    let more = match health.by_week.len().checked_sub(WEEKS_SHOWN) {
        Some(more @ 1..) => format!("{more} more with --json"),
        Some(0) | None => String::new(),
    };
    join_sections(&[
        draw_headline(examined, canvas),
        draw_group_table("BY PROTOCOL", "", &protocols, name, canvas),
        draw_group_table("BY CRITIC", "", &critics, name, canvas),
        draw_group_table("BY WEEK", &more, &weeks, name, canvas),
    ])
}

fn draw_headline(examined: &HealthResult, canvas: PageCanvas) -> Vec<StyledLine> {
    let health = &examined.health;
    let mut lines = vec![StyledLine::blank()];
    lines.extend(draw_heading(
        "HEALTH",
        &describe_window(health.considered, examined.window),
        canvas,
    ));
    for (mark, text, style) in list_alarms(health) {
        let lead = StyledLine::with_indent(MARGIN).push_styled(mark, style).push_plain(" ");
        let room = canvas.text_width().saturating_sub(lead.width());
        lines.extend(hang_block(lead, &wrap_line(&text, room), style));
    }
    if health.considered > 0 {
        lines.push(StyledLine::blank());
        let header = StyledLine::with_indent(MARGIN + STATE_WIDTH);
        lines.push(
            header.push_styled(&format!("{:>NUMBER$}{:>NUMBER$}", "share", "healthy"), FAINT),
        );
        lines.extend(health.shares.iter().map(|result| draw_share(result, canvas)));
    }
    lines
}

/// For example `the newest 50 conclusions` or `12 conclusions since 2026-01-01`.
fn describe_window(considered: usize, window: HealthWindow) -> String {
    let count = count_noun(considered, "conclusion");
    let newest = if window.last == Some(considered) { "the newest " } else { "" };
    let since = window.since.map(|since| format!(" since {}", since.utc_day())).unwrap_or_default();
    format!("{newest}{count}{since}")
}

/// Less than half of the target is not healthy, although it is no alarm.
const CLEAN_PERCENT_LOW: f64 = 30.0;

fn low_clean_share(health: &ConclusionHealth) -> Option<f64> {
    let clean = health.shares.iter().find(|share| share.state == TerminalState::Clean)?;
    (clean.percent < CLEAN_PERCENT_LOW).then_some(clean.percent)
}

fn list_alarms(health: &ConclusionHealth) -> Vec<(&'static str, String, Style)> {
    match health.verdict {
        HealthVerdict::Healthy => vec![match low_clean_share(health) {
            Some(percent) => {
                let text = format!(
                    "No alarm, but only {percent:.1} % passed the critic at once; about 60 % should. \
                     The critic may be too strict, or the drafts too weak."
                );
                ("▲", text, CAUTION)
            }
            None => ("●", "No alarm.".to_owned(), GOOD),
        }],
        HealthVerdict::Alarm => {
            let alarms = health.alarms.iter();
            alarms.map(|alarm| ("▲", format!("ALARM: {}.", alarm.message), BAD.bold())).collect()
        }
        HealthVerdict::TooFew => {
            let text = format!(
                "Too few to judge: {} with a terminal state; {SAMPLE_MIN} are needed.",
                count_noun(health.considered, "conclusion")
            );
            vec![("○", text, CAUTION)]
        }
    }
}

fn draw_share(share: &StateShare, canvas: PageCanvas) -> StyledLine {
    let style = terminal_state_mark(Some(share.state)).1.to_style();
    let line = StyledLine::with_indent(MARGIN)
        .push_styled(share.state.name(), STRONG)
        .pad_to_column(MARGIN + STATE_WIDTH)
        .push_plain(&format!("{:>NUMBER$}", format!("{:.1} %", share.percent)))
        .push_styled(&format!("{:>NUMBER$}", format!("{} %", share.target)), FAINT)
        .push_plain("  ");
    let room = canvas.column_count().saturating_sub(line.width() + COUNT_WIDTH).min(BAR_WIDTH_MAX);
    let tenths = (share.percent * 10.0).round() as i64;
    line.push_styled(&draw_bar(tenths, 1_000, room), style)
        .push_styled(&format!(" {}", share.count), FAINT)
}

fn critic_name(group: &CriticHealth) -> String {
    format!("{} · {}", group.seat, group.model)
}

type HealthGroups = Vec<(String, StateCounts)>;

/// One name width for all tables, so that their numbers align.
fn name_width<'a>(
    groups: impl Iterator<Item = &'a (String, StateCounts)>,
    canvas: PageCanvas,
) -> usize {
    let numbers: usize = COUNT_COLUMNS.iter().map(|(_, width)| width).sum();
    let widest = groups.map(|(name, _)| name.width()).max().unwrap_or(0);
    let room = canvas.column_count().saturating_sub(MARGIN + numbers);
    room.min(widest).min(NAME_MAX)
}

/// Draws the terminal states of each group as counts.
fn draw_group_table(
    title: &str,
    note: &str,
    groups: &HealthGroups,
    name: usize,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    if groups.is_empty() {
        return Vec::new();
    }
    let mut lines = draw_heading(title, note, canvas);
    let headings: String =
        COUNT_COLUMNS.iter().map(|(heading, width)| format!("{heading:>width$}")).collect();
    lines.push(StyledLine::with_indent(MARGIN + name).push_styled(&headings, FAINT));
    lines.extend(groups.iter().map(|(named, counts)| {
        let column = MARGIN + name;
        let start = StyledLine::with_indent(MARGIN).push_fitted(named, STRONG, column);
        add_numbers(start.pad_to_column(column), *counts)
    }));
    lines
}

fn add_numbers(start: StyledLine, counts: StateCounts) -> StyledLine {
    let cells = [counts.considered, counts.clean, counts.revised, counts.unconverged];
    COUNT_COLUMNS.iter().zip(cells).fold(start, |line, ((_, width), count)| {
        let style = if count == 0 { FAINT } else { PLAIN };
        line.push_styled(&format!("{count:>width$}"), style)
    })
}

#[cfg(test)]
mod tests {
    use plenary_core::dialogue::health::compute_health;
    use plenary_core::model::dialogue::ProtocolKind;
    use plenary_core::model::queries::AuditedConclusion;
    use plenary_core::protocols::conclusion::types::SeatAuthor;

    use super::*;

    fn drawn(width: usize) -> String {
        let ended = |(place, state): (usize, &TerminalState)| AuditedConclusion {
            dialogue_id: "talk".parse().unwrap(),
            protocol: ProtocolKind::Council,
            terminal_state: *state,
            critic: SeatAuthor {
                seat: "openai".parse().unwrap(),
                model: "\u{1b}[31mgpt-4o-with-a-very-long-name-indeed".into(),
                family: "openai".into(),
            },
            at: format!("2026-01-{:02}T09:00:00Z", place + 1).parse().unwrap(),
        };
        let states = [TerminalState::Clean; 9].into_iter().chain([TerminalState::Unconverged; 3]);
        let states: Vec<TerminalState> = states.collect();
        let endings: Vec<AuditedConclusion> = states.iter().enumerate().map(ended).collect();
        let window = HealthWindow { last: Some(12), since: None };
        let examined = HealthResult { status: "success", window, health: compute_health(&endings) };
        let canvas = PageCanvas { width };
        anstream::adapter::strip_str(&draw_health_page(&examined, canvas)).to_string()
    }

    #[test]
    fn hardly_any_clean_conclusion_is_not_called_healthy() {
        let health = |clean: usize| {
            let states = [TerminalState::Clean, TerminalState::Revised];
            let states = [vec![states[0]; clean], vec![states[1]; 20 - clean]].concat();
            let ended = |(place, state): (usize, &TerminalState)| AuditedConclusion {
                dialogue_id: "talk".parse().unwrap(),
                protocol: ProtocolKind::Council,
                terminal_state: *state,
                critic: SeatAuthor {
                    seat: "openai".parse().unwrap(),
                    model: "m".into(),
                    family: "f".into(),
                },
                at: format!("2026-01-{:02}T09:00:00Z", place + 1).parse().unwrap(),
            };
            let endings: Vec<AuditedConclusion> = states.iter().enumerate().map(ended).collect();
            list_alarms(&compute_health(&endings)).remove(0).1
        };
        assert!(health(0).starts_with("No alarm, but only 0.0 % passed"), "{}", health(0));
        assert_eq!(health(12), "No alarm.");
    }

    #[test]
    fn every_width_is_kept_to() {
        for width in [53, 60, 80, 120] {
            let page = drawn(width);
            assert!(page.lines().all(|line| line.width() <= width), "{width}:\n{page}");
            assert!(!page.contains('\u{1b}'), "{page:?}");
        }
    }
}
