//! Placeholders that manuals, templates and programs use in place of a secret.

/// Substrings that no random secret contains.
const PLACEHOLDER_PARTS: [&str; 18] = [
    "example",
    "placeholder",
    "change_me",
    "change-me",
    "changeme",
    "changeit",
    "redacted",
    "replace_",
    "replace-",
    "replaceme",
    "your_",
    "your-",
    "insert_",
    "insert-",
    "dummy",
    "xxxx",
    "****",
    "....",
];

/// Complete values that manuals use as passwords.
const PLACEHOLDER_VALUES: [&str; 15] = [
    "password", "passwd", "pass", "pwd", "secret", "token", "user", "username", "admin", "root",
    "test", "guest", "postgres", "mysql", "x",
];

/// Prefixes of template variables.
const TEMPLATE_STARTS: [&str; 6] = ["$", "{", "%", "<", "#{", "@@"];

/// Substrings of code that reads a value from elsewhere.
const READ_FROM_ELSEWHERE: [&str; 8] =
    ["${", "{{", "$(", "env.", "environ", "getenv", "secrets.", "var."];

pub(super) fn is_placeholder(secret: &[u8]) -> bool {
    let secret = String::from_utf8_lossy(secret).to_ascii_lowercase();
    PLACEHOLDER_PARTS.iter().chain(&READ_FROM_ELSEWHERE).any(|part| secret.contains(part))
        || PLACEHOLDER_VALUES.contains(&secret.as_str())
        || TEMPLATE_STARTS.iter().any(|start| secret.starts_with(start))
}
