//! One line about the result of a council, as a batch prints it.

use crate::protocols::conclusion::phrases::state_label;
use crate::protocols::council::document::CouncilDocument;

/// Labels that a headline must show.
pub fn result_labels(told: &CouncilDocument) -> String {
    let labels = [
        (told.ended.is_over(), state_label(told.ended.terminal_state)),
        (told.rehearsal, "REHEARSAL"),
        (told.flags.degraded, "DEGRADED"),
        (told.flags.truncated, "TRUNCATED"),
        (told.flags.false_consensus, "FALSE CONSENSUS"),
    ];
    let due = labels.iter().filter(|(is_due, _)| *is_due);
    due.map(|(_, label)| format!("[{label}] ")).collect()
}

/// The result in a sentence: the conclusion, why there is none, or the report.
pub fn result_sentence(told: &CouncilDocument) -> String {
    let ended = &told.ended;
    let ending = ended.conclusion.as_ref().map(|given| &given.recommendation);
    if let Some(said) = ending.or(ended.explanation.as_ref()) {
        return said.clone();
    }
    match (&told.error, &told.report) {
        (Some(error), None) => format!("{}: {}", told.status, error.message),
        // The report of a run that stopped while concluding is not a conclusion.
        (Some(error), Some(_)) if ended.stage.is_some() => {
            format!("{}: {}", told.status, error.message)
        }
        (_, Some(report)) => {
            let conclusion = &report.report.conclusion;
            format!("{}: {}", conclusion.outcome, conclusion.statement)
        }
        (None, None) => told.status.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use crate::model::run_state::RunState;
    use crate::protocols::conclusion::sample::{
        clean, critic_failed, cut_short, unaudited, unconverged,
    };
    use crate::protocols::council::document::council_document;

    use super::*;

    #[test]
    fn a_line_of_a_batch_says_how_it_ended() {
        let line = |transcript: &RunState| {
            let told = council_document(transcript);
            result_labels(&told) + &result_sentence(&told)
        };
        let cases = [
            (clean(), "[CLEAN] Put a read-through cache before the catalogue,"),
            (unaudited(), "[UNAUDITED] Put a read-through cache"),
            (unconverged(), "[UNCONVERGED] No conclusion came out"),
            (cut_short(), "[CLEAN] [DEGRADED] Put a"),
            (critic_failed(), "incomplete: the conclusion could not be audited: bob"),
        ];
        for (transcript, start) in cases {
            let line = line(&transcript);
            assert!(line.starts_with(start), "{line}");
        }
    }
}
