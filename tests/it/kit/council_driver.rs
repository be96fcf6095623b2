//! A council without models: the test drives the protocol and the prompts.

use plenary_core::model::ask::{Ask, AskPurpose, TransportKind};
use plenary_core::model::dialogue::{DialogueOpening, ProtocolKind};
use plenary_core::model::intervention::Intervention;
use plenary_core::model::journal::JournalEvent;
use plenary_core::model::plan::{
    BudgetCaps, ContextPack, DeliveryMode, Plan, QuorumRules, RoundTimeouts, Seat, SeatRole,
    ShortCircuitRules, StakesLevel, TokenPrice,
};
use plenary_core::model::record::DialogueRecord;
use plenary_core::model::run_state::{ParseOutcome, ReplyDocument, RunState};
use plenary_core::model::time::Moment;
use plenary_core::prompting::layout::RenderedPrompt;
use plenary_core::protocols::conclusion::types::ConclusionParticipant;
use plenary_core::protocols::council::types::{
    CritiqueType, FindingPosition, FindingStance, OpinionAssessment, OpinionDetails,
    OpinionFinding, OpinionReply, OpinionRisk, OpinionStance, PeerCritique, PeerDisagreement,
    PeerReview, QuestionMode, RatingLevel,
};
use plenary_core::protocols::protocol::{EntryPart, Protocols, Step};

pub const PLAN_SECRET: &str = "00112233445566778899aabbccddeeff";

/// A participant's seat; its provider has its name.
pub fn make_seat(name: &str, model: &str, family: &str) -> Seat {
    Seat {
        name: name.parse().unwrap(),
        provider: name.parse().unwrap(),
        model: model.to_owned(),
        family: family.to_owned(),
        version: "1".to_owned(),
        roles: vec![SeatRole::Participant],
        transports: vec![TransportKind::Rehearsal],
        endpoint: None,
        price: Some(TokenPrice::new(1.0, 2.0, "configuration")),
        output_tokens_max: 1_000,
        temperature: None,
        input_tokens_max: None,
        effort: None,
        lens: None,
        timeouts: None,
    }
}

/// The default plan, with the first seat as the chair.
pub fn make_plan(seats: Vec<Seat>, secret: &str) -> Plan {
    Plan {
        mode: QuestionMode::General,
        chairs: vec![seats[0].name.clone()],
        seats,
        timeouts: RoundTimeouts::default(),
        quorum: QuorumRules::default(),
        short_circuit: ShortCircuitRules::default(),
        conclusion: None,
        review: None,
        alignment: None,
        stakes: StakesLevel::Normal,
        delivery: DeliveryMode::Synthesis,
        anonymous_review: true,
        keep_prompts: true,
        caps: BudgetCaps::default(),
        secret: secret.to_owned(),
        context: ContextPack::default().into(),
        rehearsal_script: None,
        notes: Vec::new(),
    }
}

/// An opinion with the same text in every text field.
pub fn make_opinion(text: &str) -> OpinionReply {
    let text = || text.to_owned();
    OpinionReply {
        summary: text(),
        details: OpinionDetails {
            understanding: text(),
            key_considerations: vec![text()],
            recommendation: text(),
            rationale: text(),
            ..OpinionDetails::default()
        },
        risks: vec![OpinionRisk {
            description: text(),
            severity: RatingLevel::High,
            mitigation: Some(text()),
        }],
        assumptions: vec![text()],
        questions: vec![text()],
        confidence: RatingLevel::Medium,
        stance: OpinionStance::Approve,
        findings: vec![OpinionFinding {
            id: text(),
            title: text(),
            severity: RatingLevel::High,
            category: text(),
            location: text(),
            description: text(),
            fix_approach: text(),
        }],
    }
}

/// A review of the opinions with these letters, with the same text in every text field.
pub fn make_review(letters: &[char], text: &str) -> PeerReview {
    let text = || text.to_owned();
    let target = |letter: &char| OpinionAssessment {
        letter: letter.to_string(),
        rating: 7,
        critiques: vec![PeerCritique {
            critique_type: CritiqueType::Omission,
            message: text(),
            severity: RatingLevel::High,
            location: Some(text()),
            suggested_correction: Some(text()),
        }],
        agreement_points: vec![text()],
        disagreement_points: vec![PeerDisagreement {
            topic: text(),
            reviewer_position: text(),
            target_position: text(),
            rationale: text(),
        }],
        finding_positions: vec![FindingPosition {
            id: text(),
            position: FindingStance::Dispute,
            reason: text(),
        }],
    };
    PeerReview {
        targets: letters.iter().map(target).collect(),
        would_change_my_opinion: vec![text()],
    }
}

pub struct CouncilDriver {
    pub run_state: RunState,
}

impl CouncilDriver {
    pub fn new(question: &str, plan: Plan) -> Self {
        let opening = DialogueOpening {
            dialogue_id: "chamber-1".parse().unwrap(),
            title: "Chamber".to_owned(),
            question: Some(question.to_owned()),
            background: None,
            protocol: ProtocolKind::Council,
            rehearsal: false,
            convergence_percent: 100,
            panel_seed: None,
            output_dir: "chamber".to_owned(),
            calibrated: false,
            domain_id: None,
        };
        let changes =
            [JournalEvent::DialogueOpened(opening), JournalEvent::RunPlanned(Box::new(plan))];
        Self { run_state: RunState::from_first_entry(fixed_moment(), &changes).unwrap() }
    }

    /// The next asks with their prompts; empty when the council is over.
    pub fn next_asks(&mut self) -> Vec<(Ask, RenderedPrompt)> {
        loop {
            let part = match Protocols::built_in().next_step(&self.run_state) {
                Step::Ask(asks) => return self.render_all(asks),
                Step::Append(mut drafts) if drafts.len() == 1 => drafts.remove(0).parts.remove(0),
                Step::Append(_) | Step::Finish | Step::Stop(_) => return Vec::new(),
            };
            let change = match part {
                EntryPart::Batch(batch) => {
                    let round = batch.round_number().unwrap();
                    JournalEvent::RoundRecorded { round, title: None, score: 0, summary: None }
                }
                EntryPart::Change(change)
                    if matches!(*change, JournalEvent::ShortcutRecorded(_)) =>
                {
                    *change
                }
                EntryPart::Change(_)
                | EntryPart::Verdict { .. }
                | EntryPart::LogLine(_)
                | EntryPart::FromRecord(_)
                | EntryPart::Converge => return Vec::new(),
            };
            self.append_event(change);
        }
    }

    /// The chair's report, which must be the next step, enters the record.
    pub fn deliver(&mut self) {
        let step = Protocols::built_in().next_step(&self.run_state);
        let Step::Append(drafts) = step else { panic!("no report: {step:?}") };
        let parts = drafts.into_iter().flat_map(|draft| draft.parts);
        let report = parts.filter_map(|part| {
            let EntryPart::Change(change) = part else { return None };
            Some(*change)
        });
        let mut report = report.filter(|change| matches!(change, JournalEvent::ReportGiven(_)));
        self.append_event(report.next().expect("no report"));
    }

    fn render_all(&mut self, asks: Vec<Ask>) -> Vec<(Ask, RenderedPrompt)> {
        let with = |ask: Ask| {
            let protocols = Protocols::built_in();
            let prepared = protocols.render_messages(&self.run_state, None, &ask).unwrap();
            (ask, prepared)
        };
        let prepared: Vec<_> = asks.into_iter().map(with).collect();
        for (ask, prepared) in &prepared {
            self.record_ask(ask, prepared);
        }
        prepared
    }

    fn record_ask(&mut self, ask: &Ask, prepared: &RenderedPrompt) {
        let block = prepared.messages.shared.clone();
        if let Some(block) = block.filter(|_| self.run_state.shared_blocks.is_empty()) {
            self.append_event(JournalEvent::SharedBlockPrepared(block));
        }
        self.append_event(JournalEvent::AskPrepared {
            ask: ask.clone(),
            messages: Some(prepared.messages.clone().into()),
            messages_sha256: None,
            condensed: prepared.condensed.clone(),
        });
    }

    /// Ends the rounds; every seat took part.
    pub fn begin_conclusion(&mut self) {
        let spoke = self.run_state.seats_answered_in(1);
        let seats = self.run_state.plan.participant_seats();
        let seats = seats.filter(|seat| spoke.is_empty() || spoke.contains(&seat.name));
        let participants = seats.map(|seat| ConclusionParticipant {
            agent: seat.name.clone(),
            version: seat.version.clone(),
        });
        let participants = participants.collect();
        self.append_event(JournalEvent::ConclusionBegun { participants });
    }

    /// Asks the first seat for its part of the conclusion.
    pub fn ask_first_seat(
        &mut self,
        purpose: AskPurpose,
        round: u8,
        record: &DialogueRecord,
        stricter: Option<&str>,
    ) -> (Ask, RenderedPrompt) {
        let ask = Ask {
            id: self.run_state.next_ask_id(),
            round,
            seat: self.run_state.plan.seats[0].name.clone(),
            purpose,
            retry_reason: stricter.map(str::to_owned),
        };
        let protocols = Protocols::built_in();
        let prepared = protocols.render_messages(&self.run_state, Some(record), &ask).unwrap();
        self.record_ask(&ask, &prepared);
        (ask, prepared)
    }

    pub fn record_answer(&mut self, ask: &Ask, document: ReplyDocument) {
        let reading = ParseOutcome::Parsed { document, repaired: false, truncated: false };
        self.append_event(JournalEvent::ReplyParsed { ask: ask.id, reading });
    }

    /// Records a reply that could not be parsed.
    pub fn record_unreadable(&mut self, ask: &Ask, reason: &str) {
        let reading = ParseOutcome::Unreadable { reason: reason.to_owned(), refusal: false };
        self.append_event(JournalEvent::ReplyParsed { ask: ask.id, reading });
    }

    /// Records a refusal, after which the seat is not asked again.
    pub fn record_refusal(&mut self, ask: &Ask) {
        let reading = ParseOutcome::Unreadable { reason: "no".to_owned(), refusal: true };
        self.append_event(JournalEvent::ReplyParsed { ask: ask.id, reading });
    }

    /// Records an intervention of the Principal in this round.
    pub fn record_intervention(&mut self, round: u8, intervention: Intervention) {
        self.append_event(JournalEvent::Intervened { round, intervention });
    }

    pub fn append_event(&mut self, change: JournalEvent) {
        self.run_state.apply_events(fixed_moment(), &[change]);
    }
}

fn fixed_moment() -> Moment {
    Moment::new("2026-02-02T09:00:00Z".parse().unwrap())
}
