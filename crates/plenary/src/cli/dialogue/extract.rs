//! `dialogue extract`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use plenary_core::markers::batch::{RawReplies, check_across_replies, summarize_reply};
use plenary_core::markers::extract_request::{ExpertReply, ExtractDocument, extract_replies};
use plenary_core::markers::extraction::{MarkerContent, ReplyExtraction};
use plenary_core::model::ids::{EntityKind, EntityTarget, ExpertSlug};
use plenary_core::model::limits::ROUND_MAX;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::report::phrases::count_noun;
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::terminal::layout::TextTable;
use plenary_engine::error::{Error, to_json_text};
use plenary_engine::files::read_write::read_request_text;

use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::terminal_text::DataFormat;

/// Extract the markers of expert replies, for `register`
///
/// A reply is Markdown with markers such as `[MUFFIN-P0101: label]`, `[RE:SUPPORT P0001]` and
/// `[MOVE:BRIDGE P0003 R0001]`. The command lists each marker with its line; an unreadable or
/// misspelt marker is a warning. It skips code and invents nothing. `--json` prints {status, batch,
/// verdicts, markers, warnings}, which `dialogue register` accepts; the Judge adds the scores.
///
/// The skill `alignment-expert` (`plenary init --skills DIR`) explains how experts write.
///
/// $ plenary dialogue extract round-1/response-muffin.md
///
/// $ plenary dialogue extract round-1/response-*.md --json > round-1.json
///
/// $ plenary dialogue register nvidia-decision --data round-1.json --score 25
#[derive(Debug, Args)]
pub(crate) struct ExtractArgs {
    /// Replies in Markdown, one file per expert; `-` reads standard input
    #[arg(required = true, value_name = "FILE|-")]
    files: Vec<PathBuf>,
    /// The round [default: the N of the file's folder `round-N`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=i64::from(ROUND_MAX)))]
    round: Option<u8>,
    /// The expert who wrote the reply [default: the SLUG of the file `response-SLUG.md`]
    #[arg(long, value_name = "SLUG")]
    expert: Option<String>,
    /// Leave the text of the replies out of the batch
    #[arg(long)]
    no_raw: bool,
    /// Print the summary that an agent returns to its Judge, one line of JSON per reply
    #[arg(long, conflicts_with = "no_raw")]
    summary: bool,
}

impl ExtractArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        // A wrong path is named before what is derived from it.
        for path in self.files.iter().filter(|path| !path.exists() && *path != Path::new("-")) {
            read_request_text(path)?;
        }
        let round = self.round()?;
        let (mut replies, kept) = extract_replies(round, &self.read_replies()?);
        let raw = if self.no_raw { RawReplies::new() } else { kept };
        check_across_replies(&mut replies);
        if self.summary {
            session.ui.print_data(&summarise_replies(&self.files, &replies)?, DataFormat::Json)?;
        } else if session.ui.json {
            session.ui.print_data(
                &to_json_text(&ExtractDocument::new(round, &replies, &raw))?,
                DataFormat::Json,
            )?;
        } else {
            let width = session.ui.table_width();
            let pages: Vec<String> =
                replies.iter().map(|reply| draw_marker_table(reply, width)).collect();
            session.ui.print_page(&pages.join("\n"))?;
        }
        if self.summary || !session.ui.json {
            warn_of_replies(session, &self.files, &replies);
        }
        Ok(ExitStatus::Ok)
    }

    /// One round for all replies: a batch has only one.
    fn round(&self) -> Result<u8, Error> {
        if let Some(round) = self.round {
            return Ok(round);
        }
        let rounds: BTreeSet<Option<u8>> =
            self.files.iter().map(|path| folder_round(path)).collect();
        let rounds: Vec<Option<u8>> = rounds.into_iter().collect();
        match rounds.as_slice() {
            [Some(round)] => Ok(*round),
            _ => {
                let message = "the round is unknown: pass `--round N`, or keep the files in one folder `round-N`";
                Err(Error::Usage(message.to_owned()))
            }
        }
    }

    /// The reply of each file, in their order.
    fn read_replies(&self) -> Result<Vec<ExpertReply>, Error> {
        if self.expert.is_some() && self.files.len() > 1 {
            let message = "`--expert` needs exactly one file";
            return Err(Error::Usage(message.to_owned()));
        }
        let mut replies: Vec<ExpertReply> = Vec::with_capacity(self.files.len());
        for path in &self.files {
            let expert = self.expert_of(path)?;
            let same = replies.iter().zip(&self.files).find(|(reply, _)| reply.expert == expert);
            if let Some((_, other)) = same {
                let (one, two) = (other.display(), path.display());
                let message =
                    format!("`{one}` and `{two}` have the same expert {expert}; pass one of them");
                return Err(Error::Usage(message));
            }
            replies.push(ExpertReply { expert, text: read_request_text(path)? });
        }
        Ok(replies)
    }

    fn expert_of(&self, path: &Path) -> Result<ExpertSlug, Error> {
        let Some(slug) = self.expert.as_deref().or_else(|| named_expert(path)) else {
            let path = path.display();
            let message = format!(
                "the expert of `{path}` is unknown: pass `--expert SLUG`, or name it `response-SLUG.md`"
            );
            return Err(Error::Usage(message));
        };
        slug.parse().map_err(|_| {
            let message = format!("'{slug}' is not a valid expert slug");
            let fault = ValidationError::new(ErrorCode::InvalidSlug, message)
                .with_field("expert")
                .with_value(slug);
            fault
                .with_suggestion("use lower-case letters, digits, '-' and '_', as in the dialogue")
                .into()
        })
    }
}

/// `response-muffin.md` is muffin's.
fn named_expert(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_prefix("response-")?.strip_suffix(".md")
}

/// `round-1/response-muffin.md` is of round 1.
fn folder_round(path: &Path) -> Option<u8> {
    let folder = path.parent()?.file_name()?.to_str()?;
    let number = folder.strip_prefix("round-")?;
    number.parse().ok().filter(|round| *round <= ROUND_MAX && !number.starts_with('+'))
}

fn summarise_replies(files: &[PathBuf], replies: &[ReplyExtraction]) -> Result<String, Error> {
    let lines = files.iter().zip(replies).map(|(path, reply)| {
        let path = path.to_str().filter(|path| *path != "-");
        to_json_text(&summarize_reply(reply, path))
    });
    Ok(lines.collect::<Result<Vec<_>, _>>()?.join("\n"))
}

/// In the form in which editors find a place.
fn warn_of_replies(session: &CliSession<'_>, files: &[PathBuf], replies: &[ReplyExtraction]) {
    for (path, reply) in files.iter().zip(replies) {
        for warning in &reply.warnings {
            let path = path.display();
            let place =
                warning.line.map_or_else(|| format!("{path}"), |line| format!("{path}:{line}"));
            session.ui.print_note(&safe_line(&format!("warning: {place}: {}", warning.message)));
        }
    }
}

/// Draws a line of counts and a row per marker.
fn draw_marker_table(reply: &ReplyExtraction, width: usize) -> String {
    let head = format!("{}, round {}: {}\n", reply.expert, reply.round, count_markers(reply));
    if reply.markers.is_empty() {
        return head;
    }
    let mut table = TextTable::new(&["LINE", "MARKER", "OF", "SAYS"]);
    for marker in &reply.markers {
        let [what, of, says] = marker_cells(&marker.content);
        table.add_row([marker.line.to_string(), what, of, says]);
    }
    format!("{head}\n{}", table.draw_table(width))
}

fn count_markers(reply: &ReplyExtraction) -> String {
    let entities = EntityKind::ALL.iter().map(|kind| match (reply.of_kind(*kind).count(), *kind) {
        // `evidence` has no plural.
        (0, _) => String::new(),
        (count, EntityKind::Evidence) => format!("{count} evidence"),
        (count, kind) => count_noun(count, kind.type_name()),
    });
    let references = reply.contributions.iter().map(|item| item.references.len()).sum();
    let others =
        [(references, "reference"), (reply.moves.len(), "move"), (reply.verdicts.len(), "verdict")];
    let others = others.into_iter().map(|(count, noun)| match count {
        0 => String::new(),
        count => count_noun(count, noun),
    });
    let printed: Vec<String> =
        entities.chain(others).filter(|printed| !printed.is_empty()).collect();
    if printed.is_empty() { "no markers".to_owned() } else { printed.join(", ") }
}

fn marker_cells(printed: &MarkerContent) -> [String; 3] {
    let ids = |targets: &[EntityTarget]| {
        targets.iter().map(EntityTarget::to_string).collect::<Vec<_>>().join(" ")
    };
    match printed {
        MarkerContent::Entity { id, label, .. } => {
            [id.kind.type_name().to_owned(), id.to_string(), label.clone()]
        }
        MarkerContent::Reference { source, ref_type, targets } => {
            [ref_type.to_string(), source.to_string(), ids(targets)]
        }
        MarkerContent::Move { move_type, targets, topic } => {
            let says = topic.clone().unwrap_or_else(|| ids(targets));
            [move_type.to_string(), "move".to_owned(), says]
        }
        MarkerContent::Verdict { verdict_type, label } => {
            [verdict_type.to_string(), "verdict".to_owned(), label.clone().unwrap_or_default()]
        }
    }
}
