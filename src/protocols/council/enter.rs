//! Converts the rounds of a council into entities, references and a verdict.
//!
//! An opinion becomes a perspective and a recommendation of its seat; a critique becomes a claim
//! that opposes it, an agreement a claim that supports it; a high risk or a disagreement becomes a
//! tension; the report becomes a verdict. The engine registers the batches by the rules of every
//! dialogue, so search, citations and `verify` work for councils.

use serde_json::json;

use super::letters::Letters;
use super::voices::{Voice, opinions, reviews};
use crate::domain::council::opinion::Opinion;
use crate::domain::council::report::CouncilFinalReport;
use crate::domain::council::review::{Critique, Review, Target};
use crate::domain::council::words::Level;
use crate::domain::ids::{EntityKind, ExpertSlug, LocalId, VerdictId};
use crate::domain::reference::RefType;
use crate::domain::shortened::trimmed_head;
use crate::domain::transcript::Transcript;
use crate::domain::verdict::VerdictType;
use crate::protocols::items::{BatchBuilder, LABEL_CHARS_MAX, TEXT_CHARS_MAX, lines, local_id};
use crate::record::register::{Batch, NewItem};
use crate::record::verdict::VerdictRequest;

/// Marks the text of a reply that was cut off.
const CUT: &str = "[This opinion was cut off before its end.]";

/// The batch that registers a round.
pub fn round_batch(transcript: &Transcript, round: u8) -> Batch {
    let items = collect_items(transcript, round);
    let summary = summary(transcript, round, items.left_out());
    items.build(title(transcript, round), summary)
}

/// The verdict that the rounds end with; none if the report has no valid name for it.
pub fn report_verdict(
    transcript: &Transcript,
    report: &CouncilFinalReport,
) -> Option<VerdictRequest> {
    let tensions: Vec<LocalId> = [1, 2]
        .iter()
        .flat_map(|round| collect_items(transcript, *round).tensions().collect::<Vec<_>>())
        .collect();
    let conclusion = &report.report.conclusion;
    let description = [report.disclaimer.as_deref(), Some(&report.report.rationale.summary)];
    let description: Vec<&str> = description.into_iter().flatten().collect();
    let description = match description.join("\n\n") {
        text if text.trim().is_empty() => conclusion.statement.clone(),
        text => text,
    };
    // A participant's opinion in place of a failed chair's report settles nothing.
    let (verdict_id, verdict_type) = match report.fallback {
        true => ("fallback", VerdictType::Interim),
        false => ("report", VerdictType::Final),
    };
    let verdict_id: VerdictId = verdict_id.parse().ok()?;
    let description = format!("{}\n\n{description}", conclusion.statement);
    let request = VerdictRequest::new(
        transcript.opening.dialogue_id.clone(),
        verdict_id,
        verdict_type,
        trimmed_head(&conclusion.statement, LABEL_CHARS_MAX),
        trimmed_head(&description, TEXT_CHARS_MAX),
    );
    Some(
        request
            .with_round(3)
            .with_author(report.chair_provider.as_ref())
            .accept_tensions(tensions)
            .supported_by(&supporters(transcript, report)),
    )
}

/// The seats that the report names as its support.
fn supporters(transcript: &Transcript, report: &CouncilFinalReport) -> Vec<ExpertSlug> {
    let named = |name: &str| {
        let name: Option<ExpertSlug> = name.parse().ok();
        name.filter(|name| transcript.plan.seat(name).is_some())
    };
    let mut names: Vec<ExpertSlug> = Vec::new();
    for point in &report.report.rationale.supporting_opinions {
        names.extend(named(&point.provider).filter(|name| !names.contains(name)));
    }
    names
}

fn title(transcript: &Transcript, round: u8) -> String {
    let skipped = transcript.skips(round);
    let name = match round {
        1 => "Independent opinions",
        2 => "Cross review",
        _ => "Chair's report",
    };
    if skipped { format!("{name} (skipped)") } else { name.to_owned() }
}

fn summary(transcript: &Transcript, round: u8, left_out: usize) -> Option<String> {
    let heard = transcript.heard_in(round).len();
    let mut text = match round {
        1 => format!("{heard} of {} were heard.", transcript.plan.participants().count()),
        2 => format!("{heard} reviews."),
        _ => return None,
    };
    let cut = transcript.asks_of(round).filter(|asked| !asked.retired && asked.is_truncated());
    for asked in cut {
        text.push_str(&format!(" The {} of {} was cut off.", asked.ask.purpose, asked.ask.seat));
    }
    if left_out > 0 {
        text.push_str(&format!(" {left_out} more points stand in the replies alone."));
    }
    Some(text)
}

fn collect_items(transcript: &Transcript, round: u8) -> BatchBuilder {
    let mut items = BatchBuilder::new(&transcript.opening.dialogue_id, round);
    match round {
        1 => opinions(transcript).iter().for_each(|voice| add_opinion(&mut items, voice)),
        2 => add_reviews(&mut items, transcript),
        _ => {}
    }
    items
}

fn add_opinion(items: &mut BatchBuilder, voice: &Voice<'_, Opinion>) {
    let (seat, said) = (voice.seat, voice.said);
    let details = &said.details;
    let is_cut = voice.asked.is_truncated();
    let mut text = vec![said.summary.clone(), details.understanding.clone()];
    text.extend(is_cut.then(|| CUT.to_owned()));
    text.extend(details.key_considerations.iter().map(|point| format!("- {point}")));
    text.extend(said.assumptions.iter().map(|point| format!("Assumes: {point}")));
    items.add(seat, EntityKind::Perspective, &said.summary, &lines(&text), |item| item);
    let parameters = match is_cut {
        true => json!({ "stance": said.stance, "confidence": said.confidence, "truncated": true }),
        false => json!({ "stance": said.stance, "confidence": said.confidence }),
    };
    let cut = if is_cut { CUT } else { "" };
    let text = lines(&[details.recommendation.clone(), details.rationale.clone(), cut.to_owned()]);
    items.add(seat, EntityKind::Recommendation, &details.recommendation, &text, |item| {
        refer_to_perspective(item, RefType::Depend, seat).parameters(parameters)
    });
    for risk in said.risks.iter().filter(|risk| risk.severity == Level::High) {
        let mitigation = risk.mitigation.as_deref().map(|text| format!("Mitigation: {text}"));
        let text = lines(&[risk.description.clone(), mitigation.unwrap_or_default()]);
        items.add(seat, EntityKind::Tension, &risk.description, &text, |item| item);
    }
    for finding in &said.findings {
        let label = format!("{}: {}", finding.id, finding.title);
        let fix = format!("Fix: {}", finding.fix_approach);
        let text = lines(&[finding.location.clone(), finding.description.clone(), fix]);
        add_claim(items, seat, &label, &text, RefType::Support, seat);
    }
}

/// The gravest critiques come first, because a round accepts at most ninety-nine claims.
fn add_reviews(items: &mut BatchBuilder, transcript: &Transcript) {
    let letters = Letters::of(&transcript.plan);
    let heard = reviews(transcript);
    let spoke: Vec<&ExpertSlug> = opinions(transcript).iter().map(|voice| voice.seat).collect();
    let targets: Vec<(&Voice<'_, Review>, &Target, &ExpertSlug)> = heard
        .iter()
        .flat_map(|voice| voice.said.targets.iter().map(move |target| (voice, target)))
        .filter_map(|(voice, target)| Some((voice, target, letters.seat(&target.letter)?)))
        .filter(|(_, _, about)| spoke.contains(about))
        .collect();
    for severity in [Level::High, Level::Medium, Level::Low] {
        for (voice, target, about) in &targets {
            let critiques = target.critiques.iter();
            for critique in critiques.filter(|critique| critique.severity == severity) {
                add_critique(items, voice.seat, critique, about);
            }
        }
    }
    for (voice, target, about) in &targets {
        for point in &target.agreement_points {
            add_claim(items, voice.seat, point, point, RefType::Support, about);
        }
        for point in &target.disagreement_points {
            let text = lines(&[
                point.rationale.clone(),
                format!("{}: {}", voice.seat, point.reviewer_position),
                format!("{about}: {}", point.target_position),
            ]);
            items.add(voice.seat, EntityKind::Tension, &point.topic, &text, |item| {
                refer_to_perspective(item, RefType::Question, about)
            });
        }
    }
}

fn add_critique(
    items: &mut BatchBuilder,
    by: &ExpertSlug,
    critique: &Critique,
    about: &ExpertSlug,
) {
    let label = format!("{}: {}", critique.critique_type, critique.message);
    let correction =
        critique.suggested_correction.as_deref().map(|text| format!("Correction: {text}"));
    let severity = format!("Severity: {}", critique.severity);
    let text = lines(&[critique.message.clone(), severity, correction.unwrap_or_default()]);
    add_claim(items, by, &label, &text, RefType::Oppose, about);
}

fn add_claim(
    items: &mut BatchBuilder,
    by: &ExpertSlug,
    label: &str,
    text: &str,
    ref_type: RefType,
    about: &ExpertSlug,
) {
    items.add(by, EntityKind::Claim, label, text, |item| {
        refer_to_perspective(item, ref_type, about)
    });
}

/// Every seat has exactly one perspective in the first round.
fn refer_to_perspective(item: NewItem, ref_type: RefType, seat: &ExpertSlug) -> NewItem {
    match local_id(seat, EntityKind::Perspective, 1, 1) {
        Some(target) => item.refer(ref_type, target),
        None => item,
    }
}
