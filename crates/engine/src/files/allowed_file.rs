//! A file that a request may write, and the rules for replacing an existing one.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{OFlags, Stat};

use crate::files::allowed_folders::{AllowedFolder, refuse_path};
use crate::files::open_folder::{
    FileIdentity, MissingFolders, OpenFolder, file_identity, is_regular, split_name,
};
use crate::files::read_write::{FileError, WriteError, place_file};

/// Where a write request comes from, which decides what it may replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WritePermission {
    /// A caller of the MCP server: may replace only files of Plenary and cannot force.
    Remote,
    /// The command line: same rules, but more file names are allowed.
    Local,
    /// The command line with `--force`: may replace any regular file except those of the store and
    /// those that the configuration refers to.
    Forced,
}

/// Whether Plenary wrote an existing file, so that it may be replaced.
pub type IsOwnFile<'a> = &'a dyn Fn(&File) -> bool;

/// An allowed path, with an open handle of the allowed folder that contains it.
#[derive(Debug, Clone)]
pub struct AllowedFile {
    pub(crate) field: String,
    /// The path as written in the request.
    pub(crate) text: String,
    /// The path without links.
    pub(crate) path: PathBuf,
    pub(crate) folder: AllowedFolder,
    /// The path relative to the folder.
    pub(crate) relative: PathBuf,
    /// Files that must never be written.
    pub(crate) guarded: Arc<[PathBuf]>,
    pub(crate) permission: WritePermission,
}

impl AllowedFile {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that the file may be written now. `write_file` checks again.
    pub fn check_writable(&self, recognise: IsOwnFile<'_>) -> Result<(), WriteError> {
        let (parent, name) =
            split_name(&self.relative).map_err(|error| self.unwritable_error(error))?;
        let opened = self
            .folder
            .open_handle()
            .and_then(|it| it.open_beneath(parent, MissingFolders::Refuse));
        let parent = match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened.map_err(|error| self.unwritable_error(error))?,
        };
        match parent.stat_name(name).map_err(|error| self.unwritable_error(error))? {
            Some(found) => self.check_replaceable(&parent, &found, recognise),
            None => Ok(()),
        }
    }

    /// Writes the whole file and creates missing folders.
    pub fn write_file(&self, bytes: &[u8], recognise: IsOwnFile<'_>) -> Result<(), WriteError> {
        self.check_writable(recognise)?;
        let unwritable = |error| self.unwritable_error(error);
        let (parent, name) = split_name(&self.relative).map_err(unwritable)?;
        let folder = self.folder.open_handle().map_err(unwritable)?;
        let parent = folder.open_beneath(parent, MissingFolders::Create).map_err(unwritable)?;
        let judge = |found: &Stat| {
            self.check_replaceable(&parent, found, recognise).map_err(ReplaceError::Refused)
        };
        place_file(&parent, name, bytes, judge).map_err(|error| match error {
            ReplaceError::Refused(error) => error,
            ReplaceError::System(error) => unwritable(error),
        })
    }

    /// Checks whether the existing file may be replaced.
    fn check_replaceable(
        &self,
        parent: &OpenFolder,
        found: &Stat,
        recognise: IsOwnFile<'_>,
    ) -> Result<(), WriteError> {
        if !is_regular(found) {
            return Err(self.unwritable_error(io::Error::other("it is not a regular file")));
        }
        if self.is_guarded(FileIdentity::from_stat(found)) {
            return Err(self.refusal_error("the store or the configuration uses this file"));
        }
        if self.permission == WritePermission::Forced || self.is_own_file(parent, recognise) {
            return Ok(());
        }
        Err(self.not_own_file_error())
    }

    /// Compares file identity, because a protected file may have other names through hard links or
    /// on a case-insensitive file system.
    fn is_guarded(&self, found: FileIdentity) -> bool {
        let is_same = |path: &PathBuf| {
            let stat = rustix::fs::stat(path);
            stat.is_ok_and(|stat| FileIdentity::from_stat(&stat) == found)
        };
        self.guarded.iter().any(is_same)
    }

    fn is_own_file(&self, parent: &OpenFolder, recognise: IsOwnFile<'_>) -> bool {
        let name = self.relative.file_name().unwrap_or_default();
        let Ok(file) = parent.open_file(name, OFlags::RDONLY, 0) else { return false };
        let is_same = file_identity(&file).is_ok_and(|file| parent.is_same_file(name, file));
        is_same && recognise(&file)
    }

    fn not_own_file_error(&self) -> WriteError {
        let hint = match self.permission {
            WritePermission::Remote => "choose another path",
            WritePermission::Local | WritePermission::Forced => {
                "choose another path, or replace the file with `--force`"
            }
        };
        let objection = format!("`{}` exists and Plenary did not write it", self.path.display());
        let fault = refuse_path(&self.field, &self.text, &objection);
        WriteError::Refused(Box::new(fault.with_suggestion(hint)))
    }

    fn refusal_error(&self, objection: &str) -> WriteError {
        WriteError::Refused(Box::new(refuse_path(&self.field, &self.text, objection)))
    }

    fn unwritable_error(&self, source: io::Error) -> WriteError {
        WriteError::File(FileError::Unwritable { path: self.path.clone(), source })
    }
}

enum ReplaceError {
    Refused(WriteError),
    System(io::Error),
}

impl From<io::Error> for ReplaceError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}
