//! MCP prompts: the instructions for a Judge and for an expert, for clients without skills.

use rmcp::model::{ErrorData, GetPromptResult, ListPromptsResult, Prompt, PromptMessage, Role};

use crate::markers::EXPERT_SKILL;
use crate::operations::JUDGE_PROTOCOL;
use crate::record::truncate_echo;

/// Name, description and text.
type PromptPage = (&'static str, &'static str, &'static str);

fn prompt_pages() -> [PromptPage; 2] {
    let expert = EXPERT_SKILL.body_text();
    [
        ("judge_protocol", "How to lead an alignment dialogue as its Judge", JUDGE_PROTOCOL),
        ("alignment_expert", "How an expert writes, with markers, in a dialogue", expert),
    ]
}

pub(super) fn list_prompts() -> ListPromptsResult {
    let prompts =
        prompt_pages().map(|(name, about, _)| Prompt::new(name, Some(about), None)).to_vec();
    ListPromptsResult { prompts, ..ListPromptsResult::default() }
}

pub(super) fn get_prompt(name: &str) -> Result<GetPromptResult, ErrorData> {
    let Some((_, about, text)) = prompt_pages().into_iter().find(|(known, ..)| *known == name)
    else {
        let names = prompt_pages().map(|(name, ..)| name).join(", ");
        let message = format!("there is no prompt `{}`; there are {names}", truncate_echo(name));
        return Err(ErrorData::invalid_params(message, None));
    };
    let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
    result.description = Some(about.to_owned());
    Ok(result)
}
