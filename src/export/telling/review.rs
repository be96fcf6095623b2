//! Progress lines of a review.

use super::run::{LineSeverity, ProgressLine, latency_note, repair_note, seat_column, single_line};
use crate::domain::gate::{
    BlockLevel, BlockTally, DeliberatorVerdict, ReviewDecision, VerdictOverride,
};
use crate::domain::transcript::RunState;
use crate::export::council::{AdjudicationSummary, AskSummary, JudgementSummary};
use crate::export::gate::words;
use crate::export::wording;

pub(super) fn judged_lines(
    transcript: &RunState,
    ask: &AskSummary,
    seen: &JudgementSummary,
) -> Vec<ProgressLine> {
    let tone = match (seen.would_block, seen.verdict) {
        (true, _) | (false, DeliberatorVerdict::Hold) => LineSeverity::Warning,
        (false, DeliberatorVerdict::Ship | DeliberatorVerdict::Revise) => LineSeverity::Good,
    };
    let block = BlockLevel::from_flags(seen.would_block, seen.irreducible);
    let block = words::block_label(block).map(|block| format!(", {block}")).unwrap_or_default();
    let concerns = match seen.concerns {
        0 => String::new(),
        some => format!(", {}", wording::count_noun(some, "concern")),
    };
    let said = format!("{}{block}{concerns}{}", seen.verdict, repair_note(seen.repaired));
    seat_lines(transcript, ask, tone, &said)
}

pub(super) fn adjudicated_lines(
    transcript: &RunState,
    ask: &AskSummary,
    word: AdjudicationSummary,
) -> Vec<ProgressLine> {
    let how = if word.downgrade { ", by a downgrade" } else { "" };
    let said = format!("{}{how}{}", word.final_verdict, repair_note(word.repaired));
    seat_lines(transcript, ask, decision_severity(word.final_verdict), &said)
}

pub(super) fn decision_lines(verdict: ReviewDecision, policy: &BlockTally) -> Vec<ProgressLine> {
    let computed = policy.computed.map_or("nothing", ReviewDecision::name);
    let counted = format!(
        "{} of {} block, {} irreducible; the policy {} alone says {computed}",
        policy.blocks, policy.present, policy.irreducible_blocks, policy.name
    );
    single_line(decision_severity(verdict), format!("{verdict} ({counted})"))
}

pub(super) fn overridden_lines(decision: &VerdictOverride) -> Vec<ProgressLine> {
    let VerdictOverride { verdict_id, decision, why } = decision;
    single_line(
        LineSeverity::Aside,
        format!("a person decided {decision} over {verdict_id}: {why}"),
    )
}

fn seat_lines(
    transcript: &RunState,
    ask: &AskSummary,
    tone: LineSeverity,
    said: &str,
) -> Vec<ProgressLine> {
    let (seat, time) = (seat_column(transcript, ask), latency_note(transcript, ask.id));
    single_line(tone, format!("{seat}{said}{time}"))
}

fn decision_severity(decision: ReviewDecision) -> LineSeverity {
    match decision {
        ReviewDecision::Ship => LineSeverity::Good,
        ReviewDecision::Revise | ReviewDecision::Hold => LineSeverity::Warning,
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::change::JournalEvent;
    use crate::domain::transcript::RunState;
    use crate::export::council::derive_events;
    use crate::export::gate::sample;
    use crate::export::telling::run::describe_event;
    use crate::protocols::Protocols;

    /// The progress lines of a review.
    fn progress_text(transcript: &RunState) -> String {
        let mut changes: Vec<JournalEvent> = Vec::new();
        for asked in &transcript.asks {
            let reading = asked.parse_outcome.clone();
            changes.extend(
                reading.map(|reading| JournalEvent::ReplyParsed { ask: asked.ask.id, reading }),
            );
        }
        changes.extend(
            transcript
                .review_outcome
                .clone()
                .map(|ruling| JournalEvent::ReviewDecided(ruling.into())),
        );
        let overrides = transcript.overrides.iter();
        changes.extend(
            overrides.map(|(_, decision)| JournalEvent::VerdictOverridden(decision.clone())),
        );
        let told = derive_events(transcript, &changes);
        let lines =
            told.iter().flat_map(|event| describe_event(&Protocols::built_in(), transcript, event));
        lines.map(|line| format!("{:?} {}", line.tone, line.text)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_review_is_told_line_by_line() {
        insta::assert_snapshot!(progress_text(&sample::overridden()), @r#"
        Warning skeptic         hold, blocks, irreducible, 2 concerns (1.4 s)
        Good voice_identity  revise, 1 concern (1.4 s)
        Good evidence        revise, 1 concern (1.4 s)
        Good strategy        ship (1.4 s)
        Warning skeptic         hold, blocks, irreducible, 2 concerns (1.4 s)
        Warning evidence        revise, blocks, 1 concern (1.4 s)
        Warning strategy        hold, blocks (1.4 s)
        Warning adjudicator     REVISE, by a downgrade (1.4 s)
        Warning REVISE (3 of 4 block, 1 irreducible; the policy seed alone says HOLD)
        Aside a person decided SHIP over posts-launch-md-7c21e0aa/1: The board has seen the figures.
        "#);
    }
}
