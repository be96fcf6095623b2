//! [`TopicList`]: what several seats say about one topic becomes one tension.
//!
//! Reviewers word the same dispute differently. Two topics are one if the shorter one has most of
//! its words in common with the other.

use std::collections::BTreeSet;

use crate::model::entity::ReferenceType;
use crate::model::ids::{EntityId, EntityKind, ExpertSlug};
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

/// Words that say nothing about a topic, in the languages that most questions have.
const STOP_WORDS: &str = "about against and any are becomes been being between but can could \
    does for from has have how into its makes more much must need needs not now off one only our \
    out over should than that the their them then there they this too under use using very was \
    were what when where whether which who why will with within without would you your \
    auf aus bei das dem den der des die durch ein eine einer für ist mit nicht oder sich über und \
    von wird zum zur des les pour par sur une avec dans est que qui los las para por una con del";

/// Fewer words in common may be chance.
const COMMON_WORDS_MIN: usize = 2;

impl TopicList {
    /// Adds what a seat says about a topic of an opinion.
    pub(crate) fn add_point(
        &mut self,
        by: &ExpertSlug,
        about: &ExpertSlug,
        topic: &str,
        texts: Vec<String>,
    ) {
        if topic.trim().is_empty() {
            return;
        }
        let words = topic_words(topic);
        let known = self.0.iter_mut().find(|known| is_same_topic(&known.words, &words));
        let Some(known) = known else {
            let (by, about) = (vec![by.clone()], vec![about.clone()]);
            self.0.push(TopicPoints { topic: topic.to_owned(), words, by, about, texts });
            return;
        };
        for (seat, seats) in [(by, &mut known.by), (about, &mut known.about)] {
            if !seats.contains(seat) {
                seats.push(seat.clone());
            }
        }
        for text in texts {
            if !known.texts.contains(&text) {
                known.texts.push(text);
            }
        }
    }

    /// One tension for each topic, by all who raised it. A topic of an earlier tension is a claim
    /// that supports it.
    pub(crate) fn add_to(
        self,
        items: &mut BatchBuilder,
        reference: ReferenceType,
        earlier: &EarlierTopics,
    ) {
        for TopicPoints { topic, by, about, texts, words } in self.0 {
            let Some(first) = by.first() else { continue };
            let (label, text) = (short_phrase(&topic), join_lines(&texts));
            let known = earlier.find_tension(&words);
            let kind = if known.is_some() { EntityKind::Claim } else { EntityKind::Tension };
            items.add_item(first, kind, &label, &text, |item| {
                let item = item.by_experts(&by);
                let item = match known {
                    Some(tension) => item.refer_to_known(ReferenceType::Support, tension),
                    None => item,
                };
                about.iter().fold(item, |item, seat| refer_to_perspective(item, reference, seat))
            });
        }
    }
}

/// The topics of an earlier round, each with its tension on record.
#[derive(Debug, Default)]
pub(crate) struct EarlierTopics(Vec<(BTreeSet<String>, EntityId)>);

impl EarlierTopics {
    /// The tensions stand in the order of the topics. An earlier version may have told topics apart
    /// by another rule; then nothing is known of them.
    pub(crate) fn new(topics: TopicList, tensions: &[EntityId]) -> Self {
        if topics.0.len() != tensions.len() {
            return Self::default();
        }
        let words = topics.0.into_iter().map(|known| known.words);
        Self(words.zip(tensions.iter().copied()).collect())
    }

    fn find_tension(&self, words: &BTreeSet<String>) -> Option<EntityId> {
        self.0.iter().find(|(known, _)| is_same_topic(known, words)).map(|(_, id)| *id)
    }
}

fn topic_words(topic: &str) -> BTreeSet<String> {
    let lower = topic.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_alphanumeric()).filter(|w| !w.is_empty());
    let content: BTreeSet<String> = words
        .clone()
        .filter(|word| word.chars().count() >= WORD_CHARS_MIN)
        .filter(|word| !STOP_WORDS.split_whitespace().any(|stop| stop == *word))
        .map(singular)
        .collect();
    // A topic of short words alone, such as `UI or CLI`, keeps them.
    if content.is_empty() { words.map(str::to_owned).collect() } else { content }
}

/// `costs` and `cost` are one word.
fn singular(word: &str) -> String {
    let stem = word.strip_suffix('s').filter(|stem| stem.len() >= WORD_CHARS_MIN);
    stem.filter(|stem| !stem.ends_with('s')).unwrap_or(word).to_owned()
}

/// Whether they have the same words, or two thirds of the shorter one's words in common; the word of a
/// topic of one word is enough.
fn is_same_topic(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    let (common, shorter) = (a.intersection(b).count(), a.len().min(b.len()));
    a == b || common > 0 && common >= COMMON_WORDS_MIN.min(shorter) && common * 3 >= shorter * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_review_takes_up_the_tension_of_an_opinion() {
        let ann: ExpertSlug = "ann".parse().unwrap();
        let opinions = |topics: &[&str]| {
            let mut list = TopicList::default();
            topics.iter().for_each(|topic| list.add_point(&ann, &ann, topic, Vec::new()));
            list
        };
        let topics = ["It cannot be undone", "Vendor lock-in makes leaving expensive"];
        let tensions = ["T0101", "T0102"].map(|id| id.parse::<EntityId>().unwrap());
        let earlier = EarlierTopics::new(opinions(&topics), &tensions);
        let found = |topic: &str| earlier.find_tension(&topic_words(topic));
        assert_eq!(found("Lock-in to the vendor"), Some(tensions[1]));
        assert_eq!(found("When to begin"), None);
        let unsure = EarlierTopics::new(opinions(&topics), &tensions[..1]);
        assert_eq!(unsure.find_tension(&topic_words(topics[1])), None);
    }

    #[test]
    fn topics_are_the_same_if_most_words_agree() {
        let check = |a: &str, b: &str, expected: bool| {
            assert_eq!(is_same_topic(&topic_words(a), &topic_words(b)), expected, "{a} | {b}");
        };
        check("When to begin", "when to begin?", true);
        check("Cost of the managed cluster", "The cost of a managed cluster", true);
        check("Cost of the cluster", "Cost of the licence", false);
        check("Costs", "Cost of the managed cluster", true);
        check("Timing", "When to migrate (timing)", true);
        check("Timing", "Access", false);
        check("UI or CLI", "ui or cli", true);
        check("UI or CLI", "Price", false);
        check("Zeitpunkt der Umstellung", "Der Zeitpunkt der Umstellung", true);
        let named = "Vendor lock-in makes leaving expensive";
        check(named, "Lock-in to the vendor", true);
        check(named, "Leaving the vendor becomes expensive (lock-in)", true);
        check("Vendor lock-in", "Vendor support", false);
        check("Risk of lost orders at the cutover", "Risk of hiring engineers", false);
    }
}
