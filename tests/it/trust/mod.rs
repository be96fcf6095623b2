//! A project's `council.yaml` that another person may have written: what it cannot do before the
//! user trusts it, and how the user does.

mod consent;
mod harness;
mod owners;
mod planted;
mod terminal;
mod unencrypted;
