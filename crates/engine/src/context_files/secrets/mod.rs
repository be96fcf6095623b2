//! Finds secrets in a text: keys, tokens, passwords, and the values of keys in use.
//!
//! The rules are data: the rules of gitleaks (`data/secret-rules.json`, MIT) and our own
//! (`data/own-secret-rules.json`). Each rule is compiled when one of its keywords first occurs.
//!
//! **Invariant:** a finding names the rule and the line. It never repeats the secret.

pub mod decoded_text;
pub mod rule_set;
pub mod scan;
#[cfg(test)]
mod scan_tests;
