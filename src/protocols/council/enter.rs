//! What a council found, as entities, references and a verdict.
//!
//! An opinion is a perspective and a recommendation of its seat; a critique is a
//! claim that opposes it, an agreement one that supports it; a high risk or a
//! disagreement is a tension; the report is a verdict. The batches go through the
//! same rules as everybody's, so search, citations and `verify` work for councils.

use serde_json::{Map, Value, json};

use super::letters::Letters;
use super::voices::{Voice, opinions, reviews};
use crate::domain::council::opinion::Opinion;
use crate::domain::council::report::CouncilFinalReport;
use crate::domain::council::review::{Critique, Review, Target};
use crate::domain::council::words::Level;
use crate::domain::ids::{EntityKind, ExpertSlug};
use crate::domain::shortened::trimmed_head;
use crate::domain::transcript::Transcript;
use crate::protocols::items::{Items, LABEL_CHARS_MAX, TEXT_CHARS_MAX, lines, local_id, object};

/// Stands at the end of what a seat said, where the reply was cut off.
const CUT: &str = "[This opinion was cut off before its end.]";

/// The batch that registers a round.
pub fn round_batch(transcript: &Transcript, round: u8) -> Value {
    let entering = Entering::of(transcript, round);
    let mut batch = json!({
        "dialogue_id": transcript.opening.dialogue_id,
        "round": round,
        "score": 0,
        "title": title(transcript, round),
    });
    if let Value::Object(fields) = &mut batch {
        let summary = summary(transcript, round, entering.items.left_out);
        fields.extend(summary.map(|summary| ("summary".to_owned(), summary.into())));
        fields.extend(entering.items.sections());
    }
    batch
}

/// The arguments of the verdict that ends the run.
pub fn verdict_arguments(transcript: &Transcript, report: &CouncilFinalReport) -> Value {
    let tensions: Vec<String> =
        [1, 2].iter().flat_map(|round| Entering::of(transcript, *round).items.tensions).collect();
    let conclusion = &report.report.conclusion;
    let description = [report.disclaimer.as_deref(), Some(&report.report.rationale.summary)];
    let description: Vec<&str> = description.into_iter().flatten().collect();
    let description = match description.join("\n\n") {
        text if text.trim().is_empty() => conclusion.statement.clone(),
        text => text,
    };
    json!({
        "dialogue_id": transcript.opening.dialogue_id,
        // A participant's opinion in a failed chair's place settles nothing.
        "verdict_id": if report.fallback { "fallback" } else { "report" },
        "verdict_type": if report.fallback { "interim" } else { "final" },
        "round": 3,
        "recommendation": trimmed_head(&conclusion.statement, LABEL_CHARS_MAX),
        "description": trimmed_head(&format!("{}\n\n{description}", conclusion.statement), TEXT_CHARS_MAX),
        "author_expert": report.chair_provider,
        "tensions_accepted": tensions,
        "supporting_experts": supporters(transcript, report),
    })
}

/// Those the report says it stands on, as far as they exist.
fn supporters(transcript: &Transcript, report: &CouncilFinalReport) -> Vec<String> {
    let named = |name: &str| {
        let name: Option<ExpertSlug> = name.parse().ok();
        name.filter(|name| transcript.plan.seat(name).is_some()).map(|name| name.to_string())
    };
    let mut names: Vec<String> = Vec::new();
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

/// What a round of a council found.
struct Entering {
    items: Items,
}

impl Entering {
    fn of(transcript: &Transcript, round: u8) -> Self {
        let mut entering = Self { items: Items::of(round) };
        match round {
            1 => opinions(transcript).iter().for_each(|voice| entering.opinion(voice)),
            2 => entering.reviews(transcript),
            _ => {}
        }
        entering
    }

    fn opinion(&mut self, voice: &Voice<'_, Opinion>) {
        let (seat, said) = (voice.seat, voice.said);
        let details = &said.details;
        let is_cut = voice.asked.is_truncated();
        let mut text = vec![said.summary.clone(), details.understanding.clone()];
        text.extend(is_cut.then(|| CUT.to_owned()));
        text.extend(details.key_considerations.iter().map(|point| format!("- {point}")));
        text.extend(said.assumptions.iter().map(|point| format!("Assumes: {point}")));
        self.items.add(seat, EntityKind::Perspective, &said.summary, &lines(&text), Map::new());
        let mut parameters = json!({ "stance": said.stance, "confidence": said.confidence });
        if let (true, Value::Object(fields)) = (is_cut, &mut parameters) {
            fields.insert("truncated".to_owned(), true.into());
        }
        let more = json!({
            "parameters": parameters,
            "references": [{ "type": "depend", "target": first(seat, EntityKind::Perspective) }],
        });
        let cut = if is_cut { CUT } else { "" };
        let text =
            lines(&[details.recommendation.clone(), details.rationale.clone(), cut.to_owned()]);
        self.items.add(
            seat,
            EntityKind::Recommendation,
            &details.recommendation,
            &text,
            object(more),
        );
        for risk in said.risks.iter().filter(|risk| risk.severity == Level::High) {
            let mitigation = risk.mitigation.as_deref().map(|text| format!("Mitigation: {text}"));
            let text = lines(&[risk.description.clone(), mitigation.unwrap_or_default()]);
            self.items.add(seat, EntityKind::Tension, &risk.description, &text, Map::new());
        }
        for finding in &said.findings {
            let label = format!("{}: {}", finding.id, finding.title);
            let fix = format!("Fix: {}", finding.fix_approach);
            let text = lines(&[finding.location.clone(), finding.description.clone(), fix]);
            let more = json!({
                "references": [{ "type": "support", "target": first(seat, EntityKind::Perspective) }],
            });
            self.items.add(seat, EntityKind::Claim, &label, &text, object(more));
        }
    }

    /// The gravest critiques first: a round has room for ninety-nine claims.
    fn reviews(&mut self, transcript: &Transcript) {
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
                    self.critique(voice.seat, critique, about);
                }
            }
        }
        for (voice, target, about) in &targets {
            for point in &target.agreement_points {
                self.claim(voice.seat, point, point, "support", about);
            }
            for point in &target.disagreement_points {
                let text = lines(&[
                    point.rationale.clone(),
                    format!("{}: {}", voice.seat, point.reviewer_position),
                    format!("{about}: {}", point.target_position),
                ]);
                let more = json!({
                    "references": [{ "type": "question", "target": first(about, EntityKind::Perspective) }],
                });
                self.items.add(voice.seat, EntityKind::Tension, &point.topic, &text, object(more));
            }
        }
    }

    fn critique(&mut self, by: &ExpertSlug, critique: &Critique, about: &ExpertSlug) {
        let label = format!("{}: {}", critique.critique_type, critique.message);
        let correction =
            critique.suggested_correction.as_deref().map(|text| format!("Correction: {text}"));
        let severity = format!("Severity: {}", critique.severity);
        let text = lines(&[critique.message.clone(), severity, correction.unwrap_or_default()]);
        self.claim(by, &label, &text, "oppose", about);
    }

    fn claim(
        &mut self,
        by: &ExpertSlug,
        label: &str,
        text: &str,
        reference: &str,
        about: &ExpertSlug,
    ) {
        let more = json!({
            "references": [{ "type": reference, "target": first(about, EntityKind::Perspective) }],
        });
        self.items.add(by, EntityKind::Claim, label, text, object(more));
    }
}

/// The first round's perspective or recommendation of a seat: each has exactly one.
fn first(seat: &ExpertSlug, kind: EntityKind) -> Option<String> {
    local_id(seat, kind, 1, 1)
}
