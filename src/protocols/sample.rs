//! A small language for the protocols' tests: one word per event so far, and a short text for the
//! next step. Only this file knows the API.

use crate::domain::ask::{
    Ask, Cost, CostSource, ErrorType, Failure, Finish, Purpose, Reply, Reservation, Sending,
    TransportKind,
};
use serde_json::Value;

use crate::domain::change::{Change, Entry};
use crate::domain::conclusion::{Audit, Auditor, Conclusion as Ended, Field, Objection};
use crate::domain::council::opinion::{Details, Opinion};
use crate::domain::council::report::{Conclusion, Rationale, Report};
use crate::domain::council::review::{Critique, Review, Target};
use crate::domain::council::words::{CritiqueType, Level, Mode, Outcome, Stance};
use crate::domain::dialogue::{Opening, Protocol, TerminalState};
use crate::domain::ids::ExpertSlug;
use crate::domain::intervention::Intervention;
use crate::domain::plan::{
    Caps, ContextPack, Delivery, Plan, Quorum, Role, Seat, ShortCircuit, Stakes, Timeouts,
};
use crate::domain::time::Moment;
use crate::domain::transcript::{Document, Reading, Shortage, Stop, Transcript};
use crate::protocols::council::Letters;
use crate::protocols::{EntryPart, Protocols, Step};
use crate::record::register::Batch;

/// Three participants, of whom `ann` and `bob` may chair.
pub(super) fn plan() -> Plan {
    let seat = |name: &str, roles: &[Role]| Seat {
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
        timeouts: None,
    };
    let both = [Role::Participant, Role::Chair];
    Plan {
        mode: Mode::General,
        seats: vec![seat("ann", &both), seat("bob", &both), seat("cid", &[Role::Participant])],
        chairs: ["ann", "bob"].map(|name| name.parse().unwrap()).to_vec(),
        timeouts: Timeouts::default(),
        quorum: Quorum::default(),
        conclusion: None,
        short_circuit: ShortCircuit::default(),
        gate: None,
        stakes: Stakes::Normal,
        delivery: Delivery::Synthesis,
        anonymous_review: true,
        keep_prompts: true,
        caps: Caps::default(),
        secret: "0123".to_owned(),
        context: ContextPack::default().into(),
        rehearsal_script: None,
        notes: Vec::new(),
    }
}

pub(super) fn moment() -> Moment {
    "2026-02-02T09:00:00Z".parse().unwrap()
}

pub(super) fn begin(plan: Plan) -> Transcript {
    let opening = Opening {
        dialogue_id: "q-00000000".parse().unwrap(),
        title: "Q".to_owned(),
        question: Some("Q?".to_owned()),
        background: None,
        protocol: Protocol::Council,
        rehearsal: false,
        convergence_percent: 100,
        panel_seed: None,
        output_dir: String::new(),
    };
    let changes = [
        Change::DialogueOpened(opening),
        Change::RunPlanned(Box::new(plan)),
        Change::RunStarted { owner: "1".to_owned() },
    ];
    Transcript::begin(moment(), &changes).unwrap()
}

/// Plays a script. `ann1+` answered in favour, `ann1-` answered against, `ann1!` failed, `ann1?`
/// unreadable, `ann1x` refused, `ann1$` not affordable, `ann1…` in flight; `held1` records a round;
/// `weigh` records the next shortcut; `again` resumes the run in another process; `short` stops it
/// for too few answers; `stop` is the stop of the Principal; `report` and `begun` record the report
/// and the begin of the conclusion. Rounds 4 to 7 are those of the conclusion: draft, audit,
/// revision, second audit.
pub(super) fn play(mut transcript: Transcript, script: &str) -> Transcript {
    for word in script.split_whitespace() {
        let changes = match word {
            "again" => vec![Change::RunStarted { owner: "2".to_owned() }],
            "short" => {
                let stop = Stop::Quorum { round: 1, heard: 0, needed: 2 };
                vec![Change::RunStopped(stop)]
            }
            "stop" => {
                vec![Change::Intervened { round: 1, intervention: Intervention::Stop }]
            }
            "begun" => vec![Change::ConclusionBegun { participants: Vec::new() }],
            "report" => {
                let step = next(&transcript);
                let given = |change: &&Change| matches!(change, Change::ReportGiven(_));
                let report = changes_of(&step).into_iter().find(given);
                vec![report.unwrap_or_else(|| panic!("{}", describe(&step))).clone()]
            }
            "weigh" => {
                let step = next(&transcript);
                let weighed = |change: &&Change| matches!(change, Change::ShortcutWeighed(_));
                let shortcut = changes_of(&step).into_iter().find(weighed);
                vec![shortcut.unwrap_or_else(|| panic!("{}", describe(&step))).clone()]
            }
            held if held.starts_with("held") => {
                let round = held["held".len()..].parse().unwrap();
                vec![Change::RoundHeld { round, title: None, score: 0, summary: None }]
            }
            said => spoken(&transcript, said),
        };
        transcript.add(moment(), &changes);
    }
    transcript
}

fn spoken(transcript: &Transcript, word: &str) -> Vec<Change> {
    let (seat, rest) = word.split_at(3);
    let (round, mark) = rest.split_at(1);
    let (seat, round): (ExpertSlug, u8) = (seat.parse().unwrap(), round.parse().unwrap());
    let purpose = [
        Purpose::Opinion,
        Purpose::Review,
        Purpose::Synthesis,
        Purpose::Conclusion,
        Purpose::Audit,
        Purpose::Revision,
        Purpose::Audit,
    ][usize::from(round) - 1];
    let stricter = transcript.last_ask(round, &seat).map(|_| "it was unreadable".to_owned());
    let id = transcript.next_ask_id();
    let call = transcript.next_call_id();
    let ask = Ask { id, round, seat: seat.clone(), purpose, stricter };
    let mut changes = vec![Change::AskPrepared {
        ask,
        messages: None,
        messages_sha256: None,
        condensed: Vec::new(),
    }];
    if mark == "$" {
        changes.push(Change::AskNotSent { ask: id, shortage: Shortage::Money });
        return changes;
    }
    changes.push(Change::CallSent(sending(call, id)));
    let failure = || Failure {
        error_type: ErrorType::Network,
        message: "it is down".to_owned(),
        latency_ms: 1,
    };
    let unreadable = |refusal| Reading::Unreadable { reason: "no JSON".to_owned(), refusal };
    let reading = match mark {
        "…" => return changes,
        "!" => {
            changes.push(Change::CallFailed { call, failure: failure(), gave_up: true });
            return changes;
        }
        "?" => unreadable(false),
        "x" => unreadable(true),
        "+" | "-" => {
            let document = document(transcript, &seat, round, mark == "+");
            Reading::Read { document, repaired: false, truncated: false }
        }
        other => panic!("no mark {other}"),
    };
    changes.push(Change::ReplyKept { call, reply: reply() });
    changes.push(Change::ReplyRead { ask: id, reading });
    changes
}

/// The first call of an ask.
pub(crate) fn sending(call: u32, ask: u32) -> Sending {
    Sending {
        call,
        ask,
        transport: TransportKind::Http,
        attempt: 1,
        reserved: Reservation::default(),
        fallback: None,
        repeats: None,
    }
}

pub(super) fn reply() -> Reply {
    Reply {
        text: String::new(),
        usage: None,
        model: None,
        finish: Finish::Stop,
        cost: Cost { usd_micros: None, source: CostSource::Unknown },
        latency_ms: 1,
        structured: false,
    }
}

/// In favour, or against with a grave critique.
fn document(transcript: &Transcript, seat: &ExpertSlug, round: u8, in_favour: bool) -> Document {
    match round {
        1 => Document::Opinion(Box::new(opinion(seat, in_favour))),
        2 => {
            let letters = Letters::of(&transcript.plan);
            let others = letters.others(&transcript.plan, seat);
            let critique = Critique {
                critique_type: CritiqueType::Error,
                message: "wrong".to_owned(),
                severity: Level::Medium,
                location: None,
                suggested_correction: None,
            };
            let target = |letter: char| Target {
                letter: letter.to_string(),
                rating: 5,
                critiques: if in_favour { Vec::new() } else { vec![critique.clone()] },
                agreement_points: Vec::new(),
                disagreement_points: Vec::new(),
                finding_positions: Vec::new(),
            };
            let targets = others.iter().map(|(letter, _)| target(*letter)).collect();
            Document::Review(Box::new(Review { targets, would_change_my_opinion: Vec::new() }))
        }
        3 => Document::Report(Box::new(report(in_favour))),
        4 => Document::Conclusion(Box::new(ending("Yes."))),
        6 => Document::Revision(Box::new(ending("Yes, but slowly."))),
        _ if in_favour => Document::Audit(Audit::Pass),
        _ => Document::Audit(Audit::Flag {
            objections: vec![Objection {
                field: Field::KeyCondition,
                objection: "nothing supports it".to_owned(),
                by: Auditor::Critic,
            }],
        }),
    }
}

fn opinion(seat: &ExpertSlug, in_favour: bool) -> Opinion {
    Opinion {
        summary: format!("{seat} thinks so"),
        details: Details {
            understanding: String::new(),
            key_considerations: Vec::new(),
            recommendation: format!("what {seat} wants"),
            rationale: String::new(),
        },
        risks: Vec::new(),
        assumptions: Vec::new(),
        questions: Vec::new(),
        confidence: Level::High,
        stance: if in_favour { Stance::Approve } else { Stance::Reject },
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

fn report(in_favour: bool) -> Report {
    Report {
        conclusion: Conclusion {
            outcome: if in_favour { Outcome::Adopt } else { Outcome::Reject },
            statement: "so be it".to_owned(),
            reason: None,
        },
        rationale: Rationale {
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
pub(crate) fn next(transcript: &Transcript) -> Step {
    Protocols::built_in().next(transcript)
}

/// The plain changes of the entries that a step asks for.
pub(crate) fn changes_of(step: &Step) -> Vec<&Change> {
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
    batch.round()
}

pub(super) fn describe(step: &Step) -> String {
    match step {
        Step::Ask(asks) => {
            let one = |ask: &Ask| {
                let strict = if ask.stricter.is_some() { " strictly" } else { "" };
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
        Step::Stop(Stop::Unconcluded { stage, seat, reason }) => {
            format!("stop {stage}: {seat}: {reason}")
        }
        Step::Stop(Stop::Quorum { round, heard, needed }) => {
            format!("stop: {heard} of {needed} in round {round}")
        }
        Step::Stop(stop) => format!("stop: {stop:?}"),
        Step::Finish => "stop: Done".to_owned(),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "protocols write few of the changes")]
fn describe_change(change: &Change) -> String {
    match change {
        Change::ShortcutWeighed(weighed) => {
            let how = match (weighed.triggered, weighed.shadow, weighed.would_have_been_right) {
                (false, ..) => "held",
                (true, false, _) => "skipped",
                (true, true, None) => "skipped in shadow",
                (true, true, Some(true)) => "rightly skipped in shadow",
                (true, true, Some(false)) => "wrongly skipped in shadow",
            };
            format!("weigh {}: {how}", weighed.round)
        }
        Change::ReportGiven(report) => {
            let chair = report.chair_provider.as_ref().map_or("nobody", ExpertSlug::as_str);
            let fallback = if report.fallback { ", a fallback" } else { "" };
            format!("deliver `{}` of {chair}{fallback}", report.report.conclusion.statement)
        }
        Change::Ruled(ruling) => format!("rule {}", ruling.verdict),
        Change::Concluded(ending) => {
            let state = ending.terminal_state.map_or("unaudited", TerminalState::name);
            format!("end {state}: {}", ending.conclusion.recommendation)
        }
        change => format!("{change:?}"),
    }
}

/// Checks the digest of every round that a journal has against the batch that is built today.
pub(super) fn journalled_digests(
    journal: &str,
    id: &str,
    build: fn(&Transcript, u8) -> Batch,
) -> Vec<String> {
    let rows = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let rows = rows.filter(|row| row["dialogue_id"] == id);
    let entries = (1..).zip(rows).map(|(seq, row)| Entry {
        seq,
        kind: row["kind"].as_str().unwrap().parse().unwrap(),
        at: row["ts"].as_str().unwrap().parse().unwrap(),
        changes: serde_json::from_str(row["payload"].as_str().unwrap()).unwrap(),
    });
    let entries: Vec<Entry> = entries.collect();
    let mut digests = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        let answered = entry.changes.iter().find_map(|change| {
            let Change::BatchAnswered { round, batch_sha256, .. } = change else { return None };
            Some((*round, batch_sha256))
        });
        let Some((round, expected)) = answered else { continue };
        // The entry of the round contains the parse results of the last replies.
        let mut state = Transcript::of(&entries[..place]).unwrap();
        let read = |change: &&Change| matches!(change, Change::ReplyRead { .. });
        let read: Vec<Change> = entry.changes.iter().filter(read).cloned().collect();
        state.add(entry.at, &read);
        assert_eq!(build(&state, round).sha256, *expected, "round {round} of {id}");
        digests.push(expected.clone());
    }
    digests
}
