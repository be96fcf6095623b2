//! The parts of an expert's prompt that we write: the legend and the instructions.

use super::names::{sanitize_name, with_article};
use super::page::{fill_template, inline_path};
use super::role::SeatedExpert;
use crate::domain::ids::ExpertSlug;

const LEGEND: &str = include_str!("../../../prompts/alignment/legend.md");
const INSTRUCTIONS: &str = include_str!("../../../prompts/alignment/instructions.md");

/// The beginning of every prompt; the title of the dialogue follows.
pub(super) const TITLE_PREFIX: &str = "# Dialogue: ";

/// Whether a text starts like our prompts: the title, then the legend up to its first placeholder.
pub fn is_prompt(text: &str) -> bool {
    let legend = LEGEND.split('{').next().unwrap_or(LEGEND);
    let behind_title = text.strip_prefix(TITLE_PREFIX).and_then(|rest| rest.split_once("\n\n"));
    behind_title.is_some_and(|(_, rest)| rest.starts_with(legend))
}

/// Explains which lines enclose foreign text.
pub(super) fn render_legend(mark: &str) -> String {
    fill_template(LEGEND, &[("mark", mark)])
}

/// Instructions of one expert; the path of the response is filled in when they are rendered.
#[derive(Debug)]
pub(super) struct ExpertInstructions {
    expert: ExpertSlug,
    role: String,
    round: u8,
    focus: String,
}

impl ExpertInstructions {
    pub(super) fn for_expert(seated: &SeatedExpert<'_>, round: u8, last_round: Option<u8>) -> Self {
        let focus = match (last_round, seated.is_fresh()) {
            (None, _) => {
                "What does an answer turn on? Which tensions has it to resolve?".to_owned()
            }
            (Some(_), true) => "What does your mandate ask for that nobody has said yet? \
                                Which tensions can you help resolve?"
                .to_owned(),
            (Some(last), false) => {
                format!("What has changed since round {last}? Which tensions can you help resolve?")
            }
        };
        let role = match sanitize_name(&seated.expert.profile.role) {
            role if role.is_empty() => "an expert".to_owned(),
            role => with_article(&role),
        };
        Self { expert: seated.expert.profile.expert_slug.clone(), role, round, focus }
    }

    pub(super) fn render_text(&self, response_path: &str) -> String {
        let (round, digits) = (self.round.to_string(), format!("{:02}01", self.round));
        let filled = fill_template(
            INSTRUCTIONS,
            &[
                ("name", &self.expert.display_name()),
                ("role", &self.role),
                ("round", &round),
                ("expert", &self.expert.as_str().to_ascii_uppercase()),
                ("digits", &digits),
                ("focus", &self.focus),
                ("path", &inline_path(response_path)),
            ],
        );
        format!("---\n\n## Instructions\n\n{filled}")
    }
}
