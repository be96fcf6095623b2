//! The calibration figure of each expert, counted from the Judge's marks.
//!
//! The Judge only points at words of a reply. Code decides what they are worth: −2 for a violation
//! that no tension surfaces, +1 for addressing a rule of the top quarter by priority, +1 for
//! evidence of compliance. The figure stands beside the score and is no part of its total.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ethos::rule_set::{DialogueEthos, EthosRule, parse_rule_id};
use crate::model::ids::ExpertSlug;
use crate::model::string_enum::words;
use crate::model::text::contains_quote;

/// Points for a violation that no tension surfaces.
const VIOLATION_POINTS: i64 = -2;

/// Points for a rule that an expert addresses or gives evidence for.
const MERIT_POINTS: i64 = 1;

/// The share of the rules, by priority, that counts when an expert addresses one.
const TOP_SHARE: usize = 4;

words! {
    /// What the Judge marks in a reply.
    pub enum MarkKind {
        Violation = "violation",
        Addressed = "addressed",
        Evidence = "evidence",
    }
}

/// One mark of the Judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CalibrationMark {
    pub expert_slug: String,
    pub rule_id: String,
    /// Words of the expert's reply.
    pub quote: String,
    #[schemars(schema_with = "crate::model::string_enum::word_schema::<MarkKind>")]
    pub kind: MarkKind,
}

/// A mark that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedMark {
    pub mark: CalibrationMark,
    pub points: i64,
}

/// The figures of a round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CalibrationScore {
    pub experts: BTreeMap<ExpertSlug, i64>,
    pub counted: Vec<CountedMark>,
    /// Why marks were left out.
    pub dropped: Vec<String>,
}

/// Counts the marks of a round. `replies` are the experts' replies, `challenged` the sources of the
/// rules that a tension challenges. The same rule counts once per expert and kind.
pub fn score_calibration(
    marks: &[CalibrationMark],
    ethos: &DialogueEthos,
    replies: &BTreeMap<ExpertSlug, String>,
    challenged: &BTreeSet<String>,
) -> CalibrationScore {
    let mut score = CalibrationScore::default();
    let top = top_priority(ethos);
    let mut seen = BTreeSet::new();
    for mark in marks {
        let checked = check_mark(mark, ethos, replies);
        let (expert, rule) = match checked {
            Ok(found) => found,
            Err(reason) => {
                score.dropped.push(reason);
                continue;
            }
        };
        let points = match mark.kind {
            MarkKind::Violation if challenged.contains(&rule.source_id) => 0,
            MarkKind::Violation => VIOLATION_POINTS,
            MarkKind::Addressed if top.is_some_and(|top| rule.priority >= top) => MERIT_POINTS,
            MarkKind::Addressed => 0,
            MarkKind::Evidence => MERIT_POINTS,
        };
        if seen.insert((expert.clone(), rule.seq, mark.kind)) {
            *score.experts.entry(expert.clone()).or_default() += points;
            score.counted.push(CountedMark { mark: mark.clone(), points });
        }
    }
    score
}

/// The lowest priority in the top quarter of the rules, which has at least one rule.
fn top_priority(ethos: &DialogueEthos) -> Option<u32> {
    let mut priorities: Vec<u32> = ethos.rules_in_force().map(|rule| rule.priority).collect();
    priorities.sort_unstable_by(|a, b| b.cmp(a));
    let top = priorities.len().div_ceil(TOP_SHARE);
    priorities.get(top.checked_sub(1)?).copied()
}

fn check_mark<'a>(
    mark: &CalibrationMark,
    ethos: &'a DialogueEthos,
    replies: &'a BTreeMap<ExpertSlug, String>,
) -> Result<(&'a ExpertSlug, &'a EthosRule), String> {
    let CalibrationMark { expert_slug, rule_id, quote, .. } = mark;
    let reply = replies.iter().find(|(expert, _)| expert.as_str() == expert_slug);
    let (expert, reply) = reply.ok_or_else(|| format!("{expert_slug} has no reply"))?;
    let rule = parse_rule_id(rule_id).and_then(|seq| ethos.find_rule(seq));
    let rule = rule.ok_or_else(|| format!("{rule_id} is no rule in force"))?;
    if !contains_quote(reply, quote) {
        return Err(format!("a quote for {rule_id} does not occur in the reply of {expert}"));
    }
    Ok((expert, rule))
}
