//! An open folder. Paths below it are opened without following links.
//!
//! On Linux one call (`openat2`) resolves the whole path. If that call is missing or forbidden, the
//! path is opened component by component; both ways reject the same paths.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Dev, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

/// The handle itself is never read, so search permission on the folder is enough.
#[cfg(any(target_os = "linux", target_os = "android"))]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// `NONBLOCK`: opening a pipe must not block.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// What to do with missing folders in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingFolders {
    Refuse,
    Create,
}

/// An open folder. It stays the same folder even if its path changes.
#[derive(Debug)]
pub struct OpenFolder(OwnedFd);

/// A file by device and inode: two names of one file are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileIdentity {
    device: Dev,
    inode: u64,
}

impl FileIdentity {
    pub(crate) fn from_stat(stat: &Stat) -> Self {
        Self { device: stat.st_dev, inode: stat.st_ino }
    }
}

impl OpenFolder {
    /// Opens a folder that the operator chose; links in its path are followed.
    pub fn open_at(path: &Path) -> io::Result<Self> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        Ok(Self(rustix::fs::open(path, FOLDER, Mode::empty())?))
    }

    /// Opens a folder below this one; a link in the path is an error.
    pub fn open_beneath(&self, relative: &Path, missing: MissingFolders) -> io::Result<Self> {
        let names = path_names(relative)?;
        if names.is_empty() {
            return Ok(Self(self.0.try_clone()?));
        }
        match self.in_one_call(relative) {
            Some(Err(Errno::NOENT)) if missing == MissingFolders::Create => {}
            Some(opened) => return Ok(Self(opened?)),
            None => {}
        }
        self.open_by_steps(&names, missing)
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn in_one_call(&self, relative: &Path) -> Option<rustix::io::Result<OwnedFd>> {
        use rustix::fs::ResolveFlags;
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match rustix::fs::openat2(&self.0, relative, FOLDER, Mode::empty(), resolve) {
            // Old kernels lack the call and some containers forbid it. `AGAIN`: a component was
            // moved.
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::AGAIN) => None,
            answered => Some(answered),
        }
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn in_one_call(&self, _: &Path) -> Option<rustix::io::Result<OwnedFd>> {
        None
    }

    pub(crate) fn open_by_steps(
        &self,
        names: &[&OsStr],
        missing: MissingFolders,
    ) -> io::Result<Self> {
        let mut folder = self.0.try_clone()?;
        for name in names {
            folder = match open_step(&folder, name) {
                Err(Errno::NOENT) if missing == MissingFolders::Create => {
                    match rustix::fs::mkdirat(&folder, *name, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => open_step(&folder, name)?,
                        Err(error) => return Err(error.into()),
                    }
                }
                stepped => stepped?,
            };
        }
        Ok(Self(folder))
    }

    /// Opens a file below this folder for reading; a link in the path is an error.
    pub fn open_file_beneath(&self, relative: &Path) -> io::Result<File> {
        let (parent, name) = split_name(relative)?;
        let parent = self.open_beneath(parent, MissingFolders::Refuse)?;
        parent.open_file(name, OFlags::RDONLY, 0)
    }

    /// Opens a file in this folder; a link is an error.
    pub fn open_file(&self, name: &OsStr, flags: OFlags, mode: u32) -> io::Result<File> {
        let mode = Mode::from_raw_mode(mode);
        Ok(rustix::fs::openat(&self.0, name, flags | FILE, mode)?.into())
    }

    /// Metadata of a name in this folder, or `None` if it does not exist.
    pub fn stat_name(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a name in this folder still refers to this file.
    pub fn is_same_file(&self, name: &OsStr, file: FileIdentity) -> bool {
        matches!(self.stat_name(name), Ok(Some(stat)) if FileIdentity::from_stat(&stat) == file)
    }

    /// Whether the folder still has a path.
    pub(crate) fn is_still_linked(&self) -> bool {
        rustix::fs::fstat(&self.0).is_ok_and(|stat| stat.st_nlink > 0)
    }

    /// The names in this folder.
    pub(crate) fn list_names(&self) -> io::Result<impl Iterator<Item = io::Result<OsString>>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let listed = rustix::fs::openat(&self.0, ".", flags, Mode::empty())?;
        let names = Dir::new(listed)?
            .map(|entry| Ok(OsString::from_vec(entry?.file_name().to_bytes().to_owned())));
        let is_child = |name: &io::Result<OsString>| {
            name.as_ref().is_ok_and(|name| name != "." && name != "..") || name.is_err()
        };
        Ok(names.filter(is_child))
    }

    pub(crate) fn raw_handle(&self) -> &OwnedFd {
        &self.0
    }

    /// Makes the file names in the folder durable, not only the file contents.
    pub fn sync_names(&self) -> io::Result<()> {
        let folder = rustix::fs::openat(&self.0, ".", OFlags::DIRECTORY | FILE, Mode::empty())?;
        Ok(rustix::fs::fsync(folder)?)
    }
}

/// The identity of an open file.
pub(crate) fn file_identity(file: &File) -> io::Result<FileIdentity> {
    Ok(FileIdentity::from_stat(&rustix::fs::fstat(file)?))
}

pub(crate) fn is_regular(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

/// Opens a file by an absolute path that had no links when it was checked. If a link has replaced a
/// folder since, this fails.
pub fn open_without_links(path: &Path) -> io::Result<File> {
    let relative = path.strip_prefix("/").map_err(|_| io::ErrorKind::InvalidInput)?;
    OpenFolder::open_at(Path::new("/"))?.open_file_beneath(relative)
}

fn open_step(folder: &OwnedFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    rustix::fs::openat(folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())
}

/// The components of a path, which must be plain names: no `..`, no root.
pub(crate) fn path_names(relative: &Path) -> io::Result<Vec<&OsStr>> {
    let name = |component| match component {
        Component::Normal(name) => Ok(name),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            Err(io::ErrorKind::InvalidInput.into())
        }
    };
    relative.components().map(name).collect()
}

/// Splits a path into folder and name.
pub(crate) fn split_name(path: &Path) -> io::Result<(&Path, &OsStr)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok((path.parent().unwrap_or(Path::new("")), name))
}
