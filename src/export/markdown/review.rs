//! The review part of the Markdown export: verdict, brief, judgements and decision.

use super::escape::{code, inline, quote};
use super::table::table;
use crate::domain::gate::{Block, Judgement, LogRow, SeatRow, names_lines};
use crate::export::gate::words::{counted, lines, outcome, overridden, score_name, stance, word};
use crate::export::gate::{PlacedConcern, ReviewDocument, SeatSaid};

pub(super) fn blocks(told: &ReviewDocument) -> Vec<String> {
    let mut blocks = vec![format!("## Verdict: {}", headline(told))];
    blocks.extend(overridden(told).iter().map(|said| format!("**Overridden**: {}", inline(said))));
    blocks.push(artifact(told));
    if let Some(error) = &told.error {
        blocks.push(format!("**{}**: {}", told.status, inline(&error.message)));
    }
    if !told.revision_brief.trim().is_empty() {
        blocks.push("### Revision brief".to_owned());
        blocks.push(quote(&told.revision_brief));
    }
    blocks.extend(deliberators(told));
    blocks.extend(list("Concerns", told.concerns.iter().map(concern)));
    blocks
        .extend(list("Between the rounds", told.round2.iter().filter_map(|one| change(told, one))));
    blocks.extend(decision(told));
    blocks.extend(list(
        "Earlier verdicts that it was held against",
        told.prior_verdicts
            .iter()
            .map(|one| format!("{} {}: {}", one.ts.day(), one.verdict, inline(&one.artifact))),
    ));
    blocks.extend(list(
        "Missing context",
        told.missing_context.iter().map(|one| {
            let (path, reason) = (inline(&one.path), inline(&one.reason));
            format!("**{}**: {path}: {reason}", inline(one.deliberator.as_str()))
        }),
    ));
    blocks.extend(list("Worth knowing", told.warnings.iter().map(|text| inline(text))));
    blocks
}

/// Verdicts imported from another log.
pub(super) fn imported(rows: &[LogRow]) -> Vec<String> {
    let row = |row: &LogRow| {
        vec![
            row.ts.day().to_string(),
            match row.rehearsal {
                true => format!("{} (REHEARSAL)", row.adjudicator.final_verdict),
                false => row.adjudicator.final_verdict.to_string(),
            },
            inline(&row.artifact_type),
            inline(&row.artifact),
        ]
    };
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    let heading = format!("## Imported verdicts: {}", rows.len());
    vec![heading, table(&["Day", "Verdict", "Type", "Artifact"], &rows)]
}

fn headline(told: &ReviewDocument) -> String {
    let mut words = vec![told.verdict.name()];
    words.extend(told.rehearsal.then_some("REHEARSAL"));
    words.extend(told.panel.degraded.then_some("DEGRADED"));
    words.extend(told.panel.single_family.then_some("one family"));
    words.join(" · ")
}

fn artifact(told: &ReviewDocument) -> String {
    let mut facts = vec![
        ("Artifact", inline(&told.artifact)),
        ("Type", inline(&told.artifact_type)),
        ("Tier", told.tier.number().to_string()),
    ];
    facts.extend(told.producer.as_ref().map(|producer| ("Made by", inline(producer))));
    let digest = told.artifact_sha256.as_ref();
    facts.extend(digest.map(|digest| ("SHA-256", format!("`{}`", code(digest)))));
    facts.extend(told.verdict_id.as_ref().map(|id| ("Verdict", format!("`{}`", code(id)))));
    let rows: Vec<_> = facts.into_iter().map(|(name, fact)| vec![name.to_owned(), fact]).collect();
    table(&["", ""], &rows)
}

fn deliberators(told: &ReviewDocument) -> Vec<String> {
    let rows: Vec<Vec<String>> = told.round1.iter().map(|first| seat(told, first)).collect();
    let head = ["Deliberator", "Model", "R1", "R2", "Blocks", "Irreducible", "Scores"];
    vec!["### Deliberators".to_owned(), table(&head, &rows)]
}

fn seat(told: &ReviewDocument, first: &SeatSaid) -> Vec<String> {
    let name = first.row.deliberator();
    let second = told.round2.iter().find(|second| second.row.deliberator() == name);
    let held = told.held(name);
    let [blocks, lasts] = match held.map(Judgement::block) {
        None => ["–", "–"],
        Some(Block::None) => ["no", "no"],
        Some(Block::Reducible) => ["yes", "no"],
        Some(Block::Irreducible) => ["yes", "yes"],
    };
    let scores = held.map(|held| {
        let scores = held.scores.iter();
        let scores = scores.map(|(name, score)| format!("{} {score}", inline(&score_name(name))));
        scores.collect::<Vec<_>>().join(", ")
    });
    vec![
        inline(name),
        inline(&first.model),
        cell(&first.row),
        second.map_or_else(|| "–".to_owned(), |second| cell(&second.row)),
        blocks.to_owned(),
        lasts.to_owned(),
        scores.unwrap_or_default(),
    ]
}

fn cell(row: &SeatRow) -> String {
    match row {
        SeatRow::Absent { error_type, .. } => format!("absent ({error_type})"),
        SeatRow::Present { judgement, fallback, uncited, .. } => {
            let mut words = vec![stance(judgement)];
            words.extend(fallback.then(|| "R1 counts".to_owned()));
            words.extend(uncited.then(|| "uncited".to_owned()));
            words.join(", ")
        }
    }
}

fn concern(one: &PlacedConcern) -> String {
    let place =
        lines(one.line, one.end_line).map(|lines| format!(" ({lines})")).unwrap_or_default();
    let part = |lead: &str, text: &str| match text.trim() {
        "" => String::new(),
        text => format!("<br>{lead}: {}", inline(text)),
    };
    let PlacedConcern { id, concern, .. } = one;
    let locus = if names_lines(&concern.locus) { "" } else { concern.locus.as_str() };
    let (at, fix) = (part("At", locus), part("Fix", &concern.fix));
    format!("**{}**{place}: {}{at}{fix}", inline(id), inline(&concern.issue))
}

/// A changed stance of a deliberator; `None` if it did not change.
fn change(told: &ReviewDocument, second: &SeatSaid) -> Option<String> {
    let name = second.row.deliberator();
    let first = told.round1.iter().find(|first| first.row.deliberator() == name)?;
    let (
        SeatRow::Present { judgement: before, .. },
        SeatRow::Present { judgement: after, uncited, .. },
    ) = (&first.row, &second.row)
    else {
        return None;
    };
    let (before, now) = (stance(before), stance(after));
    let uncited = if *uncited { " **Uncited.**" } else { "" };
    let reasons =
        [&after.delta_from_r1].into_iter().chain(&after.concessions).chain(&after.escalations);
    let reasons: Vec<String> =
        reasons.map(|text| inline(text)).filter(|text| !text.is_empty()).collect();
    let reasons = reasons.join(" ");
    (before != now).then(|| {
        format!("**{}**: {before} → {now}. {reasons}{uncited}", inline(name)).trim_end().to_owned()
    })
}

fn decision(told: &ReviewDocument) -> Vec<String> {
    let counted = told.policy.as_ref().map(|sum| format!("Counted: {}", counted(sum)));
    let said = told.adjudicator.as_ref().map(|one| {
        format!("The adjudicator ({}): {}", inline(&one.model), inline(&word(&one.word)))
    });
    let outcome = outcome(told).map(|outcome| format!("The gate: {outcome}"));
    let mut blocks = list("Decision", [counted, said, outcome].into_iter().flatten());
    blocks.extend(told.adjudicator.as_ref().map(|one| quote(&one.word.reasoning)));
    blocks
}

fn list(title: &str, items: impl Iterator<Item = String>) -> Vec<String> {
    let items: Vec<String> = items.map(|item| format!("- {item}")).collect();
    if items.is_empty() {
        return Vec::new();
    }
    vec![format!("### {title}"), items.join("\n")]
}
