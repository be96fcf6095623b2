//! A sample council with every possible conclusion, for tests of documents and pages.

use crate::domain::ask::{
    Ask, Cost, CostSource, ErrorType, Failure, Finish, Purpose, Reply, TransportKind, Usage,
};
use crate::domain::change::Change;
use crate::domain::conclusion::{
    Audit, Auditor, Author, CitedClaim, Conclusion, Ending, Field, Objection, Participant, Trail,
    UnresolvedPoint,
};
use crate::domain::council::opinion::{Details, Opinion, Risk};
use crate::domain::council::report::{
    Conclusion as Answer, CouncilFinalReport, Dispute, Position, Rationale, Report,
};
use crate::domain::council::review::{Critique, Disagreement, Review, Target};
use crate::domain::council::words::{CritiqueType, Level, Mode, Outcome, Stance};
use crate::domain::dialogue::{Opening, Protocol, Stage, TerminalState};
use crate::domain::ids::ExpertSlug;
use crate::domain::intervention::{Intervention, Restatement};
use crate::domain::plan::{
    Auditing, Caps, ConclusionPlan, ContextPack, Delivery, Plan, Price, Quorum, Role, Seat,
    ShortCircuit, Stakes, Timeouts,
};
use crate::domain::time::Moment;
use crate::domain::transcript::{Asked, CallOutcome, Document, Reading, Stop, Transcript};
use crate::protocols::conclusion::{AUDIT, DRAFT, REVISION, SECOND_AUDIT, trail};
use crate::protocols::council::Letters;
use crate::protocols::sample::sending;

/// Requests no format, so the counted objections below are fixed text.
pub(crate) const QUESTION: &str = "Should reads go through a cache?";

/// Builds a run state; each change is one second after the previous one.
pub(crate) struct Run {
    pub(crate) transcript: Transcript,
    seconds: u64,
}

impl Run {
    /// A planned run without asks.
    pub(crate) fn new(auditing: Auditing) -> Self {
        Self::with(plan(auditing))
    }

    pub(crate) fn with(plan: Plan) -> Self {
        let opening = Opening {
            dialogue_id: "should-reads-go-through-a-cache-4334f41c".parse().unwrap(),
            title: "Should reads go through a cache?".to_owned(),
            question: Some(QUESTION.to_owned()),
            background: None,
            protocol: Protocol::Council,
            rehearsal: false,
            convergence_percent: 100,
            panel_seed: None,
            output_dir: String::new(),
        };
        Self::opened(opening, plan)
    }

    pub(crate) fn opened(opening: Opening, plan: Plan) -> Self {
        let changes = [
            Change::DialogueOpened(opening),
            Change::RunPlanned(Box::new(plan)),
            Change::RunStarted { owner: "1".to_owned() },
        ];
        Self { transcript: Transcript::begin(moment(0), &changes).unwrap(), seconds: 0 }
    }

    /// A run with all three rounds and the report.
    pub(crate) fn debated(auditing: Auditing) -> Self {
        let mut run = Self::new(auditing);
        run.opinions();
        run.reviews();
        run.report();
        run
    }

    pub(crate) fn opinions(&mut self) {
        let stances = [Stance::Approve, Stance::Conditional, Stance::Approve];
        for (name, stance) in NAMES.iter().zip(stances) {
            self.says(name, 1, Purpose::Opinion, Document::Opinion(opinion(name, stance).into()));
        }
        self.held(1);
    }

    pub(crate) fn reviews(&mut self) {
        for name in NAMES {
            let review = review(&self.transcript, name);
            self.says(name, 2, Purpose::Review, Document::Review(review.into()));
        }
        self.held(2);
    }

    pub(crate) fn report(&mut self) {
        let letters = Letters::of(&self.transcript.plan);
        let report = report(&letters);
        self.says("ann", 3, Purpose::Synthesis, Document::Report(report.clone().into()));
        let report = report.named(&|letter| letters.seat(letter).cloned());
        self.held(3);
        let given = CouncilFinalReport {
            report,
            chair_provider: Some(slug("ann")),
            run_id: self.transcript.opening.dialogue_id.clone(),
            rounds_completed: 3,
            providers_participated: NAMES.map(slug).to_vec(),
            fallback: false,
            disclaimer: None,
        };
        self.take(Change::ReportGiven(Box::new(given)));
    }

    /// Adds the synthesizer's draft.
    pub(crate) fn drafted(&mut self, conclusion: Conclusion) {
        self.take(Change::ConclusionBegun { participants: participants() });
        self.take(Change::StageReached { stage: Stage::Concluding });
        self.says("ann", DRAFT, Purpose::Conclusion, Document::Conclusion(conclusion.into()));
    }

    /// Adds the first or second audit.
    pub(crate) fn audited(&mut self, audit: Audit) {
        let round =
            if self.transcript.heard_in(REVISION).is_empty() { AUDIT } else { SECOND_AUDIT };
        if round == AUDIT {
            self.take(Change::StageReached { stage: Stage::Auditing });
        }
        self.says("bob", round, Purpose::Audit, Document::Audit(audit));
    }

    pub(crate) fn revised(&mut self, conclusion: Conclusion) {
        self.take(Change::StageReached { stage: Stage::Revising });
        self.says("ann", REVISION, Purpose::Revision, Document::Revision(conclusion.into()));
    }

    /// Adds the conclusion result that follows from the replies.
    pub(crate) fn ended(
        mut self,
        state: Option<TerminalState>,
        conclusion: Conclusion,
    ) -> Transcript {
        let is_revised = state.is_some_and(|state| state != TerminalState::Clean);
        self.take(Change::Concluded(Box::new(Ending {
            terminal_state: state,
            conclusion,
            audit: state.and_then(|_| trail(&self.transcript)),
            synthesizer: author("ann"),
            critic: state.map(|_| author("bob")),
            reviser: is_revised.then(|| author("ann")),
        })));
        self.stopped(Stop::Done)
    }

    pub(crate) fn stopped(mut self, stop: Stop) -> Transcript {
        self.take(Change::RunStopped(stop));
        self.transcript
    }

    pub(crate) fn intervened(&mut self, round: u8, intervention: Intervention) {
        self.take(Change::Intervened { round, intervention });
    }

    /// Adds an ask of a seat and its parsed reply.
    pub(crate) fn says(&mut self, seat: &str, round: u8, purpose: Purpose, document: Document) {
        let text = serde_json::to_string(&document).unwrap();
        let reading = Reading::Read { document, repaired: false, truncated: false };
        let (ask, call) = self.asks(seat, round, purpose);
        self.take(Change::ReplyKept { call, reply: reply(&text) });
        self.take(Change::ReplyRead { ask, reading });
    }

    /// Adds an ask of a seat that fails.
    pub(crate) fn fails(&mut self, seat: &str, round: u8, purpose: Purpose) {
        let (_, call) = self.asks(seat, round, purpose);
        let failure = Failure {
            error_type: ErrorType::Timeout,
            message: "no answer within 60 s".to_owned(),
            latency_ms: 60_000,
        };
        self.take(Change::CallFailed { call, failure, gave_up: true });
    }

    fn asks(&mut self, seat: &str, round: u8, purpose: Purpose) -> (u32, u32) {
        let (id, call) = (self.transcript.next_ask_id(), self.transcript.next_call_id());
        let ask = Ask { id, round, seat: slug(seat), purpose, stricter: None };
        self.take(Change::AskPrepared {
            ask,
            messages: None,
            messages_sha256: None,
            condensed: Vec::new(),
        });
        self.take(Change::CallSent(sending(call, id)));
        (id, call)
    }

    pub(crate) fn held(&mut self, round: u8) {
        self.take(Change::RoundHeld { round, title: None, score: 0, summary: None });
    }

    pub(crate) fn take(&mut self, change: Change) {
        self.seconds += 1;
        self.transcript.add(moment(self.seconds), &[change]);
    }
}

/// Passes the first audit.
pub(crate) fn clean() -> Transcript {
    let mut run = Run::debated(Auditing::Audited);
    run.drafted(conclusion());
    run.audited(Audit::Pass);
    run.ended(Some(TerminalState::Clean), conclusion())
}

/// Flagged, revised and passed.
pub(crate) fn revised() -> Transcript {
    let mut run = Run::debated(Auditing::Audited);
    run.drafted(original());
    run.audited(flag(&FIRST));
    run.revised(conclusion());
    run.audited(Audit::Pass);
    run.ended(Some(TerminalState::Revised), conclusion())
}

/// Flagged, revised and flagged again.
pub(crate) fn unconverged() -> Transcript {
    let mut run = Run::debated(Auditing::Audited);
    run.drafted(original());
    run.audited(flag(&FIRST));
    run.revised(conclusion());
    run.audited(flag(&SECOND));
    run.ended(Some(TerminalState::Unconverged), conclusion())
}

/// Planned without an audit.
pub(crate) fn unaudited() -> Transcript {
    let mut run = Run::debated(Auditing::Unaudited);
    run.drafted(conclusion());
    run.ended(None, conclusion())
}

/// The critic fails.
pub(crate) fn unheard() -> Transcript {
    let mut run = Run::debated(Auditing::Audited);
    run.drafted(conclusion());
    run.take(Change::StageReached { stage: Stage::Auditing });
    run.fails("bob", AUDIT, Purpose::Audit);
    let (stage, seat) = (Stage::Auditing, slug("bob"));
    run.stopped(Stop::Unconcluded { stage, seat, reason: "no answer within 60 s".to_owned() })
}

/// Flagged, and the reviser fails.
pub(crate) fn unmended() -> Transcript {
    let mut run = Run::debated(Auditing::Audited);
    run.drafted(original());
    run.audited(flag(&FIRST));
    run.take(Change::StageReached { stage: Stage::Revising });
    run.fails("ann", REVISION, Purpose::Revision);
    let (stage, seat) = (Stage::Revising, slug("ann"));
    run.stopped(Stop::Unconcluded { stage, seat, reason: "no answer within 60 s".to_owned() })
}

/// Stopped in the second round, after each kind of intervention.
pub(crate) fn cut_short() -> Transcript {
    let mut run = Run::new(Auditing::Audited);
    let whisper = |text: &str, to: Option<&str>| Intervention::Whisper {
        text: text.to_owned(),
        to: to.map(slug),
    };
    run.intervened(1, whisper("Mind what it costs to run.", None));
    run.opinions();
    run.intervened(1, whisper("You know this store best.", Some("cid")));
    run.says("ann", 2, Purpose::Review, Document::Review(review(&run.transcript, "ann").into()));
    run.intervened(2, directive("only reads count", true));
    run.intervened(2, directive("forget all of it", false));
    run.intervened(2, Intervention::Stop);
    run.drafted(conclusion());
    run.audited(Audit::Pass);
    run.ended(Some(TerminalState::Clean), conclusion())
}

fn directive(text: &str, confirmed: bool) -> Intervention {
    let sentence = format!("The panel is to take it that {text}.");
    Intervention::Directive {
        text: text.to_owned(),
        restatement: Some(Restatement { seat: slug("ann"), sentence, reply: reply("") }),
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

fn participants() -> Vec<Participant> {
    let one = |name| Participant { agent: slug(name), version: format!("{name}-3f9c") };
    NAMES.map(one).to_vec()
}

/// The objections of the first audit: the counted one first, then the critic's.
pub(crate) const FIRST: [(Field, &str, Auditor); 2] = [
    (Field::Recommendation, "asked for exactly 2 lines; the recommendation has 1", Auditor::Count),
    (
        Field::KeyCondition,
        "“Reads outnumber writes” is true of nearly every store; it does not say from which ratio on \
         the cache pays.",
        Auditor::Critic,
    ),
];

pub(crate) const SECOND: [(Field, &str, Auditor); 1] = [(
    Field::Recommendation,
    "It leaves out prices, which is what the question is about.",
    Auditor::Critic,
)];

/// The critic's reply with its own objections, without the counted ones.
fn flag(objections: &[(Field, &str, Auditor)]) -> Audit {
    let objections = objections.iter().map(objection).collect();
    Audit::Flag { objections }
}

pub(crate) fn objection((field, objection, by): &(Field, &str, Auditor)) -> Objection {
    Objection { field: *field, objection: (*objection).to_owned(), by: *by }
}

/// Every possible conclusion, and the stops before one.
pub(crate) fn all() -> Vec<Transcript> {
    vec![clean(), revised(), unconverged(), unaudited(), unheard(), unmended(), cut_short()]
}

/// Replaces all foreign text of a run by one text.
pub(crate) fn filled_with(mut transcript: Transcript, text: &str) -> Transcript {
    transcript.opening.question = Some(text.to_owned());
    transcript.opening.title = text.to_owned();
    if let Some(ending) = &mut transcript.ending {
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
    for asked in &mut transcript.asks {
        fill_asked(asked, text);
    }
    for noted in &mut transcript.interventions {
        match &mut noted.intervention {
            Intervention::Whisper { text: said, .. } => *said = text.to_owned(),
            Intervention::Directive { text: said, restatement, .. } => {
                *said = text.to_owned();
                restatement.iter_mut().for_each(|restated| restated.sentence = text.to_owned());
            }
            Intervention::Stop => {}
        }
    }
    if let Some(Stop::Unconcluded { reason, .. }) = &mut transcript.stopped {
        *reason = text.to_owned();
    }
    transcript
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

fn fill_asked(asked: &mut Asked, text: &str) {
    for call in &mut asked.calls {
        match &mut call.outcome {
            CallOutcome::Replied(reply, _) => reply.text = text.to_owned(),
            CallOutcome::Failed(failure, _) => failure.message = text.to_owned(),
            CallOutcome::InFlight | CallOutcome::Lost => {}
        }
    }
    let Some(Reading::Read { document, .. }) = &mut asked.reading else { return };
    match document {
        Document::Opinion(opinion) => opinion.details.rationale = text.to_owned(),
        Document::Review(review) => review.would_change_my_opinion = vec![text.to_owned()],
        Document::Conclusion(conclusion) | Document::Revision(conclusion) => fill(conclusion, text),
        Document::Audit(Audit::Flag { objections }) => {
            objections.iter_mut().for_each(|one| one.objection = text.to_owned());
        }
        Document::Report(_)
        | Document::Audit(Audit::Pass)
        | Document::Judgement(_)
        | Document::Adjudication(_)
        | Document::Other(_) => {}
    }
}

/// The audit trail of the unconverged sample.
pub(crate) fn rejected() -> Trail {
    Trail {
        objections: FIRST.iter().map(objection).collect(),
        revised_fields: vec![Field::Recommendation, Field::KeyCondition],
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

pub(crate) fn plan(auditing: Auditing) -> Plan {
    Plan {
        mode: Mode::General,
        seats: NAMES.map(seat).to_vec(),
        chairs: vec![slug("ann")],
        timeouts: Timeouts::default(),
        quorum: Quorum::default(),
        short_circuit: ShortCircuit::default(),
        conclusion: Some(ConclusionPlan {
            synthesizer: slug("ann"),
            critic: slug("bob"),
            reviser: slug("ann"),
            auditing,
        }),
        gate: None,
        stakes: Stakes::Normal,
        delivery: Delivery::Synthesis,
        anonymous_review: true,
        keep_prompts: true,
        caps: Caps::default(),
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
        roles: vec![Role::Participant, Role::Chair],
        transports: vec![TransportKind::Http],
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

pub(crate) fn author(name: &str) -> Author {
    let (model, family) = match name {
        "ann" => ("claude-sonnet-4", "anthropic"),
        "bob" => ("gpt-4o", "openai"),
        _ => ("gemini-2.0-flash", "google"),
    };
    Author { seat: slug(name), model: model.to_owned(), family: family.to_owned() }
}

fn reply(text: &str) -> Reply {
    Reply {
        text: text.to_owned(),
        usage: Some(Usage { input_tokens: 1_000, output_tokens: 100 }),
        model: None,
        finish: Finish::Stop,
        cost: Cost { usd_micros: Some(1_200), source: CostSource::Computed },
        latency_ms: 1_400,
        structured: true,
    }
}

fn opinion(name: &str, stance: Stance) -> Opinion {
    Opinion {
        summary: format!("In short, {name} sees a cache as worth its trouble."),
        details: Details {
            understanding: "Whether reads should be served from a cache.".to_owned(),
            key_considerations: vec!["How often prices change".to_owned()],
            recommendation: "Cache what rarely changes.".to_owned(),
            rationale: "Nine in ten reads repeat within a minute.".to_owned(),
        },
        risks: vec![Risk {
            description: "A stale price is shown".to_owned(),
            severity: Level::High,
            mitigation: Some("Leave prices out".to_owned()),
        }],
        assumptions: vec!["One region".to_owned()],
        questions: vec!["How stale may a price be?".to_owned()],
        confidence: Level::Medium,
        stance,
        findings: Vec::new(),
    }
}

fn review(transcript: &Transcript, reviewer: &str) -> Review {
    let others = Letters::of(&transcript.plan);
    let others = others.iter().filter(|(_, name)| name.as_str() != reviewer);
    let target = |(letter, name): (char, &ExpertSlug)| Target {
        letter: letter.to_string(),
        rating: if name.as_str() == "bob" { 8 } else { 6 },
        critiques: vec![Critique {
            critique_type: CritiqueType::Omission,
            message: "It does not say what a stale price costs.".to_owned(),
            severity: Level::Medium,
            location: None,
            suggested_correction: Some("Name the greatest age.".to_owned()),
        }],
        agreement_points: vec!["Reads repeat".to_owned()],
        disagreement_points: vec![Disagreement {
            topic: "Prices".to_owned(),
            reviewer_position: "leave them out".to_owned(),
            target_position: "cache them too".to_owned(),
            rationale: "They change at any time.".to_owned(),
        }],
        finding_positions: Vec::new(),
    };
    Review {
        targets: others.map(target).collect(),
        would_change_my_opinion: vec!["A measured ratio".to_owned()],
    }
}

fn report(letters: &Letters) -> Report {
    let letter = |seat: &str| letters.iter().find(|(_, name)| name.as_str() == seat).unwrap().0;
    let position = |seat: &str, position: &str| Position {
        provider: letter(seat).to_string(),
        position: position.to_owned(),
    };
    Report {
        conclusion: Answer {
            outcome: Outcome::Adopt,
            statement: "Adopt a cache for what rarely changes.".to_owned(),
            reason: None,
        },
        rationale: Rationale {
            summary: "Most reads repeat within a minute.".to_owned(),
            supporting_opinions: Vec::new(),
            supporting_reviews: Vec::new(),
        },
        disagreements: vec![Dispute {
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
