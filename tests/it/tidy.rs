//! Keeps the shape of the code: names, sizes, plain words, purity of the core, direction of imports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const CRATES: [&str; 3] = ["core", "engine", "plenary"];

const FILE_LINES_MAX: usize = 500;
const MAIN_LINES_MAX: usize = 60;
const ARCHITECTURE_LINES_MAX: usize = 150;
const GLOSSARY_ROWS_MAX: usize = 45;

/// Code lines below which a file needs a reason in [`SMALL_FILES`].
const FILE_LINES_MIN: usize = 60;

/// Types of one word that are no terms of the user's: a reader of the code knows them.
const ONE_WORD_TYPES: [&str; 18] = [
    "Availability",
    "Concurrency",
    "Day",
    "Diagnostics",
    "Dialect",
    "Error",
    "Format",
    "Leniency",
    "Moment",
    "Operation",
    "Project",
    "Protocols",
    "Settings",
    "Sorting",
    "Step",
    "System",
    "Tool",
    "Work",
];

/// Types that several modules may define.
const SHARED_NAMES: [&str; 2] = ["Error", "Args"];

/// Which folders of the engine crate and of the interfaces each folder may use. The compiler keeps
/// the direction between crates.
const MAY_USE: [(&str, &[&str]); 12] = [
    ("engine/providers", &[]),
    ("engine/store", &[]),
    ("engine/files", &[]),
    ("engine/context_files", &["files"]),
    ("engine/verdict_log", &["files", "store"]),
    ("engine/config", &["files", "providers"]),
    ("engine/engine", &["clock", "error", "files", "providers", "store", "verdict_log"]),
    ("engine/clock", &[]),
    (
        "engine/app",
        &[
            "clock",
            "config",
            "context_files",
            "engine",
            "error",
            "files",
            "providers",
            "store",
            "verdict_log",
        ],
    ),
    ("plenary/cli", &["http", "mcp"]),
    ("plenary/http", &[]),
    ("plenary/mcp", &[]),
];

/// What code that performs no I/O, reads no clock and never waits does not contain.
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

const BANNED_FILE_NAMES: [&str; 7] =
    ["util", "utils", "common", "helpers", "manager", "imp", "misc"];

/// Words that hide the actor of a sentence.
const INDEFINITE_WORDS: [&str; 7] =
    ["nobody", "somebody", "whoever", "whatever", "whichever", "anybody", "everybody"];
const INDEFINITE_PER_10_000_MAX: f64 = 2.0;

const ONE_WORD_FUNCTIONS_PERCENT_MAX: usize = 40;

/// Small files, each with the reason why it is not part of another.
const SMALL_FILES: [(&str, &str); 21] = [
    ("core/src/protocols/alignment/merge_words.rs", "what the Judge may not invent"),
    ("core/src/prompting/model_brands.rs", "a table of names"),
    ("core/src/dialogue/json_writer.rs", "a writer that knows nothing of the context it writes"),
    ("core/src/markers/skills.rs", "the skills are files; this lists them"),
    ("core/src/model/hash.rs", "the hash of the journal must be easy to find and never change"),
    ("engine/src/engine/resumed_call.rs", "pure functions of the record, apart from the calls"),
    ("core/src/model/limits.rs", "all limits of the record beside each other"),
    (
        "core/src/protocols/conclusion/critic_input.rs",
        "nothing but the question and the conclusion may reach the critic",
    ),
    ("core/src/report/html_sources.rs", "`html.rs` has the size of a whole file without it"),
    ("core/src/report/safe_text.rs", "the one place that makes text of others safe to show"),
    ("engine/src/engine/parse_replies.rs", "the only place where the engine parses replies"),
    ("engine/src/clock.rs", "the only clock and randomness"),
    ("engine/src/config/model_limits.rs", "the rules of a seat's tokens, beside each other"),
    ("plenary/src/cli/models.rs", "a command has its own file"),
    ("core/src/report/dialogue_events.rs", "the events of dialogues that a Judge leads"),
    ("engine/src/config/user_name.rs", "the only place that asks git and the system for a name"),
    ("plenary/src/cli/log_replay.rs", "a file per command"),
    ("plenary/src/cli/runs/count_bar.rs", "the only progress bar"),
    ("engine/src/providers/cli/output_events.rs", "what programs print while they work"),
    ("plenary/src/mcp/short_text.rs", "the one rule for the text beside structured content"),
    ("plenary/src/http/tls.rs", "keys are read in one place"),
];

struct Source {
    /// Below `crates/`, such as `core/src/model/ids.rs`.
    path: PathBuf,
    text: String,
}

impl Source {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn crate_name(&self) -> &str {
        self.path.components().next().unwrap().as_os_str().to_str().unwrap()
    }

    /// The folder or file directly below the crate's `src/`, with the crate: `engine/store`.
    fn folder(&self) -> String {
        let first = self.path.components().nth(2).unwrap().as_os_str().to_str().unwrap();
        format!("{}/{}", self.crate_name(), first.trim_end_matches(".rs"))
    }

    fn stem(&self) -> &str {
        self.path.file_stem().unwrap().to_str().unwrap()
    }

    fn is_test(&self) -> bool {
        let stem = self.stem();
        ["tests", "sample", "test_fixtures"].contains(&stem) || stem.ends_with("_tests")
    }

    fn is_list(&self) -> bool {
        self.stem() == "mod" || self.stem() == "lib"
    }

    /// The text without its tests.
    fn code(&self) -> &str {
        if self.is_test() {
            return "";
        }
        self.text.split("\n#[cfg(test)]\nmod tests").next().unwrap()
    }

    /// Code lines: neither blank nor comment.
    fn code_lines(&self) -> impl Iterator<Item = &str> {
        let lines = self.code().lines().map(str::trim);
        lines.filter(|line| !line.is_empty() && !line.starts_with("//"))
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(ROOT).join("crates");
    let mut sources = Vec::new();
    let mut folders: Vec<PathBuf> = CRATES.iter().map(|name| root.join(name).join("src")).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                sources.push(Source { path: path.strip_prefix(&root).unwrap().to_owned(), text });
            }
        }
    }
    assert!(sources.len() > 100, "found only {} sources", sources.len());
    sources
}

fn read_document(name: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(name)).unwrap()
}

/// Shows all complaints at once.
#[track_caller]
fn check(complaints: impl IntoIterator<Item = String>) {
    let complaints: Vec<String> = complaints.into_iter().collect();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// The names that follow one of these keywords, with the line they stand in.
fn definitions<'a>(code: &'a str, keywords: &[&str]) -> Vec<(&'a str, &'a str)> {
    let mut found = Vec::new();
    for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
        let words: Vec<&str> = line
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|w| !w.is_empty())
            .collect();
        for pair in words.windows(2) {
            if keywords.contains(&pair[0]) {
                found.push((pair[1], line));
            }
        }
    }
    found
}

fn type_names(source: &Source) -> Vec<(&str, &str)> {
    let names = definitions(source.code(), &["struct", "enum", "trait"]);
    let is_type = |(name, line): &(&str, &str)| {
        let before = line.trim_start();
        name.starts_with(|c: char| c.is_ascii_uppercase())
            && ["pub", "struct", "enum", "trait"].iter().any(|start| before.starts_with(start))
    };
    names.into_iter().filter(is_type).collect()
}

fn word_count(name: &str) -> usize {
    name.chars().filter(char::is_ascii_uppercase).count()
}

#[test]
fn imports_point_inward() {
    let sources = sources();
    check(sources.iter().flat_map(|source| {
        let folder = source.folder();
        let own = folder.split('/').nth(1).unwrap().to_owned();
        let allowed = MAY_USE.iter().find(|(name, _)| *name == folder).map(|(_, allowed)| *allowed);
        let code = source.code();
        code.match_indices("crate::")
            .filter(|(place, _)| !code[..*place].ends_with('$'))
            .map(|(place, _)| {
                let rest = &code[place + "crate::".len()..];
                rest[..rest
                    .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                    .unwrap_or(rest.len())]
                    .to_owned()
            })
            .filter(|used| *used != own && !used.is_empty())
            .filter(|used| allowed.is_some_and(|allowed| !allowed.contains(&used.as_str())))
            .map(|used| format!("{} uses crate::{used}", source.name()))
            .collect::<Vec<_>>()
    }));
}

#[test]
fn type_names_are_unique() {
    let sources = sources();
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for source in &sources {
        for (name, _) in type_names(source) {
            places.entry(name).or_default().push(source.name());
        }
    }
    let shared = places.iter().filter(|(name, at)| at.len() > 1 && !SHARED_NAMES.contains(name));
    check(shared.map(|(name, at)| format!("{name} is defined in {}", at.join(", "))));
}

#[test]
fn public_types_have_two_words_or_stand_in_the_glossary() {
    let glossary = read_document("docs/glossary.md").to_lowercase();
    let known: BTreeSet<&str> =
        glossary.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let sources = sources();
    check(sources.iter().flat_map(|source| {
        let types = type_names(source).into_iter();
        let public = types.filter(|(_, line)| line.trim_start().starts_with("pub "));
        let single =
            public.filter(|(name, _)| word_count(name) == 1 && !SHARED_NAMES.contains(name));
        let is_known = |name: &str| {
            known.contains(name.to_lowercase().as_str()) || ONE_WORD_TYPES.contains(&name)
        };
        let unknown = single.filter(|(name, _)| !is_known(name));
        unknown
            .map(|(name, _)| format!("{}: {name} has one word", source.name()))
            .collect::<Vec<_>>()
    }));
}

#[test]
fn most_functions_say_verb_and_object() {
    let sources = sources();
    let all: Vec<&str> = sources
        .iter()
        .flat_map(|source| definitions(source.code(), &["fn"]))
        .map(|(name, _)| name)
        .collect();
    let single = all.iter().filter(|name| !name.contains('_')).count();
    let percent = single * 100 / all.len();
    assert!(
        percent <= ONE_WORD_FUNCTIONS_PERCENT_MAX,
        "{percent} % of the functions have one word"
    );
}

#[test]
fn comments_name_the_actor() {
    let sources = sources();
    let (mut words, mut indefinite, mut places) = (0_usize, 0_usize, Vec::new());
    for source in &sources {
        for (number, line) in source.text.lines().enumerate() {
            let Some((_, comment)) = line.split_once("//") else { continue };
            for word in comment.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty())
            {
                words += 1;
                if INDEFINITE_WORDS.contains(&word.to_lowercase().as_str()) {
                    indefinite += 1;
                    places.push(format!("{}:{}: {word}", source.name(), number + 1));
                }
            }
        }
    }
    let share = indefinite as f64 * 10_000.0 / words as f64;
    assert!(share <= INDEFINITE_PER_10_000_MAX, "{share:.1} per 10,000:\n{}", places.join("\n"));
}

#[test]
fn a_file_tells_one_story() {
    check(sources().iter().filter_map(|source| {
        let lines = source.code().lines().count();
        let max = if source.stem() == "main" { MAIN_LINES_MAX } else { FILE_LINES_MAX };
        (lines > max).then(|| format!("{} has {lines} lines, over {max}", source.name()))
    }));
}

#[test]
fn a_small_file_has_a_reason() {
    let sources = sources();
    let small = sources.iter().filter(|source| {
        let lines = source.code_lines().count();
        lines > 0 && lines < FILE_LINES_MIN && !source.is_list() && source.stem() != "main"
    });
    let small: BTreeSet<String> = small.map(Source::name).collect();
    let listed: BTreeSet<String> = SMALL_FILES
        .iter()
        .map(|(path, _)| (*path).to_owned())
        .filter(|path| !path.is_empty())
        .collect();
    let missing = small.difference(&listed).map(|path| format!("{path} is small: why?"));
    let stale = listed.difference(&small).map(|path| format!("{path} is listed, and not small"));
    check(missing.chain(stale));
}

#[test]
fn paths_do_not_climb() {
    let sources = sources();
    let climbing = sources.iter().filter(|source| source.text.contains("super::super::"));
    check(climbing.map(|source| format!("{} says super::super::", source.name())));
}

#[test]
fn every_file_says_what_it_is_for() {
    let sources = sources();
    let silent = sources.iter().filter(|source| !source.text.starts_with("//! "));
    check(silent.map(|source| format!("{} has no //! header", source.name())));
}

#[test]
fn mod_files_only_list() {
    const STARTS: [&str; 9] = [
        "//",
        "mod ",
        "pub mod ",
        "pub(crate) mod ",
        "pub use ",
        "pub(crate) use ",
        "use ",
        "#[",
        "}",
    ];
    let listing = |line: &str| {
        let line = line.trim();
        line.is_empty()
            || STARTS.iter().any(|start| line.starts_with(start))
            // The inner lines of a `use` list.
            || line.chars().all(|c| c.is_alphanumeric() || "_,:{} ;*".contains(c))
    };
    check(sources().iter().filter(|source| source.is_list()).flat_map(|source| {
        let strange = source.text.lines().filter(|line| !listing(line));
        strange.map(|line| format!("{}: {line}", source.name())).collect::<Vec<_>>()
    }));
}

#[test]
fn file_names_say_something() {
    let sources = sources();
    let vague = sources.iter().filter(|source| BANNED_FILE_NAMES.contains(&source.stem()));
    check(vague.map(|source| format!("{} says nothing", source.name())));
}

#[test]
fn the_core_touches_nothing() {
    check(sources().iter().filter(|source| source.crate_name() == "core").flat_map(|source| {
        let touched = IMPURE_WORDS.iter().filter(|word| source.code().contains(**word));
        touched.map(|word| format!("{} uses {word}", source.name())).collect::<Vec<_>>()
    }));
}

#[test]
fn sql_is_in_the_store_only() {
    let verbs = ["SELECT ", "INSERT INTO", "UPDATE ", "DELETE FROM", "rusqlite"];
    let sources = sources();
    check(sources.iter().filter(|source| source.folder() != "engine/store").flat_map(|source| {
        let found = verbs.iter().filter(|verb| source.code().contains(**verb));
        found.map(|verb| format!("{} contains SQL: {verb}", source.name())).collect::<Vec<_>>()
    }));
}

#[test]
fn the_map_names_what_is_there() {
    let map = read_document("ARCHITECTURE.md");
    let lines = map.lines().count();
    assert!(lines <= ARCHITECTURE_LINES_MAX, "ARCHITECTURE.md has {lines} lines");
    let sources = sources();
    // Short names count: after the first file of a folder the map leaves the folder out.
    let is_source =
        |name: &str| sources.iter().flat_map(|one| one.path.ancestors()).any(|p| p.ends_with(name));
    let is_there = |name: &str| is_source(name) || Path::new(ROOT).join(name).exists();
    let is_path = |text: &&str| {
        let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
        is_plain && (text.contains('/') || text.ends_with(".rs"))
    };
    let quoted = map.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let named: Vec<&str> = quoted.filter(is_path).collect();
    assert!(named.len() > 60, "found only {} paths", named.len());
    check(named.iter().filter(|name| !is_there(name)).map(|name| format!("{name} is not there")));
}

#[test]
fn the_glossary_is_short() {
    let rows =
        read_document("docs/glossary.md").lines().filter(|line| line.starts_with("| **")).count();
    assert!((10..=GLOSSARY_ROWS_MAX).contains(&rows), "the glossary has {rows} rows");
}

#[test]
fn shipped_migrations_are_never_edited() {
    use sha2::{Digest, Sha256};
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
        ("0006_everyday.sql", include_str!("../../migrations/0006_everyday.sql"), MIGRATION_6),
        ("0007_ethos.sql", include_str!("../../migrations/0007_ethos.sql"), MIGRATION_7),
        (
            "0008_score_components.sql",
            include_str!("../../migrations/0008_score_components.sql"),
            MIGRATION_8,
        ),
        (
            "0009_calibration_scores.sql",
            include_str!("../../migrations/0009_calibration_scores.sql"),
            MIGRATION_9,
        ),
        (
            "0010_panel_reasons.sql",
            include_str!("../../migrations/0010_panel_reasons.sql"),
            MIGRATION_10,
        ),
        (
            "0011_override_entries.sql",
            include_str!("../../migrations/0011_override_entries.sql"),
            MIGRATION_11,
        ),
    ];
    check(shipped.into_iter().filter_map(|(name, text, expected)| {
        let digest: String =
            Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
        (digest != expected).then(|| format!("{name} was edited: its digest is {digest}"))
    }));
    let files = std::fs::read_dir(Path::new(ROOT).join("migrations")).unwrap();
    assert_eq!(files.count(), shipped.len(), "a migration is missing from this list");
}

const MIGRATION_1: &str = "b30e26e5952881ffc42b46b4d63fba1a2d3404b76b7eec22b3cb5efd07e0656c";
const MIGRATION_2: &str = "a01bb3d6688112e0167276d125b40b030cee9c6545c2763e9ddc1adab9b4f158";
const MIGRATION_3: &str = "0c174c92bfaa0e07d82d3d3ced4f82c20f37710c1ec48027d95e19ed5dac3a73";
const MIGRATION_4: &str = "d2506940cd393eee81fc375494f7e1015dbc58a11caf03b6db9773677af6b18c";
const MIGRATION_5: &str = "cc1696d533eebb759b273cb120fdcbf01a6dcfe1ed1788823a8f8343a19a7132";
const MIGRATION_6: &str = "af42895e7110984f635cb405f351727f20cbe35e5237dd1db857e1c9d3851642";
const MIGRATION_7: &str = "e27f3a09b6e01693edaa36d8cd41bed7bf2fe0af2cf4bb0b4e8ad4ae9b80d2c9";
const MIGRATION_8: &str = "8eb1b6ada688be2aaa06098818ce94b244471b1689adfa77ac1ab944137875fb";
const MIGRATION_11: &str = "cad359d4584825d25e368a34bddeaeca779228a418c1403a731a5383539316d7";
const MIGRATION_10: &str = "3f421d2094e72e23ca77ec2ff805cf4962f7f4ab933b0355e80a212cac2986b8";
const MIGRATION_9: &str = "3fb04d41eb2d81386fe68af5c61df412c685418a0eb5b770150da04c40dcacbd";
