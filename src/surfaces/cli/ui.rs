//! The only module that prints: data goes to stdout, messages to stderr.

use std::io::{self, BufRead, IsTerminal, Read, Write};

use serde::Serialize;

use super::args::GlobalArgs;
use super::show::{PageCanvas, PageDetail};
use super::terminal_text::{self, DataFormat};
use crate::error::{Error, to_json_text};

/// Used if the terminal width is unknown.
const WIDTH_DEFAULT: usize = 80;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageLevel {
    Quiet,
    Normal,
    Verbose,
}

#[derive(Debug)]
pub(super) struct TerminalUi {
    pub json: bool,
    pub level: MessageLevel,
}

impl TerminalUi {
    pub(super) fn new(global: &GlobalArgs) -> Self {
        let voice = match (global.quiet, global.verbose) {
            (true, _) => MessageLevel::Quiet,
            (false, true) => MessageLevel::Verbose,
            (false, false) => MessageLevel::Normal,
        };
        Self { json: global.json, level: voice }
    }

    /// Prints a result as one JSON document or as text.
    pub(super) fn print_result<T: Serialize>(
        &self,
        result: &T,
        as_text: impl FnOnce(&T) -> String,
    ) -> Result<(), Error> {
        if self.json {
            return self.print_data(&to_json_text(result)?, DataFormat::Json);
        }
        self.print_page(&as_text(result))
    }

    /// Prints a page. A closed pipe is not an error: the exit code stays the same.
    pub(super) fn print_page(&self, page: &str) -> Result<(), Error> {
        ignore_closed_pipe(write_page(page))
    }

    /// Prints data: unchanged to a pipe or file, escaped to a terminal.
    pub(super) fn print_data(&self, text: &str, form: DataFormat) -> Result<(), Error> {
        ignore_closed_pipe(write_data(text, form))
    }

    /// Prints a part of a longer output. A closed pipe is an error, so that the command stops.
    pub(super) fn stream_page(&self, page: &str) -> Result<(), Error> {
        write_page(page)
    }

    /// Prints a part of longer data, with the same rule.
    pub(super) fn stream_data(&self, text: &str, form: DataFormat) -> Result<(), Error> {
        write_data(text, form)
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.level == MessageLevel::Quiet
    }

    /// Whether to show progress: stderr is a terminal and `--quiet` is not set.
    pub(super) fn is_watched(&self) -> bool {
        io::stderr().is_terminal() && !self.is_quiet()
    }

    /// Whether the command can prompt the user.
    pub(super) fn can_ask(&self) -> bool {
        !self.json && self.is_watched() && io::stdin().is_terminal()
    }

    /// Prints a message unless `--quiet` is set.
    pub(super) fn print_note(&self, text: &str) {
        if self.level != MessageLevel::Quiet {
            print_message(text);
        }
    }

    /// Prints a message only with `--verbose`.
    pub(super) fn print_detail(&self, text: &str) {
        if self.level == MessageLevel::Verbose {
            print_message(text);
        }
    }

    /// Width of a table; unlimited for a pipe or file, so that no cell is cut.
    pub(super) fn table_width(&self) -> usize {
        if io::stdout().is_terminal() { self.terminal_width() } else { usize::MAX }
    }

    /// A brief canvas as wide as the terminal.
    pub(super) fn page_canvas(&self) -> PageCanvas {
        PageCanvas { width: self.terminal_width(), detail: PageDetail::Brief, round: None }
    }

    /// Width of the terminal in columns.
    pub(super) fn terminal_width(&self) -> usize {
        if !io::stdout().is_terminal() {
            return WIDTH_DEFAULT;
        }
        terminal_size::terminal_size().map_or(WIDTH_DEFAULT, |(width, _)| usize::from(width.0))
    }
}

fn ignore_closed_pipe(printed: Result<(), Error>) -> Result<(), Error> {
    match printed {
        Err(error) if error.is_closed_pipe() => Ok(()),
        printed => printed,
    }
}

/// Prints a page and a final newline. `anstream` removes colours where no terminal shows them.
pub(super) fn write_page(page: &str) -> Result<(), Error> {
    write_line(anstream::AutoStream::auto(io::stdout().lock()), &terminal_text::escape_page(page))
}

/// Prints data and a final newline.
pub(super) fn write_data(text: &str, form: DataFormat) -> Result<(), Error> {
    let out = io::stdout();
    match out.is_terminal() {
        true => write_line(out.lock(), &terminal_text::escape_data(text, form)),
        false => write_line(out.lock(), text),
    }
}

fn write_line(mut out: impl Write, text: &str) -> Result<(), Error> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    out.write_all(text.as_bytes())
        .and_then(|()| out.write_all(end.as_bytes()))
        .and_then(|()| out.flush())
        .map_err(Error::Output)
}

/// Prompts at the terminal. Everything except yes means no, also end of input.
pub(super) fn confirm_prompt(question: &str) -> bool {
    print_message(&format!("{question} [y/N]"));
    let mut line = String::new();
    // A valid answer is short; a longer line counts as no.
    const ANSWER_BYTES_MAX: u64 = 256;
    let read = io::stdin().lock().take(ANSWER_BYTES_MAX).read_line(&mut line);
    read.is_ok() && matches!(line.trim().to_lowercase().as_str(), "y" | "yes")
}

/// Prints a message without colours. A failure to write it is ignored.
pub(super) fn print_message(text: &str) {
    write_stderr(&terminal_text::escape_message(text));
}

/// Prints a message with colours. The caller has escaped untrusted text.
pub(super) fn print_styled_message(page: &str) {
    write_stderr(&terminal_text::escape_page(page));
}

fn write_stderr(text: &str) {
    let mut out = anstream::AutoStream::auto(io::stderr().lock());
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n"));
}
