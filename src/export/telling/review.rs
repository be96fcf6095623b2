//! Progress lines of a review.

use super::run::{Told, Tone, mended, seat, seconds, told};
use crate::domain::gate::{Arithmetic, Block, Decision, Leaning, Override};
use crate::domain::transcript::Transcript;
use crate::export::council::{AdjudicationSeen, AskSeen, JudgementSeen};
use crate::export::gate::words;
use crate::export::wording;

pub(super) fn judged(transcript: &Transcript, ask: &AskSeen, seen: &JudgementSeen) -> Vec<Told> {
    let tone = match (seen.would_block, seen.verdict) {
        (true, _) | (false, Leaning::Hold) => Tone::Warning,
        (false, Leaning::Ship | Leaning::Revise) => Tone::Good,
    };
    let block = Block::written(seen.would_block, seen.irreducible);
    let block = words::block(block).map(|block| format!(", {block}")).unwrap_or_default();
    let concerns = match seen.concerns {
        0 => String::new(),
        some => format!(", {}", wording::count(some, "concern")),
    };
    let said = format!("{}{block}{concerns}{}", seen.verdict, mended(seen.repaired));
    line(transcript, ask, tone, &said)
}

pub(super) fn adjudicated(
    transcript: &Transcript,
    ask: &AskSeen,
    word: AdjudicationSeen,
) -> Vec<Told> {
    let how = if word.downgrade { ", by a downgrade" } else { "" };
    let said = format!("{}{how}{}", word.final_verdict, mended(word.repaired));
    line(transcript, ask, tone(word.final_verdict), &said)
}

pub(super) fn ruled(verdict: Decision, policy: &Arithmetic) -> Vec<Told> {
    let computed = policy.computed.map_or("nothing", Decision::name);
    let counted = format!(
        "{} of {} block, {} irreducible; the policy {} alone says {computed}",
        policy.blocks, policy.present, policy.irreducible_blocks, policy.name
    );
    told(tone(verdict), format!("{verdict} ({counted})"))
}

pub(super) fn overridden(decision: &Override) -> Vec<Told> {
    let Override { verdict_id, decision, why } = decision;
    told(Tone::Aside, format!("a person decided {decision} over {verdict_id}: {why}"))
}

fn line(transcript: &Transcript, ask: &AskSeen, tone: Tone, said: &str) -> Vec<Told> {
    let (seat, time) = (seat(transcript, ask), seconds(transcript, ask.id));
    told(tone, format!("{seat}{said}{time}"))
}

fn tone(decision: Decision) -> Tone {
    match decision {
        Decision::Ship => Tone::Good,
        Decision::Revise | Decision::Hold => Tone::Warning,
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::change::Change;
    use crate::domain::transcript::Transcript;
    use crate::export::council::events;
    use crate::export::gate::sample;
    use crate::export::telling::run::tell;
    use crate::protocols::Protocols;

    /// The progress lines of a review.
    fn said(transcript: &Transcript) -> String {
        let mut changes: Vec<Change> = Vec::new();
        for asked in &transcript.asks {
            let reading = asked.reading.clone();
            changes.extend(reading.map(|reading| Change::ReplyRead { ask: asked.ask.id, reading }));
        }
        changes.extend(transcript.ruling.clone().map(|ruling| Change::Ruled(ruling.into())));
        let overrides = transcript.overrides.iter();
        changes.extend(overrides.map(|(_, decision)| Change::Overridden(decision.clone())));
        let told = events(transcript, &changes);
        let lines = told.iter().flat_map(|event| tell(&Protocols::built_in(), transcript, event));
        lines.map(|line| format!("{:?} {}", line.tone, line.text)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_review_is_told_line_by_line() {
        insta::assert_snapshot!(said(&sample::overridden()), @r#"
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
