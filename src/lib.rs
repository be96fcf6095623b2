//! Plenary: a panel of models argues by a written protocol, and every position,
//! tension, claim and piece of evidence gets an id, an author and a history.
//!
//! Modules, from the core outward. ARCHITECTURE.md is the map.

/// Turns settings and options into a plan: which seats, under which rules.
pub mod convening;
/// Types of the product: ids, lifecycles, journal events, validation errors, the record.
pub mod domain;
/// The run loop: next step, dispatch, journal, resume, budget.
pub mod engine;
/// Renders a record as JSON and Markdown, and escapes untrusted text.
pub mod export;
/// Starts, follows and resumes runs in this process, for the CLI and the servers.
pub mod hosting;
/// The marker language: turns an expert's Markdown into the batch of a round.
pub mod markers;
/// The files sent with a question, and the reason for each file left out.
pub mod material;
/// Checks whether the agent prompts of a host mention the review gate.
pub mod modularity;
/// Parses reply text into typed findings, or returns the exact reason why not.
pub mod normalise;
/// One function per operation, shared by the CLI and the MCP server.
pub mod operations;
/// Renders the messages to a seat, and fences untrusted text in them.
pub mod prompting;
/// The protocols: who is asked what, in which order, and when a run stops.
pub mod protocols;
/// Model providers: dialects, catalogue, transports.
pub mod providers;
/// The rules of the record: turns a request into journal events or validation errors.
pub mod record;
/// The only module with SQL: the store traits and their SQLite backend.
pub mod store;
/// The user interfaces: command line and MCP server.
pub mod surfaces;
/// The verdict log file: sync with the store, and repair.
pub mod verdict_log;

/// Clock and random numbers of the machine.
pub mod ambient;
/// Settings from council.yaml, the environment and the flags.
pub mod config;
/// The error type of the crate, with exit codes, error documents and hints.
pub mod error;
/// Checks where files may be written, and writes them.
pub mod files;
