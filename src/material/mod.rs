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

pub use document::{Document, Place};
pub use files_in::{FilesIn, FolderFile, files_in};
pub use gather::{MaterialError, gather, gather_sources};
pub use guard::SecretGuard;
pub use secrets::SecretValues;
pub use walk::{AskedFor, EntryKind, LeftOut};
pub use within::{plain_text, text_to_send, text_within};
