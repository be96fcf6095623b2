//! Tests of settings from file, environment and flags together, and the fixtures of all config
//! tests: a council file in its own folder, an environment, and the resulting settings.

use std::path::Path;

use plenary_core::model::ask::TransportKind;
use plenary_core::model::plan::{
    BudgetCaps, QuorumRules, RoundTimeouts, SeatRole, ShortCircuitRules, TokenPrice,
};
use plenary_core::protocols::review::policy::PolicyName;
use plenary_core::protocols::review::types::ReviewTier;
use secrecy::ExposeSecret;
use tempfile::tempdir;

use crate::config::environment::EnvVariables;
use crate::config::error::ConfigError;
use crate::config::load::load_settings_in;
use crate::config::locate::{COUNCIL_FILE, COUNCIL_TEMPLATE, ConfigFlags};
use crate::config::model_directory::ModelDirectory;
use crate::config::settings::{ConclusionSettings, ProviderOrigin, Settings, list_chairs};
use crate::config::settle_sections::{BudgetOverrides, SettingSource};
use crate::config::tier_rules::TierRule;
use crate::files::read_write::{FileError, replace_file};
use crate::providers::model_facts::facts_day;
use crate::providers::offered_models::OfferedModel;
use crate::providers::transport::Provider;

const KEYS: [(&str, &str); 3] = [
    ("ANTHROPIC_API_KEY", "canary-a"),
    ("OPENAI_API_KEY", "canary-o"),
    ("GEMINI_API_KEY", "canary-g"),
];

#[track_caller]
fn source_of(settings: &Settings, key: &str) -> SettingSource {
    let found = settings.origins.iter().find(|setting| setting.key == key);
    found.unwrap_or_else(|| panic!("{key} is not settled")).source.clone()
}

#[test]
fn an_empty_file_gives_the_defaults() {
    let settings = settings_from("", &[]).unwrap();
    assert_eq!(settings.council.origin, ProviderOrigin::Missing);
    assert_eq!(settings.council.timeouts, RoundTimeouts::default());
    assert_eq!(settings.council.quorum, QuorumRules::default());
    assert_eq!(settings.council.short_circuit, ShortCircuitRules::default());
    assert!(settings.council.anonymous_review && settings.retention.keep_prompts);
    assert_eq!(settings.budget, BudgetCaps::default());
    assert_eq!(settings.tier_rules, None);
    assert_eq!((settings.alignment.max_rounds, settings.alignment.convergence_percent), (10, 100));
    let names: Vec<&str> =
        settings.review.deliberators.iter().map(|seat| seat.name.as_str()).collect();
    assert_eq!(names, ["skeptic", "voice_identity", "evidence", "strategy"]);
    assert_eq!((settings.review.policy, settings.review.min_deliberators), (PolicyName::Seed, 3));
    assert!(matches!(settings.require_providers(), Err(ConfigError::NoProvider)));
}

#[test]
fn what_init_writes_is_read_and_gives_the_defaults() {
    let settings = settings_from(COUNCIL_TEMPLATE, &KEYS).unwrap();
    let names: Vec<&str> = settings.council.providers.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["claude", "openai", "gemini"]);
    let chair = settings.council.providers.first().unwrap();
    assert_eq!(chair.roles, [SeatRole::Participant, SeatRole::Chair]);
    assert_eq!(settings.council.timeouts, RoundTimeouts::default());
    assert_eq!(settings.council.quorum, QuorumRules::default());
    assert_eq!(settings.council.short_circuit, ShortCircuitRules::default());
    assert_eq!(settings.budget, BudgetCaps::default());
    assert_eq!(settings.tier_rules, None);
    assert!(COUNCIL_TEMPLATE.lines().all(|line| line.len() <= 80), "a line is too long");
    assert!(
        COUNCIL_TEMPLATE
            .contains("External-facing, or irreversible, or identity-shaping, or memory")
    );
}

#[test]
fn the_rules_that_init_shows_are_rules() {
    let (_, rules) = COUNCIL_TEMPLATE.split_once("# tier_rules:").unwrap();
    let rules = rules.lines().skip(1).take_while(|line| line.starts_with('#'));
    let rules: String =
        rules.map(|line| format!("{}\n", line.strip_prefix("# ").unwrap_or(""))).collect();
    let settings = settings_from(&format!("tier_rules:\n{rules}"), &[]).unwrap();
    assert_eq!(settings.tier_rules.unwrap().len(), 4);
}

#[test]
fn tier_rules_come_tier_by_tier_and_as_written() {
    let yaml = "tier_rules:\n  tier_3: {z: [z], a: a}\n  tier_1: {m: [\"x/*.md\", y]}";
    let rules = settings_from(yaml, &[]).unwrap().tier_rules.unwrap();
    let rule = |tier, artifact_type: &str, globs: &[&str]| TierRule {
        tier,
        artifact_type: artifact_type.to_owned(),
        globs: globs.iter().map(|glob| (*glob).to_owned()).collect(),
    };
    let expected = [
        rule(ReviewTier::Always, "m", &["x/*.md", "y"]),
        rule(ReviewTier::Sampled, "z", &["z"]),
        rule(ReviewTier::Sampled, "a", &["a"]),
    ];
    assert_eq!(rules, expected);
}

/// Budget from file, environment and flag, and which source won.
#[track_caller]
fn check_budget(file: &str, environment: &str, flag: Option<f64>, expected: (u64, &str)) {
    let folder = tempdir().unwrap();
    write_council_file(folder.path(), file);
    let environment = EnvVariables::from_pairs([("PLENARY_BUDGET_USD", environment)]);
    let overrides = BudgetOverrides { budget_usd: flag, ..BudgetOverrides::default() };
    let settings = load_settings_in(
        folder.path(),
        &ConfigFlags::default(),
        &overrides,
        &environment,
        &|_: &str| Vec::new(),
    )
    .unwrap();
    let who = source_of(&settings, "budget.usd_max").to_string();
    assert_eq!((settings.budget.usd_micros, who.as_str()), expected);
}

#[test]
fn a_flag_wins_over_the_environment_and_that_over_the_file() {
    let file = "budget:\n  usd_max: 3";
    check_budget(file, "4.5", Some(0.5), (500_000, "--budget-usd"));
    check_budget(file, "4.5", None, (4_500_000, "PLENARY_BUDGET_USD"));
    check_budget(file, "", None, (3_000_000, "file, line 2"));
    check_budget("", "", None, (2_000_000, "default"));
}

#[test]
fn only_the_file_limits_what_a_server_spends_in_a_day() {
    for (file, expected) in [
        ("budget:\n  server_usd_max: 2.5", (Some(2_500_000), "file, line 2")),
        ("budget:\n  server_usd_max: 0", (Some(0), "file, line 2")),
        ("budget:\n  usd_max: 3", (None, "default")),
    ] {
        let folder = tempdir().unwrap();
        write_council_file(folder.path(), file);
        let environment = EnvVariables::from_pairs([("PLENARY_BUDGET_USD", "9")]);
        let overrides = BudgetOverrides { budget_usd: Some(8.0), ..BudgetOverrides::default() };
        let loaded = load_settings_in(
            folder.path(),
            &ConfigFlags::default(),
            &overrides,
            &environment,
            &|_: &str| vec![],
        );
        let settings = loaded.unwrap();
        let who = source_of(&settings, "budget.server_usd_max").to_string();
        assert_eq!((settings.server_usd_micros, who.as_str()), expected, "{file}");
    }
}

#[test]
fn a_deadline_is_layered_too() {
    let check = |variables: &[(&str, &str)], flag, expected: (u64, &str)| {
        let folder = tempdir().unwrap();
        write_council_file(folder.path(), "budget: {wall_max: 90s}");
        let environment = EnvVariables::from_pairs(variables.iter().copied());
        let overrides = BudgetOverrides { deadline_ms: flag, ..BudgetOverrides::default() };
        let loaded = load_settings_in(
            folder.path(),
            &ConfigFlags::default(),
            &overrides,
            &environment,
            &|_: &str| vec![],
        );
        let settings = loaded.unwrap();
        let who = source_of(&settings, "budget.wall_max").to_string();
        assert_eq!((settings.budget.wall_ms, who.as_str()), expected);
    };
    check(&[("PLENARY_DEADLINE", "2m")], Some(7), (7, "--deadline"));
    check(&[("PLENARY_DEADLINE", "2m")], None, (120_000, "PLENARY_DEADLINE"));
    check(&[("PLENARY_DEADLINE", "500ms")], None, (500, "PLENARY_DEADLINE"));
    check(&[], None, (90_000, "file, line 1"));
}

#[test]
fn a_variable_or_flag_that_makes_no_sense_is_an_error_that_names_it() {
    let check = |variable: &str, value: &str| {
        let error = settings_from("", &[(variable, value)]).unwrap_err().to_string();
        assert!(error.contains(variable) && !error.contains(value), "{error}");
    };
    check("PLENARY_BUDGET_USD", "much");
    check("PLENARY_BUDGET_USD", "-1");
    check("PLENARY_BUDGET_USD", "inf");
    check("PLENARY_DEADLINE", "tomorrow");
    check("PLENARY_DEADLINE", "0h");
    check("PLENARY_DEADLINE", "77");
}

/// Path of the store from flag, environment and file, relative to the folder.
#[track_caller]
fn check_store(flag: Option<&str>, variable: &str, file: &str, expected: (&str, &str)) {
    let folder = tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    write_council_file(folder.path(), file);
    let flags = ConfigFlags { store: flag.map(str::to_owned), ..ConfigFlags::default() };
    let environment = EnvVariables::from_pairs([("PLENARY_STORE", variable)]);
    let settings =
        load_settings_in(&inner, &flags, &BudgetOverrides::default(), &environment, &|_: &str| {
            Vec::new()
        })
        .unwrap();
    let store = settings.paths.store.strip_prefix(folder.path()).unwrap();
    let who = source_of(&settings, "storage.url").to_string();
    assert_eq!((store.to_str().unwrap(), who.as_str()), expected);
}

#[test]
fn a_store_that_is_typed_is_meant_from_here_and_one_in_the_file_from_there() {
    let file = "storage:\n  url: sqlite:kept/x.db";
    check_store(Some("f.db"), "e.db", file, ("inner/f.db", "--store"));
    check_store(None, "sqlite:e.db", file, ("inner/e.db", "PLENARY_STORE"));
    check_store(None, "", file, ("kept/x.db", "file, line 2"));
    check_store(None, "", "", (".plenary/plenary.db", "default"));
}

/// Which of the existing files is used.
#[track_caller]
fn check_file(flag: Option<&str>, variables: &[(&str, &str)], expected: Option<&str>) {
    let root = tempdir().unwrap();
    let folder = |name: &str| {
        let folder = root.path().join(name);
        std::fs::DirBuilder::new().recursive(true).create(&folder).unwrap();
        folder
    };
    for place in ["project", "named", "home/.config/plenary", "xdg/plenary"] {
        write_council_file(&folder(place), "");
    }
    let (inside, outside) = (folder("project/a/b"), folder("elsewhere"));
    let at = |value: &str| root.path().join(value).to_str().unwrap().to_owned();
    let environment =
        EnvVariables::from_pairs(variables.iter().map(|(name, value)| (*name, at(value))));
    let flags = ConfigFlags { config: flag.map(|path| at(path).into()), ..ConfigFlags::default() };
    let from = if expected == Some("project") { &inside } else { &outside };
    let loaded =
        load_settings_in(from, &flags, &BudgetOverrides::default(), &environment, &|_: &str| {
            Vec::new()
        });
    let file = loaded.unwrap().paths.file;
    assert_eq!(file, expected.map(|place| root.path().join(place).join("council.yaml")));
}

#[test]
fn the_file_is_named_or_upward_or_the_users_own() {
    let all = [("HOME", "home"), ("XDG_CONFIG_HOME", "xdg")];
    check_file(Some("named/council.yaml"), &all, Some("named"));
    check_file(None, &[("PLENARY_CONFIG", "named/council.yaml")], Some("named"));
    check_file(None, &all, Some("project"));
    check_file(None, &[("XDG_CONFIG_HOME", "xdg")], Some("xdg/plenary"));
    check_file(None, &[("HOME", "home")], Some("home/.config/plenary"));
    check_file(None, &[("HOME", "nowhere")], None);
}

#[test]
fn what_is_not_a_file_of_text_is_told_as_what_it_is() {
    let folder = tempdir().unwrap();
    let large = folder.path().join("large.yaml");
    std::fs::File::create(&large).unwrap().set_len(2_000_000).unwrap();
    let latin = folder.path().join("latin.yaml");
    #[expect(clippy::disallowed_methods, reason = "a test writes what it reads")]
    std::fs::write(&latin, b"council: {transport: \xe9}").unwrap();
    let message = |path: &Path| {
        let flags = ConfigFlags { config: Some(path.to_owned()), ..ConfigFlags::default() };
        let loaded = load_settings_in(
            folder.path(),
            &flags,
            &BudgetOverrides::default(),
            &EnvVariables::default(),
            &|_: &str| Vec::new(),
        );
        loaded.unwrap_err()
    };
    assert!(matches!(message(folder.path()), ConfigError::File(FileError::NotAFile { .. })));
    assert!(matches!(
        message(Path::new("/dev/zero")),
        ConfigError::File(FileError::NotAFile { .. })
    ));
    assert!(matches!(message(&folder.path().join("none.yaml")), ConfigError::NoFile { .. }));
    assert!(matches!(message(&large), ConfigError::File(FileError::TooLarge { .. })));
    assert!(matches!(message(&latin), ConfigError::File(FileError::NotText { .. })));
}

/// Transports of one provider; `@` before a variable's value means a folder of programs.
#[track_caller]
fn check_transports(council: &str, has_key: bool, programs: &[&str], expected: &str) {
    let folder = tempdir().unwrap();
    write_council_file(folder.path(), &format!("council: {council}"));
    for program in programs {
        install_program(folder.path(), program);
    }
    let key = if has_key { "canary" } else { "" };
    let path = folder.path().to_str().unwrap();
    let message = match load_from(folder.path(), &[("ANTHROPIC_API_KEY", key), ("PATH", path)]) {
        Ok(settings) => {
            let transports = settings.council.providers.first().unwrap().transports.iter();
            transports.map(|kind| kind.name()).collect::<Vec<_>>().join(" ")
        }
        Err(error) => error.problems().first().unwrap().to_string(),
    };
    assert_eq!(message, expected, "{council}");
}

#[test]
fn transports_follow_from_what_is_there() {
    let (claude, mcp) = ("{name: claude}", "{name: claude, mcp: {command: tool, tool: ask}}");
    let auto = |provider: &str| format!("{{providers: [{provider}]}}");
    let cannot = "provider `claude` on line 1 cannot be used: ";
    check_transports(&auto(claude), true, &[], "http");
    check_transports(&auto(claude), true, &["claude"], "http cli");
    check_transports(&auto(claude), false, &["claude"], "cli");
    check_transports(&auto(mcp), true, &["claude", "tool"], "mcp http cli");
    check_transports(&auto(mcp), false, &["tool"], "mcp");
    check_transports(
        &auto(claude),
        false,
        &[],
        &format!(
            "{cannot}`ANTHROPIC_API_KEY` is not set, and there is no program `claude` on the PATH"
        ),
    );
    check_transports(
        &auto(mcp),
        false,
        &[],
        &format!(
            "{cannot}there is no program `tool` on the PATH, and `ANTHROPIC_API_KEY` is not set, \
             and there is no program `claude` on the PATH"
        ),
    );
    let own = "{name: claude, base_url: \"http://127.0.0.1:9/v1\"}";
    check_transports(&auto(own), false, &[], "http");
    let own = "{name: claude, base_url: \"http://127.0.0.1:9/v1\", api_key_env: HOUSE_KEY}";
    check_transports(
        &auto(own),
        true,
        &[],
        &format!("{cannot}`HOUSE_KEY` is not set, and there is no program `claude` on the PATH"),
    );
}

#[test]
fn transports_that_are_named_are_kept_while_one_of_them_is_open() {
    let cannot = "provider `claude` on line 1 cannot be used: ";
    let own = |list: &str| format!("{{providers: [{{name: claude, transports: {list}}}]}}");
    check_transports(&own("[cli, http]"), true, &[], "cli http");
    check_transports(&own("[cli]"), true, &["claude"], "cli");
    check_transports(&own("http"), true, &["claude"], "http");
    check_transports(
        &own("[http]"),
        false,
        &["claude"],
        &format!("{cannot}`ANTHROPIC_API_KEY` is not set"),
    );
    check_transports(
        &own("[mcp]"),
        true,
        &[],
        &format!("{cannot}the transport mcp is not configured for it"),
    );
    let all =
        |transport: &str| format!("{{transport: {transport}, providers: [{{name: claude}}]}}");
    check_transports(&all("http"), true, &["claude"], "http");
    check_transports(&all("cli"), true, &["claude"], "cli");
    check_transports(
        &all("cli"),
        true,
        &[],
        &format!("{cannot}there is no program `claude` on the PATH"),
    );
}

#[test]
fn a_program_with_a_path_is_meant_from_the_file() {
    let folder = tempdir().unwrap();
    install_program(folder.path(), "answer");
    write_council_file(
        folder.path(),
        "council: {providers: [{name: house, command: [./answer, -q]}]}",
    );
    let settings = load_from(folder.path(), &[]).unwrap();
    let house = settings.council.providers.first().unwrap();
    assert_eq!(house.transports, [TransportKind::Cli]);
    assert_eq!(Path::new(&house.command[0]), folder.path().join("./answer"));
    assert_eq!((house.command[1].as_str(), house.model.as_str()), ("-q", "house"));
}

#[test]
fn a_key_goes_to_its_own_address_only() {
    let key = |provider: &str| {
        let yaml = format!("council: {{providers: [{{name: claude, {provider}}}]}}");
        let settings = settings_from(&yaml, &[KEYS[0], ("HOUSE_KEY", "canary-h\n")]).unwrap();
        let provider = settings.council.providers.into_iter().next().unwrap();
        provider.key.map(|key| key.expose_secret().to_owned())
    };
    assert_eq!(key("model: m").as_deref(), Some("canary-a"));
    assert_eq!(key("base_url: \"https://api.anthropic.com/v1/\"").as_deref(), Some("canary-a"));
    assert_eq!(key("base_url: \"https://elsewhere.example/v1\""), None);
    assert_eq!(
        key("base_url: \"https://elsewhere.example/v1\", api_key_env: HOUSE_KEY").as_deref(),
        Some("canary-h")
    );
}

#[test]
fn prices_are_configured_or_nothing_or_known() {
    let price = |provider: &str| {
        let yaml = format!("council: {{providers: [{{{provider}}}]}}");
        let settings = settings_from(&yaml, &KEYS).unwrap();
        let price = settings.council.providers.into_iter().next().unwrap().price?;
        Some((price.input_per_mtok, price.output_per_mtok, price.source))
    };
    let house = "name: house, dialect: openai, model: m, base_url:";
    assert_eq!(price("name: claude").map(|price| price.0), Some(2.0));
    assert_eq!(
        price(&format!("{house} \"http://localhost:1/v1\"")),
        Some((0.0, 0.0, "loopback".to_owned()))
    );
    assert_eq!(price(&format!("{house} \"http://[::1]:1/v1\"")).map(|price| price.0), Some(0.0));
    assert_eq!(price(&format!("{house} \"http://127.0.0.1.evil.example/v1\"")), None);
    assert_eq!(
        price("name: claude, price: {input_per_mtok: 1, output_per_mtok: 2.5}"),
        Some((1.0, 2.5, "configuration".to_owned()))
    );
}

#[test]
fn the_critic_is_of_another_family_where_there_is_one() {
    let roles = |providers: &str, conclusion: ConclusionSettings| {
        let settings =
            settings_from(&format!("council: {{providers: [{providers}]}}"), &KEYS).unwrap();
        let providers = &settings.council.providers;
        let chairs = list_chairs(providers);
        let roles = conclusion.assign_roles(chairs.first(), providers, providers).unwrap();
        [roles.synthesizer, roles.critic, roles.reviser].map(|name| name.to_string())
    };
    let none = ConclusionSettings::default;
    let other =
        "{name: other, dialect: openai, base_url: \"http://127.0.0.1:1/v1\", model: claude-x}";
    assert_eq!(roles("{name: claude}, {name: openai}", none()), ["claude", "openai", "claude"]);
    assert_eq!(
        roles("{name: claude}, {name: openai, role: [participant, chair]}", none()),
        ["openai", "claude", "openai"]
    );
    assert_eq!(
        roles(&format!("{{name: claude}}, {other}, {{name: gemini}}"), none()),
        ["claude", "gemini", "claude"]
    );
    assert_eq!(roles(&format!("{{name: claude}}, {other}"), none()), ["claude", "other", "claude"]);
    assert_eq!(roles("{name: claude}", none()), ["claude", "claude", "claude"]);
    let named = ConclusionSettings { synthesizer: "openai".parse().ok(), ..none() };
    assert_eq!(roles("{name: claude}, {name: openai}", named), ["openai", "claude", "openai"]);
}

#[test]
fn no_secret_is_shown_in_debug_settings_or_errors() {
    let yaml = "council:\n  providers:\n    - {name: claude}\n    - {name: tool, mcp: {command: /bin/sh, tool: t, env: {TOKEN: canary-m}}}\nreview: {redact: [canary-r]}";
    let settings = settings_from(yaml, &KEYS).unwrap();
    let shown = serde_json::to_string(&settings.origins).unwrap();
    assert!(!shown.contains("canary"), "{shown}");
    let debug = format!("{:?}", settings.council);
    assert!(!debug.contains("canary"), "{debug}");
    let broken =
        "council: {providers: [{name: claude, nmae: x}, {name: openai, transports: [mcp]}]}";
    let error = settings_from(broken, &KEYS).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("canary"), "{error:?}");
}

#[test]
fn a_key_that_leaves_this_machine_unencrypted_is_warned_of() {
    let check = |provider: &str, expected: bool| {
        let yaml = format!("council: {{providers: [{{{provider}}}]}}");
        let settings =
            settings_from(&yaml, &[("HOUSE_KEY", "canary"), ("OPENAI_API_KEY", "canary")]);
        let warnings = settings.unwrap().list_warnings("2026-11-18".parse().unwrap());
        assert_eq!(!warnings.is_empty(), expected, "{provider}: {warnings:?}");
        assert!(!warnings.concat().contains("canary"), "{warnings:?}");
    };
    let at = |url: &str| format!("name: house, dialect: openai, model: m, base_url: '{url}'");
    let keyed = |url: &str| format!("{}, api_key_env: HOUSE_KEY", at(url));
    check(&keyed("http://192.168.1.7:8099/v1"), true);
    check(&keyed("http://localhost.example/v1"), true);
    check(&keyed("https://models.example/v1"), false);
    check(&keyed("http://127.0.0.1:8099/v1"), false);
    check(&keyed("http://[::1]:8099/v1"), false);
    check(&at("http://192.168.1.7:8099/v1"), false);
    check("name: openai", false);
}

/// Loads settings from a file's text and variables.
pub(crate) fn settings_from(
    yaml: &str,
    variables: &[(&str, &str)],
) -> Result<Settings, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    write_council_file(folder.path(), yaml);
    load_from(folder.path(), variables)
}

/// Loads settings from an existing folder.
pub(crate) fn load_from(
    folder: &Path,
    variables: &[(&str, &str)],
) -> Result<Settings, ConfigError> {
    // These tests do not concern trust.
    let trusting = [("PLENARY_TRUST", "all")];
    let environment = EnvVariables::from_pairs(trusting.iter().chain(variables).copied());
    load_settings_in(
        folder,
        &ConfigFlags::default(),
        &BudgetOverrides::default(),
        &environment,
        &|_: &str| Vec::new(),
    )
}

#[expect(clippy::disallowed_methods, reason = "a test writes what it reads")]
pub(crate) fn write_council_file(folder: &Path, yaml: &str) {
    std::fs::write(folder.join(COUNCIL_FILE), yaml).unwrap();
}

/// Returns the problems of a file.
#[track_caller]
pub(crate) fn problems_of(yaml: &str) -> Vec<String> {
    let error = settings_from(yaml, &[]).err();
    let problems = error.as_ref().map_or(&[][..], ConfigError::problems);
    problems.iter().map(ToString::to_string).collect()
}

/// Installs a program that does nothing, in a folder for the PATH.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "a test writes what it reads")]
pub(crate) fn install_program(folder: &Path, program: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(program);
    std::fs::write(&path, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// Servers that offer one list to every provider.
struct ListedModels(Vec<OfferedModel>);

impl ModelDirectory for ListedModels {
    fn installed(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn offered(&self, providers: &[&Provider], _: &Path) -> Vec<Option<Vec<OfferedModel>>> {
        providers.iter().map(|_| Some(self.0.clone())).collect()
    }
}

#[test]
fn a_price_of_the_file_wins_over_the_routers_own_and_that_over_the_facts() {
    let check = |entry: &str, expected: (&str, f64, &str)| {
        let folder = tempfile::tempdir().unwrap();
        let text = format!("council: {{providers: [{entry}]}}\n");
        replace_file(&folder.path().join(COUNCIL_FILE), text.as_bytes()).unwrap();
        let offered = OfferedModel {
            name: "openai/gpt-5.6".to_owned(),
            context_tokens: Some(50_000),
            output_tokens: None,
            price: Some(TokenPrice::new(7.0, 8.0, "provider")),
        };
        let variables = [("OPENROUTER_API_KEY", "k"), ("OPENAI_API_KEY", "k")];
        let settings = load_settings_in(
            folder.path(),
            &ConfigFlags::default(),
            &BudgetOverrides::default(),
            &EnvVariables::from_pairs(variables),
            &ListedModels(vec![offered]),
        );
        let provider = settings.unwrap().council.providers.remove(0);
        let price = provider.price.unwrap();
        let result = (provider.model.as_str(), price.input_per_mtok, price.source.as_str());
        assert_eq!(result, expected, "{entry}");
    };
    let dated = facts_day().to_string();
    check("{name: openrouter}", ("openai/gpt-5.6", 7.0, "provider"));
    check("{name: openrouter, model: openai/gpt-4o}", ("openai/gpt-4o", 2.5, &dated));
    let own = "{name: openrouter, price: {input_per_mtok: 1, output_per_mtok: 2}}";
    check(own, ("openai/gpt-5.6", 1.0, "configuration"));
    check("{name: openai}", ("gpt-5.6", 4.0, &dated));
}
