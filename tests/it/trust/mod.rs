//! A project's `council.yaml` that another person may have written: what it cannot do before the
//! user trusts it, and how they do.

mod consent;
mod owners;
mod planted;
mod project;
mod terminal;
mod unencrypted;
