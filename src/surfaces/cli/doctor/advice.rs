//! Advice of `doctor`: one sentence per problem. Pure.

use super::checkup::ProviderCheck;
use crate::config::ProviderOrigin;

/// Three seats allow a majority.
const PANEL_SIZE_MIN: usize = 3;

pub(super) fn list_advice(providers: &[ProviderCheck], origin: ProviderOrigin) -> Vec<String> {
    if providers.is_empty() {
        return no_provider_advice();
    }
    let mut advice: Vec<String> = providers.iter().flat_map(provider_advice).collect();
    if origin == ProviderOrigin::Found && providers.len() < PANEL_SIZE_MIN {
        advice.push(format!(
            "fewer than {PANEL_SIZE_MIN} providers were found: seats are filled by repeating them; \
             `plenary init` writes a council.yaml in which others can be named"
        ));
    }
    advice
}

fn no_provider_advice() -> Vec<String> {
    [
        "no provider was found: `plenary ask` rehearses with its built-in panel, which asks no model",
        "set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY; or install \
         claude, codex or gemini; or start Ollama",
        "any other server goes into council.yaml, which `plenary init` writes",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn provider_advice(provider: &ProviderCheck) -> Vec<String> {
    let name = &provider.name;
    let mut advice = Vec::new();
    match &provider.key {
        Some(key) if !key.present && !provider.usable => {
            advice
                .push(format!("set {} for `{name}`, or take it out of council.yaml", key.variable));
        }
        Some(_) | None => {}
    }
    if provider.reachable == Some(false) {
        advice
            .push(format!("`{name}` does not answer: is its server running, is `base_url` right?"));
    }
    if let (Some(false), Some(nearest)) = (provider.model_exists, provider.offered.first()) {
        advice.push(format!(
            "`{name}` does not offer `{}`; set its `model` to one that it does, such as `{nearest}`",
            provider.model
        ));
    }
    if provider.price.is_none() {
        advice.push(format!(
            "what `{name}` costs is not known, so `budget.usd_max` cannot hold for it: give it a \
             `price` in council.yaml"
        ));
    }
    advice
}
