//! The alignment dialogue as a [`Protocol`].
//!
//! A run with a Judge's plan designs, deliberates and judges; then it concludes. A dialogue that an
//! agent leads has no such plan: its run only concludes, as [`ConclusionProtocol`] does.

use std::sync::Arc;

use serde_json::Value;

use crate::ethos::conflict_ask::{
    CONFLICTS_SCHEMA, FIND_CONFLICTS, conflict_messages, parse_conflicts,
};
use crate::markers::extract::extract_reply;
use crate::model::ask::{Ask, AskPurpose};
use crate::model::dialogue::ProtocolKind as ProtocolName;
use crate::model::ids::DialogueId;
use crate::model::journal::JournalEntry;
use crate::model::plan::{Plan, TimeLimit};
use crate::model::record::DialogueRecord;
use crate::model::run_state::{ParseOutcome, ReplyDocument, RunState};
use crate::model::time::Moment;
use crate::parsing::reply::{
    check_length, parse_document, refusal_or_error, to_parse_outcome, unreadable,
};
use crate::parsing::schema::{
    DESIGN_SCHEMA, PANEL_SCHEMA, RECONCILIATION_SCHEMA, ReplyShape, VERDICTS_SCHEMA, drop_field,
    reply_schema,
};
use crate::prompting::layout::RenderedPrompt;
use crate::protocols::alignment::calibrate::draft_ethos;
use crate::protocols::alignment::design::{affordable_panel, check_design};
use crate::protocols::alignment::document::{alignment_document, attendance};
use crate::protocols::alignment::messages::{expert_messages, judge_messages, role_bytes};
use crate::protocols::alignment::next::next_step;
use crate::protocols::alignment::types::{
    ContributionFacts, DesignReply, PANEL_DEFAULT, PANEL_MAX, PanelReply, ROUNDS_ESTIMATED,
    ReconcileReply, VerdictsReply,
};
use crate::protocols::conclusion::document::conclusion_document;
use crate::protocols::conclusion::protocol::ConclusionProtocol;
use crate::protocols::protocol::{
    AskRules, InputSizes, MissingConclusion, PlannedCall, PlannedRound, Protocol, RoleTitles,
    ShownRun, Step,
};
use crate::report::page::{PageModel, PageScope};
use crate::report::record_page::dialogue_page;

/// Rounds led by the built-in Judge, then the conclusion.
#[derive(Debug)]
pub struct AlignmentProtocol;

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the registry passes only asks with a purpose of this protocol"
)]
impl Protocol for AlignmentProtocol {
    fn name(&self) -> ProtocolName {
        ProtocolName::Alignment
    }

    fn purposes(&self) -> &'static [AskPurpose] {
        &[
            AskPurpose::Design,
            FIND_CONFLICTS,
            AskPurpose::Panel,
            AskPurpose::Contribution,
            AskPurpose::Reconciliation,
            AskPurpose::Verdicts,
        ]
    }

    fn next(&self, state: &RunState) -> Step {
        next_step(state).unwrap_or_else(|| ConclusionProtocol.next(state))
    }

    fn ask_rules(&self, purpose: AskPurpose, _round: u8) -> AskRules {
        let rules = match purpose {
            AskPurpose::Design => AskRules::new("design", "Design", TimeLimit::Chair),
            AskPurpose::Panel => AskRules::new("panel", "Panel", TimeLimit::Chair),
            FIND_CONFLICTS => AskRules::new("conflicts", "Ethos", TimeLimit::Chair),
            AskPurpose::Contribution => {
                AskRules::new("contribution", "Experts", TimeLimit::SecondRound)
                    .accepting_cut_replies()
            }
            AskPurpose::Reconciliation => {
                AskRules::new("reconciliation", "Reconciliation and scores", TimeLimit::Chair)
            }
            _ => AskRules::new("verdicts", "Verdicts", TimeLimit::Chair),
        };
        // A budget that ends leaves room for a forced verdict.
        match purpose {
            AskPurpose::Verdicts => rules.with_record(),
            _ => rules.with_record().leaving_last_call(),
        }
    }

    fn render_messages(
        &self,
        state: &RunState,
        record: Option<&DialogueRecord>,
        ask: &Ask,
    ) -> Option<RenderedPrompt> {
        match ask.purpose {
            AskPurpose::Contribution => expert_messages(state, record?, ask),
            FIND_CONFLICTS => {
                let messages =
                    conflict_messages(&state.plan.secret, &draft_ethos(state).ok()?, ask);
                Some(RenderedPrompt { messages, condensed: Vec::new() })
            }
            _ => judge_messages(state, record?, ask),
        }
    }

    /// An expert writes text with markers.
    fn reply_schema(&self, state: &RunState, ask: &Ask) -> Option<Arc<Value>> {
        let shape = match ask.purpose {
            AskPurpose::Design => ReplyShape::Design,
            AskPurpose::Panel => ReplyShape::Panel,
            AskPurpose::Reconciliation => ReplyShape::Reconciliation,
            AskPurpose::Verdicts => ReplyShape::Verdicts,
            FIND_CONFLICTS => return Some(Arc::new(CONFLICTS_SCHEMA.clone())),
            _ => return None,
        };
        let schema = reply_schema(shape, state.plan.mode, &[]);
        let judged = state.alignment.as_deref();
        Some(match judged.and_then(|judged| judged.calibration.approved_ethos()) {
            Some(_) => schema,
            None => Arc::new(without_calibration(&schema)),
        })
    }

    fn parse_reply(&self, _: &RunState, ask: &Ask, text: &str, _: Moment) -> ParseOutcome {
        match ask.purpose {
            AskPurpose::Contribution => parse_contribution(ask, text),
            FIND_CONFLICTS => parse_conflicts(text),
            purpose => parse_judge(purpose, text),
        }
    }

    /// Calls: 1 design + rounds × (experts + reconciliation + panel) − 1 first panel + 1 verdicts.
    fn planned_rounds<'p>(&self, plan: &'p Plan, sizes: &InputSizes) -> Vec<PlannedRound<'p>> {
        planned_rounds(plan, sizes)
    }

    fn role_titles(&self) -> RoleTitles {
        RoleTitles { participant: "Expert", chair: "Judge" }
    }

    fn seats_are_experts(&self) -> bool {
        false
    }

    fn run_document(&self, state: &RunState) -> serde_json::Result<Value> {
        match alignment_document(state)? {
            Some(document) => serde_json::to_value(document),
            None => serde_json::to_value(conclusion_document(state)),
        }
    }

    /// What the record itself does not say: who answered, and why the run stopped.
    fn export_section(
        &self,
        journal: &[JournalEntry],
    ) -> serde_json::Result<Option<(&'static str, Value)>> {
        let state = RunState::from_entries(journal).filter(|state| state.alignment.is_some());
        let document = state.map(|state| self.run_document(&state)).transpose()?;
        let section = document.map(|document| {
            let named =
                |name: &&str| document.get(*name).map(|field| ((*name).to_owned(), field.clone()));
            SECTION_FIELDS.iter().filter_map(named).collect()
        });
        Ok(section.map(|section| ("alignment", section)))
    }

    fn is_degraded(&self, state: &RunState) -> bool {
        let judged = state.alignment.as_deref();
        judged.is_some_and(|judged| !attendance(state, judged).failed.is_empty())
    }

    fn page(&self, shown: &ShownRun<'_>, scope: PageScope) -> PageModel {
        match shown.state.filter(|state| state.alignment.is_some()) {
            Some(state) => dialogue_page(shown.record, Some(state), scope),
            None => ConclusionProtocol.page(shown, scope),
        }
    }

    fn conclusion_document(&self, state: &RunState) -> serde_json::Result<Option<Value>> {
        ConclusionProtocol.conclusion_document(state)
    }

    fn missing_conclusion(&self, id: &DialogueId) -> MissingConclusion {
        ConclusionProtocol.missing_conclusion(id)
    }
}

/// The fields of the run's document that its export has, too.
const SECTION_FIELDS: [&str; 8] = [
    "status",
    "stop_reason",
    "interventions",
    "panel",
    "metrics",
    "transparency",
    "warnings",
    "error",
];

/// The schema for a dialogue without rules.
fn without_calibration(schema: &Value) -> Value {
    let mut schema = schema.clone();
    for field in ["calibration", "ethos_compliance"] {
        drop_field(&mut schema, field);
    }
    schema
}

/// The calls of a plan, for [`ROUNDS_ESTIMATED`] rounds.
fn planned_rounds<'p>(plan: &'p Plan, sizes: &InputSizes) -> Vec<PlannedRound<'p>> {
    let Some(judged) = &plan.alignment else {
        return ConclusionProtocol.planned_rounds(plan, sizes);
    };
    let pool = judged.pool.as_ref().map(|pool| pool.experts.len().max(1));
    let asked = judged.panel_size.unwrap_or(PANEL_DEFAULT).min(pool.unwrap_or(PANEL_MAX));
    rounds_with(plan, sizes, asked.min(affordable_panel(plan, sizes.asked)))
}

/// The calls of a plan with this many seats.
pub(crate) fn rounds_with<'p>(
    plan: &'p Plan,
    sizes: &InputSizes,
    seats: usize,
) -> Vec<PlannedRound<'p>> {
    let Some(judged) = &plan.alignment else { return Vec::new() };
    let Some(judge) = plan.find_seat(&judged.judge) else { return Vec::new() };
    let models: Vec<_> = judged.experts.iter().filter_map(|name| plan.find_seat(name)).collect();
    // `replies` is one reply of every participant of the plan.
    let reply = sizes.replies / models.len().max(1);
    let replies = reply * seats;
    let by_judge = |name, purpose, bytes: usize| {
        let bytes = role_bytes(purpose) + bytes;
        PlannedRound { name, calls: vec![PlannedCall { seat: judge, bytes }] }
    };
    let mut rounds = Vec::new();
    if judged.pool.is_none() {
        rounds.push(by_judge("design", AskPurpose::Design, sizes.asked));
    }
    if judged.calibration.is_some() {
        rounds.push(by_judge("conflicts", FIND_CONFLICTS, sizes.asked));
    }
    let held = usize::from(ROUNDS_ESTIMATED.min(judged.max_rounds));
    let names: [(&str, &str, &str); 3] = [
        ("", "round 0", "reconcile 0"),
        ("panel 1", "round 1", "reconcile 1"),
        ("panel 2", "round 2", "reconcile 2"),
    ];
    for (place, (panel, round, reconcile)) in names.into_iter().take(held).enumerate() {
        let message = sizes.asked + replies * place;
        if place > 0 {
            rounds.push(by_judge(panel, AskPurpose::Panel, message));
        }
        let bytes = role_bytes(AskPurpose::Contribution) + message;
        let experts = models.iter().cycle().take(seats);
        let calls = experts.map(|seat| PlannedCall { seat, bytes }).collect();
        rounds.push(PlannedRound { name: round, calls });
        rounds.push(by_judge(reconcile, AskPurpose::Reconciliation, message + replies));
    }
    rounds.push(by_judge("verdicts", AskPurpose::Verdicts, sizes.asked + replies * held));
    rounds.extend(crate::protocols::conclusion::protocol::planned_rounds(plan, sizes));
    rounds
}

/// What a reply of the Judge says.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the registry passes only asks with a purpose of this protocol"
)]
fn parse_judge(purpose: AskPurpose, text: &str) -> ParseOutcome {
    match purpose {
        AskPurpose::Design => {
            let design =
                parse_document(text, &DESIGN_SCHEMA, |found: &mut DesignReply| check_design(found));
            to_parse_outcome(design, |found| ReplyDocument::Design(Box::new(found)))
        }
        AskPurpose::Panel => {
            let panel = parse_document(text, &PANEL_SCHEMA, |found: &mut PanelReply| {
                match found.seats.is_empty() {
                    true => Err("seats: the list is empty".to_owned()),
                    false => Ok(()),
                }
            });
            to_parse_outcome(panel, |found| ReplyDocument::Panel(Box::new(found)))
        }
        AskPurpose::Reconciliation => {
            let reply =
                parse_document(text, &RECONCILIATION_SCHEMA, |_: &mut ReconcileReply| Ok(()));
            to_parse_outcome(reply, |found| ReplyDocument::Reconciliation(Box::new(found)))
        }
        AskPurpose::Verdicts => {
            let reply = parse_document(text, &VERDICTS_SCHEMA, |_: &mut VerdictsReply| Ok(()));
            to_parse_outcome(reply, |found| ReplyDocument::Verdicts(Box::new(found)))
        }
        _ => unreadable("the Judge is asked for no such document"),
    }
}

/// What an expert's reply contains. A reply without markers is asked for once more; then it stands
/// as a reply that contributes nothing.
fn parse_contribution(ask: &Ask, text: &str) -> ParseOutcome {
    if let Err(fault) = check_length(text) {
        return ParseOutcome::Unreadable { reason: fault.reason, refusal: fault.refusal };
    }
    let read = extract_reply(text, &ask.seat, ask.round);
    let facts = ContributionFacts {
        entities: read.contributions.len(),
        moves: read.moves.len(),
        verdicts: read.verdicts.len(),
    };
    if !facts.is_heard() && ask.retry_reason.is_none() {
        let fault = refusal_or_error(text, "the reply has no markers that can be read".to_owned());
        return ParseOutcome::Unreadable { reason: fault.reason, refusal: fault.refusal };
    }
    let document = ReplyDocument::Contribution(facts);
    ParseOutcome::Parsed { document, repaired: false, truncated: false }
}
