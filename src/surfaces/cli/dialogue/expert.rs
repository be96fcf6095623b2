//! `dialogue expert`.

use clap::Args;

use super::super::session::{Done, Session};
use super::command::{Data, warn};
use crate::error::Error;
use crate::export::safe_text;
use crate::operations;

/// Create an expert for a gap that nobody on the panel fills
#[derive(Debug, Args)]
pub(crate) struct Expert {
    /// The dialogue.
    id: Option<String>,
    /// A short name: lower-case letters, digits, `-` and `_`.
    slug: Option<String>,
    /// What they are: "Geopolitical Risk Analyst".
    #[arg(long)]
    role: Option<String>,
    /// Core, Adjacent or Wildcard.
    #[arg(long)]
    tier: Option<String>,
    /// Why they are needed.
    #[arg(long)]
    reason: Option<String>,
    /// What they look at, briefly.
    #[arg(long)]
    focus: Option<String>,
    /// How they think, for their prompt.
    #[arg(long)]
    description: Option<String>,
    /// What they are to deliver.
    #[arg(long)]
    mandate: Option<String>,
    #[command(flatten)]
    data: Data,
}

impl Expert {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = self
            .data
            .arguments()?
            .with("dialogue_id", self.id)
            .with("expert_slug", self.slug)
            .with("role", self.role)
            .with("tier", self.tier)
            .with("reason", self.reason)
            .with("focus", self.focus)
            .with("description", self.description)
            .with("mandate", self.mandate);
        let created = operations::create_expert(&session.for_existing()?, arguments.value())?;
        session.ui.answer(&created, |created| {
            let expert = &created.expert;
            let joins = expert
                .first_round
                .map_or_else(String::new, |round| format!(", from round {round}"));
            let role = safe_text::line(&expert.role);
            format!("Created {} ({role}, {}{joins})", expert.expert_slug, expert.tier)
        })?;
        warn(session.ui, &created.warnings);
        if !session.ui.json {
            session.ui.say("next: `plenary dialogue panel` says who sits; before the first panel everyone does");
        }
        Ok(Done::Well)
    }
}
