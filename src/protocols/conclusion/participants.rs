//! Lists who took part, and in which version.

use std::collections::BTreeSet;

use crate::domain::conclusion::ConclusionParticipant;
use crate::domain::digest::sha256_hex;
use crate::domain::expert::ExpertProfile;
use crate::domain::ids::ExpertSlug;
use crate::domain::record::DialogueRecord;
use crate::domain::transcript::RunState;
use crate::protocols::council::ROUNDS;

/// Hex digits of a version that is computed from a profile.
const VERSION_DIGITS: usize = 8;

/// Seats and experts with at least one answer, in the order of the panel. A seat has a version of
/// its own; the version of an expert is computed from its profile.
pub fn list_participants(
    transcript: &RunState,
    record: &DialogueRecord,
) -> Vec<ConclusionParticipant> {
    match transcript.opening.protocol.is_judged() {
        true => heard_experts(record),
        false => heard_seats(transcript),
    }
}

fn heard_seats(transcript: &RunState) -> Vec<ConclusionParticipant> {
    let heard: BTreeSet<&ExpertSlug> =
        ROUNDS.iter().flat_map(|round| transcript.seats_answered_in(*round)).collect();
    let seats = transcript.plan.seats.iter().filter(|seat| heard.contains(&seat.name));
    seats
        .map(|seat| ConclusionParticipant {
            agent: seat.name.clone(),
            version: seat.version.clone(),
        })
        .collect()
}

fn heard_experts(record: &DialogueRecord) -> Vec<ConclusionParticipant> {
    let spoke: BTreeSet<&ExpertSlug> =
        record.all_entities().flat_map(|entity| &entity.contributors).collect();
    let experts = record.experts.iter().map(|expert| &expert.profile);
    experts
        .filter(|profile| spoke.contains(&profile.expert_slug))
        .map(|profile| ConclusionParticipant {
            agent: profile.expert_slug.clone(),
            version: profile_version(profile),
        })
        .collect()
}

fn profile_version(profile: &ExpertProfile) -> String {
    let parts = [&profile.focus, &profile.description, &profile.mandate];
    let parts = parts.into_iter().map(|part| part.as_deref().unwrap_or_default());
    let text: Vec<&str> = std::iter::once(profile.role.as_str()).chain(parts).collect();
    let hex = sha256_hex(text.iter().map(|part| part.as_bytes()));
    hex.chars().take(VERSION_DIGITS).collect()
}
