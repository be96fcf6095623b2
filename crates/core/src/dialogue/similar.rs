//! `similar`: ranks dialogues that resemble a query.
//!
//! The store returns a bounded number of matching texts; this module ranks them.

use serde::Serialize;

use crate::model::ids::DialogueId;
use crate::model::queries::{SearchField, TextHit};

/// Default number of candidate texts to request from the store. It is enough to rank, and constant,
/// so a larger store answers as fast.
pub const CANDIDATES_DEFAULT: usize = 100;

/// Further query words improve no result and cost time.
const WORDS_MAX: usize = 16;

/// Length of the snippet around the first matching word.
const SNIPPET_CHARS: usize = 160;

/// A dialogue that resembles the query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SimilarDialogue {
    pub dialogue_id: DialogueId,
    pub title: String,
    /// The field that matched best.
    pub matched: SearchField,
    pub snippet: String,
    pub score: f64,
    /// The rehearsal panel answered; no model was asked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rehearsal: bool,
}

/// The words of a query, each safe to pass to the full-text engine as a phrase.
pub fn search_words(query: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in split_words(query) {
        if !words.contains(&word) {
            words.push(word);
        }
        if words.len() == WORDS_MAX {
            break;
        }
    }
    words
}

fn split_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// Returns one result per dialogue, best first. The scores of its matching texts are added up.
pub fn rank_hits(words: &[String], hits: Vec<TextHit>, limit: usize) -> Vec<SimilarDialogue> {
    let mut results: Vec<(f64, SimilarDialogue)> = Vec::new();
    for hit in hits {
        let score = field_weight(hit.field) * word_coverage(words, &hit.body);
        match results.iter_mut().find(|(_, result)| result.dialogue_id == hit.dialogue_id) {
            Some((best, result)) => {
                result.score += score / 2.0;
                if score > *best {
                    *best = score;
                    result.matched = hit.field;
                    result.snippet = extract_snippet(words, &hit.body);
                }
            }
            None => {
                let snippet = extract_snippet(words, &hit.body);
                let TextHit { dialogue_id, title, field: matched, rehearsal, .. } = hit;
                let found =
                    SimilarDialogue { dialogue_id, title, matched, snippet, score, rehearsal };
                results.push((score, found));
            }
        }
    }
    let mut ranked: Vec<SimilarDialogue> = results.into_iter().map(|(_, result)| result).collect();
    ranked.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then_with(|| a.dialogue_id.cmp(&b.dialogue_id))
    });
    ranked.truncate(limit);
    for result in &mut ranked {
        result.score = (result.score * 1_000.0).round() / 1_000.0;
    }
    ranked
}

/// A title counts most, a single claim least.
fn field_weight(field: SearchField) -> f64 {
    match field {
        SearchField::Title => 4.0,
        SearchField::Question | SearchField::Conclusion => 3.0,
        SearchField::Tension => 2.0,
        SearchField::Claim => 1.0,
    }
}

/// Share of the query words in a text. The engine matches stems, so a common beginning counts as a
/// match.
fn word_coverage(words: &[String], body: &str) -> f64 {
    let present: Vec<String> = split_words(body).collect();
    let found =
        words.iter().filter(|word| present.iter().any(|other| shares_stem(word, other))).count();
    // Every returned text matched at least one word, perhaps by accent folding.
    found.max(1) as f64 / words.len().max(1) as f64
}

/// Whether two words share a stem, such as `mandates` and `mandate`.
fn shares_stem(a: &str, b: &str) -> bool {
    const STEM_CHARS_MIN: usize = 4;
    let common = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
    let shorter = a.chars().count().min(b.chars().count());
    a == b || (common >= STEM_CHARS_MIN && common + 1 >= shorter)
}

/// The text around the first matching word, on one line.
fn extract_snippet(words: &[String], body: &str) -> String {
    let flat: Vec<&str> = body.split_whitespace().collect();
    let holds =
        |piece: &&str| split_words(piece).any(|p| words.iter().any(|word| shares_stem(word, &p)));
    let found = flat.iter().position(holds).unwrap_or(0);
    // Start a few words earlier.
    let start = found.saturating_sub(4);
    let mut text = if start > 0 { "… ".to_owned() } else { String::new() };
    for (place, piece) in flat.iter().enumerate().skip(start) {
        if text.chars().count() + piece.chars().count() > SNIPPET_CHARS {
            text.extend(piece.chars().take(if place == found { SNIPPET_CHARS } else { 0 }));
            text.push('…');
            return text;
        }
        text.push_str(piece);
        text.push(' ');
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(id: &str, field: SearchField, body: &str) -> TextHit {
        let (dialogue_id, title, body) = (id.parse().unwrap(), id.into(), body.into());
        TextHit { dialogue_id, title, field, body, rehearsal: false }
    }

    #[test]
    fn what_a_dialogue_is_about_counts_more_than_what_was_said_in_it() {
        let words = search_words("income mandate");
        let hits = vec![
            hit("aside", SearchField::Claim, "the income mandate is met"),
            hit("about", SearchField::Title, "Income mandates"),
            hit("half", SearchField::Title, "Income"),
        ];
        let ranked: Vec<String> =
            rank_hits(&words, hits, 10).iter().map(|r| r.dialogue_id.to_string()).collect();
        assert_eq!(ranked, ["about", "half", "aside"]);
    }

    #[test]
    fn words_are_plain_words() {
        assert_eq!(search_words("\"a\" OR b* NEAR(c) a"), ["a", "or", "b", "near", "c"]);
        assert!(search_words("?!").is_empty());
    }

    #[test]
    fn a_snippet_begins_near_the_word_and_stays_short() {
        let body = format!("{} mandate {}", "before ".repeat(50), "after ".repeat(50));
        let snippet = extract_snippet(&["mandate".into()], &body);
        assert!(snippet.starts_with("… before before before before mandate after"));
        assert!(snippet.chars().count() <= SNIPPET_CHARS + 2, "{snippet}");
    }
}
