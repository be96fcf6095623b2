//! The artifact as blocks between empty lines, with sentences, phrase search and quotes; the phrase
//! rules and faults; and what else the messages of the rehearsed review contain.

use std::ops::Range;

use plenary_core::model::ask::AskMessages;
use plenary_core::protocols::review::policy::{PolicyName, ReviewVerdict};
use plenary_core::protocols::review::types::{DeliberatorJudgement, ReviewConcern};
use serde::Deserialize;

use crate::providers::rehearsal::prompt::{find_part, named_parts};

/// A longer quote is cut around the match.
const QUOTE_CHARS_MAX: usize = 90;

/// Fence of Markdown code blocks.
const CODE_MARK: &str = "```";

#[derive(Debug)]
pub(crate) struct ArtifactPage<'a> {
    text: &'a str,
    blocks: Vec<PageBlock<'a>>,
}

/// Text between two empty lines.
#[derive(Debug)]
pub(crate) struct PageBlock<'a> {
    text: &'a str,
    /// Lower case, on one line; positions equal those of the text.
    flat: String,
}

/// A match in a block.
#[derive(Debug, Clone)]
pub(crate) struct PhraseHit<'p> {
    block: &'p PageBlock<'p>,
    place: Range<usize>,
}

impl<'a> ArtifactPage<'a> {
    pub(crate) fn from_text(text: &'a str) -> Self {
        let mut blocks = Vec::new();
        let (mut from, mut place, mut in_code) = (0, 0, false);
        for line in text.split_inclusive('\n') {
            let is_mark = line.trim_start().starts_with(CODE_MARK);
            if is_mark || line.trim().is_empty() {
                blocks.extend(PageBlock::from_text(text, from..place).filter(|_| !in_code));
                from = place + line.len();
            }
            in_code ^= is_mark;
            place += line.len();
        }
        blocks.extend(PageBlock::from_text(text, from..place).filter(|_| !in_code));
        Self { text, blocks }
    }

    /// Blocks of prose, without code.
    pub(crate) fn blocks(&self) -> &[PageBlock<'a>] {
        &self.blocks
    }

    /// All lines with their numbers, including code.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &'a str)> {
        (1..).zip(self.text.lines())
    }

    /// Finds the phrases, in the order of the text.
    pub(crate) fn find_hits<'p>(&'p self, phrases: &[&str]) -> Vec<PhraseHit<'p>> {
        self.blocks.iter().flat_map(|block| block.find_hits(phrases)).collect()
    }

    pub(crate) fn has_phrase(&self, phrases: &[&str]) -> bool {
        self.blocks.iter().any(|block| block.has_phrase(phrases))
    }
}

impl<'a> PageBlock<'a> {
    fn from_text(text: &'a str, place: Range<usize>) -> Option<Self> {
        let text = text.get(place).filter(|text| !text.trim().is_empty())?;
        Some(Self { text, flat: text.to_ascii_lowercase().replace('\n', " ") })
    }

    pub(crate) fn flat_text(&self) -> &str {
        &self.flat
    }

    pub(crate) fn full_text(&self) -> &'a str {
        self.text
    }

    pub(crate) fn has_phrase(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.find_places(phrase).next().is_some())
    }

    pub(crate) fn find_hits(&self, phrases: &[&str]) -> Vec<PhraseHit<'_>> {
        let places = phrases.iter().flat_map(|phrase| self.find_places(phrase));
        let mut hits: Vec<PhraseHit<'_>> = places.map(|place| self.hit_at(place)).collect();
        hits.sort_by_key(|hit| hit.place.start);
        hits
    }

    pub(crate) fn hit_at(&self, place: Range<usize>) -> PhraseHit<'_> {
        PhraseHit { block: self, place }
    }

    /// Finds a phrase as a sequence of whole terms, with any white space between them.
    fn find_places(&self, phrase: &str) -> impl Iterator<Item = Range<usize>> {
        let (is_word, first) =
            (phrase.starts_with(char::is_alphanumeric), phrase.split(' ').next().unwrap_or(phrase));
        let found = self.flat.match_indices(first).filter_map(move |(at, _)| {
            let length = phrase_length(self.flat.get(at..)?, phrase)?;
            Some(at..at + length)
        });
        found.filter(move |place| {
            let before = self.flat.get(..place.start).and_then(|text| text.chars().next_back());
            let after = self.flat.get(place.end..).and_then(|text| text.chars().next());
            let joins = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
            !is_word || !(joins(before) || joins(after))
        })
    }

    /// Returns the sentence around a position. A list item, heading or table row starts one.
    fn sentence_range(&self, place: &Range<usize>) -> Range<usize> {
        let before = self.text.get(..place.start).unwrap_or_default();
        let after = self.text.get(place.end..).unwrap_or_default();
        let from = sentence_ends(before).last().unwrap_or(0);
        let to = sentence_ends(after).next().map_or(self.text.len(), |end| place.end + end);
        from..to
    }

    /// Returns the line in which a position starts.
    fn line_range(&self, start: usize) -> Range<usize> {
        let before = self.text.get(..start).unwrap_or_default();
        let from = before.rfind('\n').map_or(0, |place| place + 1);
        let rest = self.text.get(start..).unwrap_or_default();
        from..rest.find('\n').map_or(self.text.len(), |place| start + place)
    }
}

impl<'p> PhraseHit<'p> {
    pub(crate) fn block(&self) -> &'p PageBlock<'p> {
        self.block
    }

    /// The matched text as written.
    pub(crate) fn matched_text(&self) -> String {
        let words = self.block.text.get(self.place.clone()).unwrap_or_default();
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Its sentence, in lower case.
    pub(crate) fn sentence_text(&self) -> &'p str {
        self.block.flat.get(self.block.sentence_range(&self.place)).unwrap_or_default()
    }

    /// The part of its sentence before it, in lower case.
    pub(crate) fn text_before(&self) -> &'p str {
        let from = self.block.sentence_range(&self.place).start;
        self.block.flat.get(from..self.place.start).unwrap_or_default()
    }

    /// The part of its block after it, in lower case.
    pub(crate) fn text_after(&self) -> &'p str {
        self.block.flat.get(self.place.end..).unwrap_or_default()
    }

    /// The part of its sentence on its line, verbatim, so that it can be found in the artifact.
    pub(crate) fn to_quote(&self) -> String {
        let (sentence, line) =
            (self.block.sentence_range(&self.place), self.block.line_range(self.place.start));
        let shown = sentence.start.max(line.start)..sentence.end.min(line.end);
        let text = self.block.text.get(shown.clone()).unwrap_or_default();
        let cut = cut_around(text, self.place.start.saturating_sub(shown.start));
        cut.trim_start_matches(|mark: char| " \t-*#>|\\".contains(mark)).trim_end().to_owned()
    }
}

/// Returns the length of the phrase at the start of a text.
fn phrase_length(text: &str, phrase: &str) -> Option<usize> {
    let mut rest = text;
    for (number, word) in phrase.split(' ').enumerate() {
        let next = rest.trim_start_matches(' ');
        let is_apart = next.len() < rest.len();
        rest = next.strip_prefix(word).filter(|_| number == 0 || is_apart)?;
    }
    Some(text.len() - rest.len())
}

/// Returns the ends of the sentences of a text.
fn sentence_ends(text: &str) -> impl Iterator<Item = usize> {
    const ITEMS: [char; 5] = ['-', '*', '#', '|', '>'];
    let letters = text.char_indices().zip(text.chars().skip(1));
    let ends = letters.filter(|((at, letter), next)| {
        let rest = text.get(at + letter.len_utf8()..).unwrap_or_default();
        match letter {
            '.' | '!' | '?' => next.is_whitespace(),
            '\n' => rest.trim_start_matches(' ').starts_with(ITEMS),
            _ => false,
        }
    });
    ends.map(|((at, letter), _)| at + letter.len_utf8())
}

/// Shortens a text around a position, at spaces.
fn cut_around(text: &str, place: usize) -> &str {
    if text.chars().count() <= QUOTE_CHARS_MAX {
        return text;
    }
    let half = QUOTE_CHARS_MAX / 2;
    let starts = text.char_indices().map(|(at, _)| at);
    let words = starts.filter(|at| {
        text.get(..*at).is_none_or(|before| before.is_empty() || before.ends_with(' '))
    });
    let from = words.take_while(|at| *at <= place).find(|at| place - at <= half).unwrap_or(0);
    let rest = text.get(from..).unwrap_or_default();
    let most = rest.char_indices().nth(QUOTE_CHARS_MAX).map_or(rest.len(), |(at, _)| at);
    let rest = rest.get(..most).unwrap_or_default();
    rest.rfind(' ')
        .filter(|_| most < text.len() - from)
        .map_or(rest, |end| rest.get(..end).unwrap_or_default())
}

/// Severity of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FaultWeight {
    /// Minor; several of them together block.
    Remark,
    /// Blocks until reworded.
    Grave,
    /// Blocks in any wording.
    Lasting,
}

#[derive(Debug, Clone)]
pub(crate) struct PageFault {
    pub(crate) weight: FaultWeight,
    /// Index of the seat's score that it lowers.
    pub(crate) score: usize,
    pub(crate) concern: ReviewConcern,
}

impl PageFault {
    pub(crate) fn new(weight: FaultWeight, score: usize, said: [String; 3]) -> Self {
        let [locus, issue, fix] = said;
        Self { weight, score, concern: ReviewConcern { locus, issue, fix } }
    }
}

/// Judgement of another deliberator.
#[derive(Debug)]
pub(crate) struct PeerJudgement {
    pub(crate) name: String,
    pub(crate) judgement: DeliberatorJudgement,
    pub(crate) concerns: Vec<CitedConcern>,
}

/// A concern with the id for citations.
#[derive(Debug, Deserialize)]
pub(crate) struct CitedConcern {
    pub(crate) id: String,
    #[serde(flatten)]
    pub(crate) concern: ReviewConcern,
}

/// Metadata beside the judgement.
#[derive(Debug, Deserialize)]
struct JudgementMeta {
    deliberator: String,
    #[serde(default)]
    concerns: Vec<CitedConcern>,
}

/// Parses the judgements; those that neutralizing made invalid are skipped.
pub(crate) fn read_peer_judgements(user: &str) -> Vec<PeerJudgement> {
    let read = named_parts(user, "JUDGEMENT ").filter_map(|(_, text)| {
        let JudgementMeta { deliberator, concerns } = serde_json::from_str(text).ok()?;
        Some(PeerJudgement {
            name: deliberator,
            judgement: serde_json::from_str(text).ok()?,
            concerns,
        })
    });
    read.collect()
}

/// Returns the deliberator's own first judgement.
pub(crate) fn read_own_judgement(user: &str) -> Option<DeliberatorJudgement> {
    serde_json::from_str(find_part(user, "YOUR FIRST JUDGEMENT")?).ok()
}

/// Prior verdict on an artifact of the same type; newest first.
#[derive(Debug, Deserialize)]
pub(crate) struct PriorReviewLine {
    pub(crate) verdict: ReviewVerdict,
    pub(crate) artifact: String,
}

pub(crate) fn read_prior_verdicts(user: &str) -> Vec<PriorReviewLine> {
    let lines = find_part(user, "PRIOR VERDICTS").unwrap_or_default().lines();
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Returns the policy the adjudicator is told.
pub(crate) fn read_policy(messages: &AskMessages) -> PolicyName {
    let is_told = |policy: &&PolicyName| messages.system.contains(&format!("`{policy}`"));
    PolicyName::ALL.iter().find(is_told).copied().unwrap_or(PolicyName::Seed)
}

/// Maximum faults of one rule in a judgement.
const FAULTS_PER_RULE_MAX: usize = 3;

/// Terms that make a sentence a norm instead of a claim.
const NORMS: [&str; 6] = ["shall", "must", "may", "at least", "at most", "should"];

/// Terms that negate what follows.
const NEGATIONS: [&str; 7] = ["not", "no", "never", "cannot", "nothing", "neither", "without"];

/// How many terms back a negation counts.
const NEGATION_WORDS: usize = 3;

/// Terms that indicate the source of a figure.
const SOURCE_PHRASES: [&str; 12] = [
    "http",
    "](",
    "source:",
    "according to",
    "table",
    "figure",
    "schedule",
    "appendix",
    "section",
    "measured",
    "we compared",
    "(#",
];

#[derive(Debug, Clone, Copy)]
pub(crate) struct PhraseRule {
    /// In lower case.
    pub(crate) phrases: &'static [&'static str],
    pub(crate) weight: FaultWeight,
    pub(crate) score: usize,
    /// Text that follows the match.
    pub(crate) issue: &'static str,
    pub(crate) fix: &'static str,
    pub(crate) excuse: RuleExcuse,
}

/// Condition under which a phrase is harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleExcuse {
    None,
    /// It is negated, as in `not guaranteed`.
    Negation,
    /// Its block names a source.
    Source,
    /// It is a norm, as in `confidential papers must stay here`.
    Norm,
    /// It is an ordinary term unless in capitals, as in `TODO`.
    SmallLetters,
}

impl PhraseRule {
    pub(crate) fn find_faults(&self, page: &ArtifactPage<'_>) -> Vec<PageFault> {
        let hits = page.find_hits(self.phrases);
        let left = hits.iter().filter(|hit| !self.excuse.applies_to(hit)).take(FAULTS_PER_RULE_MAX);
        left.map(|hit| self.make_fault(hit)).collect()
    }

    fn make_fault(&self, hit: &PhraseHit<'_>) -> PageFault {
        let issue = format!("“{}” {}", hit.matched_text(), self.issue);
        PageFault::new(self.weight, self.score, [hit.to_quote(), issue, self.fix.to_owned()])
    }
}

impl RuleExcuse {
    fn applies_to(self, hit: &PhraseHit<'_>) -> bool {
        match self {
            Self::None => false,
            Self::Negation => is_negated(hit),
            Self::Source => has_source(hit),
            Self::Norm => is_norm(hit),
            Self::SmallLetters => hit.matched_text().chars().any(char::is_lowercase),
        }
    }
}

pub(crate) fn has_source(hit: &PhraseHit<'_>) -> bool {
    let flat = hit.block().flat_text();
    SOURCE_PHRASES.iter().any(|source| flat.contains(source))
}

pub(crate) fn is_norm(hit: &PhraseHit<'_>) -> bool {
    split_words(hit.sentence_text()).any(|word| NORMS.contains(&word))
        || NORMS.iter().any(|norm| norm.contains(' ') && hit.sentence_text().contains(norm))
}

fn is_negated(hit: &PhraseHit<'_>) -> bool {
    let before: Vec<&str> = split_words(hit.text_before()).collect();
    before.iter().rev().take(NEGATION_WORDS).any(|word| NEGATIONS.contains(word))
}

fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A heading\n\nOne is here. Two\nis `there`, and goes on! Three?\n\
                        - an item, guaranteed\n- another\n\n```\nguaranteed()\n\nmore\n```\nafter\n";

    #[track_caller]
    fn check(phrase: &str, expected: &[&str]) {
        let page = ArtifactPage::from_text(TEXT);
        let hits = page.find_hits(&[phrase]);
        assert_eq!(hits.iter().map(PhraseHit::to_quote).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_is_found_is_quoted_from_its_line() {
        check("heading", &["A heading"]);
        check("one", &["One is here."]);
        check("goes on", &["is `there`, and goes on!"]);
        // The sentence began on the previous line, which is quoted on its own.
        check("two is", &["Two"]);
        let page = ArtifactPage::from_text("- there is no\n  risk");
        let hits = page.find_hits(&["no risk"]);
        assert_eq!(
            (hits[0].matched_text().as_str(), hits[0].to_quote().as_str()),
            ("no risk", "there is no")
        );
        check("an item", &["an item, guaranteed"]);
        check("after", &["after"]);
    }

    #[test]
    fn words_are_whole_and_code_is_no_prose() {
        check("thre", &[]);
        check("guaranteed", &["an item, guaranteed"]);
        check("more", &[]);
        let page = ArtifactPage::from_text("a ```\nb");
        assert_eq!(page.blocks().len(), 1);
    }

    #[test]
    fn a_long_sentence_is_cut_around_the_words() {
        let text = format!("{}here it is{}", "word ".repeat(60), " more".repeat(60));
        let page = ArtifactPage::from_text(&text);
        let quote = page.find_hits(&["here it"])[0].to_quote();
        assert!(quote.contains("here it is"), "{quote}");
        assert!(quote.chars().count() <= QUOTE_CHARS_MAX && text.contains(&quote), "{quote}");
        let narrow = "ü".repeat(300);
        assert!(cut_around(&narrow, 200).chars().count() <= QUOTE_CHARS_MAX);
    }
}
