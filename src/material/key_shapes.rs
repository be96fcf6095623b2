//! Whether a text holds a key: by the shapes that keys of known services have.

/// A key by what it starts with and how much of what follows.
struct Shape {
    service: &'static str,
    start: &'static str,
    /// Shorter ones are words of a text, not keys.
    tail_min: usize,
    /// What the tail may hold beside letters and digits.
    also: &'static str,
}

const fn shape(
    service: &'static str,
    start: &'static str,
    tail_min: usize,
    also: &'static str,
) -> Shape {
    Shape { service, start, tail_min, also }
}

/// A service's longer start comes before a shorter one of which it is a part.
const SHAPES: [Shape; 23] = [
    shape("Anthropic", "sk-ant-", 24, "-_"),
    shape("OpenRouter", "sk-or-", 24, "-_"),
    shape("OpenAI", "sk-proj-", 24, "-_"),
    shape("OpenAI", "sk-svcacct-", 24, "-_"),
    shape("OpenAI", "sk-", 32, ""),
    shape("AWS", "AKIA", 16, ""),
    shape("AWS", "ASIA", 16, ""),
    shape("Google", "AIza", 35, "-_"),
    shape("Google", "ya29.", 40, "-_"),
    shape("GitHub", "ghp_", 36, ""),
    shape("GitHub", "gho_", 36, ""),
    shape("GitHub", "ghu_", 36, ""),
    shape("GitHub", "ghs_", 36, ""),
    shape("GitHub", "ghr_", 36, ""),
    shape("GitHub", "github_pat_", 40, "_"),
    shape("GitLab", "glpat-", 20, "-_"),
    shape("Hugging Face", "hf_", 30, ""),
    shape("npm", "npm_", 36, ""),
    shape("Slack", "xoxb-", 24, "-"),
    shape("Slack", "xoxp-", 24, "-"),
    shape("Stripe", "sk_live_", 24, ""),
    shape("Stripe", "rk_live_", 24, ""),
    shape("age", "AGE-SECRET-KEY-", 50, ""),
];

/// Longer than any key's tail; a text that repeats a start is not read over and over.
const TAIL_LOOKED_AT: usize = 200;

/// What key a text holds, as a reason to leave it out.
pub(super) fn reason(text: &str) -> Option<String> {
    if holds_private_key(text) {
        return Some("it holds a private key".to_owned());
    }
    let found = SHAPES.iter().find(|shape| shape.occurs_in(text))?;
    Some(format!("it holds what looks like a key for {}", found.service))
}

impl Shape {
    fn occurs_in(&self, text: &str) -> bool {
        text.match_indices(self.start).any(|(place, start)| {
            let (before, from) = text.split_at(place);
            let inside_a_word = before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            let after = from.get(start.len()..).unwrap_or_default();
            !inside_a_word && self.is_key_tail(after)
        })
    }

    fn is_key_tail(&self, after: &str) -> bool {
        let belongs = |c: char| c.is_ascii_alphanumeric() || self.also.contains(c);
        let tail: String = after.chars().take(TAIL_LOOKED_AT).take_while(|c| belongs(*c)).collect();
        // `sk-ant-xxxxxxxx…` and its like stand in every manual; a real key has digits.
        tail.len() >= self.tail_min
            && tail.contains(|c: char| c.is_ascii_digit())
            && !tail.to_ascii_uppercase().contains("EXAMPLE")
    }
}

/// A key's heading alone is how programs talk about keys; with a body it is one.
fn holds_private_key(text: &str) -> bool {
    /// Headings of an encrypted key stand between the first line and the body.
    const BODY_WITHIN_BYTES: usize = 400;
    const BODY_RUN_MIN: usize = 32;
    const HEADING_BYTES: usize = 40;
    let belongs_to_body = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    text.match_indices("PRIVATE KEY").any(|(place, heading)| {
        let (before, from) = text.split_at(place);
        let opening: String = before.bytes().rev().take(HEADING_BYTES).map(char::from).collect();
        let body = from.bytes().skip(heading.len()).take(BODY_WITHIN_BYTES);
        let body: String = body.map(char::from).collect();
        // Read backwards.
        opening.contains(" NIGEB-----")
            && body.split(|c| !belongs_to_body(c)).any(|run| run.len() >= BODY_RUN_MIN)
    })
}
