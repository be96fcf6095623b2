//! Record of trusted files: one entry file per path and content, in a folder that only this user
//! can write to.
//!
//! Two processes never write the same entry file, so no lock is needed.
//!
//! **Invariant:** an entry counts only in a folder that belongs to this user, is no link, and is
//! not writable by others.
//!
//! Checks who owns a project's file. Like git, Plenary rejects files of other users, because the
//! file's owner decides what the program does.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use plenary_core::model::hash::sha256_hex;
use rustix::fs::{AtFlags, OFlags};
use rustix::io::Errno;
use serde::Serialize;

use crate::config::environment::EnvVariables;
use crate::config::error::ConfigError;
use crate::config::locate::open_council_file;
use crate::files::open_folder::{MissingFolders, OpenFolder};
use crate::files::read_write::FileError;

/// Path of the record below the user's state folder.
const RECORD_FOLDERS: [&str; 2] = ["plenary", "trusted"];

/// Other users may neither write to the folders nor see which projects exist.
const FOLDER_MODE: u32 = 0o700;
const ENTRY_MODE: u32 = 0o600;

/// Permission bits that let other users change a folder.
const OTHERS_WRITE: u32 = 0o022;

/// A digest and the longest possible path; a larger file is not an entry.
const ENTRY_BYTES_MAX: u64 = 8 * 1024;

/// A path and the digest of its content. The same content at another path needs its own consent,
/// because its relative paths refer to other programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrustedIdentity {
    /// Canonical folder and file name. A link at the end is not resolved, because paths in the file
    /// are relative to the link's folder.
    pub path: PathBuf,
    pub sha256: String,
}

/// A trusted file and its current state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrustedFile {
    pub path: String,
    pub sha256: String,
    pub state: FileState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    /// The file still has the trusted content.
    Unchanged,
    Changed,
    Missing,
}

impl TrustedIdentity {
    pub(crate) fn from_path(path: &Path, sha256: String) -> Result<Self, ConfigError> {
        let unreadable = |source| FileError::Unreadable { path: path.to_owned(), source };
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().map_err(unreadable)?;
        let name = path.file_name().ok_or_else(|| FileError::NotAFile { path: path.to_owned() })?;
        Ok(Self { path: folder.join(name), sha256 })
    }

    /// File name of the entry.
    fn entry_name(&self) -> String {
        let path = self.path.as_os_str().as_bytes();
        sha256_hex([path, b"\0", self.sha256.as_bytes()])
    }

    fn to_entry(&self) -> Vec<u8> {
        [self.sha256.as_bytes(), b"\n", self.path.as_os_str().as_bytes()].concat()
    }

    fn from_entry(entry: &[u8]) -> Option<Self> {
        let end = entry.iter().position(|byte| *byte == b'\n')?;
        let (sha256, path) = entry.split_at_checked(end)?;
        let path = path.split_first()?.1;
        let sha256 = String::from_utf8(sha256.to_owned()).ok()?;
        Some(Self { path: OsStr::from_bytes(path).into(), sha256 })
    }
}

/// Whether the user trusts this content of this file.
pub(crate) fn is_recorded(
    identity: &TrustedIdentity,
    environment: &EnvVariables,
) -> Result<bool, ConfigError> {
    let Some(record) = TrustRecord::open_existing(environment)? else { return Ok(false) };
    let entry = record
        .read_entry(OsStr::new(&identity.entry_name()))
        .map_err(|error| record.to_config_error(error))?;
    Ok(entry.is_some_and(|entry| entry == *identity))
}

/// Records that the user trusts this content of this file.
pub(crate) fn write_trust(
    identity: &TrustedIdentity,
    environment: &EnvVariables,
) -> Result<(), ConfigError> {
    let record = TrustRecord::create(environment)?;
    record.write_entry(identity).map_err(|error| record.to_config_error(error))
}

/// Lists the trusted files by path.
pub fn list_trusted(environment: &EnvVariables) -> Result<Vec<TrustedFile>, ConfigError> {
    let Some(record) = TrustRecord::open_existing(environment)? else { return Ok(Vec::new()) };
    let entries = record.list_entries().map_err(|error| record.to_config_error(error))?;
    let state = |identity: &TrustedIdentity| match open_council_file(&identity.path) {
        Ok(opened) if opened.sha256 == identity.sha256 => FileState::Unchanged,
        Err(ConfigError::NoFile { .. }) => FileState::Missing,
        Ok(_) | Err(_) => FileState::Changed,
    };
    let mut files: Vec<TrustedFile> = entries
        .into_iter()
        .map(|(_, identity)| {
            let state = state(&identity);
            let path = identity.path.to_string_lossy().into_owned();
            TrustedFile { path, sha256: identity.sha256, state }
        })
        .collect();
    files.sort_by(|one, other| (&one.path, &one.sha256).cmp(&(&other.path, &other.sha256)));
    Ok(files)
}

/// Removes all entries of a path; returns their number.
pub fn remove_trust(path: &Path, environment: &EnvVariables) -> Result<usize, ConfigError> {
    let Some(record) = TrustRecord::open_existing(environment)? else { return Ok(0) };
    // A deleted file has no canonical folder any more; compare its recorded path.
    let real = TrustedIdentity::from_path(path, String::new()).map(|identity| identity.path).ok();
    let entries = record.list_entries().map_err(|error| record.to_config_error(error))?;
    let meant =
        |identity: &TrustedIdentity| identity.path == path || Some(&identity.path) == real.as_ref();
    let mut removed = 0;
    for (name, _) in entries.iter().filter(|(_, identity)| meant(identity)) {
        rustix::fs::unlinkat(record.folder.raw_handle(), name.as_os_str(), AtFlags::empty())
            .map_err(|error| record.to_config_error(error.into()))?;
        removed += 1;
    }
    Ok(removed)
}

/// The record's folder, opened, so that replacing its path has no effect.
#[derive(Debug)]
struct TrustRecord {
    folder: OpenFolder,
    path: PathBuf,
    user: CurrentUser,
}

impl TrustRecord {
    /// Returns `None` if no file was trusted yet, or if there is no state folder.
    fn open_existing(environment: &EnvVariables) -> Result<Option<Self>, ConfigError> {
        let Some(state) = environment.state_folder() else { return Ok(None) };
        match Self::open_in(&state, environment) {
            Err(ConfigError::TrustRecord { source, .. })
                if source.kind() == io::ErrorKind::NotFound =>
            {
                Ok(None)
            }
            opened => opened.map(Some),
        }
    }

    fn create(environment: &EnvVariables) -> Result<Self, ConfigError> {
        let state = environment.state_folder().ok_or(ConfigError::NoStateFolder)?;
        let path = state.join(RECORD_FOLDERS.join("/"));
        let made = DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(&path);
        made.map_err(|source| ConfigError::TrustRecord { path, source })?;
        Self::open_in(&state, environment)
    }

    fn open_in(state: &Path, environment: &EnvVariables) -> Result<Self, ConfigError> {
        let user = CurrentUser::from_process(environment);
        let path = state.join(RECORD_FOLDERS.join("/"));
        match open_folders(state, user) {
            Ok(folder) => Ok(Self { folder, path, user }),
            Err(source) => Err(ConfigError::TrustRecord { path, source }),
        }
    }

    fn to_config_error(&self, source: io::Error) -> ConfigError {
        ConfigError::TrustRecord { path: self.path.clone(), source }
    }

    /// Reads an entry; `None` if it is missing or not ours.
    fn read_entry(&self, name: &OsStr) -> io::Result<Option<TrustedIdentity>> {
        let file = match self.folder.open_file(name, OFlags::RDONLY, 0) {
            Ok(file) => file,
            Err(error) => match Errno::from_io_error(&error) {
                Some(Errno::NOENT | Errno::LOOP) => return Ok(None),
                _ => return Err(error),
            },
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() || !self.user.owns_uid(metadata.uid()) {
            return Ok(None);
        }
        let mut entry = Vec::new();
        file.take(ENTRY_BYTES_MAX).read_to_end(&mut entry)?;
        Ok(TrustedIdentity::from_entry(&entry))
    }

    /// Writes an entry. An entry left incomplete by a crash does not count and is overwritten.
    fn write_entry(&self, identity: &TrustedIdentity) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        let name = identity.entry_name();
        let mut file = self.folder.open_file(OsStr::new(&name), flags, ENTRY_MODE)?;
        file.write_all(&identity.to_entry())?;
        file.sync_all()
    }

    fn list_entries(&self) -> io::Result<Vec<(OsString, TrustedIdentity)>> {
        let mut entries = Vec::new();
        for name in self.folder.list_names()? {
            let name = name?;
            entries.extend(self.read_entry(&name)?.map(|identity| (name, identity)));
        }
        Ok(entries)
    }
}

/// Opens the folders one by one; rejects links below the state folder, and folders that another
/// user owns or can write to.
fn open_folders(state: &Path, user: CurrentUser) -> io::Result<OpenFolder> {
    let mut folder = OpenFolder::open_at(state)?;
    for name in RECORD_FOLDERS {
        folder = folder.open_beneath(Path::new(name), MissingFolders::Refuse)?;
        let stat = rustix::fs::fstat(folder.raw_handle())?;
        if !user.owns_uid(stat.st_uid) || stat.st_mode & OTHERS_WRITE != 0 {
            let text =
                format!("the folder `{name}` belongs to another user, or others can write to it");
            return Err(io::Error::other(text));
        }
    }
    Ok(folder)
}

/// User of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CurrentUser {
    uid: u32,
    /// The user who ran `sudo`, if any.
    sudo_uid: Option<u32>,
}

/// Part of the path that belongs to another user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OtherOwner {
    pub part: &'static str,
    pub uid: u32,
}

const ROOT: u32 = 0;

impl CurrentUser {
    pub(crate) fn from_process(environment: &EnvVariables) -> Self {
        let uid = rustix::process::geteuid().as_raw();
        let sudo_uid = environment.get("SUDO_UID").and_then(|uid| uid.parse().ok());
        Self { uid, sudo_uid }
    }

    /// Whether a uid counts as this user. As in git, root accepts files of the user who ran `sudo`.
    pub(crate) fn owns_uid(self, uid: u32) -> bool {
        uid == self.uid || self.uid == ROOT && self.sudo_uid == Some(uid)
    }

    /// Whether the file may be in a folder of this user id. Only the folder's owner and root can
    /// replace our files in it.
    fn accepts_folder(self, uid: u32) -> bool {
        self.owns_uid(uid) || uid == ROOT
    }

    /// Returns the other user who owns the file, the link to it, or its folder. `opened` is the
    /// metadata of the opened file, because its path may be replaced meanwhile.
    pub(crate) fn find_other_owner(
        self,
        path: &Path,
        opened: &Metadata,
    ) -> io::Result<Option<OtherOwner>> {
        let folder = path.parent().unwrap_or(Path::new("/")).metadata()?;
        if !self.owns_uid(opened.uid()) {
            return Ok(Some(OtherOwner { part: "file", uid: opened.uid() }));
        }
        let entry = path.symlink_metadata()?;
        if !self.owns_uid(entry.uid()) {
            return Ok(Some(OtherOwner { part: "link to the file", uid: entry.uid() }));
        }
        let is_safe = self.accepts_folder(folder.uid());
        Ok((!is_safe).then(|| OtherOwner { part: "folder of the file", uid: folder.uid() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_owns_their_own_files_and_root_those_of_sudo() {
        let check = |uid: u32, sudo_uid: Option<u32>, owner: u32, expected: (bool, bool)| {
            let user = CurrentUser { uid, sudo_uid };
            let found = (user.owns_uid(owner), user.accepts_folder(owner));
            assert_eq!(found, expected, "{user:?} looks at a file of {owner}");
        };
        check(1000, None, 1000, (true, true));
        check(1000, None, 1001, (false, false));
        check(1000, None, 0, (false, true));
        check(1000, Some(1001), 1001, (false, false));
        check(0, None, 0, (true, true));
        check(0, None, 1000, (false, false));
        check(0, Some(1000), 1000, (true, true));
        check(0, Some(1000), 1001, (false, false));
    }

    #[test]
    #[expect(clippy::print_stdout, reason = "a test says when it looks at less")]
    fn file_link_and_folder_are_each_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::File::create(&file).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let user = CurrentUser::from_process(&EnvVariables::default());
        let found = |path: &Path| {
            let opened = path.metadata().unwrap();
            user.find_other_owner(path, &opened).unwrap().map(|other| (other.part, other.uid))
        };
        assert_eq!((found(&file), found(&link)), (None, None));
        if user.uid != ROOT {
            println!("not root: files cannot be given to another user, the rest is not tested");
            return;
        }
        let give = |path: &Path, uid| std::os::unix::fs::lchown(path, Some(uid), None).unwrap();
        give(&link, 12345);
        assert_eq!(found(&link), Some(("link to the file", 12345)));
        give(folder.path(), 12346);
        assert_eq!(found(&file), Some(("folder of the file", 12346)));
        give(&file, 12347);
        assert_eq!(found(&file), Some(("file", 12347)));
    }
}
