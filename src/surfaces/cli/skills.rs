//! `init --skills`: writes the agent skills to a folder that agent programs search.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::session::{CliSession, ExitStatus};
use crate::config::ConfigError;
use crate::error::Error;
use crate::export::safe_text;
use crate::files;
use crate::markers::SKILLS;

#[derive(Debug, Serialize)]
struct SkillsReport {
    status: &'static str,
    skills: Vec<SkillReport>,
}

#[derive(Debug, Serialize)]
struct SkillReport {
    name: &'static str,
    path: String,
    /// Whether the file is new or its content changed.
    changed: bool,
}

/// What exists at the path of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExistingFile {
    Missing,
    Same,
    Different,
}

/// What to do with existing files that differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OverwriteMode {
    /// Write nothing at all.
    Keep,
    Replace,
}

/// Writes each skill to `DIR/NAME/SKILL.md`.
pub(super) fn write_skills(
    session: &CliSession<'_>,
    folder: &Path,
    others: OverwriteMode,
) -> Result<ExitStatus, Error> {
    let places: Vec<(PathBuf, ExistingFile)> = SKILLS
        .iter()
        .map(|skill| folder.join(skill.name).join("SKILL.md"))
        .zip(&SKILLS)
        .map(|(path, skill)| {
            let existing = compare_existing(&path, skill.text);
            (path, existing)
        })
        .collect();
    let other = places.iter().find(|(_, existing)| *existing == ExistingFile::Different);
    if let Some((path, _)) = other.filter(|_| others == OverwriteMode::Keep) {
        return Err(ConfigError::FileExists { path: path.clone() }.into());
    }
    let mut skills = Vec::with_capacity(places.len());
    for (skill, (path, existing)) in SKILLS.iter().zip(&places) {
        let changed = *existing != ExistingFile::Same;
        if changed {
            files::replace_file(path, skill.text.as_bytes())?;
        }
        skills.push(SkillReport { name: skill.name, path: path.display().to_string(), changed });
    }
    let written = SkillsReport { status: "success", skills };
    session.ui.print_result(&written, skills_text)?;
    if !session.ui.json {
        session.ui.print_note("next: ask your agent to lead an alignment dialogue");
    }
    Ok(ExitStatus::Ok)
}

fn compare_existing(path: &Path, text: &str) -> ExistingFile {
    // A dangling link exists too.
    if path.symlink_metadata().is_err() {
        return ExistingFile::Missing;
    }
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let is_same = is_file && files::read_request_text(path).is_ok_and(|there| there == text);
    if is_same { ExistingFile::Same } else { ExistingFile::Different }
}

fn skills_text(written: &SkillsReport) -> String {
    let lines = written.skills.iter().map(|skill| match skill.changed {
        true => format!("Wrote {}\n", safe_text::safe_line(&skill.path)),
        false => format!("{} is there already\n", safe_text::safe_line(&skill.path)),
    });
    lines.collect()
}
