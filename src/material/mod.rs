//! Files sent with a question: what may be sent, and why the rest is not.
//!
//! **Invariant:** a pack never contains a credential, however it was named; and every examined file
//! is sent, indexed or excluded with a reason.

mod credential_names;
mod document;
mod files_in;
mod gather;
mod guard;
mod names;
mod read;
mod secrets;
mod selection;
#[cfg(test)]
mod tests;
mod walk;
mod within;

pub use document::{DocumentLocation, SourceDocument};
pub use files_in::{FolderFile, FolderFiles, list_folder_files};
pub use gather::{ContextFileError, gather_files, gather_sources};
pub use guard::SecretGuard;
pub use secrets::SecretValues;
pub use walk::{ExcludedEntry, FolderEntryKind, IsRequested};
pub use within::{read_plain_text, read_sendable_text, read_text_within};
