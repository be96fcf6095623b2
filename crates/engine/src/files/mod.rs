//! Reads and writes files inside the allowed folders, atomically and through open handles, so that
//! the checked file is the file in use.
//!
//! **Invariant:** a path of a request is resolved once, links included, and compared with the
//! allowed folders. It is then opened from a folder handle without following links, so a link that
//! replaces a folder meanwhile is an error.

pub mod allowed_file;
pub mod allowed_folders;
pub mod open_folder;
#[cfg(test)]
mod open_folder_tests;
pub mod read_write;
pub mod reserved_names;
pub mod temporary_file;
