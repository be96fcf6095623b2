//! The rehearsed review. Each deliberator has a list of patterns in `data/rehearsal/review/`; a
//! match is a concern that quotes the document, and a deliberator with a concern blocks.
//!
//! A pattern marked `hold` is a block that no revision lifts; the other deliberators join it in the
//! second round. The adjudicator counts by the policy. Faults that need understanding are not
//! found. Text of the artifact never instructs the panel.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use plenary_core::model::ask::AskMessages;
use plenary_core::protocols::classification::finding::ClassifierAnswer;
use plenary_core::protocols::review::policy::{
    AdjudicatorReply, PolicyName, ReviewDecision, ReviewPolicy,
};
use plenary_core::protocols::review::types::{
    BlockLevel, BuiltInDeliberator, DeliberatorJudgement, DeliberatorVerdict, ReviewConcern,
    ReviewTier, score_names,
};
use regex::{Match, Regex, RegexBuilder};
use serde::Deserialize;

use crate::providers::rehearsal::template::{find_part, parts_of_kind, without_line_numbers};
use crate::providers::transport::CallRequest;

const RULES: &str = include_str!("../../../../../data/rehearsal/review/rules.json");

/// Maximum concerns of a judgement.
const CONCERNS_MAX: usize = 6;

/// A longer line is quoted from the match on.
const QUOTE_CHARS_MAX: usize = 90;

/// Maximum items of a brief.
const BRIEF_ITEMS_MAX: usize = 8;

/// A fault that a deliberator looks for.
#[derive(Deserialize)]
struct FaultRule {
    #[serde(deserialize_with = "read_pattern")]
    pattern: Regex,
    /// A match in the same paragraph excuses the fault.
    #[serde(default, deserialize_with = "read_excuse")]
    unless: Option<Regex>,
    issue: String,
    fix: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    hold: bool,
    /// Names the line instead of quoting it: a judgement must not repeat a key.
    #[serde(default)]
    line_only: bool,
}

fn read_pattern<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Regex, D::Error> {
    let pattern = String::deserialize(source)?;
    let built = RegexBuilder::new(&pattern).case_insensitive(true).build();
    built.map_err(serde::de::Error::custom)
}

fn read_excuse<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Option<Regex>, D::Error> {
    read_pattern(source).map(Some)
}

type RuleTable = BTreeMap<String, Vec<FaultRule>>;

/// The rules of a deliberator; a custom one has those of the skeptic.
fn rules_for(seat: &str) -> &'static [FaultRule] {
    static TABLE: LazyLock<RuleTable> =
        LazyLock::new(|| serde_json::from_str(RULES).unwrap_or_default());
    let own = TABLE.get(seat).or_else(|| TABLE.get(BuiltInDeliberator::Skeptic.name()));
    own.map(Vec::as_slice).unwrap_or_default()
}

/// Builds the judgement of the first round.
pub(crate) fn judge_artifact(request: &CallRequest) -> Option<DeliberatorJudgement> {
    let seat = request.seat.as_str();
    let user = request.messages.user_message();
    let text = &without_line_numbers(find_part(&user, "ARTIFACT").unwrap_or_default());
    let found: Vec<(&FaultRule, ReviewConcern)> = rules_for(seat)
        .iter()
        .flat_map(|rule| rule.find_concerns(text).into_iter().map(move |concern| (rule, concern)))
        .take(CONCERNS_MAX)
        .collect();
    let irreducible = found.iter().any(|(rule, _)| rule.hold);
    let mut concerns: Vec<ReviewConcern> = found.into_iter().map(|(_, concern)| concern).collect();
    if text.trim().is_empty() {
        let [issue, fix] = ["The document is empty.", "Write it."].map(str::to_owned);
        concerns.push(ReviewConcern { issue, fix, ..ReviewConcern::default() });
    }
    let would_block = !concerns.is_empty();
    let (verdict, score) = match (would_block, irreducible) {
        (_, true) => (DeliberatorVerdict::Hold, 1),
        (true, false) => (DeliberatorVerdict::Revise, 2),
        (false, false) => (DeliberatorVerdict::Ship, 5),
    };
    let names = score_names(seat).map_or_else(|| vec!["readiness"], Vec::from);
    Some(DeliberatorJudgement {
        verdict,
        scores: names.into_iter().map(|name| (name.to_owned(), score)).collect(),
        would_block,
        irreducible,
        revision_brief: list_unique(concerns.iter().map(|concern| &concern.fix)).join(" "),
        concerns,
        concessions: Vec::new(),
        escalations: Vec::new(),
        delta_from_r1: String::new(),
    })
}

impl FaultRule {
    fn find_concerns(&self, text: &str) -> Vec<ReviewConcern> {
        let found = self.pattern.find_iter(text).filter(|found| !self.is_excused(text, found));
        let concerns = found.map(|found| {
            let words = found.as_str().split_whitespace().collect::<Vec<_>>().join(" ");
            ReviewConcern {
                locus: self.quote_place(text, &found),
                issue: self.issue.replace("{match}", &words),
                fix: self.fix.clone(),
                code: self.code.clone(),
            }
        });
        concerns.collect()
    }

    fn is_excused(&self, text: &str, found: &Match<'_>) -> bool {
        let (before, after) = split_around(text, found);
        let paragraph = [
            before.rsplit("\n\n").next().unwrap_or_default(),
            found.as_str(),
            after.split("\n\n").next().unwrap_or_default(),
        ];
        self.unless.as_ref().is_some_and(|excuse| excuse.is_match(&paragraph.concat()))
    }

    /// Quotes the line of the match, so that it can be found in the document.
    fn quote_place(&self, text: &str, found: &Match<'_>) -> String {
        let (before, _) = split_around(text, found);
        if self.line_only {
            return format!("L{}", before.matches('\n').count() + 1);
        }
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let line_from = |start: usize| text.get(start..).and_then(|rest| rest.lines().next());
        let line = line_from(start).unwrap_or_default();
        if line.chars().count() <= QUOTE_CHARS_MAX {
            return line
                .trim_start_matches([' ', '\t', '-', '*', '#', '>', '|', '\\'])
                .trim_end()
                .to_owned();
        }
        let rest = line_from(found.start()).unwrap_or_default();
        let end = rest.char_indices().nth(QUOTE_CHARS_MAX).map_or(rest.len(), |(end, _)| end);
        rest.get(..end).unwrap_or_default().trim_end().to_owned()
    }
}

fn split_around<'a>(text: &'a str, found: &Match<'_>) -> (&'a str, &'a str) {
    let part = |range: Option<&'a str>| range.unwrap_or_default();
    (part(text.get(..found.start())), part(text.get(found.end()..)))
}

fn list_unique<'a>(texts: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut unique: Vec<&str> = Vec::new();
    for text in texts {
        if !unique.contains(&text.as_str()) {
            unique.push(text);
        }
    }
    unique
}

/// A judgement as the other seats see it.
struct PeerJudgement {
    name: String,
    judgement: DeliberatorJudgement,
    concerns: Vec<CitedConcern>,
}

/// A concern with the id for citations.
#[derive(Deserialize)]
struct CitedConcern {
    id: String,
    locus: String,
    fix: String,
}

/// Parses the judgements; those that neutralizing made invalid are skipped.
fn read_peer_judgements(user: &str) -> Vec<PeerJudgement> {
    #[derive(Deserialize)]
    struct JudgementMeta {
        deliberator: String,
        concerns: Vec<CitedConcern>,
    }
    let read = parts_of_kind(user, "JUDGEMENT ").into_iter().filter_map(|(_, text)| {
        let JudgementMeta { deliberator, concerns } = serde_json::from_str(text).ok()?;
        let judgement = serde_json::from_str(text).ok()?;
        Some(PeerJudgement { name: deliberator, judgement, concerns })
    });
    read.collect()
}

/// Builds the judgement of the second round: joins a block that no revision lifts.
pub(crate) fn reconsider_judgement(request: &CallRequest) -> Option<DeliberatorJudgement> {
    let user = &request.messages.user_message();
    let own =
        find_part(user, "YOUR FIRST JUDGEMENT").and_then(|text| serde_json::from_str(text).ok());
    let own: DeliberatorJudgement = own.or_else(|| judge_artifact(request))?;
    let peers = read_peer_judgements(user);
    let is_lasting =
        |peer: &&PeerJudgement| peer.judgement.block_level() == BlockLevel::Irreducible;
    let cited = peers.iter().filter(is_lasting).find_map(|peer| peer.concerns.first());
    let Some(cited) = cited.filter(|_| !own.irreducible) else {
        let delta_from_r1 = "Nothing changed after the second reading.".to_owned();
        return Some(DeliberatorJudgement { delta_from_r1, ..own });
    };
    let id = &cited.id;
    Some(DeliberatorJudgement {
        verdict: DeliberatorVerdict::Hold,
        would_block: true,
        irreducible: true,
        escalations: vec![format!("{id}: no other wording makes this fit to publish.")],
        delta_from_r1: format!("From {} to hold: I join `{id}`.", own.verdict),
        ..own
    })
}

pub(crate) fn adjudicate_review(messages: &AskMessages) -> AdjudicatorReply {
    let peers = read_peer_judgements(&messages.user_message());
    let is_told = |policy: &&PolicyName| messages.system.contains(&format!("`{policy}`"));
    let name = PolicyName::ALL.iter().find(is_told).copied().unwrap_or(PolicyName::Seed);
    // The program checks the minimum of deliberators, not the adjudicator.
    let policy = ReviewPolicy { name, min_deliberators: 1 };
    let tally = policy.count_blocks(peers.iter().map(|peer| &peer.judgement));
    let computed = tally.computed.unwrap_or(ReviewDecision::Hold);
    let downgrade = tally.may_be_downgraded();
    let softer =
        if downgrade { ", lowered to REVISE because a revision lifts the blocks" } else { "" };
    let blocking = peers.iter().filter(|peer| peer.judgement.would_block);
    let blocking = blocking.map(|peer| peer.name.as_str()).collect::<Vec<_>>().join(", ");
    let blocking = if blocking.is_empty() { "none" } else { &blocking };
    AdjudicatorReply {
        final_verdict: if downgrade { ReviewDecision::Revise } else { computed },
        reasoning: format!(
            "Rehearsed verdict, no model read the document. Deliberators that block: {blocking} \
             ({} of {}). The policy `{name}` gives {computed}{softer}.",
            tally.blocks, tally.present
        ),
        revision_brief: write_brief(&peers),
        downgrade,
        downgrade_reason: downgrade.then(|| "A revision by the brief lifts the blocks.".to_owned()),
    }
}

/// Words of a document that the rehearsed classifier knows, with their tier; without one it is of
/// tier 1.
const TIER_WORDS: [(&str, u8); 2] = [("draft", 2), ("briefing", 3)];

pub(crate) fn classify_artifact(messages: &AskMessages) -> Option<String> {
    let user = messages.user_message();
    let text = find_part(&user, "ARTIFACT").unwrap_or_default().to_lowercase();
    let known = TIER_WORDS.iter().find(|(word, _)| text.contains(word));
    let (reason, tier) = match known {
        Some((word, tier)) => (format!("The document contains the word “{word}”."), *tier),
        None => ("The document contains no word of another tier.".to_owned(), 1),
    };
    let tier = ReviewTier::try_from(tier).ok()?;
    let reason = format!("Rehearsed answer, no model read the document. {reason}");
    serde_json::to_string(&ClassifierAnswer { reason, tier }).ok()
}

/// Lists the changes to make, without duplicates.
fn write_brief(peers: &[PeerJudgement]) -> String {
    let mut items: Vec<(&str, String)> = Vec::new();
    for CitedConcern { id, locus, fix } in peers.iter().flat_map(|peer| &peer.concerns) {
        if items.len() < BRIEF_ITEMS_MAX && items.iter().all(|(known, _)| known != fix) {
            let place = match locus.as_str() {
                "" => String::new(),
                locus => format!("At “{locus}”: "),
            };
            items.push((fix, format!("{}. {place}{fix} (`{id}`)", items.len() + 1)));
        }
    }
    items.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
#[path = "review_tests.rs"]
mod tests;
