//! First-round opinions of the rehearsal panel, and its findings in review mode. It has not read
//! the files, and each finding says so.

use plenary_core::model::ask::AskMessages;
use plenary_core::protocols::council::report_types::MergedFinding;
use plenary_core::protocols::council::types::{
    FindingStance, OpinionDetails, OpinionFinding, OpinionReply, OpinionRisk, OpinionStance,
    PeerReview, QuestionMode, RatingLevel,
};

use crate::providers::rehearsal::prompt::{ShownOpinion, is_decision, read_files, read_mode};
use crate::providers::rehearsal::transport::{ReplyVariation, SeatTemper};

/// Sentences of one temper; each list has more than one opinion uses.
struct OpinionVoice {
    /// For a decision, and for any other question.
    answers: [&'static [&'static str]; 2],
    recommendations: [&'static [&'static str]; 2],
    rationales: &'static [&'static str],
    considerations: &'static [&'static str],
    risks: &'static [(&'static str, RatingLevel, &'static str)],
    assumptions: &'static [&'static str],
    questions: &'static [&'static str],
    confidence: RatingLevel,
}

pub(crate) fn write_opinion(
    temper: SeatTemper,
    subject: &str,
    messages: &AskMessages,
    mut variation: ReplyVariation,
) -> OpinionReply {
    let voice = voice_of(temper);
    let kind = if is_decision(subject) { 0 } else { 1 };
    let mut said = |lists: &[&'static [&'static str]; 2]| {
        variation.pick_one(lists.get(kind).copied().unwrap_or_default())
    };
    let (answer, recommendation) = (said(&voice.answers), said(&voice.recommendations));
    let opening = variation.pick_one(&["On", "Asked", "To the question"]);
    OpinionReply {
        summary: format!("{opening} “{subject}”: {answer}"),
        details: OpinionDetails {
            understanding: write_understanding(subject, &mut variation),
            key_considerations: variation.pick_some(voice.considerations, 3),
            recommendation: recommendation.to_owned(),
            rationale: variation.pick_one(voice.rationales).to_owned(),
        },
        risks: voice.risks.iter().map(pick_risk).collect(),
        assumptions: variation.pick_some(voice.assumptions, 2),
        questions: variation.pick_some(voice.questions, 2),
        confidence: voice.confidence,
        stance: pick_stance(temper, &mut variation),
        findings: match read_mode(messages) {
            QuestionMode::Review => list_findings(temper, &messages.user),
            QuestionMode::General | QuestionMode::Architecture => Vec::new(),
        },
    }
}

fn write_understanding(subject: &str, variation: &mut ReplyVariation) -> String {
    let reading = variation.pick_one(&[
        "I take this to be a question of when and how, more than of whether",
        "I read this as a choice between acting on what is known and finding out more first",
        "What is asked here is, in the end, who bears the cost if the answer is wrong",
    ]);
    format!("{reading}: “{subject}”.")
}

fn pick_risk((description, severity, mitigation): &(&str, RatingLevel, &str)) -> OpinionRisk {
    OpinionRisk {
        description: (*description).to_owned(),
        severity: *severity,
        mitigation: Some((*mitigation).to_owned()),
    }
}

fn pick_stance(temper: SeatTemper, variation: &mut ReplyVariation) -> OpinionStance {
    match temper {
        SeatTemper::Optimist => OpinionStance::Approve,
        SeatTemper::Skeptic if variation.number_below(2) == 0 => OpinionStance::Reject,
        SeatTemper::Skeptic | SeatTemper::Pragmatist => OpinionStance::Conditional,
    }
}

fn voice_of(temper: SeatTemper) -> &'static OpinionVoice {
    match temper {
        SeatTemper::Optimist => &OPTIMIST_VOICE,
        SeatTemper::Skeptic => &SKEPTIC_VOICE,
        SeatTemper::Pragmatist => &PRAGMATIST_VOICE,
    }
}

const OPTIMIST_VOICE: OpinionVoice = OpinionVoice {
    answers: [
        &[
            "yes, and soon, in a form that can be taken back. A pilot costs less than the wait.",
            "I would go ahead with a small first step now and let its result decide how far it goes.",
            "the case is good enough to begin. What we do not know yet we learn fastest by trying.",
        ],
        &[
            "begin with the simplest answer that can be tested, and improve it with what the test shows.",
            "there is a workable answer within reach; a short trial will tell us more than a long debate.",
            "take the most direct route first. It is the one whose failure would teach the most.",
        ],
    ],
    recommendations: [
        &[
            "Start a pilot of two weeks with one team, one measure of success and one person who may stop it.",
            "Decide in favour, limited to what can be undone within a day, and review after the first month.",
            "Go ahead with the smallest part that is useful on its own.",
        ],
        &[
            "Write down the simplest answer, try it on one real case, and keep what held.",
            "Take the most common approach as a starting point and change it only where it fails here.",
            "Pick one answer, give it two weeks, and compare what happened with what was expected.",
        ],
    ],
    rationales: &[
        "The step is cheap to reverse, so the value of learning early outweighs the chance of being wrong.",
        "Each week of waiting has a cost that nobody accounts for; a bounded trial has a known one.",
        "Those who would carry the change can judge it better after a trial than before it.",
    ],
    considerations: &[
        "How quickly a first result can be had",
        "What it costs to undo the step, in days and in goodwill",
        "What is lost by doing nothing for another quarter",
        "Whether those affected want it tried",
        "What can be reused should it fail",
    ],
    risks: &[(
        "A pilot that goes well may be widened before its cost is understood.",
        RatingLevel::Low,
        "Fix the date and the measure of the review before the pilot begins.",
    )],
    assumptions: &[
        "A small version can be built without the whole.",
        "Somebody has the time to watch the pilot.",
        "The present state is tolerable, but not good.",
    ],
    questions: &[
        "What is the smallest version that would still tell us something?",
        "Who would notice first that it helps?",
        "Is there a date by which the decision loses its value?",
    ],
    confidence: RatingLevel::High,
};

const SKEPTIC_VOICE: OpinionVoice = OpinionVoice {
    answers: [
        &[
            "not on what has been shown. The benefit is hoped for, the cost of going back is real.",
            "I see a wish and a plan, but no evidence that the plan serves the wish. Not yet.",
            "not in this form. Nobody has said what would make us stop, and that is decided too late once we began.",
        ],
        &[
            "any answer now would rest on assumptions that nobody has checked. Name them first.",
            "the obvious answer is the one I trust least here: it leaves open who bears the risk.",
            "we should say what evidence would settle this before we prefer one answer to another.",
        ],
    ],
    recommendations: [
        &[
            "Do not commit until the reversal cost is written down and somebody has agreed to bear it.",
            "Hold until there is one piece of evidence from outside the circle of those who want it.",
            "Ask for the strongest case against it, from somebody with nothing to gain, and decide then.",
        ],
        &[
            "List the three assumptions that every answer depends on and test the weakest of them.",
            "Look for a case where the obvious answer failed, and find out why, before using it here.",
            "Treat every answer as provisional until somebody has tried to refute it.",
        ],
    ],
    rationales: &[
        "Those who decide are not those who pay if it goes wrong, and that is when evidence matters most.",
        "What is easy to begin is often hard to leave; the asymmetry speaks for waiting.",
        "Every argument so far would sound the same if the opposite were true.",
    ],
    considerations: &[
        "Who bears the risk, and whether they were asked",
        "What it costs to go back after six months rather than after six days",
        "What evidence there is that did not come from those in favour",
        "What has to be given up to make room for it",
        "How we would know that it failed",
    ],
    risks: &[
        (
            "Reversal cost grows unseen: once others depend on it, going back is no longer an option.",
            RatingLevel::High,
            "Write down the last date and the price of a full return, and check both every month.",
        ),
        (
            "The measure of success is chosen afterwards and fits whatever happened.",
            RatingLevel::Medium,
            "Name the measure and its threshold in advance.",
        ),
    ],
    assumptions: &[
        "The present state can be held for a while without harm.",
        "What is known comes mostly from those who are in favour.",
        "Nobody has yet tried seriously to refute it.",
    ],
    questions: &[
        "What would have to be true for this to be a mistake?",
        "Who has tried it and gone back, and why?",
        "What happens to those who rely on the present state?",
    ],
    confidence: RatingLevel::Medium,
};

const PRAGMATIST_VOICE: OpinionVoice = OpinionVoice {
    answers: [
        &[
            "yes, on three conditions: an owner, a date to look at it again, and a way back that was tried.",
            "it can be done, if the order is right: first the way back, then the first step, then the rest.",
            "I would agree to a limited start, provided that the work which it displaces is named.",
        ],
        &[
            "choose the answer that the people at hand can carry out and maintain, and set a date to revisit it.",
            "there is no best answer without a constraint. With a fixed budget of time, the second simplest wins.",
            "split it: what can be settled today by looking, and what needs an owner and a week.",
        ],
    ],
    recommendations: [
        &[
            "Name an owner, rehearse the way back once, then begin with the part that hurts most today.",
            "Agree on conditions in writing: scope, owner, stop rule, date of review. Then start.",
            "Run the old and the new side by side until the new one has survived an ordinary bad week.",
        ],
        &[
            "Let one person write the answer down in a page, with its limits, and have two others use it.",
            "Start from what is in place, change one thing at a time, and keep a note of what each change did.",
            "Set a budget of days, and take the best answer that fits it.",
        ],
    ],
    rationales: &[
        "Most of the risk lies in how it is done, not in whether; so the conditions matter more than the decision.",
        "Both sides are right about different months: the gain comes early, the cost late.",
        "What nobody owns is neither finished nor stopped.",
    ],
    considerations: &[
        "Who owns it after the first enthusiasm",
        "What work it displaces",
        "Whether the way back has been tried and not only described",
        "What an ordinary bad week would do to it",
        "How much of it can be decided later",
    ],
    risks: &[
        (
            "Without an owner the pilot neither ends nor becomes the rule.",
            RatingLevel::Medium,
            "Name one person and one date before anything starts.",
        ),
        (
            "Two ways of working side by side cost more than either.",
            RatingLevel::Low,
            "Limit the overlap to a fixed number of weeks.",
        ),
    ],
    assumptions: &[
        "There is somebody who can own it.",
        "A partial result is useful.",
        "The conditions can be checked by somebody who is not involved.",
    ],
    questions: &[
        "Who looks after it in a year?",
        "What would we stop doing to make room?",
        "Which part can wait without harm?",
    ],
    confidence: RatingLevel::Medium,
};

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
pub(crate) fn list_findings(temper: SeatTemper, user: &str) -> Vec<OpinionFinding> {
    let ids: &[&str] = match temper {
        SeatTemper::Optimist => &["DOC-001"],
        SeatTemper::Skeptic => &["REL-001", "TST-001"],
        SeatTemper::Pragmatist => &["REL-001"],
    };
    let files = read_files(user);
    let reported = FINDING_TEMPLATES.iter().filter(|template| ids.contains(&template.id));
    reported.map(|template| template.to_finding(&files)).collect()
}

/// Merges equal findings, the worst first, with the letters of the reporters and of those who
/// confirm or reject them.
pub(crate) fn merge_findings(
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
