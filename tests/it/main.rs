//! The integration suite: one binary, a file per subject.

#![expect(unreachable_pub, reason = "the kit is shared by all files of this one binary")]

mod kit;

mod contract;
mod lifecycle;
mod operations;
mod processes;
mod properties;
mod seed;
mod tidy;
mod verdicts;
