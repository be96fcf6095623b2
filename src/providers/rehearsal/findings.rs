//! Findings of the rehearsal panel in review mode. It has not read the files, and each finding says
//! so.

use crate::domain::council::opinion::OpinionFinding;
use crate::domain::council::report::MergedFinding;
use crate::domain::council::review::PeerReview;
use crate::domain::council::words::{FindingStance, RatingLevel};

use super::prompt::{self, ShownOpinion};
use super::temper::SeatTemper;

struct FindingTemplate {
    id: &'static str,
    title: &'static str,
    severity: RatingLevel,
    category: &'static str,
    description: &'static str,
    fix_approach: &'static str,
    /// Index of the file it refers to.
    file: usize,
}

const FINDING_TEMPLATES: [FindingTemplate; 3] = [
    FindingTemplate {
        id: "REL-001",
        title: "A failure may pass without a trace",
        severity: RatingLevel::High,
        category: "reliability",
        description: "Rehearsed finding, the file was not read: this is where a reviewer would ask what happens when a call fails half-way.",
        fix_approach: "Return the failure to the caller, and test the path on which it occurs.",
        file: 0,
    },
    FindingTemplate {
        id: "TST-001",
        title: "No test would notice a change here",
        severity: RatingLevel::Medium,
        category: "testing",
        description: "Rehearsed finding, the file was not read: this is where a reviewer would look for a test that can fail.",
        fix_approach: "Break it once on purpose, and add the test that should have failed.",
        file: 1,
    },
    FindingTemplate {
        id: "DOC-001",
        title: "The reason for a decision is not written down",
        severity: RatingLevel::Low,
        category: "documentation",
        description: "Rehearsed finding, the file was not read: this is where a reviewer would ask why it is done this way.",
        fix_approach: "Say why in a sentence beside the code.",
        file: 0,
    },
];

/// Returns a seat's findings; the two strict seats agree on the worst one.
pub(super) fn list_findings(temper: SeatTemper, user: &str) -> Vec<OpinionFinding> {
    let ids: &[&str] = match temper {
        SeatTemper::Optimist => &["DOC-001"],
        SeatTemper::Skeptic => &["REL-001", "TST-001"],
        SeatTemper::Pragmatist => &["REL-001"],
    };
    let files = prompt::read_files(user);
    let reported = FINDING_TEMPLATES.iter().filter(|template| ids.contains(&template.id));
    reported.map(|template| template.to_finding(&files)).collect()
}

/// Merges equal findings, the worst first, with the letters of the reporters and of those who
/// confirm or reject them.
pub(super) fn merge_findings(
    opinions: &[ShownOpinion],
    reviews: &[(char, PeerReview)],
) -> Vec<MergedFinding> {
    let mut merged: Vec<MergedFinding> = Vec::new();
    for shown in opinions {
        for finding in shown.opinion.iter().flat_map(|opinion| &opinion.findings) {
            let letter = shown.letter.to_string();
            match merged.iter_mut().find(|known| known.finding.id == finding.id) {
                Some(known) => known.reported_by.push(letter),
                None => merged.push(MergedFinding {
                    finding: finding.clone(),
                    reported_by: vec![letter],
                    confirmed_by: letters_with_position(
                        &finding.id,
                        FindingStance::Confirm,
                        reviews,
                    ),
                    disputed_by: letters_with_position(
                        &finding.id,
                        FindingStance::Dispute,
                        reviews,
                    ),
                }),
            }
        }
    }
    for finding in &mut merged {
        // A reporter does not also confirm.
        finding.confirmed_by.retain(|letter| !finding.reported_by.contains(letter));
    }
    merged.sort_by_key(|merged| std::cmp::Reverse(merged.finding.severity));
    merged
}

fn letters_with_position(
    id: &str,
    stand: FindingStance,
    reviews: &[(char, PeerReview)],
) -> Vec<String> {
    let holds = |review: &PeerReview| {
        let mut positions = review.targets.iter().flat_map(|target| &target.finding_positions);
        positions.any(|held| held.id == id && held.position == stand)
    };
    let holding = reviews.iter().filter(|(_, review)| holds(review));
    holding.map(|(letter, _)| letter.to_string()).collect()
}

impl FindingTemplate {
    fn to_finding(&self, files: &[String]) -> OpinionFinding {
        let file = files.get(self.file).or(files.first());
        OpinionFinding {
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
