//! Resolves paths of requests against the allowed folders. The app layer calls `AllowedFolders`.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use plenary_core::model::validation_error::{ErrorCode, ValidationError};

use crate::files::allowed_file::{AllowedFile, WritePermission};
use crate::files::open_folder::{MissingFolders, OpenFolder};
use crate::files::reserved_names::{
    is_in_repository, is_own_file_name, is_within, list_owned_paths, objection_to_file,
    objection_to_folders,
};

/// The folders that a request may use, and the files that it must not touch.
#[derive(Debug, Clone)]
pub struct AllowedFolders {
    working: PathBuf,
    store: PathBuf,
    /// The database path as configured.
    store_file: PathBuf,
    allowed: Vec<AllowedFolder>,
    /// The database, its lock files and the token: never written, never read.
    store_owned: Vec<PathBuf>,
    /// Files that the configuration refers to: never written.
    protected: Vec<PathBuf>,
}

/// An allowed folder with a handle opened when it was allowed.
#[derive(Debug, Clone)]
pub(crate) struct AllowedFolder {
    /// The path without links.
    path: PathBuf,
    /// `None` if the folder did not exist then.
    handle: Option<Arc<OpenFolder>>,
}

/// A checked path: inside an allowed folder and without links. Open it without following links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePath(PathBuf);

/// The reason why a path is rejected, for the message.
pub(crate) type PathObjection = &'static str;

impl SourcePath {
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl AllowedFolder {
    fn new(path: PathBuf) -> Self {
        let handle = open_from_root(&path, MissingFolders::Refuse).ok().map(Arc::new);
        Self { path, handle }
    }

    /// The allowed folder; if it was removed since, the folder that has its path now.
    pub(crate) fn open_handle(&self) -> io::Result<Arc<OpenFolder>> {
        match self.handle.as_ref().filter(|handle| handle.is_still_linked()) {
            Some(handle) => Ok(handle.clone()),
            None => Ok(Arc::new(open_from_root(&self.path, MissingFolders::Create)?)),
        }
    }
}

fn open_from_root(path: &Path, missing: MissingFolders) -> io::Result<OpenFolder> {
    let relative = path.strip_prefix("/").map_err(|_| io::ErrorKind::InvalidInput)?;
    OpenFolder::open_at(Path::new("/"))?.open_beneath(relative, missing)
}

impl AllowedFolders {
    /// Allows the working folder, the folder of the store and further ones.
    pub fn new(working: &Path, store_file: &Path, further: &[PathBuf]) -> Self {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let store = real(store_file.parent().unwrap_or(working));
        let working = real(working);
        // SQLite follows a link and keeps its other files beside the real database.
        let named = store.join(store_file.file_name().unwrap_or_default());
        let databases = [real(&named), named.clone()];
        let store_owned = databases.iter().flat_map(|file| list_owned_paths(file)).collect();
        let further = further.iter().map(|path| real(path));
        let allowed = [working.clone(), store.clone()].into_iter().chain(further);
        let allowed = allowed.map(AllowedFolder::new).collect();
        Self { working, store, store_file: named, allowed, store_owned, protected: Vec::new() }
    }

    /// The database path as configured.
    pub fn store_file(&self) -> &Path {
        &self.store_file
    }

    /// Protects these files from writing, even with `--force`.
    #[must_use]
    pub fn with_protected_files(mut self, files: impl IntoIterator<Item = PathBuf>) -> Self {
        let real = |path: PathBuf| {
            let path = self.working.join(path);
            let resolved = resolve_path(&path);
            [Some(path), resolved.ok()]
        };
        self.protected = files.into_iter().flat_map(real).flatten().collect();
        self
    }

    /// The folder of the store.
    pub fn store_folder(&self) -> &Path {
        &self.store
    }

    /// The default output folder of a dialogue.
    pub fn default_output_dir(&self, dialogue_id: &str) -> String {
        format!("dialogues/{dialogue_id}")
    }

    /// The path of a stored `output_dir`; a relative one is below the store's folder.
    pub fn output_dir(&self, stored: &str) -> PathBuf {
        self.store.join(stored)
    }

    /// Checks a folder of a request and returns the text to store.
    pub fn check_folder(&self, field: &str, text: &str) -> Result<String, ValidationError> {
        let objected = |objection| refuse_path(field, text, objection);
        let path = self.resolve_text(text).map_err(objected)?;
        if path.exists() && !path.is_dir() {
            return Err(objected("it is not a folder"));
        }
        if let Some(objection) =
            self.find_innermost(&path).and_then(|it| objection_to_folders(it.1))
        {
            return Err(objected(objection));
        }
        // Store one spelling per folder, so that its owner can be found. Paths in the store's
        // folder are relative, so that the store can be moved.
        let stored = path.strip_prefix(&self.store).unwrap_or(&path).to_str().map(str::to_owned);
        stored.ok_or_else(|| refuse_path(field, &path.to_string_lossy(), "it is not UTF-8"))
    }

    /// Checks a file that a request wants to write.
    pub fn check_file(
        &self,
        field: &str,
        text: &str,
        permission: WritePermission,
    ) -> Result<AllowedFile, ValidationError> {
        let path =
            self.resolve_text(text).map_err(|objection| refuse_path(field, text, objection))?;
        if path.exists() && !path.is_file() {
            return Err(refuse_path(field, text, "it is not a regular file"));
        }
        self.build_allowed_file(field, text, path, permission)
    }

    /// Checks a file in a dialogue's output folder. The folder was allowed when it was chosen, but
    /// its links may have changed since.
    pub fn check_own_file(
        &self,
        output_dir: &str,
        name: &str,
        permission: WritePermission,
    ) -> Result<AllowedFile, ValidationError> {
        let path = self.output_dir(output_dir).join(name);
        let path = self.resolve_allowed(&path);
        let path = path.map_err(|objection| refuse_path("output_dir", output_dir, objection))?;
        self.build_allowed_file("output_dir", output_dir, path, permission)
    }

    /// Checks a file or folder that a request wants to read: it must be in an allowed folder and
    /// not belong to the store.
    pub fn check_source(&self, field: &str, text: &str) -> Result<SourcePath, ValidationError> {
        let objected = |objection| refuse_path(field, text, objection);
        if text.trim().is_empty() || text.contains('\0') {
            return Err(objected("it is not a path"));
        }
        let path = resolve_path(&self.working.join(text)).map_err(objected)?;
        if self.find_innermost(&path).is_none() {
            return Err(objected(OUTSIDE));
        }
        if self.store_owned.iter().any(|file| is_within(&path, file)) {
            return Err(objected("it is a file of the store"));
        }
        Ok(SourcePath(path))
    }

    fn resolve_text(&self, text: &str) -> Result<PathBuf, PathObjection> {
        if text.trim().is_empty() || text.contains('\0') {
            return Err("it is not a path");
        }
        self.resolve_allowed(Path::new(text))
    }

    fn resolve_allowed(&self, path: &Path) -> Result<PathBuf, PathObjection> {
        let path = resolve_path(&self.working.join(path))?;
        if self.allowed.iter().any(|folder| folder.path == path) {
            return Err("it is one of the allowed folders itself");
        }
        if self.find_innermost(&path).is_none() {
            return Err(OUTSIDE);
        }
        if self.store_owned.iter().any(|file| is_within(&path, file)) {
            return Err("it is a file of the store");
        }
        if self.protected.iter().any(|kept| is_within(&path, kept) && is_within(kept, &path)) {
            return Err("it is council.yaml, the verdict log, or a file that council.yaml names");
        }
        let mut below = self.allowed.iter().filter_map(|it| path.strip_prefix(&it.path).ok());
        if below.any(is_in_repository) {
            return Err("it belongs to git");
        }
        Ok(path)
    }

    fn build_allowed_file(
        &self,
        field: &str,
        text: &str,
        path: PathBuf,
        permission: WritePermission,
    ) -> Result<AllowedFile, ValidationError> {
        let objected = |objection| refuse_path(field, text, objection);
        let Some((folder, below)) = self.find_innermost(&path) else {
            return Err(objected(OUTSIDE));
        };
        if is_own_file_name(below) {
            return Err(objected("Plenary itself acts on a file of that name"));
        }
        if permission != WritePermission::Forced
            && let Some(objection) = objection_to_file(below)
        {
            let fault = objected(objection);
            return Err(match permission {
                WritePermission::Local => {
                    fault.with_suggestion("choose another name, or write the file with `--force`")
                }
                WritePermission::Remote | WritePermission::Forced => {
                    fault.with_suggestion("choose another name")
                }
            });
        }
        Ok(AllowedFile {
            field: field.to_owned(),
            text: text.to_owned(),
            folder: folder.clone(),
            relative: below.to_owned(),
            guarded: self.store_owned.iter().chain(&self.protected).cloned().collect(),
            permission,
            path,
        })
    }

    /// The innermost allowed folder that contains a path, and the rest of the path.
    fn find_innermost<'a>(&self, path: &'a Path) -> Option<(&AllowedFolder, &'a Path)> {
        let containing = self
            .allowed
            .iter()
            .filter_map(|folder| Some((folder, path.strip_prefix(&folder.path).ok()?)));
        containing.min_by_key(|(_, below)| below.as_os_str().len())
    }
}

pub(crate) fn refuse_path(field: &str, text: &str, objection: &str) -> ValidationError {
    ValidationError::new(ErrorCode::PathNotAllowed, format!("{field} is not allowed: {objection}"))
        .with_field(field)
        .with_value(text)
        .with_suggestion(hint_for(objection))
}

const OUTSIDE: &str = "it is outside the allowed folders";

fn hint_for(objection: &str) -> &'static str {
    match objection {
        OUTSIDE => {
            "choose a path under the working folder or the store's folder, or allow another with `--allow DIR`"
        }
        _ => "choose another path",
    }
}

/// Resolves links and `..` as the system does. Components that do not exist yet are kept.
fn resolve_path(path: &Path) -> Result<PathBuf, PathObjection> {
    /// Limits of Linux.
    const PATH_BYTES_MAX: usize = 4_095;
    const NAME_BYTES_MAX: usize = 255;
    let mut real = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => real.push(component),
            Component::CurDir => {}
            Component::ParentDir if real.is_dir() => drop(real.pop()),
            Component::ParentDir => return Err("it climbs out of a folder that does not exist"),
            Component::Normal(name) if name.len() > NAME_BYTES_MAX => {
                return Err("a name in it is too long");
            }
            Component::Normal(_) if real.exists() && !real.is_dir() => {
                return Err("it leads through something that is not a folder");
            }
            Component::Normal(name) => {
                real.push(name);
                if real.is_symlink() {
                    real = real.canonicalize().map_err(|_| "it leads through a broken link")?;
                }
            }
        }
    }
    if real.as_os_str().len() > PATH_BYTES_MAX { Err("it is too long") } else { Ok(real) }
}
