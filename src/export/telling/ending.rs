//! Progress lines of a conclusion and of interventions.

use super::run::{Told, Tone, mended, seat, seconds, told};
use crate::domain::conclusion::{Auditor, Field, Objection};
use crate::domain::dialogue::TerminalState;
use crate::domain::transcript::Transcript;
use crate::export::InterventionSeen;
use crate::export::conclusion::{field_name, state_word};
use crate::export::council::{AskSeen, Look};
use crate::export::wording;

/// A progress line is short; the final page has the full text.
const GLANCE_CHARS_MAX: usize = 160;

pub(super) fn intervened(seen: &InterventionSeen) -> Vec<Told> {
    told(Tone::Aside, format!("{}: {}", seen.deed(), glance(&seen.words().join("; "))))
}

pub(super) fn drafted(
    transcript: &Transcript,
    ask: &AskSeen,
    recommendation: &str,
    is_repaired: bool,
) -> Vec<Told> {
    let mended = mended(is_repaired);
    let (seat, time) = (seat(transcript, ask), seconds(transcript, ask.id));
    told(Tone::Good, format!("{seat}conclusion{mended}{time}: {}", glance(recommendation)))
}

pub(super) fn audited(
    transcript: &Transcript,
    ask: &AskSeen,
    look: Look,
    objections: &[Objection],
) -> Vec<Told> {
    let seat = seat(transcript, ask);
    if objections.is_empty() {
        let time = seconds(transcript, ask.id);
        return told(Tone::Good, format!("{seat}the Blind Critic has no objection{time}"));
    }
    let objects = match look {
        Look::First => "the Blind Critic objects",
        Look::Second => "the Blind Critic still objects",
    };
    let line = |one: &Objection| {
        let who = match one.by {
            Auditor::Critic => format!("{seat}{objects}"),
            // The format check has no seat, so the line names none.
            Auditor::Count => format!("{:width$}counted", "", width = seat.len()),
        };
        let (field, objection) = (field_name(one.field), glance(&one.objection));
        Told { tone: Tone::Warning, text: format!("{who}: {field}: {objection}") }
    };
    objections.iter().map(line).collect()
}

pub(super) fn revised(transcript: &Transcript, ask: &AskSeen, fields: &[Field]) -> Vec<Told> {
    let names: Vec<&str> = fields.iter().map(|field| field_name(*field)).collect();
    let (seat, time) = (seat(transcript, ask), seconds(transcript, ask.id));
    told(Tone::Good, format!("{seat}mended{time}: {}", names.join(", ")))
}

pub(super) fn concluded(state: Option<TerminalState>) -> Vec<Told> {
    let (tone, how) = match state {
        Some(TerminalState::Clean) => (Tone::Good, "no objection at first sight"),
        Some(TerminalState::Revised) => (Tone::Good, "objected to, mended, and then let pass"),
        Some(TerminalState::Unconverged) => {
            (Tone::Warning, "objected to, mended, objected to again")
        }
        None => (Tone::Warning, "nobody tried to break it"),
    };
    told(tone, format!("{}: {how}", state_word(state)))
}

/// The text on one line, shortened for a progress line.
fn glance(text: &str) -> String {
    wording::shortened(text, GLANCE_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use crate::domain::change::Change;
    use crate::domain::intervention::Intervention;
    use crate::domain::transcript::Transcript;
    use crate::export::conclusion::sample;
    use crate::export::council::events;
    use crate::export::telling::run::tell;
    use crate::protocols::Protocols;
    use crate::protocols::conclusion::DRAFT;

    /// The progress lines of a run's conclusion and its interventions.
    fn said(transcript: &Transcript) -> String {
        let mut changes: Vec<Change> = Vec::new();
        for noted in &transcript.interventions {
            let intervention = noted.intervention.clone();
            changes.push(Change::Intervened { round: noted.round, intervention });
        }
        for asked in transcript.asks.iter().filter(|asked| asked.ask.round >= DRAFT) {
            let reading = asked.reading.clone();
            changes.extend(reading.map(|reading| Change::ReplyRead { ask: asked.ask.id, reading }));
        }
        changes.extend(transcript.ending.clone().map(|ending| Change::Concluded(ending.into())));
        let told = events(transcript, &changes);
        let lines = told.iter().flat_map(|event| tell(&Protocols::built_in(), transcript, event));
        lines.map(|line| format!("{:?} {}", line.tone, line.text)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn an_ending_is_told_line_by_line() {
        insta::assert_snapshot!(said(&sample::unconverged()), @r#"
        Good ann  conclusion (1.4 s): Put a read-through cache before everything, with a lifetime of five minutes.
        Warning      counted: recommendation: asked for exactly 2 lines; the recommendation has 1
        Warning bob  the Blind Critic objects: key condition: “Reads outnumber writes” is true of nearly every store; it does not say from which ratio on the cache pays.
        Good ann  mended (1.4 s): recommendation, key condition
        Warning bob  the Blind Critic still objects: recommendation: It leaves out prices, which is what the question is about.
        Warning UNCONVERGED: objected to, mended, objected to again
        "#);
        insta::assert_snapshot!(said(&sample::clean()), @r#"
        Good ann  conclusion (1.4 s): Put a read-through cache before the catalogue, with a lifetime of five minutes. Leave prices uncached until the owner says how stale they may be.
        Good bob  the Blind Critic has no objection (1.4 s)
        Good CLEAN: no objection at first sight
        "#);
        insta::assert_snapshot!(said(&sample::unaudited()), @r#"
        Good ann  conclusion (1.4 s): Put a read-through cache before the catalogue, with a lifetime of five minutes. Leave prices uncached until the owner says how stale they may be.
        Warning UNAUDITED: nobody tried to break it
        "#);
    }

    #[test]
    fn interventions_are_told_as_asides() {
        insta::assert_snapshot!(said(&sample::cut_short()), @r#"
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
        let seen = crate::export::InterventionSeen::of(1, &intervention);
        let lines = super::intervened(&seen);
        assert!(lines[0].text.ends_with("né…") && lines[0].text.chars().count() < 190);
    }
}
