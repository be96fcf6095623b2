//! Summarises an earlier verdict for the adjudicator, with truncated texts.

use super::plan::PriorVerdict;
use super::row::{LogRow, SeatRow};
use crate::domain::shortened::truncate_within;

/// Enough for the main point; five verdicts must not outweigh the current review.
const TEXT_CHARS_MAX: usize = 500;

/// Four deliberators with five concerns each.
const CONCERNS_MAX: usize = 20;

impl PriorVerdict {
    /// Uses the concerns of the last round, on which the verdict is based.
    pub fn from_row(row: &LogRow) -> Self {
        let last = if row.round2.is_empty() { &row.round1 } else { &row.round2 };
        Self {
            ts: row.ts,
            artifact: truncate_text(&row.artifact),
            producer: row.producer.as_deref().map(truncate_text),
            verdict: row.adjudicator.final_verdict,
            reasoning: truncate_text(&row.adjudicator.reasoning),
            revision_brief: truncate_text(&row.adjudicator.revision_brief),
            concerns: last.iter().flat_map(list_concerns).take(CONCERNS_MAX).collect(),
        }
    }
}

fn list_concerns(seat: &SeatRow) -> Vec<String> {
    let SeatRow::Present { deliberator, judgement, .. } = seat else { return Vec::new() };
    let worded = judgement.concerns.iter().map(|concern| match concern.locus.trim() {
        "" => format!("{deliberator}: {}", concern.issue),
        locus => format!("{deliberator}: {} ({locus})", concern.issue),
    });
    worded.map(|text| truncate_text(&text)).collect()
}

fn truncate_text(text: &str) -> String {
    truncate_within(text, TEXT_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(text: &str) -> LogRow {
        let concern = json!({"locus": text, "issue": text, "fix": text});
        let seat = |name: &str| {
            json!({"deliberator": name, "verdict": "hold", "scores": {}, "would_block": true,
                   "irreducible": false, "concerns": vec![concern.clone(); 9]})
        };
        serde_json::from_value(json!({
            "v": 2, "ts": "2026-05-18T10:00:00Z", "artifact": text, "artifact_type": "post",
            "round1": [seat("skeptic")], "producer": text,
            "round2": [seat("skeptic"), seat("evidence"), seat("strategy"),
                       {"deliberator": "voice", "absent": true, "error_type": "timeout"}],
            "adjudicator": {"final_verdict": "HOLD", "reasoning": text, "revision_brief": text},
        }))
        .unwrap()
    }

    #[test]
    fn every_text_is_cut_and_says_so() {
        let prior = PriorVerdict::from_row(&row(&"ä".repeat(501)));
        let texts = [&prior.artifact, &prior.reasoning, &prior.revision_brief];
        for text in texts.into_iter().chain(&prior.producer).chain(&prior.concerns) {
            assert_eq!(text.chars().count(), 500);
            assert!(text.ends_with('…'), "{text}");
        }
        assert_eq!(prior.concerns.len(), 20, "of twenty-seven");
    }

    #[test]
    fn what_fits_is_whole() {
        let text = "ä".repeat(500);
        let prior = PriorVerdict::from_row(&row(&text));
        assert_eq!((&prior.artifact, &prior.reasoning), (&text, &text));
        let prior = PriorVerdict::from_row(&row("x"));
        assert_eq!(prior.concerns.first().map(String::as_str), Some("skeptic: x (x)"));
    }

    #[test]
    fn a_review_that_had_no_second_round_is_told_by_its_first() {
        let alone = LogRow { round2: Vec::new(), ..row("x") };
        assert_eq!(PriorVerdict::from_row(&alone).concerns.len(), 9);
    }
}
