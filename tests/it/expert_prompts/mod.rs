//! The prompts of a round's experts: their format, hostile text, and the prompt files.

mod files;
mod format;
mod hostile;
mod prompt_parser;
mod situations;
