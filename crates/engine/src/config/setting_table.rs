//! The table of settings: key, kind of value with its range, default, flag, variable and help.
//!
//! The table drives reading and validation (`section.rs`), priorities and `plenary config`
//! (`settle_sections.rs`). Tests compare `templates/council.yaml` and the reference in
//! `docs/configuration.md` with it.

use plenary_core::model::limits::ROUND_MAX;
use plenary_core::model::plan::{
    EffortLevel, PARTICIPANTS_MAX, SeatRole, SkipReviewRule, SkipSynthesisRule,
};
use plenary_core::model::string_enum::{StringEnum, words};
use plenary_core::protocols::alignment::types::{PANEL_MAX, PANEL_MIN};
use plenary_core::protocols::review::policy::PolicyName;

use crate::config::section::{base_url_fault, name_fault, show_duration, variable_fault};
use crate::config::tier_rules::ClassifierKind;
use crate::providers::transport::{Dialect, WireSchema};

/// No run needs a larger budget.
const USD_MAX: f64 = 1_000_000.0;

/// No caller waits longer than a week.
const WALL_MS_MAX: u64 = 7 * 24 * 3_600_000;

/// A model that has not answered within a day will not answer.
const TIMEOUT_MS_MAX: u64 = 24 * 3_600_000;

/// Each prior verdict takes a few lines; more would crowd out the artifact.
const PRIOR_VERDICTS_MAX: u64 = 50;

/// Dollars per million tokens: a hundred times the most expensive model.
const PRICE_MAX: f64 = 100_000.0;

/// A smaller window has no space for our own text.
const CONTEXT_TOKENS_MIN: u64 = 4_096;

/// Ten times the largest window.
const CONTEXT_TOKENS_MAX: u64 = 20_000_000;

/// No model writes more in one turn.
const OUTPUT_TOKENS_MAX: u64 = 1_000_000;

/// More calls at once than any provider answers.
const IN_FLIGHT_MAX: u64 = 10_000;

words! {
    /// Default transport, unless a provider names its own.
    pub enum TransportChoice {
        Auto = "auto",
        Http = "http",
        Mcp = "mcp",
        Cli = "cli",
    }
}

/// Kind of a value, with its range.
#[derive(Debug, Clone, Copy)]
pub enum ValueKind {
    Boolean,
    Integer {
        min: u64,
        max: u64,
    },
    /// From 0 to the limit.
    Number {
        max: f64,
    },
    /// A whole number from 1 to the limit, or `unlimited`, which is read as 0.
    Limit {
        max: u64,
    },
    /// Milliseconds, from 1 to the limit.
    Duration {
        max_ms: u64,
    },
    /// One line of text; the function returns the fault of a text.
    Text(fn(&str) -> Option<&'static str>),
    Texts,
    /// One of these words.
    Word(fn() -> Vec<String>),
    /// A list of different words, or a single word.
    Words(fn() -> Vec<String>),
    /// Texts by names.
    TextMap,
    /// A list or mapping that `council_file.rs` reads.
    Structure(&'static str),
}

/// What holds if no source sets a value.
#[derive(Debug, Clone, Copy)]
pub enum SettingDefault {
    /// In the notation of the file.
    Value(&'static str),
    /// A rule in words.
    Rule(&'static str),
}

/// One setting.
#[derive(Debug, Clone, Copy)]
pub struct SettingRow {
    /// Path in the file, or in an entry of a list.
    pub key: &'static str,
    pub kind: ValueKind,
    pub default: SettingDefault,
    /// Flag and environment variable that override the file.
    pub overrides: Option<(&'static str, &'static str)>,
    pub help: &'static str,
}

impl ValueKind {
    /// What a value must be, for messages and the reference.
    pub fn expected(self) -> String {
        match self {
            Self::Boolean => "`true` or `false`".to_owned(),
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::Number { max } => format!("a number from 0 to {max}"),
            Self::Limit { max } => format!("a whole number from 1 to {max}, or `unlimited`"),
            Self::Duration { max_ms } => format!(
                "a duration from 1ms to {}: milliseconds, or `500ms`, `60s`, `15m`, `2h`",
                show_duration(max_ms)
            ),
            Self::Text(_) => "text".to_owned(),
            Self::Texts => "a list of texts".to_owned(),
            Self::Word(options) => format!("one of {}", options().join(", ")),
            Self::Words(options) => format!("a list of {}", options().join(", ")),
            Self::TextMap => "a mapping of names to texts".to_owned(),
            Self::Structure(expected) => expected.to_owned(),
        }
    }

    /// The same for a value that is typed or in a variable, where a duration needs its unit.
    pub(crate) fn expected_typed(self) -> String {
        let Self::Duration { max_ms } = self else { return self.expected() };
        format!(
            "a time from 1ms to {} with a unit, such as `500ms`, `60s`, `15m` or `2h`",
            show_duration(max_ms)
        )
    }
}

const fn setting(
    key: &'static str,
    kind: ValueKind,
    default: SettingDefault,
    help: &'static str,
) -> SettingRow {
    SettingRow { key, kind, default, overrides: None, help }
}

impl SettingRow {
    const fn with_overrides(mut self, flag: &'static str, variable: &'static str) -> Self {
        self.overrides = Some((flag, variable));
        self
    }
}

const SEATS: u64 = PARTICIPANTS_MAX as u64;
const TIMEOUT: ValueKind = ValueKind::Duration { max_ms: TIMEOUT_MS_MAX };
const USD: ValueKind = ValueKind::Number { max: USD_MAX };
const PRICE: ValueKind = ValueKind::Number { max: PRICE_MAX };
const NAME: ValueKind = ValueKind::Text(name_fault);
const TEXT: ValueKind = ValueKind::Text(|_| None);
const NO_DEFAULT: SettingDefault = SettingDefault::Rule("none");

/// Settings of `council.yaml`, in the order in which `plenary config` prints them.
#[rustfmt::skip]
pub const SETTINGS: &[SettingRow] = {
    use SettingDefault::{Rule, Value};
    use ValueKind::{Boolean, Duration, Integer, Structure, Word, Words};
    &[
        setting("storage.url", TEXT, Value("sqlite:.plenary/plenary.db"),
            "File of the store, relative to `council.yaml`. No part of the path below the folder of `council.yaml` may be a link; `--store` may name one. A new store is readable by its owner only (mode 0600, `.plenary` 0700). An existing store keeps its mode: to share one with a team, run `chmod 660` on the file.")
            .with_overrides("--store", "PLENARY_STORE"),
        setting("council.transport", Word(TransportChoice::options), Value("auto"),
            "Transport of providers that name no `transports`."),
        setting("council.providers", Structure("a list of providers"), Rule("discovered providers"),
            "The panel, in this order; see [Providers](#providers)."),
        setting("council.timeouts.r1_per_provider", TIMEOUT, Value("60000"),
            "Longest silence during one opinion: to the first byte, and between two chunks."),
        setting("council.timeouts.r2_per_provider", TIMEOUT, Value("90000"),
            "The same for one peer review."),
        setting("council.timeouts.r3_chair", TIMEOUT, Value("120000"),
            "The same for the report, the conclusion, its audit and its revision."),
        setting("council.quorum.r1_min", Integer { min: 1, max: SEATS }, Value("2"),
            "Opinions that round 1 needs."),
        setting("council.quorum.r2_min", Integer { min: 0, max: SEATS }, Value("1"),
            "Reviews that round 2 needs."),
        setting("council.quorum.r3_required", Boolean, Value("true"),
            "`false`: if the budget does not cover a chair, the run ends after round 2 with the best opinion."),
        setting("council.quorum.allow_partial", Boolean, Value("true"),
            "`false`: any failure ends the run."),
        setting("council.quorum.families_min", Integer { min: 1, max: SEATS }, Value("1"),
            "Model families among the participants that answer."),
        setting("council.short_circuit.enabled", Boolean, Value("false"),
            "Whether rounds may be skipped."),
        setting("council.short_circuit.shadow", Boolean, Value("false"),
            "Decide, run the round all the same, and record whether skipping was right."),
        setting("council.short_circuit.skip_r2_if", Words(SkipReviewRule::options),
            Value("[high_agreement_in_r1, low_risk_topic]"),
            "Round 2 is skipped if all of these are true."),
        setting("council.short_circuit.skip_r3_if", Words(SkipSynthesisRule::options),
            Value("[r2_confirms_r1_consensus, budget_constraint]"),
            "Round 3 is skipped if one of these is true."),
        setting("council.anonymous_review", Boolean, Value("true"),
            "Reviewers see letters instead of names."),
        setting("budget.usd_max", USD, Value("2.00"), "Dollars that one run may spend.")
            .with_overrides("--budget-usd", "PLENARY_BUDGET_USD"),
        setting("budget.tokens_max", Integer { min: 1, max: u64::MAX }, Value("2000000"),
            "Input and output tokens of one run."),
        setting("budget.calls_max", Integer { min: 1, max: u32::MAX as u64 }, Value("60"),
            "Calls of one run."),
        setting("budget.wall_max", Duration { max_ms: WALL_MS_MAX }, Value("15m"),
            "Time of one run.")
            .with_overrides("--deadline", "PLENARY_DEADLINE"),
        setting("budget.server_usd_max", USD, NO_DEFAULT,
            "Dollars that `plenary mcp` and `plenary serve` may spend in a day (UTC) over all runs of the store; see [mcp.md](mcp.md#what-a-caller-may-spend)."),
        setting("conclusion.synthesizer", NAME, Rule("the chair"),
            "Provider that writes the conclusion."),
        setting("conclusion.critic", NAME, Rule("a provider of another family than the synthesizer, if there is one"),
            "Provider of the Blind Critic."),
        setting("conclusion.reviser", NAME, Rule("the synthesizer"),
            "Provider that revises the conclusion after objections."),
        setting("review.deliberators", Structure("a list of names, or of `{name, provider, prompt, context_refs, codes, version}`"),
            Rule("skeptic, voice_identity, evidence, strategy"),
            "Seats that judge a document. A name alone is one of the four built-in ones."),
        setting("review.adjudicator.provider", NAME, Rule("the first chair"),
            "Provider that merges the judgements."),
        setting("review.policy.name", Word(PolicyName::options), Value("seed"),
            "How blocks become a verdict. `seed`: three blocks hold a document; with two it ships. `strict`: one or two blocks mean REVISE, three or an irreducible one HOLD."),
        setting("review.policy.min_deliberators", Integer { min: 1, max: SEATS }, Value("3"),
            "With fewer answers a review is INCOMPLETE."),
        setting("review.policy.prior_verdicts", Integer { min: 0, max: PRIOR_VERDICTS_MAX }, Value("5"),
            "Earlier verdicts of the same type that the adjudicator sees."),
        setting("review.log_path", TEXT, Value("council_log.jsonl"),
            "File of the verdict log. Neither it nor a folder on the way to it may be a link."),
        setting("review.redact", Structure("a list of regular expressions"), Value("[]"),
            "Patterns that are removed from a verdict before it is logged."),
        setting("tier_rules", Structure("`tier_1`, `tier_2`, `tier_3`: globs by type of document"), NO_DEFAULT,
            "Which files are reviewed, by type and glob; see [reviews.md](reviews.md)."),
        setting("tier_classifier.type", Word(ClassifierKind::options), Value("rules"),
            "Who finds the tier of a file. `rules`: `tier_rules` alone. `hybrid`: a model, for files that no rule names. `model`: a model, also for files that a rule names; it may raise their tier and never lowers it. See [reviews.md](reviews.md#let-a-model-classify-files-that-no-rule-names)."),
        setting("tier_classifier.provider", NAME, Rule("that of the adjudicator"),
            "Provider of the classifier."),
        setting("alignment.judge", NAME, Rule("a provider of another family than most experts, if there is one"),
            "Provider of the Judge of `plenary align`."),
        setting("alignment.experts", ValueKind::Texts, Rule("the participants"),
            "Providers that play the experts, in this order."),
        setting("alignment.max_rounds", Integer { min: 1, max: ROUND_MAX as u64 + 1 }, Value("10"),
            "Rounds after which the Judge gives a forced verdict. An estimate assumes 3."),
        setting("alignment.convergence_percent", Integer { min: 1, max: 100 }, Value("100"),
            "Agreement that a dialogue needs before a final verdict."),
        setting("alignment.panel_size", Integer { min: PANEL_MIN as u64, max: PANEL_MAX as u64 }, Rule("the Judge's choice"),
            "Experts on each panel of `plenary align`."),
        setting("retention.keep_prompts", Boolean, Value("true"),
            "`false`: the store keeps only a digest of what seats were sent. The plan of a run keeps its subject, so that the run can be resumed: a review keeps its document and context files."),
    ]
};

/// Settings of an entry of `council.providers`.
#[rustfmt::skip]
pub const PROVIDER_SETTINGS: &[SettingRow] = {
    use SettingDefault::{Rule, Value};
    use ValueKind::{Integer, Limit, Number, Text, TextMap, Texts, Word, Words};
    const CATALOGUE: SettingDefault = Rule("the catalogue's");
    const COUNCIL: SettingDefault = Rule("that of the council");
    &[
        setting("name", NAME, NO_DEFAULT, "Unique name. A known name sets the rest."),
        setting("role", Words(SeatRole::options), Value("[participant]"),
            "Without a chair, the first participant chairs."),
        setting("model", TEXT, Value("latest"),
            "Name of the model. `latest`: the newest that the provider offers; see [Models](#models)."),
        setting("dialect", Word(Dialect::options), CATALOGUE, "Wire format."),
        setting("base_url", Text(base_url_fault), CATALOGUE,
            "Address; ends with the version segment, such as `http://127.0.0.1:8099/v1`."),
        setting("api_key_env", Text(variable_fault), CATALOGUE, "Environment variable with the key."),
        setting("transports", Words(transport_options), Rule("by `council.transport`"),
            "Transports in the order of attempts."),
        setting("family", TEXT, Rule("by name or model"),
            "Company that trains the model; two models of one family are not independent opinions."),
        setting("version", TEXT, Rule("a hash of prompt and model"), "Version of the seat in the record."),
        setting("price.input_per_mtok", PRICE, Rule("by the model"), "Dollars per million input tokens."),
        setting("price.output_per_mtok", PRICE, Rule("by the model"), "Dollars per million output tokens."),
        setting("price.cached_input_per_mtok", PRICE, Rule("by the model, else the input price"),
            "Dollars per million input tokens that the provider reads from its cache."),
        setting("price.cache_write_per_mtok", PRICE, Rule("by the model, else the input price"),
            "Dollars per million input tokens that the provider writes to its cache."),
        setting("max_output_tokens", Integer { min: 1, max: OUTPUT_TOKENS_MAX },
            Rule("the model's, at most 16000, or 32000 if it reasons; 8192 if the model is unknown"),
            "Longest reply. Reserved in full before each call."),
        setting("context_tokens", Integer { min: CONTEXT_TOKENS_MIN, max: CONTEXT_TOKENS_MAX },
            Rule("the model's"),
            "Context window. Messages have at most this, less the longest reply and 5 %; 100000 tokens if the window is unknown."),
        setting("effort", Word(EffortLevel::options), Rule("not sent"),
            "How much a model that reasons thinks before it answers."),
        setting("lens", TEXT, Rule("none, unless a model takes several seats"),
            "Where the seat looks first when it gives an opinion: `optimist`, `skeptic`, `pragmatist`, `domain expert: …`, or a text of your own."),
        setting("lenses", Texts, NO_DEFAULT,
            "One seat for each lens, all of this provider: `[pragmatist, skeptic, optimist]`. Instead of `lens`."),
        setting("temperature", Number { max: 2.0 }, Rule("not sent"), "Temperature of the model."),
        setting("wire_schema", Word(WireSchema::options), Value("auto"),
            "Whether requests carry the JSON schema of the reply. `auto`: not with more than 8,000 tokens of question and files, so that the provider's cache works."),
        setting("max_in_flight", Limit { max: IN_FLIGHT_MAX }, Value("8"),
            "Calls to this provider at once, over all runs of a process."),
        setting("timeouts.r1_per_provider", TIMEOUT, COUNCIL, "Longest silence during an opinion."),
        setting("timeouts.r2_per_provider", TIMEOUT, COUNCIL, "Longest silence during a peer review."),
        setting("timeouts.r3_chair", TIMEOUT, COUNCIL, "Longest silence during the report."),
        setting("command", Texts, Rule("the catalogue's program"),
            "Program and arguments; it takes a prompt on its standard input."),
        setting("mcp.command", TEXT, NO_DEFAULT, "MCP server with a tool that answers prompts."),
        setting("mcp.args", Texts, Value("[]"), "Arguments of the server."),
        setting("mcp.env", TextMap, Value("{}"), "Environment variables of the server."),
        setting("mcp.tool", TEXT, NO_DEFAULT, "Name of the tool."),
        setting("mcp.argument", TEXT, Value("prompt"), "Argument of the tool that takes the prompt."),
    ]
};

/// Settings of an entry of `review.deliberators`.
#[rustfmt::skip]
pub const DELIBERATOR_SETTINGS: &[SettingRow] = {
    use SettingDefault::Rule;
    &[
        setting("name", NAME, NO_DEFAULT, "Name of the seat."),
        setting("provider", NAME, Rule("the participants in order"), "Provider of the seat."),
        setting("prompt", TEXT, Rule("the built-in prompt"), "File of the prompt."),
        setting("context_refs", ValueKind::Texts, NO_DEFAULT, "Files that the seat also sees."),
        setting("codes", ValueKind::TextMap, SettingDefault::Value("{}"),
            "Kinds of concern besides the built-in ones, by code (`lower_case`) with their meaning. The adjudicator sees how often each was given."),
        setting("version", TEXT, Rule("a hash of prompt and model"), "Version of the seat in the record."),
    ]
};

fn transport_options() -> Vec<String> {
    TransportChoice::options()
        .into_iter()
        .filter(|name| name != TransportChoice::Auto.name())
        .collect()
}

/// Finds a setting of the file by its key.
pub(crate) fn find_setting(key: &str) -> Option<&'static SettingRow> {
    SETTINGS.iter().find(|row| row.key == key)
}
