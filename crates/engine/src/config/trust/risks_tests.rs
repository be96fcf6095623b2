//! Tests of the settings that need consent, one line per setting.

use std::path::Path;

use crate::config::council_file::CouncilFile;
use crate::config::locate::COUNCIL_TEMPLATE;
use crate::config::section::ProblemList;
use crate::config::trust::risks::{SettingUse, risky_settings};
use crate::config::yaml::parse_yaml;

/// Returns the risks of a file in its own folder, as `key: detail`.
fn risks_of(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut problems = ProblemList::default();
    let file = CouncilFile::from_tree(&parse_yaml(text).unwrap(), &mut problems);
    assert!(problems.0.is_empty(), "{text}: {problems:?}");
    let risks = risky_settings(&file, folder.path());
    risks
        .into_iter()
        .map(|risk| {
            assert!(risk.line.is_some_and(|line| line > 0), "{risk:?}");
            let key = risk.key.unwrap();
            format!("{}: {}", key.rsplit('.').next().unwrap(), risk.detail)
        })
        .collect()
}

#[track_caller]
fn check_provider(provider: &str, expected: &[&str]) {
    let text = format!("council:\n  providers:\n    - {{{provider}}}\n");
    assert_eq!(risks_of(&text), expected, "{provider}");
}

#[test]
fn a_known_provider_with_its_own_address_and_key_needs_no_trust() {
    check_provider("name: claude", &[]);
    check_provider("name: anthropic, model: claude-opus-4, temperature: 0.2", &[]);
    check_provider("name: openai, base_url: 'https://api.openai.com/v1'", &[]);
    check_provider("name: openai, base_url: 'https://api.openai.com/v1/'", &[]);
    check_provider("name: gemini, api_key_env: GOOGLE_API_KEY", &[]);
    check_provider(
        "name: mine, dialect: openai, base_url: 'https://openrouter.ai/api/v1', \
         api_key_env: OPENROUTER_API_KEY, model: m",
        &[],
    );
}

#[test]
fn a_server_on_this_machine_without_a_key_needs_no_trust() {
    check_provider("name: ollama, model: llama3.2", &[]);
    check_provider(
        "name: house, dialect: openai, model: m, base_url: 'http://127.0.0.1:8099/v1'",
        &[],
    );
    check_provider("name: claude, base_url: 'http://localhost:1/v1'", &[]);
}

#[test]
fn programs_and_servers_need_trust() {
    check_provider(
        "name: mine, command: [./ask, --quiet]",
        &["command: runs the program `./ask --quiet`"],
    );
    check_provider("name: claude, command: [claude]", &["command: runs the program `claude`"]);
    check_provider(
        "name: tool, mcp: {command: npx, args: [-y, evil], env: {TOKEN: canary, B: c}, tool: ask}",
        &["mcp: starts the MCP server `npx -y evil`, and sets TOKEN, B"],
    );
    check_provider(
        "name: gemini, model: --yolo",
        &["model: names the model `--yolo`, which a program may read as an option"],
    );
}

#[test]
fn another_address_needs_trust_with_a_key_or_without() {
    let sends = "base_url: sends questions and files to";
    let check = |url: &str, shown: &str| {
        let provider = format!("name: openai, base_url: '{url}'");
        check_provider(&provider, &[&format!("{sends} `{shown}`")]);
    };
    check("https://evil.example/v1", "https://evil.example");
    check("https://api.openai.com.evil.example/v1", "https://api.openai.com.evil.example");
    // The right host with another scheme, port or path is another service.
    check("http://api.openai.com/v1", "http://api.openai.com");
    check("https://api.openai.com:8443/v1", "https://api.openai.com:8443");
    check("https://api.openai.com/other", "https://api.openai.com");
    // A look-alike name is printed in ASCII.
    check("https://аpi.openai.com/v1", "https://xn--pi-6kc.openai.com");
    check("http://192.168.1.7:11434/v1", "http://192.168.1.7:11434");
    check("http://localhost.evil.example/v1", "http://localhost.evil.example");
}

#[test]
fn a_key_that_the_catalogue_does_not_give_to_the_address_needs_trust() {
    check_provider(
        "name: openai, api_key_env: AWS_SECRET_ACCESS_KEY",
        &["api_key_env: sends the value of `AWS_SECRET_ACCESS_KEY` to `https://api.openai.com`"],
    );
    check_provider(
        "name: openai, api_key_env: ANTHROPIC_API_KEY",
        &["api_key_env: sends the value of `ANTHROPIC_API_KEY` to `https://api.openai.com`"],
    );
    // Another user may listen on a port of this machine.
    check_provider(
        "name: openai, base_url: 'http://127.0.0.1:9/v1', api_key_env: OPENAI_API_KEY",
        &["api_key_env: sends the value of `OPENAI_API_KEY` to `http://127.0.0.1:9`"],
    );
    check_provider(
        "name: ollama, model: m, api_key_env: GITHUB_TOKEN",
        &["api_key_env: sends the value of `GITHUB_TOKEN` to `http://127.0.0.1:11434`"],
    );
    check_provider(
        "name: mine, command: [./ask], api_key_env: GITHUB_TOKEN",
        &[
            "command: runs the program `./ask`",
            "api_key_env: sends the value of `GITHUB_TOKEN` to the provider's program",
        ],
    );
}

#[test]
fn paths_that_leave_the_folder_need_trust() {
    let check = |text: &str, expected: &[&str]| assert_eq!(risks_of(text), expected, "{text}");
    check("storage:\n  url: sqlite:kept/x.db\nreview:\n  log_path: logs/log.jsonl", &[]);
    check(
        "storage:\n  url: sqlite:///etc/x.db",
        &["url: writes to `/etc/x.db`, outside the project's folder"],
    );
    check("storage:\n  url: ../x.db", &["url: writes to `../x.db`, outside the project's folder"]);
    check(
        "review:\n  log_path: ../../.bashrc",
        &["log_path: writes to `../../.bashrc`, outside the project's folder"],
    );
    check(
        "review:\n  log_path: .git/hooks/pre-commit",
        &["log_path: writes to `.git/hooks/pre-commit`, outside the project's folder"],
    );
    check(
        "review:\n  deliberators:\n    - {name: legal, prompt: /etc/passwd, context_refs: [a.md, ../b]}\n  \
         policy: {min_deliberators: 1}",
        &[
            "prompt: reads `/etc/passwd`, outside the project's folder",
            "context_refs: reads `../b`, outside the project's folder",
        ],
    );
}

#[test]
fn each_setting_matters_to_the_commands_that_use_it() {
    let text = "council:\n  providers: [{name: mine, command: [x]}]\nreview:\n  \
                log_path: /log\n  deliberators: [{name: a, prompt: /p}]\nstorage:\n  url: /s";
    let mut problems = ProblemList::default();
    let file = CouncilFile::from_tree(&parse_yaml(text).unwrap(), &mut problems);
    let uses: Vec<SettingUse> =
        risky_settings(&file, Path::new("/")).into_iter().map(|risk| risk.needed_by).collect();
    // All paths are below `/`, so only the program is a risk.
    assert_eq!(uses, [SettingUse::Providers]);
    let folder = tempfile::tempdir().unwrap();
    let uses: Vec<SettingUse> =
        risky_settings(&file, folder.path()).into_iter().map(|risk| risk.needed_by).collect();
    use crate::config::trust::risks::SettingUse::Files;
    use crate::config::trust::risks::SettingUse::Providers;
    use crate::config::trust::risks::SettingUse::Record;
    assert_eq!(uses, [Providers, Files, Record, Record]);
}

#[test]
fn a_summary_holds_no_value_of_the_file() {
    let text = "council:\n  providers:\n    - {name: mine, command: [canary], model: -canary, dialect: openai, \
                base_url: 'https://canary.example/v1', api_key_env: CANARY, mcp: {command: canary, tool: canary}}\n\
                storage: {url: /canary}\nreview:\n  log_path: /canary\n  \
                deliberators: [{name: a, prompt: /canary, context_refs: [/canary]}]";
    let folder = tempfile::tempdir().unwrap();
    let file = CouncilFile::from_tree(&parse_yaml(text).unwrap(), &mut ProblemList::default());
    let risks = risky_settings(&file, folder.path());
    assert_eq!(risks.len(), 9);
    for risk in risks {
        assert!(risk.detail.to_lowercase().contains("canary"), "{risk:?}");
        let printed = risk.to_problem().message.to_lowercase();
        assert!(!printed.contains("canary"), "{printed}");
    }
}

#[test]
fn what_init_writes_and_what_is_harmless_needs_no_trust() {
    assert_eq!(risks_of(COUNCIL_TEMPLATE), Vec::<String>::new());
    let text = "council:\n  providers: [{name: claude}]\n  transport: cli\n  timeouts: {r3_chair: 5m}\n\
                budget: {usd_max: 5}\ntier_rules: {tier_1: {post: ['posts/*.md']}}\n\
                review: {redact: [secret]}\nretention: {keep_prompts: false}\n";
    assert_eq!(risks_of(text), Vec::<String>::new());
}
