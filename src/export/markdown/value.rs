//! Renders attached JSON as nested Markdown lists.

use serde_json::Value;

use super::escape::{escape_code, escape_inline, quote_text};

/// A value as a separate block.
pub(super) fn render_value(value: &Value) -> String {
    match value {
        Value::String(text) => quote_text(text),
        Value::Object(_) | Value::Array(_) => value_items(value, 0).join("\n"),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// A value as a list under a list item.
pub(super) fn nested_value(value: &Value) -> String {
    if is_nested(value) {
        value_items(value, 1).join("\n")
    } else {
        format!("  - `{}`", escape_code(&value.to_string()))
    }
}

fn value_items(value: &Value, depth: usize) -> Vec<String> {
    match value {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| {
                value_item(&format!("**{}**", escape_inline(name)), value, depth)
            })
            .collect(),
        Value::Array(values) => {
            values.iter().flat_map(|value| value_item("", value, depth)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// One bullet with its nested items.
fn value_item(name: &str, value: &Value, depth: usize) -> Vec<String> {
    let bullet = "  ".repeat(depth) + "-";
    if is_nested(value) {
        let head =
            if name.is_empty() { format!("{bullet} ·") } else { format!("{bullet} {name}") };
        return std::iter::once(head).chain(value_items(value, depth + 1)).collect();
    }
    let told = value.as_str().map_or_else(|| escape_inline(&value.to_string()), escape_inline);
    let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
    vec![format!("{bullet} {name}{told}").trim_end().to_owned()]
}

/// Whether the value has nested items.
fn is_nested(value: &Value) -> bool {
    match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(values) => !values.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_nest_as_lists() {
        let value = json!({
            "a|b": "x\n# y", "n": 1, "none": [], "list": ["one", {"deep": null}, [2]],
        });
        insta::assert_snapshot!(render_value(&value), @r#"
        - **a\|b**: x \# y
        - **n**: 1
        - **none**: \[\]
        - **list**
          - one
          - ·
            - **deep**: null
          - ·
            - 2
        "#);
        assert_eq!(render_value(&json!("two\nlines")), "> two\n> lines");
    }
}
