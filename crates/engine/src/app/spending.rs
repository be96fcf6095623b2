//! What runs of the store cost so far, and how long replies usually are.

use std::collections::BTreeMap;

use plenary_core::model::ask::CallOutcome;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::plan::Seat;
use plenary_core::model::queries::DialogueQuery;
use plenary_core::model::run_state::RunState;
use plenary_core::model::time::{Moment, SinceTime};
use plenary_core::protocols::alignment::design::USUAL_REPLY_TOKENS;
use plenary_core::report::run_metrics::median;
use plenary_core::report::spending::{SpendingGroup, SpendingReport, SpendingSum};

use crate::app::project::Project;
use crate::engine::run_start::LoadedRun;
use crate::error::Error;
use crate::store::traits::Store;

/// Newest dialogues whose replies say what is usual.
const RECENT_DIALOGUES: usize = 20;

/// Sums what the runs of the store spent. Rehearsals are left out.
pub fn sum_spending(
    project: &Project,
    group: SpendingGroup,
    since: Option<SinceTime>,
) -> Result<SpendingReport, Error> {
    let since = since.map(|since| since.start_moment(project.ambient.now()));
    let mut sum = SpendingSum::new(group, since);
    let store = project.store.as_ref();
    for id in store.list_paid_dialogues(since.unwrap_or(Moment::FIRST))? {
        let entries = store.load_entries(&id, 0)?;
        let state = RunState::from_journal(&entries);
        if let Some(state) = state.filter(|state| !state.opening.rehearsal) {
            sum.add_run(&state);
        }
    }
    Ok(sum.into_report())
}

fn load_state(store: &dyn Store, id: &DialogueId) -> Result<Option<RunState>, Error> {
    let entries = store.load_entries(id, 0)?;
    Ok(LoadedRun::from_entries(&entries).map(|loaded| loaded.state))
}

/// Usual length of replies in tokens, by model.
#[derive(Debug, Clone, Default)]
pub struct UsualReplies(BTreeMap<String, u32>);

impl UsualReplies {
    /// Reads the newest runs of a store.
    pub fn load(store: &dyn Store) -> Result<Self, Error> {
        let query = DialogueQuery { limit: RECENT_DIALOGUES, ..DialogueQuery::default() };
        let mut lengths: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for dialogue in store.list_dialogues(&query)?.iter().filter(|one| !one.rehearsal) {
            let Some(state) = load_state(store, &dialogue.dialogue_id)? else { continue };
            for asked in &state.asks {
                let seat = state.plan.find_seat(&asked.ask.seat);
                let replies = asked.calls.iter().filter_map(|call| match &call.outcome {
                    CallOutcome::Replied(reply, _) => Some(reply.usage?.output_tokens),
                    CallOutcome::InFlight | CallOutcome::Lost | CallOutcome::Failed(..) => None,
                });
                if let Some(seat) = seat {
                    lengths.entry(seat.model.clone()).or_default().extend(replies);
                }
            }
        }
        let middle = |(model, lengths)| Some((model, u32::try_from(median(lengths)?).ok()?));
        Ok(Self(lengths.into_iter().filter_map(middle).collect()))
    }

    /// The median on record, else a usual length; never more than the seat may write.
    pub(crate) fn output_tokens(&self, seat: &Seat) -> u32 {
        let known = self.0.get(&seat.model).copied();
        seat.output_tokens_max.min(known.unwrap_or(USUAL_REPLY_TOKENS))
    }
}
