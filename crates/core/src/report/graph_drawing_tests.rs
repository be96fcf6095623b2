//! Which entities a drawing has, where they stand, and that their text stays text.

use super::*;
use crate::model::record::DialogueRecord;
use crate::report::graph::graph_document;
use crate::report::html::render_html;
use crate::report::page::PageModel;
use crate::report::sample::{entity, pointing, record};
use crate::report::source_sections::graph_section;

/// A graph of `SOURCE type TARGET` lines; each id is an entity.
fn graph_of(lines: &str) -> GraphDocument {
    let mut entities: BTreeMap<EntityId, crate::model::entity::Entity> = BTreeMap::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (source, made) = line.split_once(' ').unwrap_or((line, ""));
        let target = made.split(' ').nth(1);
        for id in [Some(source), target].into_iter().flatten() {
            let new = || entity(id, "ann", crate::model::lifecycle::EntityStatus::Open, id, id);
            entities.entry(id.parse().unwrap()).or_insert_with(new);
        }
        if !made.is_empty() {
            let known = entities.remove(&source.parse().unwrap()).unwrap();
            let mut more = known.references.clone();
            let mut changed = pointing(known, made);
            more.append(&mut changed.references);
            changed.references = more;
            entities.insert(changed.id, changed);
        }
    }
    let perspectives = entities.into_values().collect();
    let (recommendations, tensions, evidence, claims) = (vec![], vec![], vec![], vec![]);
    graph_document(&DialogueRecord {
        perspectives,
        recommendations,
        tensions,
        evidence,
        claims,
        ..record()
    })
}

#[track_caller]
fn check_part(lines: &str, first: &str, nodes_max: usize, expected: &str) {
    let first: Vec<EntityId> = first.split_whitespace().map(|id| id.parse().unwrap()).collect();
    let part = nearest_part(&graph_of(lines), &first, nodes_max);
    let ids: Vec<String> = part.nodes.iter().map(|node| node.id.to_string()).collect();
    assert_eq!(ids.join(" "), expected);
    for edge in &part.edges {
        assert!(ids.contains(&edge.source.to_string()) && ids.contains(&edge.target.to_string()));
    }
}

#[test]
fn a_part_begins_with_the_named_entities_and_grows_by_neighbours() {
    let chain = "P0101 support P0001
        P0201 support P0101
        P0301 support P0201
        P0302 support P0001
        P0303";
    check_part(chain, "P0301", 2, "P0201 P0301");
    check_part(chain, "P0301", 3, "P0101 P0201 P0301");
    // Without a name the entities with the most references come first.
    check_part(chain, "", 1, "P0001");
    check_part(chain, "P0303", 2, "P0001 P0303");
    check_part(chain, "P0301", 99, "P0001 P0101 P0201 P0301 P0302 P0303");
}

/// The corners of the boxes, by id.
fn corners(svg: &str) -> BTreeMap<String, (usize, usize)> {
    let number = |text: &str, name: &str| -> usize {
        let rest = text.split_once(&format!(" {name}=\"")).unwrap().1;
        rest.split('"').next().unwrap().parse().unwrap()
    };
    svg.split("<title>")
        .filter_map(|part| {
            let (id, rest) = part.split_once(": ")?;
            Some((id.to_owned(), (number(rest, "x"), number(rest, "y"))))
        })
        .collect()
}

#[test]
fn rounds_are_columns_from_left_to_right_and_no_two_boxes_touch() {
    let lines: String = (0..3)
        .flat_map(|round| (1..=20).map(move |seq| format!("P{round:02}{seq:02}\n")))
        .chain((1..=20).map(|seq| format!("P01{seq:02} support P00{:02}\n", 21 - seq)))
        .collect();
    let graph = graph_of(&lines);
    let svg = draw_graph(&graph, &BTreeSet::new());
    let places = corners(&svg);
    assert_eq!(places.len(), 60);
    for (id, (x, y)) in &places {
        for (other, (x2, y2)) in places.iter().filter(|(other, _)| *other != id) {
            let apart = x.abs_diff(*x2) >= BOX_WIDTH || y.abs_diff(*y2) >= BOX_HEIGHT;
            assert!(apart, "{id} {other}");
            assert!(id[..3] >= other[..3] || x < x2, "{id} {other}");
        }
    }
    // Twenty boxes of a round stand in two columns, of which the first has the title.
    assert_eq!(svg.matches("class=\"round\"").count(), 3);
    assert_eq!(svg.matches("<path class=\"edge for\"").count(), 20);
    assert_eq!(svg, draw_graph(&graph, &BTreeSet::new()));
}

#[test]
fn boxes_link_to_entries_and_hostile_labels_stay_text() {
    let text = "\"><script>alert(1)</script></svg><a href='javascript:x'>\u{202e}";
    let mut graph = graph_of("P0101 oppose P0001");
    for node in &mut graph.nodes {
        node.label = text.into();
    }
    let svg = draw_graph(&graph, &graph.nodes.iter().take(1).map(|node| node.id).collect());
    assert_eq!(svg.matches("<a class=\"node P\" href=\"#P0001\">").count(), 1);
    assert_eq!(svg.matches("<a ").count(), 1, "{svg}");
    assert_eq!(svg.matches("</svg>").count(), 1, "{svg}");
    assert!(!svg.contains("<script") && !svg.contains('\u{202e}'), "{svg}");
    assert!(svg.contains("<path class=\"edge against\""), "{svg}");
    assert!(svg.contains("<title>P0101 oppose P0001</title>"), "{svg}");
}

#[test]
fn a_file_says_what_its_drawing_leaves_out() {
    let file = |record: &DialogueRecord| {
        let sections = graph_section(record).into_iter().collect();
        render_html(&PageModel { sections, ..PageModel::default() })
    };
    let small = file(&record());
    assert!(small.contains("role=\"group\" aria-labelledby=\"graph-title graph-about\""));
    assert!(!small.contains("The drawing has"), "{small}");
    let mut large = record();
    large.perspectives = (1..=2_u8)
        .flat_map(|round| (1..=99_u8).map(move |seq| format!("P{round:02}{seq:02}")))
        .map(|id| {
            let status = crate::model::lifecycle::EntityStatus::Open;
            pointing(entity(&id, "ann", status, &id, &id), "support P0101")
        })
        .collect();
    let entities = large.all_entities().count();
    let html = file(&large);
    assert!(html.contains(&format!("The drawing has 120 of {entities} entities")), "{html}");
    assert_eq!(html.matches("<g class=\"node").count(), 120);
}

#[test]
fn the_file_has_the_whole_graph_for_its_script_and_allows_only_that_script() {
    let hostile = "</script><script>alert(1)</script>";
    let mut result = record();
    result.perspectives[0].label = hostile.to_owned();
    let sections = vec![graph_section(&result).unwrap()];
    let html = render_html(&PageModel { sections, ..PageModel::default() });
    assert_eq!(html.matches("<script").count(), 2, "{html}");
    let data = html.split_once("id=\"graph-data\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["nodes"].as_array().unwrap().len(), result.all_entities().count());
    assert!(data["nodes"].to_string().contains("alert(1)"), "{data}");
    let script = html.rsplit_once("<script>").unwrap().1.split_once("</script>").unwrap().0;
    let hash = crate::report::html::hash_source(script);
    assert!(html.contains(&format!("script-src {hash}; ")), "{hash}");
    // A page without a graph has no script, and its policy allows none.
    let plain = render_html(&PageModel::default());
    assert!(!plain.contains("script"), "{plain}");
}
