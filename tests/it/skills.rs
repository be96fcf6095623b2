//! The skills: the program accepts exactly what they teach.

use plenary_core::markers::extract::extract_reply;
use plenary_core::markers::skills::SKILLS;
use serde_json::{Value, json};

use crate::kit::{TestProgram, TestProject, value_at};
use crate::mcp::run_tools::waiting_council;
use crate::mcp::stdio_client::StdioClient;

/// The expert's context includes the skill besides its prompt; the specification allows some 800
/// tokens.
const EXPERT_SKILL_BYTES_MAX: usize = 3_600;

pub fn read_skill(name: &str) -> &'static str {
    SKILLS.iter().find(|skill| skill.name == name).unwrap().text
}

/// The code blocks in this language, each with its heading.
pub fn code_blocks<'a>(page: &'a str, language: &str) -> Vec<(&'a str, String)> {
    let (mut heading, mut block, mut blocks) = ("", None::<String>, Vec::new());
    for line in page.lines() {
        match (&mut block, line) {
            (None, line) if line.starts_with("```") => {
                block = (line == format!("```{language}")).then(String::new);
            }
            (None, line) if line.starts_with('#') => heading = line,
            (None, _) => {}
            (Some(_), "```") => blocks.extend(block.take().map(|block| (heading, block))),
            (Some(block), line) => {
                block.push_str(line);
                block.push('\n');
            }
        }
    }
    blocks
}

#[test]
fn a_skill_says_what_it_is_and_names_the_other() {
    for (place, other) in [(0, 1), (1, 0), (2, 3), (3, 2), (4, 1)] {
        let (skill, other) = (SKILLS[place], SKILLS[other]);
        let front = skill.text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap().0;
        let fields: Vec<(&str, &str)> =
            front.lines().map(|line| line.split_once(": ").unwrap()).collect();
        assert_eq!(
            fields.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            ["name", "description"]
        );
        assert_eq!(fields[0].1, skill.name);
        // Agent programs truncate longer ones; a colon would end the YAML scalar.
        assert!(fields[1].1.len() <= 1_024 && !fields[1].1.contains(": "), "{}", fields[1].1);
        assert!(skill.text.contains(other.name), "{} does not name {}", skill.name, other.name);
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "what a skill costs is worth knowing")]
fn the_experts_skill_is_short() {
    let bytes = read_skill("alignment-expert").len();
    println!(
        "alignment-expert: {bytes} bytes; alignment-play: {} bytes",
        read_skill("alignment-play").len()
    );
    assert!(bytes <= EXPERT_SKILL_BYTES_MAX, "{bytes} bytes");
}

#[test]
fn every_marker_in_the_skills_is_read_without_a_word() {
    let pages = SKILLS.iter().map(|skill| skill.text).collect::<String>();
    let markers: Vec<&str> =
        pages.split('`').filter(|code| code.starts_with('[') && code.ends_with(']')).collect();
    assert!(markers.len() >= 20, "found only {markers:?}");
    for written in markers {
        let marker = written.replacen("{id}", "P0001", 1).replace("{id}", "P0003");
        let marker = marker.replace("{T}", "T0001").replace('…', "label");
        let base = "[PRETZEL-P0199: Base]\nText.\n";
        let reply = format!("{base}{marker}\nText.");
        let read = extract_reply(&reply, &"pretzel".parse().unwrap(), 1);
        assert_eq!(read.markers.len(), 2, "{marker}: {:?}", read.warnings);
        let is_judges = marker.starts_with("[VERDICT:");
        assert_eq!(read.warnings.len(), usize::from(is_judges), "{marker}: {:?}", read.warnings);
        assert_eq!(read.markers[1].content.to_string(), marker);
    }
}

#[test]
fn the_experts_example_is_read_without_a_word() {
    let examples = code_blocks(read_skill("alignment-expert"), "markdown");
    assert_eq!(examples.len(), 1);
    for (_, example) in examples {
        let read = extract_reply(&example, &"pretzel".parse().unwrap(), 1);
        assert_eq!((read.warnings.len(), read.markers.len()), (0, 6), "{:?}", read.warnings);
    }
}

/// The operation behind a tool.
fn operation_of(tool: &str) -> &'static str {
    match tool {
        "blue_dialogue_create" => "create",
        "blue_dialogue_round_context" => "context",
        "blue_dialogue_extract" => "extract",
        "blue_dialogue_round_register" => "register",
        "blue_dialogue_expert_create" => "expert",
        "blue_dialogue_evolve_panel" => "panel",
        "blue_dialogue_progress" => "progress",
        "blue_dialogue_verdict_register" => "verdict",
        "blue_dialogue_export" => "export_file",
        "blue_dialogue_search" => "search",
        other => panic!("no operation for {other}"),
    }
}

/// Each example of the Judge's skill: the tool and its arguments.
fn judge_examples() -> Vec<(&'static str, Value)> {
    let blocks = code_blocks(read_skill("alignment-play"), "json").into_iter();
    let examples = blocks.map(|(heading, example)| {
        let tool = heading.split('`').nth(1).unwrap();
        (tool, serde_json::from_str(&example).unwrap())
    });
    examples.collect()
}

#[test]
fn every_example_of_the_judges_skill_is_taken_in_its_order() {
    let bench = TestProject::new();
    let mut tools: Vec<&str> = Vec::new();
    let of_judge =
        judge_examples().into_iter().filter(|(tool, _)| tool.starts_with("blue_dialogue_"));
    for (tool, arguments) in of_judge {
        let answer = bench.run_ok(operation_of(tool), &arguments);
        let warnings = answer.get("warnings").and_then(Value::as_array).map_or(0, Vec::len);
        assert_eq!(warnings, 0, "{tool}: {answer:#}");
        tools.push(tool);
    }
    tools.sort_unstable();
    tools.dedup();
    assert_eq!(tools.len(), 10, "{tools:?}");
    let export = bench.export_dialogue("nvidia-decision");
    assert_eq!(value_at(&export, "status"), "converged");
    assert_eq!(value_at(&export, "recommendations.0.status"), "adopted");
    bench.assert_verified();
}

/// The skill for ethos, example by example: at the end its dialogue is bound by the rules.
#[test]
fn every_example_of_the_ethos_skill_is_taken_in_its_order() {
    let bench = TestProject::new();
    for (_, example) in code_blocks(read_skill("ethos"), "json") {
        let arguments: Value = serde_json::from_str(&example).unwrap();
        if arguments["op"] == "constraint_add" {
            let create = json!({ "title": "Trust Swap", "calibrated": true, "domain_id": "FID" });
            bench.run_ok("create", &create);
        }
        let answer = bench.run_ok(arguments["op"].as_str().unwrap(), &arguments);
        assert_eq!(answer.get("warnings"), None, "{answer:#}");
    }
    let ethos = bench.run_ok("get", &json!({ "dialogue_id": "trust-swap" }));
    assert_eq!(value_at(&ethos, "ethos_status"), "approved");
    assert_eq!(value_at(&ethos, "counts.rules"), 4);
    bench.assert_verified();
}

/// The other examples call models, so they run rehearsed, except for interventions in a running
/// council.
#[test]
fn every_example_without_a_judge_is_taken() {
    let (council, _) = waiting_council();
    for (folder, file) in [("docs", "prices.md"), ("posts", "launch.md")] {
        let folder = council.program.path().join(folder);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join(file), "Prices change hourly.\n").unwrap();
    }
    let mut agent = StdioClient::new(&council.program);
    let running = agent.call_tool_ok("council_ask", &json!({ "question": "Tea?" }));
    let (mut asked, mut tools) = (Value::Null, Vec::new());
    for (tool, mut arguments) in judge_examples() {
        match tool {
            "council_ask" | "council_align" | "council_review" => {
                arguments["rehearse"] = json!(true)
            }
            "deliberation_status" => {
                // The id has the format of generated ids.
                let name = |id: &Value| id.as_str().unwrap().rsplit_once('-').unwrap().0.to_owned();
                assert_eq!(name(&arguments["dialogue_id"]), name(&asked));
                arguments["dialogue_id"] = asked.clone();
            }
            "deliberation_intervene" => arguments["dialogue_id"] = running["dialogue_id"].clone(),
            _ => continue,
        }
        let answer = agent.call_tool_ok(tool, &arguments);
        match tool {
            "council_ask" => asked = answer["dialogue_id"].clone(),
            "deliberation_status" => assert_eq!(value_at(&answer, "status"), "done", "{answer:#}"),
            _ => {}
        }
        tools.push(tool);
    }
    tools.sort_unstable();
    let all = [
        "council_align",
        "council_ask",
        "council_review",
        "deliberation_intervene",
        "deliberation_status",
    ];
    assert_eq!(tools, all);
}

/// The names of all properties in a schema, nested ones included.
fn schema_properties(schema: &Value) -> Vec<String> {
    let Some(object) = schema.as_object() else {
        return schema.as_array().into_iter().flatten().flat_map(schema_properties).collect();
    };
    let named = object.get("properties").and_then(Value::as_object).into_iter().flatten();
    named.map(|(name, _)| name.clone()).chain(object.values().flat_map(schema_properties)).collect()
}

#[test]
fn the_judges_skill_knows_every_tool_and_its_parameters() {
    let page = read_skill("alignment-play");
    let listed = StdioClient::in_own_folder().request_ok("tools/list", &json!({}));
    let tools = value_at(&listed, "tools").as_array().unwrap();
    assert_eq!(tools.len(), 16);
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        let sections = page.split("\n### ").filter(|part| part.starts_with(&format!("`{name}`")));
        let section: String = sections.collect();
        assert!(section.contains("```json"), "{name} has no example");
        for parameter in schema_properties(&tool["inputSchema"]) {
            let mut words = section.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
            assert!(words.any(|word| word == parameter), "{name} takes {parameter}");
        }
    }
}

#[test]
fn init_puts_the_skills_where_agents_look() {
    let program = TestProgram::new();
    let ran = program.run_command(&["init", "--skills", "agents/skills"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        ran.stdout,
        "Wrote agents/skills/alignment-expert/SKILL.md\nWrote agents/skills/alignment-play/SKILL.md\n\
         Wrote agents/skills/council-ask/SKILL.md\nWrote agents/skills/council-review/SKILL.md\n\
         Wrote agents/skills/ethos/SKILL.md\n"
    );
    let path = |name: &str| program.path().join("agents/skills").join(name).join("SKILL.md");
    for skill in &SKILLS {
        assert_eq!(std::fs::read_to_string(path(skill.name)).unwrap(), skill.text);
    }
    assert!(!program.path().join("council.yaml").exists());

    // A second run changes nothing; a modified file is not replaced, and then no file is written.
    std::fs::remove_file(path("alignment-expert")).unwrap();
    std::fs::write(path("alignment-play"), "mine").unwrap();
    let refused = program.run_command(&["init", "--skills", "agents/skills"]);
    assert_eq!(refused.code, 1);
    insta::assert_snapshot!(refused.stderr, @r"
    error: `agents/skills/alignment-play/SKILL.md` already exists
    hint: `--force` replaces it
    ");
    assert!(!path("alignment-expert").exists());
    assert_eq!(std::fs::read_to_string(path("alignment-play")).unwrap(), "mine");

    assert_eq!(program.run_command(&["init", "--skills", "agents/skills", "--force"]).code, 0);
    let again = program.run_command(&["init", "--skills", "agents/skills", "--json"]);
    let again: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(value_at(&again, "skills.1.changed"), false);
    assert_eq!(std::fs::read_to_string(path("alignment-play")).unwrap(), SKILLS[1].text);
}

#[test]
fn a_place_that_is_no_file_is_refused() {
    let program = TestProgram::new();
    std::fs::create_dir_all(program.path().join("skills/alignment-play/SKILL.md")).unwrap();
    assert_eq!(program.run_command(&["init", "--skills", "skills"]).code, 1);
    assert_eq!(program.run_command(&["init", "--skills", "skills", "--force"]).code, 3);
    std::fs::write(program.path().join("file"), "").unwrap();
    assert_eq!(program.run_command(&["init", "--skills", "file"]).code, 3);
}

#[test]
fn the_commands_of_the_council_skills_run() {
    let program = TestProgram::new();
    program.write_text("post.md", "# Launch\n\nWe ship on Monday.\n");
    for name in ["council-ask", "council-review"] {
        let examples = code_blocks(read_skill(name), "sh");
        assert_eq!(examples.len(), 1, "{name}");
        let line = examples[0].1.trim().trim_end_matches("|| true").trim();
        let words: Vec<&str> = match line.split_once('"') {
            Some((before, rest)) => {
                let (question, after) = rest.split_once('"').unwrap();
                before
                    .split_whitespace()
                    .chain([question])
                    .chain(after.split_whitespace())
                    .collect()
            }
            None => line.split_whitespace().collect(),
        };
        let ran = program.run_command(&words[1..]);
        assert!(ran.code <= 2, "{words:?}: {ran:?}");
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(document["rehearsal"], true, "{name}");
    }
}
