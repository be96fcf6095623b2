//! The page of a review, of imported verdicts, and the line about one of several files.

use crate::model::record::DialogueRecord;
use crate::model::run_state::RunState;
use crate::protocols::council::answers::ProviderFailure;
use crate::protocols::review::concern_sections::{changes_section, concerns_section};
use crate::protocols::review::document::{OverrideMark, ReviewDocument, review_document};
use crate::protocols::review::earlier_decision::EarlierDecision;
use crate::protocols::review::log_row::LogRow;
use crate::protocols::review::phrases::{
    adjudication_text, count_blocks, describe_blocks, explain_shipped_blocks, outcome_sentence,
    override_lines, policy_sentence, score_name, verdict_mark,
};
use crate::protocols::review::policy::ReviewVerdict;
use crate::protocols::review::seat_results::{
    ADJUDICATION, RoundResult, SeatResult, list_seat_results,
};
use crate::protocols::review::types::{BlockLevel, DeliberatorJudgement, ReviewArtifact};
use crate::report::marks::{deliberator_mark, review_mark};
use crate::report::page::{
    ColumnKind, ListItem, PageBlock, PageDetail, PageModel, PageScope, PageSection, PageTable,
    QuoteBar, RichText, TableColumn, TableRow, TextTone,
};
use crate::report::phrases::round_name;
use crate::report::record_page::{
    add_record_facts, base_page, caution_block, dialogue_page, record_sections, stop_blocks,
    suggestion_blocks, summary_facts,
};
use crate::report::run_sections::{list_spending, replies_section, run_record_section};
use crate::report::run_status::{StopNotice, status_word};
use crate::report::terminal::layout::{FAINT, PLAIN, PageCanvas, StyledLine};
use crate::report::terminal::wrap::wrap_line;

/// Characters of the digest on a line of facts; enough to distinguish files.
const DIGEST_CHARS_SHOWN: usize = 12;

/// Beside a verdict that blocks.
const BLOCK_MARK: &str = "■";

/// The page of a review, decided or not. The result of a run needs no record.
pub fn review_page(
    record: Option<&DialogueRecord>,
    state: &RunState,
    scope: PageScope,
) -> PageModel {
    if let Some(record) = record.filter(|_| scope.round.is_some()) {
        return dialogue_page(record, None, scope);
    }
    let answer = &review_document(state);
    let results = &list_seat_results(state);
    let mut page = base_page(&state.opening, "Review", scope);
    if let Some(record) = record {
        add_record_facts(&mut page, record, scope.detail);
    }
    page.title = answer.artifact.clone();
    page.question = None;
    page.state = match &answer.overridden {
        Some(word) => RichText::marked(review_mark(word.decision.into()), word.decision.name()),
        None => RichText::marked(verdict_mark(answer), answer.verdict.name()),
    };
    page.health = list_health(answer);
    page.summary = artifact_facts(answer);
    page.facts.extend(artifact_rows(answer));
    if let Some(error) = &answer.error {
        let message = format!("{}: {}.", status_word(state), error.message);
        let is_result = scope.detail == PageDetail::Result;
        let blocks = stop_blocks(message, &error.suggestion);
        // A result has the suggestion at its end.
        page.intro.extend(blocks.into_iter().take(if is_result { 1 } else { usize::MAX }));
    }
    let confirms = |word: &OverrideMark| answer.verdict == word.decision.into();
    let heading =
        if answer.overridden.as_ref().is_some_and(confirms) { "CONFIRMED" } else { "OVERRIDDEN" };
    let overridden = override_lines(answer).into_iter();
    page.intro.extend(overridden.map(|text| caution_block(&format!("{heading}: {text}"))));
    page.sections = vec![
        brief_section(answer),
        deliberators_section(answer, results),
        concerns_section(answer, results, scope.detail),
        changes_section(answer, results, scope.detail),
        decision_section(answer),
        prior_verdicts_section(answer),
        missing_context_section(answer),
    ];
    if scope.detail == PageDetail::Full {
        page.sections.push(replies_section(state, &[]));
    }
    match record.filter(|_| scope.detail != PageDetail::Result) {
        None => page.sections.push(next_section(answer)),
        Some(record) => page.sections.extend(record_sections(record, scope)),
    }
    let metrics = answer.metrics.as_ref();
    let mut facts =
        metrics.map(|metrics| list_spending(metrics, state.opened_at)).unwrap_or_default();
    facts.extend(answer.verdict_id.iter().map(|id| format!("verdict {id}")));
    let command = format!("plenary show {}", state.opening.dialogue_id);
    let hint = ("The record:", command);
    page.sections.push(run_record_section(facts, &answer.warnings, hint, scope.detail));
    page
}

/// The page of a content that was decided before: the decision first, then the review that led to it.
/// The content may be that of another file.
pub fn decided_page(
    state: &RunState,
    artifact: &ReviewArtifact,
    earlier: &EarlierDecision,
) -> PageModel {
    let mut page = review_page(None, state, PageScope::new(PageDetail::Result));
    let judged = std::mem::replace(&mut page.title, artifact.path.clone());
    let origin = match judged == artifact.path {
        true => String::new(),
        false => format!(" It was decided for {judged}."),
    };
    let note =
        format!("{}{origin} No model was asked; `--force` judges it again.", earlier.sentence());
    page.intro.insert(0, caution_block(&note));
    page
}

/// Lists everything that limits the panel, so that a degraded panel is always visible.
fn list_health(answer: &ReviewDocument) -> Vec<String> {
    let answered = answer.policy.as_ref().map_or(0, |counted| counted.arithmetic.present);
    let overridden = answer.overridden.as_ref();
    let overridden = overridden.map(|word| match answer.verdict == word.decision.into() {
        true => format!("{} confirmed {}", word.by, answer.verdict),
        false => format!("OVERRIDDEN by {}, the gate said {}", word.by, answer.verdict),
    });
    let mut words: Vec<String> = overridden.into_iter().collect();
    words.extend(explain_shipped_blocks(answer).filter(|_| answer.overridden.is_none()));
    words.extend(answer.rehearsal.then(|| "REHEARSAL".to_owned()));
    let is_abandoned = answer.error.as_ref().is_some_and(StopNotice::is_abandoned);
    words.extend(is_abandoned.then(|| "ABANDONED".to_owned()));
    words.extend(answer.panel.degraded.then(|| "DEGRADED".to_owned()));
    words.push(format!("{answered} of {} answered", answer.round1.len()));
    // All rehearsal seats share one family; the REHEARSAL caution covers that.
    let is_told = answer.panel.single_family && !answer.rehearsal;
    words.extend(is_told.then(|| "one family".to_owned()));
    words
}

fn artifact_facts(answer: &ReviewDocument) -> Vec<String> {
    let mut facts =
        vec![answer.artifact_type.clone(), format!("tier {}", answer.tier.tier_number())];
    facts.extend(answer.producer.as_ref().map(|producer| format!("made by {producer}")));
    let digest =
        answer.artifact_sha256.as_deref().and_then(|digest| digest.get(..DIGEST_CHARS_SHOWN));
    facts.extend(digest.map(|digest| format!("sha256 {digest}…")));
    facts
}

fn artifact_rows(answer: &ReviewDocument) -> Vec<(&'static str, RichText)> {
    let code = |text: &String| RichText::toned(text.as_str(), TextTone::Code);
    let mut facts: Vec<(&'static str, RichText)> = vec![
        ("Type", answer.artifact_type.as_str().into()),
        ("Tier", answer.tier.tier_number().to_string().into()),
    ];
    facts.extend(answer.producer.as_ref().map(|producer| ("Made by", producer.as_str().into())));
    facts.extend(answer.artifact_sha256.as_ref().map(|digest| ("SHA-256", code(digest))));
    facts.extend(answer.verdict_id.as_ref().map(|id| ("Verdict", code(id))));
    facts
}

fn brief_section(answer: &ReviewDocument) -> PageSection {
    let author = answer.adjudicator.as_ref().map(|one| format!("by {} ({})", one.seat, one.model));
    let bar = QuoteBar { tone: verdict_mark(answer).1, is_heavy: true };
    let is_given = !answer.revision_brief.trim().is_empty();
    let quote = is_given.then(|| PageBlock::barred(&answer.revision_brief, bar));
    PageSection::new("Revision brief", quote.into_iter().collect())
        .with_note(author.unwrap_or_default())
}

/// A row for each deliberator with the verdicts of both rounds, then its absences and scores.
fn deliberators_section(answer: &ReviewDocument, results: &[SeatResult<'_>]) -> PageSection {
    let columns = [
        ("Deliberator", ColumnKind::Short),
        ("R1", ColumnKind::Short),
        ("R2", ColumnKind::Short),
        ("blocks", ColumnKind::Short),
        ("irreducible", ColumnKind::Short),
        ("", ColumnKind::Short),
        ("model", ColumnKind::Short),
        ("absences", ColumnKind::Below),
        ("scores", ColumnKind::Below),
    ];
    let columns = columns.map(|(heading, kind)| TableColumn::new(heading, kind)).into();
    let rows = results.iter().map(|result| deliberator_row(answer, result, results)).collect();
    let counted = answer.policy.as_ref().map(|counted| counted.arithmetic);
    PageSection::new("Deliberators", vec![PageBlock::Table(PageTable { columns, rows })])
        .with_note(counted.as_ref().map(describe_blocks).unwrap_or_default())
}

fn deliberator_row(
    answer: &ReviewDocument,
    result: &SeatResult<'_>,
    all: &[SeatResult<'_>],
) -> TableRow {
    let judged = result.final_judgement();
    let mark = judged.map_or(("×", TextTone::Bad), |judged| deliberator_mark(judged.verdict));
    let (no, yes) = (("no", TextTone::Faint), ("yes", TextTone::Bad));
    let [blocks, lasts] = match judged.map(DeliberatorJudgement::block_level) {
        // An absent deliberator has no verdict.
        None => [("–", TextTone::Faint); 2],
        Some(BlockLevel::None) => [no, no],
        Some(BlockLevel::Reducible) => [yes, no],
        Some(BlockLevel::Irreducible) => [yes, yes],
    };
    let note = if result.is_fallback() {
        "R1 counts"
    } else if result.is_uncited(all) {
        "uncited"
    } else {
        ""
    };
    let seat = result.seat.as_str();
    let first = answer.round1.iter().find(|first| first.row.deliberator() == seat);
    TableRow::new(vec![
        RichText::marked(mark, seat),
        round_cell(&result.first),
        round_cell(&result.second),
        RichText::toned(blocks.0, blocks.1),
        RichText::toned(lasts.0, lasts.1),
        RichText::toned(note, TextTone::Caution),
        RichText::toned(first.map_or("", |first| first.model.as_str()), TextTone::Faint),
        absence_text(result).into(),
        RichText::joined(&list_scores(result), TextTone::Faint),
    ])
}

fn round_cell(result: &RoundResult<'_>) -> RichText {
    match result {
        RoundResult::Open => RichText::toned("–", TextTone::Faint),
        RoundResult::Absent(_) => RichText::toned("absent", TextTone::Bad),
        RoundResult::Judged(judgement) => {
            let block =
                if judgement.would_block { format!(" {BLOCK_MARK}") } else { String::new() };
            let tone = deliberator_mark(judgement.verdict).1;
            RichText::toned(format!("{}{block}", judgement.verdict), tone)
        }
    }
}

/// Why each absent round failed.
fn absence_text(result: &SeatResult<'_>) -> String {
    let reasons = [&result.first, &result.second].into_iter().filter_map(|part| match part {
        RoundResult::Absent(failure) => {
            Some(format!("{} {}: {}", failure.round, failure.error_type, failure.error_message))
        }
        RoundResult::Open | RoundResult::Judged(_) => None,
    });
    reasons.collect::<Vec<_>>().join("; ")
}

/// The final scores; a changed score with its earlier value.
fn list_scores(result: &SeatResult<'_>) -> Vec<String> {
    let Some(judged) = result.final_judgement() else { return Vec::new() };
    let before = result.first.judgement();
    let scores = judged.scores.iter().map(|(name, score)| {
        let was = before.and_then(|before| before.scores.get(name)).filter(|was| *was != score);
        let was = was.map(|was| format!("{was}→")).unwrap_or_default();
        format!("{} {was}{score}", score_name(name))
    });
    scores.collect()
}

fn decision_section(answer: &ReviewDocument) -> PageSection {
    let tone = match &answer.overridden {
        Some(mark) => review_mark(mark.decision.into()).1,
        None => verdict_mark(answer).1,
    };
    let reply = answer.adjudicator.as_ref().map(|one| &one.adjudication);
    let undecided =
        || format!("{}: no decision, so the document does not pass", ReviewVerdict::Incomplete);
    let mut items: Vec<ListItem> = Vec::new();
    items.extend(answer.policy.as_ref().map(|sum| ListItem::new("count", policy_sentence(sum))));
    let printed = reply.map(adjudication_text).unwrap_or_else(|| explain_absence(answer));
    items.push(ListItem::new("adjudicator", printed));
    let outcome = outcome_sentence(answer).unwrap_or_else(undecided);
    items.push(ListItem::new("decision", RichText::default().push_strong(outcome, tone)));
    let reasoning = reply.map_or("", |reply| reply.reasoning.trim());
    let mut blocks = vec![PageBlock::Fields(items)];
    blocks.extend((!reasoning.is_empty()).then(|| PageBlock::prose(reasoning)));
    PageSection::new("Decision", blocks).with_note(effective_verdict(answer).name())
}

/// The person's decision, else the verdict of the review.
fn effective_verdict(answer: &ReviewDocument) -> ReviewVerdict {
    answer.overridden.as_ref().map_or(answer.verdict, |mark| mark.decision.into())
}

/// Why the adjudicator gave no verdict.
fn explain_absence(answer: &ReviewDocument) -> String {
    let of_round = |failure: &&ProviderFailure| failure.round == round_name(ADJUDICATION);
    let failed = answer.panel.panel.failed.iter().find(of_round);
    failed.map_or_else(
        || "was not asked".to_owned(),
        |failure| format!("absent, {}: {}", failure.error_type, failure.error_message),
    )
}

/// The earlier verdicts on this type that the adjudicator saw.
fn prior_verdicts_section(answer: &ReviewDocument) -> PageSection {
    let rows = answer.prior_verdicts.iter().map(|one| {
        let producer =
            one.producer.as_ref().map(|name| format!(" (by {name})")).unwrap_or_default();
        verdict_row(
            one.verdict,
            one.ts.utc_day().to_string(),
            format!("{}{producer}", one.artifact),
        )
    });
    let rows: Vec<TableRow> = rows.collect();
    PageSection::new("Prior verdicts", verdict_table(rows)).with_note("shown to the adjudicator")
}

fn verdict_row(verdict: ReviewVerdict, day: String, text: String) -> TableRow {
    let mark = review_mark(verdict);
    let day = RichText::toned(day, TextTone::Faint);
    TableRow::new(vec![RichText::marked(mark, verdict.name()), day, text.into()])
}

fn verdict_table(rows: Vec<TableRow>) -> Vec<PageBlock> {
    let columns = [
        ("Verdict", ColumnKind::Short),
        ("day", ColumnKind::Short),
        ("artifact", ColumnKind::Wrap),
    ];
    let columns = columns.map(|(heading, kind)| TableColumn::new(heading, kind)).into();
    if rows.is_empty() { Vec::new() } else { vec![PageBlock::Table(PageTable { columns, rows })] }
}

fn missing_context_section(answer: &ReviewDocument) -> PageSection {
    let items = answer.missing_context.iter().map(|one| {
        let text = format!("{}: {}", one.path, one.reason);
        ListItem::new(RichText::strong(one.deliberator.as_str()), text)
    });
    let items: Vec<ListItem> = items.collect();
    let blocks = (!items.is_empty()).then_some(PageBlock::List(items));
    PageSection::new("Missing context", blocks.into_iter().collect())
        .with_note("the deliberators know")
}

fn next_section(answer: &ReviewDocument) -> PageSection {
    let text = |text: &str| PageBlock::Paragraph(text.into());
    let blocks = match effective_verdict(answer) {
        ReviewVerdict::Ship | ReviewVerdict::Skipped => Vec::new(),
        ReviewVerdict::Revise | ReviewVerdict::Hold => {
            let mut blocks = vec![text(change_advice(answer))];
            if let Some(id) = &answer.verdict_id {
                blocks.push(text("A person may override the verdict and must say why:"));
                let command = format!("plenary override {id} --as SHIP --why \"…\"");
                blocks.push(PageBlock::Command(command));
            }
            blocks
        }
        ReviewVerdict::Incomplete => {
            answer.error.iter().flat_map(|error| suggestion_blocks(&error.suggestion)).collect()
        }
    };
    PageSection::new("Next", blocks)
}

/// Advice to the author of the artifact.
fn change_advice(answer: &ReviewDocument) -> &'static str {
    let sum = answer.policy.as_ref().map(|counted| &counted.arithmetic);
    match sum.is_some_and(|sum| sum.blocks > 0 && sum.irreducible_blocks == sum.blocks) {
        true => {
            "No revision can remove these blocks. Write a different document, or do not publish it."
        }
        false => "Change the document as the brief says, then review it again.",
    }
}

/// One or two screens; a complete page has all.
const IMPORTED_ROWS_MAX: usize = 40;

/// The page of verdicts that were imported from another log.
pub(crate) fn imported_page(
    record: &DialogueRecord,
    rows: &[LogRow],
    scope: PageScope,
) -> PageModel {
    let mut page = base_page(&record.dialogue.opening, "Imported log", scope);
    add_record_facts(&mut page, record, scope.detail);
    page.summary = summary_facts(record);
    let shown = if scope.detail.is_complete() { rows.len() } else { IMPORTED_ROWS_MAX };
    let drawn = rows.iter().take(shown).map(|row| {
        let rehearsal = if row.rehearsal { "REHEARSAL  " } else { "" };
        let text = format!("{rehearsal}{}  {}", row.artifact, row.artifact_type);
        verdict_row(row.adjudicator.final_verdict, row.ts.utc_day().to_string(), text)
    });
    let mut blocks = verdict_table(drawn.collect());
    if let Some(more @ 1..) = rows.len().checked_sub(shown) {
        let text = format!("and {more} more; `--full` shows them");
        blocks.push(PageBlock::Paragraph(RichText::toned(text, TextTone::Faint)));
    }
    page.sections =
        vec![PageSection::new("Imported verdicts", blocks).with_note(count_verdicts(rows))];
    page
}

/// For example `3 SHIP · 1 HOLD`.
fn count_verdicts(rows: &[LogRow]) -> String {
    let count = |verdict: ReviewVerdict| {
        let count = rows.iter().filter(|row| row.adjudicator.final_verdict == verdict).count();
        (count > 0).then(|| format!("{count} {verdict}"))
    };
    ReviewVerdict::ALL.iter().filter_map(|verdict| count(*verdict)).collect::<Vec<_>>().join(" · ")
}

/// Width of `INCOMPLETE` with its mark.
const VERDICT_WIDTH: usize = 12;

/// A review or a skipped file as one line; a skip reason goes below.
pub fn draw_review_line(answer: &ReviewDocument, canvas: PageCanvas) -> String {
    let (mark, tone) = verdict_mark(answer);
    let lead = StyledLine::blank()
        .push_styled(&format!("{mark} {}", answer.verdict), tone.to_style())
        .pad_to_column(VERDICT_WIDTH)
        .push_plain(" ");
    // The path has priority: the note is cut first. A skip reason is always printed in full.
    let path = lead.push_fitted(&answer.artifact, PLAIN, canvas.column_count() - 2);
    match &answer.skipped_because {
        Some(reason) => {
            let room = canvas.text_width().saturating_sub(VERDICT_WIDTH + 1);
            let lines = wrap_line(reason, room);
            let indented = lines.iter().map(|line| format!("\n{:VERDICT_WIDTH$} {line}", ""));
            path.to_string() + &indented.collect::<String>()
        }
        None => {
            let line = path.push_plain("  ");
            line.push_fitted(&line_note(answer), FAINT, canvas.column_count()).to_string()
        }
    }
}

fn line_note(answer: &ReviewDocument) -> String {
    let mut words = Vec::new();
    words.extend(answer.rehearsal.then(|| "REHEARSAL".to_owned()));
    words.extend(answer.panel.degraded.then(|| "DEGRADED".to_owned()));
    let counted = answer.policy.as_ref().map(|counted| count_blocks(counted.arithmetic.blocks));
    words.extend(explain_shipped_blocks(answer).or(counted));
    words.extend(answer.error.as_ref().map(|error| error.message.clone()));
    words.extend(
        answer.decided_before.as_ref().map(|mark| format!("decided before by {}", mark.by)),
    );
    words.extend(answer.verdict_id.clone());
    words.join(" · ")
}
