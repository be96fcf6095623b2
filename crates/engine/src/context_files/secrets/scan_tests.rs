//! Texts that contain a secret, and texts that only mention one. The secrets are assembled at run
//! time, so that this file contains none.

use std::path::Path;

use secrecy::SecretString;

use crate::context_files::secrets::rule_set::SecretRules;
use crate::context_files::secrets::scan::{
    SecretFindingKind, SecretValues, exclusion_reason, find_secret,
};

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const CAPITALS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &str = "0123456789abcdef";

/// Pseudo-random text of this length; the same for the same arguments.
fn noise(alphabet: &str, length: usize) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    let mut state = 0x2545_f491_4f6c_dd1d_u64 ^ (length as u64) << 7 ^ letters.len() as u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        letters[(state >> 33) as usize % letters.len()]
    };
    (0..length).map(|_| next()).collect()
}

fn key(start: &str, length: usize) -> String {
    format!("{start}{}", noise(LETTERS, length))
}

fn private_key(kind: &str) -> String {
    format!("-----BEGIN {kind}-----\n{}\n{}\n", noise(LETTERS, 64), noise(LETTERS, 63))
}

/// One secret per shape: its name and a line that contains it.
fn secrets() -> Vec<(&'static str, String)> {
    [keys_of_models_and_clouds(), keys_of_services(), logins()].concat()
}

/// Keys of models and clouds.
fn keys_of_models_and_clouds() -> Vec<(&'static str, String)> {
    vec![
        ("Anthropic", key("x = sk-ant-api03-", 93)),
        ("OpenAI project", key("OPENAI: sk-proj-", 48)),
        ("OpenAI old", key("\"sk-", 48)),
        ("OpenAI service account", key("sk-svcacct-", 60)),
        ("OpenRouter", format!("sk-or-v1-{}", noise(HEX, 64))),
        ("Groq", key("gsk_", 52)),
        ("xAI", key("xai-", 80)),
        ("Perplexity", key("pplx-", 48)),
        ("Replicate", key("r8_", 37)),
        ("Hugging Face", key("hf_", 34)),
        ("AWS id", format!("AKIA{}", noise(CAPITALS, 16))),
        ("AWS secret", format!("aws_secret_access_key = {}", noise(LETTERS, 40))),
        ("Google API", key("AIza", 35)),
        ("Google OAuth", key("ya29.", 60)),
        ("Google client secret", key("GOCSPX-", 28)),
        (
            "client_secret.json",
            format!(r#"{{"installed":{{"client_secret":"{}"}}}}"#, noise(LETTERS, 24)),
        ),
    ]
}

/// Keys of other services.
fn keys_of_services() -> Vec<(&'static str, String)> {
    vec![
        ("GitHub classic", key("token: ghp_", 36)),
        ("GitHub fine", format!("github_pat_{}_{}", noise(LETTERS, 22), noise(LETTERS, 59))),
        ("GitLab", key("glpat-", 20)),
        ("GitLab deploy", key("gldt-", 20)),
        ("npm", key("//registry.npmjs.org/:_authToken=npm_", 36)),
        ("PyPI", key("pypi-AgEIcHlwaS5vcmc", 150)),
        ("Docker Hub", key("dckr_pat_", 27)),
        (
            "Slack bot",
            format!(
                "xoxb-{}-{}-{}",
                noise("123456789", 12),
                noise("123456789", 12),
                noise(LETTERS, 24)
            ),
        ),
        (
            "Slack hook",
            format!(
                "https://hooks.slack.com/services/T{}/B{}/{}",
                noise(CAPITALS, 8),
                noise(CAPITALS, 8),
                noise(LETTERS, 24)
            ),
        ),
        (
            "Discord hook",
            format!(
                "https://discord.com/api/webhooks/{}/{}",
                noise("123456789", 18),
                noise(LETTERS, 68)
            ),
        ),
        ("Telegram", format!("{}:AA{}", noise("123456789", 10), noise(LETTERS, 33))),
        ("Stripe", key("sk_live_", 24)),
        ("Stripe test", key("rk_test_", 24)),
        ("Twilio", format!("TWILIO=SK{}", noise(HEX, 32))),
        ("SendGrid", format!("SG.{}.{}", noise(LETTERS, 22), noise(LETTERS, 43))),
        ("Mailgun", format!("mailgun = key-{}", noise(HEX, 32))),
        ("Shopify", format!("shpat_{}", noise(HEX, 32))),
        ("DigitalOcean", format!("dop_v1_{}", noise(HEX, 64))),
        ("Linear", key("lin_api_", 40)),
        ("Vault", key("hvs.", 90)),
        ("Supabase", format!("sbp_{}", noise(HEX, 40))),
        (
            "Azure storage",
            format!(
                "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={}==;",
                noise(LETTERS, 86)
            ),
        ),
        ("Azure client", format!("{}8Q~{}", noise(LETTERS, 3), noise(LETTERS, 34))),
    ]
}

/// Tokens, logins, private keys and passwords.
fn logins() -> Vec<(&'static str, String)> {
    let json_token =
        format!("eyJ{}.eyJ{}.{}", noise(LETTERS, 30), noise(LETTERS, 40), noise(LETTERS, 43));
    let password = "T4k3-m3-h0me!";
    vec![
        ("JWT", json_token.clone()),
        ("JWT in a sentence", format!("it was {json_token}, I think")),
        ("bearer", format!("Authorization: Bearer {}", noise(LETTERS, 40))),
        ("basic", format!("\"Authorization\": \"Basic {}==\"", noise(LETTERS, 30))),
        ("curl", format!("curl -H 'Authorization: token {}' https://a.b", noise(LETTERS, 30))),
        ("PostgreSQL", format!("DATABASE_URL=postgres://app:{password}@db.internal:5432/app")),
        ("MongoDB", "mongodb+srv://app:correcthorsebattery@cluster0.mongodb.net".to_owned()),
        ("Redis without a user", format!("redis://:{password}@cache:6379/0")),
        ("a clone with a login", format!("https://ann:{}@git.internal/a.git", noise(LETTERS, 20))),
        ("SQL Server", format!("Server=db;User Id=sa;Password={password};")),
        ("PEM", private_key("PRIVATE KEY")),
        ("RSA in JSON", private_key("RSA PRIVATE KEY").replace('\n', "\\n")),
        ("OpenSSH", private_key("OPENSSH PRIVATE KEY")),
        ("PGP", private_key("PGP PRIVATE KEY BLOCK").replacen('\n', "\nVersion: 1\n\n", 1)),
        (
            "PuTTY",
            format!("PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 4\n{}\n", noise(LETTERS, 64)),
        ),
        ("age", format!("AGE-SECRET-KEY-1{}", noise("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58))),
        ("WireGuard", format!("PrivateKey = {}=", noise(LETTERS, 43))),
        ("netrc", "machine api.internal login ann password tea-4-two".to_owned()),
        ("htpasswd", format!("ann:$apr1$x{}$x{}", noise(LETTERS, 7), noise(LETTERS, 21))),
        ("bcrypt", format!("ann:$2y$10${}", noise(LETTERS, 53))),
        ("quoted password", format!("  password: \"{password}\"")),
        ("password in code", format!("const dbPassword = '{password}';")),
        ("password in variables", format!("export DB_PASSWORD={password}")),
        ("bare in YAML", "api_key: q8Zr-77-plum-Tx".to_owned()),
        ("key by name", format!("internal_api_key = \"{}\"", noise(LETTERS, 32))),
        ("flow map", "app: {env: {MY_TOKEN: k8Zq2LxT91vBn4RdWs7YpHc3}}".to_owned()),
        ("block", "token: |\n  k8Zq2LxT91vBn4RdWs7YpHc3\n".to_owned()),
        ("XML element", "<password>k8Zq2LxT91vBn4RdWs7YpHc3</password>".to_owned()),
        ("XML", "<add key=\"ApiKey\" value=\"k8Zq2LxT91vBn4RdWs7YpHc3\"/>".to_owned()),
        ("option", "run --api-key k8Zq2LxT91vBn4RdWs7YpHc3 now".to_owned()),
        ("next line", "\"token\":\n  \"k8Zq2LxT91vBn4RdWs7YpHc3\"".to_owned()),
        ("prose", "the root password is k8Zq2LxT91vBn4RdWs7YpHc3".to_owned()),
        ("German", "Passwort: k8Zq2LxT91vBn4RdWs7YpHc3".to_owned()),
        ("letters alone", "DB_PASSWORD=OGqskVOqDEzWTMgi".to_owned()),
        ("Kubernetes", format!("kind: Secret\ndata:\n  pass: {}==\n", noise(LETTERS, 30))),
    ]
}

fn found(path: &str, text: &str) -> Option<(usize, String)> {
    let found = find_secret(path, text, &SecretValues::default())?;
    Some(match found.kind {
        SecretFindingKind::Rule(rule) => (found.line, rule),
        SecretFindingKind::ValueInUse => (found.line, "value".to_owned()),
    })
}

#[test]
fn every_rule_compiles() {
    let rules = SecretRules::shared_rules();
    assert!(rules.rules.len() > 200, "only {} rules", rules.rules.len());
    let patterns = rules.rules.iter().flat_map(|rule| rule.all_patterns());
    let wrong: Vec<&str> = patterns
        .chain(rules.global_allowlist().all_patterns())
        .filter(|pattern| pattern.compiled_regex().is_none())
        .map(|pattern| pattern.pattern_text())
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(rules.rules_for("nothing of the kind").count() < 10);
}

#[test]
fn a_secret_is_found_whatever_stands_around_it() {
    let mut missed = Vec::new();
    for (name, secret) in secrets() {
        for text in [
            secret.clone(),
            format!("first line\n\n{secret}\nlast line\n"),
            format!("first line\r\n\r\n{secret}\r\n"),
        ] {
            let expected = if text.starts_with("first") { 3 } else { 1 };
            match found("notes.yaml", &text) {
                None => missed.push(format!("{name}: {text}")),
                Some((line, _)) => assert!(line >= expected, "{name} in line {line}: {text}"),
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_key_that_repeats_itself_is_a_key() {
    for start in ["sk-ant-", "sk-proj-", "sk-", "gsk_", "xai-", "hf_", "ghp_", "glpat-", "sk_live_"]
    {
        for tail in ["a1B2".repeat(10), "a1".repeat(18), "abcdefghij1234567890".repeat(2)] {
            let text = format!("Our key is {start}{tail}.\n");
            assert!(found("a.md", &text).is_some(), "{text}");
        }
    }
}

#[test]
fn a_reason_names_the_rule_and_the_line_and_never_the_secret() {
    let secret = key("gsk_", 52);
    let text = format!("one\ntwo\nkey is {secret}\n");
    assert_eq!(
        exclusion_reason("a.md", &text, &SecretValues::default()).as_deref(),
        Some("line 3 looks like a secret (rule `groq-key`)")
    );
    for (name, secret) in secrets() {
        let reason = exclusion_reason("a.yaml", &secret, &SecretValues::default()).unwrap();
        assert!(reason.len() < 90, "{name}: {reason}");
    }
}

#[test]
fn an_encoded_secret_is_found() {
    let secret = key("sk-ant-api03-", 60);
    let escaped: String =
        secret.chars().map(|letter| format!("\\u{:04x}", letter as u32)).collect();
    let percent: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let entities: String = secret.bytes().map(|byte| format!("&#{byte};")).collect();
    let hex: String = format!("user:{secret}").bytes().map(|byte| format!("{byte:02x}")).collect();
    let dashes = secret.replace('-', "\\u002d");
    let hidden = secret.replace("ant", "a\u{200b}n\u{feff}t");
    let encoded = base64(&format!("user:{secret}"));
    let wrapped: Vec<&str> =
        (0..encoded.len()).step_by(40).map(|at| &encoded[at..encoded.len().min(at + 40)]).collect();
    for text in [
        dashes,
        escaped,
        percent,
        entities,
        hidden,
        hex,
        encoded.clone(),
        format!("{encoded}=="),
        format!("TOKEN={encoded}="),
        format!("https://host/{encoded}"),
        wrapped.join("\n"),
    ] {
        let text = format!("one\n{text}\n");
        assert_eq!(found("a.txt", &text).map(|(line, _)| line), Some(2), "{text}");
    }
}

fn base64(text: &str) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<u8> =
        text.bytes().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect();
    let digits = bits
        .chunks(6)
        .map(|six| (0..6).fold(0, |sum, at| sum * 2 + six.get(at).copied().unwrap_or(0)));
    digits.map(|digit| ALPHABET[usize::from(digit)] as char).collect()
}

#[test]
fn the_value_of_a_key_in_use_is_found() {
    let values = SecretValues::new(&[
        SecretString::from("plain-words-that-say-nothing"),
        SecretString::from("short"),
    ]);
    let check = |text: &str, expected: Option<&str>| {
        assert_eq!(exclusion_reason("a.md", text, &values).as_deref(), expected, "{text}");
    };
    let reason = "line 2 contains the value of a key in use";
    check("one\nsee plain-words-that-say-nothing.", Some(reason));
    check("one\nsee plain\\u002dwords-that-say-nothing.", Some(reason));
    check(&format!("one\n{}", base64("plain-words-that-say-nothing")), Some(reason));
    check("plain-words-that-say-something in short", None);
    assert!(!format!("{values:?}").contains("plain"));
}

#[test]
fn a_text_about_secrets_is_none() {
    for text in [
        "write -----BEGIN PRIVATE KEY----- first".to_owned(),
        format!("sk-ant-{}", "x".repeat(60)),
        format!("AKIA{}", "IOSFODNN7EXAMPLE"),
        key("task-", 60),
        key("sk-", 20),
        "sk-ant-".repeat(10_000),
        "postgres://user:password@localhost:5432/db".to_owned(),
        "postgres://$USER:$PASSWORD@localhost/db and https://<user>:<token>@host".to_owned(),
        "http://[::1]:8080/ and http://localhost:3000/@scope/name".to_owned(),
        "export OPENAI_API_KEY=\"$KEY\"\nTOKEN=${TOKEN}\nAPI_KEY=your_api_key_here".to_owned(),
        "password: ${{ secrets.DB_PASSWORD }}".to_owned(),
        "let token = lexer.next_token();\nlet key = map.keys().next();".to_owned(),
        "Authorization: Bearer <token>".to_owned(),
        "api_key_env: OPENAI_API_KEY".to_owned(),
        "The secret of a good council is that its members disagree.".to_owned(),
        format!("sha256: {}\ncommit {}", noise(HEX, 64), noise(HEX, 40)),
        "password_file: /run/secrets/db_password".to_owned(),
        "token = readTokenFromEnvironment; secret: TokenRefreshFailed".to_owned(),
        "\"api_key\": \"ApiKeyIsMissingHere\"".to_owned(),
    ] {
        assert_eq!(found("notes.md", &text), None, "{text:.100}");
    }
}

/// The scan must not report this repository's own files.
#[test]
fn the_pages_and_programs_of_this_repository_hold_no_secret() {
    let mut held = Vec::new();
    let mut looked_at = 0;
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut folders: Vec<_> = ["crates", "docs", "prompts", "tests", "scripts", "migrations"]
        .map(|name| root.join(name))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(text) = text_of(&path) else { continue };
            looked_at += 1;
            let shown = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            if let Some((_, rule)) = found(&shown, &text) {
                held.push(format!("{shown} {rule}"));
            }
        }
    }
    held.sort();
    assert!(looked_at > 400, "{looked_at}");
    // A few new ones may appear with new tests; more would be a defect of the rules.
    let more: Vec<&String> = held.iter().filter(|one| !KNOWN.contains(&one.as_str())).collect();
    assert!(more.len() <= 3, "{more:#?}");
}

/// Files of this repository that contain a fake secret on purpose.
const KNOWN: [&str; 12] = [
    "crates/core/src/protocols/conclusion/sample.rs secret-assignment",
    "crates/engine/src/config/council_file_tests.rs url-with-password",
    "crates/engine/src/config/locate.rs url-with-password",
    "crates/engine/src/config/settings.rs url-with-password",
    "crates/engine/src/context_files/secrets/scan_tests.rs url-with-password",
    "crates/engine/src/providers/rehearsal/review/tests.rs private-key-block",
    "tests/fixtures/journals/before-conclusions.jsonl secret-assignment",
    "tests/fixtures/journals/review.jsonl secret-assignment",
    "tests/fixtures/replies/openai/error_401.json generic-api-key",
    // A certificate for the loopback address, made for these tests.
    "tests/fixtures/tls/key.pem private-key-block",
    "tests/it/locks.rs generic-api-key",
    "tests/it/resuming/library.rs secret-assignment",
];

#[expect(clippy::disallowed_methods, reason = "the test reads the repository")]
fn text_of(path: &Path) -> std::io::Result<String> {
    std::fs::read_to_string(path)
}
