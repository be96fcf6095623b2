//! Every printed example fits our published schema, so a client that validates can send it.

use serde_json::{Map, Value, json};

use super::stdio_client::StdioClient;
use crate::kit::{read_fixture, value_at};
use crate::skills::{code_blocks, read_skill};

/// The schemas of all tools' arguments, by name.
fn tool_schemas() -> Map<String, Value> {
    let listed = StdioClient::in_own_folder().request_ok("tools/list", &json!({}));
    let tools = value_at(&listed, "tools").as_array().unwrap().iter();
    tools
        .map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool["inputSchema"].clone()))
        .collect()
}

/// Validates a value against a published schema. Stricter than the standard: a field that the
/// schema does not name is a fault, and an unknown keyword is a bug of the test.
struct SchemaChecker<'a> {
    root: &'a Value,
    faults: Vec<String>,
}

impl SchemaChecker<'_> {
    fn find_faults(schema: &Value, value: &Value) -> Vec<String> {
        let mut checker = SchemaChecker { root: schema, faults: Vec::new() };
        checker.check_value(schema, value, "");
        checker.faults
    }

    fn check_value(&mut self, schema: &Value, value: &Value, place: &str) {
        for (keyword, rule) in schema.as_object().unwrap() {
            match keyword.as_str() {
                "type" => self.check_type(rule, value, place),
                "enum" => {
                    let options = rule.as_array().unwrap();
                    self.require(options.contains(value), place, &format!("{value} not of {rule}"));
                }
                "required" => self.check_required(rule, value, place),
                "properties" => self.check_properties(rule, value, place),
                "additionalProperties" => {
                    for (name, inner) in value.as_object().into_iter().flatten() {
                        self.check_value(rule, inner, &format!("{place}/{name}"));
                    }
                }
                "items" => {
                    for (index, inner) in value.as_array().into_iter().flatten().enumerate() {
                        self.check_value(rule, inner, &format!("{place}/{index}"));
                    }
                }
                "$ref" => {
                    let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
                    self.check_value(self.root.pointer(pointer).unwrap(), value, place);
                }
                "description" | "$defs" => {}
                other => panic!("the keyword {other} is new: teach this test to check it"),
            }
        }
    }

    fn check_type(&mut self, rule: &Value, value: &Value, place: &str) {
        let names = rule.as_array().cloned().unwrap_or_else(|| vec![rule.clone()]);
        let fits = names.iter().any(|name| match name.as_str().unwrap() {
            "string" => value.is_string(),
            "integer" => value.is_i64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            "null" => value.is_null(),
            other => panic!("{other} is no type"),
        });
        self.require(fits, place, &format!("{value} is not of type {rule}"));
    }

    fn check_required(&mut self, names: &Value, value: &Value, place: &str) {
        for name in names.as_array().unwrap() {
            let is_there = value.get(name.as_str().unwrap()).is_some();
            self.require(is_there, place, &format!("{name} is missing"));
        }
    }

    fn check_properties(&mut self, properties: &Value, value: &Value, place: &str) {
        for (name, inner) in value.as_object().into_iter().flatten() {
            match properties.get(name) {
                Some(schema) => self.check_value(schema, inner, &format!("{place}/{name}")),
                None => self.faults.push(format!("{place}: {name} is not named")),
            }
        }
    }

    fn require(&mut self, is_met: bool, place: &str, fault: &str) {
        if !is_met {
            self.faults.push(format!("{place}: {fault}"));
        }
    }
}

#[test]
fn the_dialogue_of_the_examples_fits_the_schemas() {
    let schemas = tool_schemas();
    let folder =
        std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("examples/nvidia");
    let mut tried = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let tool = match name.get(3..).unwrap() {
            "create.json" => "blue_dialogue_create",
            step if step.starts_with("round-") => "blue_dialogue_round_register",
            step if step.starts_with("panel-") => "blue_dialogue_evolve_panel",
            step if step.starts_with("expert-") => "blue_dialogue_expert_create",
            step if step.starts_with("verdict-") => "blue_dialogue_verdict_register",
            _ if name == "README.md" => continue,
            _ => panic!("which tool takes {name}?"),
        };
        let example = read_fixture(&format!("examples/nvidia/{name}"));
        assert_eq!(SchemaChecker::find_faults(&schemas[tool], &example), [""; 0], "{name}");
        tried += 1;
    }
    assert_eq!(tried, 10);
}

#[test]
fn the_examples_of_the_judges_skill_fit_the_schemas() {
    let schemas = tool_schemas();
    for (heading, example) in code_blocks(read_skill("alignment-play"), "json") {
        let tool = heading.split('`').nth(1).unwrap();
        let example: Value = serde_json::from_str(&example).unwrap();
        assert_eq!(SchemaChecker::find_faults(&schemas[tool], &example), [""; 0], "{heading}");
    }
}

#[test]
fn the_checker_finds_what_is_wrong() {
    let schema = json!({
        "type": "object", "required": ["id"], "$defs": { "Id": { "type": ["string", "null"] } },
        "properties": { "id": { "$ref": "#/$defs/Id" }, "many": { "items": { "enum": ["a"] } } },
    });
    let check = |value: Value, faults: &[&str]| {
        assert_eq!(SchemaChecker::find_faults(&schema, &value), faults, "{value}");
    };
    check(json!({ "id": null, "many": ["a"] }), &[]);
    check(json!({ "many": [] }), &[": \"id\" is missing"]);
    check(json!({ "id": 1 }), &[r#"/id: 1 is not of type ["string","null"]"#]);
    check(json!({ "id": "", "many": ["b"] }), &[r#"/many/0: "b" not of ["a"]"#]);
    check(json!({ "id": "", "more": 1 }), &[": more is not named"]);
}
