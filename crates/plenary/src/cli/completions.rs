//! `completions`: the script that clap generates for a shell, with the ids of dialogues added.
//!
//! The script calls `plenary list --ids` when the shell completes an id, so it offers the dialogues
//! of the current project.

use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use plenary_engine::error::Error;

use crate::cli::commands::PlenaryArgs;
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::terminal_text::DataFormat;

/// Print a completion script for a shell
///
/// The shell then completes commands, options and the ids of dialogues when you press Tab. bash, zsh
/// and fish show the titles beside the ids.
///
/// $ plenary completions bash > ~/.local/share/bash-completion/completions/plenary
///
/// $ plenary completions fish > ~/.config/fish/completions/plenary.fish
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let script = completion_script(self.shell, PlenaryArgs::command());
        session.ui.print_data(&script, DataFormat::Text)?;
        Ok(ExitStatus::Ok)
    }
}

fn completion_script(shell: Shell, mut root: Command) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut root, "plenary", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let commands = list_id_commands(&root);
    match shell {
        Shell::Bash => format!("{script}\n{}", bash_ids(&root, &commands)),
        Shell::Zsh => zsh_ids(&script),
        Shell::Fish => format!("{script}\n{}", fish_ids(&commands)),
        // The other shells complete commands and options.
        Shell::Elvish | Shell::PowerShell | _ => script,
    }
}

/// Names of positional arguments that take a dialogue.
const ID_ARGUMENTS: [&str; 3] = ["id", "ids", "verdict_id"];

/// Options that take a dialogue, behind their command.
const ID_OPTIONS: [&str; 3] = ["ask --after", "list --after", "cite --dialogue"];

/// The commands that take a dialogue, such as `show` and `dialogue show`.
fn list_id_commands(root: &Command) -> Vec<String> {
    let mut found = Vec::new();
    for command in root.get_subcommands() {
        if takes_id(command) {
            found.push(command.get_name().to_owned());
        }
        let inner = command.get_subcommands().filter(|inner| takes_id(inner));
        found.extend(inner.map(|inner| format!("{} {}", command.get_name(), inner.get_name())));
    }
    found
}

fn takes_id(command: &Command) -> bool {
    let mut positionals = command.get_positionals();
    positionals.any(|argument| ID_ARGUMENTS.contains(&argument.get_id().as_str()))
}

/// bash has no descriptions: the titles stand behind the ids until one id is left. The command is
/// found behind the options that stand before it.
const BASH_IDS: &str = r#"_plenary_ids() {
    _plenary "$@"
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" at=1 words id title
    while [[ ${at} -lt ${COMP_CWORD} && "${COMP_WORDS[at]}" == -* ]]; do
        case "${COMP_WORDS[at]}" in
            VALUED) ((at += 2)) ;;
            *) ((at += 1)) ;;
        esac
    done
    words="${COMP_WORDS[at]}"
    case "${words}" in
        GROUPS) words+=" ${COMP_WORDS[at+1]}" ;;
    esac
    if [[ "${prev}" == -* ]]; then
        case "${words} ${prev}" in
            OPTIONS) ;;
            *) return ;;
        esac
    else
        case "${words}" in
            COMMANDS) ;;
            *) return ;;
        esac
    fi
    [[ "${cur}" == -* || ${at} -ge ${COMP_CWORD} ]] && return
    local -a ids=() shown=()
    while IFS=$'\t' read -r id title; do
        if [[ "${id}" == "${cur}"* ]]; then
            ids+=("${id}")
            shown+=("${id}  ${title}")
        fi
    done < <(plenary list --ids 2>/dev/null; [[ -n "${cur}" ]] && plenary list --ids --whole 2>/dev/null)
    [[ "${cur}" == l* && latest == "${cur}"* ]] && ids+=(latest) && shown+=("latest  the newest")
    [[ ${#ids[@]} -eq 0 ]] && return
    if [[ ${#ids[@]} -eq 1 ]]; then
        COMPREPLY=("${ids[0]}")
    else
        COMPREPLY=("${shown[@]}")
    fi
}
complete -F _plenary_ids -o nosort -o bashdefault -o default plenary
"#;

fn bash_ids(root: &Command, commands: &[String]) -> String {
    let quoted = |names: Vec<String>| {
        names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join("|")
    };
    let groups = commands.iter().filter_map(|name| name.split_once(' '));
    let mut groups: Vec<String> = groups.map(|(group, _)| group.to_owned()).collect();
    groups.dedup();
    BASH_IDS
        .replace("VALUED", &quoted(list_valued_options(root)))
        .replace("GROUPS", &quoted(groups))
        .replace("OPTIONS", &quoted(ID_OPTIONS.map(str::to_owned).to_vec()))
        .replace("COMMANDS", &quoted(commands.to_vec()))
}

/// The options of all commands that take a value, so that their value is not taken for a command.
fn list_valued_options(root: &Command) -> Vec<String> {
    let valued = root.get_arguments().filter(|argument| argument.get_action().takes_values());
    valued.filter_map(|argument| Some(format!("--{}", argument.get_long()?))).collect()
}

const ZSH_IDS: &str = r#"_plenary_dialogues() {
    local -a found
    local id title
    while IFS=$'\t' read -r id title; do
        found+=("${id}:${title}")
    done < <(plenary list --ids 2>/dev/null)
    _describe -V 'dialogue' found
}

"#;

/// zsh completes an argument by the function that its line names.
fn zsh_ids(script: &str) -> String {
    let complete_id = |line: &str| {
        let is_id = ID_ARGUMENTS.iter().any(|name| line.contains(&format!(":{name} -- ")));
        match line.strip_suffix(":_default' \\").filter(|_| is_id) {
            Some(start) => format!("{start}:_plenary_dialogues' \\\n"),
            None => format!("{line}\n"),
        }
    };
    let script: String = script.lines().map(complete_id).collect();
    match script.split_once("\n\n") {
        Some((head, rest)) => format!("{head}\n\n{ZSH_IDS}{rest}"),
        None => script,
    }
}

/// fish shows the text after a tab as the description.
fn fish_ids(commands: &[String]) -> String {
    let condition = |name: &String| {
        let seen = name.split(' ').map(|word| format!("__fish_seen_subcommand_from {word}"));
        seen.collect::<Vec<_>>().join("; and ")
    };
    let line = |name: &String| {
        let condition = condition(name);
        format!(
            "complete -c plenary -n \"{condition}\" -f -k -a \"(plenary list --ids 2>/dev/null)\"\n"
        )
    };
    commands.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_take_a_dialogue_complete_its_id() {
        let commands = list_id_commands(&PlenaryArgs::command());
        for name in ["show", "resume", "cite", "override", "due record", "dialogue register"] {
            assert!(commands.iter().any(|known| known == name), "{name}: {commands:?}");
        }
        for name in ["ask", "list", "doctor", "dialogue create"] {
            assert!(commands.iter().all(|known| known != name), "{name}: {commands:?}");
        }
    }

    #[test]
    fn the_scripts_of_three_shells_ask_for_ids() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = completion_script(shell, PlenaryArgs::command());
            assert!(script.contains("plenary list --ids"), "{shell}:\n{script}");
        }
        let zsh = completion_script(Shell::Zsh, PlenaryArgs::command());
        let lines: Vec<&str> =
            zsh.lines().filter(|line| line.contains(":_plenary_dialogues'")).collect();
        assert!(lines.len() > 15, "{lines:?}");
        assert!(zsh.starts_with("#compdef plenary\n"), "{zsh}");
    }
}
