//! A folder and a link are swapped while files in it are written and read: no access reaches the
//! link's target.
//!
//! The swaps run during a fixed number of calls. With separate check and use, about one call in
//! five escaped.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use plenary_engine::context_files::document::DocumentLocation;
use plenary_engine::context_files::gather::gather_sources;
use plenary_engine::context_files::read::SecretGuard;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;
use tempfile::TempDir;

use crate::kit::{TestProject, open_dialogue, open_workspace, pick_repeats};

const SECRET: &str = "a secret of the neighbour";

/// `home/` is allowed, `home/sub` is swapped with a link to `neighbour/`, which is not.
struct SwappedFolder {
    root: TempDir,
    project: TestProject,
}

impl SwappedFolder {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let (home, neighbour) = (root.path().join("home"), root.path().join("neighbour"));
        for folder in [home.join("sub/deep"), neighbour.join("deep")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        for name in ["file.md", "deep/file.md"] {
            std::fs::write(neighbour.join(name), SECRET).unwrap();
            std::fs::write(home.join("sub").join(name), "our own").unwrap();
        }
        symlink(&neighbour, home.join("swap")).unwrap();
        let bench =
            TestProject { folder: tempfile::tempdir().unwrap(), project: open_workspace(&home) };
        open_dialogue(&bench, &["ann"]);
        Self { root, project: bench }
    }

    fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// Runs `call` this many times while folder and link are swapped continuously.
    fn during_swaps(&self, calls: u32, call: impl Fn(u32)) {
        let (sub, swap) = (self.home().join("sub"), self.home().join("swap"));
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    exchange_paths(&sub, &swap);
                }
            });
            // Stops the other thread even if a call panics.
            let over = StopOnDrop(&is_over);
            (0..calls).for_each(call);
            drop(over);
        });
        if sub.is_symlink() {
            exchange_paths(&sub, &swap);
        }
    }

    /// The neighbour's files, which never change.
    fn neighbours_files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.root.path().join("neighbour")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        files.sort();
        files
    }
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn exchange_paths(one: &Path, other: &Path) {
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
}

#[test]
fn no_export_gets_out_while_a_folder_becomes_a_link() {
    let swapped = SwappedFolder::new();
    let before = swapped.neighbours_files();
    swapped.during_swaps(pick_repeats(600, 6_000), |call| {
        // A new name for each call: none is rejected because the file exists.
        let paths = [format!("sub/{call}.json"), format!("sub/deep/er/{call}.json")];
        for path in paths {
            let arguments = json!({ "dialogue_id": "talk", "output_path": path });
            // Rejected, or written inside.
            let _ = swapped.project.run_operation("export_file", &arguments);
        }
    });
    assert_eq!(swapped.neighbours_files(), before);
    // The guard accepts valid paths.
    let arguments = json!({ "dialogue_id": "talk", "output_path": "sub/deep/er/last.json" });
    swapped.project.run_ok("export_file", &arguments);
    assert!(swapped.home().join("sub/deep/er/last.json").is_file());
}

#[test]
fn no_prompt_gets_out_while_a_folder_becomes_a_link() {
    let swapped = SwappedFolder::new();
    let title = json!({ "title": "Other", "output_dir": "sub/deep/other",
        "expert_pool": crate::kit::make_pool(&["ann"]) });
    swapped.project.run_ok("create", &title);
    let before = swapped.neighbours_files();
    swapped.during_swaps(pick_repeats(1_000, 10_000), |_| {
        let render = json!({ "dialogue_id": "other", "render": true });
        let _ = swapped.project.run_operation("context", &render);
    });
    assert_eq!(swapped.neighbours_files(), before);
}

#[test]
fn no_file_outside_is_read_while_a_folder_becomes_a_link() {
    let swapped = SwappedFolder::new();
    let (home, folders) = (swapped.home(), &swapped.project.project.folders);
    let is_secret = |text: &str| text.contains(SECRET);
    swapped.during_swaps(pick_repeats(2_000, 20_000), |_| {
        for named in ["sub/file.md", "sub/deep/file.md"] {
            let Ok(source) = folders.check_source("path", named) else { continue };
            let read =
                DocumentLocation::from_source(&home, &source).and_then(|place| place.read_text());
            assert!(!read.is_ok_and(|text| is_secret(&text)), "{named}");
            let elsewhere = DocumentLocation::from_source(swapped.project.folder.path(), &source);
            let read = elsewhere.and_then(|place| place.read_text());
            assert!(!read.is_ok_and(|text| is_secret(&text)), "{named}");
            let pack = gather_sources(&home, &[source], &SecretGuard::default());
            let texts = pack.into_iter().flat_map(|pack| pack.files);
            assert!(!texts.into_iter().any(|file| is_secret(&file.text)), "{named}");
        }
    });
}

#[test]
fn no_file_outside_is_gathered_with_a_folder_that_becomes_a_link() {
    let swapped = SwappedFolder::new();
    let (home, folders) = (swapped.home(), &swapped.project.project.folders);
    swapped.during_swaps(pick_repeats(500, 5_000), |_| {
        for named in [".", "sub", "sub/deep"] {
            let Ok(source) = folders.check_source("context", named) else { continue };
            let pack = gather_sources(&home, &[source], &SecretGuard::default());
            let mut texts = pack.into_iter().flat_map(|pack| pack.files);
            assert!(!texts.any(|file| file.text.contains(SECRET)), "{named}");
        }
    });
}
