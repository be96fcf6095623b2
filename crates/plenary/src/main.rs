//! The binary: passes the command line to the library and returns its exit code.

use std::process::ExitCode;

use mimalloc::MiMalloc;
use plenary_core::protocols::protocol::Protocols;
use plenary_engine::providers::process::supervisor::SupervisorBinary;
use plenary_engine::providers::process::supervisor_main::run_supervisor;

use plenary::cli::commands::run_program;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    // The supervisor of an agent program is this same executable, started again.
    #[cfg(target_os = "linux")]
    if let Some(code) = run_supervisor(std::env::args_os()) {
        return code;
    }
    SupervisorBinary::use_this_executable();
    ExitCode::from(run_program(std::env::args_os(), Protocols::built_in()))
}
