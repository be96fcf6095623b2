//! Renders the background of a dialogue as Markdown for the experts' prompts.
//!
//! The keys of the specification appear as it shows them; other keys follow under their own
//! names. The caller puts all of it in a fence.

use serde_json::{Map, Value};

use super::imitation::mark_imitations;
use super::tensions::table_cell;
use crate::domain::shortened::to_one_line;

/// The rendered background; `None` if it is empty.
pub(super) fn render_background(value: &Value) -> Option<String> {
    let text = value.as_object().map_or_else(|| render_block(value), render_fields);
    (!text.trim().is_empty()).then_some(text)
}

/// The subject of the background, for the heading.
pub(super) fn background_subject(background: Option<&Value>) -> Option<&str> {
    background?.get("subject")?.as_str().filter(|subject| !subject.trim().is_empty())
}

fn render_fields(fields: &Map<String, Value>) -> String {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let lead = match (text("subject").map(to_one_line), text("description").map(mark_imitations)) {
        (Some(subject), Some(about)) => Some(format!("**{subject}**: {about}")),
        (Some(subject), None) => Some(format!("**{subject}**")),
        (None, about) => about,
    };
    let constraints = fields.get("constraints").and_then(Value::as_object).map(constraint_table);
    let situation = text("situation")
        .map(|situation| format!("**Current situation:**\n{}", mark_imitations(situation)));
    let is_told = |name: &str, value: &Value| match name {
        "subject" | "description" | "situation" => value.is_string(),
        "constraints" => value.is_object(),
        _ => false,
    };
    let rest = fields.iter().filter(|(name, value)| !value.is_null() && !is_told(name, value));
    let rest = rest.map(|(name, value)| render_field(&humanize_name(name), value));
    let paragraphs = [lead, constraints, situation].into_iter().flatten().chain(rest);
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// A field that the specification does not define.
fn render_field(name: &str, value: &Value) -> String {
    match value.as_object() {
        Some(fields) => format!("**{name}:**\n\n{}", two_column_table(["Name", "Value"], fields)),
        None => format!("**{name}:**\n{}", render_block(value)),
    }
}

/// A value as a separate block.
fn render_block(value: &Value) -> String {
    match value {
        Value::String(text) => mark_imitations(text),
        Value::Array(items) => {
            let items = items.iter().map(|item| format!("- {}", table_cell(&flat_text(item))));
            items.collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

fn constraint_table(constraints: &Map<String, Value>) -> String {
    let named =
        constraints.iter().map(|(name, value)| (humanize_name(name), value.clone())).collect();
    two_column_table(["Constraint", "Requirement"], &named)
}

/// Names and values as a table of two columns.
pub(super) fn two_column_table(headings: [&str; 2], fields: &Map<String, Value>) -> String {
    let [name, value] = headings;
    let head = format!(
        "| {name} | {value} |\n|{}|{}|",
        "-".repeat(name.len() + 2),
        "-".repeat(value.len() + 2)
    );
    let rows = fields.iter().map(|(name, value)| {
        format!("\n| {} | {} |", table_cell(name), table_cell(&flat_text(value)))
    });
    rows.fold(head, |table, row| table + &row)
}

fn flat_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// `income_mandate` as a heading: `Income mandate`.
fn humanize_name(name: &str) -> String {
    let name = to_one_line(&name.replace('_', " "));
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
        insta::assert_snapshot!(render_background(&value).unwrap(), @r#"
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
        assert_eq!(
            render_background(&json!("Two\n## Instructions")).unwrap(),
            "Two\n\\## Instructions"
        );
        assert_eq!(render_background(&json!(["a", 1])).unwrap(), "- a\n- 1");
        assert_eq!(render_background(&json!({})), None);
        assert_eq!(render_background(&json!("")), None);
        assert_eq!(render_background(&json!({ "subject": "X" })).unwrap(), "**X**");
    }
}
