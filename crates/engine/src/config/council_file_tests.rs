//! Tests of invalid `council.yaml` files: each case is a text and the messages it causes.

use crate::config::load_tests::problems_of;

#[track_caller]
fn check(yaml: &str, expected: &[&str]) {
    assert_eq!(problems_of(yaml), expected, "\n{yaml}");
}

#[test]
fn a_pattern_that_is_none_is_told_without_it() {
    check(
        "review:\n  redact:\n    - 'fine\\d+'\n    - 'canary('\n    - '[canary'\n    - 7",
        &[
            "`review.redact[1]` on line 4 is not a regular expression: unclosed group",
            "`review.redact[2]` on line 5 is not a regular expression: unclosed character class",
            "`review.redact[3]` on line 6 must be text, not a number; put it in quotes",
        ],
    );
}

#[test]
fn an_unknown_key_is_told_with_its_line_and_what_was_meant() {
    check("budjet: {}", &["unknown key `budjet` on line 1; did you mean `budget`?"]);
    check("council:\n  quorom: {}", &["unknown key `quorom` on line 2; did you mean `quorum`?"]);
    check(
        "council:\n  quorum:\n    r1min: 2",
        &["unknown key `r1min` on line 3; did you mean `r1_min`?"],
    );
    check(
        "council: {timeouts: {r3: 5s}}",
        &["unknown key `r3` on line 1; known here: r1_per_provider, r2_per_provider, r3_chair"],
    );
    check(
        "council: {short_circuit: {enable: true}}",
        &["unknown key `enable` on line 1; did you mean `enabled`?"],
    );
    check(
        "council:\n  providers:\n    - name: ollama\n      model: m\n      api_key: sk-canary",
        &["unknown key `api_key` on line 5; did you mean `api_key_env`?"],
    );
    check(
        "council: {providers: [{name: ollama, model: m, price: {input: 1}}]}",
        &[
            "unknown key `input` on line 1; did you mean `input_per_mtok`?",
            "`council.providers[0].price` on line 1 needs `input_per_mtok`",
            "`council.providers[0].price` on line 1 needs `output_per_mtok`",
        ],
    );
    check(
        "council: {providers: [{name: ollama, model: m, mcp: {command: x, tool: t, arg: p}}]}",
        &["unknown key `arg` on line 1; did you mean `args`?"],
    );
    check("budget: {usd: 1}", &["unknown key `usd` on line 1; did you mean `usd_max`?"]);
    check(
        "budget: {server_usd: 1}",
        &["unknown key `server_usd` on line 1; did you mean `server_usd_max`?"],
    );
    check("conclusion: {critics: x}", &["unknown key `critics` on line 1; did you mean `critic`?"]);
    check("review: {polcy: {}}", &["unknown key `polcy` on line 1; did you mean `policy`?"]);
    check("review: {policy: {nam: seed}}", &["unknown key `nam` on line 1; did you mean `name`?"]);
    check(
        "review: {adjudicator: {providr: x}}",
        &["unknown key `providr` on line 1; did you mean `provider`?"],
    );
    check(
        "review:\n  policy: {min_deliberators: 1}\n  deliberators:\n    - {name: skeptic, context: []}",
        &["unknown key `context` on line 4; did you mean `context_refs`?"],
    );
    check("tier_rules: {tier_4: {}}", &["unknown key `tier_4` on line 1; did you mean `tier_1`?"]);
    check(
        "alignment: {rounds: 3}",
        &[
            "unknown key `rounds` on line 1; known here: judge, experts, max_rounds, convergence_percent, panel_size",
        ],
    );
    check("storage: {uri: x}", &["unknown key `uri` on line 1; did you mean `url`?"]);
    check(
        "retention: {keep: true}",
        &["unknown key `keep` on line 1; did you mean `keep_prompts`?"],
    );
}

#[test]
fn a_value_of_the_wrong_type_is_told_with_its_path_and_line() {
    check("- a\n- b", &["`the file` on line 1 must be a mapping, not a list"]);
    check("council", &["`the file` on line 1 must be a mapping, not text"]);
    check("council: 3", &["`council` on line 1 must be a mapping, not a number"]);
    check(
        "council: {providers: claude}",
        &["`council.providers` on line 1 must be a list, not text"],
    );
    check(
        "council:\n  quorum:\n    r1_min: two",
        &["`council.quorum.r1_min` on line 3 must be a whole number from 1 to 20, not text"],
    );
    check(
        "council: {quorum: {r1_min: 1.5}}",
        &["`council.quorum.r1_min` on line 1 must be a whole number from 1 to 20, not 1.5"],
    );
    check(
        "council:\n  anonymous_review: yes",
        &["`council.anonymous_review` on line 2 must be `true` or `false`, not text"],
    );
    check(
        "council: {transport: htp}",
        &["`council.transport` on line 1 must be one of auto, http, mcp, cli, not `htp`"],
    );
    check(
        "council: {timeouts: {r3_chair: soon}}",
        &[
            "`council.timeouts.r3_chair` on line 1 must be a duration from 1ms to 24h: milliseconds, or `500ms`, `60s`, `15m`, `2h`, not text",
        ],
    );
    check(
        "budget: {usd_max: two}",
        &["`budget.usd_max` on line 1 must be a number from 0 to 1000000, not text"],
    );
    check(
        "storage: {url: 7}",
        &["`storage.url` on line 1 must be text, not a number; put it in quotes"],
    );
    check(
        "tier_rules: {tier_1: {post: {a: b}}}",
        &["`tier_rules.tier_1.post` on line 1 must be text, not a mapping"],
    );
}

#[test]
fn a_value_out_of_range_is_refused() {
    check(
        "budget: {usd_max: -1}",
        &["`budget.usd_max` on line 1 must be a number from 0 to 1000000, not -1"],
    );
    check(
        "budget: {server_usd_max: -1}",
        &["`budget.server_usd_max` on line 1 must be a number from 0 to 1000000, not -1"],
    );
    check(
        "budget: {calls_max: 0}",
        &["`budget.calls_max` on line 1 must be a whole number from 1 to 4294967295, not 0"],
    );
    let wall = "`budget.wall_max` on line 1 must be a duration from 1ms to 168h: milliseconds, or `500ms`, `60s`, `15m`, `2h`, not";
    check("budget: {wall_max: 0}", &[&format!("{wall} 0")]);
    check("budget: {wall_max: 200h}", &[&format!("{wall} text")]);
    check(
        "alignment:\n  convergence_percent: 101",
        &[
            "`alignment.convergence_percent` on line 2 must be a whole number from 1 to 100, not 101",
        ],
    );
    check(
        "alignment: {max_rounds: 0}",
        &["`alignment.max_rounds` on line 1 must be a whole number from 1 to 100, not 0"],
    );
    check(
        "council: {providers: [{name: ollama, model: m, temperature: 3}]}",
        &["`council.providers[0].temperature` on line 1 must be a number from 0 to 2, not 3"],
    );
    check("storage: {url: \"\"}", &["`storage.url` on line 1 must not be empty"]);
    check(
        "storage: {url: \"a\\0b\"}",
        &["`storage.url` on line 1 must not contain control characters"],
    );
}

#[test]
fn providers_are_checked_against_each_other() {
    let names = "`council.providers[1].name` on line 4";
    check(
        "council:\n  providers:\n    - {name: ollama, model: a}\n    - {name: ollama, model: b}",
        &[&format!("{names} is `ollama`, the name of an earlier provider or seat")],
    );
    check(
        "council: {providers: []}",
        &[
            "`council.providers` on line 1 must have a provider; remove the key to use discovered providers",
        ],
    );
    check(
        "council: {providers: [{name: ollama, model: m, role: [chair]}]}",
        &["`council.providers` on line 1 must have a participant"],
    );
    check(
        "council: {providers: [{name: ollama, model: m, role: []}]}",
        &[
            "`council.providers[0].role` on line 1 must not be empty",
            "`council.providers` on line 1 must have a participant",
        ],
    );
    check(
        "council:\n  providers: [{name: ollama, model: m}]\n  quorum: {r1_min: 2, families_min: 2}",
        &[
            "`council.quorum.r1_min` on line 3 is 2, but the number of participants is 1",
            "`council.quorum.families_min` on line 3 is 2, but the number of families is 1",
        ],
    );
    check(
        "council: {providers: [{model: m}]}",
        &["`council.providers[0]` on line 1 needs a `name`"],
    );
    check(
        "council: {providers: [{name: house, model: m}]}",
        &[
            "provider `house` on line 1 is not known and needs `dialect` and `base_url`, or `command`, or `mcp`",
        ],
    );
    check(
        "council: {providers: [{name: ollama}]}",
        &["provider `ollama` on line 1 needs a `model`"],
    );
}

#[test]
fn one_mistake_gives_one_message() {
    let house =
        |fields: &str| format!("council: {{providers: [{{name: house, model: m, {fields}}}]}}");
    for (fields, part) in [
        ("dialect: opanai, base_url: \"http://h/v1\"", "dialect"),
        ("dialect: openai, base_url: h/v1", "base_url"),
        ("dialect: openai, base_ur: \"http://h/v1\"", "base_ur"),
    ] {
        let problems = problems_of(&house(fields));
        assert!(problems.len() == 1 && problems[0].contains(part), "{problems:?}");
    }
    check(
        "council: {provider: [{name: house}]}\nconclusion: {critic: house}",
        &["unknown key `provider` on line 1; did you mean `providers`?"],
    );
}

#[test]
fn names_of_providers_are_names_of_seats() {
    for name in ["Claude", "9lives", "judge", "a b", "../x", "ollamа"] {
        let message =
            problems_of(&format!("council: {{providers: [{{name: \"{name}\", model: m}}]}}"));
        let first = message.first().unwrap();
        assert!(
            first.contains("must be a name of 1 to 32 lower-case letters"),
            "{name}: {message:?}"
        );
    }
}

#[test]
fn an_address_holds_no_secret_and_none_is_repeated() {
    let cases = [
        ("ftp://h/v1", "must begin with `http://` or `https://`"),
        ("h/v1", "must begin with `http://` or `https://`"),
        (
            "https://me:canary@h/v1",
            "must not contain a user or a password; name the key's variable in `api_key_env`",
        ),
        ("https://h/v1?key=canary", "must not have a query or a fragment"),
        ("https://h/v1#canary", "must not have a query or a fragment"),
        ("https://", "is not an address"),
        ("https://:80/v1", "is not an address"),
        ("https://h /v1", "is not an address"),
    ];
    for (url, fault) in cases {
        let provider = format!("{{name: ollama, model: m, base_url: \"{url}\"}}");
        let place = "`council.providers[0].base_url` on line 1";
        check(&format!("council: {{providers: [{provider}]}}"), &[&format!("{place} {fault}")]);
    }
}

#[test]
fn a_key_where_its_variable_belongs_is_refused_and_not_repeated() {
    for key in ["sk-ant-canary", "AIzaCanary", "0123456789ABCDEF"] {
        check(
            &format!(
                "council: {{providers: [{{name: ollama, model: m, api_key_env: \"{key}\"}}]}}"
            ),
            &[
                "`council.providers[0].api_key_env` on line 1 must be the name of an environment variable in capitals, not a key",
            ],
        );
    }
}

#[test]
fn whoever_is_named_elsewhere_must_be_a_provider() {
    let providers = "council: {providers: [{name: ollama, model: m}]}\n";
    check(
        &format!("{providers}conclusion: {{synthesizer: olama, critic: claude}}"),
        &[
            "`conclusion.synthesizer` on line 2 is `olama`, which is not a provider; did you mean `ollama`?",
            "`conclusion.critic` on line 2 is `claude`, which is not a provider; the providers are ollama",
        ],
    );
    check(
        &format!(
            "{providers}review:\n  adjudicator: {{provider: x}}\n  policy: {{min_deliberators: 1}}\n  deliberators:\n    - {{name: skeptic, provider: nobody}}"
        ),
        &[
            "`review.adjudicator.provider` on line 3 is `x`, which is not a provider; the providers are ollama",
            "`review.deliberators[0].provider` on line 6 is `nobody`, which is not a provider; the providers are ollama",
        ],
    );
}

#[test]
fn deliberators_are_the_four_or_bring_a_prompt() {
    check(
        "review:\n  deliberators: [skeptic, legal, evidence]",
        &[
            "`review.deliberators[1]` on line 2 is `legal`, which needs a `prompt`; built in are skeptic, voice_identity, evidence, strategy",
        ],
    );
    check(
        "review:\n  deliberators: [skeptic, evidence]",
        &["`review.policy.min_deliberators` on line 2 is 3, but the review has 2 deliberators"],
    );
    check(
        "review:\n  deliberators: [skeptic, skeptic, evidence]",
        &["`review.deliberators[1]` on line 2 is `skeptic`, the name of an earlier deliberator"],
    );
    check(
        "review:\n  policy: {min_deliberators: 1}\n  deliberators: [{name: adjudicator, prompt: p.md}]",
        &["`review.deliberators[0]` on line 3 must not have the name `adjudicator`"],
    );
}

#[test]
fn tier_rules_stay_below_the_folder() {
    let cases = [
        ("../x", "leaves the folder of `council.yaml`"),
        ("a/../../x", "leaves the folder of `council.yaml`"),
        ("!x", "begins with `!` or `#`"),
        ("a{b", "is not a glob"),
    ];
    for (glob, fault) in cases {
        check(
            &format!("tier_rules:\n  tier_1:\n    post: [\"{glob}\"]"),
            &[&format!("`tier_rules.tier_1.post` on line 3 has `{glob}`, which {fault}")],
        );
    }
}

#[test]
fn everything_wrong_is_said_at_once() {
    check(
        "counsil: {}\nbudget: {usd_max: x}\nstorage: {url: 1}\nalignment: {max_rounds: x}",
        &[
            "unknown key `counsil` on line 1; did you mean `council`?",
            "`budget.usd_max` on line 2 must be a number from 0 to 1000000, not text",
            "`storage.url` on line 3 must be text, not a number; put it in quotes",
            "`alignment.max_rounds` on line 4 must be a whole number from 1 to 100, not text",
        ],
    );
}

#[test]
fn a_seat_for_each_lens_needs_a_name_of_its_own() {
    let with =
        |fields: &str| format!("council: {{providers: [{{name: ollama, model: m, {fields}}}]}}");
    check(&with("lenses: []"), &["`council.providers[0].lenses` on line 1 must not be empty"]);
    check(
        &with("lens: skeptic, lenses: [optimist]"),
        &["`council.providers[0]` on line 1 has `lens` and `lenses`; keep one of them"],
    );
    check(
        "council: {providers: [{name: ollama, model: m, lenses: [a, b]}, {name: ollama-2, model: m, base_url: 'http://127.0.0.1:9/v1', dialect: openai}]}",
        &[
            "`council.providers[1].name` on line 1 is `ollama-2`, the name of an earlier provider or seat",
        ],
    );
    check(
        "council: {providers: [{name: a234567890123456789012345678901, model: m, base_url: 'http://127.0.0.1:9/v1', dialect: openai, lenses: [a, b]}]}",
        &[
            "`council.providers[0].name` on line 1 gives a seat the name `a234567890123456789012345678901-2`, which is too long",
        ],
    );
}
