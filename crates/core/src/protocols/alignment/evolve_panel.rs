//! The panel of a round: the Judge's proposal, completed by rules.
//!
//! Each unsettled tension keeps an owner, the best and the most relevant experts stay, and a panel
//! that agrees too easily or cannot settle a tension gets a new voice.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::model::dialogue::{
    ExpertProfile, ExpertSource, ExpertTier, PanelSeat, PanelSeatSource, to_panel_seat,
};
use crate::model::ids::{EntityId, ExpertSlug};
use crate::model::journal::JournalEvent;
use crate::model::limits::{LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::model::run_state::{ReplyDocument, RunState};
use crate::model::text::{default_expert_name, trim_and_truncate};
use crate::protocols::alignment::answers::{judged_run, list_heard};
use crate::protocols::alignment::design::seats_for;
use crate::protocols::alignment::state::{AlignmentState, TensionState};
use crate::protocols::alignment::types::{
    AlignmentPlan, PANEL_MAX, PanelReply, ReconcileReply, SeatProposal,
};

/// One of three seats of a panel stays for its score.
const HIGH_SCORERS_DIVISOR: usize = 3;

/// Half of the panel converges while tensions are open: the consensus ignores them.
const EARLY_CONSENSUS_DIVISOR: usize = 2;

/// Shorter words say little about what a sentence is about.
const LONG_WORD_CHARS: usize = 5;

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
    let (seats, created) = Default::default();
    let mut panel = PanelDraft { state, plan, judged, round, seats, created };
    for proposal in reply.iter().flat_map(|reply| &reply.seats) {
        panel.add_proposal(proposal);
    }
    panel.keep_owners();
    panel.keep_experts();
    panel.fill_seats();
    panel.drop_seats();
    panel.add_fresh_voice();
    panel.drop_seats();
    panel.assign_gaps();
    panel.into_events()
}

/// How firmly a seat stands: the panel has a size, and the loosest seat goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SeatRank {
    /// Fills a seat that no rule needs.
    Filler,
    /// Stays for its merit, or the Judge created it.
    Kept,
    /// Owns an unsettled tension.
    Owner,
    /// A new voice that the panel needs.
    Voice,
}

struct DraftSeat {
    seat: PanelSeat,
    rank: SeatRank,
}

struct PanelDraft<'a> {
    state: &'a RunState,
    plan: &'a AlignmentPlan,
    judged: &'a AlignmentState,
    round: u8,
    seats: Vec<DraftSeat>,
    created: Vec<ExpertProfile>,
}

/// What a seat is for.
#[derive(Default)]
struct SeatTask<'t> {
    directive: Option<&'t str>,
    reason: Option<&'t str>,
}

impl<'t> SeatTask<'t> {
    fn because(reason: &'t str) -> Self {
        Self { directive: None, reason: Some(reason) }
    }
}

impl<'a> PanelDraft<'a> {
    fn last_panel(&self) -> &'a [PanelSeat] {
        self.judged.panel_of(self.round.saturating_sub(1))
    }

    fn size(&self) -> usize {
        self.judged.panel_of(0).len().clamp(1, PANEL_MAX)
    }

    fn find_seat(&mut self, slug: &ExpertSlug) -> Option<&mut DraftSeat> {
        self.seats.iter_mut().find(|draft| draft.seat.expert_slug == *slug)
    }

    fn is_seated(&self, slug: &ExpertSlug) -> bool {
        self.seats.iter().any(|draft| draft.seat.expert_slug == *slug)
    }

    fn was_seated(&self, slug: &ExpertSlug) -> bool {
        self.last_panel().iter().any(|seat| seat.expert_slug == *slug)
    }

    /// Seats an expert of the dialogue, or raises the rank of the seat. The source follows from the
    /// record.
    fn add_known(&mut self, slug: &ExpertSlug, task: &SeatTask<'_>, rank: SeatRank) {
        let Some(profile) = self.judged.find_expert(slug) else { return };
        if let Some(draft) = self.find_seat(slug) {
            draft.rank = draft.rank.max(rank);
            return;
        }
        let source = match (self.was_seated(slug), profile.source) {
            (true, _) => PanelSeatSource::Retained,
            (false, ExpertSource::Pool) => PanelSeatSource::Pool,
            (false, ExpertSource::Created) => PanelSeatSource::Created,
        };
        let seat = PanelSeat {
            source,
            round_context: text_of(task.directive, TEXT_CHARS_MAX),
            reason: text_of(task.reason, TEXT_CHARS_MAX),
            ..to_panel_seat(profile)
        };
        self.seats.push(DraftSeat { seat, rank });
    }

    /// A proposal that names no known expert is a new one, if the Judge says who it is.
    fn add_proposal(&mut self, proposal: &SeatProposal) {
        let name = proposal.expert_slug.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let known = self.judged.experts.iter().map(|profile| &profile.expert_slug);
        let known = name.and_then(|name| known.into_iter().find(|slug| slug.as_str() == name));
        let (directive, reason) = (proposal.directive.as_deref(), Some(&*proposal.reason));
        let task = SeatTask { directive, reason };
        let slug = match known.cloned() {
            Some(slug) => {
                self.add_known(&slug, &task, SeatRank::Filler);
                Some(slug)
            }
            None if proposal.source == PanelSeatSource::Created => {
                let role = proposal.role.as_deref().unwrap_or_default();
                let (tier, focus) = (proposal.tier, proposal.focus.as_deref());
                self.add_created(role, tier, focus, &task)
            }
            None => None,
        };
        if let Some(slug) = slug {
            let named = proposal.tensions.iter().filter_map(|id| id.trim().parse().ok());
            self.give_tensions(&slug, named.collect());
        }
    }

    /// Makes a seat the owner of those of the tensions that are unsettled and have no owner.
    fn give_tensions(&mut self, slug: &ExpertSlug, named: Vec<EntityId>) {
        let free: Vec<EntityId> = self.unowned().map(|(id, _)| id).collect();
        let Some(draft) = self.find_seat(slug) else { return };
        for id in named.into_iter().filter(|id| free.contains(id)) {
            if !draft.seat.tensions.contains(&id) {
                draft.seat.tensions.push(id);
                draft.rank = draft.rank.max(SeatRank::Owner);
            }
        }
    }

    /// Unsettled tensions that no seat owns.
    fn unowned(&self) -> impl Iterator<Item = (EntityId, &'a TensionState)> {
        let mut owned = self.seats.iter().flat_map(|draft| &draft.seat.tensions);
        let owned: BTreeSet<EntityId> = owned.by_ref().copied().collect();
        self.judged.unsettled_tensions().filter(move |(id, _)| !owned.contains(id))
    }

    fn add_created(
        &mut self,
        role: &str,
        tier: Option<ExpertTier>,
        focus: Option<&str>,
        task: &SeatTask<'_>,
    ) -> Option<ExpertSlug> {
        let role = trim_and_truncate(role, LINE_CHARS_MAX);
        let same_role = |profile: &ExpertProfile| profile.role.eq_ignore_ascii_case(&role);
        let has_role = self.judged.experts.iter().chain(&self.created).any(same_role);
        if role.is_empty() || has_role || self.plan.pool_only {
            return None;
        }
        let slug = self.free_slug()?;
        let tier = tier.unwrap_or(ExpertTier::Adjacent);
        let mut profile = ExpertProfile::new(slug.clone(), role, tier, ExpertSource::Created);
        profile.focus = text_of(focus, LINE_CHARS_MAX);
        profile.creation_reason = text_of(task.reason, TEXT_CHARS_MAX);
        profile.mandate = text_of(task.directive, TEXT_CHARS_MAX);
        profile.first_round = Some(self.round);
        let reason = profile.creation_reason.clone();
        let seat = PanelSeat { reason, ..to_panel_seat(&profile) };
        self.created.push(profile);
        self.seats.push(DraftSeat { seat, rank: SeatRank::Kept });
        Some(slug)
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
        let unowned: Vec<(EntityId, ExpertSlug)> = self
            .unowned()
            .filter_map(|(id, tension)| {
                let was_seated = |slug: &&ExpertSlug| self.was_seated(slug);
                let raisers = &tension.raised_by;
                let raiser = raisers.iter().find(was_seated).or_else(|| raisers.first())?;
                Some((id, raiser.clone()))
            })
            .collect();
        for (id, slug) in unowned {
            let task = SeatTask::because("Raised a tension that is not settled.");
            self.add_known(&slug, &task, SeatRank::Owner);
            self.give_tensions(&slug, vec![id]);
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
        // Of equally relevant experts the one with the higher score.
        let core = core.rev().max_by_key(|profile| relevance_of(profile));
        let core = core.map(|profile| &profile.expert_slug);
        let kept: Vec<ExpertSlug> = best.chain(core).cloned().collect();
        let task = SeatTask::because("High scores, or the core of the question.");
        for slug in kept {
            self.add_known(&slug, &task, SeatRank::Kept);
        }
    }

    /// Fills empty seats with the last panel and then the pool.
    fn fill_seats(&mut self) {
        let last: Vec<ExpertSlug> =
            self.last_panel().iter().map(|seat| seat.expert_slug.clone()).collect();
        for slug in last.into_iter().chain(self.unseated_pool()) {
            if self.seats.len() >= self.size() {
                break;
            }
            self.add_known(&slug, &SeatTask::because("Fills a seat."), SeatRank::Filler);
        }
    }

    /// Removes the loosest seats over the size, the last ones first. The tensions of a removed seat
    /// go to the firmest seat that owns the fewest.
    fn drop_seats(&mut self) {
        while self.seats.len() > self.size() {
            let loosest = self.seats.iter().map(|draft| draft.rank).min();
            let place = self.seats.iter().rposition(|draft| Some(draft.rank) == loosest);
            let Some(removed) = place.map(|place| self.seats.remove(place)) else { return };
            self.created.retain(|profile| profile.expert_slug != removed.seat.expert_slug);
            let heirs = self.seats.iter_mut();
            let heir = heirs.min_by_key(|draft| (Reverse(draft.rank), draft.seat.tensions.len()));
            if let Some(heir) = heir {
                heir.seat.tensions.extend(removed.seat.tensions);
            }
        }
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
        let (reason, rank) = ("The panel needs a new voice.", SeatRank::Voice);
        let task = SeatTask { directive: Some(&task), reason: Some(reason) };
        match self.unseated_pool().first().cloned() {
            Some(slug) => self.add_known(&slug, &task, rank),
            None => {
                let role = format!("Challenger of round {}", self.round);
                let slug = self.add_created(&role, Some(ExpertTier::Wildcard), None, &task);
                if let Some(draft) = slug.and_then(|slug| self.find_seat(&slug)) {
                    draft.rank = rank;
                }
            }
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

    /// What the Judge found missing becomes a task: first of seats that have none.
    fn assign_gaps(&mut self) {
        let gaps = self.last_gaps();
        let is_known = |draft: &&mut DraftSeat| draft.seat.source != PanelSeatSource::Created;
        let mut seats: Vec<&mut DraftSeat> = self.seats.iter_mut().filter(is_known).collect();
        seats.sort_by_key(|draft| draft.seat.round_context.is_some());
        for (draft, gap) in seats.into_iter().zip(gaps) {
            let task = format!("The Judge finds that the panel has not covered this: {gap}");
            let before = draft.seat.round_context.as_deref().map(|text| format!("{text}\n"));
            let task = before.unwrap_or_default() + &task;
            draft.seat.round_context = Some(trim_and_truncate(&task, TEXT_CHARS_MAX));
        }
    }

    /// The gaps of the last round that no directive of this panel repeats.
    fn last_gaps(&self) -> Vec<String> {
        let reply = last_reconciliation(self.state, self.round.saturating_sub(1));
        let gaps = reply.into_iter().flat_map(|reply| &reply.gaps);
        let seats = self.seats.iter().map(|draft| &draft.seat);
        let result = seats.flat_map(|seat| seat.round_context.iter().chain(&seat.mandate));
        let result: BTreeSet<String> = result.flat_map(|text| long_words(text)).collect();
        let is_told = |gap: &str| {
            let words: Vec<String> = long_words(gap).collect();
            words.iter().filter(|word| result.contains(*word)).count() * 2 > words.len()
        };
        let gaps = gaps.filter(|gap| !gap.trim().is_empty() && !is_told(gap));
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

fn text_of(text: Option<&str>, chars_max: usize) -> Option<String> {
    let text = trim_and_truncate(text.unwrap_or_default(), chars_max);
    Some(text).filter(|text| !text.is_empty())
}

/// The words of a text that carry its meaning.
fn long_words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| word.chars().count() >= LONG_WORD_CHARS).map(str::to_lowercase)
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
