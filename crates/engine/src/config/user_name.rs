//! [`find_user_name`]: the name under which a person's decision is recorded by default.

use std::process::{Command, Stdio};

use crate::config::environment::EnvVariables;

/// Longer names are cut; the log shows one line.
const NAME_CHARS_MAX: usize = 100;

/// The name of Git's author, else of the system's user; `None` if neither is known.
pub fn find_user_name() -> Option<String> {
    let environment = EnvVariables::from_process();
    let named = environment.get("GIT_AUTHOR_NAME").map(str::to_owned);
    // Git's name may come from the repository, the user or the system.
    named
        .or_else(|| ask_program("git", &["config", "--get", "user.name"]))
        .or_else(|| system_name(&environment))
        // A job of cron or in a container has neither variable.
        .or_else(|| ask_program("id", &["-un"]))
        .and_then(|name| clean(&name))
}

fn ask_program(program: &str, arguments: &[&str]) -> Option<String> {
    let asked = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    String::from_utf8(asked.stdout).ok().filter(|_| asked.status.success())
}

fn system_name(environment: &EnvVariables) -> Option<String> {
    ["USER", "LOGNAME"].iter().find_map(|name| environment.get(name)).map(str::to_owned)
}

fn clean(name: &str) -> Option<String> {
    let name: String = name.chars().filter(|letter| !letter.is_control()).collect();
    let name: String = name.trim().chars().take(NAME_CHARS_MAX).collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_short_line() {
        assert_eq!(clean(" Ann\u{1b} Lee\n"), Some("Ann Lee".to_owned()));
        assert_eq!(clean("\n"), None);
        assert_eq!(clean(&"a".repeat(300)).map(|name| name.len()), Some(100));
        let environment = EnvVariables::from_pairs([("LOGNAME", "bob")]);
        assert_eq!(system_name(&environment), Some("bob".to_owned()));
    }
}
