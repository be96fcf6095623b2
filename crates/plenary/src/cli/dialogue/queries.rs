//! `cite`, `similar` and `stats`: search the record.

use clap::Args;
use plenary_core::model::ids::{DialogueId, EntityId};
use plenary_core::model::queries::EntityCitation;
use plenary_core::model::validation_error::ErrorCode;
use plenary_core::report::calls::call_section;
use plenary_core::report::page::{ListItem, PageBlock, PageSection, RichText, TextTone};
use plenary_core::report::phrases::{count_noun, event_phrase, reference_verb, stage_name};
use plenary_core::report::provenance::ProvenanceSource;
use plenary_core::report::terminal::layout::{PageCanvas, TextTable};
use plenary_core::report::terminal::page::draw_sections;
use plenary_engine::app::queries::{
    CONCLUSION_KIND, CiteError, CiteResult, CitedPart, SimilarResult, StatsResult, count_records,
    find_similar, resolve_citations,
};
use plenary_engine::error::Error;
use serde_json::{Map, Value};

use crate::cli::dialogue::command::{DataArgs, warn};
use crate::cli::option_names::name_target;
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::ui::print_error;

/// Explain the ids of statements: author, status, references
///
/// Shows the passage of the reply that a statement comes from. `ID/call/7` is a call of a run: its
/// prompt and its raw reply. `ID/conclusion.recommendation` is a field of the conclusion,
/// `ID/verdict.final` a verdict. If no id exists, the exit code is 4.
///
/// $ plenary cite nvidia-decision/P0101
///
/// $ plenary cite latest/conclusion.recommendation
///
/// $ plenary cite tea-or-coffee-1a2b3c4d/call/7
///
/// $ plenary cite P0101 T0003 --dialogue nvidia-decision
#[derive(Debug, Args)]
pub(crate) struct CiteArgs {
    /// Ids such as my-dialogue/P0101 or my-dialogue/call/7; P0101 or call/7 with `--dialogue`
    #[arg(required_unless_present = "data")]
    ids: Vec<String>,
    /// The dialogue of the short ids
    #[arg(long, value_name = "ID")]
    dialogue: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl CiteArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self
            .data
            .arguments()?
            .set_field("dialogue_id", self.dialogue)
            .set_field("ids", (!self.ids.is_empty()).then_some(self.ids));
        let cited = resolve_citations(&session.open_existing()?, arguments.value())?;
        warn(session.ui, &cited.warnings);
        if session.ui.json || !cited.citations.is_empty() {
            session
                .ui
                .print_result(&cited, |cited| cite_text(cited, session.ui.terminal_width()))?;
        }
        if !session.ui.json {
            for mut fault in cited.errors.iter().map(|error| error.fault.clone()) {
                name_target(&mut fault);
                print_error(&fault.into());
            }
        }
        let missing = [ErrorCode::TargetNotFound, ErrorCode::DialogueNotFound];
        let is_missing = |error: &CiteError| missing.contains(&error.fault.code);
        let is_changed = |error: &CiteError| error.fault.code == ErrorCode::RecordChanged;
        Ok(match cited.citations.is_empty() {
            false if cited.errors.iter().any(is_changed) => ExitStatus::WithFindings,
            true if cited.errors.iter().all(is_missing) => ExitStatus::Unreadable,
            true => ExitStatus::WithFindings,
            false => ExitStatus::Ok,
        })
    }
}

fn cite_text(cited: &CiteResult, width: usize) -> String {
    let section = |cited: &CitedPart| match cited {
        CitedPart::Entity(citation) => {
            let mut section = citation_section(&citation.entity);
            let sources = source_section(&citation.entity.dialogue_id, &citation.sources, false);
            section.sections.insert(0, sources);
            section
        }
        CitedPart::Part(cited) => {
            let note = format!("{} · {}", cited.label, cited.dialogue_id);
            let blocks = vec![PageBlock::prose(&cited.content)];
            PageSection::new(cited.id.clone(), blocks)
                .with_note(mark_rehearsal(cited.rehearsal, &note))
                .with_sections(vec![source_section(
                    &cited.dialogue_id,
                    &cited.sources,
                    cited.kind == CONCLUSION_KIND,
                )])
        }
        CitedPart::Call(cited) => {
            let note = format!("{} · {}", cited.label, cited.dialogue_id);
            call_section(&cited.call).with_note(mark_rehearsal(cited.rehearsal, &note))
        }
    };
    let sections: Vec<PageSection> = cited.citations.iter().map(section).collect();
    let lines = draw_sections(&sections, PageCanvas { width });
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The passages of the raw replies that a part comes from. Below those of a reply stands the command
/// that shows its call.
fn source_section(
    id: &DialogueId,
    sources: &[ProvenanceSource],
    is_conclusion: bool,
) -> PageSection {
    let mut blocks = Vec::new();
    for passages in sources.chunk_by(|one, next| (one.call, &one.seat) == (next.call, &next.seat)) {
        let Some(ProvenanceSource { call, seat, round, journal_seq, .. }) = passages.first() else {
            continue;
        };
        let reply =
            call.map_or_else(|| "a registered reply".to_owned(), |number| format!("call {number}"));
        let round = if is_conclusion { stage_name(*round) } else { format!("round {round}") };
        let mut facts = vec![format!("{reply} of {seat}, {round}")];
        facts.extend(journal_seq.map(|seq| format!("journal entry {seq}")));
        blocks.push(PageBlock::Facts(facts.into_iter().map(RichText::from).collect()));
        let list = passages.iter().map(|ProvenanceSource { start, end, quote, .. }| {
            let lead = match quote.is_empty() {
                true => "its words are not in the reply".to_owned(),
                false => format!("characters {start} to {end}"),
            };
            ListItem::new(RichText::toned(lead, TextTone::Faint), quote.as_str())
        });
        blocks.push(PageBlock::List(list.collect()));
        // The short id, so that the command fits one line.
        let id = id.hex_digits().unwrap_or(id.as_str());
        let command = call.map(|number| format!("plenary cite {id}/call/{number}"));
        blocks.extend(command.map(PageBlock::Command));
    }
    PageSection::new("Comes from", blocks)
}

/// What an entity says, its history, and the references from and to it.
fn citation_section(citation: &EntityCitation) -> PageSection {
    let authors: Vec<&str> = citation.contributors.iter().map(|slug| slug.as_str()).collect();
    let facts = [
        format!("{} by {}", citation.kind, authors.join(", ")),
        format!("round {} of {}", citation.round, citation.dialogue_id),
        citation.status.to_string(),
    ];
    let rehearsed = citation.rehearsal.then(|| "REHEARSAL".to_owned());
    let facts = rehearsed.into_iter().chain(facts).map(RichText::from).collect();
    let mut blocks = vec![PageBlock::Facts(facts), PageBlock::prose(&citation.content)];
    let parameters = citation.parameters.as_ref();
    blocks.extend(
        parameters.map(|value| PageBlock::Facts(vec![format!("parameters {value}").into()])),
    );
    let history = citation.events.iter().map(|event| {
        let phrase = event_phrase(citation.id.kind, event);
        ListItem::new("", RichText::with_ids(&phrase, TextTone::Plain))
    });
    let outgoing = citation.references.iter().map(|made| (made.ref_type, made.target, &made.label));
    let incoming =
        citation.referenced_by.iter().map(|made| (made.ref_type, made.source, &made.label));
    PageSection::new(citation.id.to_string(), blocks)
        .with_subject(Some(citation.label.clone()))
        .with_sections(vec![
            PageSection::new("History", vec![PageBlock::List(history.collect())]),
            link_section(
                "Refers to",
                outgoing.map(|(kind, id, label)| (reference_verb(kind).to_owned(), id, label)),
            ),
            link_section(
                "Referred to by",
                incoming
                    .map(|(kind, id, label)| (format!("{} it", reference_verb(kind)), id, label)),
            ),
        ])
}

fn link_section<'a>(
    title: &str,
    links: impl Iterator<Item = (String, EntityId, &'a String)>,
) -> PageSection {
    let items: Vec<ListItem> = links
        .map(|(verb, id, label)| {
            let text = RichText::toned(id.to_string(), TextTone::Id);
            let lead = RichText::toned(verb, TextTone::Faint);
            ListItem::new(lead, text.push(format!(" {label}"), TextTone::Plain))
        })
        .collect();
    let blocks = (!items.is_empty()).then_some(PageBlock::List(items));
    PageSection::new(title, blocks.into_iter().collect())
}

/// Find earlier dialogues about a subject
///
/// Searches titles, questions, tension labels, claims and verdicts.
///
/// $ plenary dialogue similar "gpu prices" --limit 3
#[derive(Debug, Args)]
pub(crate) struct SimilarArgs {
    /// Words to search for
    query: Option<String>,
    /// List at most N [default: 10]
    #[arg(long, value_name = "N")]
    limit: Option<i64>,
    #[command(flatten)]
    data: DataArgs,
}

impl SimilarArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments =
            self.data.arguments()?.set_field("query", self.query).set_field("limit", self.limit);
        let matched = find_similar(&session.open_existing()?, arguments.value())?;
        warn(session.ui, &matched.warnings);
        let width = session.ui.table_width();
        if matched.results.is_empty() && !session.ui.json {
            session.ui.print_note("nothing similar");
            return Ok(ExitStatus::Ok);
        }
        session.ui.print_result(&matched, |matched| similar_text(matched, width))?;
        Ok(ExitStatus::Ok)
    }
}

fn similar_text(matched: &SimilarResult, width: usize) -> String {
    let mut table = TextTable::new(&["DIALOGUE", "SCORE", "MATCHED", "TEXT"]);
    for result in &matched.results {
        table.add_row([
            result.dialogue_id.as_str(),
            &format!("{:.2}", result.score),
            result.matched.name(),
            &mark_rehearsal(result.rehearsal, &result.snippet),
        ]);
    }
    table.draw_table(width)
}

/// Marks a text about a rehearsed record.
pub(crate) fn mark_rehearsal(is_rehearsal: bool, text: &str) -> String {
    if is_rehearsal { format!("REHEARSAL: {text}") } else { text.to_owned() }
}

/// Count the contents of the store
///
/// Counts dialogues by status, protocol and terminal state, entities, and the scores of experts.
///
/// $ plenary dialogue stats --json
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    data: DataArgs,
}

impl StatsArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self.data.arguments()?;
        let statistics = count_records(&session.open_existing()?, arguments.value())?;
        warn(session.ui, &statistics.warnings);
        let width = session.ui.table_width();
        session.ui.print_result(&statistics, |statistics| stats_text(statistics, width))?;
        Ok(ExitStatus::Ok)
    }
}

fn stats_text(statistics: &StatsResult, width: usize) -> String {
    let count = count_noun(statistics.dialogues, "dialogue");
    let mut text = format!("{count}, rehearsals left out\n");
    let sections = [
        ("by status", &statistics.by_status),
        ("by protocol", &statistics.by_protocol),
        ("by terminal state", &statistics.by_terminal_state),
        ("entities", &statistics.entities),
        ("per dialogue", &statistics.averages),
    ];
    for (heading, counts) in sections.into_iter().filter(|(_, counts)| !counts.is_empty()) {
        text.push_str(&format!("\n{heading}\n{}", count_rows(counts)));
    }
    if !statistics.top_experts.is_empty() {
        let mut table = TextTable::new(&["EXPERT", "TOTAL", "DIALOGUES"]);
        for expert in &statistics.top_experts {
            table.add_row([
                expert.expert_slug.to_string(),
                expert.total.to_string(),
                expert.dialogues.to_string(),
            ]);
        }
        text.push_str(&format!("\n{}", table.draw_table(width)));
    }
    text
}

fn count_rows(counts: &Map<String, Value>) -> String {
    let row = |(name, count): (&String, &Value)| {
        let words = name.replace('_', " ");
        format!("  {words:<18} {count}\n")
    };
    counts.iter().map(row).collect()
}
