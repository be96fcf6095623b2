//! Help pages: the grouped list of commands, and `man`. All follow from the clap
//! commands, so a new command cannot be missing. A paragraph of a doc comment that starts with `$ `
//! is an example.

use std::ffi::OsString;
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use clap::builder::Resettable::Reset;
use clap::builder::StyledStr;
use clap::error::ErrorKind;
use clap::{Args, Command, CommandFactory, Subcommand};
use clap_mangen::Man;
use plenary_core::model::text::find_nearest;
use plenary_core::report::terminal::wrap::wrap_line;

use plenary_engine::error::Error;
use plenary_engine::files::read_write::replace_file;
use serde_json::json;

use crate::cli::commands::{
    AskGroup, DialogueGroup, PlenaryArgs, RecordGroup, ReviewGroup, SetupGroup,
};
use crate::cli::first_slips::suggest_command;
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::terminal_text::DataFormat;

/// Longer lines are hard to read.
pub(crate) const WIDTH_MAX: usize = 100;

/// Used if stdout is not a terminal and COLUMNS is not set.
const WIDTH_DEFAULT: usize = 80;

/// Indent of the commands, and the gap between a name and its summary.
const INDENT: usize = 2;

/// Start of a paragraph that is an example.
const EXAMPLE: &str = "$ ";

const HEADING: Style = AnsiColor::Cyan.on_default().bold();
const COMMAND: Style = AnsiColor::Green.on_default();

/// The title of a group, and the clap function that adds its commands.
type CommandGroup = (&'static str, fn(Command) -> Command);

const GROUPS: [CommandGroup; 5] = [
    ("Ask", AskGroup::augment_subcommands),
    ("Review", ReviewGroup::augment_subcommands),
    ("Dialogues", DialogueGroup::augment_subcommands),
    ("Record", RecordGroup::augment_subcommands),
    ("Set up", SetupGroup::augment_subcommands),
];

/// Draws a help page again with groups and headings, and suggests the nearest command for an unknown
/// one. Other commands do not need this, so they start faster.
pub(crate) fn style_help(error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if !is_help {
        return suggest_command(error, arguments);
    }
    let mut command = help_command(terminal_width());
    if !arguments.iter().any(|argument| argument == "-h") {
        let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
        command = open_page(command, &words);
    }
    command.try_get_matches_from(arguments).err().unwrap_or(error)
}

/// The command that the arguments name.
pub(crate) fn typed_command<'a>(root: &'a Command, arguments: &[OsString]) -> &'a Command {
    let words = arguments.iter().filter_map(|word| word.to_str());
    words.fold(root, |command, word| command.find_subcommand(word).unwrap_or(command))
}

/// Puts the whole description on the page of the command that these words name.
fn open_page(command: Command, words: &[&str]) -> Command {
    let mut rest = words.iter();
    match rest.find(|word| command.find_subcommand(word).is_some()) {
        Some(name) => command.mut_subcommand(name, |inner| open_page(inner, rest.as_slice())),
        None => fill_page(command),
    }
}

/// Makes the description and the examples part of the short page, whose options are a table. The
/// long page of clap needs three lines for each option.
fn fill_page(command: Command) -> Command {
    let about = command.get_long_about().cloned();
    let examples = command.get_after_long_help().cloned();
    let mut command = command.long_about(Reset).after_long_help(Reset);
    if let Some(about) = about {
        command = command.about(about);
    }
    if let Some(examples) = examples {
        command = command.after_help(examples);
    }
    command
}

#[expect(clippy::disallowed_methods, reason = "the width of the terminal is not a setting")]
fn terminal_width() -> usize {
    let columns = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    width.or_else(columns).unwrap_or(WIDTH_DEFAULT).clamp(40, WIDTH_MAX)
}

/// The command with the pages that a person reads.
fn help_command(width: usize) -> Command {
    let root = color_headings(collect_examples(PlenaryArgs::command())).term_width(width);
    let options = root.clone().help_template("{options}").render_help().ansi().to_string();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{HEADING}Global options:{HEADING:#}\n{}{{after-help}}",
        draw_groups(width),
        options.trim_end()
    );
    root.help_template(template)
}

/// Moves the examples of each description to a section at the end of its page.
fn collect_examples(command: Command) -> Command {
    let mut command = command.mut_subcommands(collect_examples);
    let about = command.get_long_about().map(ToString::to_string).unwrap_or_default();
    let (examples, text): (Vec<&str>, Vec<&str>) =
        about.split("\n\n").partition(|paragraph| paragraph.starts_with(EXAMPLE));
    if !examples.is_empty() {
        let examples = examples.iter().filter_map(|line| line.strip_prefix(EXAMPLE));
        let examples: String = examples.map(|line| format!("\n  {line}")).collect();
        command = command.long_about(text.join("\n\n"));
        command = command.after_long_help(format!("Examples:{examples}"));
    }
    command
}

/// Gives the first line of each last section the colour of the other headings.
fn color_headings(command: Command) -> Command {
    let color = |text: &StyledStr| {
        let text = text.to_string();
        let (heading, lines) = text.split_once('\n').unwrap_or((&text, ""));
        format!("{HEADING}{heading}{HEADING:#}\n{lines}")
    };
    let always = command.get_after_help().map(color);
    let long = command.get_after_long_help().map(color);
    let mut command = command.mut_subcommands(color_headings);
    if let Some(text) = always {
        command = command.after_help(text);
    }
    if let Some(text) = long {
        command = command.after_long_help(text);
    }
    command
}

/// The commands of each group with their summaries.
fn draw_groups(width: usize) -> String {
    let groups = GROUPS.map(|(title, add)| (title, add(Command::new(title))));
    let names = groups.iter().flat_map(|(_, group)| group.get_subcommands().map(Command::get_name));
    let column = names.map(str::len).max().unwrap_or(0) + 2 * INDENT;
    let mut page = String::new();
    for (title, group) in &groups {
        page.push_str(&format!("{HEADING}{title}:{HEADING:#}\n"));
        for command in group.get_subcommands().filter(|command| !command.is_hide_set()) {
            let summary = command.get_about().map(ToString::to_string).unwrap_or_default();
            let gap = " ".repeat(column - INDENT - command.get_name().len());
            let lines = wrap_line(&summary, width.saturating_sub(column));
            let lines = lines.join(&format!("\n{}", " ".repeat(column)));
            page.push_str(&format!("  {COMMAND}{}{COMMAND:#}{gap}{lines}\n", command.get_name()));
        }
        page.push('\n');
    }
    page
}

/// Print or write the manual pages
///
/// Prints the page of a command, or the main page. Read it with `man -l -`. `--dir DIR` writes all
/// pages, so that `man plenary` and `man plenary-ask` find them.
///
/// $ plenary man | man -l -
///
/// $ plenary man dialogue register | man -l -
///
/// $ plenary man --dir ~/.local/share/man/man1
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command, such as `ask` or `dialogue register` [default: the main page]
    command: Vec<String>,
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

impl ManArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let root = manual_root();
        let Some(dir) = self.dir else {
            let page = render_manual(find_command(&root, &self.command)?)?;
            session.ui.print_data(&page, DataFormat::Text)?;
            return Ok(ExitStatus::Ok);
        };
        let mut pages = Vec::new();
        list_commands(&root, &mut pages);
        for command in &pages {
            let name = format!("{}.1", page_name(command));
            replace_file(&dir.join(name), render_manual(command)?.as_bytes())?;
        }
        let document = json!({ "status": "success", "path": dir, "pages": pages.len() });
        session.ui.print_result(&document, |_| {
            format!("Wrote {} manual pages to {}", pages.len(), dir.display())
        })?;
        Ok(ExitStatus::Ok)
    }
}

/// The command tree with the names of the pages.
fn manual_root() -> Command {
    let mut root = collect_examples(PlenaryArgs::command()).disable_help_subcommand(true);
    root.build();
    root
}

fn find_command<'a>(root: &'a Command, path: &[String]) -> Result<&'a Command, Error> {
    path.iter().try_fold(root, |command, name| {
        command.find_subcommand(name).ok_or_else(|| {
            let nearest = find_command_name(command, name);
            let nearest = nearest.map(|nearest| format!("; did you mean `{nearest}`?"));
            Error::Usage(format!("there is no command `{name}`{}", nearest.unwrap_or_default()))
        })
    })
}

/// The subcommand whose name is nearest to a misspelled one.
pub(crate) fn find_command_name<'a>(command: &'a Command, name: &str) -> Option<&'a str> {
    let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    find_nearest(name, &names)
}

fn list_commands<'a>(command: &'a Command, found: &mut Vec<&'a Command>) {
    found.push(command);
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        list_commands(inner, found);
    }
}

/// `plenary-dialogue-register`.
fn page_name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// The page in the format of `man`. Examples and exit codes keep their lines.
fn render_manual(command: &Command) -> Result<String, Error> {
    let after = command.get_after_long_help().or(command.get_after_help());
    let after = after.map(ToString::to_string).unwrap_or_default();
    let plain = command.clone().after_help(Reset).after_long_help(Reset);
    let page = Man::new(plain).source(concat!("plenary ", env!("CARGO_PKG_VERSION")));
    let mut bytes = Vec::new();
    page.render(&mut bytes).map_err(Error::Output)?;
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if let Some((heading, lines)) = after.split_once('\n') {
        let heading = heading.trim_end_matches(':').to_uppercase();
        let lines = lines.replace('\\', "\\e").replace('-', "\\-");
        text.push_str(&format!(".SH \"{heading}\"\n.nf\n{lines}\n.fi\n"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::Parser;
    use unicode_width::UnicodeWidthStr;

    use super::*;

    fn main_page(width: usize) -> String {
        let page = fill_page(help_command(width)).render_long_help().ansi().to_string();
        anstream::adapter::strip_str(&page).to_string()
    }

    #[test]
    fn the_main_page_lists_every_command_once_in_one_group() {
        let page = main_page(80);
        let groups: Vec<&str> = GROUPS.iter().map(|(title, _)| *title).collect();
        let places: Vec<Option<usize>> =
            groups.iter().map(|title| page.find(&format!("\n{title}:\n"))).collect();
        assert!(places.is_sorted() && places.iter().all(Option::is_some), "{places:?}:\n{page}");
        let listed =
            page.split_once("\nAsk:\n").unwrap().1.split_once("\nGlobal options:\n").unwrap().0;
        let names: Vec<&str> = listed
            .lines()
            .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        let root = PlenaryArgs::command();
        let known: BTreeSet<&str> = root.get_subcommands().map(Command::get_name).collect();
        assert_eq!(names.iter().copied().collect::<BTreeSet<_>>(), known);
        assert_eq!(names.len(), known.len(), "{names:?}");
    }

    #[test]
    fn every_page_fits_its_width() {
        for width in [60, 80, 120] {
            let mut root = help_command(width.min(WIDTH_MAX));
            root.build();
            let mut commands = Vec::new();
            list_commands(&root, &mut commands);
            for command in commands {
                let page = fill_page(command.clone()).render_long_help().to_string();
                let wide = page.lines().find(|line| line.width() > width);
                // Examples and usage lines are commands, which must not wrap.
                let is_command = |line: &&str| line.contains("plenary ");
                let wide = wide.filter(|line| width >= 80 || !is_command(line));
                assert_eq!(wide, None, "{} in {width} columns", page_name(command));
            }
        }
    }

    /// Splits a shell line; quotes join words, and a pipe, a redirection or a comment ends it.
    fn split_shell_line(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut is_quoted = false;
        for letter in line.chars() {
            match letter {
                '"' => is_quoted = !is_quoted,
                '|' | '>' | '#' | '&' if !is_quoted => break,
                ' ' if !is_quoted => words.push(String::new()),
                letter => words.last_mut().unwrap().push(letter),
            }
        }
        words.retain(|word| !word.is_empty());
        words
    }

    #[test]
    fn every_command_has_a_short_summary_a_description_and_examples_that_parse() {
        let root = manual_root();
        let mut commands = Vec::new();
        list_commands(&root, &mut commands);
        let mut faults = Vec::new();
        for command in commands {
            let path = command.get_bin_name().unwrap_or("plenary");
            let summary = command.get_about().map(ToString::to_string).unwrap_or_default();
            let words = summary.split_whitespace().count();
            if !(1..=10).contains(&words) || summary.ends_with('.') {
                faults.push(format!("{path}: {words} words: {summary}"));
            }
            if command.get_long_about().is_none() {
                faults.push(format!("{path}: no description"));
            }
            let after = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
            let examples: Vec<&str> =
                after.lines().map(str::trim).filter(|line| line.starts_with("plenary ")).collect();
            if examples.is_empty() && path != "plenary" {
                faults.push(format!("{path}: no example"));
            }
            for example in examples {
                if example.len() > 78 {
                    faults.push(format!("{path}: over 78 characters: {example}"));
                }
                if let Err(error) = PlenaryArgs::try_parse_from(split_shell_line(example)) {
                    faults.push(format!("{path}: `{example}`: {error}"));
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn every_option_is_explained_in_one_plain_line() {
        let root = manual_root();
        let mut commands = Vec::new();
        list_commands(&root, &mut commands);
        for command in commands {
            for argument in command.get_arguments() {
                let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                let place = format!("{} {}: {help}", page_name(command), argument.get_id());
                assert!(!help.is_empty() && !help.ends_with('.'), "{place}");
            }
        }
    }

    #[test]
    fn a_manual_page_has_its_examples_line_by_line() {
        let root = manual_root();
        let path = ["man".to_owned()];
        let page = render_manual(find_command(&root, &path).unwrap()).unwrap();
        assert!(page.contains(".TH plenary-man 1"), "{page}");
        assert!(page.contains(".SH \"EXAMPLES\"\n.nf\n  plenary man | man \\-l \\-\n"), "{page}");
        assert!(!page.contains("EXTRA") && !page.contains('\u{1b}'), "{page}");
        let error = find_command(&root, &["mann".to_owned()]).unwrap_err();
        assert_eq!(error.to_string(), "there is no command `mann`; did you mean `man`?");
    }
}
