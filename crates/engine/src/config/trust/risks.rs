//! Lists the settings of a project's file that need the user's consent, such as paths that leave
//! the project's folder.
//!
//! **Invariant:** [`risky_settings`] contains every setting that starts a program, that sends a
//! question, file or key to an address the catalogue does not assign to that key, or that accesses
//! a file outside the project. A summary never contains a value of the file; a detail does.

use std::fmt;
use std::path::{Component, Path};

use serde::Serialize;

use crate::config::council_file::{CouncilFile, DeliberatorEntry, ProviderEntry};
use crate::config::error::ConfigProblem;
use crate::config::locate::sqlite_path;
use crate::config::trust::record::OtherOwner;
use crate::files::reserved_names::is_in_repository;
use crate::providers::catalogue::{ProviderRow, find_row, provider_rows};
use crate::providers::http_clients::{is_loopback, origin_of};

/// How a command uses the file. Each level includes the ones before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettingUse {
    /// Prints the settings only.
    Display,
    /// Opens the store and the verdict log.
    Record,
    /// Also reads the files of deliberators.
    Files,
    /// Also calls providers.
    Providers,
}

/// A setting with effects outside the project's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RiskySetting {
    /// Path of the setting, such as `council.providers.mine.command`; `None` for the file itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Effect, without values of the file.
    pub summary: &'static str,
    /// Effect, with values of the file. Escape it: others wrote it.
    pub detail: String,
    #[serde(skip)]
    pub(crate) needed_by: SettingUse,
}

impl RiskySetting {
    /// Converts to a problem, without values of the file.
    pub(crate) fn to_problem(&self) -> ConfigProblem {
        match &self.key {
            Some(key) => ConfigProblem::in_value(key, self.line, self.summary),
            None => ConfigProblem::in_text(None, &self.detail),
        }
    }
}

/// Returns all settings that need consent, in the order of the sections.
pub(crate) fn risky_settings(file: &CouncilFile, folder: &Path) -> Vec<RiskySetting> {
    let mut risks: Vec<RiskySetting> =
        file.providers.iter().flatten().flat_map(provider_risks).collect();
    for (place, seat) in file.deliberators.iter().flatten().enumerate() {
        risks.extend(deliberator_risks(seat, place, folder));
    }
    for key in ["review.log_path", "storage.url"] {
        // An invalid URL is reported elsewhere.
        let text = file.values.get_text(key);
        let path = text.and_then(|text| match key {
            "storage.url" => sqlite_path(text).ok(),
            _ => Some(text),
        });
        let line = file.values.line_of(key).unwrap_or_default();
        risks.extend(path.and_then(|path| {
            let path = Path::new(path);
            path_risk(key, line, ("writes to", WRITES_OUTSIDE), SettingUse::Record, folder, path)
        }));
    }
    risks
}

/// Risk of a file, link or folder that belongs to another user.
pub(crate) fn owner_risk(other: &OtherOwner) -> RiskySetting {
    RiskySetting {
        key: None,
        line: None,
        summary: "belongs to another user",
        detail: format!("the {} belongs to another user (uid {})", other.part, other.uid),
        needed_by: SettingUse::Record,
    }
}

fn provider_risks(provider: &ProviderEntry) -> Vec<RiskySetting> {
    let mut risks = Vec::new();
    let mut add = |field: &str, summary: &'static str, detail: String| {
        risks.push(RiskySetting {
            key: Some(format!("council.providers.{}.{field}", provider.name)),
            line: provider.values.line_of(field),
            summary,
            detail,
            needed_by: SettingUse::Providers,
        });
    };
    if let Some(command) = &provider.command {
        add("command", "runs a program", format!("runs the program `{}`", command.join(" ")));
    }
    if let Some(mcp) = &provider.mcp {
        let words: Vec<&str> = [&mcp.command].into_iter().chain(&mcp.args).map(|w| &**w).collect();
        // Print names only, since values may be secrets.
        let names: Vec<&str> = mcp.env.keys().map(String::as_str).collect();
        let with = if names.is_empty() { "" } else { ", and sets " };
        let detail =
            format!("starts the MCP server `{}`{with}{}", words.join(" "), names.join(", "));
        add("mcp", "starts an MCP server", detail);
    }
    if let Some(model) = provider.model.as_ref().filter(|model| model.starts_with('-')) {
        let detail = format!("names the model `{model}`, which a program may read as an option");
        add("model", "is an option, not a model", detail);
    }
    let row = find_row(provider.name.as_str());
    let address = RequestAddress::for_provider(provider, row);
    if provider.base_url.is_some() && address.is_foreign() {
        let summary = "sends questions and files to an address that is not in the catalogue";
        add("base_url", summary, format!("sends questions and files to {address}"));
    }
    if let Some(variable) = &provider.api_key_env
        && !address.is_entitled_to(variable)
    {
        let summary = "sends a key to an address that this key does not belong to";
        add("api_key_env", summary, format!("sends the value of `{variable}` to {address}"));
    }
    risks
}

/// Address of a provider's requests, from the file or the catalogue.
struct RequestAddress<'a> {
    base_url: Option<&'a str>,
}

impl<'a> RequestAddress<'a> {
    fn for_provider(provider: &'a ProviderEntry, row: Option<&ProviderRow>) -> Self {
        let own = provider.base_url.as_deref();
        Self { base_url: own.or_else(|| Some(row?.base_url)) }
    }

    /// Returns the catalogue rows with exactly this address. A different path is another service.
    fn matching_rows(&self) -> impl Iterator<Item = &'static ProviderRow> {
        provider_rows().iter().filter(|row| Some(row.base_url) == self.base_url)
    }

    /// Whether the address is neither in the catalogue nor on this machine.
    fn is_foreign(&self) -> bool {
        self.matching_rows().next().is_none() && !self.base_url.is_some_and(is_loopback)
    }

    /// Whether the catalogue assigns this variable to this address. Addresses on this machine get
    /// none, because another user may listen on the port.
    fn is_entitled_to(&self, variable: &str) -> bool {
        self.matching_rows().any(|row| row.key_variables.contains(&variable))
    }
}

impl fmt::Display for RequestAddress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.base_url.map(origin_of) {
            Some(Some(origin)) => write!(f, "`{origin}`"),
            Some(None) => f.write_str("an address that cannot be read"),
            None => f.write_str("the provider's program"),
        }
    }
}

fn deliberator_risks(seat: &DeliberatorEntry, place: usize, folder: &Path) -> Vec<RiskySetting> {
    let read = |field: &str, path: &Path| {
        let key = format!("review.deliberators[{place}].{field}");
        let verb = ("reads", "reads a file outside the project's folder");
        path_risk(&key, seat.line, verb, SettingUse::Files, folder, path)
    };
    let prompt = seat.prompt.iter().filter_map(|path| read("prompt", path));
    let context = seat.context_refs.iter().filter_map(|path| read("context_refs", path));
    prompt.chain(context).collect()
}

const WRITES_OUTSIDE: &str = "writes to a file outside the project's folder";

fn path_risk(
    key: &str,
    line: u64,
    (verb, summary): (&str, &'static str),
    needed_by: SettingUse,
    folder: &Path,
    path: &Path,
) -> Option<RiskySetting> {
    let detail = format!("{verb} `{}`, outside the project's folder", path.display());
    let (key, line) = (Some(key.to_owned()), Some(line));
    let risk = RiskySetting { key, line, summary, detail, needed_by };
    (!stays_inside(folder, path)).then_some(risk)
}

/// Whether the path stays in the folder, and out of `.git`, after all links are resolved. A path that
/// does not exist yet is checked by its nearest existing ancestor.
pub(crate) fn stays_inside(folder: &Path, path: &Path) -> bool {
    let climbs = path.components().any(|part| part == Component::ParentDir);
    let Ok(real_folder) = folder.canonicalize() else { return false };
    let full = folder.join(path);
    let Ok(below) = full.strip_prefix(folder) else { return false };
    if climbs || is_in_repository(below) {
        return false;
    }
    for ancestor in full.ancestors() {
        match ancestor.canonicalize() {
            Ok(real) => {
                let below = real.strip_prefix(&real_folder);
                return below.is_ok_and(|below| !is_in_repository(below));
            }
            // Writing through a dangling link creates a file anywhere.
            Err(_) if ancestor.symlink_metadata().is_ok() => return false,
            Err(_) => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::fs::{DirBuilder, File};
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_stays_inside_with_all_its_links() {
        let root = tempfile::tempdir().unwrap();
        let (folder, outside) = (root.path().join("project"), root.path().join("outside"));
        for path in [&folder, &outside, &folder.join("docs")] {
            DirBuilder::new().create(path).unwrap();
        }
        File::create(outside.join("secret")).unwrap();
        File::create(folder.join("docs/policy.md")).unwrap();
        symlink(outside.join("secret"), folder.join("file-link")).unwrap();
        symlink(&outside, folder.join("folder-link")).unwrap();
        symlink(outside.join("later"), folder.join("broken-link")).unwrap();
        symlink(folder.join("docs"), folder.join("inner-link")).unwrap();
        let inner = folder.join("docs/policy.md").to_str().unwrap().to_owned();
        let cases = [
            ("docs/policy.md", true),
            ("docs/new/log.jsonl", true),
            (".plenary/plenary.db", true),
            ("inner-link/policy.md", true),
            (inner.as_str(), true),
            ("../outside/secret", false),
            ("docs/../../outside/secret", false),
            ("docs/../x", false),
            ("/etc/passwd", false),
            ("file-link", false),
            ("folder-link/new", false),
            ("broken-link", false),
            (".git/hooks/post-commit", false),
            ("sub/.GIT/config", false),
        ];
        for (path, expected) in cases {
            assert_eq!(stays_inside(&folder, Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn a_folder_behind_a_link_is_a_folder() {
        let root = tempfile::tempdir().unwrap();
        DirBuilder::new().create(root.path().join("real")).unwrap();
        symlink(root.path().join("real"), root.path().join("link")).unwrap();
        assert!(stays_inside(&root.path().join("link"), Path::new("a/b")));
    }
}
