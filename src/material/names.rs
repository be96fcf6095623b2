//! Classifies folder entries by name: credentials, build output, lock files.

use std::path::Path;

use super::credential_names::{credential_folder_reason, credential_reason};

/// Folders written by version control, builds and package managers.
const GENERATED_FOLDERS: [(&str, &str); 24] = [
    (".git", "version control data"),
    (".hg", "version control data"),
    (".svn", "version control data"),
    (".jj", "version control data"),
    ("target", "build output"),
    ("dist", "build output"),
    ("build", "build output"),
    ("_build", "build output"),
    ("obj", "build output"),
    ("cmake-build-debug", "build output"),
    ("cmake-build-release", "build output"),
    (".next", "build output"),
    (".nuxt", "build output"),
    (".gradle", "build output"),
    ("__pycache__", "build output"),
    ("node_modules", "a dependency folder"),
    ("bower_components", "a dependency folder"),
    ("jspm_packages", "a dependency folder"),
    ("vendor", "a dependency folder"),
    ("Pods", "a dependency folder"),
    ("site-packages", "a dependency folder"),
    (".venv", "a dependency folder"),
    ("venv", "a dependency folder"),
    (".tox", "a dependency folder"),
];

const LOCK_FILES: [&str; 22] = [
    "Cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "deno.lock",
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
    "Pipfile.lock",
    "composer.lock",
    "Gemfile.lock",
    "go.sum",
    "flake.lock",
    "mix.lock",
    "pubspec.lock",
    "Podfile.lock",
    "packages.lock.json",
    "gradle.lockfile",
    "Package.resolved",
];
const GENERATED_ENDS: [&str; 4] = [".min.js", ".min.css", ".js.map", ".css.map"];

/// The reason for leaving an entry out by its name, if any.
pub(super) fn exclusion_by_name(path: &Path, is_folder: bool) -> Option<String> {
    let Some(name) = path.file_name()?.to_str() else {
        return Some("its name is not UTF-8".to_owned());
    };
    let name_path = Path::new(name);
    let (credential, generated) = if is_folder {
        (credential_folder_reason(name_path), generated_folder(name))
    } else {
        (credential_reason(name_path), generated_file(name))
    };
    credential
        .or_else(|| generated.map(str::to_owned))
        .or_else(|| name.starts_with('.').then(|| "hidden; name it to include it".to_owned()))
}

fn generated_folder(name: &str) -> Option<&'static str> {
    GENERATED_FOLDERS.iter().find(|(folder, _)| *folder == name).map(|(_, reason)| *reason)
}

fn generated_file(name: &str) -> Option<&'static str> {
    if LOCK_FILES.contains(&name) {
        return Some("a lock file");
    }
    GENERATED_ENDS.iter().any(|end| name.ends_with(end)).then_some("generated")
}

/// Files that describe a folder best; they are sent first if not all fit.
pub(super) fn is_key_file(path: &str) -> bool {
    const MANIFESTS: [&str; 20] = [
        "architecture.md",
        "cargo.toml",
        "cmakelists.txt",
        "composer.json",
        "docker-compose.yaml",
        "docker-compose.yml",
        "dockerfile",
        "gemfile",
        "go.mod",
        "build.gradle",
        "build.gradle.kts",
        "justfile",
        "makefile",
        "mix.exs",
        "package.json",
        "package.swift",
        "pom.xml",
        "pyproject.toml",
        "requirements.txt",
        "setup.py",
    ];
    const ENTRY_POINTS: [&str; 4] = ["main", "lib", "index", "__main__"];
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let stem = name.split('.').next().unwrap_or(&name);
    name.starts_with("readme") || MANIFESTS.contains(&name.as_str()) || ENTRY_POINTS.contains(&stem)
}
