//! Files of calibration: the library as YAML, and Markdown views of the library and of each ethos.
//!
//! The same record gives the same bytes.

use std::fs::File;
use std::io::Read;

use plenary_core::ethos::library_document::export_library;
use plenary_core::model::limits::PAGE_ITEMS_MAX;
use plenary_core::model::validation_error::ValidationError;
use plenary_core::report::ethos_page::{domain_page, ethos_page, library_page};
use plenary_core::report::markdown::render_markdown;
use serde::Serialize;
use serde_json::json;

use crate::app::project::Project;
use crate::config::yaml::json_to_yaml;
use crate::error::Error;
use crate::files::allowed_file::{AllowedFile, WritePermission};

/// First line of an exported library.
const YAML_HEAD: &str =
    "# Principles, domains, tenets and lenses; `plenary ethos import` reads this file.\n";

/// Facts near the top of each view, by which a view is recognised.
const VIEW_FACTS: [&str; 3] = ["| Ethos | `", "| Domain | `", "| Principles | "];

/// A view begins with its title and its facts.
const HEAD_BYTES: u64 = 4096;

/// Files that were written.
#[derive(Debug, Serialize)]
pub struct FilesWritten {
    pub status: &'static str,
    pub files: Vec<String>,
}

/// Writes the library as YAML.
pub fn write_library(project: &Project, path: &str) -> Result<FilesWritten, Error> {
    let document = json!(export_library(&project.store.load_library()?));
    let text = format!("{YAML_HEAD}{}", json_to_yaml(&document));
    let file = project.folders.check_file("path", path, WritePermission::Local)?;
    file.write_file(text.as_bytes(), &is_library_file)?;
    Ok(FilesWritten { status: "success", files: vec![file.path().display().to_string()] })
}

/// Writes a view of the library, of each domain and of each ethos into a folder.
pub fn write_views(project: &Project, folder: &str) -> Result<FilesWritten, Error> {
    let library = project.store.load_library()?;
    let known = project.store.list_ethos(PAGE_ITEMS_MAX)?;
    let mut views =
        vec![("library.md".to_owned(), render_markdown(&library_page(&library, &known)))];
    for domain in &library.domains {
        let page = domain_page(&library, domain)?;
        views.push((format!("domain-{}.md", domain.slug), render_markdown(&page)));
    }
    for summary in &known {
        let versions = project.store.load_calibration(&summary.dialogue_id)?.versions;
        let found = versions.iter().find(|ethos| ethos.ethos_id == summary.ethos_id);
        let views_of = found.map(|ethos| render_markdown(&ethos_page(ethos)));
        views.extend(views_of.map(|view| (format!("{}.md", summary.ethos_id), view)));
    }
    // Check all files first: if one may not be written, none is.
    let checked = views.into_iter().map(|(name, text)| {
        let path = format!("{}/{name}", folder.trim_end_matches('/'));
        Ok((project.folders.check_file("folder", &path, WritePermission::Local)?, text))
    });
    let checked: Vec<(AllowedFile, String)> = checked.collect::<Result<_, ValidationError>>()?;
    for (file, _) in &checked {
        file.check_writable(&is_view)?;
    }
    let mut files = Vec::new();
    for (file, text) in checked {
        file.write_file(text.as_bytes(), &is_view)?;
        files.push(file.path().display().to_string());
    }
    Ok(FilesWritten { status: "success", files })
}

fn is_library_file(file: &File) -> bool {
    read_head(file).is_some_and(|head| head.starts_with(YAML_HEAD))
}

fn is_view(file: &File) -> bool {
    let has_fact = |head: String| {
        head.lines().any(|line| VIEW_FACTS.iter().any(|fact| line.starts_with(fact)))
    };
    read_head(file).is_some_and(has_fact)
}

fn read_head(file: &File) -> Option<String> {
    let mut bytes = Vec::new();
    file.take(HEAD_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
