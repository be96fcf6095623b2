//! Names of files and folders that contain credentials, judged by name alone.
//!
//! Comparison ignores case and the suffixes of copies (`.bak`, `~`). `docs/councils.md` shows the
//! table to users.

use std::path::Path;

/// Reason for not sending this program's own configuration: it may contain keys.
pub(crate) const OWN_CONFIGURATION: &str = "configuration of this program";
const CREDENTIAL: &str = "its name is that of a credential";

/// Configuration files of this program.
const OWN_FILES: [&str; 2] = ["council.yaml", "council.yml"];

/// Folders of keys and logins, at any depth.
const CREDENTIAL_FOLDERS: [&str; 14] = [
    ".aws",
    ".azure",
    ".docker",
    ".gcloud",
    ".gnupg",
    ".kube",
    ".oci",
    ".password-store",
    ".pki",
    ".plenary",
    ".ssh",
    ".terraform.d",
    ".vault",
    ".wireguard",
];

/// A file or folder below a folder of this name.
const CREDENTIAL_PATHS: [(&str, &str); 14] = [
    (".cargo", "credentials"),
    (".cargo", "credentials.toml"),
    (".claude", ".credentials.json"),
    (".codex", "auth.json"),
    (".config", "gcloud"),
    (".config", "gh"),
    (".config", "op"),
    (".config", "rclone"),
    (".gem", "credentials"),
    (".gemini", "oauth_creds.json"),
    (".m2", "settings.xml"),
    (".m2", "settings-security.xml"),
    ("gh", "hosts.yml"),
    ("gcloud", "credentials.db"),
];

const CREDENTIAL_NAMES: [&str; 61] = [
    ".authinfo",
    ".authinfo.gpg",
    ".boto",
    ".databrickscfg",
    ".dockercfg",
    ".dockerconfigjson",
    ".flaskenv",
    ".git-credentials",
    ".htpasswd",
    ".ldaprc",
    ".my.cnf",
    ".mylogin.cnf",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    ".s3cfg",
    ".snowsql",
    ".token",
    ".vault-token",
    ".vault_pass",
    ".vault_pass.txt",
    ".yarnrc.yml",
    "_netrc",
    "accesstokens.json",
    "access_tokens.db",
    "aws_credentials",
    "auth.json",
    "azureprofile.json",
    "credentials",
    "database.yml",
    "database.yaml",
    "gha-creds.json",
    "google-services.json",
    "googleservice-info.plist",
    "htpasswd",
    "keyfile.json",
    "keystore.properties",
    "kubeconfig",
    "kubeconfig.yaml",
    "kubeconfig.yml",
    "local.settings.json",
    "local_settings.py",
    "master.key",
    "msal_token_cache.json",
    "netrc",
    "oauth_creds.json",
    "passwd",
    "pgpass.conf",
    "rclone.conf",
    "robomongo.json",
    "secret_token.rb",
    "sftp-config.json",
    "sftp.json",
    "shadow",
    "sitemanager.xml",
    "storage-credentials",
    "token",
    "token.json",
    "wg0.conf",
    "wp-config.php",
];

/// Prefixes of credential files. `.env` has many variants, and each may be a real one.
const CREDENTIAL_STARTS: [&str; 9] = [
    ".credentials",
    ".env",
    ".secrets",
    "application_default_credentials",
    "env.local",
    "env.prod",
    "firebase-adminsdk",
    "google-credentials",
    "legacy_credentials",
];

/// Prefixes of credential files, unless the extension is that of code or prose.
const DATA_STARTS: [&str; 22] = [
    "access_token",
    "api_key",
    "api-key",
    "apikey",
    "client-secret",
    "client_secret",
    "clientsecret",
    "creds",
    "credential.",
    "credentials",
    "login_data",
    "password",
    "private_key",
    "private-key",
    "secret-",
    "secret.",
    "secret_",
    "secrets",
    "service-account",
    "service_account",
    "serviceaccount",
    "vault-pass",
];

/// Suffixes of the same kind: `db.secrets.yaml`, `my-credentials.json`.
const DATA_STEM_ENDS: [&str; 8] = [
    "-credentials",
    "_credentials",
    ".credentials",
    "-secrets",
    "_secrets",
    ".secrets",
    "-client-secret",
    "_client_secret",
];

/// Extensions of code, prose and style sheets.
const PROSE_AND_CODE: [&str; 37] = [
    "adoc", "bash", "c", "cc", "cpp", "cs", "css", "ex", "exs", "fish", "go", "h", "hpp", "hs",
    "htm", "html", "java", "js", "jsx", "kt", "lua", "md", "mdx", "mjs", "ml", "php", "pl", "py",
    "rb", "rs", "rst", "scala", "sh", "swift", "ts", "tsx", "vue",
];

const CREDENTIAL_ENDS: [&str; 34] = [
    ".agekey",
    ".env",
    ".gpg",
    ".jceks",
    ".jks",
    ".kdb",
    ".kdbx",
    ".key",
    ".keychain",
    ".keychain-db",
    ".keystore",
    ".keytab",
    ".kubeconfig",
    ".kwallet",
    ".mobileprovision",
    ".ovpn",
    ".p12",
    ".p8",
    ".pem",
    ".pfx",
    ".pgp",
    ".pkcs12",
    ".pkcs8",
    ".ppk",
    ".psafe3",
    ".publishsettings",
    ".secret",
    ".secrets",
    ".tfstate",
    ".tfvars",
    ".tfvars.json",
    ".token",
    ".truststore",
    ".vault",
];

/// Suffixes of copies and editor backups.
const COPY_ENDS: [&str; 12] = [
    "~", ".backup", ".bak", ".copy", ".old", ".orig", ".rej", ".save", ".swo", ".swp", ".tmp", ".1",
];

/// The reason for not sending a file with the name of a credential.
pub(crate) fn credential_reason(file: &Path) -> Option<String> {
    credential_folder_reason(file).or_else(|| {
        let name = file.file_name()?.to_string_lossy().to_lowercase();
        let original = without_copy_ends(&name);
        let dotted = format!(".{original}");
        is_credential(original)
            .then(|| CREDENTIAL.to_owned())
            // An editor's swap file has an extra leading dot.
            .or_else(|| {
                let inner = original.strip_prefix('.').filter(|_| original != name)?;
                is_credential(inner).then(|| CREDENTIAL.to_owned())
            })
            // `netrc` in a settings folder is `.netrc`.
            .or_else(|| {
                (CREDENTIAL_NAMES.contains(&dotted.as_str()) && !original.contains('.'))
                    .then(|| CREDENTIAL.to_owned())
            })
    })
}

/// The reason for not sending a configuration file of this program. `sweep` may list such a file,
/// but never sends it.
pub(crate) fn own_configuration_reason(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_string_lossy().to_lowercase();
    OWN_FILES.contains(&without_copy_ends(&name)).then(|| OWN_CONFIGURATION.to_owned())
}

/// The reason for not sending anything below a credentials folder.
pub(crate) fn credential_folder_reason(path: &Path) -> Option<String> {
    let parts: Vec<String> =
        path.iter().map(|part| part.to_string_lossy().to_lowercase()).collect();
    if let Some(folder) = parts.iter().find(|part| CREDENTIAL_FOLDERS.contains(&part.as_str())) {
        return Some(match folder.as_str() {
            ".plenary" => "plenary's own record".to_owned(),
            folder => format!("`{folder}` holds credentials"),
        });
    }
    let mut pairs = parts.windows(2).filter_map(|pair| match pair {
        [folder, inner] => Some((folder.as_str(), without_copy_ends(inner))),
        _ => None,
    });
    let (folder, inner) = pairs.find(|pair| CREDENTIAL_PATHS.contains(pair))?;
    Some(format!("`{folder}/{inner}` holds credentials"))
}

fn is_credential(name: &str) -> bool {
    CREDENTIAL_NAMES.contains(&name)
        || CREDENTIAL_STARTS.iter().any(|start| name.starts_with(start))
        || CREDENTIAL_ENDS.iter().any(|end| name.ends_with(end))
        || name.contains(".tfstate.")
        || is_ssh_key(name)
        || is_credential_data(name)
}

/// Matches `id_rsa`, `id_ed25519_sk`, `id_work` and public keys, which identify the owner.
fn is_ssh_key(name: &str) -> bool {
    let stem = name.strip_suffix(".pub").unwrap_or(name);
    let known = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
    known.iter().any(|start| name.starts_with(start))
        || stem.strip_prefix("id_").is_some_and(|rest| !rest.is_empty() && !rest.contains('.'))
}

fn is_credential_data(name: &str) -> bool {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    if PROSE_AND_CODE.contains(&extension) {
        return false;
    }
    DATA_STARTS.iter().any(|start| name.starts_with(start))
        || DATA_STEM_ENDS.iter().any(|end| stem.ends_with(end) || name.ends_with(end))
}

fn without_copy_ends(name: &str) -> &str {
    let mut name = name;
    while let Some(shorter) = COPY_ENDS.iter().find_map(|end| name.strip_suffix(end)) {
        if shorter.is_empty() {
            break;
        }
        name = shorter;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_credential_is_known_in_any_case_and_as_a_copy() {
        let names = "client_secret.json client_secret_123.apps.googleusercontent.com.json \
             credentials.json credentials Credentials.csv service-account.json \
             service-account-prod.json serviceAccountKey.json .netrc _netrc .pgpass .npmrc .pypirc \
             id_rsa id_ed25519_sk id_work id_work.pub server.pem a.p12 a.pfx a.kdbx a.jks a.ppk \
             .htpasswd wp-config.php terraform.tfstate terraform.tfstate.backup prod.tfvars \
             prod.auto.tfvars.json .docker/config.json kubeconfig prod.kubeconfig .kube/config \
             secrets.yml secrets.yaml secrets.toml secrets.json secret.yaml .envrc .env .env.prod \
             prod.env client.ovpn krb5.keytab .git-credentials .my.cnf .boto .s3cfg database.yml \
             config/master.key auth.json .vault-token .config/gh/hosts.yml gh/hosts.yml \
             .aws/credentials .azure/x .gnupg/x .ssh/config rclone.conf .config/rclone/rclone.conf \
             .gem/credentials .cargo/credentials.toml .m2/settings.xml token api.token .token \
             token.json .plenary/token passwords.txt db_credentials.json app-secrets.yaml \
             .codex/auth.json application_default_credentials.json local.settings.json \
             apikeys.txt api_key.txt private_key.txt shadow release.keystore AuthKey_1.p8 \
             server.pem.bak id_rsa.old .env~ .server.key.swp credentials.json.orig";
        for name in names.split_whitespace() {
            for name in [name.to_owned(), name.to_uppercase(), format!("a/b/{name}")] {
                assert!(credential_reason(Path::new(&name)).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn what_this_program_is_set_up_by_is_not_sent() {
        for name in ["council.yaml", "a/Council.YAML", "council.yml", "council.yaml.bak"] {
            let reason = own_configuration_reason(Path::new(name));
            assert_eq!(reason.as_deref(), Some(OWN_CONFIGURATION), "{name}");
        }
    }

    #[test]
    fn an_ordinary_name_is_none() {
        let names = "README.md src/secrets.rs secrets_test.go docs/secrets.md credentials.py \
             token.rs tokens.json tokenizer.json keys.rs keyboard.txt monkey.md secretary.txt \
             auth.rs hosts.yml config.json settings.xml env.rs environment.md id_map.json \
             database.rs password.ts council_log.jsonl council.rs passage.txt";
        for name in names.split_whitespace() {
            assert_eq!(credential_reason(Path::new(name)), None, "{name}");
        }
    }
}
