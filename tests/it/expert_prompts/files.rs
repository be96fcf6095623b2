//! Where prompt files are written, what the command returns, and when it writes nothing.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::prompt_parser::{ParsedPrompt, read_prompt};
use crate::kit::{
    TestProgram, TestProject, make_batch, make_item, open_dialogue, read_fixture, value_at,
};
use crate::specification::{ID, run_steps};

fn render_arguments(id: &str) -> Value {
    json!({ "dialogue_id": id, "render": true })
}

fn open_talk(bench: &TestProject) {
    open_dialogue(bench, &["ann", "bob"]);
    bench.run_ok(
        "register",
        &make_batch(0, json!({ "perspectives": [make_item("ANN-P0001", "")] })),
    );
}

/// Every file below a folder, with its content.
fn read_files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(read_files(&path));
        } else {
            found.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    found
}

fn dialogues_folder(bench: &TestProject) -> PathBuf {
    bench.folder.path().canonicalize().unwrap().join(".plenary/dialogues")
}

#[test]
fn each_expert_gets_a_prompt_and_a_context_in_the_dialogues_folder() {
    let bench = TestProject::new();
    open_talk(&bench);
    let answer = bench.run_ok("context", &render_arguments("talk"));
    let folder = dialogues_folder(&bench).join("talk/round-1");
    let names: Vec<String> = read_files(&dialogues_folder(&bench))
        .into_keys()
        .map(|path| path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["context-ann.json", "context-bob.json", "prompt-ann.md", "prompt-bob.md"]);
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    assert_eq!(
        value_at(&answer, "prompts.1"),
        &json!({
            "expert_slug": "bob",
            "prompt_path": path("prompt-bob.md"),
            "context_path": path("context-bob.json"),
            "response_path": path("response-bob.md"),
            "bytes": std::fs::metadata(path("prompt-bob.md")).unwrap().len(),
        })
    );
}

#[test]
fn the_answer_is_the_context_and_the_list_of_files() {
    let bench = TestProject::new();
    run_steps(&bench, 6);
    let plain = bench.run_ok("context", &json!({ "dialogue_id": ID }));
    let mut answer = bench.run_ok("context", &render_arguments(ID));
    let prompts = answer.as_object_mut().unwrap().remove("prompts").unwrap();
    assert_eq!(answer, plain);
    for file in prompts.as_array().unwrap() {
        let slug = value_at(file, "expert_slug").as_str().unwrap();
        let own: Value =
            serde_json::from_str(&read_prompt(value_at(file, "context_path"))).unwrap();
        let mut expected = plain.clone();
        let experts = expected["experts"].as_object_mut().unwrap();
        experts.retain(|expert, _| expert == slug);
        assert_eq!(own, expected, "{slug}");
    }
}

#[test]
fn the_same_record_is_rendered_to_the_same_bytes() {
    let bench = TestProject::new();
    run_steps(&bench, 6);
    let first = bench.run_ok("context", &render_arguments(ID));
    let files = read_files(&dialogues_folder(&bench));
    assert_eq!(bench.run_ok("context", &render_arguments(ID)), first);
    assert_eq!(read_files(&dialogues_folder(&bench)), files);
    // Another record with the same texts has the same mark; a longer one has another.
    let other = TestProject::new();
    run_steps(&other, 6);
    let path = |answer: &Value| read_prompt(value_at(answer, "prompts.0.prompt_path"));
    let (one, two) = (path(&first), path(&other.run_ok("context", &render_arguments(ID))));
    assert_eq!(ParsedPrompt::parse_prompt(&one).mark, ParsedPrompt::parse_prompt(&two).mark);
    register_next_round(&bench);
    let again =
        path(&bench.run_ok("context", &json!({ "dialogue_id": ID, "round": 2, "render": true })));
    assert_ne!(ParsedPrompt::parse_prompt(&again).mark, ParsedPrompt::parse_prompt(&one).mark);
    assert_eq!(
        again.replace(
            ParsedPrompt::parse_prompt(&again).mark,
            ParsedPrompt::parse_prompt(&one).mark
        ),
        one
    );
}

fn register_next_round(bench: &TestProject) {
    bench.run_ok("register", &read_fixture("examples/nvidia/07-round-2.json"));
}

#[test]
fn a_dialogue_that_is_over_has_no_next_round_to_prepare() {
    let bench = TestProject::new();
    run_steps(&bench, 8);
    let refusal = bench.expect_error("context", &render_arguments(ID));
    assert_eq!(value_at(&refusal, "error_code"), "dialogue_closed");
    assert!(value_at(&refusal, "suggestion").as_str().unwrap().contains("`round`"), "{refusal:#}");
    assert_eq!(read_files(&dialogues_folder(&bench)), BTreeMap::new());
    // Earlier prompts can still be rendered.
    let past = json!({ "dialogue_id": ID, "round": 2, "render": true });
    assert_eq!(value_at(&bench.run_ok("context", &past), "prompts").as_array().unwrap().len(), 13);
}

#[test]
fn what_is_not_there_is_not_rendered() {
    let bench = TestProject::new();
    open_talk(&bench);
    let code = |arguments: Value| {
        value_at(&bench.expect_error("context", &arguments), "error_code")
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(code(render_arguments("nobody")), "dialogue_not_found");
    assert_eq!(code(render_arguments("../talk")), "dialogue_not_found");
    for round in [2, 99, 100, 65_535] {
        let arguments = json!({ "dialogue_id": "talk", "round": round, "render": true });
        assert_eq!(code(arguments), "invalid_round", "{round}");
    }
    assert_eq!(code(json!({ "dialogue_id": "talk", "render": "yes" })), "invalid_type");
    bench.run_ok("abandon", &json!({ "dialogue_id": "talk" }));
    assert_eq!(code(render_arguments("talk")), "dialogue_closed");
    assert_eq!(read_files(&dialogues_folder(&bench)), BTreeMap::new());
}

#[test]
fn a_folder_that_leads_out_is_not_written_to() {
    let bench = TestProject::new();
    open_talk(&bench);
    let outside = tempfile::tempdir().unwrap();
    let own = dialogues_folder(&bench).join("talk");
    std::fs::create_dir_all(&own).unwrap();
    symlink(outside.path(), own.join("round-1")).unwrap();
    let refusal = bench.expect_error("context", &render_arguments("talk"));
    assert_eq!(value_at(&refusal, "error_code"), "path_not_allowed");
    assert_eq!(read_files(outside.path()), BTreeMap::new());
}

#[test]
fn where_one_file_may_not_be_written_none_is() {
    let bench = TestProject::new();
    open_talk(&bench);
    let outside = tempfile::tempdir().unwrap();
    let folder = dialogues_folder(&bench).join("talk/round-1");
    std::fs::create_dir_all(&folder).unwrap();
    symlink(outside.path().join("new.json"), folder.join("context-bob.json")).unwrap();
    let refusal = bench.expect_error("context", &render_arguments("talk"));
    assert_eq!(value_at(&refusal, "error_code"), "path_not_allowed");
    assert!(!folder.join("prompt-ann.md").exists());
    assert_eq!(read_files(outside.path()), BTreeMap::new());
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let bench = TestProject::new();
    open_talk(&bench);
    let place = dialogues_folder(&bench).join("talk/round-1/prompt-ann.md");
    std::fs::create_dir_all(&place).unwrap();
    let refusal = bench.expect_error("context", &render_arguments("talk"));
    assert_eq!(value_at(&refusal, "error_code"), "unwritable");
    assert!(value_at(&refusal, "message").as_str().unwrap().contains("prompt-ann.md"));
    // No partial files are left.
    assert_eq!(read_files(&dialogues_folder(&bench)), BTreeMap::new());
    std::fs::remove_dir(&place).unwrap();
    std::fs::remove_dir(place.parent().unwrap()).unwrap();
    std::fs::write(place.parent().unwrap(), "a file where a folder should be").unwrap();
    let refusal = bench.expect_error("context", &render_arguments("talk"));
    assert_eq!(value_at(&refusal, "error_code"), "path_not_allowed");
}

#[test]
fn an_output_dir_of_ones_own_is_used() {
    let bench = TestProject::new();
    let created = bench.run_ok(
        "create",
        &json!({ "title": "Talk", "output_dir": "talks/first", "expert_pool": crate::kit::make_pool(&["ann"]) }),
    );
    let answer = bench.run_ok("context", &render_arguments("talk"));
    let expected =
        format!("{}/round-0/prompt-ann.md", value_at(&created, "output_dir").as_str().unwrap());
    assert_eq!(value_at(&answer, "prompts.0.prompt_path"), expected.as_str());
    assert!(Path::new(&expected).is_file());
}

fn program_with_dialogue() -> TestProgram {
    let program = TestProgram::new();
    for (operation, file) in
        [("create", "01-create"), ("register", "02-round-0"), ("panel", "03-panel-1")]
    {
        let (code, answer) = program
            .run_operation(operation, &read_fixture(&format!("examples/nvidia/{file}.json")));
        assert_eq!(code, 0, "{answer:#}");
    }
    program
}

#[test]
fn the_program_says_what_it_wrote() {
    let program = program_with_dialogue();
    let ran = program.run_command(&["dialogue", "prompts", ID]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let folder = program.path().canonicalize().unwrap();
    let shown = ran.stdout.replace(folder.to_str().unwrap(), "HERE");
    // The length of a prompt depends on the length of the path in it.
    let is_size = |word: &&str| word.len() == 5 && word.bytes().all(|byte| byte.is_ascii_digit());
    let sizes: Vec<&str> = ran.stdout.split_whitespace().filter(is_size).collect();
    let shown = sizes.iter().fold(shown, |shown, size| shown.replace(size, "#####"));
    insta::assert_snapshot!(shown, @r"
    Wrote 5 prompts for round 1 to HERE/.plenary/dialogues/nvidia-investment-decision/round-1

    EXPERT     BYTES  PROMPT               CONTEXT
    muffin     #####  prompt-muffin.md     context-muffin.json
    cupcake    #####  prompt-cupcake.md    context-cupcake.json
    donut      #####  prompt-donut.md      context-donut.json
    scone      #####  prompt-scone.md      context-scone.json
    croissant  #####  prompt-croissant.md  context-croissant.json
    ");
    assert!(ran.stderr.contains("next: give each expert its prompt"), "{}", ran.stderr);
}

#[test]
fn the_programs_document_is_the_tools_answer() {
    let program = program_with_dialogue();
    let ran = program.run_command(&["dialogue", "prompts", ID, "--json"]);
    let (code, answer) = program.run_operation("context", &render_arguments(ID));
    assert_eq!((ran.code, code), (0, 0));
    assert_eq!(serde_json::from_str::<Value>(&ran.stdout).unwrap(), answer);
    let (code, again) = program.run_operation("prompts", &json!({ "dialogue_id": ID }));
    assert_eq!((code, again), (0, answer));
}

#[test]
fn one_prompt_can_be_read_without_writing_any() {
    let program = program_with_dialogue();
    let folder = program.path().join(".plenary/dialogues");
    let ran = program.run_command(&["dialogue", "prompts", ID, "--expert", "muffin"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(read_files(&folder), BTreeMap::new());
    let json = program.run_command(&["dialogue", "prompts", ID, "--expert", "muffin", "--json"]);
    let document: Value = serde_json::from_str(&json.stdout).unwrap();
    program.run_command(&["dialogue", "prompts", ID]);
    let written = folder.join(ID).join("round-1/prompt-muffin.md");
    let written = std::fs::read_to_string(written).unwrap();
    assert_eq!(ran.stdout.trim_end(), written.trim_end());
    assert_eq!(value_at(&document, "prompt"), written.as_str());
    let ran = program.run_command(&["dialogue", "prompts", ID, "--expert", "churro"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("'churro' is not on the panel of round 1"), "{}", ran.stderr);
}

#[test]
fn what_plenary_asked_itself_has_no_prompts_to_write() {
    let program = TestProgram::new();
    let ran = program.run_command(&["ask", "Cache?", "--rehearse", "--no-conclusion", "--json"]);
    let council: Value = serde_json::from_str(&ran.stdout).unwrap();
    let id = value_at(&council, "dialogue_id").as_str().unwrap();
    let (code, refusal) =
        program.run_operation("prompts", &json!({ "dialogue_id": id, "round": 1 }));
    assert_eq!((code, value_at(&refusal, "error_code")), (1, &json!("not_supported")));
    std::fs::write(program.path().join("post.md"), "# A post\n\nIt is short.\n").unwrap();
    let ran = program.run_command(&["review", "post.md", "--rehearse", "--json"]);
    let review: Value = serde_json::from_str(&ran.stdout).unwrap();
    let id = value_at(&review, "dialogue_id").as_str().unwrap();
    let (code, refusal) = program.run_operation("prompts", &json!({ "dialogue_id": id }));
    assert_eq!((code, value_at(&refusal, "error_code")), (1, &json!("not_supported")));
}
