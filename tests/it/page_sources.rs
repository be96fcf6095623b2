//! The files of the page: vendored libraries are the published ones, and no module of ours writes
//! HTML from a string, a style attribute or a handler, which the page's security policy forbids.

use std::path::{Path, PathBuf};

use plenary_core::model::hash::sha256_hex;
use serde_json::Value;

const WEB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web");

const FILE_LINES_MAX: usize = 500;

/// What turns text of others into HTML, script or an address that a browser follows.
const FORBIDDEN_CODE: [&str; 14] = [
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "unsafeHTML",
    "unsafeSVG",
    "document.write",
    "DOMParser",
    "createContextualFragment",
    "eval(",
    "new Function",
    "srcdoc",
    "javascript:",
    "new Worker",
    " style=",
];

fn list_files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(list_files(&path, ending));
        } else if path.extension().is_some_and(|it| it == ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Our own modules, with their path below `web/`.
fn own_modules() -> Vec<(String, String)> {
    let names = list_files(Path::new(WEB), "js").into_iter().map(|path| {
        let name = path.strip_prefix(WEB).unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read_to_string(path).unwrap())
    });
    let modules: Vec<_> = names.filter(|(name, _)| !name.starts_with("vendor/")).collect();
    assert!(modules.len() > 20, "the page has {} modules", modules.len());
    modules
}

#[test]
fn vendored_files_are_the_published_ones() {
    let folder = Path::new(WEB).join("vendor");
    let list = std::fs::read_to_string(folder.join("vendored.json")).unwrap();
    let list: Vec<Value> = serde_json::from_str(&list).unwrap();
    let named: Vec<&str> = list.iter().map(|row| row["file"].as_str().unwrap()).collect();
    for path in list_files(&folder, "js") {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(named.contains(&name), "vendored.json does not name {name}");
    }
    for row in &list {
        let name = row["file"].as_str().unwrap();
        let content = std::fs::read(folder.join(name)).unwrap();
        assert_eq!(sha256_hex([content.as_slice()]), row["sha256"], "{name} was changed");
        let licence = row["licence_file"].as_str().unwrap();
        let licence = std::fs::read_to_string(folder.join(licence)).unwrap();
        assert!(licence.contains("Copyright"), "{name} has no licence");
        for field in ["package", "version", "source", "licence"] {
            assert!(row[field].is_string(), "{name} has no {field}");
        }
    }
}

#[test]
fn no_module_makes_html_from_a_string() {
    for (name, text) in own_modules() {
        for word in FORBIDDEN_CODE {
            let place = text.lines().position(|line| line.contains(word));
            assert_eq!(place, None, "{name} contains `{word}`");
        }
        // A handler is bound as `@click`; `onclick="…"` would be code in an attribute.
        let handler =
            text.lines().find(|line| line.contains(" onclick=") || line.contains(" onload="));
        assert_eq!(handler, None, "{name}");
    }
}

#[test]
fn a_module_says_what_it_is_for_and_imports_files_of_the_page() {
    for (name, text) in own_modules() {
        assert!(text.starts_with("// "), "{name} begins with its purpose");
        let lines = text.lines().count();
        assert!(lines <= FILE_LINES_MAX, "{name} has {lines} lines");
        let folder = Path::new(WEB).join(&name).parent().unwrap().to_owned();
        for line in text.lines().filter(|line| line.contains("import")) {
            let quoted = line.split('\'').skip(1).step_by(2);
            for target in quoted.filter(|target| target.starts_with('.')) {
                assert!(folder.join(target).is_file(), "{name} imports {target}");
            }
        }
    }
}

#[test]
fn styles_and_the_first_file_load_nothing_foreign() {
    let mut files = list_files(Path::new(WEB), "css");
    files.extend(list_files(Path::new(WEB), "html"));
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        for word in ["http:", "https:", "url(", "@import", " style=", " onclick=", "<style"] {
            assert!(!text.contains(word), "{} contains `{word}`", path.display());
        }
    }
}
