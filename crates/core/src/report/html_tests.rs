//! The HTML export: hostile text stays text, ids are anchors, the same record gives the same bytes.

use sha2::{Digest, Sha256};

use crate::model::record::DialogueRecord;
use crate::protocols::conclusion::sample::{all, filled_with};
use crate::report::html::{escape_html, render_html};
use crate::report::markdown::render_markdown;
use crate::report::page::{
    ColumnKind, ListItem, PageBlock, PageDetail, PageModel, PageScope, PageSection, PageTable,
    ReplyPassage, TableColumn, TableRow,
};
use crate::report::record_page::dialogue_page;
use crate::report::sample::record;
use crate::report::terminal::hostile_tests::{conclusion_pages, hostile_record, hostile_texts};

const HOSTILE: [&str; 5] = [
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "\" onmouseover=\"x\" ' javascript:alert(1) &#60;b&#62; &lt;i&gt;",
    "</title></style></main><!-- <base href=//e.vil>",
    "a\u{0}b \u{202e}desrever\u{202c} \u{200b}\u{feff}\u{1b}[31m",
    "]]> <![CDATA[ <svg/onload=alert(1)> <iframe srcdoc='<script>'>",
];

fn export(record: &DialogueRecord) -> String {
    render_html(&dialogue_page(record, None, PageScope::new(PageDetail::Export)))
}

/// A page with only these sections.
fn page_html(sections: Vec<PageSection>) -> String {
    render_html(&PageModel { sections, ..PageModel::default() })
}

/// The tags of a file, without their attributes and without our policy and style.
fn tag_names(html: &str) -> Vec<String> {
    let tags = html.split('<').skip(1).map(|rest| rest.split(['>', ' ', '\n']).next().unwrap());
    tags.map(str::to_owned).collect()
}

#[test]
fn hostile_text_adds_no_tag_and_no_attribute() {
    let long = "x".repeat(5_000);
    let plain = tag_names(&export(&hostile_record("plain")));
    for text in HOSTILE.iter().copied().chain([long.as_str()]) {
        let html = export(&hostile_record(text));
        assert_eq!(tag_names(&html), plain, "{text}");
        for attack in ["<script", "<img", "onerror=\"", "href=\"javascript", "<base", "<svg"] {
            assert!(!html.contains(attack), "{attack} of {text}");
        }
        let is_hidden =
            |c: char| c.is_control() && c != '\n' || "\u{202e}\u{200b}\u{feff}".contains(c);
        assert_eq!(html.chars().find(|c| is_hidden(*c)), None, "{text}");
    }
}

#[test]
fn hostile_text_of_a_run_adds_no_tag() {
    for state in all() {
        let plain =
            conclusion_pages(&filled_with(state.clone(), "plain"), "plain", PageDetail::Export);
        let plain: Vec<_> = plain.iter().map(|page| tag_names(&render_html(page))).collect();
        for text in HOSTILE {
            let pages =
                conclusion_pages(&filled_with(state.clone(), text), text, PageDetail::Export);
            for (page, plain) in pages.iter().zip(&plain) {
                let (tags, html) = (tag_names(&render_html(page)), render_html(page));
                // A comparison of words has as many marks as words changed.
                let ours = |tags: &[String]| -> Vec<String> {
                    tags.iter()
                        .filter(|tag| !tag.ends_with("ins") && !tag.ends_with("del"))
                        .cloned()
                        .collect()
                };
                assert_eq!(ours(&tags), ours(plain), "{text}\n{html}");
            }
        }
    }
}

#[test]
fn the_policy_allows_only_our_style() {
    let html = export(&record());
    let style = html.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    let digest: Vec<u8> = Sha256::digest(style.as_bytes()).to_vec();
    let policy = html.split_once("style-src 'sha256-").unwrap().1.split_once('\'').unwrap().0;
    assert_eq!(policy.len(), 44);
    assert_eq!(decode_base64(policy), digest);
    assert!(html.contains("content=\"default-src 'none'; "));
    for forbidden in ["<script", "style=\"", "http://", "https://", "<link", "@import", "url("] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
}

fn decode_base64(text: &str) -> Vec<u8> {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: String = text
        .chars()
        .filter_map(|letter| letters.find(letter))
        .map(|value| format!("{value:06b}"))
        .collect();
    let bytes = bits.as_bytes().chunks_exact(8);
    bytes.map(|bits| u8::from_str_radix(std::str::from_utf8(bits).unwrap(), 2).unwrap()).collect()
}

#[test]
fn ids_are_anchors_and_references_link_to_them() {
    let html = export(&record());
    for part in ["<article id=\"P0001\">", "href=\"#P0001\"", "href=\"#T0001\""] {
        assert!(html.contains(part), "no {part}");
    }
    for link in html.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert_eq!(html.matches(&format!("id=\"{link}\"")).count(), 1, "{link}");
    }
}

#[test]
fn a_screen_reader_finds_landmarks_headings_and_table_headers() {
    let html = export(&record());
    assert_eq!([html.matches("<main>").count(), html.matches("<h1 id=\"s0\">").count()], [1, 1]);
    assert!(html.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
    let labelled: Vec<&str> = html
        .split("aria-labelledby=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(
        labelled.len() > 5 && labelled.iter().all(|id| html.contains(&format!(" id=\"{id}\">")))
    );
    assert_eq!(
        html.matches("<table>").count(),
        html.matches("<thead><tr><th scope=\"col\"").count()
    );
    let levels: Vec<u8> = html
        .split("<h")
        .skip(1)
        .filter_map(|rest| rest.bytes().next())
        .filter(u8::is_ascii_digit)
        .map(|level| level - b'0')
        .collect();
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
}

#[test]
fn each_table_is_named_by_the_heading_above_it_and_has_no_empty_column() {
    let html = export(&record());
    assert!(!html.contains("aria-label=\"Table\""));
    let regions: Vec<&str> = html.split("<div class=\"table\" role=\"region\" ").skip(1).collect();
    assert_eq!(regions.len(), html.matches("<table>").count());
    for region in regions {
        let id = region.strip_prefix("aria-labelledby=\"").unwrap().split('"').next().unwrap();
        assert_eq!(html.matches(&format!(" id=\"{id}\">")).count(), 1, "{id}");
    }
    let column = |heading: &str| TableColumn::new(heading, ColumnKind::Short);
    let table = PageTable {
        columns: ["Seat", "Ratings", "Stance"].map(column).into(),
        rows: vec![TableRow::new(vec!["ann".into(), "".into(), "approve".into()])],
    };
    let html = page_html(vec![PageSection::new("Positions", vec![PageBlock::Table(table)])]);
    assert!(html.contains("<th scope=\"row\">ann</th><td>approve</td>"), "{html}");
    assert!(!html.contains("Ratings"), "{html}");
}

#[test]
fn entries_are_headings_and_steps_are_numbered_by_the_list() {
    let html = export(&record());
    assert!(html.contains("\n<h4><a class=\"id\" href=\"#P0001\">P0001</a> "), "{html}");
    let steps = |leads: [&str; 2]| {
        let items = leads.map(|lead| ListItem::new(lead, "Measure it")).into();
        page_html(vec![PageSection::new("Next", vec![PageBlock::List(items)])])
    };
    assert!(steps(["1.", "2."]).contains("<ol>\n<li>Measure it</li>\n"));
    assert!(steps(["1.", "3."]).contains("<ul>\n<li><b>1.</b> Measure it</li>\n"));
}

#[test]
fn a_long_page_begins_with_its_contents() {
    let sections = |count: usize| {
        let block = || vec![PageBlock::prose("text")];
        (1..=count).map(|place| PageSection::new(format!("Part {place}"), block())).collect()
    };
    assert!(!page_html(sections(6)).contains("<nav"));
    let html = page_html(sections(7));
    let contents = html.split_once("<nav aria-label=\"Contents\">").unwrap().1;
    let contents = contents.split_once("</nav>").unwrap().0;
    assert_eq!(contents.matches("<li><a href=\"#s").count(), 7);
    assert!(contents.contains("<a href=\"#s7\">Part 7</a>"), "{contents}");
    assert!(html.contains("<h2 id=\"s7\">Part 7</h2>"), "{html}");
}

#[test]
fn a_time_is_marked_and_has_no_fraction() {
    let html = export(&record());
    let opened = "<time datetime=\"2026-02-02T09:30:00.000000Z\">2026-02-02 09:30:00 UTC</time>";
    assert!(html.contains(&format!("<dt>Opened</dt><dd>{opened}</dd>")), "{html}");
}

#[test]
fn the_same_record_gives_the_same_bytes_in_every_format() {
    let page = || dialogue_page(&record(), None, PageScope::new(PageDetail::Export));
    assert_eq!(render_html(&page()), render_html(&page()));
    assert_eq!(render_markdown(&page()), render_markdown(&page()));
}

/// The words of a text without marks.
fn words(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric();
    text.split(|c: char| !is_word(c)).filter(|word| word.len() > 3).map(str::to_owned).collect()
}

#[test]
fn a_file_has_what_the_markdown_has() {
    let page = dialogue_page(&record(), None, PageScope::new(PageDetail::Export));
    let html = render_html(&page);
    let missing: Vec<String> =
        words(&render_markdown(&page)).into_iter().filter(|word| !html.contains(word)).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn a_field_links_to_its_source_and_the_passage_is_marked() {
    let part = "conclusion.recommendation";
    let passage = ReplyPassage {
        before: "{\"a\":\"<b>".to_owned(),
        passage: "Go & wait".to_owned(),
        after: "</b>\"}".to_owned(),
    };
    let links = [("Source", part.to_owned()), ("None", "conclusion.review_by".to_owned())];
    let html = page_html(vec![
        PageSection::new("Conclusion", vec![PageBlock::SourceLinks(links.to_vec())]),
        PageSection {
            source_of: Some(part.to_owned()),
            ..PageSection::new("Sources", vec![PageBlock::Passage(passage)])
        },
    ]);
    assert!(
        html.contains("<p><a href=\"#source-conclusion.recommendation\">Source</a></p>"),
        "{html}"
    );
    assert!(html.contains("<section id=\"source-conclusion.recommendation\""), "{html}");
    let marked = "{&quot;a&quot;:&quot;&lt;b&gt;<mark>Go &amp; wait</mark>&lt;/b&gt;&quot;}";
    assert!(html.contains(marked), "{html}");
    assert!(
        html.contains("<blockquote class=\"passage\" tabindex=\"0\">"),
        "keys scroll it: {html}"
    );
}

#[test]
fn every_text_is_escaped() {
    assert_eq!(escape_html("<a href='x'>\"&\u{0}"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;\\u{0}");
    for text in hostile_texts() {
        assert!(!export(&hostile_record(&text)).contains('\u{1b}'));
    }
}
