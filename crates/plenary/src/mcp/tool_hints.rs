//! Hints for agents: a suggestion that names a command names the tool instead.

use serde_json::Value;

/// The tools that do what a command does. The first match counts.
const TOOL_NAMES: [(&str, &str); 22] = [
    ("list", "`blue_dialogue_search` with op: list"),
    ("search", "`blue_dialogue_search` with op: similar"),
    ("cite", "`blue_dialogue_search` with op: cite"),
    ("stats", "`blue_dialogue_search` with op: stats"),
    ("show", "`deliberation_status`"),
    ("export", "`blue_dialogue_export`"),
    ("watch", "`deliberation_status`"),
    ("resume", "`deliberation_status` with resume: true"),
    ("whisper", "`deliberation_intervene` with kind: whisper"),
    ("direct", "`deliberation_intervene` with kind: direct"),
    ("stop", "`deliberation_intervene` with kind: stop"),
    ("ask", "`council_ask`"),
    ("align", "`council_align`"),
    ("review", "`council_review`"),
    ("dialogue create", "`blue_dialogue_create`"),
    ("dialogue register", "`blue_dialogue_round_register`"),
    ("dialogue verdict", "`blue_dialogue_verdict_register`"),
    ("dialogue panel", "`blue_dialogue_evolve_panel`"),
    ("dialogue expert", "`blue_dialogue_expert_create`"),
    ("dialogue context", "`blue_dialogue_round_context`"),
    ("dialogue progress", "`blue_dialogue_progress`"),
    ("extract", "`blue_dialogue_extract`"),
];

/// The operations of `blue_ethos` that two words of the command line name.
const ETHOS_GROUPS: [&str; 5] = ["principle", "domain", "tenet", "lens", "constraint"];

/// Changes every `suggestion` of an error document.
pub(crate) fn name_tools(document: &mut Value) {
    match document {
        Value::Object(fields) => {
            for (name, value) in fields {
                if let (true, Value::String(text)) = (name == "suggestion", &mut *value) {
                    *text = with_tools(text);
                }
                name_tools(value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(name_tools),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The text with tools for the commands in backquotes. A command that no tool has stays.
fn with_tools(text: &str) -> String {
    if text.matches('`').count() % 2 == 1 {
        return text.to_owned();
    }
    let parts = text.split('`').enumerate().map(|(place, part)| {
        let command = part.strip_prefix("plenary ").filter(|_| place % 2 == 1);
        match (command.and_then(find_tool), place % 2 == 1) {
            (Some(tool), _) => tool,
            (None, true) => format!("`{part}`"),
            (None, false) => part.to_owned(),
        }
    });
    parts.collect()
}

fn find_tool(command: &str) -> Option<String> {
    if let Some(rest) = command.strip_prefix("ethos ") {
        return Some(ethos_tool(rest));
    }
    let is_named = |name: &str| {
        command.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let found = TOOL_NAMES.iter().find(|(name, _)| is_named(name));
    found.map(|(_, tool)| (*tool).to_owned())
}

fn ethos_tool(rest: &str) -> String {
    let mut words = rest.split(' ');
    let operation = match (words.next().unwrap_or_default(), words.next().unwrap_or_default()) {
        (group, "add") if ETHOS_GROUPS.contains(&group) => format!("{group}_add"),
        (group, _) if ETHOS_GROUPS.contains(&group) => "overview".to_owned(),
        ("show", _) => "get".to_owned(),
        (operation, _) => operation.to_owned(),
    };
    format!("`blue_ethos` with op: {operation}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn suggestions_of_errors_name_tools_and_nothing_else_changes() {
        let check = |text: &str, expected: &str| assert_eq!(with_tools(text), expected);
        check("`plenary list` shows them", "`blue_dialogue_search` with op: list shows them");
        check("try `a` or `plenary listing`", "try `a` or `plenary listing`");
        check(
            "add one with `plenary ethos principle add` or `plenary ethos resolve x 1`",
            "add one with `blue_ethos` with op: principle_add or `blue_ethos` with op: resolve",
        );
        check("an odd ` quote", "an odd ` quote");
        let mut document = json!({ "message": "`plenary list`",
            "errors": [{ "suggestion": "`plenary resume x`" }] });
        name_tools(&mut document);
        let result = "`deliberation_status` with resume: true";
        assert_eq!(
            document,
            json!({ "message": "`plenary list`", "errors": [{ "suggestion": result }] })
        );
    }
}
