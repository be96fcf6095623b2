//! Every reply of the server, rendered before the benchmark starts.

use std::time::Instant;

use plenary_engine::providers::transport::Dialect;
use serde_json::Value;

use crate::kit::{ModelRequest, ScriptedReply, ServerAction};
use crate::measure::BenchmarkResult;

/// A council of three has three letters.
const LETTERS: [char; 3] = ['A', 'B', 'C'];

/// The end of the request path identifies the dialect.
const DIALECTS: [(&str, Dialect); 3] = [
    ("/chat/completions", Dialect::OpenAi),
    ("/messages", Dialect::Anthropic),
    (":streamGenerateContent?alt=sse", Dialect::Gemini),
];

/// How the instructions of each role start.
const OPENINGS: [&str; 3] = ["You are a participant", "You are a reviewer", "You are the chair"];

/// A rendered HTTP reply and the kind of request it answers.
#[derive(Debug)]
struct PreparedReply {
    path_end: &'static str,
    opening: &'static str,
    /// Letters of the opinions shown in the request.
    shown_letters: Vec<char>,
    answer: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct PreparedReplies(Vec<PreparedReply>);

impl PreparedReplies {
    pub(crate) fn prepare_all() -> BenchmarkResult<Self> {
        let mut all = Vec::new();
        for (path_end, dialect) in DIALECTS {
            for opening in OPENINGS {
                for shown in letter_subsets() {
                    let answer = render_answer(dialect, opening, &shown)?;
                    all.push(PreparedReply { path_end, opening, shown_letters: shown, answer });
                }
            }
        }
        Ok(Self(all))
    }

    /// Returns the reply to a request by a few text searches, without parsing it. Requests that are
    /// not ours, such as the bare client's, get the first reply.
    pub(crate) fn find_reply(&self, path: &str, body: &str) -> Option<&[u8]> {
        let shows = |letter: &char| body.contains(&format!("BEGIN material OPINION {letter} "));
        let shown: Vec<char> = LETTERS.into_iter().filter(shows).collect();
        let fits = |prepared: &&PreparedReply| {
            path.ends_with(prepared.path_end)
                && prepared.shown_letters == shown
                && body.contains(prepared.opening)
        };
        let fitting = self.0.iter().find(fits).or(self.0.first());
        fitting.map(|prepared| prepared.answer.as_slice())
    }
}

/// Every subset of the letters, from none to all.
fn letter_subsets() -> impl Iterator<Item = Vec<char>> {
    (0..1_usize << LETTERS.len()).map(|choice| {
        let chosen = LETTERS.iter().enumerate().filter(|(place, _)| choice >> place & 1 == 1);
        chosen.map(|(_, letter)| *letter).collect()
    })
}

/// Renders head and body of the reply to a synthetic request.
fn render_answer(dialect: Dialect, opening: &str, shown: &[char]) -> BenchmarkResult<Vec<u8>> {
    let seen = ModelRequest {
        dialect,
        path: String::new(),
        headers: Vec::new(),
        body: Value::Null,
        model: "test-model".to_owned(),
        system: opening.to_owned(),
        user: shown.iter().map(|letter| format!("Opinion {letter}.")).collect(),
        structured: true,
        streamed: false,
        nth: 1,
        nth_of_model: 1,
        received_at: Instant::now(),
    };
    let (_, ServerAction::Respond { body, .. }) = ScriptedReply::Valid.into_action(&seen) else {
        return Err("a fitting answer is not one that can be given".into());
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    Ok([head.as_bytes(), &body].concat())
}
