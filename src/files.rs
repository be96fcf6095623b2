//! Where files may be written, and how: inside the allowed folders, whole or not
//! at all. And how a request is read from a file.
//!
//! **Invariant:** a path that a request brings is resolved as the system would
//! resolve it, links included, before it is compared with the allowed folders.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use crate::domain::limits::ARGUMENTS_BYTES_MAX;
use crate::domain::refusal::{Code, Fault};
use crate::domain::store_files::store_files;

/// Beside the store: what whoever calls the server must know.
pub const TOKEN: &str = "token";

/// The folders a request may write to, and the files it may never touch.
#[derive(Debug, Clone)]
pub struct Folders {
    working: PathBuf,
    store: PathBuf,
    store_file: PathBuf,
    allowed: Vec<PathBuf>,
    store_files: Vec<PathBuf>,
    /// Files of the project that have a meaning of their own.
    kept: Vec<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("cannot read `{path}`")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{path}` is not a file")]
    NotAFile { path: PathBuf },
    #[error("`{path}` is over the limit of {bytes_max} bytes")]
    TooLarge { path: PathBuf, bytes_max: usize },
    #[error("`{path}` is not UTF-8 text")]
    NotText { path: PathBuf },
    #[error("cannot write `{path}`")]
    Unwritable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// What is wrong with a path, for the message.
type Objection = &'static str;

impl Folders {
    /// The working folder, the folder of the store's file, and further ones.
    pub fn new(working: &Path, store_file: &Path, further: &[PathBuf]) -> Self {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let store = real(store_file.parent().unwrap_or(working));
        let working = real(working);
        // The database follows a link and keeps its other files beside the real one.
        let named = store.join(store_file.file_name().unwrap_or_default());
        let databases = [real(&named), named.clone()];
        let store_files = databases.iter().flat_map(|file| store_files(file));
        let store_files = store_files.chain([store.join(TOKEN)]).collect();
        let further = further.iter().map(|path| real(path));
        let allowed = [working.clone(), store.clone()].into_iter().chain(further).collect();
        Self { working, store, store_file: named, allowed, store_files, kept: Vec::new() }
    }

    /// The same; these are never written to, whoever asks for it.
    #[must_use]
    pub fn keeping(mut self, files: impl IntoIterator<Item = PathBuf>) -> Self {
        let real = |path: PathBuf| resolve(&self.working.join(&path)).unwrap_or(path);
        self.kept = files.into_iter().map(real).collect();
        self
    }

    /// The store's file, as it was named.
    pub fn store_file(&self) -> &Path {
        &self.store_file
    }

    /// Where the store's file lies.
    pub fn store_folder(&self) -> &Path {
        &self.store
    }

    /// Where a dialogue's files go when nobody says otherwise.
    pub fn default_output_dir(&self, dialogue_id: &str) -> String {
        format!("dialogues/{dialogue_id}")
    }

    /// A stored `output_dir` as a path: a relative one lies in the store's folder.
    pub fn output_dir(&self, stored: &str) -> PathBuf {
        self.store.join(stored)
    }

    /// The folder that a request names, to be stored.
    pub fn folder(&self, field: &str, text: &str) -> Result<String, Fault> {
        let path = self.allowed_path(text).map_err(|objection| refused(field, text, objection))?;
        if path.exists() && !path.is_dir() {
            return Err(refused(field, text, "it is not a folder"));
        }
        // One spelling for one folder, so that its owner is found; and a store that moves
        // takes along what lies in its own folder.
        let stored = path.strip_prefix(&self.store).unwrap_or(&path).to_str().map(str::to_owned);
        stored.ok_or_else(|| refused(field, &path.to_string_lossy(), "it is not UTF-8"))
    }

    /// The file that a request wants to write.
    pub fn file(&self, field: &str, text: &str) -> Result<PathBuf, Fault> {
        let path = self.allowed_path(text).map_err(|objection| refused(field, text, objection))?;
        if path.exists() && !path.is_file() {
            return Err(refused(field, text, "it is not a regular file"));
        }
        Ok(path)
    }

    /// A file in a dialogue's own folder. The folder was allowed when it was chosen; what it
    /// leads to may have changed since.
    pub fn own_file(&self, output_dir: &str, name: &str) -> Result<PathBuf, Fault> {
        let path = self.output_dir(output_dir).join(name);
        self.allowed(&path).map_err(|objection| refused("output_dir", output_dir, objection))
    }

    /// The file or folder that a request wants to be read: somebody who writes from afar reads
    /// what they may write, and nothing of the store.
    pub fn source(&self, field: &str, text: &str) -> Result<PathBuf, Fault> {
        let objected = |objection| refused(field, text, objection);
        if text.trim().is_empty() || text.contains('\0') {
            return Err(objected("it is not a path"));
        }
        let path = resolve(&self.working.join(text)).map_err(objected)?;
        if !self.allowed.iter().any(|folder| path.starts_with(folder)) {
            return Err(objected("it lies outside the allowed folders"));
        }
        if self.store_files.iter().any(|file| path.starts_with(file)) {
            return Err(objected("it is a file of the store"));
        }
        Ok(path)
    }

    fn allowed_path(&self, text: &str) -> Result<PathBuf, Objection> {
        if text.trim().is_empty() || text.contains('\0') {
            return Err("it is not a path");
        }
        self.allowed(Path::new(text))
    }

    fn allowed(&self, path: &Path) -> Result<PathBuf, Objection> {
        let path = resolve(&self.working.join(path))?;
        if self.allowed.contains(&path) {
            return Err("it is one of the allowed folders itself");
        }
        if !self.allowed.iter().any(|folder| path.starts_with(folder) && path != *folder) {
            return Err("it lies outside the allowed folders");
        }
        if self.store_files.iter().any(|file| path.starts_with(file)) {
            return Err("it is a file of the store");
        }
        if self.kept.contains(&path) {
            return Err("it is council.yaml, or the verdict log");
        }
        if self.is_in_repository(&path) {
            return Err("it belongs to git");
        }
        Ok(path)
    }

    /// Whether git keeps it for itself: a hook that is written there is run.
    fn is_in_repository(&self, path: &Path) -> bool {
        let below = self.allowed.iter().filter_map(|folder| path.strip_prefix(folder).ok());
        let mut parts = below.flat_map(Path::components);
        parts.any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
    }
}

fn refused(field: &str, text: &str, objection: Objection) -> Fault {
    Fault::new(Code::PathNotAllowed, format!("{field} is not allowed: {objection}"))
        .field(field)
        .value(text)
        .suggest("choose a path under the working folder or the store's folder, or allow another with `--allow DIR`")
}

/// Resolves a path step by step, as the system would; what does not exist yet is kept.
fn resolve(path: &Path) -> Result<PathBuf, Objection> {
    /// The system's own limits on Linux.
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

/// Replaces a file whole: whoever reads it sees the old one or the new one.
#[expect(clippy::disallowed_methods, reason = "this is the door through which files are written")]
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let unwritable = |source| FileError::Unwritable { path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    let (temporary, mut file) = fresh_file(folder).map_err(unwritable)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        // The error that matters is the one that brought us here.
        let _ = std::fs::remove_file(&temporary);
    }
    written.map_err(unwritable)
}

/// A file that was not there before: whoever planted a link under its name planted it for nothing.
fn fresh_file(folder: &Path) -> io::Result<(PathBuf, std::fs::File)> {
    /// Left by processes that died; more of them than this is something else.
    const LEFTOVERS_MAX: u32 = 1_000;
    let mut attempt = 0;
    loop {
        let path = folder.join(format!(".plenary-{}-{attempt}.tmp", std::process::id()));
        match std::fs::File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => attempt += 1,
            Err(error) => return Err(error),
            Ok(file) => return Ok((path, file)),
        }
        if attempt > LEFTOVERS_MAX {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
    }
}

/// Reads a request from a file, or from standard input when it is called `-`.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    let unreadable = |source| FileError::Unreadable { path: path.to_owned(), source };
    let bytes = read_limited(source(path)?).map_err(unreadable)?;
    if bytes.len() > ARGUMENTS_BYTES_MAX {
        let bytes_max = ARGUMENTS_BYTES_MAX;
        return Err(FileError::TooLarge { path: path.to_owned(), bytes_max });
    }
    String::from_utf8(bytes).map_err(|_| FileError::NotText { path: path.to_owned() })
}

/// A file to be read piece by piece, or standard input when it is called `-`.
pub fn source(path: &Path) -> Result<Box<dyn Read>, FileError> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    let unreadable = |source| FileError::Unreadable { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    // A named pipe is how shells pass `<(…)`; a folder or a device is a mistake.
    if metadata.is_dir() || is_device(&metadata) {
        return Err(FileError::NotAFile { path: path.to_owned() });
    }
    Ok(Box::new(file))
}

#[cfg(unix)]
fn is_device(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let file_type = metadata.file_type();
    file_type.is_char_device() || file_type.is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &std::fs::Metadata) -> bool {
    false
}

/// One byte over the limit is enough to know that it is over.
fn read_limited(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(ARGUMENTS_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
/// Holds a file that is there for as long as the answer lives; nothing, while somebody else does.
pub fn hold(path: &Path) -> Result<Option<File>, FileError> {
    let unreadable = |source| FileError::Unreadable { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(unreadable(error)),
    }
}
