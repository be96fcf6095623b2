//! Own rules, for shapes that gitleaks does not know or finds only in certain contexts.
//!
//! The secret is the first group, else the whole match. Placeholders do not count. Most rules
//! require a digit, because a key without one is usually an example.

#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnRule {
    pub(crate) id: &'static str,
    pub(crate) regex: &'static str,
    /// Lower-case keywords; the rule scans only texts that contain one of them.
    pub(crate) keywords: &'static [&'static str],
    /// Minimum entropy of the secret in bits per character, exclusive.
    pub(crate) entropy: f64,
    pub(crate) letters: SecretLetters,
}

/// Characters that a secret must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SecretLetters {
    /// At least one digit.
    WithDigit,
    /// No requirement: a person may have chosen it.
    Any,
    /// Mixed case that does not form words: `OGqskVOqDEzW`, not `readTokenFromFile`.
    Scrambled,
}

impl SecretLetters {
    /// In joined words the case changes at most once per this many letters.
    const LETTERS_PER_CHANGE: usize = 3;
    /// Joined words have few adjacent capitals.
    const CAPITAL_PAIRS_MIN: usize = 2;

    pub(crate) fn matches_secret(self, secret: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::WithDigit => secret.iter().any(u8::is_ascii_digit),
            Self::Scrambled => {
                let capitals = secret.iter().map(u8::is_ascii_uppercase);
                let pairs = || capitals.clone().zip(capitals.clone().skip(1));
                let changes = pairs().filter(|(one, next)| one != next).count();
                let doubled = pairs().filter(|(one, next)| *one && *next).count();
                changes * Self::LETTERS_PER_CHANGE >= secret.len()
                    && doubled >= Self::CAPITAL_PAIRS_MIN
            }
        }
    }
}

const fn own_rule(
    id: &'static str,
    regex: &'static str,
    keywords: &'static [&'static str],
    entropy: f64,
) -> OwnRule {
    OwnRule { id, regex, keywords, entropy, letters: SecretLetters::WithDigit }
}

const fn with_any_letters(rule: OwnRule) -> OwnRule {
    OwnRule { letters: SecretLetters::Any, ..rule }
}

const fn with_scrambled_letters(rule: OwnRule) -> OwnRule {
    OwnRule { letters: SecretLetters::Scrambled, ..rule }
}

/// Entropy limit between readable names and random keys.
const ENTROPY_MIXED: f64 = 3.0;

/// Entropy limit for unmistakable shapes, where even a repetitive key counts.
const ENTROPY_ANY: f64 = 0.5;

pub(crate) const OWN_RULES: [OwnRule; 35] = [
    own_rule(
        "private-key-block",
        r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,400}?([A-Za-z0-9+/=]{32,})",
        &["private key"],
        ENTROPY_ANY,
    ),
    own_rule(
        "putty-private-key",
        r"PuTTY-User-Key-File-\d[\s\S]{0,4000}?Private-Lines:[ \t]*\d+\s+([A-Za-z0-9+/=]{32,})",
        &["putty-user-key-file"],
        ENTROPY_ANY,
    ),
    own_rule(
        "age-secret-key-own",
        r"AGE-SECRET-KEY-[A-Z0-9]{20,}",
        &["age-secret-key-"],
        ENTROPY_ANY,
    ),
    own_rule(
        "wireguard-private-key",
        r"(?i)\b(?:PrivateKey|PresharedKey)[ \t]*=[ \t]*([A-Za-z0-9+/]{43}=)",
        &["privatekey", "presharedkey"],
        ENTROPY_ANY,
    ),
    own_rule("anthropic-key", r"\bsk-ant-([\w-]{24,})", &["sk-ant-"], ENTROPY_ANY),
    own_rule("openrouter-key", r"\bsk-or-([\w-]{24,})", &["sk-or-"], ENTROPY_ANY),
    own_rule("openai-key", r"\bsk-(?:proj|svcacct|admin)-([\w-]{24,})", &["sk-"], ENTROPY_ANY),
    own_rule("openai-like-key", r"\bsk-([A-Za-z0-9]{32,})", &["sk-"], ENTROPY_ANY),
    own_rule("groq-key", r"\bgsk_([A-Za-z0-9]{20,})", &["gsk_"], ENTROPY_ANY),
    own_rule("xai-key", r"\bxai-([\w-]{24,})", &["xai-"], ENTROPY_ANY),
    own_rule(
        "model-provider-key",
        r"\b(?:pplx-|r8_|fw_|csk-|nvapi-|pcsk_|lsv2_(?:pt|sk)_|tgp_v1_|jina_|sk_[a-z]{0,4}_?)([A-Za-z0-9]{24,})",
        &["pplx-", "r8_", "fw_", "csk-", "nvapi-", "pcsk_", "lsv2_", "tgp_v1_", "jina_", "sk_"],
        ENTROPY_MIXED,
    ),
    own_rule(
        "hugging-face-token",
        r"\b(?:hf|api_org)_([A-Za-z0-9]{30,})",
        &["hf_", "api_org_"],
        ENTROPY_ANY,
    ),
    own_rule(
        "aws-key-id",
        r"\b(?:AKIA|ASIA|ABIA|ACCA)([A-Z0-9]{16})\b",
        &["akia", "asia", "abia", "acca"],
        ENTROPY_ANY,
    ),
    own_rule(
        "aws-secret-key",
        r#"(?i)aws.{0,20}?(?:secret|sk).{0,20}?["'=: \t]{1,5}([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#,
        &["aws"],
        ENTROPY_MIXED,
    ),
    own_rule("google-api-key", r"\bAIza([\w-]{35})", &["aiza"], ENTROPY_ANY),
    own_rule(
        "google-oauth-token",
        r"\b(?:ya29\.|1//0)([\w-]{38,})",
        &["ya29.", "1//0"],
        ENTROPY_ANY,
    ),
    own_rule("google-client-secret", r"\bGOCSPX-([\w-]{20,})", &["gocspx-"], ENTROPY_ANY),
    own_rule(
        "github-token",
        r"\b(?:gh[opusr]_([A-Za-z0-9]{36,})|github_pat_(\w{40,}))",
        &["gho_", "ghp_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        ENTROPY_ANY,
    ),
    own_rule("gitlab-token", r"\bgl[a-z]{2,6}-([\w-]{20,})", &["gl"], ENTROPY_ANY),
    own_rule(
        "package-registry-token",
        r"\b(?:npm_|pypi-AgE|dckr_pat_|rubygems_|cio|oy2)([\w-]{26,})",
        &["npm_", "pypi-age", "dckr_pat_", "rubygems_", "cio", "oy2"],
        3.5,
    ),
    own_rule(
        "slack-token",
        r"\b(?:xox[a-z]-|xapp-)([\w-]{20,})|hooks\.slack\.com/(?:services|workflows)/([\w/+]{30,})",
        &["xox", "xapp-", "hooks.slack.com"],
        ENTROPY_ANY,
    ),
    own_rule(
        "chat-bot-token",
        r"\b(?:\d{8,10}:AA[\w-]{33}|[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,40})|discord(?:app)?\.com/api/webhooks/(\d+/[\w-]{40,})",
        &[":aa", ".", "discord"],
        3.5,
    ),
    own_rule(
        "payment-key",
        r"\b(?:[sr]k_(?:live|test|prod)_|whsec_|sq0[a-z]{3}-|shp(?:at|ca|pa|ss)_)([\w-]{20,})",
        &["k_live_", "k_test_", "k_prod_", "whsec_", "sq0", "shpat_", "shpca_", "shppa_", "shpss_"],
        ENTROPY_ANY,
    ),
    own_rule(
        "service-token",
        r"\b(?:do[opr]_v1_|lin_api_|ntn_|ATATT3|hvs\.|hvb\.|sbp_|sb_secret_|pscale_(?:tkn|pw|oauth)_|tskey-[a-z]+-|glsa_|sntry[su]_|PMAK-|figd_|dp\.(?:pt|st|sa|ct)\.|rnd_|fm2_|nfp_|dapi|HRKU-|SG\.|phc_|phx_|key-)([A-Za-z0-9][\w.=-]{23,})",
        &[
            "_v1_",
            "lin_api_",
            "ntn_",
            "atatt3",
            "hvs.",
            "hvb.",
            "sbp_",
            "sb_secret_",
            "pscale_",
            "tskey-",
            "glsa_",
            "sntry",
            "pmak-",
            "figd_",
            "dp.",
            "rnd_",
            "fm2_",
            "nfp_",
            "dapi",
            "hrku-",
            "sg.",
            "phc_",
            "phx_",
            "key-",
        ],
        3.6,
    ),
    own_rule(
        "azure-key",
        r"(?i)\b(?:AccountKey|SharedAccessKey|SharedSecretValue)[ \t]*=[ \t]*([A-Za-z0-9+/]{30,}={0,2})|[?&]sig=([\w%+/-]{30,})",
        &["accountkey", "sharedaccesskey", "sharedsecretvalue", "sig="],
        ENTROPY_ANY,
    ),
    own_rule("azure-client-secret", r"\b([\w~.]{3}\dQ~[\w~.-]{31,34})", &["q~"], ENTROPY_ANY),
    own_rule(
        "json-web-token",
        r"\beyJ[\w-]{10,}\.(eyJ[\w-]{10,}\.[\w-]{10,})",
        &["eyj"],
        ENTROPY_ANY,
    ),
    own_rule(
        "authorization-header",
        r#"(?i)\b(?:authorization["']?[ \t]*[:=,][ \t]*["']?(?:basic|bearer|token|apikey)|bearer)[ \t]+([\w.~+/=-]{16,})"#,
        &["authorization", "bearer"],
        3.5,
    ),
    with_any_letters(own_rule(
        "url-with-password",
        r#"(?i)\b[a-z][a-z0-9+.-]{1,30}://[^\s/:@'"<>`|\\]{0,100}:([^\s/@'"<>`|\\]{3,200})@[\w.\[\]-]"#,
        &["://"],
        1.5,
    )),
    with_any_letters(own_rule(
        "connection-string-password",
        r#"(?i)\b(?:password|pwd)=([^\s;'"<>]{6,100});|;[ \t]*(?:password|pwd)=([^\s;'"<>]{6,100})"#,
        &["password=", "pwd="],
        2.3,
    )),
    with_any_letters(own_rule(
        "netrc-login",
        r"(?i)\b(?:machine[ \t]+\S+|default)\s+login\s+\S+\s+password\s+(\S{4,100})",
        &["login"],
        1.5,
    )),
    own_rule(
        "password-hash",
        r"\$2[abxy]?\$\d\d\$([./A-Za-z0-9]{50,53})|\$(?:1|5|6|y|7|apr1)\$[^\s:$]{1,40}\$(?:[^\s:$]{1,40}\$)?([./A-Za-z0-9]{20,})|\$argon2i?d?\$v=\d+\$[^\s$]+\$[A-Za-z0-9+/]+\$([A-Za-z0-9+/]{20,})",
        &["$"],
        ENTROPY_MIXED,
    ),
    own_rule(
        "secret-assignment",
        // Quoted after any such name; unquoted after a name in capitals, as in a file of variables.
        r#"(?:(?i:password|passwd|passphrase|passcode|\bpwd|_pwd|\bpass|_pass|secret|token|(?:api|access|auth|private|encryption|signing|account|master|shared|service)[_-]?key|credentials?)[\w.-]{0,20}["'\]]{0,2}[ \t]{0,8}(?::=|=>|=|:)[ \t]{0,8}["'`]([^"'`\s]{8,200})["'`]|(?m:^)[ \t]*(?:export[ \t]+|-[ \t]+|ENV[ \t]+|set[ \t]+)?[A-Z0-9_]{0,60}(?:PASSWORD|PASSWD|PASSPHRASE|PWD|PASS|SECRET|TOKEN|KEY|CREDENTIALS?)[A-Z0-9_]{0,20}[ \t]*[=:][ \t]*([^\s"'`]{8,200})[ \t\r]*(?m:$)|(?m:^)[ \t]*[\w.-]{0,60}(?i:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)[ \t]*[:=][ \t]*([^\s"'`,;(){}\[\]<>&|:\\]{8,200})[ \t\r]*(?m:$))"#,
        &["passw", "passphrase", "passcode", "pwd", "pass", "secret", "token", "key", "credential"],
        ENTROPY_MIXED,
    ),
    own_rule(
        "secret-after-name",
        // In flow maps, XML, command lines, on the next line or in prose: any punctuation may
        // separate name and value.
        r#"(?i:passwor[dt]|passwd|passphrase|secret|token|(?:api|access|auth|private|encryption|signing|account|master|shared|service)[_-]?key|credentials?)[\w.-]{0,20}["'\])]{0,2}(?:[ \t]{0,8}(?:=>|:=|[:=>|,])|[ \t]+(?:is|value)\b|[ \t])[\s"'`\[({|>]{0,20}(?:value[ \t]*=[ \t]*["'])?([A-Za-z0-9+/]{16,200}={0,2})(?:[^\w+/]|$)"#,
        &["passwor", "passwd", "passphrase", "secret", "token", "key", "credential"],
        3.6,
    ),
    with_scrambled_letters(own_rule(
        "scrambled-secret-after-name",
        r#"(?i:passwor[dt]|passwd|passphrase|secret|token|(?:api|access|auth|private|encryption|signing|account|master|shared|service)[_-]?key|credentials?)[\w.-]{0,20}["'\])]{0,2}[ \t]{0,8}(?:=>|:=|[:=>|,])[\s"'`\[({|>]{0,20}([A-Za-z]{14,200})(?:[^\w+/]|$)"#,
        &["passwor", "passwd", "passphrase", "secret", "token", "key", "credential"],
        ENTROPY_MIXED,
    )),
];

/// Substrings that no random secret contains.
const PLACEHOLDER_PARTS: [&str; 18] = [
    "example",
    "placeholder",
    "change_me",
    "change-me",
    "changeme",
    "changeit",
    "redacted",
    "replace_",
    "replace-",
    "replaceme",
    "your_",
    "your-",
    "insert_",
    "insert-",
    "dummy",
    "xxxx",
    "****",
    "....",
];

/// Complete values that manuals use as passwords.
const PLACEHOLDER_VALUES: [&str; 15] = [
    "password", "passwd", "pass", "pwd", "secret", "token", "user", "username", "admin", "root",
    "test", "guest", "postgres", "mysql", "x",
];

/// Prefixes of template variables.
const TEMPLATE_STARTS: [&str; 6] = ["$", "{", "%", "<", "#{", "@@"];

/// Substrings of code that reads a value from elsewhere.
const READ_FROM_ELSEWHERE: [&str; 8] =
    ["${", "{{", "$(", "env.", "environ", "getenv", "secrets.", "var."];

pub(crate) fn is_placeholder(secret: &[u8]) -> bool {
    let secret = String::from_utf8_lossy(secret).to_ascii_lowercase();
    PLACEHOLDER_PARTS.iter().chain(&READ_FROM_ELSEWHERE).any(|part| secret.contains(part))
        || PLACEHOLDER_VALUES.contains(&secret.as_str())
        || TEMPLATE_STARTS.iter().any(|start| secret.starts_with(start))
}
