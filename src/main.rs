//! The binary: hands the command line to the library and returns its exit code.

use std::process::ExitCode;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(plenary::surfaces::cli::main(std::env::args_os()))
}
