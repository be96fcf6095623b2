//! Scans the prompts of a host's agents for lines that name the review. The `check-modularity`
//! command calls `scan_agents`.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::names::{Name, seen};
use crate::material;

/// Agents folder of a host and the prompt file in each agent's folder.
const AGENTS: &str = "agents";
const PROMPT: &str = "prompt.md";

/// A folder with more entries is not a host.
const AGENTS_MAX: usize = 10_000;

/// Maximum number of listed references per prompt; further ones are only counted.
const LISTED_PER_PROMPT_MAX: usize = 100;

/// Maximum length of a shown line; some prompts consist of one line.
const LINE_CHARS_MAX: usize = 200;

/// Maximum length of the text before the name in a shortened line.
const LEAD_CHARS_MAX: usize = 60;

/// Names to search for, and agents to skip.
#[derive(Debug)]
pub struct Scan<'a> {
    pub names: &'a [Name],
    /// Agents that may know of the review, such as a router that sends work to it.
    pub exempt: &'a [String],
}

#[derive(Debug, thiserror::Error)]
pub enum ModularityError {
    #[error("cannot read `{path}`")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{path}` leads out of the folder")]
    Outside { path: PathBuf },
    #[error("`{path}` holds more than {AGENTS_MAX} entries")]
    TooMany { path: PathBuf },
    #[error("nothing was scanned: `{path}` holds no agent with a `{PROMPT}`")]
    NoPrompt { path: PathBuf },
    #[error("nothing was scanned: every agent in `{path}` is exempt")]
    AllExempt { path: PathBuf },
}

/// Result of a scan, sorted by agent name.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Scanned {
    /// Number of prompts read completely.
    pub scanned: usize,
    pub references: Vec<Reference>,
    /// Number of references beyond the listed ones.
    pub unlisted: usize,
    /// Prompts that could not be read. In a folder that cannot be entered, the prompt may not
    /// exist.
    pub unscanned: Vec<Unscanned>,
    pub exempt: Vec<String>,
    /// Agent folders without a prompt: what these agents know is unknown.
    pub without_prompt: Vec<String>,
    /// Exemptions that match no agent.
    pub unknown_exempt: Vec<String>,
}

/// A line that names the review.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Reference {
    pub agent: String,
    pub path: String,
    /// Line number, from 1.
    pub line: usize,
    /// The first searched name that the line contains.
    pub name: String,
    pub text: String,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Unscanned {
    pub agent: String,
    pub path: String,
    pub reason: String,
}

/// Scans the prompts of a host's agents. It is an error if no prompt was scanned.
pub fn scan(folder: &Path, scan: &Scan<'_>) -> Result<Scanned, ModularityError> {
    let real = real_path(folder)?;
    let agents = folder.join(AGENTS);
    let inside = real_path(&agents)?;
    if !inside.starts_with(&real) {
        return Err(ModularityError::Outside { path: agents });
    }
    let mut found = Scanned::default();
    for agent in agent_folders(&inside, &agents)? {
        let host = Host { real: &real, named: folder };
        host.look(&agent, scan, &mut found);
    }
    let is_known = |name: &&String| !found.exempt.contains(*name);
    found.unknown_exempt = scan.exempt.iter().filter(is_known).cloned().collect();
    match (found.scanned + found.unscanned.len(), found.exempt.is_empty()) {
        (0, true) => Err(ModularityError::NoPrompt { path: agents }),
        (0, false) => Err(ModularityError::AllExempt { path: agents }),
        (1.., _) => Ok(found),
    }
}

fn real_path(path: &Path) -> Result<PathBuf, ModularityError> {
    path.canonicalize()
        .map_err(|source| ModularityError::Unreadable { path: path.to_owned(), source })
}

/// The agent folders sorted by name, links included.
fn agent_folders(real: &Path, named: &Path) -> Result<Vec<PathBuf>, ModularityError> {
    let unreadable = |source| ModularityError::Unreadable { path: named.to_owned(), source };
    let entries: Result<Vec<_>, io::Error> =
        real.read_dir().map_err(unreadable)?.take(AGENTS_MAX + 1).collect();
    let entries = entries.map_err(unreadable)?;
    if entries.len() > AGENTS_MAX {
        return Err(ModularityError::TooMany { path: named.to_owned() });
    }
    let mut folders: Vec<PathBuf> = entries
        .into_iter()
        .map(|entry| entry.path())
        // An entry without readable metadata may be a folder; a plain file is not.
        .filter(|path| path.metadata().map_or(true, |metadata| metadata.is_dir()))
        .collect();
    folders.sort();
    Ok(folders)
}

struct Host<'a> {
    /// The path without links.
    real: &'a Path,
    /// The path as given by the user.
    named: &'a Path,
}

impl Host<'_> {
    fn look(&self, folder: &Path, scan: &Scan<'_>, found: &mut Scanned) {
        let agent = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if scan.exempt.contains(&agent) {
            found.exempt.push(agent);
            return;
        }
        let path = folder.join(PROMPT);
        let is_missing = path.symlink_metadata().is_err_and(|error| is_absence(&error));
        if is_missing && folder.metadata().is_ok() {
            found.without_prompt.push(agent);
            return;
        }
        let shown = self.shown(&agent);
        match material::text_within(self.real, &path) {
            Err(reason) => found.unscanned.push(Unscanned { agent, path: shown, reason }),
            Ok(text) => {
                found.scanned += 1;
                let mut references = references(&agent, &shown, &text, scan.names);
                found.references.extend(references.by_ref().take(LISTED_PER_PROMPT_MAX));
                found.unlisted += references.count();
            }
        }
    }

    /// The path as the user gave it, so that it can be opened from the working folder.
    fn shown(&self, agent: &str) -> String {
        let folder = self.named.to_string_lossy().replace('\\', "/");
        let folder = folder.trim_end_matches('/');
        let inside = format!("{AGENTS}/{agent}/{PROMPT}");
        match folder {
            "." => inside,
            folder => format!("{folder}/{inside}"),
        }
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn references<'a>(
    agent: &'a str,
    path: &'a str,
    text: &'a str,
    names: &'a [Name],
) -> impl Iterator<Item = Reference> {
    let named = |line: &str| names.iter().find_map(|name| Some((name, name.place_in(line)?)));
    (1..).zip(text.lines()).filter_map(move |(line, text)| {
        let (name, place) = named(text)?;
        Some(Reference {
            agent: agent.to_owned(),
            path: path.to_owned(),
            line,
            name: name.spelled().to_owned(),
            text: excerpt(text, place),
        })
    })
}

/// The trimmed line. A long line is shortened to the part around `place`, which counts visible
/// characters; ellipses mark omitted text.
fn excerpt(line: &str, place: usize) -> String {
    if line.chars().count() <= LINE_CHARS_MAX {
        return line.trim().to_owned();
    }
    let count = seen(line).count();
    let start = place.saturating_sub(LEAD_CHARS_MAX);
    let part: String = seen(line).skip(start).take(LINE_CHARS_MAX).collect();
    let lead = if start > 0 { "…" } else { "" };
    let end = if start + LINE_CHARS_MAX < count { "…" } else { "" };
    format!("{lead}{}{end}", part.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_line_the_part_around_the_name_is_shown() {
        let name: Name = "council".parse().unwrap();
        let shown = |line: &str| excerpt(line, name.place_in(line).unwrap());
        assert_eq!(shown("  ask the council  "), "ask the council");
        let (before, after) = ("before ".repeat(50), " after".repeat(50));
        let long = shown(&format!("{before}council{after}"));
        assert!(long.starts_with("…ore before") && long.contains("before council after"), "{long}");
        assert!(long.ends_with('…') && long.chars().count() <= LINE_CHARS_MAX + 2, "{long}");
        // Invisible characters take no space.
        let hidden = "\u{200b}".repeat(500);
        assert_eq!(shown(&format!("ask {hidden}the council")), "ask the council");
    }
}
