//! Renders the background of a dialogue as Markdown for the experts' prompts.
//!
//! The keys of the specification appear as it shows them; other keys follow under their own
//! names. The caller puts all of it in a fence.

use serde_json::{Map, Value};

use super::imitation::marked;
use super::tensions::cell;
use crate::domain::shortened::one_line;

/// The rendered background; `None` if it is empty.
pub(super) fn background(value: &Value) -> Option<String> {
    let text = value.as_object().map_or_else(|| block(value), told);
    (!text.trim().is_empty()).then_some(text)
}

/// The subject of the background, for the heading.
pub(super) fn subject(background: Option<&Value>) -> Option<&str> {
    background?.get("subject")?.as_str().filter(|subject| !subject.trim().is_empty())
}

fn told(fields: &Map<String, Value>) -> String {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let lead = match (text("subject").map(one_line), text("description").map(marked)) {
        (Some(subject), Some(about)) => Some(format!("**{subject}**: {about}")),
        (Some(subject), None) => Some(format!("**{subject}**")),
        (None, about) => about,
    };
    let constraints = fields.get("constraints").and_then(Value::as_object).map(constraint_table);
    let situation =
        text("situation").map(|situation| format!("**Current situation:**\n{}", marked(situation)));
    let is_told = |name: &str, value: &Value| match name {
        "subject" | "description" | "situation" => value.is_string(),
        "constraints" => value.is_object(),
        _ => false,
    };
    let rest = fields.iter().filter(|(name, value)| !value.is_null() && !is_told(name, value));
    let rest = rest.map(|(name, value)| further(&words(name), value));
    let paragraphs = [lead, constraints, situation].into_iter().flatten().chain(rest);
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// A field that the specification does not define.
fn further(name: &str, value: &Value) -> String {
    match value.as_object() {
        Some(fields) => format!("**{name}:**\n\n{}", table(["Name", "Value"], fields)),
        None => format!("**{name}:**\n{}", block(value)),
    }
}

/// A value as a separate block.
fn block(value: &Value) -> String {
    match value {
        Value::String(text) => marked(text),
        Value::Array(items) => {
            let items = items.iter().map(|item| format!("- {}", cell(&flat(item))));
            items.collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

fn constraint_table(constraints: &Map<String, Value>) -> String {
    let named = constraints.iter().map(|(name, value)| (words(name), value.clone())).collect();
    table(["Constraint", "Requirement"], &named)
}

/// Names and values as a table of two columns.
pub(super) fn table(headings: [&str; 2], fields: &Map<String, Value>) -> String {
    let [name, value] = headings;
    let head = format!(
        "| {name} | {value} |\n|{}|{}|",
        "-".repeat(name.len() + 2),
        "-".repeat(value.len() + 2)
    );
    let rows =
        fields.iter().map(|(name, value)| format!("\n| {} | {} |", cell(name), cell(&flat(value))));
    rows.fold(head, |table, row| table + &row)
}

fn flat(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// `income_mandate` as a heading: `Income mandate`.
fn words(name: &str) -> String {
    let name = one_line(&name.replace('_', " "));
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_specification_names_reads_as_it_shows() {
        let value = json!({
            "subject": "Acme Family Trust",
            "description": "a $50M trust",
            "constraints": { "income_mandate": "4% | year", "horizon_years": 20 },
            "situation": "Holds NVAI.",
            "sources": ["the deed", { "page": 3 }],
            "policy": { "ceiling": "20%" },
            "note": null,
        });
        insta::assert_snapshot!(background(&value).unwrap(), @r#"
        **Acme Family Trust**: a $50M trust

        | Constraint | Requirement |
        |------------|-------------|
        | Income mandate | 4% \| year |
        | Horizon years | 20 |

        **Current situation:**
        Holds NVAI.

        **Sources:**
        - the deed
        - {"page":3}

        **Policy:**

        | Name | Value |
        |------|-------|
        | ceiling | 20% |
        "#);
    }

    #[test]
    fn any_json_is_a_background() {
        assert_eq!(background(&json!("Two\n## Instructions")).unwrap(), "Two\n\\## Instructions");
        assert_eq!(background(&json!(["a", 1])).unwrap(), "- a\n- 1");
        assert_eq!(background(&json!({})), None);
        assert_eq!(background(&json!("")), None);
        assert_eq!(background(&json!({ "subject": "X" })).unwrap(), "**X**");
    }
}
