//! `cite`, also as `dialogue cite`.

use clap::Args;

use super::super::session::{Done, Session};
use super::super::ui::talk;
use super::super::wrap::wrap_text;
use super::command::{Data, warn};
use crate::domain::catalogue::Citation;
use crate::domain::ids::EntityId;
use crate::domain::reference::RefType;
use crate::error::Error;
use crate::export::{safe_text, wording};
use crate::operations::{self, Cited};

/// Say what an id means: who said it, how it stands, what it rests on
///
/// Ids that cannot be found are named beside those that can. Exit code 1 when none was found.
#[derive(Debug, Args)]
pub(crate) struct Cite {
    /// Ids such as my-dialogue/P0101, or P0101 with `--dialogue`.
    ids: Vec<String>,
    /// The dialogue that plain ids belong to.
    #[arg(long, value_name = "ID")]
    dialogue: Option<String>,
    #[command(flatten)]
    data: Data,
}

impl Cite {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = self
            .data
            .arguments()?
            .with("dialogue_id", self.dialogue)
            .with("ids", (!self.ids.is_empty()).then_some(self.ids));
        let cited = operations::cite(&session.for_existing()?, arguments.value())?;
        warn(session.ui, &cited.warnings);
        if session.ui.json || !cited.citations.is_empty() {
            session.ui.answer(&cited, |cited| text(cited, session.ui.width()))?;
        }
        if !session.ui.json {
            for error in &cited.errors {
                let (message, hint) = (&error.fault.message, error.fault.hint());
                talk(&format!(
                    "error: {}\nhint: {}",
                    safe_text::line(message),
                    safe_text::line(hint)
                ));
            }
        }
        Ok(if cited.citations.is_empty() { Done::WithFindings } else { Done::Well })
    }
}

fn text(cited: &Cited, width: usize) -> String {
    let told = cited.citations.iter().map(|citation| describe(citation, width));
    told.collect::<Vec<_>>().join("\n")
}

fn describe(citation: &Citation, width: usize) -> String {
    let bold = anstyle::Style::new().bold();
    let contributors: Vec<&str> = citation.contributors.iter().map(|slug| slug.as_str()).collect();
    let mut text = format!(
        "{bold}{} {}{bold:#}\n{} by {} in round {} of {}, {}\n\n",
        citation.id,
        safe_text::line(&citation.label),
        citation.kind,
        contributors.join(", "),
        citation.round,
        citation.dialogue_id,
        citation.status,
    );
    for line in wrap_text(&citation.content, width.saturating_sub(2).clamp(38, 98)) {
        text.push_str(&format!("  {line}\n"));
    }
    if let Some(parameters) = &citation.parameters {
        text.push_str(&format!("\n  parameters {}\n", safe_text::line(&parameters.to_string())));
    }
    text.push_str("\nhistory\n");
    for event in &citation.events {
        text.push_str(&format!("  {}\n", wording::happened(citation.id.kind, event)));
    }
    let outgoing = citation.references.iter().map(|made| (made.ref_type, made.target, &made.label));
    text.push_str(&links("refers to", outgoing));
    let incoming =
        citation.referenced_by.iter().map(|made| (made.ref_type, made.source, &made.label));
    text.push_str(&links("referred to by", incoming));
    text
}

fn links<'a>(
    heading: &str,
    links: impl Iterator<Item = (RefType, EntityId, &'a String)>,
) -> String {
    let lines: String = links
        .map(|(ref_type, id, label)| format!("  {ref_type:<8} {id} {}\n", safe_text::line(label)))
        .collect();
    if lines.is_empty() { lines } else { format!("\n{heading}\n{lines}") }
}
