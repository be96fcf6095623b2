//! Scans the prompts of a host's agents for lines that name the review. The `check-modularity`
//! command calls `scan_agents`.

use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use plenary_core::model::text::is_invisible;
use serde::{Serialize, Serializer};

use crate::context_files::read::read_text_within;

/// Agents folder of a host and the prompt file in each agent's folder.
const AGENTS_FOLDER: &str = "agents";
const PROMPT_FILE: &str = "prompt.md";

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
pub struct AgentScan<'a> {
    pub names: &'a [ReviewName],
    /// Agents that may know of the review, such as a router that sends work to it.
    pub exempt: &'a [String],
}

#[derive(Debug, thiserror::Error)]
pub enum AgentCheckError {
    #[error("cannot read `{path}`")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{path}` is a link to another folder")]
    Outside { path: PathBuf },
    #[error("`{path}` has more than {AGENTS_MAX} entries")]
    TooMany { path: PathBuf },
    #[error("nothing was scanned: `{path}` has no agent with a `{PROMPT_FILE}`")]
    NoPrompt { path: PathBuf },
    #[error("nothing was scanned: every agent in `{path}` is exempt")]
    AllExempt { path: PathBuf },
}

/// Result of a scan, sorted by agent name.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct AgentScanReport {
    /// Number of prompts read completely.
    pub scanned: usize,
    pub references: Vec<ReviewMention>,
    /// Number of references beyond the listed ones.
    pub unlisted: usize,
    /// Prompts that could not be read. In a folder that cannot be entered, the prompt may not
    /// exist.
    pub unscanned: Vec<UnreadPrompt>,
    pub exempt: Vec<String>,
    /// Agent folders without a prompt: what these agents know is unknown.
    pub without_prompt: Vec<String>,
    /// Exemptions that match no agent.
    pub unknown_exempt: Vec<String>,
}

/// A line that names the review.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct ReviewMention {
    pub agent: String,
    pub path: String,
    /// Line number, from 1.
    pub line: usize,
    /// The first searched name that the line contains.
    pub name: String,
    pub text: String,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct UnreadPrompt {
    pub agent: String,
    pub path: String,
    pub reason: String,
}

/// Scans the prompts of a host's agents. It is an error if no prompt was scanned.
pub fn scan_agents(
    folder: &Path,
    scan: &AgentScan<'_>,
) -> Result<AgentScanReport, AgentCheckError> {
    let real = real_path(folder)?;
    let agents = folder.join(AGENTS_FOLDER);
    let inside = real_path(&agents)?;
    if !inside.starts_with(&real) {
        return Err(AgentCheckError::Outside { path: agents });
    }
    let mut found = AgentScanReport::default();
    for agent in list_agent_folders(&inside, &agents)? {
        let host = HostFolder { real: &real, named: folder };
        host.scan_agent(&agent, scan, &mut found);
    }
    let is_known = |name: &&String| !found.exempt.contains(*name);
    found.unknown_exempt = scan.exempt.iter().filter(is_known).cloned().collect();
    match (found.scanned + found.unscanned.len(), found.exempt.is_empty()) {
        (0, true) => Err(AgentCheckError::NoPrompt { path: agents }),
        (0, false) => Err(AgentCheckError::AllExempt { path: agents }),
        (1.., _) => Ok(found),
    }
}

fn real_path(path: &Path) -> Result<PathBuf, AgentCheckError> {
    path.canonicalize()
        .map_err(|source| AgentCheckError::Unreadable { path: path.to_owned(), source })
}

/// The agent folders sorted by name, links included.
fn list_agent_folders(real: &Path, named: &Path) -> Result<Vec<PathBuf>, AgentCheckError> {
    let unreadable = |source| AgentCheckError::Unreadable { path: named.to_owned(), source };
    let entries: Result<Vec<_>, io::Error> =
        real.read_dir().map_err(unreadable)?.take(AGENTS_MAX + 1).collect();
    let entries = entries.map_err(unreadable)?;
    if entries.len() > AGENTS_MAX {
        return Err(AgentCheckError::TooMany { path: named.to_owned() });
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

struct HostFolder<'a> {
    /// The path without links.
    real: &'a Path,
    /// The path as given by the user.
    named: &'a Path,
}

impl HostFolder<'_> {
    fn scan_agent(&self, folder: &Path, scan: &AgentScan<'_>, found: &mut AgentScanReport) {
        let agent = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if scan.exempt.contains(&agent) {
            found.exempt.push(agent);
            return;
        }
        let path = folder.join(PROMPT_FILE);
        let is_missing = path.symlink_metadata().is_err_and(|error| is_not_found(&error));
        if is_missing && folder.metadata().is_ok() {
            found.without_prompt.push(agent);
            return;
        }
        let shown = self.display_path(&agent);
        match read_text_within(self.real, &path) {
            Err(reason) => found.unscanned.push(UnreadPrompt { agent, path: shown, reason }),
            Ok(text) => {
                found.scanned += 1;
                let mut references = find_mentions(&agent, &shown, &text, scan.names);
                found.references.extend(references.by_ref().take(LISTED_PER_PROMPT_MAX));
                found.unlisted += references.count();
            }
        }
    }

    /// The path as the user gave it, so that it can be opened from the working folder.
    fn display_path(&self, agent: &str) -> String {
        let folder = self.named.to_string_lossy().replace('\\', "/");
        let folder = folder.trim_end_matches('/');
        let inside = format!("{AGENTS_FOLDER}/{agent}/{PROMPT_FILE}");
        match folder {
            "." => inside,
            folder => format!("{folder}/{inside}"),
        }
    }
}

fn is_not_found(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn find_mentions<'a>(
    agent: &'a str,
    path: &'a str,
    text: &'a str,
    names: &'a [ReviewName],
) -> impl Iterator<Item = ReviewMention> {
    let named = |line: &str| names.iter().find_map(|name| Some((name, name.find_in(line)?)));
    (1..).zip(text.lines()).filter_map(move |(line, text)| {
        let (name, place) = named(text)?;
        Some(ReviewMention {
            agent: agent.to_owned(),
            path: path.to_owned(),
            line,
            name: name.as_written().to_owned(),
            text: excerpt_around(text, place),
        })
    })
}

/// The trimmed line. A long line is shortened to the part around `place`, which counts visible
/// characters; ellipses mark omitted text.
fn excerpt_around(line: &str, place: usize) -> String {
    if line.chars().count() <= LINE_CHARS_MAX {
        return line.trim().to_owned();
    }
    let count = visible_chars(line).count();
    let start = place.saturating_sub(LEAD_CHARS_MAX);
    let part: String = visible_chars(line).skip(start).take(LINE_CHARS_MAX).collect();
    let lead = if start > 0 { "…" } else { "" };
    let end = if start + LINE_CHARS_MAX < count { "…" } else { "" };
    format!("{lead}{}{end}", part.trim())
}

/// Default names: the name in the specification and the name of this program. They also match its
/// files (`council.yaml`, `council_log.jsonl`). The seats are not listed, because a host may have
/// its own skeptic or adjudicator.
pub const DEFAULT_REVIEW_NAMES: [&str; 2] = ["council", "plenary"];

/// Maximum length of a name.
const NAME_CHARS_MAX: usize = 100;

/// A name to search for, ignoring case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewName {
    spelled: String,
    folded: Vec<char>,
}

impl ReviewName {
    pub fn as_written(&self) -> &str {
        &self.spelled
    }

    /// Position of the name as a whole word, counted in visible characters. Invisible characters
    /// are ignored.
    pub(crate) fn find_in(&self, line: &str) -> Option<usize> {
        let letters: Vec<char> = visible_chars(line).collect();
        let folded: Vec<char> = letters.iter().copied().map(fold_case).collect();
        let places = folded.windows(self.folded.len()).enumerate();
        places
            .filter(|(_, window)| *window == self.folded.as_slice())
            .find(|(start, window)| is_whole_word(&letters, *start, start + window.len()))
            .map(|(start, _)| start)
    }
}

impl FromStr for ReviewName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spelled = text.trim();
        if spelled.is_empty() || spelled.chars().any(is_invisible) {
            return Err("write a word that the gate is called by");
        }
        if spelled.chars().count() > NAME_CHARS_MAX {
            return Err("a name has a hundred characters at most");
        }
        Ok(Self { spelled: spelled.to_owned(), folded: spelled.chars().map(fold_case).collect() })
    }
}

impl Serialize for ReviewName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.spelled)
    }
}

/// The visible characters of a line, and whitespace.
pub(crate) fn visible_chars(line: &str) -> impl Iterator<Item = char> {
    line.chars().filter(|letter| letter.is_whitespace() || !is_invisible(*letter))
}

fn fold_case(letter: char) -> char {
    letter.to_lowercase().next().unwrap_or(letter)
}

/// Whether the range is a whole word, optionally with a plural `s`. Parts of identifiers count as
/// words: `council_log`, `CouncilReview`, `toCouncil`.
fn is_whole_word(letters: &[char], start: usize, end: usize) -> bool {
    let at = |place: Option<usize>| place.and_then(|place| letters.get(place)).copied();
    let [before, first] = [start.checked_sub(1), Some(start)].map(at);
    let [last, after, further] = [end.checked_sub(1), Some(end), Some(end + 1)].map(at);
    let ends = is_word_boundary(last, after)
        || after.is_some_and(|letter| matches!(letter, 's' | 'S'))
            && is_word_boundary(after, further);
    is_word_boundary(before, first) && ends
}

/// Whether a word boundary is possible between two characters: if one of them has no case, or a
/// lower-case letter precedes a capital.
fn is_word_boundary(before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return true };
    let is_cased = |letter: char| letter.is_lowercase() || letter.is_uppercase();
    !is_cased(before) || !is_cased(after) || (before.is_lowercase() && after.is_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_line_the_part_around_the_name_is_shown() {
        let name: ReviewName = "council".parse().unwrap();
        let shown = |line: &str| excerpt_around(line, name.find_in(line).unwrap());
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

#[cfg(test)]
mod names_tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, line: &str, expected: bool) {
        let name: ReviewName = name.parse().unwrap();
        assert_eq!(name.find_in(line).is_some(), expected, "{} in {line:?}", name.as_written());
    }

    #[test]
    fn a_name_is_found_as_a_word_in_any_case() {
        for line in [
            "council",
            "Ask the Council.",
            "the COUNCIL's verdict",
            "two councils, one gate",
            "append to council_log.jsonl",
            "see `council.yaml`",
            "a council-approved text",
            "call CouncilReview() or sendToCouncil",
            "council2",
            "2council",
            "请council看",
            "the coun\u{200b}cil\u{ad}",
            "the\tcouncil\tdecides",
        ] {
            check("council", line, true);
        }
    }

    #[test]
    fn a_part_of_another_word_is_no_name() {
        for line in ["", "counsel", "councillor", "COUNCILLOR", "supercouncil", "councilsman"] {
            check("council", line, false);
        }
    }

    #[test]
    fn a_name_may_be_more_than_a_word() {
        check("the gate", "Past The Gate?", true);
        check("the gate", "the gatehouse", false);
        check("c++", "in C++11", true);
        check("СОВЕТ", "спроси совет.", true);
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for text in ["", "  ", "a\nb", "a\u{200b}b", &"x".repeat(101)] {
            assert!(text.parse::<ReviewName>().is_err(), "{text:?}");
        }
        assert_eq!(" council ".parse::<ReviewName>().unwrap().as_written(), "council");
    }
}
