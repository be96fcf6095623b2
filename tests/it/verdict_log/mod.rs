//! The verdict log: its rows, the file written from them, and the commands on both.

mod damaged_files;
mod file_harness;
mod file_writes;
mod import;
mod killed;
mod log_command;
mod overrides;
mod program_harness;
mod repair;
mod rows;
