//! Finds secrets in a text: keys, tokens, passwords, and the values of keys in use.
//!
//! The rules are data: the rules of gitleaks (`data/secret-rules.json`, MIT) and our own table
//! (`own_rules.rs`). Each rule is compiled when one of its keywords first occurs.
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
