//! Finds `council.yaml` and the store.

use std::path::{Path, PathBuf};

/// The file that anchors a project.
const COUNCIL_FILE: &str = "council.yaml";

/// Relative to the folder of `council.yaml`, else to the working folder.
const STORE_DEFAULT: &str = ".plenary/plenary.db";

/// Where the store is, for those who do not want to repeat `--store`.
const STORE_VARIABLE: &str = "PLENARY_STORE";

/// What the command line said.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    pub config: Option<PathBuf>,
    pub store: Option<String>,
    pub allow: Vec<PathBuf>,
}

/// Where things are.
#[derive(Debug, Clone)]
pub struct Located {
    pub working: PathBuf,
    pub store: PathBuf,
    pub allow: Vec<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("there is no configuration file `{path}`")]
    NoFile { path: PathBuf },
    #[error("the working folder cannot be found")]
    NoWorkingFolder(#[source] std::io::Error),
    #[error("`{url}` is not a store this plenary knows")]
    UnknownStore { url: String },
    #[error("`--allow {path}` is not a folder")]
    NotAFolder { path: PathBuf },
}

#[expect(clippy::disallowed_methods, reason = "the environment is read here, once")]
pub fn locate(flags: &Flags) -> Result<Located, ConfigError> {
    let working = std::env::current_dir().map_err(ConfigError::NoWorkingFolder)?;
    let anchor = match &flags.config {
        Some(path) if !path.is_file() => {
            return Err(ConfigError::NoFile { path: path.clone() });
        }
        Some(path) => working.join(path).parent().unwrap_or(&working).to_owned(),
        None => council_folder(&working).unwrap_or_else(|| working.clone()),
    };
    let from_environment = std::env::var(STORE_VARIABLE).ok().filter(|url| !url.is_empty());
    // What is typed is meant from here; what a project's file implies is meant from there.
    let store = match flags.store.clone().or(from_environment) {
        Some(url) => working.join(sqlite_path(&url)?),
        None => anchor.join(STORE_DEFAULT),
    };
    if let Some(path) = flags.allow.iter().find(|path| !path.is_dir()) {
        return Err(ConfigError::NotAFolder { path: path.clone() });
    }
    Ok(Located { working, store, allow: flags.allow.clone() })
}

/// The nearest folder upward that has a `council.yaml`.
fn council_folder(from: &Path) -> Option<PathBuf> {
    from.ancestors().find(|folder| folder.join(COUNCIL_FILE).is_file()).map(Path::to_owned)
}

fn sqlite_path(url: &str) -> Result<&str, ConfigError> {
    let unknown = || ConfigError::UnknownStore { url: url.to_owned() };
    match url.split_once(':') {
        None if url.is_empty() => Err(unknown()),
        Some(("sqlite", "")) => Err(unknown()),
        Some(("sqlite", path)) => Ok(path.strip_prefix("//").unwrap_or(path)),
        Some(("postgres" | "postgresql" | "mysql" | "http" | "https", _)) => Err(unknown()),
        Some(_) | None => Ok(url),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_a_path_or_a_sqlite_url() {
        let cases = [
            ("x.db", Some("x.db")),
            ("sqlite:x.db", Some("x.db")),
            ("sqlite:///tmp/x.db", Some("/tmp/x.db")),
            ("sqlite:", None),
            ("", None),
            ("postgres://team/plenary", None),
        ];
        for (url, path) in cases {
            assert_eq!(sqlite_path(url).ok(), path, "url: {url}");
        }
    }
}
