//! The panel of a round: the Judge's proposal, completed by rules.
//!
//! Each unsettled tension keeps an owner, the best and the most relevant experts stay, and a panel
//! that agrees too easily or cannot settle a tension gets a new voice.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::model::dialogue::{ExpertProfile, ExpertSource, ExpertTier, PanelSeat, PanelSeatSource};
use crate::model::ids::{EntityId, ExpertSlug};
use crate::model::journal::JournalEvent;
use crate::model::limits::{LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::model::run_state::{ReplyDocument, RunState};
use crate::model::text::{default_expert_name, trim_and_truncate};
use crate::protocols::alignment::answers::{judged_run, list_heard};
use crate::protocols::alignment::design::seats_for;
use crate::protocols::alignment::state::AlignmentState;
use crate::protocols::alignment::types::{
    AlignmentPlan, PANEL_MAX, PanelReply, ReconcileReply, SeatProposal,
};

/// One of three seats of a panel stays for its score.
const HIGH_SCORERS_DIVISOR: usize = 3;

/// Half of the panel converges while tensions are open: the consensus ignores them.
const EARLY_CONSENSUS_DIVISOR: usize = 2;

/// What a fresh expert is asked who joins a panel without new arguments.
const CHALLENGE: &str = "The panel agrees, or repeats itself, while tensions are unsettled. Test \
                         its common ground: name the assumption that all of them share, the case \
                         in which it is false, and what follows then.";

/// The events that set the panel of a round.
pub(crate) fn evolve_panel(
    state: &RunState,
    round: u8,
    reply: Option<&PanelReply>,
) -> Vec<JournalEvent> {
    let Some((plan, judged)) = judged_run(state) else { return Vec::new() };
    let mut panel = PanelDraft::new(state, plan, judged, round);
    for proposal in reply.iter().flat_map(|reply| &reply.seats) {
        panel.add_proposal(proposal);
    }
    panel.keep_owners();
    panel.keep_experts();
    panel.fit_size();
    panel.add_fresh_voice();
    panel.assign_gaps();
    panel.into_events()
}

/// A seat with the reason why it cannot be removed.
struct DraftSeat {
    seat: PanelSeat,
    is_fixed: bool,
}

struct PanelDraft<'a> {
    state: &'a RunState,
    plan: &'a AlignmentPlan,
    judged: &'a AlignmentState,
    round: u8,
    seats: Vec<DraftSeat>,
    created: Vec<ExpertProfile>,
    /// Tensions that a seat owns.
    owned: BTreeSet<EntityId>,
}

impl<'a> PanelDraft<'a> {
    fn new(
        state: &'a RunState,
        plan: &'a AlignmentPlan,
        judged: &'a AlignmentState,
        round: u8,
    ) -> Self {
        let (seats, created, owned) = Default::default();
        Self { state, plan, judged, round, seats, created, owned }
    }

    fn last_panel(&self) -> &'a [PanelSeat] {
        self.judged.panel_of(self.round.saturating_sub(1))
    }

    fn size(&self) -> usize {
        self.judged.panel_of(0).len().max(1)
    }

    fn is_seated(&self, slug: &ExpertSlug) -> bool {
        self.seats.iter().any(|draft| draft.seat.expert_slug == *slug)
    }

    fn was_seated(&self, slug: &ExpertSlug) -> bool {
        self.last_panel().iter().any(|seat| seat.expert_slug == *slug)
    }

    /// Adds an expert of the dialogue. The source follows from the record.
    fn add_known(&mut self, slug: &ExpertSlug, directive: Option<&str>, is_fixed: bool) {
        let Some(profile) = self.judged.find_expert(slug) else { return };
        if let Some(draft) = self.seats.iter_mut().find(|draft| draft.seat.expert_slug == *slug) {
            draft.is_fixed |= is_fixed;
            return;
        }
        let source = match (self.was_seated(slug), profile.source) {
            (true, _) => PanelSeatSource::Retained,
            (false, ExpertSource::Pool) => PanelSeatSource::Pool,
            (false, ExpertSource::Created) => PanelSeatSource::Created,
        };
        let directive = directive.map(|text| trim_and_truncate(text, TEXT_CHARS_MAX));
        let seat = PanelSeat {
            expert_slug: slug.clone(),
            source,
            round_context: directive.filter(|text| !text.is_empty()),
            mandate: profile.mandate.clone(),
        };
        self.seats.push(DraftSeat { seat, is_fixed });
    }

    /// A proposal that names no known expert is a new one, if the Judge says who it is.
    fn add_proposal(&mut self, proposal: &SeatProposal) {
        let name = proposal.expert_slug.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let known = self.judged.experts.iter().map(|profile| &profile.expert_slug);
        let known = name.and_then(|name| known.into_iter().find(|slug| slug.as_str() == name));
        let directive = proposal.directive.as_deref();
        let is_owner = self.note_owned(proposal);
        match known {
            Some(slug) => self.add_known(&slug.clone(), directive, is_owner),
            None if proposal.source == PanelSeatSource::Created => {
                let role = proposal.role.as_deref().unwrap_or_default();
                let (tier, focus) = (proposal.tier, proposal.focus.as_deref());
                self.add_created(role, tier, focus, &proposal.reason, directive);
            }
            None => {}
        }
    }

    /// Notes the tensions of a proposal, and returns whether it owns an unsettled one.
    fn note_owned(&mut self, proposal: &SeatProposal) -> bool {
        let named = proposal.tensions.iter().filter_map(|id| id.trim().parse::<EntityId>().ok());
        let open: BTreeSet<EntityId> = self.judged.unsettled_tensions().map(|(id, _)| id).collect();
        let owned: Vec<EntityId> = named.filter(|id| open.contains(id)).collect();
        let is_owner = !owned.is_empty();
        self.owned.extend(owned);
        is_owner
    }

    fn add_created(
        &mut self,
        role: &str,
        tier: Option<ExpertTier>,
        focus: Option<&str>,
        reason: &str,
        mandate: Option<&str>,
    ) {
        let role = trim_and_truncate(role, LINE_CHARS_MAX);
        let same_role = |profile: &ExpertProfile| profile.role.eq_ignore_ascii_case(&role);
        let has_role = self.judged.experts.iter().chain(&self.created).any(same_role);
        if role.is_empty() || has_role || self.plan.pool_only {
            return;
        }
        let Some(slug) = self.free_slug() else { return };
        let text = |text: Option<&str>, chars_max| {
            let text = trim_and_truncate(text.unwrap_or_default(), chars_max);
            Some(text).filter(|text| !text.is_empty())
        };
        let mut profile = ExpertProfile::new(
            slug.clone(),
            role,
            tier.unwrap_or(ExpertTier::Adjacent),
            ExpertSource::Created,
        );
        profile.focus = text(focus, LINE_CHARS_MAX);
        profile.creation_reason = text(Some(reason), TEXT_CHARS_MAX);
        profile.mandate = text(mandate, TEXT_CHARS_MAX);
        profile.first_round = Some(self.round);
        let seat = PanelSeat {
            expert_slug: slug,
            source: PanelSeatSource::Created,
            round_context: None,
            mandate: profile.mandate.clone(),
        };
        self.created.push(profile);
        self.seats.push(DraftSeat { seat, is_fixed: true });
    }

    fn free_slug(&self) -> Option<ExpertSlug> {
        let taken = |slug: &ExpertSlug| {
            let experts = self.judged.experts.iter().chain(&self.created);
            experts.into_iter().any(|profile| profile.expert_slug == *slug)
                || self.state.plan.find_seat(slug).is_some()
        };
        let mut names = (0..).filter_map(|nth| default_expert_name(nth).parse().ok());
        names.find(|slug| !taken(slug))
    }

    /// The raiser of a tension that has no owner stays.
    fn keep_owners(&mut self) {
        let unowned: Vec<ExpertSlug> = self
            .judged
            .unsettled_tensions()
            .filter(|(id, _)| !self.owned.contains(id))
            .filter_map(|(_, tension)| {
                let was_seated = |slug: &&ExpertSlug| self.was_seated(slug);
                let raisers = &tension.raised_by;
                raisers.iter().find(was_seated).or_else(|| raisers.first()).cloned()
            })
            .collect();
        for slug in unowned {
            self.add_known(&slug, None, true);
        }
    }

    /// High scorers and the most relevant Core expert stay, if they answered in the last round.
    fn keep_experts(&mut self) {
        let last = self.round.saturating_sub(1);
        let heard = list_heard(self.state, last);
        let heard: Vec<&ExpertSlug> = heard.iter().map(|reply| reply.expert()).collect();
        let mut ranked: Vec<&ExpertSlug> = self
            .last_panel()
            .iter()
            .map(|seat| &seat.expert_slug)
            .filter(|slug| heard.contains(slug))
            .collect();
        ranked.sort_by_key(|slug| Reverse(self.judged.total_of(slug)));
        let best = ranked.iter().take(self.size().div_ceil(HIGH_SCORERS_DIVISOR)).copied();
        let core = ranked.iter().copied().filter_map(|slug| self.judged.find_expert(slug));
        let core = core.filter(|profile| profile.tier == ExpertTier::Core);
        let core = core.max_by_key(|profile| relevance_of(profile));
        let core = core.map(|profile| &profile.expert_slug);
        let kept: Vec<ExpertSlug> = best.chain(core).cloned().collect();
        for slug in kept {
            self.add_known(&slug, None, true);
        }
    }

    /// Fills empty seats with the last panel and then the pool; removes seats over the size that no
    /// rule keeps.
    fn fit_size(&mut self) {
        let size = self.size();
        let last: Vec<ExpertSlug> =
            self.last_panel().iter().map(|seat| seat.expert_slug.clone()).collect();
        for slug in last.into_iter().chain(self.unseated_pool()) {
            if self.seats.len() >= size {
                break;
            }
            self.add_known(&slug, None, false);
        }
        while self.seats.len() > size {
            let Some(place) = self.seats.iter().rposition(|draft| !draft.is_fixed) else { break };
            self.seats.remove(place);
        }
        self.seats.truncate(PANEL_MAX);
    }

    /// Experts of the pool who are not on the last panel: Wildcards first, then by relevance.
    fn unseated_pool(&self) -> Vec<ExpertSlug> {
        let experts = self.judged.experts.iter();
        let free = |profile: &&ExpertProfile| {
            !self.was_seated(&profile.expert_slug) && !self.is_seated(&profile.expert_slug)
        };
        let mut free: Vec<&ExpertProfile> = experts.filter(free).collect();
        free.sort_by_key(|profile| {
            (profile.tier != ExpertTier::Wildcard, Reverse(relevance_of(profile)))
        });
        free.into_iter().map(|profile| profile.expert_slug.clone()).collect()
    }

    /// A stale consensus gets a challenger; a tension that no seat could address gets an expert of
    /// the pool, else a created one.
    fn add_fresh_voice(&mut self) {
        let is_fresh = |draft: &DraftSeat| draft.seat.source != PanelSeatSource::Retained;
        let stuck = self.stuck_tension();
        let needs_voice = self.is_stale_consensus() || stuck.is_some();
        if !needs_voice || self.seats.iter().any(is_fresh) {
            return;
        }
        let task = match stuck {
            Some(id) => format!(
                "No expert has settled {id} in two rounds. Say from your field what would settle \
                 it, or why the panel can accept it."
            ),
            None => CHALLENGE.to_owned(),
        };
        let seats = self.seats.len();
        match self.unseated_pool().first() {
            Some(slug) => self.add_known(&slug.clone(), Some(&task), true),
            None => {
                let reason = "The pool has no expert who has not taken part yet.";
                let role = format!("Challenger of round {}", self.round);
                let tier = Some(ExpertTier::Wildcard);
                self.add_created(&role, tier, None, reason, Some(&task));
            }
        }
        // Only a voice that was found replaces a seat.
        if self.seats.len() > seats.max(self.size())
            && let Some(place) = self.seats.iter().rposition(|draft| !draft.is_fixed)
        {
            self.seats.remove(place);
        }
    }

    /// Many experts converge while tensions are unsettled, or the last round changed nothing.
    fn is_stale_consensus(&self) -> bool {
        let Some(last) = self.judged.last_round() else { return false };
        let agreed = self.judged.converged_in(last).len() * EARLY_CONSENSUS_DIVISOR;
        let is_early = agreed >= self.judged.panel_of(last).len().max(1);
        let is_open = self.judged.unsettled_tensions().next().is_some();
        let changed = self.judged.status_changes.get(&last).copied().unwrap_or(0) > 0;
        (is_early && is_open) || (last > 0 && !changed)
    }

    /// The oldest tension that no event touched in the last round.
    fn stuck_tension(&self) -> Option<EntityId> {
        let last = self.judged.last_round().filter(|last| *last > 0)?;
        let mut open = self.judged.unsettled_tensions();
        open.find(|(_, tension)| tension.last_event_round < last).map(|(id, _)| id)
    }

    /// What the Judge found missing becomes the task of seats that have none.
    fn assign_gaps(&mut self) {
        let gaps = self.last_gaps();
        let idle = self.seats.iter_mut().filter(|draft| draft.seat.round_context.is_none());
        let idle = idle.filter(|draft| draft.seat.source != PanelSeatSource::Created);
        for (draft, gap) in idle.zip(gaps) {
            let task = format!("The Judge finds that the panel has not covered this: {gap}");
            draft.seat.round_context = Some(trim_and_truncate(&task, TEXT_CHARS_MAX));
        }
    }

    /// The gaps of the last round that no directive of this panel repeats.
    fn last_gaps(&self) -> Vec<String> {
        let reply = last_reconciliation(self.state, self.round.saturating_sub(1));
        let gaps = reply.into_iter().flat_map(|reply| &reply.gaps);
        let has_directives = self.seats.iter().any(|draft| draft.seat.round_context.is_some());
        let gaps = gaps.filter(|gap| !gap.trim().is_empty() && !has_directives);
        gaps.cloned().collect()
    }

    fn into_events(self) -> Vec<JournalEvent> {
        let slugs = self.seats.iter().map(|draft| &draft.seat.expert_slug);
        let fresh = seats_for(self.state, self.plan, slugs);
        let seats = self.seats.into_iter().map(|draft| draft.seat).collect();
        let mut changes: Vec<JournalEvent> =
            self.created.into_iter().map(JournalEvent::ExpertAdded).collect();
        if !fresh.is_empty() {
            changes.push(JournalEvent::SeatsAdded { seats: fresh });
        }
        changes.push(JournalEvent::PanelSet { round: self.round, seats });
        changes
    }
}

/// The relevance in whole thousandths, so that it can be compared.
fn relevance_of(profile: &ExpertProfile) -> u32 {
    (profile.relevance.unwrap_or(0.5) * 1e3) as u32
}

/// The Judge's last parsed reconciliation of a round.
pub(crate) fn last_reconciliation(state: &RunState, round: u8) -> Option<&ReconcileReply> {
    let asks = state.asks_in_round(round).filter(|asked| !asked.retired);
    let replies = asks.filter_map(|asked| {
        let ReplyDocument::Reconciliation(reply) = asked.parsed_document()? else { return None };
        Some(reply.as_ref())
    });
    replies.last()
}
