//! A sample council with every possible conclusion, for tests of documents and pages.

use crate::model::ask::{
    Ask, AskPurpose, AskState, CallCost, CallErrorType, CallFailure, CallOutcome, CostSource,
    FinishReason, ModelReply, TokenUsage, TransportKind,
};
use crate::model::dialogue::{ConclusionStage, DialogueOpening, ProtocolKind, TerminalState};
use crate::model::ids::ExpertSlug;
use crate::model::intervention::{DirectiveRestatement, Intervention};
use crate::model::journal::JournalEvent;
use crate::model::plan::{
    AuditMode, BudgetCaps, ConclusionPlan, ContextPack, DeliveryMode, Plan, QuorumRules,
    RoundTimeouts, Seat, SeatRole, ShortCircuitRules, StakesLevel, TokenPrice,
};
use crate::model::run_state::{ParseOutcome, ReplyDocument, RunState, RunStopReason};
use crate::model::time::Moment;
use crate::protocols::conclusion::next::{AUDIT, DRAFT, REVISION, SECOND_AUDIT, audit_trail};
use crate::protocols::conclusion::types::{
    AuditObjection, AuditReply, AuditTrail, CitedClaim, Conclusion, ConclusionField,
    ConclusionParticipant, ConclusionResult, ObjectionSource, SeatAuthor, UnresolvedPoint,
};
use crate::protocols::council::answers::SeatLetters;
use crate::protocols::council::report_types::{
    ChairReport, CouncilFinalReport, DisputePosition, ReportConclusion as Answer, ReportDispute,
    ReportRationale,
};
use crate::protocols::council::types::{
    CritiqueType, OpinionAssessment, OpinionDetails, OpinionReply, OpinionRisk, OpinionStance,
    PeerCritique, PeerDisagreement, PeerReview, QuestionMode, RatingLevel, ReportOutcome,
};
use crate::protocols::sample::sending;

/// Requests no format, so the counted objections below are fixed text.
pub(crate) const QUESTION: &str = "Should reads go through a cache?";

/// Builds a run state; each change is one second after the previous one.
pub(crate) struct SampleRun {
    pub(crate) state: RunState,
    seconds: u64,
}

impl SampleRun {
    /// A planned run without asks.
    pub(crate) fn new(auditing: AuditMode) -> Self {
        Self::with(plan(auditing))
    }

    pub(crate) fn with(plan: Plan) -> Self {
        let opening = DialogueOpening {
            dialogue_id: "should-reads-go-through-a-cache-4334f41c".parse().unwrap(),
            title: "Should reads go through a cache?".to_owned(),
            question: Some(QUESTION.to_owned()),
            background: None,
            protocol: ProtocolKind::Council,
            rehearsal: false,
            convergence_percent: 100,
            panel_seed: None,
            output_dir: String::new(),
            calibrated: false,
            domain_id: None,
        };
        Self::opened(opening, plan)
    }

    pub(crate) fn opened(opening: DialogueOpening, plan: Plan) -> Self {
        let changes = [
            JournalEvent::DialogueOpened(opening),
            JournalEvent::RunPlanned(Box::new(plan)),
            JournalEvent::RunStarted { owner: "1".to_owned() },
        ];
        Self { state: RunState::from_first_entry(moment(0), &changes).unwrap(), seconds: 0 }
    }

    /// A run with all three rounds and the report.
    pub(crate) fn debated(auditing: AuditMode) -> Self {
        let mut run = Self::new(auditing);
        run.opinions();
        run.reviews();
        run.report();
        run
    }

    pub(crate) fn opinions(&mut self) {
        let stances = [OpinionStance::Approve, OpinionStance::Conditional, OpinionStance::Approve];
        for (name, stance) in NAMES.iter().zip(stances) {
            self.says(
                name,
                1,
                AskPurpose::Opinion,
                ReplyDocument::Opinion(opinion(name, stance).into()),
            );
        }
        self.held(1);
    }

    pub(crate) fn reviews(&mut self) {
        for name in NAMES {
            let review = review(&self.state, name);
            self.says(name, 2, AskPurpose::PeerReview, ReplyDocument::PeerReview(review.into()));
        }
        self.held(2);
    }

    pub(crate) fn report(&mut self) {
        let letters = SeatLetters::from_plan(&self.state.plan);
        let report = report(&letters);
        self.says("ann", 3, AskPurpose::Synthesis, ReplyDocument::Report(report.clone().into()));
        let report = report.with_seat_names(&|letter| letters.seat_of(letter).cloned());
        self.held(3);
        let given = CouncilFinalReport {
            report,
            chair_provider: Some(slug("ann")),
            run_id: self.state.opening.dialogue_id.clone(),
            rounds_completed: 3,
            providers_participated: NAMES.map(slug).to_vec(),
            fallback: false,
            disclaimer: None,
        };
        self.take(JournalEvent::ReportGiven(Box::new(given)));
    }

    /// Adds the synthesizer's draft.
    pub(crate) fn drafted(&mut self, conclusion: Conclusion) {
        self.take(JournalEvent::ConclusionBegun { participants: participants() });
        self.take(JournalEvent::StageReached { stage: ConclusionStage::Concluding });
        self.says(
            "ann",
            DRAFT,
            AskPurpose::Conclusion,
            ReplyDocument::Conclusion(conclusion.into()),
        );
    }

    /// Adds the first or second audit.
    pub(crate) fn audited(&mut self, audit: AuditReply) {
        let round =
            if self.state.seats_answered_in(REVISION).is_empty() { AUDIT } else { SECOND_AUDIT };
        if round == AUDIT {
            self.take(JournalEvent::StageReached { stage: ConclusionStage::Auditing });
        }
        self.says("bob", round, AskPurpose::Audit, ReplyDocument::Audit(audit));
    }

    pub(crate) fn revised(&mut self, conclusion: Conclusion) {
        self.take(JournalEvent::StageReached { stage: ConclusionStage::Revising });
        self.says(
            "ann",
            REVISION,
            AskPurpose::Revision,
            ReplyDocument::Revision(conclusion.into()),
        );
    }

    /// Adds the conclusion result that follows from the replies.
    pub(crate) fn ended(
        mut self,
        state: Option<TerminalState>,
        conclusion: Conclusion,
    ) -> RunState {
        let is_revised = state.is_some_and(|state| state != TerminalState::Clean);
        self.take(JournalEvent::Concluded(Box::new(ConclusionResult {
            terminal_state: state,
            conclusion,
            audit: state.and_then(|_| audit_trail(&self.state)),
            synthesizer: author("ann"),
            critic: state.map(|_| author("bob")),
            reviser: is_revised.then(|| author("ann")),
        })));
        self.stopped(RunStopReason::Done)
    }

    pub(crate) fn stopped(mut self, stop: RunStopReason) -> RunState {
        self.take(JournalEvent::RunStopped(stop));
        self.state
    }

    pub(crate) fn intervened(&mut self, round: u8, intervention: Intervention) {
        self.take(JournalEvent::Intervened { round, intervention });
    }

    /// Adds an ask of a seat and its parsed reply.
    pub(crate) fn says(
        &mut self,
        seat: &str,
        round: u8,
        purpose: AskPurpose,
        document: ReplyDocument,
    ) {
        let text = serde_json::to_string(&document).unwrap();
        let reading = ParseOutcome::Parsed { document, repaired: false, truncated: false };
        let (ask, call) = self.asks(seat, round, purpose);
        self.take(JournalEvent::ReplyKept { call, reply: reply(&text) });
        self.take(JournalEvent::ReplyParsed { ask, reading });
    }

    /// Adds an ask of a seat that fails.
    pub(crate) fn fails(&mut self, seat: &str, round: u8, purpose: AskPurpose) {
        let (_, call) = self.asks(seat, round, purpose);
        let failure = CallFailure {
            error_type: CallErrorType::Timeout,
            message: "no answer within 60 s".to_owned(),
            latency_ms: 60_000,
            refused: None,
            estimated: None,
            arrived: None,
        };
        self.take(JournalEvent::CallFailed { call, failure, gave_up: true });
    }

    fn asks(&mut self, seat: &str, round: u8, purpose: AskPurpose) -> (u32, u32) {
        let (id, call) = (self.state.next_ask_id(), self.state.next_call_id());
        let ask = Ask { id, round, seat: slug(seat), purpose, retry_reason: None };
        self.take(JournalEvent::AskPrepared {
            ask,
            messages: None,
            messages_sha256: None,
            condensed: Vec::new(),
        });
        self.take(JournalEvent::CallSent(sending(call, id)));
        (id, call)
    }

    pub(crate) fn held(&mut self, round: u8) {
        self.take(JournalEvent::RoundRecorded { round, title: None, score: 0, summary: None });
    }

    pub(crate) fn take(&mut self, change: JournalEvent) {
        self.seconds += 1;
        self.state.apply_events(moment(self.seconds), &[change]);
    }
}

/// Passes the first audit.
pub(crate) fn clean() -> RunState {
    let mut run = SampleRun::debated(AuditMode::Audited);
    run.drafted(conclusion());
    run.audited(AuditReply::Pass);
    run.ended(Some(TerminalState::Clean), conclusion())
}

/// Flagged, revised and passed.
pub(crate) fn revised() -> RunState {
    let mut run = SampleRun::debated(AuditMode::Audited);
    run.drafted(original());
    run.audited(flag(&FIRST));
    run.revised(conclusion());
    run.audited(AuditReply::Pass);
    run.ended(Some(TerminalState::Revised), conclusion())
}

/// Flagged, revised and flagged again.
pub(crate) fn unconverged() -> RunState {
    let mut run = SampleRun::debated(AuditMode::Audited);
    run.drafted(original());
    run.audited(flag(&FIRST));
    run.revised(conclusion());
    run.audited(flag(&SECOND));
    run.ended(Some(TerminalState::Unconverged), conclusion())
}

/// Planned without an audit.
pub(crate) fn unaudited() -> RunState {
    let mut run = SampleRun::debated(AuditMode::Unaudited);
    run.drafted(conclusion());
    run.ended(None, conclusion())
}

/// The critic fails.
pub(crate) fn critic_failed() -> RunState {
    let mut run = SampleRun::debated(AuditMode::Audited);
    run.drafted(conclusion());
    run.take(JournalEvent::StageReached { stage: ConclusionStage::Auditing });
    run.fails("bob", AUDIT, AskPurpose::Audit);
    let (stage, seat) = (ConclusionStage::Auditing, slug("bob"));
    run.stopped(RunStopReason::Unconcluded {
        stage,
        seat,
        reason: "no answer within 60 s".to_owned(),
    })
}

/// Flagged, and the reviser fails.
pub(crate) fn reviser_failed() -> RunState {
    let mut run = SampleRun::debated(AuditMode::Audited);
    run.drafted(original());
    run.audited(flag(&FIRST));
    run.take(JournalEvent::StageReached { stage: ConclusionStage::Revising });
    run.fails("ann", REVISION, AskPurpose::Revision);
    let (stage, seat) = (ConclusionStage::Revising, slug("ann"));
    run.stopped(RunStopReason::Unconcluded {
        stage,
        seat,
        reason: "no answer within 60 s".to_owned(),
    })
}

/// Stopped in the second round, after each kind of intervention.
pub(crate) fn cut_short() -> RunState {
    let mut run = SampleRun::new(AuditMode::Audited);
    let whisper = |text: &str, to: Option<&str>| Intervention::Whisper {
        text: text.to_owned(),
        to: to.map(slug),
    };
    run.intervened(1, whisper("Mind what it costs to run.", None));
    run.opinions();
    run.intervened(1, whisper("You know this store best.", Some("cid")));
    run.says(
        "ann",
        2,
        AskPurpose::PeerReview,
        ReplyDocument::PeerReview(review(&run.state, "ann").into()),
    );
    run.intervened(2, directive("only reads count", true));
    run.intervened(2, directive("forget all of it", false));
    run.intervened(2, Intervention::Stop);
    run.drafted(conclusion());
    run.audited(AuditReply::Pass);
    run.ended(Some(TerminalState::Clean), conclusion())
}

fn directive(text: &str, confirmed: bool) -> Intervention {
    let sentence = format!("The panel is to take it that {text}.");
    Intervention::Directive {
        text: text.to_owned(),
        restatement: Some(DirectiveRestatement { seat: slug("ann"), sentence, reply: reply("") }),
        confirmed,
    }
}

/// The delivered conclusion.
pub(crate) fn conclusion() -> Conclusion {
    Conclusion {
        recommendation: "Put a read-through cache before the catalogue, with a lifetime of five \
                         minutes.\nLeave prices uncached until the owner says how stale they may be."
            .to_owned(),
        key_condition: "Reads outnumber writes by at least ten to one.".to_owned(),
        unresolved_points: vec![UnresolvedPoint {
            point: "Whether stale prices are worse than slow ones".to_owned(),
            agents_involved: vec![slug("ann"), slug("bob")],
            claims: vec![
                claim("P0101", "ann", "A price that is a minute old harms nobody."),
                claim("C0203", "bob", "One wrong price in a contract costs more than the cache saves."),
            ],
        }],
        review_by: "2027-02-16".parse().unwrap(),
        participants: participants(),
    }
}

/// The first draft, without the requested line breaks.
pub(crate) fn original() -> Conclusion {
    Conclusion {
        recommendation: "Put a read-through cache before everything, with a lifetime of five \
                         minutes."
            .to_owned(),
        key_condition: "Reads outnumber writes.".to_owned(),
        ..conclusion()
    }
}

fn claim(id: &str, agent: &str, claim: &str) -> CitedClaim {
    CitedClaim { id: id.parse().unwrap(), agent: slug(agent), claim: claim.to_owned() }
}

fn participants() -> Vec<ConclusionParticipant> {
    let one = |name| ConclusionParticipant { agent: slug(name), version: format!("{name}-3f9c") };
    NAMES.map(one).to_vec()
}

/// The objections of the first audit: the counted one first, then the critic's.
pub(crate) const FIRST: [(ConclusionField, &str, ObjectionSource); 2] = [
    (
        ConclusionField::Recommendation,
        "asked for exactly 2 lines; the recommendation has 1",
        ObjectionSource::Count,
    ),
    (
        ConclusionField::KeyCondition,
        "“Reads outnumber writes” is true of nearly every store; it does not say from which ratio on \
         the cache pays.",
        ObjectionSource::Critic,
    ),
];

pub(crate) const SECOND: [(ConclusionField, &str, ObjectionSource); 1] = [(
    ConclusionField::Recommendation,
    "It leaves out prices, which is what the question is about.",
    ObjectionSource::Critic,
)];

/// The critic's reply with its own objections, without the counted ones.
fn flag(objections: &[(ConclusionField, &str, ObjectionSource)]) -> AuditReply {
    let objections = objections.iter().map(objection).collect();
    AuditReply::Flag { objections }
}

pub(crate) fn objection(
    (field, objection, by): &(ConclusionField, &str, ObjectionSource),
) -> AuditObjection {
    AuditObjection { field: *field, objection: (*objection).to_owned(), by: *by }
}

/// Every possible conclusion, and the stops before one.
pub(crate) fn all() -> Vec<RunState> {
    vec![
        clean(),
        revised(),
        unconverged(),
        unaudited(),
        critic_failed(),
        reviser_failed(),
        cut_short(),
    ]
}

/// Replaces all foreign text of a run by one text.
pub(crate) fn filled_with(mut state: RunState, text: &str) -> RunState {
    state.opening.question = Some(text.to_owned());
    state.opening.title = text.to_owned();
    if let Some(ending) = &mut state.conclusion_result {
        fill(&mut ending.conclusion, text);
        let authors =
            [Some(&mut ending.synthesizer), ending.critic.as_mut(), ending.reviser.as_mut()];
        for author in authors.into_iter().flatten() {
            author.model = text.to_owned();
            author.family = text.to_owned();
        }
        if let Some(trail) = &mut ending.audit {
            let objections = trail.objections.iter_mut().chain(&mut trail.second_objections);
            objections.for_each(|one| one.objection = format!("{text}\n{text}"));
            // Draft and revision must differ, or no change would be shown.
            trail.original.iter_mut().for_each(|original| {
                fill(original, text);
                original.recommendation.push_str(" before");
                original.unresolved_points.clear();
            });
        }
    }
    for asked in &mut state.asks {
        fill_asked(asked, text);
    }
    for noted in &mut state.interventions {
        match &mut noted.intervention {
            Intervention::Whisper { text: printed, .. } => *printed = text.to_owned(),
            Intervention::Directive { text: printed, restatement, .. } => {
                *printed = text.to_owned();
                restatement.iter_mut().for_each(|restated| restated.sentence = text.to_owned());
            }
            Intervention::Stop => {}
        }
    }
    if let Some(RunStopReason::Unconcluded { reason, .. }) = &mut state.stopped {
        *reason = text.to_owned();
    }
    state
}

fn fill(conclusion: &mut Conclusion, text: &str) {
    conclusion.recommendation = format!("{text}\n- {text}\n\n12. {text}");
    conclusion.key_condition = text.to_owned();
    for point in &mut conclusion.unresolved_points {
        point.point = text.to_owned();
        point.claims.iter_mut().for_each(|cited| cited.claim = text.to_owned());
    }
    for participant in &mut conclusion.participants {
        participant.version = text.to_owned();
    }
}

fn fill_asked(asked: &mut AskState, text: &str) {
    for call in &mut asked.calls {
        match &mut call.outcome {
            CallOutcome::Replied(reply, _) => reply.text = text.to_owned(),
            CallOutcome::Failed(failure, _) => failure.message = text.to_owned(),
            CallOutcome::InFlight | CallOutcome::Lost => {}
        }
    }
    let Some(ParseOutcome::Parsed { document, .. }) = &mut asked.parse_outcome else { return };
    match document {
        ReplyDocument::Opinion(opinion) => opinion.details.rationale = text.to_owned(),
        ReplyDocument::PeerReview(review) => review.would_change_my_opinion = vec![text.to_owned()],
        ReplyDocument::Conclusion(conclusion) | ReplyDocument::Revision(conclusion) => {
            fill(conclusion, text)
        }
        ReplyDocument::Audit(AuditReply::Flag { objections }) => {
            objections.iter_mut().for_each(|one| one.objection = text.to_owned());
        }
        ReplyDocument::Report(_)
        | ReplyDocument::Audit(AuditReply::Pass)
        | ReplyDocument::Judgement(_)
        | ReplyDocument::Adjudication(_)
        | ReplyDocument::Design(_)
        | ReplyDocument::Panel(_)
        | ReplyDocument::Contribution(_)
        | ReplyDocument::Reconciliation(_)
        | ReplyDocument::Verdicts(_)
        | ReplyDocument::Other(_) => {}
    }
}

/// The audit trail of the unconverged sample.
pub(crate) fn rejected() -> AuditTrail {
    AuditTrail {
        objections: FIRST.iter().map(objection).collect(),
        revised_fields: vec![ConclusionField::Recommendation, ConclusionField::KeyCondition],
        second_objections: SECOND.iter().map(objection).collect(),
        original: Some(original()),
    }
}

pub(crate) const NAMES: [&str; 3] = ["ann", "bob", "cid"];

pub(crate) fn slug(name: &str) -> ExpertSlug {
    name.parse().unwrap()
}

pub(crate) fn moment(seconds: u64) -> Moment {
    format!("2026-11-16T15:{:02}:{:02}Z", 40 + seconds / 60, seconds % 60).parse().unwrap()
}

pub(crate) fn plan(auditing: AuditMode) -> Plan {
    Plan {
        mode: QuestionMode::General,
        seats: NAMES.map(seat).to_vec(),
        chairs: vec![slug("ann")],
        timeouts: RoundTimeouts::default(),
        quorum: QuorumRules::default(),
        short_circuit: ShortCircuitRules::default(),
        conclusion: Some(ConclusionPlan {
            synthesizer: slug("ann"),
            critic: slug("bob"),
            reviser: slug("ann"),
            auditing,
        }),
        review: None,
        alignment: None,
        stakes: StakesLevel::Normal,
        delivery: DeliveryMode::Synthesis,
        anonymous_review: true,
        keep_prompts: true,
        caps: BudgetCaps::default(),
        secret: "00112233445566778899aabbccddeeff".to_owned(),
        context: ContextPack::default().into(),
        rehearsal_script: None,
        notes: Vec::new(),
    }
}

pub(crate) fn seat(name: &str) -> Seat {
    let author = author(name);
    Seat {
        name: slug(name),
        provider: slug(name),
        model: author.model,
        family: author.family,
        version: format!("{name}-3f9c"),
        roles: vec![SeatRole::Participant, SeatRole::Chair],
        transports: vec![TransportKind::Http],
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

pub(crate) fn author(name: &str) -> SeatAuthor {
    let (model, family) = match name {
        "ann" => ("claude-sonnet-4", "anthropic"),
        "bob" => ("gpt-4o", "openai"),
        _ => ("gemini-2.0-flash", "google"),
    };
    SeatAuthor { seat: slug(name), model: model.to_owned(), family: family.to_owned() }
}

fn reply(text: &str) -> ModelReply {
    ModelReply {
        text: text.to_owned(),
        usage: Some(TokenUsage::new(1_000, 100)),
        model: None,
        finish: FinishReason::Stop,
        cost: CallCost { usd_micros: Some(1_200), source: CostSource::Computed },
        latency_ms: 1_400,
        structured: true,
        first_byte_ms: None,
    }
}

fn opinion(name: &str, stance: OpinionStance) -> OpinionReply {
    OpinionReply {
        summary: format!("In short, {name} sees a cache as worth its trouble."),
        details: OpinionDetails {
            understanding: "Whether reads should be served from a cache.".to_owned(),
            key_considerations: vec!["How often prices change".to_owned()],
            recommendation: "Cache what rarely changes.".to_owned(),
            rationale: "Nine in ten reads repeat within a minute.".to_owned(),
            ..OpinionDetails::default()
        },
        risks: vec![OpinionRisk {
            description: "A stale price is shown".to_owned(),
            severity: RatingLevel::High,
            mitigation: Some("Leave prices out".to_owned()),
        }],
        assumptions: vec!["One region".to_owned()],
        questions: vec!["How stale may a price be?".to_owned()],
        confidence: RatingLevel::Medium,
        stance,
        findings: Vec::new(),
    }
}

fn review(state: &RunState, reviewer: &str) -> PeerReview {
    let others = SeatLetters::from_plan(&state.plan);
    let others = others.iter().filter(|(_, name)| name.as_str() != reviewer);
    let target = |(letter, name): (char, &ExpertSlug)| OpinionAssessment {
        letter: letter.to_string(),
        rating: if name.as_str() == "bob" { 8 } else { 6 },
        critiques: vec![PeerCritique {
            critique_type: CritiqueType::Omission,
            message: "It does not say what a stale price costs.".to_owned(),
            severity: RatingLevel::Medium,
            location: None,
            suggested_correction: Some("Name the greatest age.".to_owned()),
        }],
        agreement_points: vec!["Reads repeat".to_owned()],
        disagreement_points: vec![PeerDisagreement {
            topic: "Prices".to_owned(),
            reviewer_position: "leave them out".to_owned(),
            target_position: "cache them too".to_owned(),
            rationale: "They change at any time.".to_owned(),
        }],
        finding_positions: Vec::new(),
    };
    PeerReview {
        targets: others.map(target).collect(),
        would_change_my_opinion: vec!["A measured ratio".to_owned()],
    }
}

fn report(letters: &SeatLetters) -> ChairReport {
    let letter = |seat: &str| letters.iter().find(|(_, name)| name.as_str() == seat).unwrap().0;
    let position = |seat: &str, position: &str| DisputePosition {
        provider: letter(seat).to_string(),
        position: position.to_owned(),
    };
    ChairReport {
        conclusion: Answer {
            outcome: ReportOutcome::Adopt,
            statement: "Adopt a cache for what rarely changes.".to_owned(),
            reason: None,
        },
        rationale: ReportRationale {
            summary: "Most reads repeat within a minute.".to_owned(),
            supporting_opinions: Vec::new(),
            supporting_reviews: Vec::new(),
        },
        disagreements: vec![ReportDispute {
            topic: "Prices".to_owned(),
            positions: vec![position("ann", "cache them too"), position("bob", "leave them out")],
            resolution: "Leave them out for now.".to_owned(),
            resolution_rationale: String::new(),
        }],
        uncertainties: Vec::new(),
        risks: Vec::new(),
        next_actions: Vec::new(),
        consensus_points: Vec::new(),
        alternatives: Vec::new(),
        verification_plan: Vec::new(),
        findings: Vec::new(),
    }
}
