//! The binary: passes the command line to the library and returns its exit code.

use std::process::ExitCode;

use mimalloc::MiMalloc;
use plenary::protocols::Protocols;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    // The supervisor of an agent program is this same executable, started again.
    #[cfg(target_os = "linux")]
    if let Some(code) = plenary::providers::run_supervisor(std::env::args_os()) {
        return code;
    }
    plenary::providers::SupervisorBinary::use_this_executable();
    ExitCode::from(plenary::surfaces::cli::run_program(std::env::args_os(), Protocols::built_in()))
}
