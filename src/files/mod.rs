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

pub use allowed::{AllowedFile, IsOwnFile, WritePermission};
pub use error::{FileError, WriteError};
pub use folders::{AllowedFolders, SourcePath};
pub(crate) use opened::file_identity;
pub use opened::{FileIdentity, MissingFolders, OpenFolder, open_without_links};
pub use reading::{lock_file, open_source, read_request_text};
pub use replace::{create_file, replace_file};
pub use temporary::TemporaryFile;

#[cfg(test)]
mod tests;
