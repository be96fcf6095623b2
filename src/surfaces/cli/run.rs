//! Entry point of the CLI: parses the arguments, runs the command, and turns its result into output
//! and an exit code.

use std::ffi::OsString;

use clap::{CommandFactory, Parser};

use super::args::{Cli, Command};
use super::report;
use super::session::{Done, Session};
use super::terminal_text::DataForm;
use super::ui::Ui;
use crate::ambient::Machine;
use crate::error::Error;
use crate::protocols::Protocols;

/// Runs the program with these protocols and returns its exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>, protocols: Protocols) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return report::of_parsing(&error, &arguments),
    };
    let mut ui = Ui::new(&cli.global);
    ui.json |= cli.command.is_in_json();
    match run(cli, &ui, protocols) {
        Ok(done) => done.exit_code(),
        // The reader of a stream closed the pipe on purpose.
        Err(error) if error.is_closed_pipe() => 0,
        Err(error) => report::of_error(&ui, &error),
    }
}

fn run(cli: Cli, ui: &Ui, protocols: Protocols) -> Result<Done, Error> {
    if let Some(year) = Machine.impossible_year() {
        return Err(Error::Clock { year });
    }
    let session = Session::new(&cli.global, ui, protocols);
    match cli.command {
        Command::Ask(ask) => ask.run(&session),
        Command::Review(review) => review.run(&session),
        Command::Sweep(sweep) => sweep.run(&session),
        Command::Override(command) => command.run(&session),
        Command::Log(command) => command.run(&session),
        Command::Audit(audit) => audit.run(&session),
        Command::Resume(resume) => resume.run(&session),
        Command::Watch(watch) => watch.run(&session),
        Command::Replay(replay) => replay.run(&session),
        Command::Whisper(whisper) => whisper.run(&session),
        Command::Direct(direct) => direct.run(&session),
        Command::Stop(stop) => stop.run(&session),
        Command::Conclude(conclude) => conclude.run(&session),
        Command::Dialogue(command) => command.run(&session),
        Command::List(list) => list.run(&session),
        Command::Show(show) => show.run(&session),
        Command::Cite(cite) => cite.run(&session),
        Command::Export(export) => export.run(&session),
        Command::Health(health) => health.run(&session),
        Command::Due(due) => due.run(&session),
        Command::Verify(verify) => verify.run(&session),
        Command::CheckModularity(check) => check.run(&session),
        Command::Mcp(mcp) => mcp.run(&session),
        Command::Serve(serve) => serve.run(&session),
        Command::Init(init) => init.run(&session),
        Command::Config(config) => config.run(&session),
        Command::Trust(trust) => trust.run(&session),
        Command::Doctor(doctor) => doctor.run(&session),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "plenary", &mut script);
            ui.print_data(&String::from_utf8_lossy(&script), DataForm::Text)?;
            Ok(Done::Well)
        }
    }
}
