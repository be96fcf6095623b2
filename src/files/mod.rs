//! Where files may be written and read, and how: inside the allowed folders, whole or not at
//! all, and by handle, so that the file that was checked is the file that is used.
//!
//! **Invariant:** a path that a request brings is resolved once, links included, and compared
//! with the allowed folders. It is then opened from a folder's handle without following a link:
//! a link that takes the place of a folder in between is an error and leads nowhere.

mod allowed;
mod error;
mod folders;
mod names;
mod opened;
mod reading;
mod replace;
mod temporary;

pub use allowed::{AllowedFile, Recognise, WritePermission};
pub use error::{FileError, WriteError};
pub use folders::{Folders, SourcePath};
pub(crate) use opened::identity;
pub use opened::{FileIdentity, MissingFolders, OpenFolder, open_without_links};
pub use reading::{hold, read_text, source};
pub use replace::{create, replace};
pub use temporary::TemporaryFile;

#[cfg(test)]
mod tests;
