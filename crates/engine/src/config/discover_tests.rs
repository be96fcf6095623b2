//! Tests of discovered providers and their seats.

use tempfile::tempdir;

use crate::config::discover::{installed_models, server_url};
use crate::config::environment::EnvVariables;
use crate::config::load::load_settings_in;
use crate::config::load_tests::{install_program, settings_from};
use crate::config::locate::ConfigFlags;
use crate::config::settings::{ProviderOrigin, Settings, build_seats, list_chairs, short_version};
use crate::config::settle_sections::BudgetOverrides;

/// Discovers providers in a folder without a file, from variables, programs on the PATH and
/// installed models.
fn discover_settings(variables: &[&str], programs: &[&str], models: &[&str]) -> Settings {
    let folder = tempdir().unwrap();
    for program in programs {
        install_program(folder.path(), program);
    }
    let path = ("PATH", folder.path().to_str().unwrap());
    let set = variables.iter().map(|name| (*name, "canary")).chain([path]);
    let models: Vec<String> = models.iter().map(|model| (*model).to_owned()).collect();
    let installed = |server: &str| {
        assert_eq!(server, "http://127.0.0.1:11434");
        models.clone()
    };
    load_settings_in(
        folder.path(),
        &ConfigFlags::default(),
        &BudgetOverrides::default(),
        &EnvVariables::from_pairs(set),
        &installed,
    )
    .unwrap()
}

/// Providers as `name:transport+transport`.
#[track_caller]
fn check(variables: &[&str], programs: &[&str], models: &[&str], expected: &str) {
    let settings = discover_settings(variables, programs, models);
    let result = settings.council.providers.iter().map(|provider| {
        let transports: Vec<&str> = provider.transports.iter().map(|kind| kind.name()).collect();
        format!("{}:{}", provider.name, transports.join("+"))
    });
    assert_eq!(result.collect::<Vec<_>>().join(" "), expected);
    let origin = if expected.is_empty() { ProviderOrigin::Missing } else { ProviderOrigin::Found };
    assert_eq!(settings.council.origin, origin);
}

#[test]
fn providers_are_found_by_key_then_program_then_ollama() {
    check(&[], &[], &[], "");
    check(&["ANTHROPIC_API_KEY"], &[], &[], "claude:http");
    check(&["GOOGLE_API_KEY"], &[], &[], "gemini:http");
    check(
        &["OPENROUTER_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"],
        &[],
        &["llama3.2:latest"],
        "claude:http openai:http gemini:http openrouter:http",
    );
    check(&["GEMINI_API_KEY"], &["gemini", "claude"], &[], "gemini:http+cli claude:cli");
    check(&[], &["codex", "gemini", "claude"], &[], "claude:cli openai:cli gemini:cli");
    check(
        &["OPENAI_API_KEY"],
        &["codex"],
        &["llama3.2:latest", "nomic-embed-text", "qwen2.5:7b", "a", "b"],
        "openai:http+cli llama3-2:http qwen2-5-7b:http a:http",
    );
    check(&["GROQ_API_KEY"], &["ls"], &[], "");
}

#[test]
fn local_models_are_named_after_themselves() {
    check(
        &[],
        &[],
        &["7b-model", "x/Über:latest", "x.uber"],
        "m-7b-model:http x-uber:http x-uber-2:http",
    );
}

/// Seats as `name/provider`, chairs, and notes.
#[track_caller]
fn check_seats(settings: &Settings, expected: (&str, &str, &[&str])) {
    let council = &settings.council;
    let (seats, notes) = build_seats(&council.providers, council.origin, "digest");
    let seats: Vec<String> =
        seats.iter().map(|seat| format!("{}/{}", seat.name, seat.provider)).collect();
    let chairs: Vec<String> =
        list_chairs(&council.providers).iter().map(ToString::to_string).collect();
    assert_eq!((seats.join(" ").as_str(), chairs.join(" ").as_str()), (expected.0, expected.1));
    assert_eq!(notes, expected.2);
}

#[test]
fn too_few_who_were_found_take_further_seats() {
    let repeated =
        "too few providers were found for 3 seats; they are repeated, with different lenses";
    check_seats(
        &discover_settings(&["ANTHROPIC_API_KEY"], &[], &[]),
        (
            "claude/claude claude-2/claude claude-3/claude",
            "claude",
            &[repeated, "all models of the panel belong to one family: anthropic"],
        ),
    );
    check_seats(
        &discover_settings(&["ANTHROPIC_API_KEY", "OPENAI_API_KEY"], &[], &[]),
        ("claude/claude openai/openai claude-2/claude", "claude openai", &[repeated]),
    );
    check_seats(
        &discover_settings(&["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"], &[], &[]),
        ("claude/claude openai/openai gemini/gemini", "claude openai gemini", &[]),
    );
    check_seats(&discover_settings(&[], &[], &[]), ("", "", &[]));
}

#[test]
fn seats_that_repeat_a_model_look_at_the_question_differently() {
    let check = |keys: &[&str], expected: &[(&str, Option<&str>)]| {
        let council = &discover_settings(keys, &[], &[]).council;
        let (seats, _) = build_seats(&council.providers, council.origin, "digest");
        let lenses: Vec<(&str, Option<&str>)> =
            seats.iter().map(|seat| (seat.name.as_str(), seat.lens.as_deref())).collect();
        assert_eq!(lenses, expected);
        let mut versions: Vec<&str> = seats.iter().map(|seat| seat.version.as_str()).collect();
        versions.sort_unstable();
        versions.dedup();
        assert_eq!(versions.len(), seats.len(), "a lens is part of the version");
    };
    check(
        &["ANTHROPIC_API_KEY"],
        &[
            ("claude", Some("pragmatist")),
            ("claude-2", Some("skeptic")),
            ("claude-3", Some("optimist")),
        ],
    );
    check(
        &["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
        &[("claude", Some("pragmatist")), ("openai", None), ("claude-2", Some("skeptic"))],
    );
    let three = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"];
    check(&three, &[("claude", None), ("openai", None), ("gemini", None)]);
}

#[test]
fn those_who_were_named_sit_once_and_chairs_come_last() {
    let named = |providers: &str| {
        let keys = [("ANTHROPIC_API_KEY", "x"), ("OPENAI_API_KEY", "x")];
        settings_from(&format!("council: {{providers: [{providers}]}}"), &keys).unwrap()
    };
    check_seats(&named("{name: claude}"), ("claude/claude", "claude", &[]));
    check_seats(
        &named("{name: openai, role: chair}, {name: claude}"),
        ("claude/claude openai/openai", "openai", &[]),
    );
}

#[test]
fn a_version_is_the_configured_one_or_follows_from_prompt_and_model() {
    let version = |provider: &str| {
        let keys = [("ANTHROPIC_API_KEY", "x")];
        let yaml = format!("council: {{providers: [{{name: claude, {provider}}}]}}");
        let settings = settings_from(&yaml, &keys).unwrap();
        build_seats(&settings.council.providers, ProviderOrigin::Configured, "digest").0[0]
            .version
            .clone()
    };
    assert_eq!(version("version: \"7\""), "7");
    assert_eq!(version("model: m"), short_version("digest", "m"));
    assert_eq!(short_version("digest", "m").len(), 8);
    assert_ne!(short_version("digest", "m"), short_version("digest", "n"));
    assert_ne!(short_version("digest", "m"), short_version("other", "m"));
}

#[test]
fn ollama_is_where_its_variable_says() {
    let cases = [
        ("", Some("http://127.0.0.1:11434")),
        ("0.0.0.0", Some("http://127.0.0.1:11434")),
        (":9", Some("http://127.0.0.1:9")),
        ("box:9", Some("http://box:9")),
        ("http://box:9/", Some("http://box:9")),
        ("[::1]", Some("http://[::1]:11434")),
        ("[::1]:9", Some("http://[::1]:9")),
        ("https://box", None),
        ("box:x", None),
        ("a b", None),
    ];
    for (host, server) in cases {
        let environment = EnvVariables::from_pairs([("OLLAMA_HOST", host)]);
        assert_eq!(server_url(&environment).as_deref(), server, "host: {host}");
    }
}

/// Starts a server on a free port that gives these answers, one per connection.
fn serve_answers(answers: Vec<&'static str>) -> (String, std::thread::JoinHandle<Vec<String>>) {
    use std::io::BufRead;
    use std::io::BufReader;
    use std::io::Write;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        let mut asked = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            asked.push(lines.next().unwrap().unwrap());
            lines.take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).count();
            write!(stream, "HTTP/1.0 200 OK\r\n\r\n{answer}").unwrap();
        }
        asked
    });
    (server, serving)
}

#[test]
fn a_server_is_asked_for_its_models_in_both_ways_it_may_know() {
    let tags = r#"{"models": [{"name": "llama3.2:latest"}, {"name": "qwen2.5:7b"}]}"#;
    let (server, serving) = serve_answers(vec![tags]);
    assert_eq!(installed_models(&server), ["llama3.2:latest", "qwen2.5:7b"]);
    assert_eq!(serving.join().unwrap(), ["GET /api/tags HTTP/1.0"]);

    let (server, serving) =
        serve_answers(vec!["not here", r#"{"data": [{"id": "m"}, {"no": 1}]}"#]);
    assert_eq!(installed_models(&server), ["m"]);
    assert_eq!(serving.join().unwrap(), ["GET /api/tags HTTP/1.0", "GET /v1/models HTTP/1.0"]);
}

#[test]
fn a_server_that_is_silent_or_absent_has_no_models() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}", listener.local_addr().unwrap());
    assert_eq!(installed_models(&silent), [""; 0]);
    drop(listener);
    assert_eq!(installed_models(&silent), [""; 0]);
    assert_eq!(installed_models("http://no-such-host.invalid:1"), [""; 0]);
}
