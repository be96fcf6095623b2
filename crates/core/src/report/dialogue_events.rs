//! Events that a dialogue has with or without a run: rounds, panels, verdicts, log lines.

use serde::Serialize;

use crate::model::dialogue::{PanelSeatSource, ProtocolKind};
use crate::model::ids::ExpertSlug;
use crate::model::journal::JournalEvent;
use crate::report::events::RunEvent;

/// What the Judge says of a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JudgedRound {
    pub title: Option<String>,
    pub score: i64,
    pub summary: Option<String>,
}

/// A seat of a panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PanelSeatEvent {
    pub expert: ExpertSlug,
    pub source: PanelSeatSource,
}

/// The events of a dialogue without a run, which an agent or a person leads.
pub fn derive_dialogue_events(protocol: ProtocolKind, changes: &[JournalEvent]) -> Vec<RunEvent> {
    changes.iter().filter_map(|change| dialogue_event(protocol, change)).collect()
}

/// The events that a dialogue without a run has, too: rounds, panels and verdicts.
#[expect(clippy::wildcard_enum_match_arm, reason = "derive_event lists every other change")]
pub(crate) fn dialogue_event(protocol: ProtocolKind, change: &JournalEvent) -> Option<RunEvent> {
    Some(match change {
        JournalEvent::RoundRecorded { round, title, score, summary } => RunEvent::RoundHeld {
            round: *round,
            judged: protocol.is_judged().then(|| JudgedRound {
                title: title.clone(),
                score: *score,
                summary: summary.clone(),
            }),
        },
        JournalEvent::PanelSet { round, seats } if protocol.is_judged() => {
            let experts = seats.iter().map(|seat| PanelSeatEvent {
                expert: seat.expert_slug.clone(),
                source: seat.source,
            });
            RunEvent::PanelSet { round: *round, experts: experts.collect() }
        }
        JournalEvent::VerdictGiven(verdict) if protocol.is_judged() => RunEvent::VerdictGiven {
            verdict_id: verdict.verdict_id.clone(),
            verdict_type: verdict.verdict_type,
            recommendation: verdict.recommendation.clone(),
            vote: verdict.vote,
            forced: verdict.forced,
        },
        JournalEvent::VerdictLogged(row) => RunEvent::Logged {
            verdict_id: row.verdict_id.clone(),
            verdict: row.adjudicator.final_verdict,
        },
        JournalEvent::VerdictOverridden(decision) => RunEvent::Overridden(decision.clone()),
        _ => return None,
    })
}
