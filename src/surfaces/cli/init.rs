//! `init`: a `council.yaml` to begin with.

use std::path::Path;

use clap::Args;
use serde::Serialize;

use super::session::{Done, Session};
use crate::config::{COUNCIL_FILE, ConfigError, TEMPLATE};
use crate::error::Error;
use crate::files;

/// Write a council.yaml in which every setting is explained
///
/// It goes into this folder, or to the path that `--config` names. Three providers
/// are in it: keep those you have a key or a program for, and take the others out.
#[derive(Debug, Args)]
pub(super) struct Init {
    /// Replace the file that is there.
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Serialize)]
struct Written {
    status: &'static str,
    path: String,
}

impl Init {
    pub(super) fn run(&self, session: &Session<'_>) -> Result<Done, Error> {
        let path = session.config_flag().unwrap_or(Path::new(COUNCIL_FILE));
        // A link that leads nowhere is there too.
        if !self.force && path.symlink_metadata().is_ok() {
            return Err(ConfigError::FileExists { path: path.to_owned() }.into());
        }
        files::replace(path, TEMPLATE.as_bytes())?;
        let written = Written { status: "success", path: path.display().to_string() };
        session.ui.answer(&written, |written| format!("Wrote {}\n", written.path))?;
        if !session.ui.json {
            session.ui.say("next: take out the providers you do not have, then `plenary doctor`");
        }
        Ok(Done::Well)
    }
}
