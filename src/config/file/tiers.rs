//! The `tier_rules` section: which files are reviewed, and as which type.

use ignore::gitignore::GitignoreBuilder;

use crate::config::section::{ConfigSection, LIST_MAX, ProblemList, WithLine, parse_text};
use crate::config::yaml::{YamlNode, YamlValue};
use crate::domain::gate::ReviewTier;

/// Globs of files with this type and tier; the first matching rule wins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierRule {
    pub tier: ReviewTier,
    pub artifact_type: String,
    /// Relative to the folder of `council.yaml`.
    pub globs: Vec<String>,
}

/// The type is a column of the log and a heading of the statistics.
const ARTIFACT_TYPE_BYTES_MAX: usize = 64;

/// Reads the rules in the order in which they are tried.
pub(super) fn read_tier_rules(
    file: &ConfigSection<'_>,
    problems: &mut ProblemList,
) -> Option<WithLine<Vec<TierRule>>> {
    let names = ReviewTier::ALL.map(ReviewTier::config_key);
    let tiers = file.read_section("tier_rules", &names, problems)?;
    let mut rules = Vec::new();
    for tier in ReviewTier::ALL {
        let Some(node) = tiers.get(tier.config_key()) else { continue };
        let path = tiers.key_path(tier.config_key());
        let Some(types) = ConfigSection::from_mapping(node, &path, problems) else { continue };
        for (key, node) in types.entries() {
            let path = types.key_path(&key.name);
            if !is_artifact_type(&key.name) {
                let fault = format!(
                    "must be a type of 1 to {ARTIFACT_TYPE_BYTES_MAX} letters, digits, `_`, `-` or `.`"
                );
                problems.add_problem(&path, key.line, &fault);
            }
            let globs = read_globs(node, &path, problems);
            rules.push(TierRule { tier, artifact_type: key.name.clone(), globs });
        }
    }
    Some(WithLine { value: rules, line: tiers.line })
}

/// Whether a name is a valid artifact type.
pub fn is_artifact_type(name: &str) -> bool {
    (1..=ARTIFACT_TYPE_BYTES_MAX).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// Reads a list of globs, or a single glob.
fn read_globs(node: &YamlNode, path: &str, problems: &mut ProblemList) -> Vec<String> {
    let items = match &node.value {
        YamlValue::List(items) => items,
        YamlValue::Text(_) => std::slice::from_ref(node),
        YamlValue::Null
        | YamlValue::Boolean(_)
        | YamlValue::Integer(_)
        | YamlValue::Number(_)
        | YamlValue::Mapping(_) => {
            let fault = format!("must be a list of globs, not {}", node.value.kind());
            problems.add_problem(path, node.line, &fault);
            return Vec::new();
        }
    };
    if items.is_empty() || items.len() > LIST_MAX {
        problems.add_problem(path, node.line, &format!("must have from 1 to {LIST_MAX} globs"));
    }
    let mut globs = Vec::new();
    for item in items {
        let Some(glob) = parse_text(item, path, problems) else { continue };
        match glob_fault(&glob) {
            Some(objection) => {
                problems.add_problem(path, item.line, &format!("`{glob}` {objection}"))
            }
            None => globs.push(glob),
        }
    }
    globs
}

fn glob_fault(glob: &str) -> Option<&'static str> {
    if glob.split('/').any(|part| part == "..") {
        return Some("must lie below the folder of `council.yaml`");
    }
    if glob.starts_with("./") || glob.contains("//") || glob.contains('\\') || glob != glob.trim() {
        return Some("would fit nothing: write it like `posts/*.md`");
    }
    if glob.starts_with(['!', '#']) {
        return Some("must not begin with `!` or `#`");
    }
    let mut builder = GitignoreBuilder::new("");
    let is_glob = builder.add_line(None, glob).and_then(|builder| builder.build()).is_ok();
    (!is_glob).then_some("is not a glob")
}
