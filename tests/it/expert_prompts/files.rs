//! Where prompt files are written, what the command returns, and when it writes nothing.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::prompt_parser::{Walked, read};
use crate::kit::{Bench, Program, at, batch, fixture, item, open_dialogue};
use crate::specification::{ID, play};

fn render(id: &str) -> Value {
    json!({ "dialogue_id": id, "render": true })
}

fn talk(bench: &Bench) {
    open_dialogue(bench, &["ann", "bob"]);
    bench.must("register", &batch(0, json!({ "perspectives": [item("ANN-P0001", "")] })));
}

/// Every file below a folder, with its content.
fn files_in(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(files_in(&path));
        } else {
            found.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    found
}

fn dialogues(bench: &Bench) -> PathBuf {
    bench.folder.path().canonicalize().unwrap().join(".plenary/dialogues")
}

#[test]
fn each_expert_gets_a_prompt_and_a_context_in_the_dialogues_folder() {
    let bench = Bench::new();
    talk(&bench);
    let answer = bench.must("context", &render("talk"));
    let folder = dialogues(&bench).join("talk/round-1");
    let names: Vec<String> = files_in(&dialogues(&bench))
        .into_keys()
        .map(|path| path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["context-ann.json", "context-bob.json", "prompt-ann.md", "prompt-bob.md"]);
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    assert_eq!(
        at(&answer, "prompts.1"),
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
    let bench = Bench::new();
    play(&bench, 6);
    let plain = bench.must("context", &json!({ "dialogue_id": ID }));
    let mut answer = bench.must("context", &render(ID));
    let prompts = answer.as_object_mut().unwrap().remove("prompts").unwrap();
    assert_eq!(answer, plain);
    for file in prompts.as_array().unwrap() {
        let slug = at(file, "expert_slug").as_str().unwrap();
        let own: Value = serde_json::from_str(&read(at(file, "context_path"))).unwrap();
        let mut expected = plain.clone();
        let experts = expected["experts"].as_object_mut().unwrap();
        experts.retain(|expert, _| expert == slug);
        assert_eq!(own, expected, "{slug}");
    }
}

#[test]
fn the_same_record_is_rendered_to_the_same_bytes() {
    let bench = Bench::new();
    play(&bench, 6);
    let first = bench.must("context", &render(ID));
    let files = files_in(&dialogues(&bench));
    assert_eq!(bench.must("context", &render(ID)), first);
    assert_eq!(files_in(&dialogues(&bench)), files);
    // Another record with the same texts has the same mark; a longer one has another.
    let other = Bench::new();
    play(&other, 6);
    let path = |answer: &Value| read(at(answer, "prompts.0.prompt_path"));
    let (one, two) = (path(&first), path(&other.must("context", &render(ID))));
    assert_eq!(Walked::of(&one).mark, Walked::of(&two).mark);
    play_on(&bench);
    let again =
        path(&bench.must("context", &json!({ "dialogue_id": ID, "round": 2, "render": true })));
    assert_ne!(Walked::of(&again).mark, Walked::of(&one).mark);
    assert_eq!(again.replace(Walked::of(&again).mark, Walked::of(&one).mark), one);
}

fn play_on(bench: &Bench) {
    bench.must("register", &fixture("examples/nvidia/07-round-2.json"));
}

#[test]
fn a_dialogue_that_is_over_has_no_next_round_to_prepare() {
    let bench = Bench::new();
    play(&bench, 8);
    let refusal = bench.refused("context", &render(ID));
    assert_eq!(at(&refusal, "error_code"), "dialogue_closed");
    assert!(at(&refusal, "suggestion").as_str().unwrap().contains("`round`"), "{refusal:#}");
    assert_eq!(files_in(&dialogues(&bench)), BTreeMap::new());
    // Earlier prompts can still be rendered.
    let past = json!({ "dialogue_id": ID, "round": 2, "render": true });
    assert_eq!(at(&bench.must("context", &past), "prompts").as_array().unwrap().len(), 13);
}

#[test]
fn what_is_not_there_is_not_rendered() {
    let bench = Bench::new();
    talk(&bench);
    let code = |arguments: Value| {
        at(&bench.refused("context", &arguments), "error_code").as_str().unwrap().to_owned()
    };
    assert_eq!(code(render("nobody")), "dialogue_not_found");
    assert_eq!(code(render("../talk")), "dialogue_not_found");
    for round in [2, 99, 100, 65_535] {
        let arguments = json!({ "dialogue_id": "talk", "round": round, "render": true });
        assert_eq!(code(arguments), "invalid_round", "{round}");
    }
    assert_eq!(code(json!({ "dialogue_id": "talk", "render": "yes" })), "invalid_type");
    bench.must("abandon", &json!({ "dialogue_id": "talk" }));
    assert_eq!(code(render("talk")), "dialogue_closed");
    assert_eq!(files_in(&dialogues(&bench)), BTreeMap::new());
}

#[test]
fn a_folder_that_leads_out_is_not_written_to() {
    let bench = Bench::new();
    talk(&bench);
    let outside = tempfile::tempdir().unwrap();
    let own = dialogues(&bench).join("talk");
    std::fs::create_dir_all(&own).unwrap();
    symlink(outside.path(), own.join("round-1")).unwrap();
    let refusal = bench.refused("context", &render("talk"));
    assert_eq!(at(&refusal, "error_code"), "path_not_allowed");
    assert_eq!(files_in(outside.path()), BTreeMap::new());
}

#[test]
fn where_one_file_may_not_be_written_none_is() {
    let bench = Bench::new();
    talk(&bench);
    let outside = tempfile::tempdir().unwrap();
    let folder = dialogues(&bench).join("talk/round-1");
    std::fs::create_dir_all(&folder).unwrap();
    symlink(outside.path().join("new.json"), folder.join("context-bob.json")).unwrap();
    let refusal = bench.refused("context", &render("talk"));
    assert_eq!(at(&refusal, "error_code"), "path_not_allowed");
    assert!(!folder.join("prompt-ann.md").exists());
    assert_eq!(files_in(outside.path()), BTreeMap::new());
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let bench = Bench::new();
    talk(&bench);
    let place = dialogues(&bench).join("talk/round-1/prompt-ann.md");
    std::fs::create_dir_all(&place).unwrap();
    let refusal = bench.refused("context", &render("talk"));
    assert_eq!(at(&refusal, "error_code"), "unwritable");
    assert!(at(&refusal, "message").as_str().unwrap().contains("prompt-ann.md"));
    // No partial files are left.
    assert_eq!(files_in(&dialogues(&bench)), BTreeMap::new());
    std::fs::remove_dir(&place).unwrap();
    std::fs::remove_dir(place.parent().unwrap()).unwrap();
    std::fs::write(place.parent().unwrap(), "a file where a folder should be").unwrap();
    let refusal = bench.refused("context", &render("talk"));
    assert_eq!(at(&refusal, "error_code"), "path_not_allowed");
}

#[test]
fn an_output_dir_of_ones_own_is_used() {
    let bench = Bench::new();
    let created = bench.must(
        "create",
        &json!({ "title": "Talk", "output_dir": "talks/first", "expert_pool": crate::kit::pool(&["ann"]) }),
    );
    let answer = bench.must("context", &render("talk"));
    let expected =
        format!("{}/round-0/prompt-ann.md", at(&created, "output_dir").as_str().unwrap());
    assert_eq!(at(&answer, "prompts.0.prompt_path"), expected.as_str());
    assert!(Path::new(&expected).is_file());
}

fn program() -> Program {
    let program = Program::new();
    for (operation, file) in
        [("create", "01-create"), ("register", "02-round-0"), ("panel", "03-panel-1")]
    {
        let (code, answer) =
            program.operation(operation, &fixture(&format!("examples/nvidia/{file}.json")));
        assert_eq!(code, 0, "{answer:#}");
    }
    program
}

#[test]
fn the_program_says_what_it_wrote() {
    let program = program();
    let ran = program.run(&["dialogue", "prompts", ID]);
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
    assert!(ran.stderr.contains("next: give each expert their prompt"), "{}", ran.stderr);
}

#[test]
fn the_programs_document_is_the_tools_answer() {
    let program = program();
    let ran = program.run(&["dialogue", "prompts", ID, "--json"]);
    let (code, answer) = program.operation("context", &render(ID));
    assert_eq!((ran.code, code), (0, 0));
    assert_eq!(serde_json::from_str::<Value>(&ran.stdout).unwrap(), answer);
    let (code, again) = program.operation("prompts", &json!({ "dialogue_id": ID }));
    assert_eq!((code, again), (0, answer));
}

#[test]
fn one_prompt_can_be_read_without_writing_any() {
    let program = program();
    let folder = program.path().join(".plenary/dialogues");
    let ran = program.run(&["dialogue", "prompts", ID, "--expert", "muffin"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(files_in(&folder), BTreeMap::new());
    let json = program.run(&["dialogue", "prompts", ID, "--expert", "muffin", "--json"]);
    let document: Value = serde_json::from_str(&json.stdout).unwrap();
    program.run(&["dialogue", "prompts", ID]);
    let written = folder.join(ID).join("round-1/prompt-muffin.md");
    let written = std::fs::read_to_string(written).unwrap();
    assert_eq!(ran.stdout.trim_end(), written.trim_end());
    assert_eq!(at(&document, "prompt"), written.as_str());
    let ran = program.run(&["dialogue", "prompts", ID, "--expert", "churro"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("'churro' is not on the panel of round 1"), "{}", ran.stderr);
}

#[test]
fn what_plenary_asked_itself_has_no_prompts_to_write() {
    let program = Program::new();
    let ran = program.run(&["ask", "Cache?", "--rehearse", "--no-conclusion", "--json"]);
    let council: Value = serde_json::from_str(&ran.stdout).unwrap();
    let id = at(&council, "dialogue_id").as_str().unwrap();
    let (code, refusal) = program.operation("prompts", &json!({ "dialogue_id": id, "round": 1 }));
    assert_eq!((code, at(&refusal, "error_code")), (1, &json!("not_supported")));
    std::fs::write(program.path().join("post.md"), "# A post\n\nIt is short.\n").unwrap();
    let ran = program.run(&["review", "post.md", "--rehearse", "--json"]);
    let review: Value = serde_json::from_str(&ran.stdout).unwrap();
    let id = at(&review, "dialogue_id").as_str().unwrap();
    let (code, refusal) = program.operation("prompts", &json!({ "dialogue_id": id }));
    assert_eq!((code, at(&refusal, "error_code")), (1, &json!("not_supported")));
}
