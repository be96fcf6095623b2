//! `review`: reviews documents and exits with the verdict.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::super::session::{CliSession, ExitStatus};
use super::judging::review_inputs;
use super::options::ReviewCommonArgs;
use crate::config::TierClassifier;
use crate::domain::gate::ReviewTier;
use crate::error::Error;
use crate::hosting::{ReviewInput, ReviewOverrides};
use crate::surfaces::cli::runs::value_parsers;

/// Put documents before the gate: SHIP, REVISE or HOLD
///
/// Four deliberators judge a document alone (the skeptic, voice and identity, evidence,
/// strategy), judge it again with the others' judgements at hand, and an adjudicator merges
/// them; the policy counts blocks all the same. Each verdict goes into the verdict log, and
/// the last ones on the same type sharpen the next.
///
/// `tier_rules` in council.yaml say which files are judged: tier 1 always, tier 2 never,
/// tier 3 one in five. Without rules whatever is named is judged.
///
/// Exits with 0 for SHIP and what is skipped, 1 for REVISE, 2 for HOLD, 3 when nothing could
/// be decided; of several files, the greatest.
///
///   plenary review --rehearse posts/launch.md
///   plenary review --format github -- docs/*.md     # docs/reviews.md has a workflow and a hook
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ReviewArgs {
    /// The documents; `-` is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Take them for this tier, whatever the rules say.
    #[arg(long, value_name = "1|2|3", value_parser = tier_parser())]
    tier: Option<ReviewTier>,
    /// Take them for this type, whatever the rules say.
    #[arg(long = "type", value_name = "TYPE", value_parser = value_parsers::artifact_type)]
    artifact_type: Option<String>,
    /// Judge them whatever their tier, and though they hold what looks like a key.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    options: ReviewCommonArgs,
}

fn tier_parser() -> impl TypedValueParser<Value = ReviewTier> {
    PossibleValuesParser::new(["1", "2", "3"]).try_map(|number| {
        let number: u8 = number.parse().map_err(|_| format!("`{number}` is no tier"))?;
        ReviewTier::try_from(number)
    })
}

impl ReviewArgs {
    pub(crate) fn run(mut self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        self.find_files();
        if self.files.is_empty() {
            // Nothing was reviewed, so a pipeline must not get exit code 0.
            return Err(Error::Usage("there is nothing to review: name files".to_owned()));
        }
        let format = self.options.output_format(session);
        let rehearsal = self.options.parse_rehearsal()?;
        let sorting = self.options.triage_settings(session)?;
        let rules = TierClassifier::new(sorting.tier_rules.as_deref());
        if rules.has_rules() && self.lacks_classification() {
            let message = "standard input has no path that a rule could fit: say `--type`, `--tier` or `--force`";
            return Err(Error::Usage(message.to_owned()));
        }
        let overrides = ReviewOverrides {
            tier: self.tier,
            artifact_type: self.artifact_type,
            producer: self.options.producer.clone(),
            force: self.force,
        };
        let inputs: Vec<ReviewInput> = self
            .files
            .iter()
            .map(|path| ReviewInput::from_path(path, &overrides, &sorting, &rules))
            .collect();
        // If all files are skipped, no provider is needed.
        let is_asking = inputs.iter().any(|input| matches!(input, ReviewInput::Artifact(_)));
        let settings =
            if is_asking { self.options.run_settings(session, &rehearsal)? } else { sorting };
        review_inputs(session, &settings, &rehearsal, inputs, format)
    }

    pub(crate) fn wants_json(&self) -> bool {
        self.options.wants_json()
    }

    /// Whether standard input is reviewed without type, tier or `--force`. No rule can match it, so
    /// it would be skipped silently.
    fn lacks_classification(&self) -> bool {
        let is_claimed = self.force || self.tier.is_some() || self.artifact_type.is_some();
        !is_claimed && self.files.iter().any(|file| file == Path::new("-"))
    }

    /// Recovers the document in `review --rehearse post.md`, where clap parses it as the script.
    fn find_files(&mut self) {
        let path = match self.files.is_empty() {
            true => self.options.take_script(),
            false => self.options.take_non_script(),
        };
        self.files.splice(0..0, path);
    }
}
