//! `init --skills`: writes the agent skills to a folder that agent programs search.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::session::{Done, Session};
use crate::config::ConfigError;
use crate::error::Error;
use crate::export::safe_text;
use crate::files;
use crate::markers::SKILLS;

#[derive(Debug, Serialize)]
struct SkillsWritten {
    status: &'static str,
    skills: Vec<SkillWritten>,
}

#[derive(Debug, Serialize)]
struct SkillWritten {
    name: &'static str,
    path: String,
    /// Whether the file is new or its content changed.
    changed: bool,
}

/// What exists at the path of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Existing {
    Nothing,
    Same,
    Other,
}

/// What to do with existing files that differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OtherFiles {
    /// Write nothing at all.
    Keep,
    Replace,
}

/// Writes each skill to `DIR/NAME/SKILL.md`.
pub(super) fn write_skills(
    session: &Session<'_>,
    folder: &Path,
    others: OtherFiles,
) -> Result<Done, Error> {
    let places: Vec<(PathBuf, Existing)> = SKILLS
        .iter()
        .map(|skill| folder.join(skill.name).join("SKILL.md"))
        .zip(&SKILLS)
        .map(|(path, skill)| {
            let existing = existing(&path, skill.text);
            (path, existing)
        })
        .collect();
    let other = places.iter().find(|(_, existing)| *existing == Existing::Other);
    if let Some((path, _)) = other.filter(|_| others == OtherFiles::Keep) {
        return Err(ConfigError::FileExists { path: path.clone() }.into());
    }
    let mut skills = Vec::with_capacity(places.len());
    for (skill, (path, existing)) in SKILLS.iter().zip(&places) {
        let changed = *existing != Existing::Same;
        if changed {
            files::replace(path, skill.text.as_bytes())?;
        }
        skills.push(SkillWritten { name: skill.name, path: path.display().to_string(), changed });
    }
    let written = SkillsWritten { status: "success", skills };
    session.ui.answer(&written, text)?;
    if !session.ui.json {
        session.ui.say("next: ask your agent to lead an alignment dialogue");
    }
    Ok(Done::Well)
}

fn existing(path: &Path, text: &str) -> Existing {
    // A dangling link exists too.
    if path.symlink_metadata().is_err() {
        return Existing::Nothing;
    }
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let is_same = is_file && files::read_text(path).is_ok_and(|there| there == text);
    if is_same { Existing::Same } else { Existing::Other }
}

fn text(written: &SkillsWritten) -> String {
    let lines = written.skills.iter().map(|skill| match skill.changed {
        true => format!("Wrote {}\n", safe_text::line(&skill.path)),
        false => format!("{} is there already\n", safe_text::line(&skill.path)),
    });
    lines.collect()
}
