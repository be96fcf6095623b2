//! Tests of the context pack: one temporary folder per test.

use std::path::{Path, PathBuf};

use plenary_core::model::plan::ContextPack;
use tempfile::TempDir;

use crate::context_files::gather::{ContextFileError, gather_files, require_named_files};
use crate::context_files::read::{FILE_BYTES_MAX, SecretGuard};
use crate::context_files::secrets::scan::SecretValues;
use crate::context_files::selection::{WHOLE_BYTES_MAX, WHOLE_FILES_MAX};
use crate::context_files::walk::CONTEXT_ENTRIES_MAX;
use crate::error::Error;

struct TestFolder(TempDir);

impl TestFolder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            folder.write(path, text.as_bytes());
        }
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    #[expect(clippy::disallowed_methods, reason = "a test lays out what is to be gathered")]
    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    #[track_caller]
    fn gather(&self, paths: &[&str]) -> ContextPack {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        gather_files(self.path(), &paths, &SecretGuard::default()).unwrap()
    }

    fn refuse(&self, path: &str) -> ContextFileError {
        gather_files(self.path(), &[PathBuf::from(path)], &SecretGuard::default()).unwrap_err()
    }
}

fn sent(pack: &ContextPack) -> Vec<&str> {
    pack.files.iter().map(|file| file.path.as_str()).collect()
}

fn indexed(pack: &ContextPack) -> Vec<&str> {
    pack.indexed.iter().map(|file| file.path.as_str()).collect()
}

fn left_out(pack: &ContextPack) -> Vec<(&str, &str)> {
    pack.excluded.iter().map(|out| (out.path.as_str(), out.reason.as_str())).collect()
}

/// A fake key, assembled at run time so that this file contains none.
fn key(start: &str, tail: usize) -> String {
    let letters = "a1B2c3D4e5F6g7H8".chars().cycle().take(tail);
    format!("{start}{}", letters.collect::<String>())
}

const CREDENTIAL: &str = "its name is that of a credential";
const BUILD: &str = "build output";
const DEPENDENCY: &str = "a dependency folder";
const IGNORED: &str = "ignored by `.gitignore` or `.councilignore`";
const HIDDEN: &str = "hidden; name it to include it";

#[test]
fn a_folder_is_gathered_in_order_with_digests() {
    let folder = TestFolder::new(&[("b/two.txt", "two"), ("a.txt", "abc"), ("b.txt", "")]);
    let pack = folder.gather(&["."]);
    assert_eq!(sent(&pack), ["a.txt", "b.txt", "b/two.txt"]);
    assert_eq!(left_out(&pack), []);
    assert_eq!(pack.files[0].text, "abc");
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(pack.files[0].sha256, abc);
    assert_eq!(pack, folder.gather(&["b", "a.txt", "b.txt", "./b/../b/two.txt"]));
}

#[test]
fn what_must_not_be_sent_is_left_out_with_its_reason() {
    let cases: [(&str, &[u8], &str, &str); 29] = [
        (".env", b"A=1", ".env", CREDENTIAL),
        (".env.local", b"A=1", ".env.local", CREDENTIAL),
        ("deep/down/.ENV", b"A=1", "deep/down/.ENV", CREDENTIAL),
        ("server.pem", b"x", "server.pem", CREDENTIAL),
        ("tls.Key", b"x", "tls.Key", CREDENTIAL),
        ("id_rsa", b"x", "id_rsa", CREDENTIAL),
        ("id_ed25519.pub", b"x", "id_ed25519.pub", CREDENTIAL),
        ("credentials.json", b"{}", "credentials.json", CREDENTIAL),
        ("secrets.yaml", b"a: b", "secrets.yaml", CREDENTIAL),
        ("release.keystore", b"x", "release.keystore", CREDENTIAL),
        (".netrc", b"x", ".netrc", CREDENTIAL),
        (".npmrc", b"x", ".npmrc", CREDENTIAL),
        (".aws/config", b"x", ".aws", "`.aws` contains credentials"),
        ("target/debug/x.d", b"x", "target", BUILD),
        ("web/dist/x.js", b"x", "web/dist", BUILD),
        ("build/x", b"x", "build", BUILD),
        ("a/__pycache__/x", b"x", "a/__pycache__", BUILD),
        ("node_modules/a/index.js", b"x", "node_modules", DEPENDENCY),
        ("vendor/a.go", b"x", "vendor", DEPENDENCY),
        (".venv/a.py", b"x", ".venv", DEPENDENCY),
        (".git/HEAD", b"x", ".git", "version control data"),
        ("Cargo.lock", b"x", "Cargo.lock", "a lock file"),
        ("web/package-lock.json", b"{}", "web/package-lock.json", "a lock file"),
        ("page.min.js", b"x", "page.min.js", "generated"),
        (".editorconfig", b"x", ".editorconfig", HIDDEN),
        (".github/ci.yml", b"x", ".github", HIDDEN),
        ("image.png", b"\x89PNG\0\0", "image.png", "it is binary"),
        ("latin.txt", b"caf\xe9", "latin.txt", "it is not UTF-8 text"),
        ("large.csv", &[b'1'; FILE_BYTES_MAX as usize + 1], "large.csv", "it is over 1000 KB"),
    ];
    for (path, bytes, expected, reason) in cases {
        let folder = TestFolder::new(&[("kept.md", "text")]);
        folder.write(path, bytes);
        let pack = folder.gather(&["."]);
        assert_eq!(sent(&pack), ["kept.md"], "with {path}");
        assert_eq!(left_out(&pack), [(expected, reason)], "with {path}");
    }
}

#[test]
fn a_text_that_holds_a_secret_is_left_out_however_it_was_named() {
    let text = format!("one\n{}", key("gsk_", 52));
    let reason = "line 2 looks like a secret (rule `groq-key`)";
    let folder = TestFolder::new(&[("notes.txt", &text), ("more.txt", "nothing")]);
    assert_eq!(left_out(&folder.gather(&["."])), [("notes.txt", reason)]);
    assert_eq!(left_out(&folder.gather(&["notes.txt"])), [("notes.txt", reason)]);
    assert_eq!(sent(&folder.gather(&["."])), ["more.txt"]);
}

#[test]
fn values_and_files_of_this_run_are_left_out() {
    let folder = TestFolder::new(&[
        ("a.md", "see plain-words-that-say-nothing"),
        ("settings.yaml", "council: {}"),
        ("kept.md", "x"),
    ]);
    let values = SecretValues::new(&["plain-words-that-say-nothing".into()]);
    let guard = SecretGuard::new(values, [folder.path().join("./settings.yaml")]);
    for paths in [&["."][..], &["a.md", "settings.yaml", "kept.md"]] {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        let pack = gather_files(folder.path(), &paths, &guard).unwrap();
        assert_eq!(sent(&pack), ["kept.md"]);
        let expected = [
            ("a.md", "line 1 contains the value of a key in use"),
            ("settings.yaml", "configuration of this program"),
        ];
        assert_eq!(left_out(&pack), expected);
    }
}

#[test]
fn ignore_files_hold_without_a_repository() {
    let folder = TestFolder::new(&[
        (".gitignore", "*.log\n/private/\n"),
        ("sub/.councilignore", "draft.md\n!keep.log\n"),
        ("a.log", "x"),
        ("private/a.md", "x"),
        ("sub/draft.md", "x"),
        ("sub/keep.log", "x"),
        ("sub/text.md", "x"),
    ]);
    let pack = folder.gather(&["."]);
    assert_eq!(sent(&pack), ["sub/keep.log", "sub/text.md"]);
    let expected = [
        (".gitignore", HIDDEN),
        ("a.log", IGNORED),
        ("private", IGNORED),
        ("sub/.councilignore", HIDDEN),
        ("sub/draft.md", IGNORED),
    ];
    assert_eq!(left_out(&pack), expected);
    // The ignore rules of the parent folder apply to a named folder.
    folder.write("sub/b.log", b"x");
    assert_eq!(sent(&folder.gather(&["sub"])), ["sub/keep.log", "sub/text.md"]);
}

#[test]
fn many_ignored_files_are_summed_up() {
    let folder = TestFolder::new(&[(".gitignore", "*.log"), ("a.md", "x")]);
    (0..50).for_each(|number| folder.write(&format!("logs/{number:02}.log"), b"x"));
    let pack = folder.gather(&["."]);
    let reasons = left_out(&pack);
    assert_eq!(reasons.len(), 22);
    assert_eq!(reasons[1], ("logs", "30 more in it: ignored by `.gitignore` or `.councilignore`"));
    assert_eq!(reasons[2], ("logs/00.log", IGNORED));
}

#[test]
fn what_is_named_is_taken_unless_it_is_a_credential() {
    let folder = TestFolder::new(&[
        (".gitignore", "ignored.md"),
        ("ignored.md", "x"),
        ("Cargo.lock", "x"),
        (".github/ci.yml", "x"),
        ("build/notes.md", "x"),
        (".env", "A=1"),
        (".aws/config", "x"),
    ]);
    let named = ["ignored.md", "Cargo.lock", ".github", "build", ".env", ".aws", ".aws/config"];
    let pack = folder.gather(&named);
    assert_eq!(sent(&pack), [".github/ci.yml", "Cargo.lock", "build/notes.md", "ignored.md"]);
    let held = "`.aws` contains credentials";
    assert_eq!(left_out(&pack), [(".aws", held), (".aws/config", held), (".env", CREDENTIAL)]);
    // A file named beside its folder is not also listed as excluded.
    let pack = folder.gather(&[".", "Cargo.lock"]);
    assert_eq!(sent(&pack), ["Cargo.lock"]);
    assert!(!left_out(&pack).iter().any(|(path, _)| *path == "Cargo.lock"));
}

#[test]
fn a_named_path_that_cannot_be_read_is_an_error() {
    let folder = TestFolder::new(&[("a.md", "x")]);
    for path in ["missing.md", "a.md/below", "", "nul\0"] {
        let error = folder.refuse(path);
        assert!(matches!(error, ContextFileError::Unreadable { .. }), "{path}: {error}");
        assert_eq!(Error::from(error).kind().exit_code(), 4);
    }
    assert!(matches!(folder.refuse("/dev/null"), ContextFileError::NotAFile { .. }));
}

#[test]
fn paths_are_shown_relative_to_the_base() {
    let outer = TestFolder::new(&[("base/in.md", "x"), ("beside/out.md", "x")]);
    let base = outer.path().join("base");
    let absolute = outer.path().join("beside/out.md");
    let check = |path: &Path, expected: &str| {
        let pack = gather_files(&base, &[path.to_owned()], &SecretGuard::default()).unwrap();
        assert_eq!(sent(&pack), [expected]);
    };
    check(&base.join("in.md"), "in.md");
    check(&base, "in.md");
    check(Path::new("../base/./in.md"), "in.md");
    check(Path::new("../beside"), "../beside/out.md");
    check(&absolute, absolute.to_str().unwrap());
}

#[test]
fn two_hundred_files_go_whole_and_one_more_makes_an_index() {
    let folder = TestFolder::new(&[("README.md", "what it is"), ("src/main.rs", "fn main() {}")]);
    (2..WHOLE_FILES_MAX).for_each(|number| folder.write(&format!("t/{number:03}.txt"), b"x"));
    let pack = folder.gather(&["."]);
    assert_eq!((pack.files.len(), pack.indexed.len()), (WHOLE_FILES_MAX, 0));
    folder.write("t/200.txt", b"xyz");
    let pack = folder.gather(&["."]);
    assert_eq!(sent(&pack), ["README.md", "src/main.rs"]);
    assert_eq!(pack.indexed.len(), WHOLE_FILES_MAX - 1);
    assert_eq!((pack.indexed[198].path.as_str(), pack.indexed[198].bytes), ("t/200.txt", 3));
    // A file named directly is a key file.
    assert_eq!(
        sent(&folder.gather(&[".", "t/200.txt"])),
        ["README.md", "src/main.rs", "t/200.txt"]
    );
}

#[test]
fn more_than_half_a_megabyte_makes_an_index() {
    let text = |bytes: u64| "x".repeat(bytes as usize);
    let folder = TestFolder::new(&[
        ("a.txt", &text(WHOLE_BYTES_MAX - 200_000)),
        ("package.json", &text(100_000)),
        ("lib/index.js", &text(100_000)),
    ]);
    let pack = folder.gather(&["."]);
    assert_eq!(sent(&pack), ["a.txt", "lib/index.js", "package.json"]);
    folder.write("z.txt", b"x");
    let pack = folder.gather(&["."]);
    assert_eq!(sent(&pack), ["lib/index.js", "package.json"]);
    assert_eq!(indexed(&pack), ["a.txt", "z.txt"]);
    // Key files are limited too: the shortest are taken first.
    folder.write("README", text(WHOLE_BYTES_MAX - 200_000 + 1).as_bytes());
    let pack = folder.gather(&["."]);
    assert_eq!(sent(&pack), ["lib/index.js", "package.json"]);
    assert_eq!(indexed(&pack), ["README", "a.txt", "z.txt"]);
}

#[test]
fn what_is_left_out_does_not_count_towards_the_limits() {
    let folder = TestFolder::new(&[("a.md", "x")]);
    folder.write("big.bin", &[0; 900_000]);
    (0..300).for_each(|number| folder.write(&format!("target/{number}"), b"x"));
    assert_eq!(sent(&folder.gather(&["."])), ["a.md"]);
}

#[test]
fn a_folder_without_end_is_refused() {
    let folder = TestFolder::new(&[]);
    (0..=CONTEXT_ENTRIES_MAX).for_each(|number| folder.write(&format!("{number}"), b""));
    assert!(matches!(folder.refuse("."), ContextFileError::TooMany { .. }));
}

#[cfg(unix)]
mod unix {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::context_files::read::read_sendable;

    fn pipe(path: &Path) {
        let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    }

    #[test]
    fn links_are_not_followed_out_of_the_folder_nor_around_its_rules() {
        let outer = TestFolder::new(&[("outside.md", "x"), ("in/a.md", "x"), ("in/.env", "A=1")]);
        let inside = outer.path().join("in");
        symlink("../outside.md", inside.join("out.md")).unwrap();
        symlink("..", inside.join("up")).unwrap();
        symlink("a.md", inside.join("same.md")).unwrap();
        symlink(".env", inside.join("settings.txt")).unwrap();
        symlink("gone", inside.join("broken")).unwrap();
        symlink("loop", inside.join("loop")).unwrap();
        let pack = outer.gather(&["in"]);
        assert_eq!(sent(&pack), ["in/a.md"]);
        let own_name = "a link; its target is listed under its own path";
        let expected = [
            ("in/.env", CREDENTIAL),
            ("in/broken", "a link that leads nowhere"),
            ("in/loop", "a link that leads nowhere"),
            ("in/out.md", "a link that leads out of the folder"),
            ("in/same.md", own_name),
            ("in/settings.txt", own_name),
            ("in/up", "a link that leads out of the folder"),
        ];
        assert_eq!(left_out(&pack), expected);
        // A named link is followed, but not to a credential.
        assert_eq!(sent(&outer.gather(&["in/out.md"])), ["outside.md"]);
        assert_eq!(left_out(&outer.gather(&["in/settings.txt"])), [("in/.env", CREDENTIAL)]);
    }

    #[test]
    fn pipes_and_sockets_do_not_hold_it_up() {
        let folder = TestFolder::new(&[("a.md", "x")]);
        pipe(&folder.path().join("pipe"));
        let _socket = UnixListener::bind(folder.path().join("socket")).unwrap();
        let pack = folder.gather(&["."]);
        assert_eq!(sent(&pack), ["a.md"]);
        let reason = "a device, pipe or socket";
        assert_eq!(left_out(&pack), [("pipe", reason), ("socket", reason)]);
        assert!(matches!(folder.refuse("pipe"), ContextFileError::NotAFile { .. }));
    }

    #[test]
    fn a_pipe_in_the_place_of_a_file_does_not_hold_it_up() {
        let folder = TestFolder::new(&[]);
        let path = folder.path().join("was-a-file");
        pipe(&path);
        let left = Err("it is not a regular file".to_owned());
        assert_eq!(read_sendable(&path, &SecretGuard::default()), left);
    }

    #[test]
    fn hostile_names_are_kept_as_text() {
        let names = ["line\nbreak.md", "\x1b[31mred.md", "a\u{202e}dm.b", " ", "-rf", "$(x)", "\\"];
        let folder = TestFolder::new(&[]);
        names.iter().for_each(|name| folder.write(name, b"x"));
        let mut expected = names;
        expected.sort_unstable();
        assert_eq!(sent(&folder.gather(&["."])), expected);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a name that is not text has no other way in")]
    fn a_name_that_is_not_text_is_left_out() {
        let folder = TestFolder::new(&[("a.md", "x")]);
        let name = std::ffi::OsStr::from_bytes(b"caf\xe9.md");
        std::fs::write(folder.path().join(name), b"x").unwrap();
        let pack = folder.gather(&["."]);
        assert_eq!(sent(&pack), ["a.md"]);
        assert_eq!(left_out(&pack), [("caf\u{fffd}.md", "its name is not UTF-8")]);
    }
}

#[cfg(unix)]
#[test]
fn a_named_folder_is_found_by_dots_by_a_link_and_by_its_whole_path() {
    let outer = TestFolder::new(&[("base/a.md", "x"), ("docs/b.md", "x"), ("docs/c.md", "")]);
    outer.write("bare/key.pem", b"x");
    let base = outer.path().join("base");
    std::os::unix::fs::symlink(outer.path().join("docs"), base.join("linked")).unwrap();
    let check = |path: &Path| {
        let paths = [path.to_owned()];
        let pack = gather_files(&base, &paths, &SecretGuard::default()).unwrap();
        require_named_files(&base, &paths, &pack)
    };
    for path in ["../docs", "linked", ".", "../docs/b.md", "linked/b.md"] {
        assert!(check(Path::new(path)).is_ok(), "{path}: {:?}", check(Path::new(path)));
    }
    assert!(check(&outer.path().join("docs")).is_ok());
    for path in ["../bare", "../docs/c.md"] {
        assert!(matches!(check(Path::new(path)), Err(ContextFileError::Unsent { .. })), "{path}");
    }
}
