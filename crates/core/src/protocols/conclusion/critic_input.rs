//! The Blind Critic's input: a question and a conclusion.
//!
//! **Invariant:** `CriticInput` is made of these two and nothing else. It has one constructor and
//! two fields, and its messages consist of them and our own text, so nothing from the debate can
//! reach the critic.

use serde_json::Value;

use crate::model::plan::INPUT_BYTES_MAX;
use crate::prompting::condense::{TEXT_BYTES_STEPS, cut_texts_until_fit, fits_budget, map_texts};
use crate::prompting::fence::FencedSection;
use crate::prompting::instructions::{AUDIT, SHORTER_CRITIC, STRICTER_CRITIC};
use crate::prompting::layout::{MessageParts, RenderedPrompt};
use crate::prompting::reader_view::to_pretty_json;
use crate::protocols::conclusion::types::Conclusion;
use crate::protocols::council::types::QuestionMode;

#[derive(Debug, Clone)]
pub struct CriticInput {
    question: String,
    conclusion: Value,
}

impl CriticInput {
    pub fn new(question: &str, conclusion: &Conclusion) -> Self {
        let conclusion = serde_json::to_value(conclusion).unwrap_or_default();
        Self { question: question.to_owned(), conclusion }
    }

    /// The prompt of the first or second audit. The secret only enters the digest that becomes the
    /// nonce of the fences.
    pub fn first_prompt(&self, secret: &str, round: u8) -> RenderedPrompt {
        self.render_prompt(secret, round, &[])
    }

    /// The prompt after an unparsable reply. It shows neither that reply nor the parse error: the
    /// critic starts again from the same two inputs.
    pub fn retry_prompt(&self, secret: &str, round: u8) -> RenderedPrompt {
        self.render_prompt(secret, round, &[STRICTER_CRITIC])
    }

    /// The prompt after a truncated reply, which is not shown either.
    pub fn shorter_prompt(&self, secret: &str, round: u8) -> RenderedPrompt {
        self.render_prompt(secret, round, &[SHORTER_CRITIC])
    }

    fn render_prompt(&self, secret: &str, round: u8, retry: &[&str]) -> RenderedPrompt {
        let mut shown = self.clone();
        let condensed = shown.condense_input();
        let (role, sections) = (&AUDIT.parts(QuestionMode::General), &shown.input_sections());
        let parts = MessageParts { secret, block: None, role, sections, remarks: &[] };
        RenderedPrompt { messages: parts.render_with(round, retry, None), condensed }
    }

    fn input_sections(&self) -> [FencedSection; 2] {
        [
            FencedSection::from_question(&self.question),
            FencedSection::material("CONCLUSION", to_pretty_json(&self.conclusion)),
        ]
    }

    /// Cuts all texts to the same limit until both inputs fit.
    fn condense_input(&mut self) -> Vec<String> {
        if fits_budget(&self.input_sections(), INPUT_BYTES_MAX) {
            return Vec::new();
        }
        let shorten = |input: &mut Self, cut: &dyn Fn(&str) -> String| {
            input.question = cut(&input.question);
            map_texts(&mut input.conclusion, cut);
            fits_budget(&input.input_sections(), INPUT_BYTES_MAX)
        };
        let limits = TEXT_BYTES_STEPS.map(|bytes| bytes * 4);
        cut_texts_until_fit(self, limits, shorten).into_iter().collect()
    }
}
