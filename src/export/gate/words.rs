//! Phrases about a review, shared by all pages.

use super::concerns::PlacedConcern;
use super::document::{PolicyCount, ReviewDocument, TimedOverride};
use crate::domain::gate::{
    AdjudicatorReply, BlockLevel, BlockTally, DeliberatorJudgement, ReviewDecision,
    VerdictOverride, names_lines,
};

/// `policy seed: 4 present (3 needed), 3 block, 1 irreducible: HOLD`.
pub(crate) fn policy_sentence(counted: &PolicyCount) -> String {
    let sum = &counted.arithmetic;
    let computed = sum.computed.map_or("nothing is decided", ReviewDecision::name);
    format!(
        "policy {}: {} present ({} needed), {}: {computed}",
        sum.name,
        sum.present,
        counted.min_deliberators,
        describe_blocks(sum),
    )
}

/// `1 blocks`, `3 block`, or a phrase for none.
pub(crate) fn count_blocks(number: usize) -> String {
    match number {
        0 => "nobody blocks".to_owned(),
        1 => "1 blocks".to_owned(),
        more => format!("{more} block"),
    }
}

/// The same, with the number of irreducible blocks.
pub(crate) fn describe_blocks(sum: &BlockTally) -> String {
    let told = count_blocks(sum.blocks);
    match sum.irreducible_blocks {
        0 => told,
        1 if sum.blocks == 1 => format!("{told}, irreducible"),
        all if sum.blocks == all => format!("{told}, all irreducible"),
        some => format!("{told}, {some} irreducible"),
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

/// Human overrides, the effective one first. Overrides of earlier verdicts follow and name them;
/// of several overrides of one verdict only the newest is listed.
pub(crate) fn override_lines(told: &ReviewDocument) -> Vec<String> {
    let is_newest = |one: &&TimedOverride| {
        let id = &one.decision.verdict_id;
        let last = told.overrides.iter().rfind(|other| other.decision.verdict_id == *id);
        last.is_some_and(|last| std::ptr::eq(last, *one))
    };
    let (own, earlier): (Vec<&TimedOverride>, Vec<&TimedOverride>) = told
        .overrides
        .iter()
        .filter(is_newest)
        .partition(|one| told.verdict_id.as_ref() == Some(&one.decision.verdict_id));
    let told = |one: &TimedOverride| {
        let VerdictOverride { decision, why, .. } = &one.decision;
        format!("a person decided {decision} on {}: {why}", one.at.utc_day())
    };
    let own = own.iter().map(|one| told(one));
    own.chain(earlier.iter().map(|one| format!("of {}, {}", one.decision.verdict_id, told(one))))
        .collect()
}

/// The context files that deliberators did not get.
pub(crate) fn missing_context_note(told: &ReviewDocument) -> Option<String> {
    let missing = told.missing_context.iter();
    let each = missing.map(|one| format!("{} of {} ({})", one.path, one.deliberator, one.reason));
    let all = each.collect::<Vec<_>>().join(", ");
    (!all.is_empty()).then(|| format!("Judged without context: {all}"))
}

/// The adjudicator's verdict, with its downgrade if it requested one.
pub(crate) fn adjudication_text(word: &AdjudicatorReply) -> String {
    let reason = word.downgrade_reason.as_deref().map(str::trim).unwrap_or_default();
    match (word.downgrade, reason) {
        (false, _) => word.final_verdict.to_string(),
        (true, "") => format!("{}, by a downgrade without a reason", word.final_verdict),
        (true, reason) => format!("{}, by a downgrade: {reason}", word.final_verdict),
    }
}

/// The decision and its reason; `None` without a decision.
pub(crate) fn outcome_sentence(told: &ReviewDocument) -> Option<String> {
    let (counted, word) = (told.policy.as_ref()?, &told.adjudicator.as_ref()?.adjudication);
    let decided = told.verdict.to_decision()?;
    let computed = counted.arithmetic.computed?;
    let why = if counted.downgraded {
        "the downgrade counts"
    } else if decided > computed {
        "the adjudicator is stricter than the count"
    } else if word.final_verdict == computed {
        "both say so"
    } else if word.downgrade && !word.asks_for_downgrade() {
        "a downgrade that does not say why is none"
    } else if word.downgrade {
        "what no revision lifts cannot be downgraded"
    } else {
        "the adjudicator cannot be softer than the count"
    };
    Some(format!("{decided}: {why}"))
}

/// Whether the decision equals the result of the block tally.
pub(crate) fn matches_policy_count(told: &ReviewDocument) -> bool {
    let computed = told.policy.as_ref().and_then(|sum| sum.arithmetic.computed);
    computed.is_some() && computed == told.verdict.to_decision()
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

/// A concern with its fix, and with its locus unless that is a line range.
pub(crate) fn concern_text(placed: &PlacedConcern) -> String {
    let concern = &placed.concern;
    let part = |lead: &str, text: &str| match text.trim() {
        "" => None,
        text => Some(format!("{lead}{text}")),
    };
    let locus = Some(&concern.locus).filter(|locus| !names_lines(locus));
    let at = locus.and_then(|locus| part("At: ", locus));
    let parts = [part("", &concern.issue), at, part("Fix: ", &concern.fix)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}
