//! [`RequestParts`]: the optional parts of a request to a model's server. [`RefusedParameters`]:
//! those that the server refused, which later calls of the run leave out.

use std::sync::{Mutex, PoisonError};

use plenary_core::model::ask::{AskMessages, RequestParameter};
use plenary_core::model::plan::EffortLevel;
use serde_json::Value;

use crate::providers::catalogue::{OutputLimit, output_limit_at};
use crate::providers::dialects::wire::marks_cache;
use crate::providers::model_facts::ModelFacts;
use crate::providers::transport::{Dialect, Provider};

/// The optional parts that a request contains.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestParts<'a> {
    /// In the dialect's form.
    pub schema: Option<&'a Value>,
    /// Ask for JSON without a schema, where the dialect can.
    pub json_mode: bool,
    pub stream: bool,
    pub temperature: Option<f64>,
    pub effort: Option<EffortLevel>,
    /// `None`: the server chooses how long a reply may be.
    pub output_limit: Option<OutputLimit>,
    /// What is known about the model.
    pub facts: Option<&'static ModelFacts>,
    /// Send the key or the mark for the provider's cache.
    pub cache_mark: bool,
}

/// Tokens that a text usually has: four letters of English each, and about one of Chinese, which
/// has three bytes.
pub(crate) fn usual_tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    ascii / 4 + (text.len() - ascii) / 3
}

impl RequestParts<'_> {
    /// The parts that a server may refuse: the request contains them and works without them.
    pub(crate) fn refusable(&self, dialect: Dialect) -> Vec<RequestParameter> {
        let parts = [
            (self.temperature.is_some(), RequestParameter::Temperature),
            (self.effort.is_some(), RequestParameter::Effort),
            // Anthropic requires the limit.
            (
                self.output_limit.is_some() && dialect != Dialect::Anthropic,
                RequestParameter::OutputLimit,
            ),
            (self.cache_mark, RequestParameter::CacheMark),
            (self.stream, RequestParameter::Stream),
            (self.schema.is_some() || self.json_mode, RequestParameter::Schema),
        ];
        parts.into_iter().filter(|(is_sent, _)| *is_sent).map(|(_, part)| part).collect()
    }
}

/// What a server refused, in order. An output limit is refused twice: under either of its names.
#[derive(Debug, Default)]
pub(crate) struct RefusedParameters(Mutex<Vec<RequestParameter>>);

impl RefusedParameters {
    pub(crate) fn add(&self, parameter: RequestParameter) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(parameter);
    }

    pub(crate) fn count(&self, parameter: RequestParameter) -> usize {
        self.list().iter().filter(|known| **known == parameter).count()
    }

    pub(crate) fn list(&self) -> Vec<RequestParameter> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes over what the server refused before the run was resumed.
    pub(crate) fn restore(&self, refused: &[RequestParameter]) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (place, parameter) in refused.iter().enumerate() {
            let count =
                |list: &[RequestParameter]| list.iter().filter(|other| *other == parameter).count();
            if count(&known) < count(refused.get(..=place).unwrap_or_default()) {
                known.push(*parameter);
            }
        }
    }

    /// The parts of the next request to a provider.
    pub(crate) fn remaining_parts<'a>(
        &self,
        provider: &Provider,
        dialect: Dialect,
        base_url: &str,
        messages: &AskMessages,
        schema: Option<&'a Value>,
        facts: Option<&'static ModelFacts>,
    ) -> RequestParts<'a> {
        let refused = self.list();
        let is_left = |parameter: RequestParameter| !refused.contains(&parameter);
        let takes_temperature = facts.is_none_or(|facts| facts.sampling);
        let reasons = facts.is_none_or(|facts| facts.reasons);
        let effort = provider.effort.filter(|_| reasons && is_left(RequestParameter::Effort));
        RequestParts {
            schema: schema.filter(|_| is_left(RequestParameter::Schema)),
            json_mode: false,
            stream: is_left(RequestParameter::Stream),
            temperature: provider
                .temperature
                .filter(|_| takes_temperature && is_left(RequestParameter::Temperature)),
            effort,
            output_limit: self.output_limit(dialect, base_url),
            facts,
            cache_mark: is_left(RequestParameter::CacheMark)
                && marks_cache(dialect, base_url, messages, facts),
        }
    }

    /// OpenAI's servers know the limit by one of two names.
    fn output_limit(&self, dialect: Dialect, base_url: &str) -> Option<OutputLimit> {
        let usual = output_limit_at(base_url);
        match (dialect, self.count(RequestParameter::OutputLimit)) {
            (Dialect::Anthropic, _) | (_, 0) => Some(usual),
            (Dialect::OpenAi, 1) => Some(usual.other_name()),
            (Dialect::OpenAi | Dialect::Gemini, _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_estimated_by_the_script() {
        for (text, expected) in [("", 0), ("four letters", 3), ("字字字字", 4), ("Grüße", 1)]
        {
            assert_eq!(usual_tokens(text), expected, "{text}");
        }
    }
}
