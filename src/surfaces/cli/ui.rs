//! The only place that prints. Standard output is data, standard error is talk.

use std::io::{self, BufRead, IsTerminal, Read, Write};

use serde::Serialize;

use super::args::Global;
use super::show::{Canvas, Detail};
use super::terminal_text::{self, DataForm};
use crate::error::{Error, document_text};

/// When nothing says how wide the terminal is.
const WIDTH_DEFAULT: usize = 80;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    Quiet,
    Normal,
    Verbose,
}

#[derive(Debug)]
pub(super) struct Ui {
    pub json: bool,
    pub voice: Voice,
}

impl Ui {
    pub(super) fn new(global: &Global) -> Self {
        let voice = match (global.quiet, global.verbose) {
            (true, _) => Voice::Quiet,
            (false, true) => Voice::Verbose,
            (false, false) => Voice::Normal,
        };
        Self { json: global.json, voice }
    }

    /// Prints a result: as one JSON document, or as text.
    pub(super) fn answer<T: Serialize>(
        &self,
        result: &T,
        as_text: impl FnOnce(&T) -> String,
    ) -> Result<(), Error> {
        if self.json {
            return self.print_data(&document_text(result)?, DataForm::Json);
        }
        self.print(&as_text(result))
    }

    /// Prints a page of ours. A reader who closed the pipe has read enough, and that changes
    /// nothing of how the command ends.
    pub(super) fn print(&self, page: &str) -> Result<(), Error> {
        unless_closed(print(page))
    }

    /// Prints data: byte for byte to a program, made visible on a terminal.
    pub(super) fn print_data(&self, text: &str, form: DataForm) -> Result<(), Error> {
        unless_closed(print_data(text, form))
    }

    /// Prints a piece of something long. A pipe that was closed is an error: there is no use in
    /// going on.
    pub(super) fn stream(&self, page: &str) -> Result<(), Error> {
        print(page)
    }

    /// The same for data.
    pub(super) fn stream_data(&self, text: &str, form: DataForm) -> Result<(), Error> {
        print_data(text, form)
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.voice == Voice::Quiet
    }

    /// Whether somebody sits before the terminal and wants to see how it goes.
    pub(super) fn is_watched(&self) -> bool {
        io::stderr().is_terminal() && !self.is_quiet()
    }

    /// Whether a person is there to answer a question.
    pub(super) fn can_ask(&self) -> bool {
        !self.json && self.is_watched() && io::stdin().is_terminal()
    }

    /// Says something a person may want to know.
    pub(super) fn say(&self, text: &str) {
        if self.voice != Voice::Quiet {
            talk(text);
        }
    }

    /// Says something only the curious want to know.
    pub(super) fn detail(&self, text: &str) {
        if self.voice == Voice::Verbose {
            talk(text);
        }
    }

    /// Columns for a table: a program that reads it wants the cells whole.
    pub(super) fn table_width(&self) -> usize {
        if io::stdout().is_terminal() { self.width() } else { usize::MAX }
    }

    /// The whole of a dialogue in short, as wide as the terminal.
    pub(super) fn canvas(&self) -> Canvas {
        Canvas { width: self.width(), detail: Detail::Brief, round: None }
    }

    /// Columns to draw in.
    pub(super) fn width(&self) -> usize {
        if !io::stdout().is_terminal() {
            return WIDTH_DEFAULT;
        }
        terminal_size::terminal_size().map_or(WIDTH_DEFAULT, |(width, _)| usize::from(width.0))
    }
}

fn unless_closed(printed: Result<(), Error>) -> Result<(), Error> {
    match printed {
        Err(error) if error.is_closed_pipe() => Ok(()),
        printed => printed,
    }
}

/// Prints a page, ending in a newline. Colours go away where no terminal shows them.
pub(super) fn print(page: &str) -> Result<(), Error> {
    write_line(anstream::AutoStream::auto(io::stdout().lock()), &terminal_text::page(page))
}

/// Prints data, ending in a newline.
pub(super) fn print_data(text: &str, form: DataForm) -> Result<(), Error> {
    let out = io::stdout();
    match out.is_terminal() {
        true => write_line(out.lock(), &terminal_text::data(text, form)),
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

/// Asks a question at the terminal. Everything but yes is no, an input that ends too.
pub(super) fn confirm(question: &str) -> bool {
    talk(&format!("{question} [y/N]"));
    let mut line = String::new();
    // An answer is a word; a longer line is none.
    const ANSWER_BYTES_MAX: u64 = 256;
    let read = io::stdin().lock().take(ANSWER_BYTES_MAX).read_line(&mut line);
    read.is_ok() && matches!(line.trim().to_lowercase().as_str(), "y" | "yes")
}

/// Says something without colours. A message that cannot be written is no reason to fail.
pub(super) fn talk(text: &str) {
    say_on_stderr(&terminal_text::talk(text));
}

/// Says something in our colours. Text of others in it was made safe.
pub(super) fn talk_in_colour(page: &str) {
    say_on_stderr(&terminal_text::page(page));
}

fn say_on_stderr(text: &str) {
    let mut out = anstream::AutoStream::auto(io::stderr().lock());
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n"));
}
