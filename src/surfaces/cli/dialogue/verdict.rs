//! `dialogue verdict`.

use clap::Args;

use super::super::session::{Done, Session};
use super::command::{Data, warn};
use crate::domain::ids::EntityId;
use crate::error::Error;
use crate::operations::{self, VerdictRegistered};

/// Give a verdict: interim, final, minority or dissent
///
/// A verdict is immutable. A final one closes the dialogue, and is refused while
/// a tension is neither resolved nor accepted or too few agree.
#[derive(Debug, Args)]
pub(crate) struct Verdict {
    /// The dialogue.
    id: Option<String>,
    /// The verdict's own id: final, V01, minority-esg.
    #[arg(long, value_name = "ID")]
    verdict_id: Option<String>,
    /// interim, final, minority or dissent.
    #[arg(long = "type", value_name = "TYPE")]
    verdict_type: Option<String>,
    /// The decision, in one line.
    #[arg(long)]
    recommendation: Option<String>,
    /// The reasoning, in two or three sentences.
    #[arg(long)]
    description: Option<String>,
    /// The expert who gives it [default: the Judge]
    #[arg(long, value_name = "EXPERT")]
    author: Option<String>,
    /// An expert behind a minority verdict. May be repeated.
    #[arg(long = "supporter", value_name = "EXPERT")]
    supporters: Vec<String>,
    /// The tally: 11-1, 11-1-2 with abstentions, or unanimous.
    #[arg(long)]
    vote: Option<String>,
    /// unanimous, strong, split or contested.
    #[arg(long)]
    confidence: Option<String>,
    /// A tension that this resolves. May be repeated.
    #[arg(long = "resolves", value_name = "T")]
    resolves: Vec<String>,
    /// A tension that is accepted as it stands. May be repeated.
    #[arg(long = "accepts", value_name = "T")]
    accepts: Vec<String>,
    /// A recommendation that is adopted. May be repeated.
    #[arg(long = "adopts", value_name = "R")]
    adopts: Vec<String>,
    /// Give the verdict although the dialogue has not converged; say why.
    #[arg(long, value_name = "WARNING")]
    force: Option<String>,
    #[command(flatten)]
    data: Data,
}

impl Verdict {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let given = |list: Vec<String>| (!list.is_empty()).then_some(list);
        let arguments = self
            .data
            .arguments()?
            .with("dialogue_id", self.id)
            .with("verdict_id", self.verdict_id)
            .with("verdict_type", self.verdict_type)
            .with("recommendation", self.recommendation)
            .with("description", self.description)
            .with("author_expert", self.author)
            .with("supporting_experts", given(self.supporters))
            .with("vote", self.vote)
            .with("confidence", self.confidence)
            .with("tensions_resolved", given(self.resolves))
            .with("tensions_accepted", given(self.accepts))
            .with("recommendations_adopted", given(self.adopts))
            .with("forced", self.force.is_some().then_some(true))
            .with("warning", self.force);
        let registered = operations::give_verdict(&session.for_existing()?, arguments.value())?;
        session.ui.answer(&registered, text)?;
        warn(session.ui, &registered.warnings);
        Ok(Done::Well)
    }
}

fn text(registered: &VerdictRegistered) -> String {
    let VerdictRegistered { dialogue_id, verdict_id, dialogue_status, .. } = registered;
    let mut text = format!("Gave verdict {verdict_id}; {dialogue_id} is {dialogue_status}\n");
    for (what, ids) in
        [("resolved", &registered.tensions_resolved), ("adopted", &registered.adopted)]
    {
        if !ids.is_empty() {
            let ids: Vec<String> = ids.iter().map(EntityId::to_string).collect();
            text.push_str(&format!("{what} {}\n", ids.join(", ")));
        }
    }
    text
}
