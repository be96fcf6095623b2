//! The binary: hands the command line to the library and returns its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(plenary::surfaces::cli::main(std::env::args_os()))
}
