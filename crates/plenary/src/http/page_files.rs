//! The files of the page, embedded in the program and served with their type and digest.

use std::sync::LazyLock;

use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use plenary_core::model::hash::sha256_hex;

use crate::http::answer::{ApiProblem, EntityTag};

/// A file of the page.
#[derive(Debug)]
pub(crate) struct PageFile {
    /// The path below `web/`.
    pub name: &'static str,
    content: &'static [u8],
}

/// Lists files below `web/`.
macro_rules! page_files {
    ($($name:literal),+ $(,)?) => {
        &[$(PageFile {
            name: $name,
            content: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/", $name)),
        }),+]
    };
}

/// Every file that a browser may fetch. A test compares the list with the folder.
static PAGE_FILES: &[PageFile] = page_files![
    "api.js",
    "app.js",
    "connection.js",
    "format.js",
    "graph_layout.js",
    "host.js",
    "icon.svg",
    "index.html",
    "live.js",
    "parts/badges.js",
    "parts/charts.js",
    "parts/entities.js",
    "parts/entity_badge.js",
    "parts/highlight.js",
    "parts/markdown.js",
    "parts/notices.js",
    "parts/sentences.js",
    "parts/stream_text.js",
    "parts/windowed.js",
    "parts/word_diff.js",
    "record_views.js",
    "router.js",
    "routes.js",
    "run_state.js",
    "screens/calls.js",
    "screens/dialogue.js",
    "screens/due.js",
    "screens/ethos.js",
    "screens/graph.js",
    "screens/intervene.js",
    "screens/list.js",
    "screens/outcome.js",
    "screens/record.js",
    "screens/report.js",
    "screens/result.js",
    "screens/review_result.js",
    "screens/reviews.js",
    "screens/run.js",
    "screens/scores.js",
    "screens/source.js",
    "screens/start.js",
    "screens/tensions.js",
    "screens/transcript.js",
    "screens/verdicts.js",
    "style/base.css",
    "style/parts.css",
    "style/screens.css",
    "vendor/dagre.js",
    "vendor/lit-html.js",
];

/// Digests of the files, in the same order.
static DIGESTS: LazyLock<Vec<String>> =
    LazyLock::new(|| PAGE_FILES.iter().map(|file| sha256_hex([file.content])).collect());

/// The file at a path of the server; `/` is `index.html`.
pub(crate) fn find_page_file(path: &str) -> Option<&'static PageFile> {
    let name = path.strip_prefix('/')?;
    let name = if name.is_empty() { "index.html" } else { name };
    PAGE_FILES.iter().find(|file| file.name == name)
}

/// Answers with a file of the page, or says that there is none.
pub(crate) async fn serve_page_file(request: Request) -> Response {
    let Some(place) = find_page_file(request.uri().path())
        .and_then(|file| PAGE_FILES.iter().position(|one| one.name == file.name))
    else {
        return not_found().into_response();
    };
    let (Some(file), Some(digest)) = (PAGE_FILES.get(place), DIGESTS.get(place)) else {
        return not_found().into_response();
    };
    let tag = EntityTag::new(digest, "");
    if let Some(unchanged) = tag.unchanged(request.headers()) {
        return unchanged;
    }
    let kind = HeaderValue::from_static(content_type(file.name));
    tag.mark((StatusCode::OK, [(header::CONTENT_TYPE, kind)], file.content).into_response())
}

fn not_found() -> ApiProblem {
    ApiProblem::new(
        StatusCode::NOT_FOUND,
        "route_not_found",
        "there is nothing at this address",
        "`/api/openapi.json` lists the routes",
    )
}

/// The type of a file by its ending.
fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        _ => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::*;

    const WEB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web");

    /// Files for people and checkers that no browser fetches.
    fn is_served(path: &Path) -> bool {
        let name = path.file_name().unwrap().to_str().unwrap();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        ["html", "js", "css", "svg"].contains(&ending) && !name.ends_with(".test.js")
    }

    fn list_files(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { list_files(&path, found) } else { found.push(path) }
        }
    }

    #[test]
    fn every_file_of_the_page_is_served() {
        let mut found = Vec::new();
        list_files(Path::new(WEB), &mut found);
        let is_wanted = |path: &&PathBuf| is_served(path);
        let wanted: BTreeSet<String> = found
            .iter()
            .filter(is_wanted)
            .map(|path| path.strip_prefix(WEB).unwrap().to_str().unwrap().to_owned())
            .collect();
        let served: BTreeSet<String> = PAGE_FILES.iter().map(|file| file.name.to_owned()).collect();
        assert_eq!(served, wanted, "list the files of web/ in `PAGE_FILES`");
    }

    #[test]
    fn a_path_outside_the_list_is_no_file() {
        for path in ["", "//", "/../Cargo.toml", "/index.html/", "/INDEX.HTML", "/%69ndex.html"] {
            assert!(find_page_file(path).is_none(), "{path}");
        }
        assert_eq!(find_page_file("/").unwrap().name, "index.html");
    }
}
