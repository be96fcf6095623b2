//! Screen output of a council that ends with its report: the page of `ask`, and `show`. The unit
//! tests of the conclusion page cover conclusions.

use serde_json::{Value, json};

use crate::kit::TestProgram;

fn program_with_council() -> (TestProgram, String, String) {
    let program = TestProgram::new();
    let question = "Should reads go through a cache?";
    let ran = program.run_command(&["ask", question, "--rehearse", "--no-conclusion"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let id = ran.stdout.trim().rsplit(' ').next().unwrap().to_owned();
    (program, ran.stdout, id)
}

/// The section headings, in order.
fn section_headings(page: &str) -> Vec<&str> {
    let is_heading = |line: &&str| line.contains("───");
    page.lines().filter(is_heading).map(|line| line.split(" ─").next().unwrap()).collect()
}

#[test]
fn the_answer_comes_first_and_the_record_last() {
    let (_, page, id) = program_with_council();
    let found = section_headings(&page);
    assert_eq!(found.first(), Some(&"COUNCIL"));
    assert_eq!(found.last(), Some(&"RECORD"));
    assert_eq!(found.get(2), Some(&"POSITIONS"), "{found:?}");
    assert!(page.ends_with(&format!("plenary show {id}\n")), "{page}");
    assert!(!page.contains("\n\n\n"), "one blank line parts sections:\n{page}");
}

#[test]
fn what_is_said_of_each_seat_stands_in_one_column() {
    let (_, page, _) = program_with_council();
    let columns: Vec<usize> = page
        .lines()
        .filter(|line| {
            line.starts_with("  ● ")
                || line.starts_with("  ▲ ")
                || line.starts_with("  ◐ ")
                || line.starts_with("  ○ ")
        })
        .map(|line| {
            let stances = ["approve", "reject", "conditional", "abstain"];
            stances.iter().find_map(|stance| line.find(stance)).unwrap_or_else(|| panic!("{line}"))
        })
        .collect();
    assert_eq!(columns.len(), 3, "{page}");
    assert!(columns.iter().all(|column| Some(column) == columns.first()), "{columns:?}");
}

#[test]
fn show_draws_the_page_of_a_council_and_then_what_is_behind_it() {
    let (program, page, id) = program_with_council();
    let shown = program.run_command(&["show", &id]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let result = section_headings(&page);
    let found = section_headings(&shown.stdout);
    // The result ends with the section about the record, as every page does.
    let same = result.len() - 1;
    assert_eq!(found.get(..same), result.get(..same), "the same page first");
    let behind: Vec<&str> = found.iter().skip(same).copied().collect();
    let expected = [
        "TENSIONS",
        "ROUND 1 · Independent opinions",
        "ROUND 2 · Cross review",
        "REFERENCES",
        "RECORD",
    ];
    assert_eq!(behind, expected);
    for word in ["ALIGNMENT", "VERDICT", "Judge", "plenary show"] {
        assert!(!shown.stdout.contains(word), "{word} has no place here:\n{}", shown.stdout);
    }
}

#[test]
fn a_round_of_a_council_can_be_shown_alone() {
    let (program, _, id) = program_with_council();
    let shown = program.run_command(&["show", &id, "--round", "2"]);
    let found = section_headings(&shown.stdout);
    assert_eq!(found.get(1), Some(&"ROUND 2 · Cross review"), "{found:?}");
    assert!(!shown.stdout.contains("ALIGNMENT"), "{}", shown.stdout);
}

#[test]
fn a_council_can_be_read_whole_in_markdown_and_word_for_word() {
    let (program, _, id) = program_with_council();
    let exported = program.run_command(&["export", &id, "--format", "markdown"]).stdout;
    for part in ["(written by ", "## Positions (", "## Disagreements\n", "## Next\n"] {
        assert!(exported.contains(part), "no {part} in:\n{exported}");
    }
    assert!(!exported.contains("ALIGNMENT"), "a council has no Judge:\n{exported}");
    let whole = program.run_command(&["show", &id, "--full"]).stdout;
    assert!(whole.contains("REPLIES") && whole.contains(r#"{"summary":"#), "{whole}");
    let brief = program.run_command(&["show", &id]).stdout;
    assert!(!brief.contains("REPLIES"), "{brief}");
}

/// A dialogue that an agent leads has no run; its events are panels, rounds and verdicts.
#[test]
fn watch_follows_a_dialogue_that_an_agent_leads_until_it_is_closed() {
    let program = TestProgram::new();
    let run = |line: &str| {
        let ran = program.run_command(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        ran
    };
    run("dialogue create Talk");
    run("dialogue expert talk ann --role Tester --tier Core --reason Needed");
    let mut command = program.command();
    command.args(["watch", "talk", "--json"]).stdout(std::process::Stdio::piped());
    let watching = command.spawn().unwrap();
    run("dialogue panel talk --round 0 --seat ann");
    let item = json!({"local_id": "ANN-P0001", "label": "A label", "content": "Text.", "contributors": ["ann"]});
    program.write_json("round.json", &json!({"round": 0, "score": 5, "perspectives": [item]}));
    run("dialogue register talk --data round.json");
    run(
        "dialogue verdict talk --verdict-id end --type final --recommendation Go --description Done --vote 1-0",
    );
    let output = String::from_utf8(watching.wait_with_output().unwrap().stdout).unwrap();
    let events: Vec<Value> =
        output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["panel_set", "round_held", "verdict_given"], "{output}");
    assert_eq!(events[1]["score"], 5);
    let page = run("watch talk").stderr;
    assert!(page.contains("round 0: score 5") && page.contains("final verdict"), "{page}");
    assert_eq!(run("replay talk --json").stdout, output);
}

#[test]
fn a_project_with_a_council_yaml_never_rehearses_by_itself() {
    let program = TestProgram::new();
    std::fs::write(program.path().join("council.yaml"), "budget: {usd_max: 1}\n").unwrap();
    let ran = program.run_command(&["ask", "Is it so?"]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.stderr.contains("--rehearse"), "{ran:?}");
    assert_eq!(program.run_command(&["ask", "Is it so?", "--rehearse"]).code, 0);
}
