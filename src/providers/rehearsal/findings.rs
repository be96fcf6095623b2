//! Faults that the rehearsal panel reports in mode review. It has not read the files,
//! and each finding says so.

use crate::domain::council::opinion::Finding;
use crate::domain::council::report::MergedFinding;
use crate::domain::council::words::Level;

use super::prompt::{self, Shown};
use super::temper::Temper;

struct Template {
    id: &'static str,
    title: &'static str,
    severity: Level,
    category: &'static str,
    description: &'static str,
    fix_approach: &'static str,
    /// Which of the given files it is put in.
    file: usize,
}

const TEMPLATES: [Template; 3] = [
    Template {
        id: "REL-001",
        title: "A failure may pass without a trace",
        severity: Level::High,
        category: "reliability",
        description: "Rehearsed finding, the file was not read: this is where a reviewer would ask what happens when a call fails half-way.",
        fix_approach: "Return the failure to the caller, and test the path on which it occurs.",
        file: 0,
    },
    Template {
        id: "TST-001",
        title: "No test would notice a change here",
        severity: Level::Medium,
        category: "testing",
        description: "Rehearsed finding, the file was not read: this is where a reviewer would look for a test that can fail.",
        fix_approach: "Break it once on purpose, and add the test that should have failed.",
        file: 1,
    },
    Template {
        id: "DOC-001",
        title: "The reason for a decision is not written down",
        severity: Level::Low,
        category: "documentation",
        description: "Rehearsed finding, the file was not read: this is where a reviewer would ask why it is done this way.",
        fix_approach: "Say why in a sentence beside the code.",
        file: 0,
    },
];

/// What a seat finds: the two that are strict agree on the worst.
pub(super) fn of(temper: Temper, user: &str) -> Vec<Finding> {
    let ids: &[&str] = match temper {
        Temper::Optimist => &["DOC-001"],
        Temper::Skeptic => &["REL-001", "TST-001"],
        Temper::Pragmatist => &["REL-001"],
    };
    let files = prompt::files(user);
    let reported = TEMPLATES.iter().filter(|template| ids.contains(&template.id));
    reported.map(|template| template.in_one_of(&files)).collect()
}

/// The ids of rehearsed findings that a text mentions.
pub(super) fn mentioned(text: &str) -> Vec<&'static str> {
    TEMPLATES.iter().map(|template| template.id).filter(|id| text.contains(id)).collect()
}

/// Each finding once, with the letters of those who reported it.
pub(super) fn merged(opinions: &[Shown<'_>], user: &str) -> Vec<MergedFinding> {
    let files = prompt::files(user);
    let with_reporters = TEMPLATES.iter().map(|template| MergedFinding {
        finding: template.in_one_of(&files),
        reported_by: reporters(template.id, opinions),
        confirmed_by: Vec::new(),
        disputed_by: Vec::new(),
    });
    with_reporters.filter(|finding| !finding.reported_by.is_empty()).collect()
}

fn reporters(id: &str, opinions: &[Shown<'_>]) -> Vec<String> {
    let reporting = opinions.iter().filter(|shown| shown.text.contains(id));
    reporting.map(|shown| shown.letter.to_string()).collect()
}

impl Template {
    fn in_one_of(&self, files: &[&str]) -> Finding {
        let file = files.get(self.file).or(files.first());
        Finding {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            severity: self.severity,
            category: self.category.to_owned(),
            location: file.map(|file| format!("{file}:1")).unwrap_or_default(),
            description: self.description.to_owned(),
            fix_approach: self.fix_approach.to_owned(),
        }
    }
}
