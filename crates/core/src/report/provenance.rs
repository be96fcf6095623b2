//! Where a part of the record comes from: the reply, the passage in it, and the journal entry.
//!
//! An entity comes from the replies of its contributors in its round. A field of the conclusion
//! comes from the reviser if it was revised, else from the Synthesizer. A verdict comes from the
//! adjudicator of a review, the chair of a council or the Judge of an alignment dialogue. The
//! critic's objections and the chair's report have their own replies.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::model::ask::AskPurpose;
use crate::model::entity::Entity;
use crate::model::ids::{ClaimSource, EntityId, ExpertSlug};
use crate::model::journal::{JournalEntry, JournalEvent};
use crate::model::record::{DialogueRecord, RecordedVerdict};
use crate::model::verdict::Verdict;
use crate::protocols::conclusion::types::{Conclusion, ConclusionField, ConclusionResult};
use crate::report::calls::CallDocument;
use crate::report::text_search::{SearchedReply, TextRange};

/// Passages of one reply that are listed.
const PASSAGES_MAX: usize = 24;

/// Where a part of the record comes from, and what rests on it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProvenanceDocument {
    /// The id of the part.
    pub entity: String,
    /// Its text in the record.
    pub text: String,
    pub sources: Vec<ProvenanceSource>,
    pub used_in: Vec<ProvenanceUse>,
}

/// A passage of a reply.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProvenanceSource {
    /// None for a reply that a Judge registered.
    pub call: Option<u32>,
    pub seat: ExpertSlug,
    pub round: u8,
    /// In characters of the raw reply. Both are 0 if the words of the record are not in the reply.
    pub start: usize,
    pub end: usize,
    pub quote: String,
    /// The entry that recorded the reply, and its hash.
    pub journal_seq: Option<u64>,
    pub hash: Option<String>,
}

/// A part of the record that refers to this one.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct ProvenanceUse {
    /// `entity`, `verdict` or `conclusion`.
    pub kind: &'static str,
    pub id: String,
}

/// A part of the record that has a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProvenanceTarget {
    Entity(EntityId),
    Conclusion(ConclusionField),
    Verdict(String),
    /// The objections of the first or the second audit.
    Audit(usize),
    /// The chair's report of a council.
    CouncilReport,
}

impl ProvenanceTarget {
    /// Parses `P0101`, `conclusion.recommendation`, `verdict.report`, `audit.1` or
    /// `council.report`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once('.') {
            Some(("conclusion", field)) => ConclusionField::named(field).map(Self::Conclusion),
            Some(("verdict", id)) => Some(Self::Verdict(id.to_owned())),
            Some(("audit", number)) => number.parse().ok().map(Self::Audit),
            Some(("council", "report")) => Some(Self::CouncilReport),
            Some(_) => None,
            None => text.parse().ok().map(Self::Entity),
        }
    }
}

/// What the sources are looked up in.
#[derive(Debug, Clone, Copy)]
pub struct ProvenanceInput<'a> {
    pub record: &'a DialogueRecord,
    pub calls: &'a [CallDocument],
    pub journal: &'a [JournalEntry],
    /// Hashes of the journal entries, by number.
    pub hashes: &'a BTreeMap<u64, String>,
}

/// A reply that a part may come from.
struct SourceReply<'a> {
    call: Option<u32>,
    seat: &'a ExpertSlug,
    round: u8,
    raw: &'a str,
}

impl<'a> ProvenanceInput<'a> {
    /// The provenance of a part; none if the record does not have it.
    pub fn find(&self, target: &ProvenanceTarget) -> Option<ProvenanceDocument> {
        let (entity, texts, replies) = match target {
            ProvenanceTarget::Entity(id) => {
                let entity = self.record.find_entity(*id)?;
                (id.to_string(), entity_texts(entity), self.entity_replies(entity))
            }
            ProvenanceTarget::Conclusion(field) => {
                let ending = &self.record.conclusion.as_ref()?.ending;
                let texts = field_texts(&ending.conclusion, *field);
                (format!("conclusion.{field}"), texts, self.conclusion_replies(ending, *field))
            }
            ProvenanceTarget::Verdict(id) => {
                let is_it = |given: &&RecordedVerdict| given.verdict.verdict_id.as_str() == id;
                let verdict = &self.record.verdicts.iter().find(is_it)?.verdict;
                (format!("verdict.{id}"), verdict_texts(verdict), self.verdict_replies(verdict))
            }
            ProvenanceTarget::Audit(number) => {
                let mut audits = self.parsed_calls(AskPurpose::Audit);
                let call = audits.nth(number.checked_sub(1)?)?;
                self.whole_reply(format!("audit.{number}"), call)?
            }
            ProvenanceTarget::CouncilReport => {
                let call = self.parsed_calls(AskPurpose::Synthesis).last()?;
                self.whole_reply("council.report".to_owned(), call)?
            }
        };
        let list = |replies: &[SourceReply<'a>]| -> Vec<ProvenanceSource> {
            replies.iter().flat_map(|reply| self.list_sources(reply, &texts)).collect()
        };
        let mut sources = list(&replies);
        if sources.iter().all(|source| source.quote.is_empty()) {
            let merged = list(&self.merging_replies(target)).into_iter();
            sources.splice(0..0, merged.filter(|source| !source.quote.is_empty()));
        }
        Some(ProvenanceDocument {
            sources,
            used_in: self.list_uses(target),
            text: texts.join("\n"),
            entity,
        })
    }

    /// The replies of an entity's contributors in its round: those that Plenary parsed, or those
    /// that a Judge registered.
    fn entity_replies(&self, entity: &'a Entity) -> Vec<SourceReply<'a>> {
        let seats = entity.contributors.iter();
        seats.flat_map(|seat| self.seat_replies(seat, entity.id.round)).collect()
    }

    /// The replies of a seat in a round.
    fn seat_replies(&self, seat: &'a ExpertSlug, round: u8) -> Vec<SourceReply<'a>> {
        let calls = self.calls.iter().filter(|call| call.round == round && call.seat == *seat);
        let parsed = calls.filter(|call| call.parse.is_some()).filter_map(to_source);
        let mut replies: Vec<SourceReply<'a>> = parsed.collect();
        let expert = self.record.find_expert(seat).filter(|_| replies.is_empty());
        let kept = expert.and_then(|expert| expert.replies.get(&round));
        replies.extend(kept.map(|raw| SourceReply { call: None, seat, round, raw }));
        replies
    }

    /// The Judge's replies of an entity's round: a Judge that merges contributions writes the text of
    /// the entity itself.
    fn merging_replies(&self, target: &ProvenanceTarget) -> Vec<SourceReply<'a>> {
        let ProvenanceTarget::Entity(id) = target else { return Vec::new() };
        let is_merge = |call: &&CallDocument| {
            call.round == id.round && call.purpose == AskPurpose::Reconciliation
        };
        let parsed = self.calls.iter().filter(|call| call.parse.is_some());
        parsed.filter(is_merge).filter_map(to_source).collect()
    }

    fn conclusion_replies(
        &self,
        ending: &ConclusionResult,
        field: ConclusionField,
    ) -> Vec<SourceReply<'a>> {
        let revised =
            ending.audit.as_ref().is_some_and(|audit| audit.revised_fields.contains(&field));
        let purpose = if revised { AskPurpose::Revision } else { AskPurpose::Conclusion };
        self.last_reply(&[purpose])
    }

    /// The replies that a verdict comes from: its author's own, if it has an author who gave it, and
    /// that of the seat that decides.
    fn verdict_replies(&self, verdict: &'a Verdict) -> Vec<SourceReply<'a>> {
        let purposes = [AskPurpose::Adjudication, AskPurpose::Synthesis, AskPurpose::Verdicts];
        let words = text_lines(&[&verdict.recommendation, &verdict.description]);
        let has_words = |reply: &SourceReply<'a>| {
            let searched = SearchedReply::new(reply.raw);
            words.iter().any(|text| searched.find(text).is_some())
        };
        let author = verdict.author_expert.as_ref();
        let own = author.into_iter().flat_map(|seat| self.seat_replies(seat, verdict.round));
        let mut replies: Vec<SourceReply<'a>> = own.filter(has_words).collect();
        // The author may be the seat that decides.
        let is_new = |reply: &SourceReply<'a>| {
            reply.call.is_none() || replies.iter().all(|known| known.call != reply.call)
        };
        let decided: Vec<SourceReply<'a>> =
            self.last_reply(&purposes).into_iter().filter(is_new).collect();
        replies.extend(decided);
        replies
    }

    fn parsed_calls(&self, purpose: AskPurpose) -> impl Iterator<Item = &'a CallDocument> {
        let calls = self.calls.iter().filter(move |call| call.purpose == purpose);
        calls.filter(|call| call.parse.is_some())
    }

    /// A part that is all of a reply: its name, its texts and the reply.
    fn whole_reply(
        &self,
        name: String,
        call: &'a CallDocument,
    ) -> Option<(String, Vec<String>, Vec<SourceReply<'a>>)> {
        let mut texts = Vec::new();
        collect_texts(call.parse.as_ref()?.get("document")?, &mut texts);
        Some((name, text_lines(&texts), vec![to_source(call)?]))
    }

    /// The text around a passage, up to `chars_max` characters on each side.
    pub fn context_of(&self, source: &ProvenanceSource, chars_max: usize) -> [String; 2] {
        let raw = match source.call {
            Some(number) => {
                let call = self.calls.iter().find(|call| call.call == number);
                call.and_then(|call| call.raw.as_deref())
            }
            None => {
                let expert = self.record.find_expert(&source.seat);
                expert.and_then(|expert| expert.replies.get(&source.round)).map(String::as_str)
            }
        };
        let raw = raw.unwrap_or_default().chars();
        let start = source.start.saturating_sub(chars_max);
        let before = raw.clone().skip(start).take(source.start - start).collect();
        [before, raw.skip(source.end).take(chars_max).collect()]
    }

    /// The newest parsed reply with one of these purposes.
    fn last_reply(&self, purposes: &[AskPurpose]) -> Vec<SourceReply<'a>> {
        let mut parsed = self.calls.iter().rev().filter(|call| call.parse.is_some());
        let found = parsed.find(|call| purposes.contains(&call.purpose));
        found.and_then(to_source).into_iter().collect()
    }

    /// The passages of a reply with these texts, in the order of the reply.
    fn list_sources(&self, reply: &SourceReply<'_>, texts: &[String]) -> Vec<ProvenanceSource> {
        let searched = SearchedReply::new(reply.raw);
        let mut ranges = searched.find_together(texts);
        ranges.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        // A passage inside another says nothing more.
        let mut end = 0;
        ranges.retain(|range| {
            let is_new = range.end > end;
            end = end.max(range.end);
            is_new
        });
        ranges.truncate(PASSAGES_MAX);
        if ranges.is_empty() {
            ranges.push(TextRange { start: 0, end: 0 });
        }
        let seq = self.reply_entry(reply);
        let source = |range: TextRange| ProvenanceSource {
            call: reply.call,
            seat: reply.seat.clone(),
            round: reply.round,
            start: range.start,
            end: range.end,
            quote: searched.quote(range),
            journal_seq: seq,
            hash: seq.and_then(|seq| self.hashes.get(&seq).cloned()),
        };
        ranges.into_iter().map(source).collect()
    }

    /// The entry that recorded a reply.
    fn reply_entry(&self, reply: &SourceReply<'_>) -> Option<u64> {
        let is_it = |event: &JournalEvent| match reply.call {
            Some(number) => {
                matches!(event, JournalEvent::ReplyKept { call, .. } if *call == number)
            }
            None => matches!(event, JournalEvent::RawReplyKept { round, expert, .. }
                if *round == reply.round && expert == reply.seat),
        };
        self.journal.iter().find(|entry| entry.events.iter().any(is_it)).map(|entry| entry.seq)
    }

    /// What refers to the part.
    fn list_uses(&self, target: &ProvenanceTarget) -> Vec<ProvenanceUse> {
        let ProvenanceTarget::Entity(id) = target else { return Vec::new() };
        let refers = |entity: &&Entity| entity.references.iter().any(|made| made.target == *id);
        let entities = self.record.all_entities().filter(refers);
        let mut uses: Vec<ProvenanceUse> = entities
            .map(|entity| ProvenanceUse { kind: "entity", id: entity.id.to_string() })
            .collect();
        let verdicts = self.record.verdicts.iter().map(|given| &given.verdict);
        uses.extend(
            verdicts.filter(|verdict| verdict_ids(verdict).any(|used| used == id)).map(|verdict| {
                ProvenanceUse { kind: "verdict", id: verdict.verdict_id.to_string() }
            }),
        );
        let conclusion =
            self.record.conclusion.as_ref().map(|concluded| &concluded.ending.conclusion);
        let points = conclusion.into_iter().flat_map(|conclusion| &conclusion.unresolved_points);
        if points.flat_map(|point| &point.claims).any(|claim| claim.id == ClaimSource::Entity(*id))
        {
            let id = format!("conclusion.{}", ConclusionField::UnresolvedPoints);
            uses.push(ProvenanceUse { kind: "conclusion", id });
        }
        uses
    }
}

fn to_source(call: &CallDocument) -> Option<SourceReply<'_>> {
    let raw = call.raw.as_deref()?;
    Some(SourceReply { call: Some(call.call), seat: &call.seat, round: call.round, raw })
}

/// The entities that a verdict names.
pub(crate) fn verdict_ids(verdict: &Verdict) -> impl Iterator<Item = &EntityId> {
    let lists = [
        &verdict.tensions_resolved,
        &verdict.tensions_accepted,
        &verdict.recommendations_adopted,
        &verdict.key_evidence,
        &verdict.key_claims,
    ];
    lists.into_iter().flatten().flatten()
}

/// What a verdict says: the answer, its conditions, and the reasons for each rule of an ethos.
fn verdict_texts(verdict: &Verdict) -> Vec<String> {
    let compliance = verdict.ethos_compliance.as_ref();
    let reasons = compliance.into_iter().flat_map(|compliance| {
        let rules = compliance.rules.iter().filter_map(|rule| rule.reason.as_deref());
        let granted = compliance.exceptions.iter().map(|one| one.justification.as_str());
        rules
            .chain(granted)
            .chain(compliance.violations.iter().map(|one| one.justification.as_str()))
    });
    let texts = [verdict.recommendation.as_str(), verdict.description.as_str()].into_iter();
    let conditions = verdict.conditions.iter().flatten().map(String::as_str);
    text_lines(&texts.chain(conditions).chain(reasons).collect::<Vec<_>>())
}

/// The lines of an entity's label and text.
fn entity_texts(entity: &Entity) -> Vec<String> {
    let mut texts = text_lines(&[&entity.label, &entity.text]);
    // A short text, such as the place `L1` of a concern, counts only as a whole JSON string.
    let after = entity.text.lines().filter_map(|line| line.split_once(": "));
    let short =
        after.map(|(_, rest)| rest.trim()).filter(|text| text.chars().count() < PASSAGE_CHARS_MIN);
    texts.extend(
        short.map(|text| format!("\"{text}\"")).filter(|text| text.len() >= PASSAGE_CHARS_MIN),
    );
    texts
}

/// The lines of texts. The record puts a word before some of them, such as `Fix: …` or `- …`, and
/// cuts long labels; the rest of the line is what the reply says.
fn text_lines(texts: &[&str]) -> Vec<String> {
    let lines = texts.iter().flat_map(|text| text.lines());
    let mut found: Vec<String> = Vec::new();
    for line in lines.map(|line| line.trim().trim_start_matches("- ").trim_end_matches('…').trim())
    {
        let after = line.split_once(": ").map(|(_, rest)| rest.trim());
        for part in [Some(line), after].into_iter().flatten() {
            if part.chars().count() >= PASSAGE_CHARS_MIN && !found.iter().any(|known| known == part)
            {
                found.push(part.to_owned());
            }
        }
    }
    found
}

/// The texts of a parsed reply.
fn collect_texts<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        // A single word is a choice, such as a verdict.
        Value::String(text) => {
            texts.extend(text.contains(char::is_whitespace).then_some(text.as_str()))
        }
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(map) => map.values().for_each(|item| collect_texts(item, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A shorter text stands in many places by chance.
const PASSAGE_CHARS_MIN: usize = 4;

fn field_texts(conclusion: &Conclusion, field: ConclusionField) -> Vec<String> {
    match field {
        ConclusionField::Recommendation => text_lines(&[&conclusion.recommendation]),
        ConclusionField::KeyCondition => text_lines(&[&conclusion.key_condition]),
        ConclusionField::UnresolvedPoints => {
            let points = conclusion.unresolved_points.iter();
            let claims =
                points.clone().flat_map(|point| &point.claims).map(|one| one.claim.as_str());
            text_lines(&points.map(|point| point.point.as_str()).chain(claims).collect::<Vec<_>>())
        }
        ConclusionField::ReviewBy => vec![conclusion.review_by.to_string()],
        ConclusionField::Participants => {
            conclusion.participants.iter().map(|one| one.agent.to_string()).collect()
        }
    }
}
