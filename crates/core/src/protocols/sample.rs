//! A small language for the protocols' tests: one word per event so far, and a short text for the
//! next step. Only this file knows the API.

use crate::model::ask::{
    Ask, AskPurpose, BudgetReservation, CallCost, CallDispatch, CallErrorType, CallFailure,
    CostSource, FinishReason, ModelReply, TransportKind,
};
use crate::model::dialogue::{DialogueOpening, ProtocolKind, TerminalState};
use crate::model::ids::ExpertSlug;
use crate::model::intervention::Intervention;
use crate::model::journal::JournalEvent;
use crate::model::plan::{
    BudgetCaps, ContextPack, DeliveryMode, Plan, QuorumRules, RoundTimeouts, Seat, SeatRole,
    ShortCircuitRules, StakesLevel,
};
use crate::model::run_state::{
    BudgetShortage, ParseOutcome, ReplyDocument, RunState, RunStopReason,
};
use crate::model::time::Moment;
use crate::protocols::conclusion::types::{
    AuditObjection, AuditReply, Conclusion as Ended, ConclusionField, ObjectionSource,
};
use crate::protocols::council::answers::SeatLetters;
use crate::protocols::council::report_types::{ChairReport, ReportConclusion, ReportRationale};
use crate::protocols::council::types::{
    CritiqueType, OpinionAssessment, OpinionDetails, OpinionReply, OpinionStance, PeerCritique,
    PeerReview, QuestionMode, RatingLevel, ReportOutcome,
};
use crate::protocols::protocol::{EntryPart, Protocols, Step};

/// Three participants, of whom `ann` and `bob` may chair.
pub(crate) fn plan() -> Plan {
    let seat = |name: &str, roles: &[SeatRole]| Seat {
        name: name.parse().unwrap(),
        provider: name.parse().unwrap(),
        model: "m".to_owned(),
        family: name.to_owned(),
        version: "1".to_owned(),
        roles: roles.to_vec(),
        transports: vec![TransportKind::Http],
        endpoint: None,
        price: None,
        output_tokens_max: 100,
        temperature: None,
        input_tokens_max: None,
        effort: None,
        lens: None,
        timeouts: None,
    };
    let both = [SeatRole::Participant, SeatRole::Chair];
    Plan {
        mode: QuestionMode::General,
        seats: vec![seat("ann", &both), seat("bob", &both), seat("cid", &[SeatRole::Participant])],
        chairs: ["ann", "bob"].map(|name| name.parse().unwrap()).to_vec(),
        timeouts: RoundTimeouts::default(),
        quorum: QuorumRules::default(),
        conclusion: None,
        short_circuit: ShortCircuitRules::default(),
        review: None,
        alignment: None,
        stakes: StakesLevel::Normal,
        delivery: DeliveryMode::Synthesis,
        anonymous_review: true,
        keep_prompts: true,
        caps: BudgetCaps::default(),
        secret: "0123".to_owned(),
        context: ContextPack::default().into(),
        rehearsal_script: None,
        notes: Vec::new(),
    }
}

pub(crate) fn moment() -> Moment {
    "2026-02-02T09:00:00Z".parse().unwrap()
}

pub(crate) fn begin(plan: Plan) -> RunState {
    let opening = DialogueOpening {
        dialogue_id: "q-00000000".parse().unwrap(),
        title: "Q".to_owned(),
        question: Some("Q?".to_owned()),
        background: None,
        protocol: ProtocolKind::Council,
        rehearsal: false,
        convergence_percent: 100,
        panel_seed: None,
        output_dir: String::new(),
        calibrated: false,
        domain_id: None,
    };
    let changes = [
        JournalEvent::DialogueOpened(opening),
        JournalEvent::RunPlanned(Box::new(plan)),
        JournalEvent::RunStarted { owner: "1".to_owned() },
    ];
    RunState::from_first_entry(moment(), &changes).unwrap()
}

/// Plays a script. `ann1+` answered in favour, `ann1-` answered against, `ann1!` failed, `ann1?`
/// unreadable, `ann1x` refused, `ann1$` not affordable, `ann1…` in flight; `held1` records a round;
/// `weigh` records the next shortcut; `again` resumes the run in another process; `short` stops it
/// for too few answers; `stop` is the stop of the Principal; `report` and `begun` record the report
/// and the begin of the conclusion. Rounds 4 to 7 are those of the conclusion: draft, audit,
/// revision, second audit.
pub(crate) fn play(mut state: RunState, script: &str) -> RunState {
    for word in script.split_whitespace() {
        let changes = match word {
            "again" => vec![JournalEvent::RunStarted { owner: "2".to_owned() }],
            "short" => {
                let stop = RunStopReason::Quorum { round: 1, heard: 0, needed: 2 };
                vec![JournalEvent::RunStopped(stop)]
            }
            "stop" => {
                vec![JournalEvent::Intervened { round: 1, intervention: Intervention::Stop }]
            }
            "begun" => vec![JournalEvent::ConclusionBegun { participants: Vec::new() }],
            "report" => {
                let step = next(&state);
                let given = |change: &&JournalEvent| matches!(change, JournalEvent::ReportGiven(_));
                let report = changes_of(&step).into_iter().find(given);
                vec![report.unwrap_or_else(|| panic!("{}", describe(&step))).clone()]
            }
            "weigh" => {
                let step = next(&state);
                let weighed =
                    |change: &&JournalEvent| matches!(change, JournalEvent::ShortcutRecorded(_));
                let shortcut = changes_of(&step).into_iter().find(weighed);
                vec![shortcut.unwrap_or_else(|| panic!("{}", describe(&step))).clone()]
            }
            held if held.starts_with("held") => {
                let round = held["held".len()..].parse().unwrap();
                vec![JournalEvent::RoundRecorded { round, title: None, score: 0, summary: None }]
            }
            printed => spoken(&state, printed),
        };
        state.apply_events(moment(), &changes);
    }
    state
}

fn spoken(state: &RunState, word: &str) -> Vec<JournalEvent> {
    let (seat, rest) = word.split_at(3);
    let (round, mark) = rest.split_at(1);
    let (seat, round): (ExpertSlug, u8) = (seat.parse().unwrap(), round.parse().unwrap());
    let purpose = [
        AskPurpose::Opinion,
        AskPurpose::PeerReview,
        AskPurpose::Synthesis,
        AskPurpose::Conclusion,
        AskPurpose::Audit,
        AskPurpose::Revision,
        AskPurpose::Audit,
    ][usize::from(round) - 1];
    let stricter = state.last_ask(round, &seat).map(|_| "it was unreadable".to_owned());
    let id = state.next_ask_id();
    let call = state.next_call_id();
    let ask = Ask { id, round, seat: seat.clone(), purpose, retry_reason: stricter };
    let mut changes = vec![JournalEvent::AskPrepared {
        ask,
        messages: None,
        messages_sha256: None,
        condensed: Vec::new(),
    }];
    if mark == "$" {
        changes.push(JournalEvent::AskNotSent { ask: id, shortage: BudgetShortage::Money });
        return changes;
    }
    changes.push(JournalEvent::CallSent(sending(call, id)));
    let failure = || CallFailure {
        error_type: CallErrorType::Network,
        message: "it is down".to_owned(),
        latency_ms: 1,
        refused: None,
        estimated: None,
        arrived: None,
    };
    let unreadable = |refusal| ParseOutcome::Unreadable { reason: "no JSON".to_owned(), refusal };
    let reading = match mark {
        "…" => return changes,
        "!" => {
            changes.push(JournalEvent::CallFailed { call, failure: failure(), gave_up: true });
            return changes;
        }
        "?" => unreadable(false),
        "x" => unreadable(true),
        "+" | "-" => {
            let document = document(state, &seat, round, mark == "+");
            ParseOutcome::Parsed { document, repaired: false, truncated: false }
        }
        other => panic!("no mark {other}"),
    };
    changes.push(JournalEvent::ReplyKept { call, reply: reply() });
    changes.push(JournalEvent::ReplyParsed { ask: id, reading });
    changes
}

/// The first call of an ask.
pub(crate) fn sending(call: u32, ask: u32) -> CallDispatch {
    CallDispatch {
        call,
        ask,
        transport: TransportKind::Http,
        attempt: 1,
        reserved: BudgetReservation::default(),
        fallback: None,
        repeats: None,
        without: Vec::new(),
    }
}

pub(crate) fn reply() -> ModelReply {
    ModelReply {
        text: String::new(),
        usage: None,
        model: None,
        finish: FinishReason::Stop,
        cost: CallCost { usd_micros: None, source: CostSource::Unknown },
        latency_ms: 1,
        structured: false,
        first_byte_ms: None,
    }
}

/// In favour, or against with a grave critique.
fn document(state: &RunState, seat: &ExpertSlug, round: u8, in_favour: bool) -> ReplyDocument {
    match round {
        1 => ReplyDocument::Opinion(Box::new(opinion(seat, in_favour))),
        2 => {
            let letters = SeatLetters::from_plan(&state.plan);
            let others = letters.other_seats(&state.plan, seat);
            let critique = PeerCritique {
                critique_type: CritiqueType::Error,
                message: "wrong".to_owned(),
                severity: RatingLevel::Medium,
                location: None,
                suggested_correction: None,
            };
            let target = |letter: char| OpinionAssessment {
                letter: letter.to_string(),
                rating: 5,
                critiques: if in_favour { Vec::new() } else { vec![critique.clone()] },
                agreement_points: Vec::new(),
                disagreement_points: Vec::new(),
                finding_positions: Vec::new(),
            };
            let targets = others.iter().map(|(letter, _)| target(*letter)).collect();
            ReplyDocument::PeerReview(Box::new(PeerReview {
                targets,
                would_change_my_opinion: Vec::new(),
            }))
        }
        3 => ReplyDocument::Report(Box::new(report(in_favour))),
        4 => ReplyDocument::Conclusion(Box::new(ending("Yes."))),
        6 => ReplyDocument::Revision(Box::new(ending("Yes, but slowly."))),
        _ if in_favour => ReplyDocument::Audit(AuditReply::Pass),
        _ => ReplyDocument::Audit(AuditReply::Flag {
            objections: vec![AuditObjection {
                field: ConclusionField::KeyCondition,
                objection: "nothing supports it".to_owned(),
                by: ObjectionSource::Critic,
            }],
        }),
    }
}

fn opinion(seat: &ExpertSlug, in_favour: bool) -> OpinionReply {
    OpinionReply {
        summary: format!("{seat} thinks so"),
        details: OpinionDetails {
            recommendation: format!("what {seat} wants"),
            ..OpinionDetails::default()
        },
        risks: Vec::new(),
        assumptions: Vec::new(),
        questions: Vec::new(),
        confidence: RatingLevel::High,
        stance: if in_favour { OpinionStance::Approve } else { OpinionStance::Reject },
        findings: Vec::new(),
    }
}

fn ending(recommendation: &str) -> Ended {
    Ended {
        recommendation: recommendation.to_owned(),
        key_condition: "It can be taken back.".to_owned(),
        unresolved_points: Vec::new(),
        review_by: "2026-05-01".parse().unwrap(),
        participants: Vec::new(),
    }
}

fn report(in_favour: bool) -> ChairReport {
    ChairReport {
        conclusion: ReportConclusion {
            outcome: if in_favour { ReportOutcome::Adopt } else { ReportOutcome::Reject },
            statement: "so be it".to_owned(),
            reason: None,
        },
        rationale: ReportRationale {
            summary: "because".to_owned(),
            supporting_opinions: Vec::new(),
            supporting_reviews: Vec::new(),
        },
        disagreements: Vec::new(),
        uncertainties: Vec::new(),
        risks: Vec::new(),
        next_actions: Vec::new(),
        consensus_points: Vec::new(),
        alternatives: Vec::new(),
        verification_plan: Vec::new(),
        findings: Vec::new(),
    }
}

/// The next step by the registry.
pub(crate) fn next(state: &RunState) -> Step {
    Protocols::built_in().next_step(state)
}

/// The plain changes of the entries that a step asks for.
pub(crate) fn changes_of(step: &Step) -> Vec<&JournalEvent> {
    let Step::Append(drafts) = step else { return Vec::new() };
    let parts = drafts.iter().flat_map(|draft| &draft.parts);
    let changes = parts.filter_map(|part| {
        let EntryPart::Change(change) = part else { return None };
        Some(change.as_ref())
    });
    changes.collect()
}

/// The round that a step registers and nothing else.
pub(crate) fn held_round(step: &Step) -> Option<u8> {
    let Step::Append(drafts) = step else { return None };
    let [draft] = drafts.as_slice() else { return None };
    let [EntryPart::Batch(batch)] = draft.parts.as_slice() else { return None };
    batch.round_number()
}

pub(crate) fn describe(step: &Step) -> String {
    match step {
        Step::Ask(asks) => {
            let one = |ask: &Ask| {
                let strict = if ask.retry_reason.is_some() { " strictly" } else { "" };
                format!("{}{strict}", ask.seat)
            };
            let who: Vec<String> = asks.iter().map(one).collect();
            format!("ask {} in round {}", who.join(", "), asks[0].round)
        }
        Step::Append(_) => match (held_round(step), changes_of(step).first()) {
            (Some(round), _) => format!("hold {round}"),
            (None, Some(change)) => describe_change(change),
            (None, None) => "conclude".to_owned(),
        },
        Step::Stop(RunStopReason::Unconcluded { stage, seat, reason }) => {
            format!("stop {stage}: {seat}: {reason}")
        }
        Step::Stop(RunStopReason::Quorum { round, heard, needed }) => {
            format!("stop: {heard} of {needed} in round {round}")
        }
        Step::Stop(stop) => format!("stop: {stop:?}"),
        Step::Finish => "stop: Done".to_owned(),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "protocols write few of the changes")]
fn describe_change(change: &JournalEvent) -> String {
    match change {
        JournalEvent::ShortcutRecorded(weighed) => {
            let how = match (weighed.triggered, weighed.shadow, weighed.would_have_been_right) {
                (false, ..) => "held",
                (true, false, _) => "skipped",
                (true, true, None) => "skipped in shadow",
                (true, true, Some(true)) => "rightly skipped in shadow",
                (true, true, Some(false)) => "wrongly skipped in shadow",
            };
            format!("weigh {}: {how}", weighed.round)
        }
        JournalEvent::ReportGiven(report) => {
            let chair = report.chair_provider.as_ref().map_or("nobody", ExpertSlug::as_str);
            let fallback = if report.fallback { ", a fallback" } else { "" };
            format!("deliver `{}` of {chair}{fallback}", report.report.conclusion.statement)
        }
        JournalEvent::ReviewDecided(ruling) => format!("rule {}", ruling.verdict),
        JournalEvent::Concluded(ending) => {
            let state = ending.terminal_state.map_or("unaudited", TerminalState::name);
            format!("end {state}: {}", ending.conclusion.recommendation)
        }
        change => format!("{change:?}"),
    }
}
