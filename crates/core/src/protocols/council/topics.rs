//! [`TopicList`]: what several seats say about one topic becomes one tension.
//!
//! Reviewers word the same dispute differently. Two topics are one if most of their words agree.

use std::collections::BTreeSet;

use crate::model::entity::ReferenceType;
use crate::model::ids::{EntityKind, ExpertSlug};
use crate::protocols::batch_builder::{BatchBuilder, join_lines, short_phrase};
use crate::protocols::council::to_entities::refer_to_perspective;

/// The topics of a round, in the order in which they came up.
#[derive(Debug, Default)]
pub(crate) struct TopicList(Vec<TopicPoints>);

/// What was said about one topic.
#[derive(Debug)]
struct TopicPoints {
    topic: String,
    words: BTreeSet<String>,
    /// Who raised it; the first one is the author.
    by: Vec<ExpertSlug>,
    /// Whose opinions it is about.
    about: Vec<ExpertSlug>,
    texts: Vec<String>,
}

/// Shorter words say little about a topic.
const WORD_CHARS_MIN: usize = 3;

impl TopicList {
    /// Adds what a seat says about a topic of an opinion.
    pub(crate) fn add_point(
        &mut self,
        by: &ExpertSlug,
        about: &ExpertSlug,
        topic: &str,
        text: String,
    ) {
        if topic.trim().is_empty() {
            return;
        }
        let words = topic_words(topic);
        let known = self.0.iter_mut().find(|known| is_same_topic(&known.words, &words));
        let Some(known) = known else {
            let (by, about) = (vec![by.clone()], vec![about.clone()]);
            self.0.push(TopicPoints {
                topic: topic.to_owned(),
                words,
                by,
                about,
                texts: vec![text],
            });
            return;
        };
        for (seat, seats) in [(by, &mut known.by), (about, &mut known.about)] {
            if !seats.contains(seat) {
                seats.push(seat.clone());
            }
        }
        if !known.texts.contains(&text) {
            known.texts.push(text);
        }
    }

    /// One tension for each topic, by all who raised it.
    pub(crate) fn add_to(self, items: &mut BatchBuilder, reference: ReferenceType) {
        for TopicPoints { topic, by, about, texts, .. } in self.0 {
            let Some(first) = by.first() else { continue };
            let (label, text) = (short_phrase(&topic), join_lines(&texts));
            items.add_item(first, EntityKind::Tension, &label, &text, |item| {
                let item = item.by_experts(&by);
                about.iter().fold(item, |item, seat| refer_to_perspective(item, reference, seat))
            });
        }
    }
}

fn topic_words(topic: &str) -> BTreeSet<String> {
    let lower = topic.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_alphanumeric()).filter(|w| !w.is_empty());
    let long: BTreeSet<String> = words
        .clone()
        .filter(|word| word.chars().count() >= WORD_CHARS_MIN)
        .map(str::to_owned)
        .collect();
    // A topic of short words alone, such as `UI or CLI`, keeps them.
    if long.is_empty() { words.map(str::to_owned).collect() } else { long }
}

/// Whether two thirds of the words of both topics are the same.
fn is_same_topic(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    let (common, all) = (a.intersection(b).count(), a.union(b).count());
    common * 3 >= all * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_the_same_if_most_words_agree() {
        let check = |a: &str, b: &str, expected: bool| {
            assert_eq!(is_same_topic(&topic_words(a), &topic_words(b)), expected, "{a} | {b}");
        };
        check("When to begin", "when to begin?", true);
        check("Cost of the managed cluster", "The cost of a managed cluster", true);
        check("Cost of the cluster", "Cost of the licence", false);
        check("UI or CLI", "ui or cli", true);
        check("UI or CLI", "Price", false);
        check("Zeitpunkt der Umstellung", "Der Zeitpunkt der Umstellung", true);
    }
}
