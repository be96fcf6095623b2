//! [`list_models`]: the models that providers offer, with window, price and retirement.

use plenary_core::model::ask::TransportKind;
use plenary_core::model::plan::TokenPrice;
use plenary_core::model::text::find_nearest;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::report::model_list::{
    ListedModel, ListedPrice, ModelList, ModelListSource, ProviderModels,
};

use crate::app::project::SettingsLoader;
use crate::config::model_directory::fetch_lists;
use crate::config::resolve_provider::ProviderCandidate;
use crate::config::settle_sections::BudgetOverrides;
use crate::error::Error;
use crate::providers::catalogue::{find_row, provider_rows};
use crate::providers::model_facts::{ModelFacts, find_facts, list_facts};
use crate::providers::offered_models::{OfferedModel, is_chat_model};
use crate::providers::transport::{CallError, Provider};

/// Lists the models of the project's providers, or of one provider. A provider that cannot be asked
/// has the models of the facts; without any provider, those of the catalogue's first three.
pub fn list_models(loader: &SettingsLoader, name: Option<&str>) -> Result<ModelList, Error> {
    let (_, candidates) = loader.survey_providers(&BudgetOverrides::default())?;
    let is_wanted =
        |one: &&ProviderCandidate| name.is_none_or(|name| one.provider.name.as_str() == name);
    let wanted: Vec<&ProviderCandidate> = candidates.iter().filter(is_wanted).collect();
    if wanted.is_empty() {
        let names = match name {
            Some(name) => vec![known_name(name, &candidates)?],
            None => vec!["claude", "openai", "gemini"],
        };
        let providers = names.into_iter().map(|name| from_facts(name, name, None)).collect();
        return Ok(ModelList { providers });
    }
    let asked: Vec<&Provider> =
        wanted.iter().filter(|one| is_served(one)).map(|one| &one.provider).collect();
    let mut lists = asked.iter().zip(fetch_lists(&asked));
    let providers = wanted.iter().map(|one| match is_served(one) {
        true => from_answer(&one.provider, lists.next().map(|(_, answer)| answer)),
        false => from_facts(one.provider.name.as_str(), facts_name(&one.provider), None),
    });
    Ok(ModelList { providers: providers.collect() })
}

/// The name of a row of the catalogue, or an error that lists the names.
fn known_name(
    name: &str,
    candidates: &[ProviderCandidate],
) -> Result<&'static str, ValidationError> {
    if let Some(row) = find_row(name) {
        return Ok(row.name);
    }
    let own = candidates.iter().map(|one| one.provider.name.as_str());
    let names: Vec<&str> = own.chain(provider_rows().iter().map(|row| row.name)).collect();
    let hint = match find_nearest(name, &names) {
        Some(near) => format!("did you mean `plenary models {near}`?"),
        None => format!("known are: {}", names.join(", ")),
    };
    let message = format!("there is no provider `{name}`");
    Err(ValidationError::new(ErrorCode::InvalidEnum, message).with_suggestion(hint))
}

fn is_served(candidate: &ProviderCandidate) -> bool {
    let statuses = &candidate.transport_statuses;
    statuses.iter().any(|way| way.kind == TransportKind::Http && way.closed.is_none())
}

/// The row whose facts belong to a provider.
fn facts_name(provider: &Provider) -> &str {
    find_row(provider.name.as_str()).map_or(provider.name.as_str(), |row| row.name)
}

fn from_answer(
    provider: &Provider,
    answer: Option<Result<Vec<OfferedModel>, CallError>>,
) -> ProviderModels {
    let name = provider.name.as_str();
    let offered = match answer {
        Some(Ok(offered)) if !offered.is_empty() => offered,
        Some(Ok(_)) => {
            return from_facts(
                name,
                facts_name(provider),
                Some("its own list is empty".to_owned()),
            );
        }
        Some(Err(error)) => return from_facts(name, facts_name(provider), Some(error.message)),
        None => return from_facts(name, facts_name(provider), None),
    };
    let lists_prices = find_row(name).is_some_and(|row| row.lists_prices);
    let chat = offered.into_iter().filter(|model| is_chat_model(&model.name));
    let models = chat.map(|model| {
        let facts = find_facts(name, &model.name);
        let price = model.price.filter(|_| lists_prices).or(facts.map(ModelFacts::price));
        let known_window = facts.map(|facts| facts.context_tokens);
        ListedModel {
            context_tokens: model.context_tokens.or(known_window),
            output_tokens: model.output_tokens.or(facts.map(|facts| facts.output_tokens)),
            price: price.as_ref().map(to_listed_price),
            reasons: facts.is_some_and(|facts| facts.reasons),
            retires: facts.and_then(|facts| facts.retires),
            preferred: false,
            model: model.name,
        }
    });
    let models = mark_preferred(name, models.collect());
    let source = ModelListSource::Provider;
    ProviderModels { name: name.to_owned(), source, reason: None, models }
}

fn from_facts(name: &str, row: &str, reason: Option<String>) -> ProviderModels {
    let models = list_facts(row).map(|facts| ListedModel {
        model: facts.model.to_owned(),
        context_tokens: Some(facts.context_tokens),
        output_tokens: Some(facts.output_tokens),
        price: Some(to_listed_price(&facts.price())),
        reasons: facts.reasons,
        retires: facts.retires,
        preferred: false,
    });
    let models = mark_preferred(row, models.collect());
    ProviderModels { name: name.to_owned(), source: ModelListSource::Facts, reason, models }
}

/// Sorts by name and marks the model that `latest` takes.
fn mark_preferred(name: &str, mut models: Vec<ListedModel>) -> Vec<ListedModel> {
    let line = find_row(name).and_then(|row| row.line.as_ref());
    let newest = line.and_then(|line| line.newest(models.iter().map(|one| one.model.as_str())));
    let newest = newest.map(str::to_owned);
    for model in &mut models {
        model.preferred = Some(&model.model) == newest.as_ref();
    }
    models.sort_by(|one, other| one.model.cmp(&other.model));
    models
}

fn to_listed_price(price: &TokenPrice) -> ListedPrice {
    ListedPrice {
        input: price.input_per_mtok,
        cached_input: price.cached_input_per_mtok,
        output: price.output_per_mtok,
    }
}
