//! Opens and parses `council.yaml`; rejects folders, devices and files over the size limit.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use super::error::{COUNCIL_BYTES_MAX, ConfigError};
use super::yaml::{self, YamlNode};
use crate::domain::digest::sha256_hex;

/// The file as it was when it was read.
#[derive(Debug)]
pub(super) struct OpenedCouncilFile {
    pub tree: YamlNode,
    /// The digest of the bytes that `tree` was read from.
    pub sha256: String,
    /// Metadata of the opened file, not of its path, which may be replaced meanwhile.
    pub metadata: Metadata,
}

/// Reads and parses the file.
pub(super) fn open_council_file(path: &Path) -> Result<OpenedCouncilFile, ConfigError> {
    let (text, metadata) = read_text(path)?;
    let sha256 = sha256_hex([text.as_bytes()]);
    let tree = yaml::parse_yaml(&text).map_err(|problem| ConfigError::Invalid {
        path: path.to_owned(),
        problems: vec![problem],
    })?;
    Ok(OpenedCouncilFile { tree, sha256, metadata })
}

fn read_text(path: &Path) -> Result<(String, Metadata), ConfigError> {
    let unreadable = |source: io::Error| {
        let path = path.to_owned();
        if source.kind() == io::ErrorKind::NotFound {
            return ConfigError::NoFile { path };
        }
        ConfigError::Unreadable { path, source }
    };
    // Check the type first: opening a device may have side effects.
    if is_strange(&path.metadata().map_err(unreadable)?) {
        return Err(ConfigError::NotAFile { path: path.to_owned() });
    }
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    let mut bytes = Vec::new();
    // Read one byte more than allowed, to detect a file over the limit.
    file.take(COUNCIL_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > COUNCIL_BYTES_MAX {
        return Err(ConfigError::TooLarge { path: path.to_owned() });
    }
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| ConfigError::NotText { path: path.to_owned() })?;
    Ok((text, metadata))
}

/// Rejects folders, devices and sockets. Named pipes are allowed, since shells pass `<(…)` as one.
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
