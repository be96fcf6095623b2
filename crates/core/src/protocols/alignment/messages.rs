//! The messages to the Judge and to the experts.
//!
//! All begin with the shared block. The role follows; text of others stands in fences.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::dialogue::expert_prompts::context_brief::render_background;
use crate::dialogue::expert_prompts::panel_prompts::{PromptOptions, calibration_blocks};
use crate::dialogue::expert_prompts::prior_rounds::round_blocks;
use crate::dialogue::expert_prompts::prompt_blocks::{PromptBlock, fill_template};
use crate::dialogue::expert_prompts::relevance::{EntityIndex, PriorEntity};
use crate::dialogue::expert_prompts::seat_prompt::{SeatPrompt, render_plain_blocks};
use crate::model::ask::{Ask, AskMessages, AskPurpose, AskState, SharedBlock};
use crate::model::ids::{EntityKind, ExpertSlug};
use crate::model::record::DialogueRecord;
use crate::model::run_state::RunState;
use crate::prompting::condense::{REASON_BYTES_MAX, truncate_to_fit};
use crate::prompting::fence::{FenceKind, FenceSet, FencedSection};
use crate::prompting::instructions::{RoleParts, SHORTER, SYSTEM};
use crate::prompting::layout::{MessageParts, RenderedPrompt};
use crate::prompting::reader_view::{ReaderView, to_pretty_json};
use crate::prompting::shared_block::{
    SeatBlock, block_day, fresh_question_block, shared_bytes_max,
};
use crate::protocols::alignment::answers::{REPEAT_REASON, judged_run, list_heard, list_silent};
use crate::protocols::alignment::design::{affordable_panel, asked_bytes};
use crate::protocols::alignment::ending::decide_ending;
use crate::protocols::alignment::evolve_panel::last_reconciliation;
use crate::protocols::alignment::objections::list_drafts;
use crate::protocols::alignment::state::{AlignmentState, ConvergeSignal};
use crate::protocols::alignment::types::AlignmentPlan;
use crate::protocols::pending_asks::InterventionScope;

const DESIGN: &str = include_str!("../../../../../prompts/alignment/judge-design.md");
const PANEL: &str = include_str!("../../../../../prompts/alignment/judge-panel.md");
const RECONCILE: &str = include_str!("../../../../../prompts/alignment/judge-reconcile.md");
const VERDICTS: &str = include_str!("../../../../../prompts/alignment/judge-verdicts.md");
const MARKS: &str = include_str!("../../../../../prompts/alignment/calibration-marks.md");
const COMPLIANCE: &str = include_str!("../../../../../prompts/alignment/calibration-verdict.md");
const EXPERT: &str = include_str!("../../../../../prompts/alignment/expert.md");
const STRICTER: &str = include_str!("../../../../../prompts/alignment/expert-stricter.md");
const ENDING_CONVERGED: &str = include_str!("../../../../../prompts/alignment/ending-converged.md");
const ENDING_FORCED: &str = include_str!("../../../../../prompts/alignment/ending-forced.md");

/// A reply with scores and merges of a large panel has about 10,000 bytes.
const REJECTED_REPLY_BYTES_MAX: usize = 20_000;

const CORRECTION: &str = "What you sent stands under YOUR LAST REPLY. Correct the faults that the \
                          reason names, and keep the rest as it was.";

/// All texts of this protocol, for the digest of a seat's version.
pub(crate) fn all_instructions() -> impl Iterator<Item = String> {
    [
        DESIGN,
        PANEL,
        RECONCILE,
        VERDICTS,
        MARKS,
        COMPLIANCE,
        EXPERT,
        STRICTER,
        ENDING_CONVERGED,
        ENDING_FORCED,
    ]
    .into_iter()
    .map(str::to_owned)
}

/// The size of a role text, for an estimate.
pub(crate) fn role_bytes(purpose: AskPurpose) -> usize {
    let role = [
        (AskPurpose::Design, DESIGN),
        (AskPurpose::Panel, PANEL),
        (AskPurpose::Reconciliation, RECONCILE),
        (AskPurpose::Verdicts, VERDICTS),
    ];
    let role = role.iter().find(|(known, _)| *known == purpose).map_or(EXPERT, |(_, text)| text);
    SYSTEM.len() + role.len()
}

/// The messages of an ask to the Judge.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the registry passes only asks with a purpose of this protocol"
)]
pub(crate) fn judge_messages(
    state: &RunState,
    record: &DialogueRecord,
    ask: &Ask,
) -> Option<RenderedPrompt> {
    let (plan, judged) = judged_run(state)?;
    let (template, mut sections, mut remarks) = match ask.purpose {
        AskPurpose::Design => {
            (DESIGN.to_owned(), design_sections(plan), design_remarks(state, plan))
        }
        AskPurpose::Panel => {
            let values = [
                ("round", ask.round.to_string()),
                ("previous", ask.round.saturating_sub(1).to_string()),
            ];
            (fill_role(PANEL, &values), panel_sections(state, judged), panel_remarks(plan, judged))
        }
        AskPurpose::Reconciliation => {
            let text = fill_role(RECONCILE, &[("round", ask.round.to_string())]);
            let remarks = absence_remarks(state, ask.round).into_iter();
            let remarks = remarks.chain(rule_remark(judged, MARKS)).collect();
            (text, reply_sections(state, judged, ask.round), remarks)
        }
        _ => {
            let ending = decide_ending(state);
            let warning = ending.and_then(|ending| ending.warning(plan));
            let text = if warning.is_some() { ENDING_FORCED } else { ENDING_CONVERGED };
            let text = fill_role(VERDICTS, &[("ending", text.trim_end().to_owned())]);
            let remarks = warning.into_iter().chain(rule_remark(judged, COMPLIANCE)).collect();
            (text, verdict_sections(state, judged), remarks)
        }
    };
    sections.extend(interventions(state, ask));
    if let Some(rejected) = rejected_reply(state, ask) {
        sections.push(rejected);
        remarks.push(CORRECTION.to_owned());
    }
    let role = RoleParts::from_text(&template);
    let block = rounds_block(state, record, &ask.seat);
    let parts = MessageParts {
        secret: &state.plan.secret,
        block: Some(&block),
        role: &role,
        sections: &sections,
        remarks: &remarks,
    };
    let condensed = block.notes().collect();
    Some(RenderedPrompt { messages: parts.render_messages(ask), condensed })
}

/// Fills our placeholders. The shape of the reply has braces of its own, so only these names are
/// replaced.
fn fill_role(template: &str, values: &[(&str, String)]) -> String {
    values.iter().fold(template.to_owned(), |text, (name, value)| {
        text.replace(&format!("{{{name}}}"), value)
    })
}

/// What the Judge corrects: the reply that the reason of a further ask is about.
fn rejected_reply(state: &RunState, ask: &Ask) -> Option<FencedSection> {
    ask.retry_reason.as_ref()?;
    let is_before = |asked: &&AskState| {
        let before = &asked.ask;
        (before.round, before.purpose, &before.seat) == (ask.round, ask.purpose, &ask.seat)
            && before.id < ask.id
    };
    let (reply, _) = state.asks.iter().rev().find(is_before)?.last_reply()?;
    let text = truncate_to_fit(&reply.text, REJECTED_REPLY_BYTES_MAX);
    Some(FencedSection::material("YOUR LAST REPLY", text))
}

fn interventions(state: &RunState, ask: &Ask) -> Vec<FencedSection> {
    ReaderView::of_participant(state, ask, InterventionScope::OwnAndPublic).additions
}

fn design_sections(plan: &AlignmentPlan) -> Vec<FencedSection> {
    let domain = plan.domain.iter().map(|text| FencedSection::request("DOMAIN", text.clone()));
    let constraints = (!plan.constraints.is_empty())
        .then(|| FencedSection::request("REQUIREMENTS", plan.constraints.join("\n")));
    domain.chain(constraints).collect()
}

fn design_remarks(state: &RunState, plan: &AlignmentPlan) -> Vec<String> {
    let size = match plan.panel_size {
        Some(size) => format!("The panel has {size} seats; write that as `panel_size`."),
        None => {
            let most = affordable_panel(&state.plan, asked_bytes(state));
            format!("The budget allows at most {most} seats.")
        }
    };
    vec![size]
}

/// What the Judge composes a panel from.
fn panel_sections(state: &RunState, judged: &AlignmentState) -> Vec<FencedSection> {
    let last = judged.last_round().unwrap_or_default();
    let heard = list_heard(state, last);
    let experts: Vec<Value> = judged
        .experts
        .iter()
        .map(|profile| {
            let slug = &profile.expert_slug;
            let sat = judged.panel_of(last).iter().any(|seat| seat.expert_slug == *slug);
            json!({
                "expert_slug": slug, "role": profile.role, "tier": profile.tier,
                "relevance": profile.relevance, "focus": profile.focus,
                "total_score": judged.total_of(slug), "sat_in_last_round": sat,
                "answered_in_last_round": heard.iter().any(|reply| reply.expert() == slug),
                "converged": judged.converged_in(last).contains(slug),
            })
        })
        .collect();
    let gaps = last_reconciliation(state, last).map(|reply| reply.gaps.clone()).unwrap_or_default();
    vec![
        FencedSection::material("EXPERTS", to_pretty_json(&experts)),
        FencedSection::material("TENSIONS", to_pretty_json(&tension_rows(judged))),
        FencedSection::material("GAPS", to_pretty_json(&gaps)),
    ]
}

fn panel_remarks(plan: &AlignmentPlan, judged: &AlignmentState) -> Vec<String> {
    let size = judged.panel_of(0).len();
    let mut remarks = vec![format!("The panel has {size} seats.")];
    if plan.pool_only {
        remarks.push("Create no expert: the person who asked wants the pool only.".to_owned());
    }
    remarks
}

/// What the Judge does besides in a calibrated dialogue.
fn rule_remark(judged: &AlignmentState, text: &str) -> Option<String> {
    judged.calibration.approved_ethos().map(|_| text.trim_end().to_owned())
}

/// Every tension with its status and what became of it.
fn tension_rows(judged: &AlignmentState) -> Vec<Value> {
    let rows = judged.tensions.iter().map(|(id, tension)| {
        let settled: Vec<String> = tension.settled_by.iter().map(ToString::to_string).collect();
        json!({
            "id": id, "label": judged.labels.get(id), "status": judged.statuses.get(id),
            "raised_by": tension.raised_by, "settled_by": settled,
            "accepted": tension.accepted, "last_event_in_round": tension.last_event_round,
        })
    });
    rows.collect()
}

/// The replies of the round, and what code found in them.
fn reply_sections(state: &RunState, judged: &AlignmentState, round: u8) -> Vec<FencedSection> {
    let heard = list_heard(state, round);
    let mut sections: Vec<FencedSection> = heard
        .iter()
        .map(|reply| {
            let cut = if reply.is_cut { " (cut off, its end is missing)" } else { "" };
            let label = format!("REPLY OF {}{cut}", reply.expert());
            FencedSection::material(&label, reply.text.to_owned())
        })
        .collect();
    let found = heard
        .iter()
        .flat_map(|reply| &reply.read.contributions)
        .map(|item| json!({ "id": item.local_id, "label": item.label }));
    let found: Vec<Value> = found.collect();
    sections.push(FencedSection::material("LOCAL IDS", to_pretty_json(&found)));
    sections.push(FencedSection::material("TENSIONS", to_pretty_json(&tension_rows(judged))));
    sections
}

fn absence_remarks(state: &RunState, round: u8) -> Vec<String> {
    let silent = list_silent(state, round);
    let names = silent.iter().map(ExpertSlug::as_str).collect::<Vec<_>>().join(", ");
    match silent.is_empty() {
        true => Vec::new(),
        false => vec![format!("No usable reply, so no score: {names}.")],
    }
}

/// What the verdicts are made from besides the rounds.
fn verdict_sections(state: &RunState, judged: &AlignmentState) -> Vec<FencedSection> {
    let last = judged.last_round().unwrap_or_default();
    let signals = judged.signals.get(&last);
    let signal_of = |slug: &ExpertSlug| match signals.and_then(|signals| signals.get(slug)) {
        Some(ConvergeSignal::Counted) => "converged",
        Some(ConvergeSignal::Uncited) => {
            "signalled convergence without naming their own open tension; it does not count"
        }
        None => "did not converge",
    };
    let seats = judged.panel_of(last).iter().map(|seat| &seat.expert_slug);
    let signals: Vec<Value> =
        seats.map(|slug| json!({ "expert_slug": slug, "signal": signal_of(slug) })).collect();
    let entities: Vec<Value> = judged
        .statuses
        .iter()
        .filter(|(id, _)| id.kind != EntityKind::Tension)
        .map(|(id, status)| json!({ "id": id, "label": judged.labels.get(id), "status": status }))
        .collect();
    vec![
        FencedSection::material("SIGNALS OF THE LAST ROUND", to_pretty_json(&signals)),
        FencedSection::material("TENSIONS", to_pretty_json(&tension_rows(judged))),
        FencedSection::material("STATUS OF THE ENTITIES", to_pretty_json(&entities)),
        FencedSection::material("MARKED DISSENTS", to_pretty_json(&list_drafts(state))),
    ]
}

/// The messages of an ask to an expert.
pub(crate) fn expert_messages(
    state: &RunState,
    record: &DialogueRecord,
    ask: &Ask,
) -> Option<RenderedPrompt> {
    let block = rounds_block(state, record, &ask.seat);
    let role =
        fill_template(EXPERT, &[("slug", ask.seat.as_str()), ("round", &ask.round.to_string())]);
    let additions = interventions(state, ask);
    let prompt = SeatPrompt::for_seat(record, &ask.seat, ask.round, prompt_options(state))?;
    let reason = retry_section(ask);
    let texts: Vec<&str> = prompt
        .quoted_texts()
        .chain(additions.iter().chain(&reason).map(|section| section.text.as_str()))
        .collect();
    let fences =
        FenceSet::new(&state.plan.secret, ask.round, &texts).beside_block(&block.block.text);
    let fenced = |section: &FencedSection| fences.fence_section(section);
    let mut paragraphs = vec![role];
    paragraphs.push(prompt.render_sections(&fences));
    paragraphs.extend(additions.iter().map(fenced));
    paragraphs.push(prompt.render_instructions());
    if reason.is_some() {
        paragraphs.push(STRICTER.trim_end().to_owned());
        paragraphs.extend(ask.wants_shorter().then(|| SHORTER.trim_end().to_owned()));
    }
    paragraphs.extend(reason.iter().map(fenced));
    let text = paragraphs.join("\n\n");
    let (shared, user) = match block.is_own {
        true => (None, [&*block.block.text, &text].concat()),
        false => (Some(Arc::clone(&block.block)), text),
    };
    let messages = AskMessages { shared, ..AskMessages::new(SYSTEM.trim_end(), user) };
    Some(RenderedPrompt { messages, condensed: block.notes().collect() })
}

/// The experts get the marker language in the prompt.
fn prompt_options(state: &RunState) -> PromptOptions {
    PromptOptions { today: block_day(state), is_skill_loaded: false }
}

/// Why the last reply could not be used. A repeated round is not the expert's fault.
fn retry_section(ask: &Ask) -> Option<FencedSection> {
    let reason = ask.retry_reason.as_deref().filter(|reason| *reason != REPEAT_REASON)?;
    Some(FencedSection::material("REASON", truncate_to_fit(reason, REASON_BYTES_MAX)))
}

/// A round that does not fit keeps this much of each text.
const CUT_TEXT_BYTES: usize = 2_000;

/// The block with all rounds that the record has.
///
/// The block of a round begins with the bytes of the block of the round before, so a provider's
/// cache covers everything that was said. A round is rendered as it stood when it was registered,
/// so later changes of status do not change its bytes.
fn rounds_block(state: &RunState, record: &DialogueRecord, seat: &ExpertSlug) -> SeatBlock {
    let base = fresh_question_block(state, seat);
    let bytes_max = shared_bytes_max(state.plan.input_bytes_max(seat));
    let fences = FenceSet::of_block(&state.plan.secret);
    let mut text = base.block.text.to_string();
    let mut condensed = base.block.condensed.clone();
    let background = record.dialogue.opening.background.as_ref().and_then(render_background);
    if let Some(background) = background {
        let fenced = fences.fence_text(FenceKind::Material, "BACKGROUND", &background);
        text.push_str(&format!("{fenced}\n\n"));
    }
    text.push_str(&render_plain_blocks(&calibration_blocks(record), &fences));
    for held in &record.rounds {
        let then = record.clone().rewound_to(held.round.saturating_add(1));
        let message = then.all_entities().map(PriorEntity::from_entity).collect();
        let mut blocks = round_blocks(&then, &EntityIndex::new(message), held);
        let whole = render_plain_blocks(&blocks, &fences);
        if text.len() + whole.len() <= bytes_max {
            text.push_str(&whole);
            continue;
        }
        condensed.push(format!("the texts of round {} were cut", held.round));
        for block in &mut blocks {
            if let PromptBlock::Quoted(quoted) = block {
                quoted.text = truncate_to_fit(&quoted.text, CUT_TEXT_BYTES);
            }
        }
        text.push_str(&render_plain_blocks(&blocks, &fences));
    }
    if text.len() == base.block.text.len() {
        return base;
    }
    let bytes_left = state.plan.input_bytes_max(seat).saturating_sub(text.len());
    SeatBlock { block: Arc::new(SharedBlock::new(text, condensed)), bytes_left, ..base }
}
