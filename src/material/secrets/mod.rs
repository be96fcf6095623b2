//! Whether a text holds a secret: a key, a token, a password, or the value of a key in use.
//!
//! The rules are data: gitleaks' set (`data/secret-rules.json`, MIT) and a table of our own
//! (`own_rules.rs`). They are compiled when the first text is scanned, each rule when one of its
//! keywords occurs.
//!
//! **Invariant:** a finding names the rule and the line. It never repeats the secret.

mod decoded_text;
mod own_rules;
mod placeholder;
mod rule_set;
mod scan;
mod secret_values;
#[cfg(test)]
mod tests;

pub(super) use scan::exclusion_reason;
pub use secret_values::SecretValues;
