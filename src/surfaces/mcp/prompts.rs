//! Prompts: what a Judge and an expert must know, for clients without skills.

use rmcp::model::{ErrorData, GetPromptResult, ListPromptsResult, Prompt, PromptMessage, Role};

use crate::markers::EXPERT_SKILL;
use crate::operations::JUDGE_PROTOCOL;

/// A name, what it is about, and what it says.
type Known = (&'static str, &'static str, fn() -> &'static str);

const PROMPTS: [Known; 2] = [
    ("judge_protocol", "How to lead an alignment dialogue as its Judge", || JUDGE_PROTOCOL),
    ("alignment_expert", "How an expert writes, with markers, in a dialogue", || {
        EXPERT_SKILL.page()
    }),
];

pub(super) fn list() -> ListPromptsResult {
    let prompts =
        PROMPTS.iter().map(|(name, about, _)| Prompt::new(*name, Some(*about), None)).collect();
    ListPromptsResult { prompts, ..ListPromptsResult::default() }
}

pub(super) fn get(name: &str) -> Result<GetPromptResult, ErrorData> {
    let Some((_, about, text)) = PROMPTS.iter().find(|(known, ..)| *known == name) else {
        let names: Vec<&str> = PROMPTS.iter().map(|(name, ..)| *name).collect();
        let message = format!("there is no prompt `{name}`; there are {}", names.join(", "));
        return Err(ErrorData::invalid_params(message, None));
    };
    let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text())]);
    result.description = Some((*about).to_owned());
    Ok(result)
}
