//! Progress lines of a conclusion and of interventions.

use super::run::{LineSeverity, ProgressLine, latency_note, repair_note, seat_column, single_line};
use crate::domain::conclusion::{AuditObjection, ConclusionField, ObjectionSource};
use crate::domain::dialogue::TerminalState;
use crate::domain::transcript::RunState;
use crate::export::InterventionSummary;
use crate::export::conclusion::{field_name, state_label};
use crate::export::council::{AskSummary, AuditRound};
use crate::export::wording;

/// A progress line is short; the final page has the full text.
const LINE_CHARS_MAX: usize = 160;

pub(super) fn intervened_lines(seen: &InterventionSummary) -> Vec<ProgressLine> {
    single_line(
        LineSeverity::Aside,
        format!("{}: {}", seen.action_text(), shorten_line(&seen.detail_texts().join("; "))),
    )
}

pub(super) fn drafted_lines(
    transcript: &RunState,
    ask: &AskSummary,
    recommendation: &str,
    is_repaired: bool,
) -> Vec<ProgressLine> {
    let mended = repair_note(is_repaired);
    let (seat, time) = (seat_column(transcript, ask), latency_note(transcript, ask.id));
    single_line(
        LineSeverity::Good,
        format!("{seat}conclusion{mended}{time}: {}", shorten_line(recommendation)),
    )
}

pub(super) fn audited_lines(
    transcript: &RunState,
    ask: &AskSummary,
    look: AuditRound,
    objections: &[AuditObjection],
) -> Vec<ProgressLine> {
    let seat = seat_column(transcript, ask);
    if objections.is_empty() {
        let time = latency_note(transcript, ask.id);
        return single_line(
            LineSeverity::Good,
            format!("{seat}the Blind Critic has no objection{time}"),
        );
    }
    let objects = match look {
        AuditRound::First => "the Blind Critic objects",
        AuditRound::Second => "the Blind Critic still objects",
    };
    let line = |one: &AuditObjection| {
        let who = match one.by {
            ObjectionSource::Critic => format!("{seat}{objects}"),
            // The format check has no seat, so the line names none.
            ObjectionSource::Count => format!("{:width$}counted", "", width = seat.len()),
        };
        let (field, objection) = (field_name(one.field), shorten_line(&one.objection));
        ProgressLine { tone: LineSeverity::Warning, text: format!("{who}: {field}: {objection}") }
    };
    objections.iter().map(line).collect()
}

pub(super) fn revised_lines(
    transcript: &RunState,
    ask: &AskSummary,
    fields: &[ConclusionField],
) -> Vec<ProgressLine> {
    let names: Vec<&str> = fields.iter().map(|field| field_name(*field)).collect();
    let (seat, time) = (seat_column(transcript, ask), latency_note(transcript, ask.id));
    single_line(LineSeverity::Good, format!("{seat}mended{time}: {}", names.join(", ")))
}

pub(super) fn concluded_lines(state: Option<TerminalState>) -> Vec<ProgressLine> {
    let (tone, how) = match state {
        Some(TerminalState::Clean) => (LineSeverity::Good, "no objection at first sight"),
        Some(TerminalState::Revised) => {
            (LineSeverity::Good, "objected to, mended, and then let pass")
        }
        Some(TerminalState::Unconverged) => {
            (LineSeverity::Warning, "objected to, mended, objected to again")
        }
        None => (LineSeverity::Warning, "nobody tried to break it"),
    };
    single_line(tone, format!("{}: {how}", state_label(state)))
}

/// The text on one line, shortened for a progress line.
fn shorten_line(text: &str) -> String {
    wording::shorten_text(text, LINE_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use crate::domain::change::JournalEvent;
    use crate::domain::intervention::Intervention;
    use crate::domain::transcript::RunState;
    use crate::export::conclusion::sample;
    use crate::export::council::derive_events;
    use crate::export::telling::run::describe_event;
    use crate::protocols::Protocols;
    use crate::protocols::conclusion::DRAFT;

    /// The progress lines of a run's conclusion and its interventions.
    fn progress_text(transcript: &RunState) -> String {
        let mut changes: Vec<JournalEvent> = Vec::new();
        for noted in &transcript.interventions {
            let intervention = noted.intervention.clone();
            changes.push(JournalEvent::Intervened { round: noted.round, intervention });
        }
        for asked in transcript.asks.iter().filter(|asked| asked.ask.round >= DRAFT) {
            let reading = asked.parse_outcome.clone();
            changes.extend(
                reading.map(|reading| JournalEvent::ReplyParsed { ask: asked.ask.id, reading }),
            );
        }
        changes.extend(
            transcript
                .conclusion_result
                .clone()
                .map(|ending| JournalEvent::Concluded(ending.into())),
        );
        let told = derive_events(transcript, &changes);
        let lines =
            told.iter().flat_map(|event| describe_event(&Protocols::built_in(), transcript, event));
        lines.map(|line| format!("{:?} {}", line.tone, line.text)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn an_ending_is_told_line_by_line() {
        insta::assert_snapshot!(progress_text(&sample::unconverged()), @r#"
        Good ann  conclusion (1.4 s): Put a read-through cache before everything, with a lifetime of five minutes.
        Warning      counted: recommendation: asked for exactly 2 lines; the recommendation has 1
        Warning bob  the Blind Critic objects: key condition: “Reads outnumber writes” is true of nearly every store; it does not say from which ratio on the cache pays.
        Good ann  mended (1.4 s): recommendation, key condition
        Warning bob  the Blind Critic still objects: recommendation: It leaves out prices, which is what the question is about.
        Warning UNCONVERGED: objected to, mended, objected to again
        "#);
        insta::assert_snapshot!(progress_text(&sample::clean()), @r#"
        Good ann  conclusion (1.4 s): Put a read-through cache before the catalogue, with a lifetime of five minutes. Leave prices uncached until the owner says how stale they may be.
        Good bob  the Blind Critic has no objection (1.4 s)
        Good CLEAN: no objection at first sight
        "#);
        insta::assert_snapshot!(progress_text(&sample::unaudited()), @r#"
        Good ann  conclusion (1.4 s): Put a read-through cache before the catalogue, with a lifetime of five minutes. Leave prices uncached until the owner says how stale they may be.
        Warning UNAUDITED: nobody tried to break it
        "#);
    }

    #[test]
    fn interventions_are_told_as_asides() {
        insta::assert_snapshot!(progress_text(&sample::cut_short()), @r#"
        Aside whisper to all: Mind what it costs to run.
        Aside whisper to cid, in private: You know this store best.
        Aside directive: only reads count; understood as: The panel is to take it that only reads count.
        Aside directive: forget all of it; understood as: The panel is to take it that forget all of it.; not confirmed, so it had no effect
        Aside stop: nobody else is asked in the rounds
        Good ann  conclusion (1.4 s): Put a read-through cache before the catalogue, with a lifetime of five minutes. Leave prices uncached until the owner says how stale they may be.
        Good bob  the Blind Critic has no objection (1.4 s)
        Good CLEAN: no objection at first sight
        "#);
    }

    #[test]
    fn a_long_text_is_cut_where_a_glance_ends() {
        let text = "né\n".repeat(500);
        let intervention = Intervention::Whisper { text, to: None };
        let seen = crate::export::InterventionSummary::from_intervention(1, &intervention);
        let lines = super::intervened_lines(&seen);
        assert!(lines[0].text.ends_with("né…") && lines[0].text.chars().count() < 190);
    }
}
