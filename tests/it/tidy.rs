//! Checks the structure of the code: import direction, file sizes, purity of the core, location of
//! SQL, and the paths in the architecture map.

use std::path::{Path, PathBuf};

const FILE_LINES_MAX: usize = 500;
const MAIN_LINES_MAX: usize = 60;

/// The modules that each module may use.
const MAY_USE: [(&str, &[&str]); 21] = [
    ("domain", &[]),
    ("ambient", &["domain"]),
    ("record", &["domain"]),
    (
        "protocols",
        // A protocol has everything of its own: prompts, parsers, documents, pages. What it draws
        // pages with stands in `surfaces/cli/show`.
        &["domain", "export", "normalise", "prompting", "record", "surfaces"],
    ),
    ("prompting", &["domain", "protocols"]),
    ("normalise", &["domain"]),
    ("export", &["domain", "protocols", "record"]),
    ("markers", &["domain"]),
    ("providers", &["domain"]),
    ("store", &["domain", "record"]),
    ("verdict_log", &["domain", "files", "store"]),
    ("files", &["domain"]),
    ("material", &["domain", "files"]),
    ("modularity", &["domain", "material"]),
    ("config", &["domain", "providers"]),
    (
        "error",
        &[
            "ambient",
            "config",
            "convening",
            "domain",
            "files",
            "material",
            "modularity",
            "providers",
            "store",
            "verdict_log",
        ],
    ),
    (
        "operations",
        // An operation writes an expert's prompt, not a run.
        &[
            "ambient",
            "config",
            "domain",
            "error",
            "export",
            "files",
            "prompting",
            "protocols",
            "record",
            "store",
            "verdict_log",
        ],
    ),
    (
        "engine",
        &[
            "ambient",
            "domain",
            "error",
            "files",
            "normalise",
            "operations",
            "prompting",
            "protocols",
            "providers",
            "record",
            "store",
            "verdict_log",
        ],
    ),
    (
        "convening",
        &[
            "ambient",
            "config",
            "domain",
            "engine",
            "material",
            "prompting",
            "protocols",
            "providers",
        ],
    ),
    (
        "hosting",
        &[
            "ambient",
            "config",
            "convening",
            "domain",
            "engine",
            "error",
            "export",
            "files",
            "material",
            "operations",
            "protocols",
            "store",
            "verdict_log",
        ],
    ),
    (
        "surfaces",
        &[
            "ambient",
            "config",
            "convening",
            "domain",
            "engine",
            "error",
            "export",
            "files",
            "hosting",
            "markers",
            "material",
            "modularity",
            "operations",
            "protocols",
            "providers",
            "record",
            "store",
            "verdict_log",
        ],
    ),
];

/// Modules that perform no I/O, read no clock and never wait.
const PURE: [&str; 7] =
    ["domain", "export", "markers", "normalise", "prompting", "protocols", "record"];
const IMPURE_WORDS: [&str; 12] = [
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::io",
    "std::thread",
    "SystemTime",
    "Instant",
    "Timestamp::now",
    "getrandom",
    "async fn",
    ".await",
];

const BANNED_NAMES: [&str; 7] = ["util", "utils", "common", "helpers", "manager", "imp", "misc"];

struct SourceFile {
    path: PathBuf,
    text: String,
}

impl SourceFile {
    fn relative_name(&self) -> String {
        self.path.display().to_string()
    }

    /// The module directly under `src/` that this file belongs to.
    fn module_name(&self) -> String {
        let first = self.path.components().next().unwrap().as_os_str().to_str().unwrap();
        first.trim_end_matches(".rs").to_owned()
    }

    /// The text without its tests.
    fn code_text(&self) -> &str {
        let name = self.path.file_name().unwrap().to_str().unwrap();
        if name == "tests.rs" || name == "sample.rs" || name.ends_with("_tests.rs") {
            return "";
        }
        self.text.split("\n#[cfg(test)]\nmod tests").next().unwrap()
    }
}

fn read_sources() -> Vec<SourceFile> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("src");
    let mut sources = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                sources
                    .push(SourceFile { path: path.strip_prefix(&root).unwrap().to_owned(), text });
            }
        }
    }
    assert!(sources.len() > 40, "found only {} sources", sources.len());
    sources
}

/// Collects all complaints and reports them together.
fn report_complaints(complaints: impl IntoIterator<Item = String>) {
    let complaints: Vec<String> = complaints.into_iter().collect();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn imports_point_inward() {
    let sources = read_sources();
    report_complaints(sources.iter().flat_map(|source| {
        let module = source.module_name();
        let allowed = MAY_USE.iter().find(|(name, _)| *name == module).map(|(_, allowed)| *allowed);
        source
            .code_text()
            .match_indices("crate::")
            .filter(|(place, _)| !source.code_text()[..*place].ends_with('$'))
            .map(|(place, _)| {
                let rest = &source.code_text()[place + "crate::".len()..];
                let end =
                    rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                rest[..end].to_owned()
            })
            .filter(|used| *used != module && !used.is_empty())
            .filter(|used| allowed.is_some_and(|allowed| !allowed.contains(&used.as_str())))
            .map(|used| format!("{} uses crate::{used}", source.relative_name()))
            .collect::<Vec<_>>()
    }));
}

#[test]
fn imports_name_one_room_each() {
    // `use crate::{a, b}` would evade the test above.
    let sources = read_sources();
    let grouped = sources.iter().filter(|source| source.code_text().contains("crate::{"));
    report_complaints(
        grouped.map(|source| format!("{} groups rooms in one import", source.relative_name())),
    );
}

#[test]
fn every_module_has_its_place_in_the_order() {
    report_complaints(read_sources().iter().map(SourceFile::module_name).filter_map(|module| {
        let known = MAY_USE.iter().any(|(name, _)| *name == module);
        (!known && module != "lib" && module != "main").then(|| format!("{module} is in no layer"))
    }));
}

#[test]
fn a_file_tells_one_story() {
    report_complaints(read_sources().iter().filter_map(|source| {
        let lines = source.code_text().lines().count();
        let max = if source.path == Path::new("main.rs") { MAIN_LINES_MAX } else { FILE_LINES_MAX };
        (lines > max).then(|| format!("{} has {lines} lines, over {max}", source.relative_name()))
    }));
}

#[test]
fn every_file_says_what_it_is_for() {
    let sources = read_sources();
    let silent = sources.iter().filter(|source| !source.text.starts_with("//! "));
    report_complaints(silent.map(|source| format!("{} has no //! header", source.relative_name())));
}

#[test]
fn mod_files_only_list() {
    let listing = |line: &str| {
        let line = line.trim();
        line.is_empty()
            || ["//", "mod ", "pub mod ", "pub(crate) mod ", "pub(super) mod ", "pub use ", "pub(crate) use ", "pub(super) use ", "use ", "#[", "}"]
                .iter()
                .any(|start| line.starts_with(start))
            // The inner lines of a `use` list.
            || line.chars().all(|c| c.is_alphanumeric() || "_,:{} ;*".contains(c))
    };
    report_complaints(
        read_sources().iter().filter(|source| source.path.ends_with("mod.rs")).flat_map(|source| {
            let strange = source.text.lines().filter(|line| !listing(line));
            strange.map(|line| format!("{}: {line}", source.relative_name())).collect::<Vec<_>>()
        }),
    );
}

#[test]
fn names_say_something() {
    report_complaints(read_sources().iter().filter_map(|source| {
        let stem = source.path.file_stem().unwrap().to_str().unwrap();
        BANNED_NAMES.contains(&stem).then(|| format!("{} says nothing", source.relative_name()))
    }));
}

#[test]
fn the_core_touches_nothing() {
    report_complaints(
        read_sources()
            .iter()
            .filter(|source| PURE.contains(&source.module_name().as_str()))
            .flat_map(|source| {
                let touched =
                    IMPURE_WORDS.iter().filter(|word| source.code_text().contains(**word));
                touched
                    .map(|word| format!("{} uses {word}", source.relative_name()))
                    .collect::<Vec<_>>()
            }),
    );
}

#[test]
fn sql_stands_in_the_store() {
    let verbs = ["SELECT ", "INSERT INTO", "UPDATE ", "DELETE FROM", "rusqlite"];
    let allowed = |source: &SourceFile| source.module_name() == "store";
    report_complaints(read_sources().iter().filter(|source| !allowed(source)).flat_map(|source| {
        let found = verbs.iter().filter(|verb| source.code_text().contains(**verb));
        found
            .map(|verb| format!("{} holds SQL: {verb}", source.relative_name()))
            .collect::<Vec<_>>()
    }));
}

#[test]
fn the_map_names_what_is_there() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let map = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let sources = read_sources();
    // Short names count: after the first file of a folder the map omits the folder.
    let is_source =
        |name: &str| sources.iter().flat_map(|one| one.path.ancestors()).any(|p| p.ends_with(name));
    let is_there = |name: &str| is_source(name) || root.join(name).exists();
    let is_path = |text: &&str| {
        let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
        is_plain && (text.contains('/') || text.ends_with(".rs"))
    };
    let quoted = map.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let named: Vec<&str> = quoted.filter(is_path).collect();
    assert!(named.len() > 80, "found only {} paths", named.len());
    report_complaints(
        named.iter().filter(|name| !is_there(name)).map(|name| format!("{name} is not there")),
    );
}

#[test]
fn shipped_migrations_are_never_edited() {
    use sha2::Digest;
    use sha2::Sha256;
    // A change to the schema is a new file; add its line here when it ships.
    let shipped = [
        ("0001_record.sql", include_str!("../../migrations/0001_record.sql"), MIGRATION_1),
        ("0002_search.sql", include_str!("../../migrations/0002_search.sql"), MIGRATION_2),
        (
            "0003_conclusions.sql",
            include_str!("../../migrations/0003_conclusions.sql"),
            MIGRATION_3,
        ),
        (
            "0004_verdict_log.sql",
            include_str!("../../migrations/0004_verdict_log.sql"),
            MIGRATION_4,
        ),
        ("0005_protocols.sql", include_str!("../../migrations/0005_protocols.sql"), MIGRATION_5),
    ];
    report_complaints(shipped.into_iter().filter_map(|(name, text, expected)| {
        let digest: String =
            Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
        (digest != expected).then(|| format!("{name} was edited: its digest is {digest}"))
    }));
    let files = std::fs::read_dir(
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("migrations"),
    )
    .unwrap();
    assert_eq!(files.count(), shipped.len(), "a migration is missing from this list");
}

const MIGRATION_1: &str = "b30e26e5952881ffc42b46b4d63fba1a2d3404b76b7eec22b3cb5efd07e0656c";
const MIGRATION_2: &str = "a01bb3d6688112e0167276d125b40b030cee9c6545c2763e9ddc1adab9b4f158";
const MIGRATION_3: &str = "0c174c92bfaa0e07d82d3d3ced4f82c20f37710c1ec48027d95e19ed5dac3a73";
const MIGRATION_4: &str = "d2506940cd393eee81fc375494f7e1015dbc58a11caf03b6db9773677af6b18c";
const MIGRATION_5: &str = "cc1696d533eebb759b273cb120fdcbf01a6dcfe1ed1788823a8f8343a19a7132";
