//! Files that an export must not write: names that programs act on, and the files of a store.
//!
//! Existing files are already safe, because only files of Plenary are replaced. The table of names
//! covers files that do not exist yet. An export contains text of models and callers, and must not
//! become an instruction to an agent or an input of a build tool.
//!
//! Code that writes outside a store must avoid all of its paths, so the functions here are the only
//! list of them.

use std::path::{Component, Path, PathBuf};

use crate::files::allowed_folders::PathObjection;

/// Files that Plenary itself reads in any folder.
const OWN_FILE_NAMES: [&str; 2] = ["council.yaml", ".councilignore"];

/// Plenary's folder, the only dotted name that an export may use.
const OWN_FOLDER: &str = ".plenary";

/// Names that agents and build tools look for, lower-case and up to the first dot: `agents` matches
/// AGENTS.md and AGENTS.override.md. First instructions to agents, then settings of agents and
/// editors, then build tools and package managers.
const RESERVED_STEMS: [&str; 3] = [
    "agent agents claude codex conventions copilot copilot-instructions crush cursor gemini \
     instructions jules memory prompt qwen replit rules skill system warp",
    "claude_desktop_config devcontainer gemini-extension hooks launch marketplace mcp \
     opencode plugin settings tasks",
    "composer deno dockerfile gnumakefile jenkinsfile justfile makefile nodemon package \
     procfile rakefile tsconfig vagrantfile",
];

/// Endings of instruction files, such as `review.prompt.md`.
const RESERVED_ENDINGS: [&str; 5] =
    [".prompt.md", ".instructions.md", ".agent.md", ".chatmode.md", ".config.json"];

/// Whether Plenary reads a file of that name. No permission allows to write it.
pub(crate) fn is_own_file_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    OWN_FILE_NAMES.iter().any(|obeyed| name.eq_ignore_ascii_case(obeyed))
}

/// Rejects path components that begin with a dot, because tools act on such files.
pub(crate) fn objection_to_folders(below: &Path) -> Option<PathObjection> {
    let is_hidden = |part: Component<'_>| {
        let name = part.as_os_str();
        name.as_encoded_bytes().first() == Some(&b'.') && name != OWN_FOLDER
    };
    let objection = "a name in it begins with a dot, and tools act on such files";
    below.components().any(is_hidden).then_some(objection)
}

/// Rejects the same, and the file names that agents and build tools look for.
pub(crate) fn objection_to_file(below: &Path) -> Option<PathObjection> {
    if let Some(objection) = objection_to_folders(below) {
        return Some(objection);
    }
    let name = below.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let stem = name.split('.').next().unwrap_or_default();
    let is_acted_on =
        RESERVED_STEMS.iter().flat_map(|stems| stems.split_whitespace()).any(|known| known == stem)
            || RESERVED_ENDINGS.iter().any(|end| name.ends_with(end));
    is_acted_on.then_some("agents or build tools act on a file of that name")
}

/// Whether a path below an allowed folder is inside `.git`: git would run a hook that is written
/// there.
pub(crate) fn is_in_repository(below: &Path) -> bool {
    below.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
}

/// Whether a path equals another one or is below it. Case is ignored, because some file systems
/// ignore it.
pub(crate) fn is_within(path: &Path, outer: &Path) -> bool {
    let mut parts = path.components();
    outer.components().all(|outer| {
        parts.next().is_some_and(|part| part.as_os_str().eq_ignore_ascii_case(outer.as_os_str()))
    })
}

/// The store file, the files that SQLite keeps beside it, the lock folder and the lists of models,
/// whether they exist or not.
pub fn list_store_files(store: &Path) -> [PathBuf; 6] {
    ["", "-wal", "-shm", "-journal", LOCKS_SUFFIX, MODELS_SUFFIX]
        .map(|suffix| append_suffix(store, suffix))
}

/// The file beside a store with the models that providers offered in the last day.
pub(crate) fn model_cache_path(store: &Path) -> PathBuf {
    append_suffix(store, MODELS_SUFFIX)
}

const MODELS_SUFFIX: &str = "-models.json";

/// The folder beside a store with the locks of running processes.
pub fn lock_folder_path(store: &Path) -> PathBuf {
    append_suffix(store, LOCKS_SUFFIX)
}

/// Follows the names of SQLite's own files, and is unlikely to be a name chosen by a user.
const LOCKS_SUFFIX: &str = "-locks";

fn append_suffix(store: &Path, suffix: &str) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// File beside the store with the secret for clients of the HTTP server.
pub const TOKEN_FILE: &str = "token";

/// Default folder of a store. All files in it belong to the program.
const DEFAULT_FOLDER: &str = ".plenary";

/// Lock folder of earlier versions, inside the default folder.
const OLD_LOCKS_FOLDER: &str = "runs";

/// All paths that belong to a store, whether they exist or not: its files, the token beside it, and
/// the locks of an earlier version. No request reads or writes there. Outside the default folder,
/// `runs` may be a folder of the user, so it is not included.
pub fn list_owned_paths(store: &Path) -> Vec<PathBuf> {
    let is_ours =
        store.parent().and_then(Path::file_name).is_some_and(|name| name == DEFAULT_FOLDER);
    let older = is_ours.then(|| store.with_file_name(OLD_LOCKS_FOLDER));
    let token = store.with_file_name(TOKEN_FILE);
    list_store_files(store).into_iter().chain([token]).chain(older).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_programs_act_on_is_not_taken() {
        let refused = [
            "AGENTS.md",
            "deep/AGENTS.override.md",
            "Claude.md",
            ".mcp.json",
            ".github/copilot.md",
            "a/.cursor/rules/x.md",
            "package.json",
            "Makefile",
            "review.prompt.md",
            "babel.config.json",
        ];
        for path in refused {
            assert!(objection_to_file(Path::new(path)).is_some(), "{path}");
        }
        for path in ["x.json", ".plenary/dialogues/x/dialogue.md", "agents/x.md", "my-agents.md"] {
            assert_eq!(objection_to_file(Path::new(path)), None, "{path}");
        }
    }
}
