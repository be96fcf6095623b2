//! The sections of a record that every page shares, and the page of a dialogue that a Judge leads.

use serde_json::Value;

use crate::model::dialogue::{DialogueOpening, ProtocolKind, TerminalState};
use crate::model::record::DialogueRecord;
use crate::model::run_state::RunState;
use crate::model::time::Moment;
use crate::model::verdict::{Verdict, VerdictType, VoteTally};
use crate::protocols::alignment::document::dialogue_warnings;
use crate::protocols::conclusion::document::ConclusionView;
use crate::protocols::conclusion::page::conclusion_sections;
use crate::protocols::conclusion::phrases::conclusion_warnings;
use crate::protocols::conclusion::types::ConclusionOutcome;
use crate::report::entity_sections::{
    moves_section, references_section, rounds_sections, tensions_section,
};
use crate::report::ethos_page::calibration_section;
use crate::report::interventions::list_interventions;
use crate::report::marks::dialogue_mark;
use crate::report::page::{
    ColumnKind, ListItem, PageBlock, PageDetail, PageModel, PageScope, PageSection, PageTable,
    QuoteBar, QuoteBlock, RichText, ShareBar, TableColumn, TableRow, TextTone,
};
use crate::report::phrases::{
    REHEARSAL_NOTE, conclusion_state, count_noun, settled_lists, sorted_verdicts, verdict_caution,
    verdict_details,
};
use crate::report::run_sections::{files_section, interventions_section};
use crate::report::run_status::{split_command, stop_notice};
use crate::report::scoreboard_page::scoreboard_section;

/// The reader knows the question; a complete page has all of a longer one.
const QUESTION_LINES_MAX: usize = 12;

/// A page of a dialogue without sections.
pub(crate) fn base_page(
    opening: &DialogueOpening,
    kind: &'static str,
    scope: PageScope,
) -> PageModel {
    let lines_max = (!scope.detail.is_complete()).then_some(QUESTION_LINES_MAX);
    let question = opening.question.as_ref().filter(|_| scope.round.is_none());
    let question = question.map(|text| QuoteBlock { text: text.clone(), bar: None, lines_max });
    let caution = format!("REHEARSAL: {REHEARSAL_NOTE}");
    PageModel {
        kind,
        title: opening.title.clone(),
        question,
        health: opening.rehearsal.then(|| "REHEARSAL".to_owned()).into_iter().collect(),
        intro: opening.rehearsal.then(|| caution_block(&caution)).into_iter().collect(),
        ..PageModel::default()
    }
}

/// Adds what only the record knows.
pub(crate) fn add_record_facts(page: &mut PageModel, record: &DialogueRecord, detail: PageDetail) {
    page.facts = record_facts(record);
    page.chain_head = detail.is_complete().then(|| record.head.clone());
}

/// A warning that the reader must see first.
pub(crate) fn caution_block(text: &str) -> PageBlock {
    PageBlock::Paragraph(RichText::default().push_strong(text, TextTone::Caution))
}

/// Why a run did not finish, and what to do.
pub(crate) fn stop_blocks(message: String, suggestion: &str) -> Vec<PageBlock> {
    let message = RichText::default().push_strong(message, TextTone::Bad);
    let message = PageBlock::Paragraph(message);
    [message].into_iter().chain(suggestion_blocks(suggestion)).collect()
}

/// What to do; a command has a line of its own.
pub(crate) fn suggestion_blocks(suggestion: &str) -> Vec<PageBlock> {
    let (text, command) = split_command(suggestion);
    let command = command.map(|command| PageBlock::Command(command.to_owned()));
    [PageBlock::Paragraph(text.into())].into_iter().chain(command).collect()
}

fn record_facts(record: &DialogueRecord) -> Vec<(&'static str, RichText)> {
    let dialogue = &record.dialogue;
    let opening = &dialogue.opening;
    let id = RichText::toned(opening.dialogue_id.as_str(), TextTone::Code);
    let is_forced = forced_verdict(record).is_some();
    // The stored status has no value for a forced verdict.
    let status =
        if is_forced { "closed by a forced verdict".into() } else { dialogue.status.to_string() };
    let mut facts: Vec<(&'static str, RichText)> = vec![
        ("Dialogue", id),
        ("Status", status.into()),
        ("Protocol", opening.protocol.to_string().into()),
        ("Rounds", dialogue.total_rounds.to_string().into()),
    ];
    // Only a Judge gives scores.
    if opening.protocol.is_judged() {
        facts.push(("ALIGNMENT", dialogue.total_alignment.to_string().into()));
        facts.push(("Convergence asked", format!("{}%", opening.convergence_percent).into()));
    }
    facts.push(("Opened", dialogue.created_at.to_string().into()));
    let closing = if is_forced { "Closed" } else { "Converged" };
    facts.extend(dialogue.converged_at.map(|moment| (closing, moment.to_string().into())));
    facts.extend(conclusion_state(record).map(|state| ("Conclusion", state.into())));
    facts
}

/// The page of a dialogue that a Judge leads, or one round of any dialogue. `run` is the run that
/// concludes it, if any.
pub fn dialogue_page(
    record: &DialogueRecord,
    run: Option<&RunState>,
    scope: PageScope,
) -> PageModel {
    let dialogue = &record.dialogue;
    let kind = match dialogue.opening.protocol {
        ProtocolKind::Council => "Council",
        ProtocolKind::Review => "Review",
        ProtocolKind::Alignment | ProtocolKind::Other(_) => "Dialogue",
    };
    let mut page = base_page(&dialogue.opening, kind, scope);
    add_record_facts(&mut page, record, scope.detail);
    // The stored status has no value for a forced verdict; the headline must not say "converged".
    page.state = match forced_verdict(record) {
        Some(_) => RichText::marked(("▲", TextTone::Caution), NOT_CONVERGED),
        None => RichText::marked(dialogue_mark(dialogue.status), dialogue.status.name()),
    };
    if dialogue.opening.protocol.is_judged() {
        page.health.push(format!("ALIGNMENT {}", dialogue.total_alignment));
    }
    page.health.extend(split_vote(record).map(|vote| match vote.reaches_percent(1) {
        true => format!("SPLIT: vote {vote}"),
        false => format!("NO AGREEMENT: vote {vote}"),
    }));
    page.summary = summary_facts(record);
    if let Some(round) = scope.round {
        page.health.push(format!("only round {round}"));
        page.sections = record_sections(record, scope);
        return page;
    }
    if let Some(stop) = run.and_then(stop_notice) {
        page.intro.extend(stop_blocks(format!("{}.", stop.message), &stop.suggestion));
    }
    let interventions = run.map(list_interventions).unwrap_or_default();
    let interventions = interventions_section(&interventions);
    let ended = conclusion_view(record, run);
    let is_unconverged = ended.terminal_state == Some(TerminalState::Unconverged);
    page.sections.extend(background_section(record, scope));
    page.sections.extend(conclusion_sections(&ended, recorded_outcomes(record)));
    if scope.detail == PageDetail::Result && !is_unconverged {
        if run.is_some_and(|run| run.alignment.is_some()) {
            page.sections.push(verdicts_section(record));
            page.sections.push(calibration_section(record));
            page.sections.extend(scoreboard_section(record));
        }
        page.sections.push(interventions);
        page.sections.push(more_section(record));
        return page;
    }
    // Without a conclusion, show the full text of every contribution.
    let detail = if is_unconverged && scope.detail != PageDetail::Export {
        PageDetail::Full
    } else {
        scope.detail
    };
    page.sections.push(verdicts_section(record));
    page.sections.push(calibration_section(record));
    page.sections.push(experts_section(record, run));
    page.sections.extend(scoreboard_section(record));
    page.sections.extend(record_sections(record, PageScope { detail, ..scope }));
    page.sections.push(interventions);
    page.sections.extend(run.map(|run| files_section(&run.plan.context)));
    let warnings = run.and_then(dialogue_warnings);
    let warnings =
        warnings.unwrap_or_else(|| conclusion_warnings(&ended, dialogue.opening.rehearsal));
    page.sections.push(warnings_section(&warnings));
    page
}

/// How every headline calls a dialogue whose final verdict was forced.
pub const NOT_CONVERGED: &str = "NOT CONVERGED";

/// The final verdict, if it was forced.
fn forced_verdict(record: &DialogueRecord) -> Option<&Verdict> {
    let verdicts = record.verdicts.iter().map(|given| &given.verdict);
    let is_forced =
        |verdict: &&Verdict| verdict.verdict_type == VerdictType::Final && verdict.forced;
    verdicts.into_iter().find(is_forced)
}

/// The vote of the final verdict, if it was not unanimous.
fn split_vote(record: &DialogueRecord) -> Option<VoteTally> {
    let mut verdicts = record.verdicts.iter().map(|given| &given.verdict);
    let last = verdicts.rfind(|verdict| verdict.verdict_type == VerdictType::Final)?;
    last.vote.filter(|vote| !vote.reaches_percent(100))
}

/// The command that shows the rest.
fn more_section(record: &DialogueRecord) -> PageSection {
    let command = PageBlock::Command(format!("plenary show {}", record.dialogue.id()));
    PageSection::new("Record", vec![command])
}

pub(crate) fn warnings_section(warnings: &[String]) -> PageSection {
    let blocks = (!warnings.is_empty()).then(|| warning_list(warnings));
    PageSection::new("Warnings", blocks.into_iter().collect())
}

pub(crate) fn warning_list(warnings: &[String]) -> PageBlock {
    let lead = || RichText::toned("!", TextTone::Caution);
    PageBlock::List(warnings.iter().map(|text| ListItem::new(lead(), text.as_str())).collect())
}

/// The tensions, rounds, moves and references of a record.
pub(crate) fn record_sections(record: &DialogueRecord, scope: PageScope) -> Vec<PageSection> {
    let mut sections = Vec::new();
    if scope.round.is_none() {
        sections.push(tensions_section(record, scope.detail));
    }
    sections.extend(rounds_sections(record, scope));
    sections.push(moves_section(record, scope));
    sections.push(references_section(record, scope));
    sections
}

/// For example `alignment protocol`, `3 rounds`, `2026-02-02`.
pub(crate) fn summary_facts(record: &DialogueRecord) -> Vec<String> {
    let dialogue = &record.dialogue;
    let opened = dialogue.created_at.utc_day();
    let closed = dialogue.converged_at.map(Moment::utc_day).filter(|day| *day != opened);
    let dates = closed.map_or_else(|| opened.to_string(), |closed| format!("{opened} – {closed}"));
    let mut facts =
        vec![dialogue.id().to_string(), format!("{} protocol", dialogue.opening.protocol)];
    facts.push(count_noun(dialogue.total_rounds.into(), "round"));
    facts.push(dates);
    facts.extend(conclusion_state(record).map(|state| format!("conclusion {state}")));
    facts
}

/// The conclusion in the record; otherwise that of the run, finished or not.
fn conclusion_view(record: &DialogueRecord, run: Option<&RunState>) -> ConclusionView {
    match (&record.conclusion, run) {
        (Some(concluded), _) => ConclusionView::from_result(&concluded.ending),
        (None, Some(run)) => ConclusionView::from_state(run),
        (None, None) => ConclusionView::default(),
    }
}

/// The outcomes recorded with `due record`.
pub(crate) fn recorded_outcomes(record: &DialogueRecord) -> &[(Moment, ConclusionOutcome)] {
    record.conclusion.as_ref().map_or(&[], |concluded| &concluded.outcomes)
}

/// The background that the panel read with the question; only on complete pages.
pub(crate) fn background_section(record: &DialogueRecord, scope: PageScope) -> Option<PageSection> {
    let background = record.dialogue.opening.background.as_ref()?;
    let block = match background {
        Value::String(text) => PageBlock::prose(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            PageBlock::Fields(value_items("", background))
        }
    };
    scope.detail.is_complete().then(|| PageSection::new("Background", vec![block]))
}

/// The values in a JSON value, each with its path: `trust.income_mandate`.
fn value_items(path: &str, value: &Value) -> Vec<ListItem> {
    let below = |name: &str| match path.is_empty() {
        true => name.to_owned(),
        false => format!("{path}.{name}"),
    };
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            fields.iter().flat_map(|(name, value)| value_items(&below(name), value)).collect()
        }
        Value::Array(values) if !values.is_empty() => {
            values.iter().flat_map(|value| value_items(path, value)).collect()
        }
        Value::String(text) => vec![ListItem::new(path, text.as_str())],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            vec![ListItem::new(path, value.to_string())]
        }
    }
}

fn verdicts_section(record: &DialogueRecord) -> PageSection {
    let verdicts = sorted_verdicts(record);
    let none = || PageBlock::Paragraph(RichText::toned("None yet.", TextTone::Faint));
    let blocks = verdicts.is_empty().then(none).into_iter().collect();
    PageSection::new("Verdicts", blocks)
        .with_sections(verdicts.into_iter().map(verdict_section).collect())
}

fn verdict_section(verdict: &Verdict) -> PageSection {
    let (name, tone) = match verdict.verdict_type {
        VerdictType::Final => ("Final verdict", TextTone::Good),
        VerdictType::Interim => ("Interim verdict", TextTone::Id),
        VerdictType::Minority => ("Minority verdict", TextTone::Caution),
        VerdictType::Dissent => ("Dissent", TextTone::Bad),
    };
    let bar = QuoteBar { tone, is_heavy: verdict.verdict_type.takes_effect() };
    let mut blocks = vec![PageBlock::barred(&verdict.recommendation, bar)];
    if let Some((word, reason)) = verdict_caution(verdict) {
        let caution = RichText::default().push_strong(word, TextTone::Caution);
        blocks.push(PageBlock::Paragraph(caution.push(format!(": {reason}"), TextTone::Plain)));
    }
    blocks.push(PageBlock::prose(&verdict.description));
    let conditions = verdict.conditions.as_deref().unwrap_or_default();
    if !conditions.is_empty() {
        let numbered = conditions.iter().enumerate().map(|(place, condition)| {
            ListItem::new(format!("Condition {}:", place + 1), condition.as_str())
        });
        blocks.push(PageBlock::List(numbered.collect()));
    }
    let settled = settled_lists(verdict);
    let settled = settled
        .iter()
        .map(|(name, ids)| RichText::with_ids(&format!("{name} {ids}"), TextTone::Faint));
    blocks.push(PageBlock::Facts(settled.collect()));
    PageSection::new(name, blocks)
        .with_subject(Some(verdict.verdict_id.to_string()))
        .with_note(verdict_details(verdict).join(" · "))
}

/// The experts, highest score first, with their models if a run asked them.
fn experts_section(record: &DialogueRecord, run: Option<&RunState>) -> PageSection {
    let mut experts: Vec<_> = record.experts.iter().collect();
    experts.sort_by_key(|expert| std::cmp::Reverse(expert.total));
    let best = experts.iter().map(|expert| expert.total).max().unwrap_or(0);
    let mut columns = vec![TableColumn::new("Expert", ColumnKind::Short)];
    let rounds = record.rounds.iter().map(|round| format!("r{}", round.round));
    columns.extend(rounds.map(|name| TableColumn::new(name, ColumnKind::Number)));
    columns.push(TableColumn::new("Total", ColumnKind::Number));
    columns.push(TableColumn::new("Role", ColumnKind::Wrap));
    let rows = experts.iter().map(|expert| {
        let profile = &expert.profile;
        let mut cells = vec![RichText::strong(profile.expert_slug.display_name())];
        cells.extend(record.rounds.iter().map(|round| {
            let score = expert.scores.get(&round.round);
            RichText::toned(score.map_or("·".to_owned(), i64::to_string), TextTone::Faint)
        }));
        cells.push(RichText::strong(expert.total.to_string()));
        let seat = run.and_then(|run| run.plan.find_seat(&profile.expert_slug));
        let model = seat.map_or_else(String::new, |seat| format!(" · {}", seat.model));
        let role = format!("{} · {} · {}{model}", profile.role, profile.tier, profile.source);
        cells.push(RichText::toned(role, TextTone::Faint));
        let bar = ShareBar { part: expert.total, whole: best, tone: TextTone::Good };
        TableRow { cells, bar: Some(bar), is_nested: false }
    });
    let rows: Vec<TableRow> = rows.collect();
    let note = count_noun(rows.len(), "expert");
    let table = (!rows.is_empty()).then_some(PageBlock::Table(PageTable { columns, rows }));
    PageSection::new("Experts", table.into_iter().collect()).with_note(note)
}
