//! Hints of errors: what the user can try next.

use std::path::Path;

use crate::app::agent_check::AgentCheckError;
use crate::config::error::ConfigError;
use crate::context_files::gather::ContextFileError;
use crate::files::read_write::{FileError, is_standard_input};
use crate::store::error::StoreError;

pub(crate) fn hint_for_store(error: &StoreError) -> Option<&'static str> {
    match error {
        StoreError::Newer { .. } => {
            Some("install the newest Plenary, or choose another store with `--store FILE`")
        }
        StoreError::Missing { .. } => Some(
            "check `--store`; the first `plenary ask` or `plenary dialogue create` creates a store",
        ),
        StoreError::Denied { .. } => Some(
            "run the command as the user that owns the store, or make the file and its folders \
             readable",
        ),
        StoreError::Empty { .. } => {
            Some("restore it from a backup; if it is new, the first `plenary ask` fills it")
        }
        StoreError::Foreign { .. } => {
            Some("choose another store with `--store FILE`, or restore it from a backup")
        }
        StoreError::Unopenable { .. } | StoreError::NoFolder { .. } => Some(
            "check that you can write to the folder, or choose another store with `--store FILE`",
        ),
        StoreError::ForeignLocks { .. } => {
            Some("move the folder away, or choose another store with `--store FILE`")
        }
        StoreError::ReadOnly => Some("make the file and its folder writable"),
        StoreError::Busy { .. } => Some("nothing was changed; try again"),
        StoreError::DiskFull => Some("nothing was changed; free some disk space and try again"),
        StoreError::Io(_) => {
            Some("check the disk, its free space, and the permissions of the file")
        }
        StoreError::Damaged { .. } => {
            Some("restore the store from a backup, or choose another one with `--store FILE`")
        }
        StoreError::Malformed { .. } => {
            Some("`plenary verify` lists what was changed; then restore the store from a backup")
        }
        StoreError::Database(_)
        | StoreError::NotRun
        | StoreError::WriterGone
        | StoreError::Shared { .. }
        | StoreError::Unwritable(_) => None,
    }
}

pub(crate) fn hint_for_file(error: &FileError) -> &'static str {
    match error {
        FileError::Unreadable { .. } | FileError::NotAFile { .. } => {
            "name a readable file, or `-` for standard input"
        }
        FileError::TooLarge { path, .. } if is_standard_input(path) => {
            "cut standard input through `head -c 400000`, or send the part that matters"
        }
        FileError::TooLarge { .. } => "split the file",
        FileError::NotText { path } if is_standard_input(path) => {
            "send it as UTF-8, for example through `iconv`"
        }
        FileError::NotText { .. } => "save the file as UTF-8",
        FileError::Unwritable { .. } => "check the folder's permissions and free space",
    }
}

pub(crate) fn hint_for_context_files(error: &ContextFileError) -> &'static str {
    match error {
        ContextFileError::Unreadable { path, .. } if has_pattern(path) => {
            "Plenary does not expand patterns; leave out the quotes, so that the shell does"
        }
        ContextFileError::Unreadable { .. } => "check the path and its permissions",
        ContextFileError::NotAFile { .. } => "save the content to a file and name that file",
        ContextFileError::Folder { .. } => "name its files; `plenary sweep DIR` reviews a folder",
        ContextFileError::Unfit { .. } => {
            "a review needs a UTF-8 text, with words and of at most about 350 KB, inside the project"
        }
        ContextFileError::Unsent { path, .. } if is_standard_input(Path::new(path)) => {
            "cut standard input through `head -c 400000`, or send the part that matters"
        }
        ContextFileError::Unsent { .. } => {
            "leave it out of `--context`, or name its folder: from a folder, such files are left out"
        }
        ContextFileError::TooMany { .. } => {
            "name smaller folders, or exclude files in `.councilignore`"
        }
    }
}

pub(crate) fn hint_for_modularity(error: &AgentCheckError) -> &'static str {
    match error {
        AgentCheckError::Unreadable { .. } | AgentCheckError::NoPrompt { .. } => {
            "name a folder with prompts in `agents/NAME/prompt.md`"
        }
        AgentCheckError::Outside { .. } => "name the folder that the link points to",
        AgentCheckError::TooMany { .. } => "name the folder of a host that contains `agents/`",
        AgentCheckError::AllExempt { .. } => {
            "pass `--exempt` only for agents that may know about the review"
        }
    }
}

pub(crate) fn hint_for_config(error: &ConfigError) -> &'static str {
    match error {
        ConfigError::NoFile { .. } | ConfigError::File(_) => {
            "name a readable UTF-8 file; `plenary init` writes a `council.yaml`"
        }
        ConfigError::Invalid { .. } if error.is_external() => {
            "set the variable, install the program, or remove the provider from the file"
        }
        ConfigError::Invalid { .. } => {
            "correct the file; `plenary init` writes one that explains every setting"
        }
        ConfigError::NoProvider => {
            "set a key such as ANTHROPIC_API_KEY, or name providers in council.yaml; a rehearsal (`--rehearse`) needs none"
        }
        ConfigError::NoConclusionProvider => {
            "set a key such as ANTHROPIC_API_KEY, or name providers in council.yaml: models write the conclusion of a record that is no rehearsal"
        }
        ConfigError::NoTierRules => {
            "add `tier_rules` to council.yaml; the file of `plenary init` has an example. `plenary review FILE` needs none"
        }
        ConfigError::Variable { .. } => "set the variable to a valid value, or unset it",
        ConfigError::Flag { .. } => "`plenary config` shows the settings and where they come from",
        ConfigError::NoWorkingFolder(_) => "change to a folder that exists",
        ConfigError::UnknownStore { .. } => "use a path, or `sqlite:PATH`",
        ConfigError::LinkedStore { .. } => {
            "remove the link if you did not create it, or name its target with `--store FILE`"
        }
        ConfigError::StoreIsFolder { .. } => "name a file, for example `--store plenary.db`",
        ConfigError::TrackedStore { .. } => {
            "remove it from git (`git rm --cached -r .plenary`), or judge the document again with `--force`"
        }
        ConfigError::NotAFolder { .. } => "name a folder that exists",
        ConfigError::FileExists { .. } => "`--force` replaces it",
        ConfigError::NotTrusted(_) => {
            "run `plenary trust` to see these settings and to allow them; pipelines set PLENARY_TRUST=all"
        }
        ConfigError::TrustRecord { .. } => {
            "make the folder accessible to you only (chmod 700), or name the file with `--config FILE`"
        }
        ConfigError::NoStateFolder => "set HOME, or name the file with `--config FILE`",
    }
}

fn has_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?'])
}
