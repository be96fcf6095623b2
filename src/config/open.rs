//! Opens `council.yaml`, whatever it turns out to be.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use super::error::{COUNCIL_BYTES_MAX, ConfigError};
use super::yaml::{self, Node};
use crate::domain::digest::sha256_hex;

/// The file as it was at the moment of reading.
#[derive(Debug)]
pub(super) struct OpenedFile {
    pub tree: Node,
    /// The digest of the bytes that `tree` was read from.
    pub sha256: String,
    /// Of the opened file, not of its path: a file that is replaced meanwhile changes neither.
    pub metadata: Metadata,
}

/// The file as a tree, or exactly why not.
pub(super) fn council(path: &Path) -> Result<OpenedFile, ConfigError> {
    let (text, metadata) = text(path)?;
    let sha256 = sha256_hex([text.as_bytes()]);
    let tree = yaml::parse(&text).map_err(|problem| ConfigError::Invalid {
        path: path.to_owned(),
        problems: vec![problem],
    })?;
    Ok(OpenedFile { tree, sha256, metadata })
}

fn text(path: &Path) -> Result<(String, Metadata), ConfigError> {
    let unreadable = |source: io::Error| {
        let path = path.to_owned();
        if source.kind() == io::ErrorKind::NotFound {
            return ConfigError::NoFile { path };
        }
        ConfigError::Unreadable { path, source }
    };
    // A device may do anything when it is opened, so it is looked at first.
    if is_strange(&path.metadata().map_err(unreadable)?) {
        return Err(ConfigError::NotAFile { path: path.to_owned() });
    }
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    let mut bytes = Vec::new();
    // One byte over the limit is enough to know that it is over.
    file.take(COUNCIL_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > COUNCIL_BYTES_MAX {
        return Err(ConfigError::TooLarge { path: path.to_owned() });
    }
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| ConfigError::NotText { path: path.to_owned() })?;
    Ok((text, metadata))
}

/// A named pipe is how shells pass `<(…)`; a folder or a device is a mistake.
#[cfg(unix)]
fn is_strange(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let file_type = metadata.file_type();
    file_type.is_dir()
        || file_type.is_char_device()
        || file_type.is_block_device()
        || file_type.is_socket()
}

#[cfg(not(unix))]
fn is_strange(metadata: &Metadata) -> bool {
    metadata.is_dir()
}
