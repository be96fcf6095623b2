//! A directive before it takes effect: said back in one sentence, for a yes or a no.

use crate::domain::ask::{Messages, Purpose};
use crate::domain::council::words::Mode;
use crate::prompting::condense::fitting;
use crate::prompting::fence::Fences;
use crate::prompting::instructions::{system, task};
use crate::prompting::view::Section;

/// It is asked for beside the rounds, whichever is under way.
const ROUND: u8 = 0;

/// To understand what somebody wants of a panel, its question need not be read to the end.
const QUESTION_BYTES_MAX: usize = 20_000;

/// What the chair's provider is sent when the Principal directs the panel.
pub fn restatement(secret: &str, question: &str, text: &str) -> Messages {
    let sections = [
        Section::new(
            "QUESTION",
            "the question of the person who asks",
            fitting(question, QUESTION_BYTES_MAX),
        ),
        Section::new("DIRECTIVE", "what the person who asks wants", text.to_owned()),
    ];
    let fences = Fences::new(secret, ROUND, &sections.each_ref().map(|part| part.text.as_str()));
    let [question, directive] = sections.map(|section| section.fenced(&fences));
    Messages {
        system: system(Purpose::Restatement, Mode::General),
        user: format!("{question}\n\n{directive}\n\n{}", task(Purpose::Restatement)),
    }
}
