//! Entry point of the CLI: parses the arguments, runs the command, and turns its result into output
//! and an exit code.

use std::ffi::OsString;

use clap::{CommandFactory, Parser};

use super::args::{CliCommand, PlenaryArgs};
use super::report;
use super::session::{CliSession, ExitStatus};
use super::terminal_text::DataFormat;
use super::ui::TerminalUi;
use crate::ambient::RealSystem;
use crate::error::Error;
use crate::protocols::Protocols;

/// Runs the program with these protocols and returns its exit code.
pub fn run_program(arguments: impl IntoIterator<Item = OsString>, protocols: Protocols) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let cli = match PlenaryArgs::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return report::report_parse_error(&error, &arguments),
    };
    let mut ui = TerminalUi::new(&cli.global);
    ui.json |= cli.command.wants_json();
    match run_command(cli, &ui, protocols) {
        Ok(done) => done.exit_code(),
        // The reader of a stream closed the pipe on purpose.
        Err(error) if error.is_closed_pipe() => 0,
        Err(error) => report::report_error(&ui, &error),
    }
}

fn run_command(
    cli: PlenaryArgs,
    ui: &TerminalUi,
    protocols: Protocols,
) -> Result<ExitStatus, Error> {
    if let Some(year) = RealSystem.impossible_year() {
        return Err(Error::Clock { year });
    }
    let session = CliSession::new(&cli.global, ui, protocols);
    match cli.command {
        CliCommand::Ask(ask) => ask.run(&session),
        CliCommand::Review(review) => review.run(&session),
        CliCommand::Sweep(sweep) => sweep.run(&session),
        CliCommand::Override(command) => command.run(&session),
        CliCommand::Log(command) => command.run(&session),
        CliCommand::Audit(audit) => audit.run(&session),
        CliCommand::Resume(resume) => resume.run(&session),
        CliCommand::Watch(watch) => watch.run(&session),
        CliCommand::Replay(replay) => replay.run(&session),
        CliCommand::Whisper(whisper) => whisper.run(&session),
        CliCommand::Direct(direct) => direct.run(&session),
        CliCommand::Stop(stop) => stop.run(&session),
        CliCommand::Conclude(conclude) => conclude.run(&session),
        CliCommand::Dialogue(command) => command.run(&session),
        CliCommand::List(list) => list.run(&session),
        CliCommand::Show(show) => show.run(&session),
        CliCommand::Cite(cite) => cite.run(&session),
        CliCommand::Export(export) => export.run(&session),
        CliCommand::Health(health) => health.run(&session),
        CliCommand::Due(due) => due.run(&session),
        CliCommand::Verify(verify) => verify.run(&session),
        CliCommand::CheckModularity(check) => check.run(&session),
        CliCommand::Mcp(mcp) => mcp.run(&session),
        CliCommand::Serve(serve) => serve.run(&session),
        CliCommand::Init(init) => init.run(&session),
        CliCommand::Config(config) => config.run(&session),
        CliCommand::Trust(trust) => trust.run(&session),
        CliCommand::Doctor(doctor) => doctor.run(&session),
        CliCommand::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut PlenaryArgs::command(), "plenary", &mut script);
            ui.print_data(&String::from_utf8_lossy(&script), DataFormat::Text)?;
            Ok(ExitStatus::Ok)
        }
    }
}
