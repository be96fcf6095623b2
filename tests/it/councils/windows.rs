//! Context windows: a seat with a small one gets a shorter prompt, and no other seat does.

use serde_json::{Value, json};

use crate::councils::harness::{PARTICIPANTS, TestCouncil};
use crate::kit::{ModelRequest, ScriptedReply};

/// Bytes of the file that is sent with the question.
const FILE_BYTES: usize = 90_000;

fn set_window(settings: &mut Value, seat: &str, tokens: u64) {
    for provider in settings["council"]["providers"].as_array_mut().unwrap() {
        if provider["name"] == seat {
            provider["context_tokens"] = json!(tokens);
        }
    }
}

#[test]
fn a_seat_with_a_small_window_reads_a_shorter_prompt_alone() {
    let council = TestCouncil::with_settings(
        |_| ScriptedReply::Valid,
        |settings| set_window(settings, "bob", 32_768),
    );
    let line = "A line of the file that everybody should read.\n";
    council.program.write_text("notes.txt", &line.repeat(FILE_BYTES / line.len()));
    let ran = council.run_ask(&["--context", "notes.txt"]);
    ran.expect_status("done", 0);
    let sent = council.server.requests();
    let prompts = |seat: &str| -> Vec<&ModelRequest> {
        sent.iter().filter(|seen| seen.model == format!("model-{seat}")).collect()
    };
    for seat in PARTICIPANTS {
        for seen in prompts(seat) {
            let bytes = seen.system.len() + seen.user.len();
            let limit = (32_768 - 8_192 - 1_638) * 3;
            assert_eq!(bytes <= limit, seat == "bob", "{seat}: {bytes} bytes");
            let is_cut = seen.user.contains("bytes left out here");
            assert_eq!(is_cut, seat == "bob", "{seat}");
        }
    }
    let result = ran.document.to_string();
    assert!(result.contains("for a small context window, the files were cut"), "{result}");
    // The others still begin with the same bytes.
    let others = [prompts("ann"), prompts("cid")].concat();
    let shared = &others[0].user[..FILE_BYTES];
    assert!(others.iter().all(|seen| seen.user.starts_with(shared)));
}
