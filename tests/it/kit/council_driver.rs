//! A council without models: the test drives the protocol and the prompts.

use plenary::domain::ask::{Ask, Purpose, TransportKind};
use plenary::domain::change::Change;
use plenary::domain::conclusion::Participant;
use plenary::domain::council::opinion::{Details, Finding, Opinion, Risk};
use plenary::domain::council::review::{Critique, Disagreement, FindingPosition, Review, Target};
use plenary::domain::council::words::{CritiqueType, FindingStand, Level, Mode, Stance};
use plenary::domain::dialogue::{Opening, Protocol};
use plenary::domain::intervention::Intervention;
use plenary::domain::plan::{
    Caps, ContextPack, Delivery, Plan, Price, Quorum, Role, Seat, ShortCircuit, Stakes, Timeouts,
};
use plenary::domain::record::Record;
use plenary::domain::time::Moment;
use plenary::domain::transcript::{Document, Reading, Transcript};
use plenary::prompting::Prepared;
use plenary::protocols::{EntryPart, Protocols, Step};

pub const SECRET: &str = "00112233445566778899aabbccddeeff";

/// A participant's seat; its provider has its name.
pub fn seat(name: &str, model: &str, family: &str) -> Seat {
    Seat {
        name: name.parse().unwrap(),
        provider: name.parse().unwrap(),
        model: model.to_owned(),
        family: family.to_owned(),
        version: "1".to_owned(),
        roles: vec![Role::Participant],
        transports: vec![TransportKind::Rehearsal],
        endpoint: None,
        price: Some(Price {
            input_per_mtok: 1.0,
            output_per_mtok: 2.0,
            source: "configuration".to_owned(),
        }),
        output_tokens_max: 1_000,
        temperature: None,
        timeouts: None,
    }
}

/// The default plan, with the first seat as the chair.
pub fn plan(seats: Vec<Seat>, secret: &str) -> Plan {
    Plan {
        mode: Mode::General,
        chairs: vec![seats[0].name.clone()],
        seats,
        timeouts: Timeouts::default(),
        quorum: Quorum::default(),
        short_circuit: ShortCircuit::default(),
        conclusion: None,
        gate: None,
        stakes: Stakes::Normal,
        delivery: Delivery::Synthesis,
        anonymous_review: true,
        keep_prompts: true,
        caps: Caps::default(),
        secret: secret.to_owned(),
        context: ContextPack::default().into(),
        rehearsal_script: None,
        notes: Vec::new(),
    }
}

/// An opinion with the same text in every text field.
pub fn opinion(text: &str) -> Opinion {
    let text = || text.to_owned();
    Opinion {
        summary: text(),
        details: Details {
            understanding: text(),
            key_considerations: vec![text()],
            recommendation: text(),
            rationale: text(),
        },
        risks: vec![Risk { description: text(), severity: Level::High, mitigation: Some(text()) }],
        assumptions: vec![text()],
        questions: vec![text()],
        confidence: Level::Medium,
        stance: Stance::Approve,
        findings: vec![Finding {
            id: text(),
            title: text(),
            severity: Level::High,
            category: text(),
            location: text(),
            description: text(),
            fix_approach: text(),
        }],
    }
}

/// A review of the opinions with these letters, with the same text in every text field.
pub fn review(letters: &[char], text: &str) -> Review {
    let text = || text.to_owned();
    let target = |letter: &char| Target {
        letter: letter.to_string(),
        rating: 7,
        critiques: vec![Critique {
            critique_type: CritiqueType::Omission,
            message: text(),
            severity: Level::High,
            location: Some(text()),
            suggested_correction: Some(text()),
        }],
        agreement_points: vec![text()],
        disagreement_points: vec![Disagreement {
            topic: text(),
            reviewer_position: text(),
            target_position: text(),
            rationale: text(),
        }],
        finding_positions: vec![FindingPosition {
            id: text(),
            position: FindingStand::Dispute,
            reason: text(),
        }],
    };
    Review { targets: letters.iter().map(target).collect(), would_change_my_opinion: vec![text()] }
}

pub struct Chamber {
    pub transcript: Transcript,
}

impl Chamber {
    pub fn new(question: &str, plan: Plan) -> Self {
        let opening = Opening {
            dialogue_id: "chamber-1".parse().unwrap(),
            title: "Chamber".to_owned(),
            question: Some(question.to_owned()),
            background: None,
            protocol: Protocol::Council,
            rehearsal: false,
            convergence_percent: 100,
            panel_seed: None,
            output_dir: "chamber".to_owned(),
        };
        let changes = [Change::DialogueOpened(opening), Change::RunPlanned(Box::new(plan))];
        Self { transcript: Transcript::begin(moment(), &changes).unwrap() }
    }

    /// The next asks with their prompts; empty when the council is over.
    pub fn ask(&mut self) -> Vec<(Ask, Prepared)> {
        loop {
            let part = match Protocols::built_in().next(&self.transcript) {
                Step::Ask(asks) => return self.prepared(asks),
                Step::Append(mut drafts) if drafts.len() == 1 => drafts.remove(0).parts.remove(0),
                Step::Append(_) | Step::Finish | Step::Stop(_) => return Vec::new(),
            };
            let change = match part {
                EntryPart::Batch(batch) => {
                    let round = batch.round().unwrap();
                    Change::RoundHeld { round, title: None, score: 0, summary: None }
                }
                EntryPart::Change(change) if matches!(*change, Change::ShortcutWeighed(_)) => {
                    *change
                }
                EntryPart::Change(_)
                | EntryPart::Verdict { .. }
                | EntryPart::LogLine(_)
                | EntryPart::FromRecord(_)
                | EntryPart::Converge => return Vec::new(),
            };
            self.take_in(change);
        }
    }

    /// The chair's report, which must be the next step, enters the record.
    pub fn deliver(&mut self) {
        let step = Protocols::built_in().next(&self.transcript);
        let Step::Append(drafts) = step else { panic!("no report: {step:?}") };
        let parts = drafts.into_iter().flat_map(|draft| draft.parts);
        let report = parts.filter_map(|part| {
            let EntryPart::Change(change) = part else { return None };
            Some(*change)
        });
        let mut report = report.filter(|change| matches!(change, Change::ReportGiven(_)));
        self.take_in(report.next().expect("no report"));
    }

    fn prepared(&mut self, asks: Vec<Ask>) -> Vec<(Ask, Prepared)> {
        let with = |ask: Ask| {
            let protocols = Protocols::built_in();
            let prepared = protocols.messages(&self.transcript, None, &ask).unwrap();
            (ask, prepared)
        };
        let prepared: Vec<_> = asks.into_iter().map(with).collect();
        for (ask, prepared) in &prepared {
            self.prepared_as(ask, prepared);
        }
        prepared
    }

    fn prepared_as(&mut self, ask: &Ask, prepared: &Prepared) {
        self.take_in(Change::AskPrepared {
            ask: ask.clone(),
            messages: Some(prepared.messages.clone().into()),
            messages_sha256: None,
            condensed: prepared.condensed.clone(),
        });
    }

    /// Ends the rounds; every seat took part.
    pub fn conclude(&mut self) {
        let seats = self.transcript.plan.participants();
        let participants = seats
            .map(|seat| Participant { agent: seat.name.clone(), version: seat.version.clone() });
        let participants = participants.collect();
        self.take_in(Change::ConclusionBegun { participants });
    }

    /// Asks the first seat for its part of the conclusion.
    pub fn ask_for(
        &mut self,
        purpose: Purpose,
        round: u8,
        record: &Record,
        stricter: Option<&str>,
    ) -> (Ask, Prepared) {
        let ask = Ask {
            id: self.transcript.next_ask_id(),
            round,
            seat: self.transcript.plan.seats[0].name.clone(),
            purpose,
            stricter: stricter.map(str::to_owned),
        };
        let protocols = Protocols::built_in();
        let prepared = protocols.messages(&self.transcript, Some(record), &ask).unwrap();
        self.prepared_as(&ask, &prepared);
        (ask, prepared)
    }

    pub fn answer(&mut self, ask: &Ask, document: Document) {
        let reading = Reading::Read { document, repaired: false, truncated: false };
        self.take_in(Change::ReplyRead { ask: ask.id, reading });
    }

    /// Records a reply that could not be parsed.
    pub fn mumble(&mut self, ask: &Ask, reason: &str) {
        let reading = Reading::Unreadable { reason: reason.to_owned(), refusal: false };
        self.take_in(Change::ReplyRead { ask: ask.id, reading });
    }

    /// Records a refusal, after which the seat is not asked again.
    pub fn decline(&mut self, ask: &Ask) {
        let reading = Reading::Unreadable { reason: "no".to_owned(), refusal: true };
        self.take_in(Change::ReplyRead { ask: ask.id, reading });
    }

    /// Records an intervention of the Principal in this round.
    pub fn intervene(&mut self, round: u8, intervention: Intervention) {
        self.take_in(Change::Intervened { round, intervention });
    }

    pub fn take_in(&mut self, change: Change) {
        self.transcript.add(moment(), &[change]);
    }
}

fn moment() -> Moment {
    Moment::new("2026-02-02T09:00:00Z".parse().unwrap())
}
