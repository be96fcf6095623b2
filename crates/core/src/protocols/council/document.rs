//! The JSON document of a council (`ask --json`).

use std::collections::BTreeSet;

use serde::Serialize;

use crate::model::ask::{AskPurpose, AskState, TokenUsage};
use crate::model::dialogue::ProtocolKind;
use crate::model::ids::{DialogueId, ExpertSlug};
use crate::model::plan::{SINGLE_FAMILY_NOTE, Seat};
use crate::model::run_state::{
    BudgetShortage, ParseOutcome, ReplyDocument, RoundShortcut, RunState,
};
use crate::model::time::Moment;
use crate::parsing::candidates::contains_sound_json;
use crate::parsing::coerce::quote_safely;
use crate::protocols::conclusion::document::ConclusionView;
use crate::protocols::conclusion::phrases::conclusion_warnings;
use crate::protocols::council::answers::{
    ProviderFailure, ROUNDS, SeatAnswer, SeatLetters, list_failures, list_opinions,
    list_peer_reviews, tally_stances,
};
use crate::protocols::council::final_report::{
    PeerChoice, absent_in_prose, credited_without_reply, hides_disagreement, peer_choice,
    wrongly_credited,
};
use crate::protocols::council::report_types::CouncilFinalReport;
use crate::protocols::council::types::{
    CouncilOpinion, CouncilPeerReview, NamedAssessment, OpinionReply, PeerReview, QuestionMode,
    StanceTally,
};
use crate::report::interventions::{TimedIntervention, list_interventions};
use crate::report::phrases::{in_round, round_name};
use crate::report::run_metrics::{
    RunMetrics, TransparencyRecord, round_span, run_metrics, transparency_record,
};
use crate::report::run_status::{CompletionStatus, StopNotice, completion_status, stop_notice};

/// The result of `ask`.
#[derive(Debug, Serialize)]
pub struct CouncilDocument {
    pub dialogue_id: DialogueId,
    pub protocol: ProtocolKind,
    pub mode: QuestionMode,
    pub rehearsal: bool,
    pub status: CompletionStatus,
    #[serde(flatten)]
    pub ended: ConclusionView,
    pub report: Option<CouncilFinalReport>,
    pub rounds: CouncilRounds,
    pub tally: StanceTally,
    pub peer_choice: Option<PeerChoice>,
    pub interventions: Vec<TimedIntervention>,
    pub panel: PanelAttendance,
    pub flags: CouncilFlags,
    pub metrics: RunMetrics,
    pub transparency: TransparencyRecord,
    pub warnings: Vec<String>,
    pub error: Option<StopNotice>,
}

pub fn council_document(state: &RunState) -> CouncilDocument {
    let health = PanelHealth::from_state(state);
    CouncilDocument {
        dialogue_id: state.opening.dialogue_id.clone(),
        protocol: state.opening.protocol,
        mode: state.plan.mode,
        rehearsal: state.opening.rehearsal,
        status: completion_status(state),
        ended: ConclusionView::from_state(state),
        report: state.report.clone(),
        rounds: council_rounds(state),
        tally: tally_stances(state),
        peer_choice: peer_choice(state),
        interventions: list_interventions(state),
        panel: health.panel,
        flags: health.flags,
        metrics: run_metrics(state),
        transparency: transparency_record(state),
        warnings: council_warnings(state),
        error: stop_notice(state),
    }
}

#[derive(Debug)]
pub struct PanelHealth {
    pub panel: PanelAttendance,
    pub flags: CouncilFlags,
}

#[derive(Debug, Default, Serialize)]
pub struct PanelAttendance {
    /// Seats that were asked in the rounds; conclusion seats do not count.
    pub attempted: usize,
    /// Seats that answered every time they were asked.
    pub succeeded: usize,
    pub failed: Vec<ProviderFailure>,
    /// Seats without an answer because the run was stopped; they did not fail.
    pub cancelled: Vec<CancelledSeat>,
    /// Seats without an answer because the budget did not cover their call.
    #[serde(skip)]
    pub unasked: Vec<UnaskedSeat>,
}

/// A seat that was not asked in a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnaskedSeat {
    pub provider: ExpertSlug,
    pub round: String,
    pub shortage: BudgetShortage,
}

/// A seat whose answer a stop, the deadline or an interrupt did not wait for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CancelledSeat {
    pub provider: ExpertSlug,
    pub round: String,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct CouncilFlags {
    /// A seat failed or was truncated, no chair answered, or the Principal stopped the run before
    /// the report.
    pub degraded: bool,
    /// The opinions were split, and the report names no disagreement.
    pub false_consensus: bool,
    pub single_family: bool,
    pub short_circuit: bool,
    /// An opinion or a review was truncated and is used as it is.
    pub truncated: bool,
}

impl PanelHealth {
    pub fn from_state(state: &RunState) -> Self {
        let panel = PanelAttendance::from_state(state);
        let fell_back = state.report.as_ref().is_some_and(|report| report.fallback);
        let truncated = truncated_replies(state).next().is_some();
        let is_whole = panel.failed.is_empty() && !truncated;
        Self {
            flags: CouncilFlags {
                degraded: !is_whole || fell_back || is_cut_short(state),
                false_consensus: hides_disagreement(state),
                single_family: answering_families(state).len() == 1,
                short_circuit: state.shortcuts.iter().any(RoundShortcut::is_taken),
                truncated,
            },
            panel,
        }
    }
}

impl PanelAttendance {
    /// The seats asked in the three rounds of a council or a review.
    pub(crate) fn from_state(state: &RunState) -> Self {
        let asked: BTreeSet<&ExpertSlug> = ROUNDS
            .into_iter()
            .flat_map(|round| state.asks_in_round(round))
            .map(|asked| &asked.ask.seat)
            .collect();
        let is_whole = |seat: &&ExpertSlug| {
            ROUNDS.iter().all(|round| {
                state.last_ask(*round, seat).is_none_or(|asked| asked.parsed_document().is_some())
            })
        };
        Self {
            attempted: asked.len(),
            succeeded: asked.iter().copied().filter(is_whole).count(),
            failed: ROUNDS.into_iter().flat_map(|round| list_failures(state, round)).collect(),
            cancelled: ROUNDS.into_iter().flat_map(|round| list_cancelled(state, round)).collect(),
            unasked: ROUNDS.into_iter().flat_map(|round| list_unasked(state, round)).collect(),
        }
    }
}

/// The seats of a round whose last ask was cancelled.
pub(crate) fn list_cancelled(
    state: &RunState,
    round: u8,
) -> impl Iterator<Item = CancelledSeat> + '_ {
    let asks = state.asks_in_round(round).filter(|asked| state.is_cancelled(asked));
    asks.map(|asked| CancelledSeat {
        provider: asked.ask.seat.clone(),
        round: round_name(asked.ask.round),
    })
}

/// The seats of a round that the budget did not cover.
fn list_unasked(state: &RunState, round: u8) -> impl Iterator<Item = UnaskedSeat> + '_ {
    let asks = state.asks_in_round(round).filter(|asked| !asked.retired && !asked.gave_up);
    asks.filter_map(|asked| {
        let provider = asked.ask.seat.clone();
        let shortage = asked.not_sent.filter(|_| asked.parse_outcome.is_none())?;
        Some(UnaskedSeat { provider, round: round_name(asked.ask.round), shortage })
    })
}

/// Truncated replies that are used as they are.
pub(crate) fn truncated_replies(state: &RunState) -> impl Iterator<Item = &AskState> {
    state.asks.iter().filter(|asked| !asked.retired && asked.is_truncated())
}

/// A note for the headline: which reply was truncated, or how many.
pub fn truncation_note(state: &RunState) -> Option<String> {
    let replies: Vec<&AskState> = truncated_replies(state).collect();
    match replies.as_slice() {
        [] => None,
        [one] => Some(format!("{}'s {} was cut off", one.ask.seat, one.ask.purpose)),
        more => Some(format!("{} replies were cut off", more.len())),
    }
}

/// Whether the run was stopped before the report.
pub fn is_cut_short(state: &RunState) -> bool {
    state.is_cut_short && state.report.is_none()
}

/// Model families of the seats that answered, or of all participants if none answered.
fn answering_families(state: &RunState) -> BTreeSet<&str> {
    let heard = list_opinions(state);
    let plan = &state.plan;
    let seats = plan
        .participant_seats()
        .filter(|seat| heard.is_empty() || heard.iter().any(|voice| *voice.seat == seat.name));
    seats.map(|seat| seat.family.as_str()).collect()
}

/// Warnings for readers of the result.
pub fn council_warnings(state: &RunState) -> Vec<String> {
    let PanelHealth { flags, .. } = PanelHealth::from_state(state);
    let mut warnings = state.plan.notes.clone();
    if flags.false_consensus {
        let message = "the opinions were split, but the report names no disagreement";
        warnings.push(message.to_owned());
    }
    warnings.extend(family_warning(state, &answering_families(state)));
    if is_cut_short(state) {
        let concluded = match state.conclusion_result {
            Some(_) => ", and concluded with the replies so far",
            None => "",
        };
        warnings.push(format!("the Principal stopped the run before the report{concluded}"));
    }
    warnings
        .extend(conclusion_warnings(&ConclusionView::from_state(state), state.opening.rehearsal));
    warnings.extend(price_warning(state));
    warnings.extend(file_warnings(state));
    let skipped = state.shortcuts.iter().filter(|shortcut| shortcut.is_taken());
    warnings.extend(skipped.map(|shortcut| {
        format!(
            "R{} was skipped: {}; confidence is one step lower",
            shortcut.round, shortcut.reason
        )
    }));
    warnings.extend(removed_credits_warnings(state));
    warnings.extend(reply_warnings(state));
    warnings
}

/// Warns that all answers come from one model family. Skipped for a rehearsal, and if a note of
/// the plan already says so.
pub(crate) fn family_warning(state: &RunState, heard: &BTreeSet<&str>) -> Option<String> {
    let is_said = state.plan.notes.iter().any(|note| note.contains("one family"));
    let is_told = heard.len() == 1 && !state.opening.rehearsal && !is_said;
    is_told.then(|| format!("{SINGLE_FAMILY_NOTE}, so agreement is weak evidence"))
}

/// Warnings about repaired and truncated replies and about cuts in prompts.
pub(crate) fn reply_warnings(state: &RunState) -> Vec<String> {
    let mut warnings = Vec::new();
    // A note on the shared block comes with each ask of a seat; one line says it.
    let mut known_cuts: BTreeSet<(&ExpertSlug, &String)> = BTreeSet::new();
    for asked in &state.asks {
        let (seat, round) = (&asked.ask.seat, in_round(asked.ask.round));
        if matches!(asked.parse_outcome, Some(ParseOutcome::Parsed { repaired: true, .. })) {
            warnings.push(describe_repair(asked));
        }
        if asked.is_truncated() && !asked.retired {
            let purpose = asked.ask.purpose;
            warnings.push(format!(
                "the {purpose} of {seat} {round} was cut off twice; its end is missing"
            ));
        }
        // Masking is expected; the transparency record lists it.
        let cuts = asked.condensed.iter().filter(|note| !note.contains("masked"));
        let planned = state.plan.find_seat(seat);
        let advice = match planned.is_some_and(Seat::has_unknown_window) {
            true => format!("; the window of `{seat}` is not known: set its `context_tokens`"),
            false => String::new(),
        };
        for cut in cuts.filter(|cut| known_cuts.insert((seat, cut))) {
            warnings.push(format!("for {seat} {round}, {cut}{advice}"));
        }
    }
    warnings
}

/// What was repaired: the JSON, or else what the document says.
fn describe_repair(asked: &AskState) -> String {
    let (seat, round) = (&asked.ask.seat, in_round(asked.ask.round));
    let is_sound = asked.last_reply().is_some_and(|(reply, _)| contains_sound_json(&reply.text));
    let purpose = asked.ask.purpose;
    if is_sound && purpose == AskPurpose::PeerReview {
        return format!(
            "the review of {seat} {round} had several entries for one opinion; Plenary merged them"
        );
    }
    if is_sound && purpose == AskPurpose::Conclusion {
        return format!(
            "the reply of {seat} {round} named participants who took no part; Plenary removed them"
        );
    }
    format!("the JSON of {seat} {round} was malformed and was repaired")
}

pub(crate) fn price_warning(state: &RunState) -> Option<String> {
    let seats = state.plan.seats.iter().filter(|seat| seat.price.is_none());
    let names: Vec<&str> = seats.map(|seat| seat.name.as_str()).collect();
    let names = names.join(", ");
    (!names.is_empty())
        .then(|| format!("no price is known for {names}: the money limit does not cover them"))
}

/// How many items a warning names.
const NAMED_MAX: usize = 5;

/// Files that were excluded or listed only by name; only the first few are named.
fn file_warnings(state: &RunState) -> Vec<String> {
    let context = &state.plan.context;
    let mut printed: Vec<String> = context
        .excluded
        .iter()
        .take(NAMED_MAX)
        .map(|file| format!("{} was left out: {}", file.path, file.reason))
        .collect();
    if let Some(more) = context.excluded.len().checked_sub(NAMED_MAX).filter(|more| *more > 0) {
        printed.push(format!("{more} more files were left out; `--json` names them"));
    }
    if !context.indexed.is_empty() {
        let (sent, named) = (context.files.len(), context.indexed.len());
        printed.push(format!("{sent} files were sent whole, {named} only by name"));
    }
    printed
}

/// Warns if the chair credited participants that do not exist or gave no answer.
fn removed_credits_warnings(state: &RunState) -> Vec<String> {
    let chair = state.report.as_ref().and_then(|report| report.chair_provider.as_ref());
    let document = chair.and_then(|chair| state.last_ask(3, chair)?.parsed_document());
    let Some(ReplyDocument::Report(given)) = document else { return Vec::new() };
    let letters = SeatLetters::from_plan(&state.plan);
    let absent = wrongly_credited(state, given);
    let mut warnings: Vec<String> = absent
        .iter()
        .map(|seat| format!("the report credited {seat}, which gave no answer; Plenary removed it"))
        .collect();
    warnings.extend(credited_without_reply(state, given).iter().map(|(seat, what)| {
        format!("the report credited {seat} with {what} that it did not give; Plenary removed it")
    }));
    warnings.extend(
        absent_in_prose(state, given).iter().map(|(letter, seat)| {
            format!("the report speaks of {letter}, but {seat} gave no answer")
        }),
    );
    let mut given = given.as_ref().clone();
    let names = given.participant_names_mut().filter(|name| letters.seat_of(name).is_none());
    let strangers: BTreeSet<String> = names.map(|name| quote_safely(name)).collect();
    warnings.extend((!strangers.is_empty()).then(|| {
        let names: Vec<String> = strangers.into_iter().take(NAMED_MAX).collect();
        let names = names.join(", ");
        format!("unknown participants in the report: {names}; Plenary removed them")
    }));
    let findings = state.report.iter().flat_map(|report| &report.report.findings);
    let unreported = findings.filter(|merged| merged.reported_by.is_empty());
    warnings.extend(unreported.map(|merged| {
        let id = quote_safely(&merged.finding.id);
        format!("finding {id} of the report is in no opinion; Plenary removed its credits")
    }));
    warnings
}

#[derive(Debug, Serialize)]
pub struct CouncilRounds {
    pub r1: R1Result,
    pub r2: Option<R2Result>,
    pub r3: Option<R3Result>,
}

#[derive(Debug, Serialize)]
pub struct R1Result {
    pub opinions: Vec<CouncilOpinion>,
    pub failed_providers: Vec<ProviderFailure>,
    pub round_duration_ms: u64,
}

#[derive(Debug, Serialize)]
pub struct R2Result {
    pub reviews: Vec<CouncilPeerReview>,
    pub failed_providers: Vec<ProviderFailure>,
    pub round_duration_ms: u64,
}

#[derive(Debug, Serialize)]
pub struct R3Result {
    pub final_report: CouncilFinalReport,
    pub chair_provider: Option<ExpertSlug>,
    pub failed_providers: Vec<ProviderFailure>,
    pub round_duration_ms: u64,
}

pub(crate) fn council_rounds(state: &RunState) -> CouncilRounds {
    let duration = |round| round_span(state, round).map_or(0, |span| span.duration_ms());
    let was_asked = |round| state.asks_in_round(round).next().is_some();
    CouncilRounds {
        r1: R1Result {
            opinions: list_opinions(state).iter().map(|voice| to_opinion(state, voice)).collect(),
            failed_providers: list_failures(state, 1),
            round_duration_ms: duration(1),
        },
        r2: was_asked(2).then(|| R2Result {
            reviews: list_peer_reviews(state).iter().map(|voice| to_review(state, voice)).collect(),
            failed_providers: list_failures(state, 2),
            round_duration_ms: duration(2),
        }),
        r3: state.report.clone().map(|final_report| R3Result {
            chair_provider: final_report.chair_provider.clone(),
            final_report,
            failed_providers: list_failures(state, 3),
            round_duration_ms: duration(3),
        }),
    }
}

/// Time, token usage, latency and model of a reply.
fn reply_facts(state: &RunState, asked: &AskState) -> (Moment, Option<TokenUsage>, u64, String) {
    let model = state.plan.find_seat(&asked.ask.seat).map(|seat| seat.model.clone());
    let model = model.unwrap_or_default();
    match asked.last_reply() {
        Some((reply, at)) => (at, reply.usage, reply.latency_ms, model),
        None => (asked.prepared_at, None, 0, model),
    }
}

fn to_opinion(state: &RunState, voice: &SeatAnswer<'_, OpinionReply>) -> CouncilOpinion {
    let (timestamp, token_usage, latency_ms, model) = reply_facts(state, voice.asked);
    CouncilOpinion {
        provider: voice.seat.clone(),
        model,
        round: "R1",
        timestamp,
        mode: state.plan.mode,
        opinion: voice.content.clone(),
        token_usage,
        latency_ms,
        truncated: voice.asked.is_truncated(),
    }
}

fn to_review(state: &RunState, voice: &SeatAnswer<'_, PeerReview>) -> CouncilPeerReview {
    let letters = SeatLetters::from_plan(&state.plan);
    let (timestamp, token_usage, latency_ms, reviewer_model) = reply_facts(state, voice.asked);
    let targets = voice.content.targets.iter().filter_map(|target| {
        let target_provider = letters.seat_of(&target.letter)?.clone();
        Some(NamedAssessment { target_provider, target: target.clone() })
    });
    CouncilPeerReview {
        reviewer_provider: voice.seat.clone(),
        reviewer_model,
        round: "R2",
        timestamp,
        targets: targets.collect(),
        would_change_my_opinion: voice.content.would_change_my_opinion.clone(),
        token_usage,
        latency_ms,
        truncated: voice.asked.is_truncated(),
    }
}
