//! Names of files and folders that contain credentials, judged by name alone. The names are in
//! `data/file-names.json`.
//!
//! Comparison ignores case and the suffixes of copies (`.bak`, `~`). `docs/councils.md` shows the
//! table to users.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use serde::Deserialize;

/// Reason for not sending this program's own configuration: it may contain keys.
pub(crate) const OWN_CONFIGURATION: &str = "configuration of this program";
const CREDENTIAL: &str = "its name is that of a credential";

/// The lists of `data/file-names.json`, which explains them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileNames {
    #[serde(rename = "about")]
    _about: String,
    own_files: Vec<String>,
    credential_folders: Vec<String>,
    credential_paths: Vec<String>,
    credential_names: Vec<String>,
    credential_starts: Vec<String>,
    credential_ends: Vec<String>,
    data_starts: Vec<String>,
    data_stem_ends: Vec<String>,
    prose_and_code: Vec<String>,
    copy_ends: Vec<String>,
    pub(crate) lock_files: Vec<String>,
    pub(crate) generated_ends: Vec<String>,
    pub(crate) manifests: Vec<String>,
    pub(crate) entry_points: Vec<String>,
    /// Reason by name.
    pub(crate) generated_folders: BTreeMap<String, String>,
}

/// The file is part of the build, and the tests below parse it.
pub(crate) static FILE_NAMES: LazyLock<FileNames> = LazyLock::new(|| {
    let text = include_str!("../../../../data/file-names.json");
    serde_json::from_str(text).unwrap_or_default()
});

pub(crate) fn has_name(list: &[String], name: &str) -> bool {
    list.iter().any(|known| known == name)
}

pub(crate) fn has_end(list: &[String], name: &str) -> bool {
    list.iter().any(|end| name.ends_with(end.as_str()))
}

fn has_start(list: &[String], name: &str) -> bool {
    list.iter().any(|start| name.starts_with(start.as_str()))
}

/// The reason for not sending a file with the name of a credential.
pub(crate) fn credential_reason(file: &Path) -> Option<String> {
    credential_folder_reason(file).or_else(|| {
        let name = file.file_name()?.to_string_lossy().to_lowercase();
        let original = without_copy_ends(&name);
        // An editor's swap file has an extra leading dot.
        let inner = original.strip_prefix('.').filter(|_| original != name);
        // `netrc` in a settings folder is `.netrc`.
        let is_dotted = !original.contains('.')
            && has_name(&FILE_NAMES.credential_names, &format!(".{original}"));
        let is_found = is_credential(original) || inner.is_some_and(is_credential) || is_dotted;
        is_found.then(|| CREDENTIAL.to_owned())
    })
}

/// The reason for not sending a configuration file of this program. `sweep` may list such a file,
/// but never sends it.
pub(crate) fn own_configuration_reason(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_string_lossy().to_lowercase();
    let is_own = has_name(&FILE_NAMES.own_files, without_copy_ends(&name));
    is_own.then(|| OWN_CONFIGURATION.to_owned())
}

/// The reason for not sending anything below a credentials folder.
pub(crate) fn credential_folder_reason(path: &Path) -> Option<String> {
    let parts: Vec<String> =
        path.iter().map(|part| part.to_string_lossy().to_lowercase()).collect();
    if let Some(folder) = parts.iter().find(|part| has_name(&FILE_NAMES.credential_folders, part)) {
        return Some(match folder.as_str() {
            ".plenary" => "plenary's own record".to_owned(),
            folder => format!("`{folder}` contains credentials"),
        });
    }
    let mut pairs = parts.windows(2).filter_map(|pair| match pair {
        [folder, inner] => Some(format!("{folder}/{}", without_copy_ends(inner))),
        _ => None,
    });
    let found = pairs.find(|pair| FILE_NAMES.credential_paths.contains(pair))?;
    Some(format!("`{found}` contains credentials"))
}

fn is_credential(name: &str) -> bool {
    has_name(&FILE_NAMES.credential_names, name)
        || has_start(&FILE_NAMES.credential_starts, name)
        || has_end(&FILE_NAMES.credential_ends, name)
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
    let ends = &FILE_NAMES.data_stem_ends;
    !has_name(&FILE_NAMES.prose_and_code, extension)
        && (has_start(&FILE_NAMES.data_starts, name) || has_end(ends, stem) || has_end(ends, name))
}

fn without_copy_ends(name: &str) -> &str {
    let shorter = FILE_NAMES.copy_ends.iter().find_map(|end| name.strip_suffix(end.as_str()));
    match shorter {
        Some(shorter) if !shorter.is_empty() => without_copy_ends(shorter),
        _ => name,
    }
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
