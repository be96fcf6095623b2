//! Checks who owns a project's file. Like git, Plenary rejects files of other users, because the
//! file's owner decides what the program does.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::config::environment::EnvVariables;

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
