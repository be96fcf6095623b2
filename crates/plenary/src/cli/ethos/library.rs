//! `ethos principle`, `domain`, `tenet` and `lens`, `deprecate`, and the files of the library.

use std::path::PathBuf;

use clap::Args;
use plenary_core::ethos::library::EthosLibrary;
use plenary_core::ethos::requests::EthosOp;
use plenary_core::report::ethos_page::{domain_page, library_page};
use plenary_core::report::safe_text::safe_line;
use plenary_engine::app::ethos_files::{FilesWritten, write_library, write_views};
use plenary_engine::error::Error;
use plenary_engine::files::read_write::read_request_text;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::cli::commands::commands;
use crate::cli::dialogue::command::DataArgs;
use crate::cli::ethos::command::{EthosAnswer, page_text};
use crate::cli::session::{CliSession, ExitStatus};

commands! {
    /// Add, list or deprecate principles, which always hold
    ///
    /// A principle takes part in the ethos of every calibrated dialogue.
    ///
    /// $ plenary ethos principle list
    pub(crate) enum PrincipleCommand {
        Add(PrincipleAddArgs),
        List(PrincipleListArgs),
        Deprecate(DeprecateArgs),
    }
}

commands! {
    /// Add, show or list domains, the fields of work
    ///
    /// A domain has tenets and lenses, and inherits the tenets of its parents.
    ///
    /// $ plenary ethos domain show FID
    pub(crate) enum DomainCommand {
        Add(DomainAddArgs),
        Show(DomainShowArgs),
        List(DomainListArgs),
    }
}

commands! {
    /// Add or list tenets, which hold in a domain
    ///
    /// Where two tenets are in conflict, the higher priority wins.
    ///
    /// $ plenary ethos tenet list FID
    pub(crate) enum TenetCommand {
        Add(TenetAddArgs),
        List(TenetListArgs),
    }
}

commands! {
    /// Add a lens, a selection of a domain's tenets
    ///
    /// `ethos synthesize --domain DOMAIN:LENS` uses it.
    ///
    /// $ plenary ethos lens add FID "Urgent" --exclude FID-TN05
    pub(crate) enum LensCommand {
        Add(LensAddArgs),
    }
}

/// Add a principle
///
/// It takes part in every ethos that is synthesized from now on.
///
/// $ plenary ethos principle add "Cite" --text "Every figure names its source."
#[derive(Debug, Args, Serialize)]
pub(crate) struct PrincipleAddArgs {
    /// A few words
    label: Option<String>,
    /// What the principle asks for
    #[arg(long = "text", value_name = "TEXT")]
    description: Option<String>,
    /// Why it holds
    #[arg(long, value_name = "TEXT")]
    rationale: Option<String>,
    /// Its rank [default: 100]
    #[arg(long, value_name = "N")]
    priority: Option<i64>,
    #[command(flatten)]
    #[serde(skip)]
    data: DataArgs,
}

impl PrincipleAddArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self.data.with_options(&self)?;
        EthosAnswer::run(session, EthosOp::PrincipleAdd, &arguments)?.print_added(session)
    }
}

/// Add a domain
///
/// Its tenets get ids from the code: `FID-TN01`. It inherits the tenets of its parents.
///
/// $ plenary ethos domain add fiduciary FID --label "Fiduciary Investment"
#[derive(Debug, Args, Serialize)]
pub(crate) struct DomainAddArgs {
    /// Lower-case letters, digits and `-`
    slug: Option<String>,
    /// Three capitals
    code: Option<String>,
    /// A few words
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// What the domain is about
    #[arg(long = "text", value_name = "TEXT")]
    description: Option<String>,
    /// A domain to inherit from; repeatable
    #[arg(long = "parent", value_name = "DOMAIN")]
    parent_domains: Vec<String>,
    #[command(flatten)]
    #[serde(skip)]
    data: DataArgs,
}

impl DomainAddArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self.data.with_options(&self)?;
        EthosAnswer::run(session, EthosOp::DomainAdd, &arguments)?.print_added(session)
    }
}

/// Add a tenet to a domain
///
/// It also holds in the domains that inherit from this one.
///
/// $ plenary ethos tenet add FID "Income" --text "Before growth." --priority 900
#[derive(Debug, Args, Serialize)]
pub(crate) struct TenetAddArgs {
    /// The slug or code of the domain
    domain: Option<String>,
    /// A few words
    label: Option<String>,
    /// What the tenet asks for
    #[arg(long = "text", value_name = "TEXT")]
    description: Option<String>,
    /// Why it holds
    #[arg(long, value_name = "TEXT")]
    rationale: Option<String>,
    /// Its rank; the higher one wins [default: 100]
    #[arg(long, value_name = "N")]
    priority: Option<i64>,
    #[command(flatten)]
    #[serde(skip)]
    data: DataArgs,
}

impl TenetAddArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self.data.with_options(&self)?;
        EthosAnswer::run(session, EthosOp::TenetAdd, &arguments)?.print_added(session)
    }
}

/// Add a lens to a domain
///
/// A lens keeps the included tenets, removes the excluded ones and changes priorities, in that order.
///
/// $ plenary ethos lens add FID "Urgent" --exclude FID-TN05 --priority FID-TN04=950
#[derive(Debug, Args)]
pub(crate) struct LensAddArgs {
    /// The slug or code of the domain
    domain: Option<String>,
    /// A few words
    label: Option<String>,
    /// Keep only these tenets; repeatable [default: all]
    #[arg(long = "include", value_name = "TENET")]
    include: Vec<String>,
    /// Remove this tenet; repeatable
    #[arg(long = "exclude", value_name = "TENET")]
    exclude: Vec<String>,
    /// Change the priority of a tenet; repeatable
    #[arg(long = "priority", value_name = "TENET=N", value_parser = parse_priority)]
    priorities: Vec<(String, i64)>,
    #[command(flatten)]
    data: DataArgs,
}

fn parse_priority(text: &str) -> Result<(String, i64), String> {
    let (tenet, number) = text.split_once('=').ok_or("write TENET=N")?;
    let number = number.parse().map_err(|_| "the priority is no whole number")?;
    Ok((tenet.to_owned(), number))
}

impl LensAddArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let options = json!({
            "domain": self.domain, "label": self.label,
            "include_tenets": self.include, "exclude_tenets": self.exclude,
        });
        let arguments = self.data.with_options(&options)?;
        let arguments = arguments.add_entries("priority_overrides", self.priorities);
        EthosAnswer::run(session, EthosOp::LensAdd, &arguments)?.print_added(session)
    }
}

/// Deprecate an item; its id is never used again
///
/// An ethos that is approved keeps its rules. The next synthesis leaves the item out.
///
/// $ plenary ethos deprecate FID-TN03 --why "the limit is law now"
#[derive(Debug, Args)]
pub(crate) struct DeprecateArgs {
    /// The id of a principle, domain, tenet or lens
    id: Option<String>,
    /// Why it no longer applies
    #[arg(long = "why", value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl DeprecateArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments =
            self.data.arguments()?.set_field("id", self.id).set_field("reason", self.reason);
        EthosAnswer::run(session, EthosOp::Deprecate, &arguments)?.print(session, |document| {
            let id = document.get("id").and_then(Value::as_str).unwrap_or_default();
            format!("Deprecated {}\n", safe_line(id))
        })
    }
}

/// Prints one list of the overview.
fn print_list(
    session: &CliSession<'_>,
    key: &str,
    keep: impl FnOnce(EthosLibrary) -> EthosLibrary,
) -> Result<ExitStatus, Error> {
    let project = session.open_existing()?;
    let library = keep(project.store.load_library()?);
    let list = match key {
        "principles" => json!(library.principles),
        "domains" => json!(library.domains),
        _ => json!(library.tenets),
    };
    let document =
        Map::from_iter([("status".to_owned(), json!("success")), (key.to_owned(), list)]);
    session.ui.print_result(&document, |_| page_text(session, &library_page(&library, &[])))?;
    Ok(ExitStatus::Ok)
}

/// List the principles
///
/// Deprecated ones are listed too, because their ids are never used again.
///
/// $ plenary ethos principle list --json
#[derive(Debug, Args)]
pub(crate) struct PrincipleListArgs {}

impl PrincipleListArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let keep = |library: EthosLibrary| EthosLibrary {
            principles: library.principles,
            ..EthosLibrary::default()
        };
        print_list(session, "principles", keep)
    }
}

/// List the domains
///
/// Each with its own tenets and lenses.
///
/// $ plenary ethos domain list
#[derive(Debug, Args)]
pub(crate) struct DomainListArgs {}

impl DomainListArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let keep = |library: EthosLibrary| EthosLibrary { principles: Vec::new(), ..library };
        print_list(session, "domains", keep)
    }
}

/// List the tenets
///
/// Of all domains, or of one.
///
/// $ plenary ethos tenet list FID
#[derive(Debug, Args)]
pub(crate) struct TenetListArgs {
    /// Only the tenets of this domain, by slug or code
    domain: Option<String>,
}

impl TenetListArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        if let Some(domain) = &self.domain {
            let library = session.open_existing()?.store.load_library()?;
            library.require_domain(domain, "domain")?;
        }
        let keep = |mut library: EthosLibrary| {
            let wanted = self.domain.as_deref().and_then(|name| library.find_domain(name));
            if let Some(slug) = wanted.map(|domain| domain.slug.clone()) {
                library.domains.retain(|domain| domain.slug == slug);
                library.tenets.retain(|tenet| tenet.domain == slug);
            }
            library.principles.clear();
            library
        };
        print_list(session, "tenets", keep)
    }
}

/// Show a domain with the tenets it inherits
///
/// Inherited tenets come from the active domains above it.
///
/// $ plenary ethos domain show fiduciary-investment
#[derive(Debug, Args)]
pub(crate) struct DomainShowArgs {
    /// The slug or code of the domain
    domain: String,
}

impl DomainShowArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let library = session.open_existing()?.store.load_library()?;
        let domain = library.require_domain(&self.domain, "domain")?;
        let page = domain_page(&library, domain)?;
        let own = library.tenets.iter().filter(|tenet| tenet.domain == domain.slug);
        let lenses = library.lenses.iter().filter(|lens| lens.domain == domain.slug);
        let inherited = library.inherited_tenets(&domain.slug)?;
        let inherited = inherited.into_iter().filter(|tenet| tenet.domain != domain.slug);
        let mut document = json!(domain);
        if let Value::Object(map) = &mut document {
            map.insert("item_status".to_owned(), json!(domain.status));
            map.insert("status".to_owned(), json!("success"));
            map.insert("tenets".to_owned(), json!(own.collect::<Vec<_>>()));
            map.insert("lenses".to_owned(), json!(lenses.collect::<Vec<_>>()));
            map.insert("inherited_tenets".to_owned(), json!(inherited.collect::<Vec<_>>()));
        }
        session.ui.print_result(&document, |_| page_text(session, &page))?;
        Ok(ExitStatus::Ok)
    }
}

/// Import principles, domains, tenets and lenses
///
/// The file is YAML or JSON. Items that are there already stay; an id with another content is
/// refused, and then nothing is added.
///
/// $ plenary ethos import ethos.yaml
#[derive(Debug, Args)]
pub(crate) struct ImportLibraryArgs {
    /// The file; `-` reads standard input
    #[arg(value_name = "FILE|-")]
    file: Option<PathBuf>,
    #[command(flatten)]
    data: DataArgs,
}

impl ImportLibraryArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let text = self.file.as_deref().map(read_request_text).transpose()?;
        let arguments = self.data.arguments()?.set_field("document", text);
        let answer = EthosAnswer::run(session, EthosOp::Import, &arguments)?;
        answer.print(session, |counts| {
            let count = |name: &str| counts.get(name).and_then(Value::as_u64).unwrap_or(0);
            let names = [
                ("principle", "principles"),
                ("domain", "domains"),
                ("tenet", "tenets"),
                ("lens", "lenses"),
            ];
            let added = names.map(|(one, many)| match count(many) {
                1 => format!("1 {one}"),
                number => format!("{number} {many}"),
            });
            format!("Added {}; {} unchanged\n", added.join(", "), count("unchanged"))
        })
    }
}

/// Export principles, domains, tenets and lenses
///
/// `ethos import` reads the file, in this store or another.
///
/// $ plenary ethos export ethos.yaml
#[derive(Debug, Args)]
pub(crate) struct ExportLibraryArgs {
    /// The YAML file to write [default: print the document]
    #[arg(value_name = "FILE.yaml")]
    file: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl ExportLibraryArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        if let Some(file) = &self.file {
            let written = write_library(&session.open_existing()?, file)?;
            return print_files(session, &written);
        }
        let answer = EthosAnswer::run(session, EthosOp::Export, &self.data.arguments()?)?;
        answer.print(session, |document| {
            let document = document.get("document").unwrap_or(&Value::Null);
            safe_block(&serde_json::to_string_pretty(document).unwrap_or_default())
        })
    }
}

/// A text of several lines, safe for a terminal.
fn safe_block(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", safe_line(line))).collect()
}

/// Write Markdown views of library and ethos
///
/// The same record gives the same bytes, so the files can be kept under version control.
///
/// $ plenary ethos write docs/ethos
#[derive(Debug, Args)]
pub(crate) struct WriteViewsArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    folder: String,
}

impl WriteViewsArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        print_files(session, &write_views(&session.open_existing()?, &self.folder)?)
    }
}

fn print_files(session: &CliSession<'_>, written: &FilesWritten) -> Result<ExitStatus, Error> {
    session.ui.print_result(written, |written| {
        written.files.iter().map(|file| format!("Wrote {}\n", safe_line(file))).collect()
    })?;
    Ok(ExitStatus::Ok)
}
