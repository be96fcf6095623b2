//! Minority verdicts and dissents: in the words of the experts, never in the Judge's.
//!
//! What an expert marked is registered as marked. For an expert who withheld convergence and marked
//! nothing the Judge may choose words of that expert's replies.

use std::collections::BTreeSet;

use crate::dialogue::verdict::parse::VerdictRequest;
use crate::markers::extraction::VerdictDraft;
use crate::model::ids::{ExpertSlug, VerdictId};
use crate::model::limits::{LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::model::run_state::RunState;
use crate::model::text::{QUOTE_LETTERS_MIN, find_quote, to_one_line, trim_and_truncate};
use crate::model::verdict::VerdictType;
use crate::protocols::alignment::answers::{judged_run, list_heard};
use crate::protocols::alignment::state::AlignmentState;
use crate::protocols::alignment::types::VerdictsReply;

/// Experts who may have a minority verdict or a dissent: seats of the last panel that did not
/// converge, and experts who marked one.
pub fn list_objectors(state: &RunState) -> BTreeSet<ExpertSlug> {
    let Some((_, judged)) = judged_run(state) else { return BTreeSet::new() };
    let Some(last) = judged.last_round() else { return BTreeSet::new() };
    let converged = judged.converged_in(last);
    let seats = judged.panel_of(last).iter().map(|seat| &seat.expert_slug);
    let withheld = seats.filter(|slug| !converged.contains(slug)).cloned();
    withheld.chain(list_drafts(state).into_iter().map(|draft| draft.author_expert)).collect()
}

/// The minority verdicts and dissents that experts marked, the newest of each expert and type. An
/// expert who converged in a later round has withdrawn them.
pub fn list_drafts(state: &RunState) -> Vec<VerdictDraft> {
    let Some(judged) = state.alignment.as_deref() else { return Vec::new() };
    let mut drafts: Vec<VerdictDraft> = Vec::new();
    for held in &judged.rounds {
        let converged = judged.converged_in(held.round);
        drafts.retain(|draft| !converged.contains(&draft.author_expert));
        for reply in list_heard(state, held.round) {
            let mut own: Vec<VerdictDraft> = Vec::new();
            for draft in reply.read.verdicts {
                let is_told = own.iter().any(|known| known.verdict_type == draft.verdict_type);
                if !draft.verdict_type.takes_effect() && !is_told {
                    own.push(draft);
                }
            }
            let is_replaced = |known: &VerdictDraft| {
                own.iter().any(|new| (&new.author_expert, new.verdict_type) == key_of(known))
            };
            drafts.retain(|known| !is_replaced(known));
            drafts.extend(own);
        }
    }
    drafts
}

fn key_of(draft: &VerdictDraft) -> (&ExpertSlug, VerdictType) {
    (&draft.author_expert, draft.verdict_type)
}

/// A minority verdict or a dissent that the Judge states for an expert.
struct StatedObjection<'r> {
    field: &'static str,
    verdict_type: VerdictType,
    author: &'r str,
    supporters: &'r [String],
    recommendation: &'r str,
    description: &'r str,
}

fn stated_objections(reply: &VerdictsReply) -> impl Iterator<Item = StatedObjection<'_>> {
    let minority = reply.minority.iter().map(|one| StatedObjection {
        field: "minority",
        verdict_type: VerdictType::Minority,
        author: &one.author,
        supporters: &one.supporting_experts,
        recommendation: &one.recommendation,
        description: &one.description,
    });
    minority.chain(reply.dissents.iter().map(|one| StatedObjection {
        field: "dissents",
        verdict_type: VerdictType::Dissent,
        author: &one.author,
        supporters: &[],
        recommendation: &one.recommendation,
        description: &one.description,
    }))
}

/// What is wrong with the objections that the Judge states.
pub(crate) fn check_objections(state: &RunState, reply: &VerdictsReply) -> Vec<String> {
    let (objectors, drafts) = (list_objectors(state), list_drafts(state));
    let mut faults = Vec::new();
    for stated in stated_objections(reply) {
        let (field, shown) = (stated.field, to_one_line(stated.author));
        let Some(author) = find_objector(&objectors, stated.author) else {
            faults.push(format!("{field}: `{shown}` neither dissented nor withheld convergence"));
            continue;
        };
        let has_draft = drafts.iter().any(|draft| draft.author_expert == author);
        if !has_draft && find_words(state, &author, stated.description).is_none() {
            faults.push(format!(
                "{field}: the description is not copied from a reply of `{shown}`, or has fewer than {QUOTE_LETTERS_MIN} letters"
            ));
        }
    }
    faults
}

fn find_objector(objectors: &BTreeSet<ExpertSlug>, name: &str) -> Option<ExpertSlug> {
    let name = name.trim();
    objectors.iter().find(|slug| slug.as_str().eq_ignore_ascii_case(name)).cloned()
}

/// These words in the newest reply of the expert that has them.
fn find_words(state: &RunState, author: &ExpertSlug, words: &str) -> Option<String> {
    let judged = state.alignment.as_deref()?;
    judged.rounds.iter().rev().find_map(|held| {
        let heard = list_heard(state, held.round);
        let own = heard.iter().find(|reply| reply.expert() == author)?;
        find_quote(own.text, words).map(str::to_owned)
    })
}

/// What the experts marked, then what the Judge chose for experts who marked nothing.
pub(crate) fn objection_requests(state: &RunState, reply: &VerdictsReply) -> Vec<VerdictRequest> {
    let (objectors, drafts) = (list_objectors(state), list_drafts(state));
    let mut requests: Vec<VerdictRequest> =
        drafts.iter().filter_map(|draft| draft_request(state, draft)).collect();
    let mut result: BTreeSet<ExpertSlug> =
        drafts.into_iter().map(|draft| draft.author_expert).collect();
    for stated in stated_objections(reply) {
        let author = find_objector(&objectors, stated.author).filter(|slug| !result.contains(slug));
        let Some(author) = author else { continue };
        let Some(description) = find_words(state, &author, stated.description) else { continue };
        let recommendation = find_words(state, &author, stated.recommendation);
        let texts = (recommendation.as_deref().unwrap_or_default(), description.as_str());
        let Some(request) = objection(state, stated.verdict_type, &author, texts) else { continue };
        let named = stated.supporters.iter().filter_map(|name| find_objector(&objectors, name));
        let mut supporters = vec![author];
        // Who has an own verdict speaks there.
        for supporter in named.filter(|slug| !result.contains(slug)) {
            if !supporters.contains(&supporter) {
                supporters.push(supporter);
            }
        }
        result.extend(supporters.iter().cloned());
        requests.push(with_supporters(request, &supporters));
    }
    requests
}

/// A marked verdict, in the words and of the type that the expert chose.
fn draft_request(state: &RunState, draft: &VerdictDraft) -> Option<VerdictRequest> {
    let author = &draft.author_expert;
    let recommendation = draft.recommendation.as_deref().unwrap_or_default();
    let description = draft.description.as_deref().unwrap_or(recommendation);
    let request = objection(state, draft.verdict_type, author, (recommendation, description))?;
    let named = draft.supporting_experts.clone().unwrap_or_default();
    let supporters = [vec![author.clone()], named].concat();
    Some(with_supporters(request, &known_experts(state, supporters)))
}

/// Only a minority verdict has supporters.
fn with_supporters(request: VerdictRequest, supporters: &[ExpertSlug]) -> VerdictRequest {
    match request.verdict_type {
        VerdictType::Minority => request.supported_by(supporters),
        VerdictType::Dissent | VerdictType::Interim | VerdictType::Final => request,
    }
}

fn known_experts(state: &RunState, slugs: Vec<ExpertSlug>) -> Vec<ExpertSlug> {
    let judged = state.alignment.as_deref();
    let is_known =
        |slug: &ExpertSlug| judged.is_some_and(|known| known.find_expert(slug).is_some());
    let mut known: Vec<ExpertSlug> = Vec::new();
    for slug in slugs.into_iter().filter(is_known) {
        if !known.contains(&slug) {
            known.push(slug);
        }
    }
    known
}

/// A verdict of an expert; none if it says nothing.
fn objection(
    state: &RunState,
    verdict_type: VerdictType,
    author: &ExpertSlug,
    (recommendation, description): (&str, &str),
) -> Option<VerdictRequest> {
    let id: VerdictId = format!("{}-{author}", verdict_type.name()).parse().ok()?;
    let recommendation = trim_and_truncate(&to_one_line(recommendation), LINE_CHARS_MAX);
    let description = trim_and_truncate(description, TEXT_CHARS_MAX);
    let (recommendation, description) = match (recommendation.is_empty(), description.is_empty()) {
        (true, true) => return None,
        (true, false) => {
            (trim_and_truncate(&to_one_line(&description), LINE_CHARS_MAX), description)
        }
        (false, true) => (recommendation.clone(), recommendation),
        (false, false) => (recommendation, description),
    };
    let dialogue = state.opening.dialogue_id.clone();
    let round = state.alignment.as_deref().and_then(AlignmentState::last_round).unwrap_or_default();
    let request = VerdictRequest::new(dialogue, id, verdict_type, recommendation, description);
    Some(request.with_round(round).with_author(Some(author)))
}
