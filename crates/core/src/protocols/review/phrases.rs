//! Phrases about a review, shared by all pages.

use crate::model::run_state::RunState;
use crate::protocols::review::document::{
    PlacedConcern, PolicyCount, ReviewDocument, TimedOverride,
};
use crate::protocols::review::earlier_decision::UNNAMED_PERSON;
use crate::protocols::review::locus::names_lines;
use crate::protocols::review::policy::{
    AdjudicatorReply, BLOCKS_TO_HOLD, BlockTally, ReviewDecision, ReviewVerdict, VerdictOverride,
};
use crate::protocols::review::types::{BlockLevel, DeliberatorJudgement, DeliberatorVerdict};
use crate::report::events::{AdjudicationSummary, AskSummary, JudgementSummary};
use crate::report::marks::{StateMark, review_mark};
use crate::report::page::TextTone;
use crate::report::phrases::count_noun;
use crate::report::progress_lines::{
    LineSeverity, ProgressLine, latency_note, repair_note, seat_column, single_line,
};

/// `policy seed: 4 present (3 needed), 3 blocks, 1 irreducible: HOLD`.
pub(crate) fn policy_sentence(counted: &PolicyCount) -> String {
    let sum = &counted.arithmetic;
    let computed = sum.computed.map_or("no decision", ReviewDecision::name);
    format!(
        "policy {}: {} present ({} needed), {}: {computed}",
        sum.name,
        sum.present,
        counted.min_deliberators,
        describe_blocks(sum),
    )
}

/// `2 of 4 would block`, for a document that ships although deliberators block it; `None` for
/// every other verdict.
pub fn shipped_blocks(verdict: ReviewVerdict, sum: &BlockTally) -> Option<String> {
    let is_blocked = verdict == ReviewVerdict::Ship && sum.blocks > 0;
    is_blocked.then(|| format!("{} of {} would block", sum.blocks, sum.present))
}

/// The same with the reason: `2 of 4 would block (policy `seed` holds at 3)`.
pub(crate) fn explain_shipped_blocks(result: &ReviewDocument) -> Option<String> {
    let sum = &result.policy.as_ref().filter(|_| result.overridden.is_none())?.arithmetic;
    let blocks = shipped_blocks(result.verdict, sum)?;
    Some(format!("{blocks} (policy `{}` holds at {BLOCKS_TO_HOLD})", sum.name))
}

/// The mark of a verdict. A SHIP with blocks is not a good result, also where no colour is shown.
pub(crate) fn verdict_mark(result: &ReviewDocument) -> StateMark {
    match explain_shipped_blocks(result) {
        Some(_) => ("▲", TextTone::Caution),
        None => review_mark(result.verdict),
    }
}

/// `1 block`, `3 blocks`, or a phrase for none.
pub(crate) fn count_blocks(number: usize) -> String {
    match number {
        0 => "no deliberator blocks".to_owned(),
        some => count_noun(some, "block"),
    }
}

/// The same, with the number of irreducible blocks.
pub(crate) fn describe_blocks(sum: &BlockTally) -> String {
    let result = count_blocks(sum.blocks);
    match sum.irreducible_blocks {
        0 => result,
        1 if sum.blocks == 1 => format!("{result}, irreducible"),
        all if sum.blocks == all => format!("{result}, all irreducible"),
        some => format!("{result}, {some} irreducible"),
    }
}

/// The label of a block beside a deliberator's name; `None` without a block.
pub(crate) fn block_label(block: BlockLevel) -> Option<&'static str> {
    match block {
        BlockLevel::None => None,
        BlockLevel::Reducible => Some("blocks"),
        BlockLevel::Irreducible => Some("blocks, irreducible"),
    }
}

/// `hold, blocks`: the stance that is compared between the rounds.
pub(crate) fn stance_text(judgement: &DeliberatorJudgement) -> String {
    match block_label(judgement.block_level()) {
        None => judgement.verdict.to_string(),
        Some(blocks) => format!("{}, {blocks}", judgement.verdict),
    }
}

/// A text of a person as a sentence.
pub(crate) fn end_with_stop(text: &str) -> String {
    let text = text.trim_end();
    let is_ended = text.ends_with(['.', '!', '?', '…', '。']);
    if is_ended { text.to_owned() } else { format!("{text}.") }
}

/// Human overrides, the effective one first. Overrides of earlier verdicts follow and name them;
/// of several overrides of one verdict only the newest is listed.
pub(crate) fn override_lines(result: &ReviewDocument) -> Vec<String> {
    let is_newest = |one: &&TimedOverride| {
        let id = &one.decision.verdict_id;
        let last = result.overrides.iter().rfind(|other| other.decision.verdict_id == *id);
        last.is_some_and(|last| std::ptr::eq(last, *one))
    };
    let (own, earlier): (Vec<&TimedOverride>, Vec<&TimedOverride>) = result
        .overrides
        .iter()
        .filter(is_newest)
        .partition(|one| result.verdict_id.as_ref() == Some(&one.decision.verdict_id));
    let result = |one: &TimedOverride| {
        let VerdictOverride { decision, why, by, .. } = &one.decision;
        let by = by.as_deref().unwrap_or(UNNAMED_PERSON);
        format!("{by} decided {decision} on {}: {why}", one.at.utc_day())
    };
    let own = own.iter().map(|one| result(one));
    own.chain(earlier.iter().map(|one| format!("of {}, {}", one.decision.verdict_id, result(one))))
        .collect()
}

/// The context files that deliberators did not get.
pub(crate) fn missing_context_note(result: &ReviewDocument) -> Option<String> {
    let missing = result.missing_context.iter();
    let each = missing.map(|one| format!("{} of {} ({})", one.path, one.deliberator, one.reason));
    let all = each.collect::<Vec<_>>().join(", ");
    (!all.is_empty()).then(|| format!("Context files that could not be read: {all}"))
}

/// The adjudicator's verdict, with its downgrade if it requested one.
pub(crate) fn adjudication_text(word: &AdjudicatorReply) -> String {
    let reason = word.downgrade_reason.as_deref().map(str::trim).unwrap_or_default();
    match (word.downgrade, reason) {
        (false, _) => word.final_verdict.to_string(),
        (true, "") => format!("{}, downgraded without a reason", word.final_verdict),
        (true, reason) => format!("{}, downgraded: {reason}", word.final_verdict),
    }
}

/// The decision and its reason; `None` without a decision.
pub(crate) fn outcome_sentence(result: &ReviewDocument) -> Option<String> {
    if let Some(mark) = &result.overridden {
        return Some(format!("{}: {}", mark.decision, mark.sentence()));
    }
    let (counted, word) = (result.policy.as_ref()?, &result.adjudicator.as_ref()?.adjudication);
    let decided = result.verdict.to_decision()?;
    let computed = counted.arithmetic.computed?;
    let why = if counted.downgraded {
        "the downgrade counts"
    } else if decided > computed {
        "the adjudicator is stricter than the count"
    } else if word.final_verdict == computed {
        "adjudicator and policy agree"
    } else if word.downgrade && !word.asks_for_downgrade() {
        "the downgrade does not count, because it gives no reason"
    } else if word.downgrade {
        "irreducible blocks cannot be downgraded"
    } else {
        "the adjudicator cannot be softer than the count"
    };
    Some(format!("{decided}: {why}"))
}

/// Whether the decision equals the result of the block tally.
pub(crate) fn matches_policy_count(result: &ReviewDocument) -> bool {
    let computed = result.policy.as_ref().and_then(|sum| sum.arithmetic.computed);
    computed.is_some() && computed == result.verdict.to_decision() && result.overridden.is_none()
}

/// `L3`, `L3-5`; `None` without lines.
pub(crate) fn line_range(line: Option<usize>, end: Option<usize>) -> Option<String> {
    let (start, end) = (line?, end?);
    Some(if start == end { format!("L{start}") } else { format!("L{start}-{end}") })
}

/// `argument soundness`.
pub(crate) fn score_name(name: &str) -> String {
    name.replace("pre_", "pre-").replace('_', " ")
}

/// Beside a quotation that the artifact does not contain.
pub(crate) const QUOTE_NOT_FOUND: &str = "quote not found";

/// A concern with its fix, and with its locus unless that is a line range.
pub(crate) fn concern_text(placed: &PlacedConcern) -> String {
    let concern = &placed.concern;
    let part = |lead: &str, text: &str| match text.trim() {
        "" => None,
        text => Some(format!("{lead}{text}")),
    };
    let locus = Some(&concern.locus).filter(|locus| !names_lines(locus));
    let mark = if placed.quote_not_found { format!(" ({QUOTE_NOT_FOUND})") } else { String::new() };
    let at = locus.and_then(|locus| part("At: ", locus)).map(|at| at + &mark);
    let parts = [part("", &concern.issue), at, part("Fix: ", &concern.fix)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

pub(crate) fn judged_lines(
    state: &RunState,
    ask: &AskSummary,
    seen: &JudgementSummary,
) -> Vec<ProgressLine> {
    let tone = match (seen.would_block, seen.verdict) {
        (true, _) | (false, DeliberatorVerdict::Hold) => LineSeverity::Warning,
        (false, DeliberatorVerdict::Ship | DeliberatorVerdict::Revise) => LineSeverity::Good,
    };
    let block = BlockLevel::from_flags(seen.would_block, seen.irreducible);
    let block = block_label(block).map(|block| format!(", {block}")).unwrap_or_default();
    let concerns = match seen.concerns {
        0 => String::new(),
        some => format!(", {}", count_noun(some, "concern")),
    };
    let message = format!("{}{block}{concerns}{}", seen.verdict, repair_note(seen.repaired));
    seat_lines(state, ask, tone, &message)
}

pub(crate) fn adjudicated_lines(
    state: &RunState,
    ask: &AskSummary,
    word: AdjudicationSummary,
) -> Vec<ProgressLine> {
    let how = if word.downgrade { ", downgraded" } else { "" };
    let message = format!("{}{how}{}", word.final_verdict, repair_note(word.repaired));
    seat_lines(state, ask, decision_severity(word.final_verdict), &message)
}

pub(crate) fn decision_lines(verdict: ReviewDecision, policy: &BlockTally) -> Vec<ProgressLine> {
    let computed = policy.computed.map_or("no decision", ReviewDecision::name);
    let counted = format!(
        "{} of {} block, {} irreducible; the policy {} gives {computed}",
        policy.blocks, policy.present, policy.irreducible_blocks, policy.name
    );
    let severity = match shipped_blocks(verdict.into(), policy) {
        Some(_) => LineSeverity::Warning,
        None => decision_severity(verdict),
    };
    single_line(severity, format!("{verdict} ({counted})"))
}

pub(crate) fn overridden_lines(decision: &VerdictOverride) -> Vec<ProgressLine> {
    let VerdictOverride { verdict_id, decision, why, by, .. } = decision;
    single_line(
        LineSeverity::Aside,
        format!(
            "{} decided {decision} over {verdict_id}: {why}",
            by.as_deref().unwrap_or(UNNAMED_PERSON)
        ),
    )
}

fn seat_lines(
    state: &RunState,
    ask: &AskSummary,
    tone: LineSeverity,
    message: &str,
) -> Vec<ProgressLine> {
    let (seat, time) = (seat_column(state, ask), latency_note(state, ask.id));
    single_line(tone, format!("{seat}{message}{time}"))
}

fn decision_severity(decision: ReviewDecision) -> LineSeverity {
    match decision {
        ReviewDecision::Ship => LineSeverity::Good,
        ReviewDecision::Revise | ReviewDecision::Hold => LineSeverity::Warning,
    }
}

#[cfg(test)]
mod tests {
    use crate::model::journal::JournalEvent;
    use crate::model::run_state::RunState;
    use crate::protocols::protocol::Protocols;
    use crate::protocols::review::document_sample_tests::overridden;
    use crate::report::events::derive_events;
    use crate::report::progress_lines::describe_event;

    /// The progress lines of a review.
    fn progress_text(state: &RunState) -> String {
        let mut changes: Vec<JournalEvent> = Vec::new();
        for asked in &state.asks {
            let reading = asked.parse_outcome.clone();
            changes.extend(
                reading.map(|reading| JournalEvent::ReplyParsed { ask: asked.ask.id, reading }),
            );
        }
        changes.extend(
            state.review_outcome.clone().map(|ruling| JournalEvent::ReviewDecided(ruling.into())),
        );
        let overrides = state.overrides.iter();
        changes.extend(
            overrides.map(|(_, decision)| JournalEvent::VerdictOverridden(decision.clone())),
        );
        let result = derive_events(state, &changes);
        let lines =
            result.iter().flat_map(|event| describe_event(&Protocols::built_in(), state, event));
        lines.map(|line| format!("{:?} {}", line.tone, line.text)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_review_is_told_line_by_line() {
        insta::assert_snapshot!(progress_text(&overridden()), @r#"
        Warning skeptic         hold, blocks, irreducible, 2 concerns (1.4 s)
        Good voice_identity  revise, 1 concern (1.4 s)
        Good evidence        revise, 1 concern (1.4 s)
        Good strategy        ship (1.4 s)
        Warning skeptic         hold, blocks, irreducible, 2 concerns (1.4 s)
        Warning evidence        revise, blocks, 1 concern (1.4 s)
        Warning strategy        hold, blocks (1.4 s)
        Warning adjudicator     REVISE, downgraded (1.4 s)
        Warning REVISE (3 of 4 block, 1 irreducible; the policy seed gives HOLD)
        Aside a person decided SHIP over posts-launch-md-7c21e0aa/1: The board has seen the figures.
        "#);
    }
}
