//! Reads and writes files inside the allowed folders, atomically and through open handles, so that
//! the checked file is the file in use.
//!
//! **Invariant:** a path of a request is resolved once, links included, and compared with the
//! allowed folders. It is then opened from a folder handle without following links, so a link that
//! replaces a folder meanwhile is an error.

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
