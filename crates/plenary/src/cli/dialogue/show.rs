//! `show` and `export`: print a record, its calls or its prompts.

use std::path::{Path, PathBuf};

use clap::Args;
use plenary_core::model::dialogue::DialogueOpening;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::queries::DialogueName;
use plenary_core::model::record::DialogueRecord;
use plenary_core::model::run_state::RunState;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::protocol::ShownRun;
use plenary_core::protocols::review::verdict_page::verdict_page;
use plenary_core::report::calls::{call_page, prompt_documents, prompts_page};
use plenary_core::report::page::{
    ListItem, PageBlock, PageDetail, PageModel, PageScope, PageSection, RichText, TextTone,
};
use plenary_core::report::phrases::count_noun;
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::terminal::layout::PageCanvas;
use plenary_core::report::terminal::page::draw_page;
use plenary_engine::app::export_record::{
    Format, PrintedExport, call_not_found, export_record, find_format, has_unknown_ending,
    print_record, read_calls, read_record, record_json, round_not_found,
};
use plenary_engine::app::follow_up::DialogueLinks;
use plenary_engine::app::project::Project;
use plenary_engine::app::verdict_log::{TailRow, find_verdict_row};
use plenary_engine::engine::process_lock::is_running;
use plenary_engine::engine::run_start::load_run_state;
use plenary_engine::error::{Error, to_json_text};
use plenary_engine::files::allowed_file::WritePermission;
use serde_json::{Map, Value, json};

use crate::cli::dialogue::command::{DataArgs, warn};
use crate::cli::dialogue::list::list_all;
use crate::cli::session::{CliArguments, CliSession, ExitStatus};
use crate::cli::terminal_text::DataFormat;
use crate::cli::ui::TerminalUi;

/// Show a council, a review or a dialogue
///
/// The conclusion or verdict comes first, then the report, the experts, the tensions, the rounds
/// and the references. `--json` prints the same document as `export`. The id of a verdict
/// (`posts-launch-md-1a2b3c4d/1`) shows that row of the verdict log.
///
/// $ plenary show tea-or-coffee-1a2b3c4d
///
/// $ plenary show tea-or-coffee-1a2b3c4d --round 1 --full
///
/// $ plenary show tea-or-coffee-1a2b3c4d --call 7
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The id, as `plenary list` shows it
    #[arg(required_unless_present = "data")]
    id: Option<String>,
    /// Show the whole contents instead of the first lines
    #[arg(long)]
    full: bool,
    /// Show only this round
    #[arg(long, value_name = "N", value_parser = parse_round)]
    round: Option<u8>,
    /// Show what each seat was sent, in order
    #[arg(long, conflicts_with_all = ["full", "round", "call"])]
    prompts: bool,
    /// Show one call: prompt, raw reply, tokens, cost, time, parse result
    #[arg(long, value_name = "N", conflicts_with_all = ["full", "round"], value_parser = parse_call)]
    call: Option<u32>,
    /// The width of the page [default: the width of the terminal]
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..=400))]
    width: Option<u16>,
    #[command(flatten)]
    data: DataArgs,
}

fn parse_round(typed: &str) -> Result<u8, &'static str> {
    typed.parse().map_err(|_| "expected the number of a round, such as 1")
}

fn parse_call(typed: &str) -> Result<u32, &'static str> {
    typed.parse().map_err(|_| "expected the number of a call, as `--prompts` lists them")
}

impl ShowArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self.data.arguments()?.set_field("dialogue_id", self.id);
        let project = session.open_existing()?;
        let width = self.width.map_or_else(|| session.ui.terminal_width(), usize::from);
        let typed = arguments.value().get("dialogue_id").and_then(Value::as_str);
        if let Some(typed) = typed
            && let Some(verdict) = find_verdict_row(project.store.as_ref(), typed)?
        {
            return show_verdict(session, &verdict, width);
        }
        let record = read_record(&project, arguments.value())?;
        if let Some(round) = self.round
            && record.rounds.iter().all(|held| held.round != round)
        {
            return Err(Error::Missing(round_not_found(&record, round).into()));
        }
        if self.prompts || self.call.is_some() {
            return show_calls(session, &project, &record.dialogue.opening, self.call, width);
        }
        let detail = if self.full { PageDetail::Full } else { PageDetail::Brief };
        let scope = PageScope { detail, round: self.round };
        if session.ui.json {
            session.ui.print_data(&shown_json(&project, &record)?, DataFormat::Json)?;
        } else {
            let page = record_page(&project, &record, scope)?;
            session.ui.print_long_page(&draw_page(&page, PageCanvas { width }))?;
        }
        Ok(ExitStatus::Ok)
    }
}

/// Shows a verdict of the log.
fn show_verdict(
    session: &CliSession<'_>,
    verdict: &TailRow,
    width: usize,
) -> Result<ExitStatus, Error> {
    if session.ui.json {
        session.ui.print_data(&to_json_text(verdict)?, DataFormat::Json)?;
    } else {
        let page = verdict_page(&verdict.row, verdict.overridden.as_ref());
        session.ui.print_long_page(&draw_page(&page, PageCanvas { width }))?;
        // The review of an imported verdict is in another store.
        if !verdict.row.imported {
            let id = &verdict.dialogue_id;
            session.ui.print_note(&format!("the whole review:\n  plenary show {id}"));
        }
    }
    Ok(ExitStatus::Ok)
}

/// The export, and the dialogues before and after this one.
fn shown_json(project: &Project, record: &DialogueRecord) -> Result<String, Error> {
    let document = record_json(project, record)?;
    let DialogueLinks { follows, followed_by } = DialogueLinks::load(project, record)?;
    if follows.is_none() && followed_by.is_empty() {
        return Ok(document);
    }
    let mut shown: Map<String, Value> = serde_json::from_str(&document).map_err(Error::Document)?;
    shown.insert("follows".to_owned(), json!(follows));
    let named = |one: &DialogueName| json!({ "dialogue_id": one.dialogue_id, "title": one.title });
    shown.insert("followed_by".to_owned(), followed_by.iter().map(named).collect());
    to_json_text(&shown)
}

/// Shows one call, or the prompts of all.
fn show_calls(
    session: &CliSession<'_>,
    project: &Project,
    opening: &DialogueOpening,
    number: Option<u32>,
    width: usize,
) -> Result<ExitStatus, Error> {
    let id = &opening.dialogue_id;
    let calls = read_calls(project, id)?;
    let (document, page) = match number {
        None => {
            let documents = prompt_documents(&calls).map_err(Error::Document)?;
            (to_json_text(&documents)?, prompts_page(opening, &calls))
        }
        Some(number) => {
            let call = calls.iter().find(|call| call.call == number);
            let missing = || Error::Missing(call_not_found(id, number, calls.len()).into());
            let call = call.ok_or_else(missing)?;
            (to_json_text(call)?, call_page(opening, call))
        }
    };
    match session.ui.json {
        true => session.ui.print_data(&document, DataFormat::Json)?,
        false => session.ui.print_long_page(&draw_page(&page, PageCanvas { width }))?,
    }
    Ok(ExitStatus::Ok)
}

/// The page of a dialogue, with the run on it if there is one.
fn record_page(
    project: &Project,
    record: &DialogueRecord,
    scope: PageScope,
) -> Result<PageModel, Error> {
    let (store, id) = (project.store.as_ref(), record.dialogue.id());
    let protocol = project.protocols.find_protocol(record.dialogue.opening.protocol)?;
    let journal = store.load_entries(id, 0)?;
    let state = match load_run_state(&project.protocols, store, id) {
        Err(Error::Refused(_)) => None,
        loaded => {
            let state = loaded?;
            let is_running = is_running(project.folders.store_file(), &state);
            Some(RunState { is_running, ..state })
        }
    };
    let shown = ShownRun { record, journal: &journal, state: state.as_ref() };
    let mut page = protocol.page(&shown, scope);
    page.sections.extend(links_section(&DialogueLinks::load(project, record)?));
    Ok(page)
}

/// The dialogues before and after this one; none if there are no links.
fn links_section(links: &DialogueLinks) -> Option<PageSection> {
    let before = links.follows.iter().map(|id| ListItem::new("follows up", id_text(id)));
    let after = links.followed_by.iter().map(|named| {
        let text = id_text(&named.dialogue_id).push(format!(" {}", named.title), TextTone::Plain);
        ListItem::new("followed up by", text)
    });
    let items: Vec<ListItem> = before.chain(after).collect();
    (!items.is_empty()).then(|| PageSection::new("Follow-ups", vec![PageBlock::List(items)]))
}

fn id_text(id: &DialogueId) -> RichText {
    RichText::toned(id.as_str(), TextTone::Id)
}

/// Print or write a record as one document
///
/// Without `--output`, or with `-`, the document goes to standard output. The same record gives the same bytes.
/// Plenary replaces its own exports. `--force` also replaces other files, but never those of the store
/// and those that council.yaml names.
///
/// $ plenary export tea-or-coffee-1a2b3c4d > record.json
///
/// $ plenary export tea-or-coffee-1a2b3c4d --format markdown --output record.md
///
/// $ plenary export --all archive
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The id, as `plenary list` shows it
    #[arg(required_unless_present_any = ["data", "all"])]
    id: Option<String>,
    /// Write every dialogue of the store into this folder, a file each
    #[arg(long, value_name = "DIR", conflicts_with_all = ["id", "output", "data"])]
    all: Option<PathBuf>,
    /// Write to this file in the working folder, the folder of the store or one of `--allow`
    #[arg(long, short, value_name = "PATH")]
    output: Option<String>,
    /// Replace a file that Plenary did not write
    #[arg(long)]
    force: bool,
    /// The format [default: by the ending of the file, else json]
    #[arg(long, value_parser = ["json", "markdown", "md", "html"])]
    format: Option<String>,
    /// Add every call: prompt, raw reply, tokens, cost, time, parse result
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    data: DataArgs,
}

impl ExportArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        if let Some(folder) = &self.all {
            return self.export_all(session, folder);
        }
        let arguments = self
            .data
            .arguments()?
            .set_field("dialogue_id", self.id)
            .set_field("output_path", self.output.filter(|path| path != "-"))
            .set_field("format", self.format.map(full_format_name))
            .set_field("full", self.full.then_some(true));
        let project = session.open_existing()?;
        if arguments.value().get("output_path").is_none_or(serde_json::Value::is_null) {
            let printed = print_record(&project, arguments.value())?;
            warn(session.ui, &printed.warnings);
            let form = match printed.format {
                Format::Markdown | Format::Html if !session.ui.json => DataFormat::Text,
                Format::Json | Format::Markdown | Format::Html => DataFormat::Json,
            };
            session.ui.print_data(&to_output_form(session.ui, printed)?, form)?;
            return Ok(ExitStatus::Ok);
        }
        check_ending(arguments.value())?;
        let permission = write_permission(self.force);
        let exported = export_record(&project, arguments.value(), permission)?;
        session
            .ui
            .print_result(&exported, |exported| format!("Wrote {}", safe_line(&exported.path)))?;
        warn(session.ui, &exported.warnings);
        Ok(ExitStatus::Ok)
    }
}

impl ExportArgs {
    /// Writes each dialogue to `ID.json`, `ID.md` or `ID.html` in the folder, newest first.
    fn export_all(&self, session: &CliSession<'_>, folder: &Path) -> Result<ExitStatus, Error> {
        let project = session.open_existing()?;
        let format = self.format.clone().map_or_else(|| "json".to_owned(), full_format_name);
        let ending = if format == "markdown" { "md" } else { &format };
        let listed = list_all(&project, CliArguments::new(None)?)?;
        let mut written = Vec::new();
        for one in &listed.dialogues {
            let id = one.summary.dialogue_id.as_str();
            let path = folder.join(format!("{id}.{ending}")).display().to_string();
            let arguments = CliArguments::new(None)?
                .set_field("dialogue_id", Some(id))
                .set_field("output_path", Some(path))
                .set_field("format", Some(format.as_str()))
                .set_field("full", self.full.then_some(true));
            let exported =
                export_record(&project, arguments.value(), write_permission(self.force))?;
            warn(session.ui, &exported.warnings);
            written.push(exported.path);
        }
        let document = json!({ "status": "success", "paths": written });
        session.ui.print_result(&document, |_| match written.len() {
            0 => "The store has no dialogue.\n".to_owned(),
            count => {
                let files = count_noun(count, "dialogue");
                format!("Wrote {files} to {}\n", safe_line(&folder.display().to_string()))
            }
        })?;
        Ok(ExitStatus::Ok)
    }
}

/// Rejects an ending that names no format, and one that names another format than `--format`.
fn check_ending(arguments: &Value) -> Result<(), Error> {
    let path = arguments.get("output_path").and_then(Value::as_str).unwrap_or_default();
    let format = arguments.get("format").and_then(Value::as_str);
    if let (Some(format), Some(named)) = (format, find_format(path)) {
        if format == named.name() {
            return Ok(());
        }
        let message = format!("`{path}` has the ending of {named}, and `--format` is {format}");
        return Err(Error::Usage(format!("{message}; leave out one of the two")));
    }
    if format.is_some() || !has_unknown_ending(path) {
        return Ok(());
    }
    let message = format!("the ending of `{path}` names no export format");
    let hint = "end the name in `.json`, `.md` or `.html`, or choose a format with `--format`";
    let fault = ValidationError::new(ErrorCode::PathNotAllowed, message).with_field("output_path");
    Err(fault.with_value(path).with_suggestion(hint).into())
}

/// The name of a format for which a short name was typed.
fn full_format_name(name: String) -> String {
    if name == "md" { "markdown".to_owned() } else { name }
}

/// What `--force` allows.
pub(crate) fn write_permission(force: bool) -> WritePermission {
    if force { WritePermission::Forced } else { WritePermission::Local }
}

/// With `--json` one JSON document is promised, so Markdown or HTML is wrapped in one.
fn to_output_form(ui: &TerminalUi, printed: PrintedExport) -> Result<String, Error> {
    match printed.format {
        Format::Markdown | Format::Html if ui.json => to_json_text(
            &json!({ "status": "success", "format": printed.format, "document": printed.text }),
        ),
        Format::Json | Format::Markdown | Format::Html => Ok(printed.text),
    }
}
