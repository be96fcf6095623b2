//! Reply of the rehearsed adjudicator: it counts verdicts by the policy and sorts the requested
//! changes, without a critique of its own.

use crate::domain::ask::AskMessages;
use crate::domain::gate::{
    AdjudicatorReply, BlockTally, FinalVerdict, ReviewDecision, ReviewPolicy,
};

use super::papers::{
    PeerJudgement, PriorReviewLine, read_peer_judgements, read_policy, read_prior_verdicts,
};

/// Maximum items of a brief.
const BRIEF_ITEMS_MAX: usize = 8;

/// Consecutive verdicts other than SHIP that count as a pattern.
const PATTERN_MIN: usize = 2;

pub(in crate::providers::rehearsal) fn adjudicate_review(
    messages: &AskMessages,
) -> AdjudicatorReply {
    let peers = read_peer_judgements(&messages.user);
    // The adjudicator does not check the minimum of deliberators.
    let policy = ReviewPolicy { name: read_policy(messages), min_deliberators: 1 };
    let counted = policy.count_blocks(peers.iter().map(|peer| &peer.judgement));
    let downgrade = counted.may_be_downgraded();
    // Without any judgement the result is HOLD.
    let computed = counted.computed.unwrap_or(ReviewDecision::Hold);
    let final_verdict = if downgrade { ReviewDecision::Revise } else { computed };
    let said = [
        Some(list_verdicts(&peers)),
        list_changes(&peers),
        Some(describe_count(&counted, computed)),
        describe_pattern(&read_prior_verdicts(&messages.user)),
    ];
    AdjudicatorReply {
        final_verdict,
        reasoning: said.into_iter().flatten().collect::<Vec<_>>().join(" "),
        revision_brief: write_brief(&peers),
        downgrade,
        downgrade_reason: downgrade.then(|| explain_downgrade(&peers)),
    }
}

/// Lists each deliberator's verdict.
fn list_verdicts(peers: &[PeerJudgement]) -> String {
    let blocking = join_names(peers, |peer| peer.judgement.would_block);
    let content = join_names(peers, |peer| !peer.judgement.would_block);
    match (blocking, content) {
        (None, None) => "Nobody was heard.".to_owned(),
        (None, Some(content)) => format!("Nobody would block it: {content} let it pass."),
        (Some(blocking), None) => format!("Everybody would block it: {blocking}."),
        (Some(blocking), Some(content)) => {
            format!("It would be blocked by {blocking}, not by {content}.")
        }
    }
}

/// Lists the deliberators that changed their verdict, with their reasons.
fn list_changes(peers: &[PeerJudgement]) -> Option<String> {
    let is_moved = |peer: &&PeerJudgement| {
        let judgement = &peer.judgement;
        !(judgement.concessions.is_empty() && judgement.escalations.is_empty())
    };
    let moved = peers.iter().filter(is_moved);
    let told = moved.map(|peer| format!("{} said: “{}”", peer.name, peer.judgement.delta_from_r1));
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("At the cross-reading {}", told.join(" ")))
}

fn describe_count(counted: &BlockTally, computed: ReviewDecision) -> String {
    let BlockTally { name, present, blocks, irreducible_blocks, .. } = counted;
    let lasting = match irreducible_blocks {
        0 => String::new(),
        count => format!(", {count} of them for what no revision can lift"),
    };
    let softer = if counted.may_be_downgraded() { ", which I lower to REVISE" } else { "" };
    format!(
        "That is {blocks} of {present}{lasting}; by the policy `{name}` it is {computed}{softer}."
    )
}

/// Describes what the last verdicts on this type have in common.
fn describe_pattern(priors: &[PriorReviewLine]) -> Option<String> {
    let newest = priors.first()?;
    let verdicts: Vec<&str> = priors.iter().map(|prior| prior.verdict.name()).collect();
    let in_a_row = priors.iter().take_while(|prior| prior.verdict != FinalVerdict::Ship).count();
    let told = format!(
        "Prior verdicts on this type, newest first: {} (the newest on `{}`).",
        verdicts.join(", "),
        newest.artifact
    );
    Some(if in_a_row >= PATTERN_MIN {
        format!("{told} The last {in_a_row} did not ship: whoever writes these should look at why.")
    } else {
        told
    })
}

fn explain_downgrade(peers: &[PeerJudgement]) -> String {
    let blocking =
        join_names(peers, |peer| peer.judgement.would_block && !peer.judgement.irreducible);
    let blocking = blocking.unwrap_or_else(|| "nobody".to_owned());
    format!("What {blocking} would block for is lifted by the changes in the brief.")
}

/// Lists the changes to make, without duplicates, permanent blocks first.
fn write_brief(peers: &[PeerJudgement]) -> String {
    let mut ordered: Vec<&PeerJudgement> = peers.iter().collect();
    ordered.sort_by_key(|peer| std::cmp::Reverse(peer.judgement.block_level()));
    let mut items: Vec<(&str, String)> = Vec::new();
    for cited in ordered.iter().flat_map(|peer| &peer.concerns) {
        let fix = cited.concern.fix.as_str();
        if fix.is_empty() || items.iter().any(|(known, _)| *known == fix) {
            continue;
        }
        let place = format_location(&cited.concern.locus);
        items.push((fix, format!("{}. {place}{fix} (`{}`)", items.len() + 1, cited.id)));
    }
    let lines = items.into_iter().take(BRIEF_ITEMS_MAX).map(|(_, line)| line);
    lines.collect::<Vec<_>>().join("\n")
}

/// Formats a location: quotes a text, names a line.
fn format_location(locus: &str) -> String {
    match locus {
        "" => String::new(),
        line if line.starts_with('L') && !line.contains(' ') => format!("At {line}: "),
        words => format!("At “{words}”: "),
    }
}

fn join_names(peers: &[PeerJudgement], which: impl Fn(&PeerJudgement) -> bool) -> Option<String> {
    let names: Vec<&str> =
        peers.iter().filter(|peer| which(peer)).map(|peer| peer.name.as_str()).collect();
    let (last, first) = names.split_last()?;
    Some(match first {
        [] => (*last).to_owned(),
        first => format!("{} and {last}", first.join(", ")),
    })
}
