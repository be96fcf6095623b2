//! Interventions of the Principal while a run is active: whisper, directive, stop.

use serde::{Deserialize, Serialize};

use crate::model::ask::ModelReply;
use crate::model::ids::ExpertSlug;
use crate::model::string_enum::words;
use crate::model::time::Moment;

/// An intervention is a short remark, because every later ask repeats it.
pub const INTERVENTION_CHARS_MAX: usize = 4_000;

words! {
    /// The kind of intervention that a caller requests, before validation.
    pub enum InterventionCommand {
        Whisper = "whisper",
        Direct = "direct",
        Stop = "stop",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "intervention", rename_all = "snake_case")]
pub enum Intervention {
    /// Visible to later asks: of all seats, or of one seat only.
    Whisper { text: String, to: Option<ExpertSlug> },
    /// Applies to all seats from the next round on.
    Directive {
        text: String,
        /// The chair model's restatement, in one sentence.
        restatement: Option<DirectiveRestatement>,
        /// False if the Principal did not confirm the restatement; then the directive has no
        /// effect.
        confirmed: bool,
    },
    /// Cancels calls in flight; the run concludes on the answers it has.
    Stop,
}

impl Intervention {
    /// Returns the restatement, whether confirmed or not.
    pub fn restatement(&self) -> Option<&DirectiveRestatement> {
        match self {
            Self::Directive { restatement, .. } => restatement.as_ref(),
            Self::Whisper { .. } | Self::Stop => None,
        }
    }
}

/// Lists the restatements, each once. A confirmed directive repeats the restatement of its
/// unconfirmed predecessor, which was already paid for.
pub fn unique_restatements(
    noted: &[InterventionEntry],
) -> impl Iterator<Item = &DirectiveRestatement> {
    noted.iter().enumerate().filter_map(|(place, one)| {
        let before = noted.get(..place).unwrap_or_default();
        let is_known = is_confirmation(&one.intervention, before);
        one.intervention.restatement().filter(|_| !is_known)
    })
}

/// Returns true if the directive confirms an earlier restatement of the same text.
pub fn is_confirmation(message: &Intervention, before: &[InterventionEntry]) -> bool {
    let Intervention::Directive { text, restatement: Some(sentence), confirmed: true } = message
    else {
        return false;
    };
    find_unconfirmed(before, text) == Some(sentence)
}

/// Finds the restatement of the newest unconfirmed directive with this text.
pub fn find_unconfirmed<'a>(
    before: &'a [InterventionEntry],
    words: &str,
) -> Option<&'a DirectiveRestatement> {
    before.iter().rev().find_map(|noted| match &noted.intervention {
        Intervention::Directive { text, restatement, confirmed: false } if text == words => {
            restatement.as_ref()
        }
        Intervention::Directive { .. } | Intervention::Whisper { .. } | Intervention::Stop => None,
    })
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectiveRestatement {
    pub seat: ExpertSlug,
    pub sentence: String,
    pub reply: ModelReply,
}

/// An intervention with its time and round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterventionEntry {
    pub at: Moment,
    /// The round that was running.
    pub round: u8,
    pub intervention: Intervention,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ask::{CallCost, CostSource, FinishReason};

    /// Builds a directive with this text and restatement.
    fn noted(text: &str, sentence: &str, confirmed: bool) -> InterventionEntry {
        let reply = ModelReply {
            text: sentence.to_owned(),
            usage: None,
            model: None,
            finish: FinishReason::Stop,
            cost: CallCost { usd_micros: Some(7), source: CostSource::Computed },
            latency_ms: 1,
            structured: false,
            first_byte_ms: None,
        };
        let (seat, sentence) = ("ann".parse().unwrap(), sentence.to_owned());
        let restatement = Some(DirectiveRestatement { seat, sentence, reply });
        let intervention =
            Intervention::Directive { text: text.to_owned(), restatement, confirmed };
        InterventionEntry { at: Moment::new(jiff::Timestamp::UNIX_EPOCH), round: 1, intervention }
    }

    #[test]
    fn a_sentence_that_was_confirmed_was_restated_once() {
        let all = [
            noted("cost", "Mind the cost.", false),
            noted("time", "Mind the time.", false),
            noted("cost", "Mind the cost.", true),
            // Confirmed without a matching earlier restatement.
            noted("time", "Be quick.", true),
            noted("risk", "Mind the risk.", true),
        ];
        let paid: Vec<&str> = unique_restatements(&all).map(|one| one.sentence.as_str()).collect();
        assert_eq!(paid, ["Mind the cost.", "Mind the time.", "Be quick.", "Mind the risk."]);
        let newest = find_unconfirmed(&all, "cost").map(|one| one.sentence.as_str());
        assert_eq!((newest, find_unconfirmed(&all, "risk")), (Some("Mind the cost."), None));
    }
}
