//! The review part of the Markdown export: verdict, brief, judgements and decision.

use crate::protocols::review::document::{PlacedConcern, ReviewDocument, SeatRoundRow};
use crate::protocols::review::locus::names_lines;
use crate::protocols::review::log_row::{LogRow, SeatRow};
use crate::protocols::review::phrases::{
    adjudication_text, line_range, outcome_sentence, override_lines, policy_sentence, score_name,
    stance_text,
};
use crate::protocols::review::types::{BlockLevel, DeliberatorJudgement};
use crate::report::markdown::escape::{escape_code, escape_inline, quote_text, render_table};

pub(crate) fn review_blocks(told: &ReviewDocument) -> Vec<String> {
    let mut blocks = vec![format!("## Verdict: {}", markdown_headline(told))];
    blocks.extend(
        override_lines(told).iter().map(|said| format!("**Overridden**: {}", escape_inline(said))),
    );
    blocks.push(artifact_table(told));
    if let Some(error) = &told.error {
        blocks.push(format!("**{}**: {}", told.status, escape_inline(&error.message)));
    }
    if !told.revision_brief.trim().is_empty() {
        blocks.push("### Revision brief".to_owned());
        blocks.push(quote_text(&told.revision_brief));
    }
    blocks.extend(deliberator_table(told));
    blocks.extend(titled_list("Concerns", told.concerns.iter().map(concern_item)));
    blocks.extend(titled_list(
        "Between the rounds",
        told.round2.iter().filter_map(|one| stance_change(told, one)),
    ));
    blocks.extend(decision_blocks(told));
    blocks.extend(titled_list(
        "Earlier verdicts that it was held against",
        told.prior_verdicts.iter().map(|one| {
            format!("{} {}: {}", one.ts.utc_day(), one.verdict, escape_inline(&one.artifact))
        }),
    ));
    blocks.extend(titled_list(
        "Missing context",
        told.missing_context.iter().map(|one| {
            let (path, reason) = (escape_inline(&one.path), escape_inline(&one.reason));
            format!("**{}**: {path}: {reason}", escape_inline(one.deliberator.as_str()))
        }),
    ));
    blocks
        .extend(titled_list("Worth knowing", told.warnings.iter().map(|text| escape_inline(text))));
    blocks
}

/// Verdicts imported from another log.
pub(crate) fn imported_blocks(rows: &[LogRow]) -> Vec<String> {
    let row = |row: &LogRow| {
        vec![
            row.ts.utc_day().to_string(),
            match row.rehearsal {
                true => format!("{} (REHEARSAL)", row.adjudicator.final_verdict),
                false => row.adjudicator.final_verdict.to_string(),
            },
            escape_inline(&row.artifact_type),
            escape_inline(&row.artifact),
        ]
    };
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    let heading = format!("## Imported verdicts: {}", rows.len());
    vec![heading, render_table(&["Day", "Verdict", "Type", "Artifact"], &rows)]
}

fn markdown_headline(told: &ReviewDocument) -> String {
    let mut words = vec![told.verdict.name()];
    words.extend(told.rehearsal.then_some("REHEARSAL"));
    words.extend(told.panel.degraded.then_some("DEGRADED"));
    words.extend(told.panel.single_family.then_some("one family"));
    words.join(" · ")
}

fn artifact_table(told: &ReviewDocument) -> String {
    let mut facts = vec![
        ("Artifact", escape_inline(&told.artifact)),
        ("Type", escape_inline(&told.artifact_type)),
        ("Tier", told.tier.tier_number().to_string()),
    ];
    facts.extend(told.producer.as_ref().map(|producer| ("Made by", escape_inline(producer))));
    let digest = told.artifact_sha256.as_ref();
    facts.extend(digest.map(|digest| ("SHA-256", format!("`{}`", escape_code(digest)))));
    facts.extend(told.verdict_id.as_ref().map(|id| ("Verdict", format!("`{}`", escape_code(id)))));
    let rows: Vec<_> = facts.into_iter().map(|(name, fact)| vec![name.to_owned(), fact]).collect();
    render_table(&["", ""], &rows)
}

fn deliberator_table(told: &ReviewDocument) -> Vec<String> {
    let rows: Vec<Vec<String>> =
        told.round1.iter().map(|first| deliberator_row(told, first)).collect();
    let head = ["Deliberator", "Model", "R1", "R2", "Blocks", "Irreducible", "Scores"];
    vec!["### Deliberators".to_owned(), render_table(&head, &rows)]
}

fn deliberator_row(told: &ReviewDocument, first: &SeatRoundRow) -> Vec<String> {
    let name = first.row.deliberator();
    let second = told.round2.iter().find(|second| second.row.deliberator() == name);
    let held = told.final_judgement(name);
    let [blocks, lasts] = match held.map(DeliberatorJudgement::block_level) {
        None => ["–", "–"],
        Some(BlockLevel::None) => ["no", "no"],
        Some(BlockLevel::Reducible) => ["yes", "no"],
        Some(BlockLevel::Irreducible) => ["yes", "yes"],
    };
    let scores = held.map(|held| {
        let scores = held.scores.iter();
        let scores =
            scores.map(|(name, score)| format!("{} {score}", escape_inline(&score_name(name))));
        scores.collect::<Vec<_>>().join(", ")
    });
    vec![
        escape_inline(name),
        escape_inline(&first.model),
        stance_cell(&first.row),
        second.map_or_else(|| "–".to_owned(), |second| stance_cell(&second.row)),
        blocks.to_owned(),
        lasts.to_owned(),
        scores.unwrap_or_default(),
    ]
}

fn stance_cell(row: &SeatRow) -> String {
    match row {
        SeatRow::Absent { error_type, .. } => format!("absent ({error_type})"),
        SeatRow::Present { judgement, fallback, uncited, .. } => {
            let mut words = vec![stance_text(judgement)];
            words.extend(fallback.then(|| "R1 counts".to_owned()));
            words.extend(uncited.then(|| "uncited".to_owned()));
            words.join(", ")
        }
    }
}

fn concern_item(one: &PlacedConcern) -> String {
    let place =
        line_range(one.line, one.end_line).map(|lines| format!(" ({lines})")).unwrap_or_default();
    let part = |lead: &str, text: &str| match text.trim() {
        "" => String::new(),
        text => format!("<br>{lead}: {}", escape_inline(text)),
    };
    let PlacedConcern { id, concern, .. } = one;
    let locus = if names_lines(&concern.locus) { "" } else { concern.locus.as_str() };
    let (at, fix) = (part("At", locus), part("Fix", &concern.fix));
    format!("**{}**{place}: {}{at}{fix}", escape_inline(id), escape_inline(&concern.issue))
}

/// A changed stance of a deliberator; `None` if it did not change.
fn stance_change(told: &ReviewDocument, second: &SeatRoundRow) -> Option<String> {
    let name = second.row.deliberator();
    let first = told.round1.iter().find(|first| first.row.deliberator() == name)?;
    let (
        SeatRow::Present { judgement: before, .. },
        SeatRow::Present { judgement: after, uncited, .. },
    ) = (&first.row, &second.row)
    else {
        return None;
    };
    let (before, now) = (stance_text(before), stance_text(after));
    let uncited = if *uncited { " **Uncited.**" } else { "" };
    let reasons =
        [&after.delta_from_r1].into_iter().chain(&after.concessions).chain(&after.escalations);
    let reasons: Vec<String> =
        reasons.map(|text| escape_inline(text)).filter(|text| !text.is_empty()).collect();
    let reasons = reasons.join(" ");
    (before != now).then(|| {
        format!("**{}**: {before} → {now}. {reasons}{uncited}", escape_inline(name))
            .trim_end()
            .to_owned()
    })
}

fn decision_blocks(told: &ReviewDocument) -> Vec<String> {
    let counted = told.policy.as_ref().map(|sum| format!("Counted: {}", policy_sentence(sum)));
    let said = told.adjudicator.as_ref().map(|one| {
        format!(
            "The adjudicator ({}): {}",
            escape_inline(&one.model),
            escape_inline(&adjudication_text(&one.adjudication))
        )
    });
    let outcome = outcome_sentence(told).map(|outcome| format!("The gate: {outcome}"));
    let mut blocks = titled_list("Decision", [counted, said, outcome].into_iter().flatten());
    blocks.extend(told.adjudicator.as_ref().map(|one| quote_text(&one.adjudication.reasoning)));
    blocks
}

fn titled_list(title: &str, items: impl Iterator<Item = String>) -> Vec<String> {
    let items: Vec<String> = items.map(|item| format!("- {item}")).collect();
    if items.is_empty() {
        return Vec::new();
    }
    vec![format!("### {title}"), items.join("\n")]
}
