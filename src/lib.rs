//! Plenary: a panel of models argues by a written protocol, and every position,
//! tension, claim and piece of evidence gets an id, an author and a history.
//!
//! The rooms, from the core outward; ARCHITECTURE.md is the map.

/// From settings and wishes to a table: who sits there, by which rules.
pub mod convening;
/// Words as values: ids, lifecycles, changes, refusals, the record.
pub mod domain;
/// The only loop: next step, dispatch, journal, resume, budget.
pub mod engine;
/// A record as JSON and Markdown, and how foreign text is shown.
pub mod export;
/// Runs in this process, whichever door they came by.
pub mod hosting;
/// The marker language: an expert's Markdown becomes the batch of a round.
pub mod markers;
/// The files a question comes with, and why some are left out.
pub mod material;
/// Whether the agents of a host know of the gate.
pub mod modularity;
/// Reply text becomes typed findings, or an exact reason why not.
pub mod normalise;
/// One function per operation, shared by every door.
pub mod operations;
/// What a seat is sent; all fencing of other people's text.
pub mod prompting;
/// Who is asked what, in which order, and when it stops.
pub mod protocols;
/// The outside models: dialects, catalogue, transports.
pub mod providers;
/// The rules: what a request becomes, or exactly why not.
pub mod record;
/// The only SQL: a trait of domain verbs, SQLite behind it.
pub mod store;
/// The doors: the command line.
pub mod surfaces;
/// The verdict log as a file, brought up to the store and mended.
pub mod verdict_log;

/// Time and chance, from outside.
pub mod ambient;
/// The council's file, the environment and the flags, settled.
pub mod config;
/// What went wrong, as exit code, document and hint.
pub mod error;
/// Where files may be written, and how.
pub mod files;
