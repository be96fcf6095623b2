//! What a seat is told, by what it is asked for.

use plenary_core::model::ask::{AskMessages, AskPurpose};
use plenary_core::model::ids::ExpertSlug;
use plenary_core::prompting::instructions::{
    AUDIT, DIRECTIVE, DRAFT, OPINION, PEER_REVIEW, REVISION, RoleParts, SYNTHESIS, SYSTEM,
};
use plenary_core::protocols::council::types::QuestionMode;
use plenary_core::protocols::review::messages::{ReadingRound, adjudicator_role, deliberator_role};
use plenary_core::protocols::review::types::ReviewPlan;

use crate::kit::ModelRequest;

/// The role of a seat in a council or a conclusion.
pub fn role_parts(purpose: AskPurpose, mode: QuestionMode) -> RoleParts {
    let role = match purpose {
        AskPurpose::Opinion => OPINION,
        AskPurpose::PeerReview => PEER_REVIEW,
        AskPurpose::Synthesis => SYNTHESIS,
        AskPurpose::Conclusion => DRAFT,
        AskPurpose::Audit => AUDIT,
        AskPurpose::Revision => REVISION,
        AskPurpose::Restatement => DIRECTIVE,
        AskPurpose::Judgement
        | AskPurpose::CrossReading
        | AskPurpose::Design
        | AskPurpose::Panel
        | AskPurpose::Contribution
        | AskPurpose::Reconciliation
        | AskPurpose::Verdicts
        | AskPurpose::Adjudication
        | AskPurpose::Other(_) => panic!("no role for {purpose}"),
    };
    role.parts(mode)
}

/// The system message of such a seat.
pub fn system(purpose: AskPurpose, mode: QuestionMode) -> String {
    match purpose {
        AskPurpose::Audit | AskPurpose::Restatement => role_parts(purpose, mode).system_message(),
        AskPurpose::Opinion
        | AskPurpose::PeerReview
        | AskPurpose::Synthesis
        | AskPurpose::Conclusion
        | AskPurpose::Revision
        | AskPurpose::Judgement
        | AskPurpose::CrossReading
        | AskPurpose::Design
        | AskPurpose::Panel
        | AskPurpose::Contribution
        | AskPurpose::Reconciliation
        | AskPurpose::Verdicts
        | AskPurpose::Adjudication
        | AskPurpose::Other(_) => SYSTEM.trim_end().to_owned(),
    }
}

/// The role of a seat in a review.
pub fn gate_role(gate: &ReviewPlan, purpose: AskPurpose, seat: &ExpertSlug) -> Option<RoleParts> {
    match purpose {
        AskPurpose::Judgement => deliberator_role(gate, ReadingRound::First, seat),
        AskPurpose::CrossReading => deliberator_role(gate, ReadingRound::Cross, seat),
        AskPurpose::Adjudication => Some(adjudicator_role(gate)),
        AskPurpose::Opinion
        | AskPurpose::PeerReview
        | AskPurpose::Synthesis
        | AskPurpose::Conclusion
        | AskPurpose::Audit
        | AskPurpose::Revision
        | AskPurpose::Restatement
        | AskPurpose::Design
        | AskPurpose::Panel
        | AskPurpose::Contribution
        | AskPurpose::Reconciliation
        | AskPurpose::Verdicts
        | AskPurpose::Other(_) => None,
    }
}

/// A role as one text.
pub fn join_parts(role: &RoleParts) -> String {
    let parts = [role.role.as_str(), &role.format].map(str::trim);
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Our own text of a message.
pub fn without_fences(user: &str) -> String {
    let mut own = String::new();
    let mut end: Option<String> = None;
    for line in user.lines() {
        match (&end, line.strip_prefix("===== BEGIN ")) {
            (Some(closing), _) if line == closing => end = None,
            (Some(_), _) => {}
            (None, Some(label)) => end = Some(format!("===== END {label}")),
            (None, None) => own.extend([line, "\n"]),
        }
    }
    own
}

/// A reviewer's message without the fence of its own opinion.
pub fn without_own_opinion(user: &str) -> String {
    const OWN: &str = " material YOUR OPINION";
    let Some((before, rest)) = user.split_once(&format!("===== BEGIN{OWN}")) else {
        return user.to_owned();
    };
    let (_, rest) = rest.split_once(&format!("===== END{OWN}")).expect("a fence has an end");
    format!("{before}{}", rest.split_once('\n').map_or("", |(_, rest)| rest))
}

/// The user message with short names for the nonces, the role and the format of the reply.
pub fn show_layout(messages: &AskMessages, role: &RoleParts) -> String {
    let mut shown = messages.user_message();
    for (text, name) in [(&role.role, "[role]"), (&role.format, "[format]")] {
        if !text.is_empty() {
            shown = shown.replace(text.as_str(), name);
        }
    }
    let nonce_of = |text: &str| {
        let opening = text.lines().find(|line| line.starts_with("===== BEGIN "))?;
        Some(opening.strip_suffix(" =====")?.rsplit(' ').next()?.to_owned())
    };
    for (text, name) in [(messages.shared_text(), "RUN"), (&messages.user, "ROUND")] {
        if let Some(nonce) = nonce_of(text) {
            shown = shown.replace(&nonce, name);
        }
    }
    shown
}

/// The page of a role: what is the same in every situation, then each message.
pub fn role_page(role: &RoleParts, system: &str, messages: &[(&str, AskMessages)]) -> String {
    let mut page =
        format!("# system\n\n{system}\n\n# role\n\n{}\n\n# format\n\n{}\n", role.role, role.format);
    for (name, messages) in messages {
        page.push_str(&format!("\n# {name}\n\n{}\n", show_layout(messages, role)));
    }
    page
}

/// The user message of a request with short names for the nonces and for the paragraphs of the role.
pub fn show_request(seen: &ModelRequest, role: &str) -> String {
    let mut shown = seen.user.clone();
    let openings = seen.user.lines().filter_map(|line| line.strip_prefix("===== BEGIN "));
    let nonces: Vec<&str> =
        openings.filter_map(|line| line.strip_suffix(" =====")?.rsplit(' ').next()).collect();
    for (nonce, name) in [(nonces.first(), "RUN"), (nonces.last(), "ROUND")] {
        shown = nonce.map_or_else(|| shown.clone(), |nonce| shown.replace(nonce, name));
    }
    for (number, paragraph) in (1..).zip(role.split("\n\n")) {
        shown = shown.replace(paragraph.trim_end(), &format!("[{number}]"));
    }
    let days = regex::Regex::new(r"Today is \w+, \d{4}-\d\d-\d\d\.").unwrap();
    days.replace_all(&shown, "Today is DAY.").into_owned()
}

/// The page of a role: its numbered paragraphs, then the message of each situation.
pub fn request_page<'a>(role: &str, messages: impl Iterator<Item = (&'a str, String)>) -> String {
    let paragraphs = (1..).zip(role.split("\n\n"));
    let mut page: String =
        paragraphs.map(|(number, text)| format!("[{number}] {}\n\n", text.trim_end())).collect();
    for (name, message) in messages {
        page.push_str(&format!("# {name}\n\n{message}\n\n"));
    }
    page
}
