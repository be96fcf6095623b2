//! [`Settings`]: the configuration in its final form, built once by `load_settings`, then
//! immutable. Also builds seats from providers, and collects secrets that must not leave with a
//! context file.

use std::path::PathBuf;

use plenary_core::model::ask::TransportKind;
use plenary_core::model::hash::sha256_hex;
use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::plan::{
    BudgetCaps, QuorumRules, RoundTimeouts, SINGLE_FAMILY_NOTE, Seat, SeatRole, SeatTimeouts,
    ShortCircuitRules,
};
use plenary_core::model::time::Day;
use plenary_core::prompting::lens::REPEATED_LENSES;
use plenary_core::protocols::review::concern_codes::ConcernCode;
use plenary_core::protocols::review::policy::PolicyName;
use plenary_core::protocols::review::redaction::LogRedaction;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use crate::config::environment::EnvVariables;
use crate::config::error::ConfigError;
use crate::config::locate::ProjectPaths;
use crate::config::resolve_provider::ProviderCandidate;
use crate::config::settle_sections::{EffectiveSetting, SettingSource};
use crate::config::tier_rules::{ClassifierSettings, TierRule};
use crate::providers::catalogue::{ProviderRow, find_row};
use crate::providers::http_clients::{is_loopback, origin_of};
use crate::providers::model_facts::{facts_day, find_facts};
use crate::providers::transport::Provider;

#[derive(Debug, Clone)]
pub struct Settings {
    pub paths: ProjectPaths,
    pub council: CouncilSettings,
    pub budget: BudgetCaps,
    /// Daily spending limit over all runs of a server's store; `None` means no limit.
    pub server_usd_micros: Option<u64>,
    pub conclusion: ConclusionSettings,
    pub review: ReviewSettings,
    /// In the order in which they are tried; `None` if the file has no rules.
    pub tier_rules: Option<Vec<TierRule>>,
    pub tier_classifier: ClassifierSettings,
    pub alignment: AlignmentSettings,
    pub retention: RetentionSettings,
    /// Values that must not be sent with a context file.
    pub secrets_in_use: Vec<SecretString>,
    /// Every effective value with its source.
    pub origins: Vec<EffectiveSetting>,
}

impl Settings {
    /// Fails if no provider is available.
    pub fn require_providers(&self) -> Result<(), ConfigError> {
        if self.council.providers.is_empty() { Err(ConfigError::NoProvider) } else { Ok(()) }
    }

    /// Returns warnings to print before providers are called, one sentence each.
    pub fn list_warnings(&self, today: Day) -> Vec<String> {
        let providers = &self.council.providers;
        let exposed = providers.iter().filter_map(exposed_key_warning);
        let retiring = providers.iter().filter_map(|one| retirement_warning(one, today));
        exposed.chain(retiring).chain(self.short_time_warnings()).collect()
    }

    /// Warns about times that were probably meant in seconds: integers are milliseconds.
    fn short_time_warnings(&self) -> Vec<String> {
        let RoundTimeouts { r1_per_provider, r2_per_provider, r3_chair } = self.council.timeouts;
        let timeouts = "council.timeouts";
        let mut times = vec![
            (format!("{timeouts}.r1_per_provider"), Some(r1_per_provider)),
            (format!("{timeouts}.r2_per_provider"), Some(r2_per_provider)),
            (format!("{timeouts}.r3_chair"), Some(r3_chair)),
        ];
        for provider in &self.council.providers {
            let SeatTimeouts { r1_per_provider, r2_per_provider, r3_chair } =
                provider.timeouts.unwrap_or_default();
            let path = format!("council.providers.{}.timeouts", provider.name);
            times.push((format!("{path}.r1_per_provider"), r1_per_provider));
            times.push((format!("{path}.r2_per_provider"), r2_per_provider));
            times.push((format!("{path}.r3_chair"), r3_chair));
        }
        // On the command line and in a variable a time has a unit.
        let is_in_file = self.origins.iter().any(|setting| {
            setting.key == "budget.wall_max" && matches!(setting.source, SettingSource::File { .. })
        });
        times.push(("budget.wall_max".to_owned(), is_in_file.then_some(self.budget.wall_ms)));
        let short = times.into_iter().filter_map(|(key, ms)| Some((key, ms?)));
        let short = short.filter(|(_, ms)| *ms < TIMEOUT_MS_PLAUSIBLE);
        short
            .map(|(key, ms)| {
                format!("`{key}` is {ms} milliseconds; write `{ms}s` if you mean seconds")
            })
            .collect()
    }
}

/// A user needs some weeks to choose and try another model.
const RETIREMENT_NOTICE_DAYS: i64 = 60;

/// Warns before and after the day on which the provider removes the model.
pub(crate) fn retirement_warning(provider: &Provider, today: Day) -> Option<String> {
    let (name, model) = (&provider.name, &provider.model);
    let change = format!("`plenary models {name}` lists others; `model: latest` takes the newest");
    let Some(facts) = find_facts(name.as_str(), model) else {
        let taken = facts_day();
        return has_known_models(provider).then(|| {
            format!("the model `{model}` of `{name}` is not among the models known on {taken}; it may be retired; {change}")
        });
    };
    let day = facts.retires?;
    match day.days_since(today) {
        ..0 => Some(format!("the model `{model}` of `{name}` was retired on {day}; {change}")),
        0..=RETIREMENT_NOTICE_DAYS => {
            Some(format!("the model `{model}` of `{name}` retires on {day}; {change}"))
        }
        _ => None,
    }
}

/// Whether the provider is called at its own address and its models are in the facts.
fn has_known_models(provider: &Provider) -> bool {
    let row = find_row(provider.name.as_str());
    let is_own = |row: &&ProviderRow| provider.base_url.as_deref() == Some(row.base_url);
    let is_called = provider.transports.contains(&TransportKind::Http);
    // The facts have all current models of the vendors with a line; a router has too many.
    is_called && row.filter(is_own).is_some_and(|row| row.line.is_some() && !row.lists_prices)
}

/// No model answers in a shorter time.
const TIMEOUT_MS_PLAUSIBLE: u64 = 1_000;

/// Warns if a provider's key crosses the network unencrypted. Calls to this machine are exempt.
fn exposed_key_warning(provider: &Provider) -> Option<String> {
    let url = provider.base_url.as_deref()?;
    let is_exposed = provider.key.is_some()
        && provider.transports.contains(&TransportKind::Http)
        && !is_loopback(url);
    let origin = origin_of(url).filter(|origin| is_exposed && origin.starts_with("http://"))?;
    let name = &provider.name;
    Some(format!(
        "the key of `{name}` goes to {origin} unencrypted; use https:// in its `base_url`"
    ))
}

#[derive(Debug, Clone)]
pub struct CouncilSettings {
    /// In the order of the file or of discovery; may be empty.
    pub providers: Vec<Provider>,
    pub origin: ProviderOrigin,
    pub timeouts: RoundTimeouts,
    pub quorum: QuorumRules,
    pub short_circuit: ShortCircuitRules,
    pub anonymous_review: bool,
}

/// Where the providers come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderOrigin {
    /// Named in the file; only these are used.
    Configured,
    /// Discovered on this machine; seats may repeat them.
    Found,
    /// Neither named nor discovered.
    Missing,
}

/// Synthesizer, critic and reviser, as far as the file names them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct ConclusionSettings {
    pub synthesizer: Option<ExpertSlug>,
    pub critic: Option<ExpertSlug>,
    pub reviser: Option<ExpertSlug>,
}

/// Providers of the three conclusion roles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConclusionRoles {
    pub synthesizer: ExpertSlug,
    pub critic: ExpertSlug,
    pub reviser: ExpertSlug,
}

impl ConclusionSettings {
    /// Drops the names of providers that are not among these.
    #[must_use]
    pub fn with_only(&self, present: &[Provider]) -> Self {
        let is_present = |name: &ExpertSlug| present.iter().any(|one| one.name == *name);
        Self {
            synthesizer: self.synthesizer.clone().filter(is_present),
            critic: self.critic.clone().filter(is_present),
            reviser: self.reviser.clone().filter(is_present),
        }
    }

    /// Fills roles the file leaves open. The chair becomes synthesizer and reviser; a provider of
    /// another family becomes critic if there is one. `present` are the providers of the panel;
    /// providers the file names, and a critic of another family, may come from `configured`.
    /// Returns `None` if there is no provider.
    pub fn assign_roles(
        &self,
        chair: Option<&ExpertSlug>,
        present: &[Provider],
        configured: &[Provider],
    ) -> Option<ConclusionRoles> {
        let chair = present.iter().find(|provider| Some(&provider.name) == chair);
        let named = self.synthesizer.as_ref();
        let named = named.and_then(|name| configured.iter().find(|one| one.name == *name));
        let synthesizer = named.or(chair).or(present.first())?;
        let all = || present.iter().chain(configured);
        let stranger = all().find(|one| one.family != synthesizer.family);
        let other = present.iter().find(|one| one.name != synthesizer.name);
        let critic = stranger.or(other).unwrap_or(synthesizer);
        let name = synthesizer.name.clone();
        Some(ConclusionRoles {
            critic: self.critic.clone().unwrap_or_else(|| critic.name.clone()),
            reviser: self.reviser.clone().unwrap_or_else(|| name.clone()),
            synthesizer: name,
        })
    }
}

/// Settings of the review protocol.
#[derive(Debug, Clone)]
pub struct ReviewSettings {
    pub deliberators: Vec<DeliberatorSettings>,
    /// `None` means the chair.
    pub adjudicator: Option<ExpertSlug>,
    pub policy: PolicyName,
    pub min_deliberators: usize,
    pub prior_verdicts: usize,
    pub log_path: PathBuf,
    /// Patterns that are removed from the log.
    pub redact: LogRedaction,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliberatorSettings {
    pub name: ExpertSlug,
    /// `None` means that seats are distributed over the participants in order.
    pub provider: Option<ExpertSlug>,
    /// The operator's prompt, instead of the built-in one.
    pub prompt: Option<PathBuf>,
    pub context_refs: Vec<PathBuf>,
    /// Codes of concerns besides the built-in ones.
    pub codes: Vec<ConcernCode>,
    pub version: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AlignmentSettings {
    /// `None` means a provider of another family than most experts.
    pub judge: Option<ExpertSlug>,
    /// `None` means the participants.
    pub experts: Option<Vec<ExpertSlug>>,
    pub max_rounds: u8,
    pub convergence_percent: u8,
    /// `None` means that the Judge decides.
    pub panel_size: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct RetentionSettings {
    pub keep_prompts: bool,
}

/// Three seats allow a majority.
pub(crate) const PANEL_SEATS: usize = 3;

/// Hex digits of a generated version: enough to distinguish two prompts.
const VERSION_DIGITS: usize = 8;

/// Builds a seat for each provider: participants in order, then providers that only chair. If too
/// few providers were discovered, they are repeated; configured ones are not. Also returns notes
/// for the reader of the result.
pub fn build_seats(
    providers: &[Provider],
    origin: ProviderOrigin,
    prompt_digest: &str,
) -> (Vec<Seat>, Vec<String>) {
    let is_participant = |provider: &&Provider| provider.roles.contains(&SeatRole::Participant);
    let participants: Vec<&Provider> = providers.iter().filter(is_participant).collect();
    let mut seats: Vec<Seat> =
        participants.iter().flat_map(|one| build_lens_seats(one, prompt_digest)).collect();
    let mut notes = Vec::new();
    if origin == ProviderOrigin::Found && !seats.is_empty() && seats.len() < PANEL_SEATS {
        notes.push(format!(
            "too few providers were found for {PANEL_SEATS} seats; they are repeated, with \
             different lenses"
        ));
        let missing = PANEL_SEATS - seats.len();
        let further = participants.iter().cycle().take(missing).enumerate();
        let repeated = further.filter_map(|(place, one)| {
            repeat_seat(one, place / participants.len() + 2, prompt_digest)
        });
        seats.extend(repeated.collect::<Vec<_>>());
        give_lenses(&mut seats, prompt_digest);
    }
    notes.extend(single_family_note(&seats));
    let chairs = providers.iter().filter(|provider| !is_participant(provider));
    seats.extend(chairs.map(|one| build_seat(one, prompt_digest)));
    (seats, notes)
}

/// Returns the possible chairs in the order of attempts; the first provider if none has the role.
pub fn list_chairs(providers: &[Provider]) -> Vec<ExpertSlug> {
    let chairs = providers.iter().filter(|provider| provider.roles.contains(&SeatRole::Chair));
    let chairs: Vec<ExpertSlug> = chairs.map(|provider| provider.name.clone()).collect();
    if chairs.is_empty() {
        return providers.first().map(|provider| provider.name.clone()).into_iter().collect();
    }
    chairs
}

/// Returns a note if all seats are of one model family.
pub fn single_family_note(seats: &[Seat]) -> Option<String> {
    let family = &seats.first()?.family;
    let is_one = seats.len() > 1 && seats.iter().all(|seat| seat.family == *family);
    is_one.then(|| format!("{SINGLE_FAMILY_NOTE}: {family}"))
}

/// Gives the seats of a repeated model different lenses. A configured lens stays.
fn give_lenses(seats: &mut [Seat], prompt_digest: &str) {
    let models: Vec<String> = seats.iter().map(|seat| seat.model.clone()).collect();
    let is_repeated = |model: &String| models.iter().filter(|known| *known == model).count() > 1;
    let repeated = seats.iter_mut().filter(|seat| is_repeated(&seat.model));
    for (seat, lens) in repeated.zip(REPEATED_LENSES) {
        if seat.lens.is_none() {
            seat.lens = Some(lens.to_owned());
            seat.version = short_version(&format!("{prompt_digest}\n{lens}"), &seat.model);
        }
    }
}

/// Builds a provider's seats: one for each of its lenses, at least one.
fn build_lens_seats(provider: &Provider, prompt_digest: &str) -> Vec<Seat> {
    if provider.lenses.is_empty() {
        return vec![build_seat(provider, prompt_digest)];
    }
    let seat = |(place, lens): (usize, &String)| {
        let provider = Provider { lens: Some(lens.clone()), ..provider.clone() };
        match place {
            0 => Some(build_seat(&provider, prompt_digest)),
            _ => repeat_seat(&provider, place + 1, prompt_digest),
        }
    };
    provider.lenses.iter().enumerate().filter_map(seat).collect()
}

/// Name of the `nth` seat of a provider: `claude`, `claude-2`.
pub(crate) fn numbered_seat_name(provider: &ExpertSlug, nth: usize) -> String {
    if nth == 1 { provider.to_string() } else { format!("{provider}-{nth}") }
}

/// Builds another seat of the same provider, as participant only.
fn repeat_seat(provider: &Provider, nth: usize, prompt_digest: &str) -> Option<Seat> {
    let name = numbered_seat_name(&provider.name, nth).parse().ok()?;
    Some(Seat { name, roles: vec![SeatRole::Participant], ..build_seat(provider, prompt_digest) })
}

/// Builds a provider's seat.
pub fn build_seat(provider: &Provider, prompt_digest: &str) -> Seat {
    let version = provider.version.clone();
    let digest = match &provider.lens {
        Some(lens) => format!("{prompt_digest}\n{lens}"),
        None => prompt_digest.to_owned(),
    };
    Seat {
        name: provider.name.clone(),
        provider: provider.name.clone(),
        model: provider.model.clone(),
        family: provider.family.clone(),
        version: version.unwrap_or_else(|| short_version(&digest, &provider.model)),
        roles: provider.roles.clone(),
        transports: provider.transports.clone(),
        endpoint: first_endpoint(provider),
        price: provider.price.clone(),
        output_tokens_max: provider.output_tokens_max,
        temperature: provider.temperature,
        input_tokens_max: provider.input_tokens_max,
        effort: provider.effort,
        lens: provider.lens.clone(),
        timeouts: provider.timeouts,
    }
}

/// Returns a short hash of prompt and model, which changes with either.
pub fn short_version(prompt_digest: &str, model: &str) -> String {
    let hex = sha256_hex([prompt_digest, "\n", model].map(str::as_bytes));
    hex.chars().take(VERSION_DIGITS).collect()
}

/// Returns the endpoint of the first transport: a URL or a program.
fn first_endpoint(provider: &Provider) -> Option<String> {
    match provider.transports.first()? {
        TransportKind::Http => provider.base_url.clone(),
        TransportKind::Cli => provider.command.first().cloned(),
        TransportKind::Mcp => provider.mcp.as_ref().map(|mcp| mcp.command.clone()),
        TransportKind::Rehearsal => None,
    }
}

/// Parts of variable names that indicate a secret.
const SECRET_NAME_PARTS: [&str; 8] =
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "DATABASE_URL"];
const SECRET_NAME_ENDS: [&str; 5] = ["_PWD", "_PASS", "_AUTH", "_DSN", "_PAT"];

/// Shorter values occur in ordinary text.
const VALUE_CHARS_MIN: usize = 8;
/// Ordinary lower-case terms and numbers are shorter than this.
const WORD_CHARS_MAX: usize = 16;

/// Collects the secrets of all providers, usable or not, and of the environment.
pub(crate) fn collect_secrets(
    candidates: &[ProviderCandidate],
    environment: &EnvVariables,
) -> Vec<SecretString> {
    let keys = candidates.iter().filter_map(|candidate| candidate.provider.key.clone());
    let tools = candidates.iter().filter_map(|candidate| candidate.provider.mcp.as_ref());
    let given = tools.flat_map(|tool| &tool.env).filter(|(name, value)| {
        let value = value.expose_secret();
        if is_secret_name(name) { is_distinctive(value) } else { is_random_value(value) }
    });
    let given = given.map(|(_, value)| value.clone());
    let exported =
        environment.iter().filter(|(name, value)| is_secret_name(name) && is_distinctive(value));
    let exported = exported.map(|(_, value)| SecretString::from(value.trim()));
    keys.chain(given).chain(exported).collect()
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_NAME_PARTS.iter().any(|part| name.contains(part))
        || SECRET_NAME_ENDS.iter().any(|end| name.ends_with(end))
}

/// Whether a value is distinguishable from terms, numbers and paths of ordinary text.
fn is_distinctive(value: &str) -> bool {
    let value = value.trim();
    let length = value.chars().count();
    let is_word = length < WORD_CHARS_MAX && value.chars().all(|letter| letter.is_lowercase());
    let is_number = length < WORD_CHARS_MAX && value.chars().all(|letter| letter.is_ascii_digit());
    length >= VALUE_CHARS_MIN && !is_word && !is_number && !is_path_or_url(value)
}

/// Stricter check, for a value whose name does not indicate a secret.
fn is_random_value(value: &str) -> bool {
    let has = |is_of: fn(char) -> bool| value.chars().any(is_of);
    is_distinctive(value)
        && value.chars().count() >= WORD_CHARS_MAX
        && has(char::is_alphabetic)
        && has(|letter| letter.is_ascii_digit())
}

/// Whether a value is a path, or a URL without a password.
fn is_path_or_url(value: &str) -> bool {
    let is_path = ["/", "./", "../", "~"].iter().any(|start| value.starts_with(start));
    let address = value.split_once("://").map(|(_, rest)| rest);
    let has_password = |rest: &str| {
        let login = rest.split('/').next().and_then(|host| host.rsplit_once('@'));
        login.is_some_and(|(login, _)| login.contains(':'))
    };
    is_path || address.is_some_and(|rest| !has_password(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::test_samples::sample_provider;

    #[test]
    fn the_environment_gives_what_is_named_as_a_secret_and_is_no_word() {
        let environment = EnvVariables::from_pairs([
            ("GROQ_API_KEY", "gsk_4f9d1c77e0ab"),
            ("db_password", "correct-horse"),
            ("DATABASE_URL", "postgres://app:s3cr3t@db/app"),
            ("OTHER_DATABASE_URL", "sqlite://db/app"),
            ("CI_PAT", "  a1b2c3d4e5\n"),
            ("KEYBOARD", "standard"),
            ("TOKENIZERS_PARALLELISM", "false"),
            ("SSH_KEY_FILE", "/home/ann/.ssh/id_rsa"),
            ("HOME", "/home/ann-with-2-names"),
            ("OLDPWD", "/home/ann"),
        ]);
        let found = collect_secrets(&[], &environment);
        let mut found: Vec<&str> = found.iter().map(ExposeSecret::expose_secret).collect();
        found.sort_unstable();
        assert_eq!(
            found,
            ["a1b2c3d4e5", "correct-horse", "gsk_4f9d1c77e0ab", "postgres://app:s3cr3t@db/app"]
        );
    }

    #[test]
    fn a_retirement_is_announced_sixty_days_before_it() {
        let check = |model: &str, today: &str, expected: Option<&str>| {
            let provider = Provider { model: model.to_owned(), ..sample_provider() };
            let result = retirement_warning(&provider, today.parse().unwrap());
            let result = result.as_deref().and_then(|result| result.split(';').next());
            assert_eq!(result, expected, "{model} {today}");
        };
        let retires = "the model `gpt-4o-2024-05-13` of `openai` retires on 2026-10-23";
        let retired = "the model `gpt-4o-2024-05-13` of `openai` was retired on 2026-10-23";
        check("gpt-4o-2024-05-13", "2026-08-23", None);
        check("gpt-4o-2024-05-13", "2026-08-24", Some(retires));
        check("gpt-4o-2024-05-13", "2026-10-23", Some(retires));
        check("gpt-4o-2024-05-13", "2026-10-24", Some(retired));
        check("gpt-5.6", "2026-10-24", None);
        let gone = "the model `gpt-3` of `openai` is not among the models known on 2026-11-18";
        check("gpt-3", "2026-10-24", Some(gone));
        let elsewhere = Provider {
            model: "gpt-3".to_owned(),
            base_url: Some("http://127.0.0.1:8099/v1".to_owned()),
            ..sample_provider()
        };
        assert_eq!(retirement_warning(&elsewhere, "2026-10-24".parse().unwrap()), None);
    }

    #[test]
    fn a_value_without_a_telling_name_must_look_random() {
        for (value, expected) in [
            ("srv-canary-mcp-7b1e5d80aa", true),
            ("eu-central-1", false),
            ("https://host.example/v1/models", false),
            ("https://ann:p4ssw0rd@host.example/", true),
            ("warning", false),
        ] {
            assert_eq!(is_random_value(value), expected, "{value}");
        }
    }
}
