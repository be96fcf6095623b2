//! What the Principal does while a deliberation is under way.

use serde::{Deserialize, Serialize};

use super::ask::Reply;
use super::ids::ExpertSlug;
use super::time::Moment;
use super::words::words;

/// A remark, not a document: it goes into every later ask.
pub const TEXT_CHARS_MAX: usize = 4_000;

words! {
    /// What is wanted of a run, before it is held against it.
    pub enum Deed {
        Whisper = "whisper",
        Direct = "direct",
        Stop = "stop",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "intervention", rename_all = "snake_case")]
pub enum Intervention {
    /// Seen by asks that are made later: everybody's, or those of one seat and nobody else's.
    Whisper { text: String, to: Option<ExpertSlug> },
    /// Taken up by all when the next round begins.
    Directive {
        text: String,
        /// How the chair's model understood it, in one sentence.
        restatement: Option<Restatement>,
        /// Restated, and then not meant so, it has no effect.
        confirmed: bool,
    },
    /// Cancels what is in flight; what was heard is concluded on.
    Stop,
}

impl Intervention {
    /// How it was understood, whether it was meant so or not.
    pub fn restatement(&self) -> Option<&Restatement> {
        match self {
            Self::Directive { restatement, .. } => restatement.as_ref(),
            Self::Whisper { .. } | Self::Stop => None,
        }
    }
}

/// How directives were understood, each sentence once: a directive that is confirmed carries the
/// sentence that was restated when it was first said, and that was paid for then.
pub fn restatements(noted: &[Noted]) -> impl Iterator<Item = &Restatement> {
    noted.iter().enumerate().filter_map(|(place, one)| {
        let before = noted.get(..place).unwrap_or_default();
        let is_known = is_confirmation(&one.intervention, before);
        one.intervention.restatement().filter(|_| !is_known)
    })
}

/// Whether somebody says that they mean what was restated to them before.
pub fn is_confirmation(said: &Intervention, before: &[Noted]) -> bool {
    let Intervention::Directive { text, restatement: Some(sentence), confirmed: true } = said
    else {
        return false;
    };
    unconfirmed(before, text) == Some(sentence)
}

/// What the newest directive of these words, not confirmed yet, was understood as.
pub fn unconfirmed<'a>(before: &'a [Noted], words: &str) -> Option<&'a Restatement> {
    before.iter().rev().find_map(|noted| match &noted.intervention {
        Intervention::Directive { text, restatement, confirmed: false } if text == words => {
            restatement.as_ref()
        }
        Intervention::Directive { .. } | Intervention::Whisper { .. } | Intervention::Stop => None,
    })
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restatement {
    pub seat: ExpertSlug,
    pub sentence: String,
    pub reply: Reply,
}

/// An intervention at its place in the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noted {
    pub at: Moment,
    /// The round that was under way.
    pub round: u8,
    pub intervention: Intervention,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ask::{Cost, CostSource, Finish};

    /// A directive of the text, understood as the sentence.
    fn noted(text: &str, sentence: &str, confirmed: bool) -> Noted {
        let reply = Reply {
            text: sentence.to_owned(),
            usage: None,
            model: None,
            finish: Finish::Stop,
            cost: Cost { usd_micros: Some(7), source: CostSource::Computed },
            latency_ms: 1,
            structured: false,
        };
        let (seat, sentence) = ("ann".parse().unwrap(), sentence.to_owned());
        let restatement = Some(Restatement { seat, sentence, reply });
        let intervention =
            Intervention::Directive { text: text.to_owned(), restatement, confirmed };
        Noted { at: Moment::new(jiff::Timestamp::UNIX_EPOCH), round: 1, intervention }
    }

    #[test]
    fn a_sentence_that_was_confirmed_was_restated_once() {
        let all = [
            noted("cost", "Mind the cost.", false),
            noted("time", "Mind the time.", false),
            noted("cost", "Mind the cost.", true),
            // Confirmed at once, and in other words.
            noted("time", "Be quick.", true),
            noted("risk", "Mind the risk.", true),
        ];
        let paid: Vec<&str> = restatements(&all).map(|one| one.sentence.as_str()).collect();
        assert_eq!(paid, ["Mind the cost.", "Mind the time.", "Be quick.", "Mind the risk."]);
        let newest = unconfirmed(&all, "cost").map(|one| one.sentence.as_str());
        assert_eq!((newest, unconfirmed(&all, "risk")), (Some("Mind the cost."), None));
    }
}
