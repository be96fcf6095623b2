//! The `health` page: the share of each terminal state, alarms, and counts by protocol, critic and
//! week.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::bar::bar;
use super::canvas::Canvas;
use super::layout::{MARGIN, hanging, heading, text_of};
use super::line::Line;
use super::palette::{self, BAD, CAUTION, FAINT, GOOD, PLAIN, STRONG};
use crate::export::wording;
use crate::operations::{Examined, Window};
use crate::record::health::{Counts, Health, HealthVerdict, OfCritic, Share};
use crate::record::share::ENOUGH;
use crate::surfaces::cli::wrap::{fit, wrap_line};

/// Width of the longest state, `unconverged`, with a gap.
const STATE: usize = 13;

/// Width of a right-aligned number column.
const NUMBER: usize = 9;

/// Width of a full bar, if the terminal has the space: four percent per column.
const BAR_MAX: usize = 25;

/// Width of the count after the bar, with a space.
const COUNT: usize = 6;

/// The right-aligned count columns of a group table, with their headings.
const COLUMNS: [(&str, usize); 4] = [("all", 7), ("clean", 7), ("revised", 9), ("unconverged", 13)];

/// Longer names are cut, so that a table fits eighty columns.
const NAME_MAX: usize = 40;

/// With less space than this, the name gets its own line instead of being cut.
const NAME_MIN: usize = 12;

/// A quarter of a year; `--json` prints all weeks.
const WEEKS_SHOWN: usize = 13;

pub(in crate::surfaces::cli) fn draw(examined: &Examined, canvas: Canvas) -> String {
    let health = &examined.health;
    let protocols =
        health.by_protocol.iter().map(|group| (group.protocol.name().to_owned(), group.counts));
    let critics = health.by_critic.iter().map(|group| (critic(group), group.counts));
    let weeks = health.by_week.iter().map(|group| (group.week.clone(), group.counts));
    let groups: [Groups; 3] =
        [protocols.collect(), critics.collect(), weeks.take(WEEKS_SHOWN).collect()];
    let name = name_width(groups.iter().flatten(), canvas);
    let [protocols, critics, weeks] = groups;
    let more = match health.by_week.len().checked_sub(WEEKS_SHOWN) {
        Some(more @ 1..) => format!("{more} more with --json"),
        Some(0) | None => String::new(),
    };
    text_of(&[
        headline(examined, canvas),
        table("BY PROTOCOL", "", &protocols, name, canvas),
        table("BY CRITIC", "", &critics, name, canvas),
        table("BY WEEK", &more, &weeks, name, canvas),
    ])
}

fn headline(examined: &Examined, canvas: Canvas) -> Vec<Line> {
    let health = &examined.health;
    let mut lines = vec![Line::blank()];
    lines.extend(heading("HEALTH", &looked_at(health.considered, examined.window), canvas));
    for (mark, said, style) in verdict(health) {
        let lead = Line::indented(MARGIN).styled(mark, style).plain(" ");
        let room = canvas.measure().saturating_sub(lead.width());
        lines.extend(hanging(lead, &wrap_line(&said, room), style));
    }
    if health.considered > 0 {
        lines.push(Line::blank());
        let header = Line::indented(MARGIN + STATE);
        lines.push(header.styled(&format!("{:>NUMBER$}{:>NUMBER$}", "share", "healthy"), FAINT));
        lines.extend(health.shares.iter().map(|told| share(told, canvas)));
    }
    lines
}

/// For example `the newest 50 conclusions` or `12 conclusions since 2026-01-01`.
fn looked_at(considered: usize, window: Window) -> String {
    let count = wording::count(considered, "conclusion");
    let newest = if window.last == Some(considered) { "the newest " } else { "" };
    let since = window.since.map(|since| format!(" since {}", since.day())).unwrap_or_default();
    format!("{newest}{count}{since}")
}

fn verdict(health: &Health) -> Vec<(&'static str, String, Style)> {
    match health.verdict {
        HealthVerdict::Healthy => vec![("●", "No alarm.".to_owned(), GOOD)],
        HealthVerdict::Alarm => {
            let alarms = health.alarms.iter();
            alarms.map(|alarm| ("▲", format!("ALARM: {}.", alarm.message), BAD.bold())).collect()
        }
        HealthVerdict::TooFew => {
            let said = format!(
                "Too few to tell: {} with a terminal state; it takes {ENOUGH}.",
                wording::count(health.considered, "conclusion")
            );
            vec![("○", said, CAUTION)]
        }
    }
}

fn share(share: &Share, canvas: Canvas) -> Line {
    let (_, style) = palette::of_ending(Some(share.state));
    let line = Line::indented(MARGIN)
        .styled(share.state.name(), STRONG)
        .pad_to(MARGIN + STATE)
        .plain(&format!("{:>NUMBER$}", format!("{:.1} %", share.percent)))
        .styled(&format!("{:>NUMBER$}", format!("{} %", share.target)), FAINT)
        .plain("  ");
    let room = canvas.columns().saturating_sub(line.width() + COUNT).min(BAR_MAX);
    let tenths = (share.percent * 10.0).round() as i64;
    line.styled(&bar(tenths, 1_000, room), style).styled(&format!(" {}", share.count), FAINT)
}

fn critic(group: &OfCritic) -> String {
    format!("{} · {}", group.seat, group.model)
}

type Groups = Vec<(String, Counts)>;

/// One name width for all tables, so that their numbers align. `None` if a name does not fit beside
/// the numbers.
fn name_width<'a>(
    groups: impl Iterator<Item = &'a (String, Counts)>,
    canvas: Canvas,
) -> Option<usize> {
    let numbers: usize = COLUMNS.iter().map(|(_, width)| width).sum();
    let widest = groups.map(|(name, _)| fit(name, NAME_MAX).width()).max().unwrap_or(0);
    let room = canvas.columns().saturating_sub(MARGIN + numbers);
    (room >= widest.min(NAME_MIN)).then(|| room.min(widest))
}

/// Draws the terminal states of each group as counts.
fn table(
    title: &str,
    note: &str,
    groups: &Groups,
    name: Option<usize>,
    canvas: Canvas,
) -> Vec<Line> {
    if groups.is_empty() {
        return Vec::new();
    }
    let mut lines = heading(title, note, canvas);
    let headings: String =
        COLUMNS.iter().map(|(heading, width)| format!("{heading:>width$}")).collect();
    lines.push(Line::indented(MARGIN + name.unwrap_or(0)).styled(&headings, FAINT));
    for (named, counts) in groups {
        lines.extend(row(named, *counts, name, canvas));
    }
    lines
}

fn row(named: &str, counts: Counts, name: Option<usize>, canvas: Canvas) -> Vec<Line> {
    let column = name.map_or_else(|| canvas.columns(), |width| MARGIN + width);
    let start = Line::indented(MARGIN).fitted(named, STRONG, column);
    match name {
        Some(width) => vec![numbers(start.pad_to(MARGIN + width), counts)],
        None => vec![start, numbers(Line::indented(MARGIN), counts)],
    }
}

fn numbers(start: Line, counts: Counts) -> Line {
    let cells = [counts.considered, counts.clean, counts.revised, counts.unconverged];
    COLUMNS.iter().zip(cells).fold(start, |line, ((_, width), count)| {
        let style = if count == 0 { FAINT } else { PLAIN };
        line.styled(&format!("{count:>width$}"), style)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::catalogue::AuditedEnding;
    use crate::domain::conclusion::Author;
    use crate::domain::dialogue::{Protocol, TerminalState};
    use crate::record::health::health;
    use crate::surfaces::cli::show::canvas::Detail;

    fn drawn(width: usize) -> String {
        let ended = |(place, state): (usize, &TerminalState)| AuditedEnding {
            dialogue_id: "talk".parse().unwrap(),
            protocol: Protocol::Council,
            terminal_state: *state,
            critic: Author {
                seat: "openai".parse().unwrap(),
                model: "\u{1b}[31mgpt-4o-with-a-very-long-name-indeed".into(),
                family: "openai".into(),
            },
            at: format!("2026-01-{:02}T09:00:00Z", place + 1).parse().unwrap(),
        };
        let states = [TerminalState::Clean; 9].into_iter().chain([TerminalState::Unconverged; 3]);
        let states: Vec<TerminalState> = states.collect();
        let endings: Vec<AuditedEnding> = states.iter().enumerate().map(ended).collect();
        let window = Window { last: Some(12), since: None };
        let examined = Examined { status: "success", window, health: health(&endings) };
        let canvas = Canvas { width, detail: Detail::Brief, round: None };
        anstream::adapter::strip_str(&draw(&examined, canvas)).to_string()
    }

    #[test]
    fn every_width_is_kept_to() {
        for width in [40, 53, 60, 80, 120] {
            let page = drawn(width);
            assert!(page.lines().all(|line| line.width() <= width), "{width}:\n{page}");
            assert!(!page.contains('\u{1b}'), "{page:?}");
        }
    }

    #[test]
    fn a_narrow_page_sets_names_above_their_numbers() {
        insta::assert_snapshot!(drawn(40), @r"

        HEALTH ─────── the newest 12 conclusions

          ▲ ALARM: 3 of 12 ended unconverged,
            over 20 %: the Synthesizer may need
            recalibration.

                           share  healthy
          clean           75.0 %     60 %   9
          revised          0.0 %     30 %   0
          unconverged     25.0 %     10 %   3

        BY PROTOCOL ────────────────────────────

              all  clean  revised  unconverged
          council
               12      9        0            3

        BY CRITIC ──────────────────────────────

              all  clean  revised  unconverged
          openai · \u{1b}[31mgpt-4o-with-a-very…
               12      9        0            3

        BY WEEK ────────────────────────────────

              all  clean  revised  unconverged
          2026-W03
                1      0        0            1
          2026-W02
                7      5        0            2
          2026-W01
                4      4        0            0
        ");
    }
}
