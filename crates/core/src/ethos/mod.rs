//! Calibration: the principles and tenets of an organisation, the constraints of a question, and the
//! ethos, the rules that bind one dialogue. Pure.

pub mod authoring;
pub mod calibration_block;
pub mod compliance;
pub mod conflict_ask;
pub mod conflicts;
pub mod library;
pub mod library_document;
pub mod requests;
pub mod rule_set;
pub mod scoring;
pub mod synthesis;
