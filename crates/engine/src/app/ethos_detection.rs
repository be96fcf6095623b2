//! Asks a model once for conflicts between the rules of a draft. The model only proposes.
//!
//! The calls are journalled in the dialogue like those of a run, so that `cost` and the budgets count
//! them. A run of `align` asks its Judge itself.

use std::sync::Arc;
use std::time::{Duration, Instant};

use plenary_core::dialogue::diagnostics::RequestWarning;
use plenary_core::ethos::conflict_ask::{
    CONFLICTS_SCHEMA, FIND_CONFLICTS, conflict_messages, parse_conflicts, proposals_of,
};
use plenary_core::ethos::conflicts::ProposedConflict;
use plenary_core::ethos::rule_set::DialogueEthos;
use plenary_core::model::ask::{
    Ask, BudgetReservation, CallDispatch, CallErrorType, CallFailure, ModelReply,
};
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::{JournalEntry, JournalEntryKind, JournalEvent};
use plenary_core::model::plan::{DeliveryMode, Plan, Seat, StakesLevel, TimeLimit};
use plenary_core::model::run_state::{ParseOutcome, RunState};
use plenary_core::protocols::council::types::QuestionMode;
use tokio::runtime::{Builder, Runtime};

use crate::app::planning::panel_setup::{
    AskOptions, PanelSetup, RehearsalChoice, TransportFactory,
};
use crate::app::project::Project;
use crate::config::settings::ProviderOrigin;
use crate::config::settle_sections::BudgetOverrides;
use crate::engine::budget::{Budget, worst_cost};
use crate::engine::call::build_reply;
use crate::engine::daily_budget::DailyBudget;
use crate::engine::run_start::SeatTransports;
use crate::error::Error;
use crate::providers::call_progress::SilenceTimer;
use crate::providers::transport::{CallError, CallRequest, Transport};
use crate::store::traits::in_transaction;

/// What the model proposed, and why there may be nothing.
#[derive(Debug, Default)]
pub struct DetectionResult {
    pub proposals: Vec<ProposedConflict>,
    pub warnings: Vec<RequestWarning>,
}

impl DetectionResult {
    /// A failed ask is a warning: the checks in code hold in any case.
    fn without_model(reason: &str) -> Self {
        let message = format!("no model looked for conflicts: {reason}");
        let warnings = vec![RequestWarning::new("detection_failed", message)];
        Self { proposals: Vec::new(), warnings }
    }
}

/// Asks the chair's provider, within the budget of one run and the daily budget of servers.
pub fn ask_for_conflicts(
    project: &Project,
    dialogue: &DialogueId,
    ethos: &DialogueEthos,
) -> Result<DetectionResult, Error> {
    let settings = project.loader.load_settings(&BudgetOverrides::default())?;
    if settings.council.origin == ProviderOrigin::Missing {
        return Ok(DetectionResult::without_model("there is no provider"));
    }
    let options = AskOptions {
        providers: Vec::new(),
        chair: None,
        stakes: StakesLevel::Normal,
        delivery: DeliveryMode::Synthesis,
        conclusion: None,
        rehearsal: RehearsalChoice::default(),
    };
    let setup = PanelSetup::new(&settings, &options, &TransportFactory::default())?;
    let plan = setup.build_plan(QuestionMode::General, Arc::default(), project.ambient.as_ref());
    let limit = settings.server_usd_micros.filter(|_| project.is_served);
    // Another process may write at the same time. It then has the number of the ask.
    loop {
        let entries = project.store.load_entries(dialogue, 0)?;
        if RunState::from_entries(&entries).is_some() {
            return Ok(DetectionResult::without_model(
                "the run of the dialogue asks its own Judge",
            ));
        }
        let chair = plan.chairs.first().and_then(|name| plan.find_seat(name)).cloned();
        let state = RunState::from_plan(&entries, plan.clone());
        let (Some(seat), Some(state)) = (chair, state) else {
            return Ok(DetectionResult::without_model("there is no chair"));
        };
        let call = DetectionCall::new(project, dialogue, &plan, seat, &state, ethos);
        if let Err(reason) = call.reserve(&plan, &state, limit) {
            return Ok(DetectionResult::without_model(&reason));
        }
        if call.record_ask(&entries)? {
            return call.run(&setup.connections);
        }
    }
}

/// The ask of a model.
struct DetectionCall<'a> {
    project: &'a Project,
    dialogue: &'a DialogueId,
    seat: Seat,
    ask: Ask,
    request: CallRequest,
    worst: BudgetReservation,
    keeps_prompts: bool,
    time: Duration,
}

impl<'a> DetectionCall<'a> {
    fn new(
        project: &'a Project,
        dialogue: &'a DialogueId,
        plan: &Plan,
        seat: Seat,
        state: &RunState,
        ethos: &DialogueEthos,
    ) -> Self {
        let (id, name) = (state.next_ask_id(), seat.name.clone());
        let purpose = FIND_CONFLICTS;
        let ask = Ask { id, round: 0, seat: name.clone(), purpose, retry_reason: None };
        let messages = Arc::new(conflict_messages(&plan.secret, ethos, &ask));
        let worst = worst_cost(&seat, &messages);
        let time = Duration::from_millis(plan.timeout_ms(&seat, TimeLimit::Chair));
        let request = CallRequest {
            seat: name,
            round: 0,
            purpose,
            messages,
            schema: Some(Arc::new(CONFLICTS_SCHEMA.clone())),
            timer: SilenceTimer::start(time),
            partial_text: None,
            is_stricter: false,
        };
        let keeps_prompts = plan.keep_prompts;
        Self { project, dialogue, seat, ask, request, worst, keeps_prompts, time }
    }

    /// Checks that the budgets cover the call.
    fn reserve(
        &self,
        plan: &Plan,
        state: &RunState,
        day_micros: Option<u64>,
    ) -> Result<(), String> {
        let short = |shortage| format!("the remainder of {shortage} does not cover the call");
        Budget::for_resumed_run(plan.caps, state).reserve(self.worst).map_err(short)?;
        let (store, ambient) = (&self.project.store, &self.project.ambient);
        let daily = DailyBudget::new(Arc::clone(store), Arc::clone(ambient));
        daily.set_limit(day_micros);
        daily.reserve_restatement(self.worst).map_err(short)
    }

    /// Runs the calls on a thread of their own: operations are synchronous, and a server calls them
    /// from inside its runtime.
    fn run(&self, connections: &SeatTransports) -> Result<DetectionResult, Error> {
        let joined = std::thread::scope(|scope| {
            let calls = scope.spawn(|| {
                let runtime = Builder::new_current_thread().enable_all().build();
                self.try_transports(&runtime.map_err(Error::Runtime)?, connections)
            });
            calls.join()
        });
        joined.unwrap_or_else(|_| Ok(DetectionResult::without_model("the call failed")))
    }

    /// The first of the seat's transports that gives a readable reply.
    fn try_transports(
        &self,
        runtime: &Runtime,
        connections: &SeatTransports,
    ) -> Result<DetectionResult, Error> {
        let mut last = "the seat has no transport".to_owned();
        for transport in connections.for_seat(&self.seat.name) {
            match self.make_call(runtime, transport)? {
                Ok(reply) => match parse_conflicts(&reply.text) {
                    ParseOutcome::Parsed { document, .. } => {
                        let proposals = proposals_of(&document);
                        return Ok(DetectionResult { proposals, warnings: Vec::new() });
                    }
                    ParseOutcome::Unreadable { reason, .. } => last = reason,
                },
                Err(error) => last = error.message,
            }
        }
        Ok(DetectionResult::without_model(&last))
    }

    /// One call, journalled before it is sent and when it ended.
    fn make_call(
        &self,
        runtime: &Runtime,
        transport: &Transport,
    ) -> Result<Result<ModelReply, CallError>, Error> {
        let call = self.record_sending(transport)?;
        let start = Instant::now();
        let answered = runtime.block_on(async {
            tokio::time::timeout(self.time, transport.send(&self.request)).await
        });
        let latency_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let answered = answered.unwrap_or_else(|_| {
            let message = format!("no answer within {} s", self.time.as_secs());
            Err(CallError::new(CallErrorType::Timeout, message))
        });
        match answered {
            Ok(received) => {
                let reply = build_reply(&self.seat, received, latency_ms, None);
                let reading = parse_conflicts(&reply.text);
                let kept = JournalEvent::ReplyKept { call, reply: reply.clone() };
                let parsed = JournalEvent::ReplyParsed { ask: self.ask.id, reading };
                self.record(JournalEntryKind::ReplyKept, &[kept, parsed])?;
                Ok(Ok(reply))
            }
            Err(error) => {
                let failure = CallFailure {
                    error_type: error.error_type,
                    message: error.message.clone(),
                    latency_ms,
                    refused: None,
                    estimated: error
                        .is_unserved
                        .then_some(BudgetReservation { usd_micros: Some(0), tokens: 0 }),
                    arrived: None,
                };
                let failed = JournalEvent::CallFailed { call, failure, gave_up: true };
                self.record(JournalEntryKind::CallFailed, &[failed])?;
                Ok(Err(error))
            }
        }
    }

    /// Records the ask, if the journal still is what `entries` are. The seat has no role, because it
    /// takes part in no round.
    fn record_ask(&self, entries: &[JournalEntry]) -> Result<bool, Error> {
        let messages = &self.request.messages;
        let seats = vec![Seat { roles: Vec::new(), ..self.seat.clone() }];
        let asked = JournalEvent::AskPrepared {
            ask: self.ask.clone(),
            messages: self.keeps_prompts.then(|| Arc::clone(messages)),
            messages_sha256: (!self.keeps_prompts).then(|| messages.content_hash()),
            condensed: Vec::new(),
        };
        let changes = [JournalEvent::SeatsAdded { seats }, asked];
        self.record_if_current(entries, JournalEntryKind::AsksPrepared, &changes)
    }

    /// Records the call with the next free number.
    fn record_sending(&self, transport: &Transport) -> Result<u32, Error> {
        loop {
            let entries = self.project.store.load_entries(self.dialogue, 0)?;
            let call = RunState::from_journal(&entries).map_or(1, |state| state.next_call_id());
            let sent = JournalEvent::CallSent(CallDispatch {
                call,
                ask: self.ask.id,
                transport: transport.kind(),
                attempt: 1,
                reserved: self.worst,
                fallback: None,
                repeats: None,
                without: Vec::new(),
            });
            if self.record_if_current(&entries, JournalEntryKind::CallSent, &[sent])? {
                return Ok(call);
            }
        }
    }

    /// Appends an entry unless the journal has grown, because the entry's numbers follow from it.
    fn record_if_current(
        &self,
        entries: &[JournalEntry],
        kind: JournalEntryKind,
        changes: &[JournalEvent],
    ) -> Result<bool, Error> {
        let at = self.project.ambient.now();
        in_transaction(self.project.store.as_ref(), |unit| -> Result<bool, Error> {
            let is_current = unit.count_entries(self.dialogue)? == entries.len() as u64;
            if is_current {
                unit.append_entry(self.dialogue, kind, at, changes)?;
            }
            Ok(is_current)
        })
    }

    fn record(&self, kind: JournalEntryKind, changes: &[JournalEvent]) -> Result<(), Error> {
        let at = self.project.ambient.now();
        in_transaction(self.project.store.as_ref(), |unit| -> Result<(), Error> {
            unit.append_entry(self.dialogue, kind, at, changes)?;
            Ok(())
        })
    }
}
