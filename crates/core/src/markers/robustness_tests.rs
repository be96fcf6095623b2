//! Property tests: any text is parsed without panic or invention; a well-formed reply round-trips.

use std::path::Path;

use proptest::prelude::*;

use crate::markers::batch::{RawReplies, build_round_batch, check_across_replies};
use crate::markers::extract::extract_reply;
use crate::markers::extraction::{
    EntityContribution, MarkedReference, MarkerContent, MoveContribution, ReplyExtraction,
};
use crate::model::entity::{MoveType, ReferenceType};
use crate::model::ids::{EntityId, EntityKind, EntityTarget, ExpertSlug, LocalId};

fn own() -> ExpertSlug {
    "ops_lead-2".parse().unwrap()
}

/// Number of generated cases: few in `./check`, many in `./check long`.
fn cases(few: u32, often: u32) -> ProptestConfig {
    #[expect(clippy::disallowed_methods, reason = "a test asks how patient it may be")]
    let is_long = std::env::var_os("PLENARY_CHECK_LONG").is_some();
    let cases = if is_long { often } else { few };
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

/// Fragments of markers, Markdown and typical mistakes.
const PIECES: [&str; 64] = [
    "[",
    "]",
    "［",
    "】",
    "\\",
    "*",
    "**",
    "_",
    "`",
    "``",
    "```",
    "~~~",
    "\n",
    "\n\n",
    "\r\n",
    " ",
    "    ",
    "\t",
    "- ",
    "1. ",
    "> ",
    "# ",
    "### ",
    ": ",
    ":",
    "—",
    "-",
    "：",
    ",",
    "(",
    "{",
    "RE",
    "RE:",
    "MOVE:",
    "SUPPORT ",
    "refine ",
    "BRIDGE ",
    "REQUEST ",
    "CONVERGE",
    "DISSENT",
    "MINORITY VERDICT",
    "VERDICT:FINAL",
    "TENSION ",
    "OPS_LEAD-2-",
    "ops lead 2 ",
    "P0301",
    "P301",
    "E0302",
    "T0001",
    "t1",
    "C9999",
    "DONUT-R0101",
    "@donut",
    "@ops_lead-2",
    "label",
    "some words",
    "Ｒ",
    "\u{200b}",
    "\u{0}",
    "é",
    "日本",
    "🧁",
    "[OPS_LEAD-2-P0301: A]",
    "[RE:SUPPORT P0001]",
];

fn jumble() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..60)
        .prop_map(|pieces| pieces.concat())
}

/// Whether all characters of `said` occur in the text, in that order.
fn stands_in(text: &str, printed: &str) -> bool {
    let mut signs = text.chars();
    printed.split_whitespace().flat_map(str::chars).all(|sign| signs.any(|other| other == sign))
}

/// Asserts that the extraction contains only content of the text.
fn is_sound(text: &str, read: &ReplyExtraction) {
    let lines = text.split('\n').count();
    let mut ids: Vec<&LocalId> = Vec::new();
    for item in &read.contributions {
        assert!(stands_in(text, &item.text) || item.text == item.label, "{item:?}");
        assert!(!item.text.trim().is_empty() && !item.label.trim().is_empty(), "{item:?}");
        assert_eq!((&item.local_id.expert, item.local_id.round), (&read.expert, read.round));
        assert!(!ids.contains(&&item.local_id), "{item:?} is there twice");
        ids.push(&item.local_id);
        for MarkedReference { ref_type, target, .. } in &item.references {
            let kinds = ref_type.check_kinds(item.local_id.kind, target.entity_kind());
            assert!(kinds.is_ok(), "{item:?}");
        }
    }
    for line in read.markers.iter().map(|marker| marker.line) {
        assert!((1..=lines).contains(&line));
    }
    for line in read.warnings.iter().filter_map(|warning| warning.line) {
        assert!((1..=lines).contains(&line));
    }
    for made in &read.moves {
        assert!(made.targets.len() >= made.move_type.targets_min(), "{made:?}");
    }
}

proptest! {
    #![proptest_config(cases(400, 20_000))]

    #[test]
    fn any_text_is_read_to_its_end(text in any::<String>()) {
        is_sound(&text, &extract_reply(&text, &own(), 3));
    }

    #[test]
    fn any_jumble_of_markers_is_read_to_its_end(text in jumble()) {
        let mut read = [extract_reply(&text, &own(), 3)];
        is_sound(&text, &read[0]);
        check_across_replies(&mut read);
        prop_assert!(build_round_batch(3, &read, &RawReplies::new()).is_object());
    }
}

proptest! {
    #![proptest_config(cases(200, 5_000))]

    #[test]
    fn what_is_written_well_comes_back(reply in reply()) {
        let text = written(&reply);
        let read = extract_reply(&text, &reply.expert, reply.round);
        let without_lines = |read: &ReplyExtraction| {
            let mut items: Vec<EntityContribution> = read.contributions.clone();
            items.iter_mut().flat_map(|item| &mut item.references).for_each(|made| made.line = 0);
            let moves: Vec<MoveContribution> =
                read.moves.iter().map(|made| MoveContribution { line: 0, ..made.clone() }).collect();
            (items, moves)
        };
        prop_assert_eq!(without_lines(&read), without_lines(&reply), "{}", text);
        let is_empty = reply.contributions.is_empty() && reply.moves.is_empty();
        prop_assert_eq!(read.warnings.len(), usize::from(is_empty), "{}\n{:?}", text, read.warnings);
    }
}

/// Expert prose, mixed with characters that resemble markers.
fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "income", "4%", "R²", "(see", "above)", "T0001", "and", "18-34%", "*much*", "“so”", "日本",
        "é", "—", "a/b", "[1]", "MUFFIN", "P0001,", "RE", "x:",
    ]);
    prop::collection::vec(word, 0..6).prop_map(|words| {
        let words: String = words.iter().map(|word| format!("{word} ")).collect();
        format!("The {words}end.")
    })
}

fn label() -> impl Strategy<Value = String> {
    words().prop_map(|words| words.replace(['[', ']'], ""))
}

/// One or more paragraphs.
fn content() -> impl Strategy<Value = String> {
    prop::collection::vec(words(), 1..4).prop_map(|paragraphs| paragraphs.join("\n\n"))
}

fn target() -> impl Strategy<Value = EntityTarget> {
    let kind = prop::sample::select(EntityKind::ALL.to_vec());
    let global = (kind.clone(), 0u8..3, 1u8..100)
        .prop_map(|(kind, round, seq)| EntityTarget::Global(EntityId { kind, round, seq }));
    let local = (kind, 0u8..4, 1u8..100).prop_map(|(kind, round, seq)| {
        EntityTarget::Local(LocalId { expert: "donut".parse().unwrap(), kind, round, seq })
    });
    prop_oneof![global, local, Just(EntityTarget::Position("donut".parse().unwrap()))]
}

type Loose = (EntityKind, String, String, Vec<(ReferenceType, EntityTarget)>);

fn item() -> impl Strategy<Value = Loose> {
    let references =
        prop::collection::vec((prop::sample::select(ReferenceType::ALL.to_vec()), target()), 0..4);
    (prop::sample::select(EntityKind::ALL.to_vec()), label(), content(), references)
}

fn made_move() -> impl Strategy<Value = MoveContribution> {
    let targets = prop::collection::vec(target(), 2);
    let context = prop::option::of(words());
    (prop::sample::select(MoveType::ALL.to_vec()), targets, context, label()).prop_map(
        |(move_type, targets, context, topic)| MoveContribution {
            line: 0,
            move_type,
            targets: targets.into_iter().take(move_type.targets_min()).collect(),
            context: if move_type == MoveType::Request { Some(topic) } else { context },
        },
    )
}

/// A well-formed reply.
fn reply() -> impl Strategy<Value = ReplyExtraction> {
    let parts = (prop::collection::vec(item(), 0..8), prop::collection::vec(made_move(), 1..4));
    parts.prop_map(|(items, moves)| {
        let mut contributions: Vec<EntityContribution> = Vec::new();
        for (seq, (kind, label, text, references)) in (1..).zip(items) {
            let local_id = LocalId { expert: own(), kind, round: 3, seq };
            let mut sound: Vec<MarkedReference> = Vec::new();
            for (ref_type, target) in references {
                let is_valid = ref_type.check_kinds(kind, target.entity_kind()).is_ok();
                let reference = MarkedReference { ref_type, target, line: 0 };
                if is_valid && !sound.contains(&reference) {
                    sound.push(reference);
                }
            }
            // An entity may also reference the one before it.
            let before =
                contributions.last().map(|item| EntityTarget::Local(item.local_id.clone()));
            let ref_type = ReferenceType::Depend;
            sound.extend(before.map(|target| MarkedReference { ref_type, target, line: 0 }));
            contributions.push(EntityContribution { local_id, label, text, references: sound });
        }
        let mut converged = false;
        let is_new = |made: &MoveContribution| {
            let differ = made.targets.len() < 2 || made.targets[0] != made.targets[1];
            let again =
                made.move_type == MoveType::Converge && std::mem::replace(&mut converged, true);
            differ && !(made.move_type == MoveType::Converge && again)
        };
        let mut is_new = is_new;
        let moves = moves.into_iter().filter(|made| is_new(made)).collect();
        ReplyExtraction {
            expert: own(),
            round: 3,
            contributions,
            moves,
            verdicts: Vec::new(),
            markers: Vec::new(),
            warnings: Vec::new(),
        }
    })
}

/// Renders the reply in exact notation.
fn written(reply: &ReplyExtraction) -> String {
    let mut text = String::from("# Ops Lead (Round 3)\n\n");
    for made in &reply.moves {
        let topic = made.context.clone().filter(|_| made.move_type == MoveType::Request);
        let context = made.context.clone().filter(|_| made.move_type != MoveType::Request);
        let printed =
            MarkerContent::Move { move_type: made.move_type, targets: made.targets.clone(), topic };
        text.push_str(&format!("{printed}\n{}\n\n", context.unwrap_or_default()));
    }
    for item in &reply.contributions {
        let printed = MarkerContent::new_entity(item.local_id.clone(), item.label.clone());
        text.push_str(&format!("{printed}\n{}\n\n", item.text));
        for MarkedReference { ref_type, target, .. } in &item.references {
            let (ref_type, targets) = (*ref_type, vec![target.clone()]);
            let content =
                MarkerContent::Reference { ref_type, source: item.local_id.clone(), targets };
            text.push_str(&format!("{content}\n"));
        }
    }
    text
}

fn read(text: &str) -> ReplyExtraction {
    extract_reply(text, &"muffin".parse().unwrap(), 1)
}

/// Every string of the corpora.
#[expect(clippy::disallowed_methods, reason = "fixtures are files")]
fn corpora() -> Vec<String> {
    let root =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/fixtures/corpora");
    let files = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let texts = files.flat_map(|path| {
        let file = std::fs::read_to_string(path).unwrap();
        let texts = file.lines().map(|line| {
            let entry: serde_json::Value = serde_json::from_str(line).unwrap();
            entry["text"].as_str().unwrap().to_owned()
        });
        texts.collect::<Vec<_>>()
    });
    texts.collect()
}

#[test]
fn strings_of_the_corpora_are_kept_as_they_are() {
    let corpora = corpora();
    assert!(corpora.len() > 500, "found only {}", corpora.len());
    for text in corpora {
        assert_eq!(read(&text).contributions, [], "{text}");
        // The text is a paragraph of its own, so that its fences and brackets do not affect others.
        let before = read(&format!("[MUFFIN-P0101: A]\nbefore\n\n{text}"));
        assert_eq!(before.contributions.len(), 1, "{text}");
        let printed = &before.contributions[0].text;
        assert!(printed.starts_with("before"), "{printed}");
        let as_label = read(&format!("[MUFFIN-P0101: {text}]\nafter"));
        assert!(as_label.contributions.iter().all(|item| item.local_id.seq == 1), "{text}");
    }
}

/// Quadratic run time would make this test hang.
#[test]
fn a_long_text_of_any_one_thing_is_read() {
    let pieces = [
        "[",
        "]",
        "[]",
        "[a",
        "[RE:",
        "[RE:SUPPORT P0001 ",
        "[RE:SUPPORT P0001]",
        "[MOVE:REQUEST ",
        "[MOVE:DEFEND P0001]",
        "[MUFFIN-P0101: ",
        "[MUFFIN-P0101: a] ",
        "[MUFFIN-P0101] ",
        "`",
        "`` ` ",
        "[`",
        "* ",
        "> ",
        "- ",
        "\n- [",
        "**[",
        "\\[",
        "［",
        "[MUFFIN-",
        "[P0001 ",
        "[P0001,",
        "```\n",
        "~~~a\n",
        "# \n",
        "\n\n    ",
        "[DISSENT]",
        "[VERDICT:",
        "[RE:SUPPORT @",
        "[MUFFIN-P0101: a]\n[MUFFIN-P0102: ",
        "[RE:SUPPORT [",
        "[PERSPECTIVE ",
        "\u{200b}",
        "[\u{200b}",
        "[ ",
        "\n[MOVE:CONVERGE]\n# ",
        "[MUFFIN-P0101: a]\n---\n",
        "[MUFFIN-X0101: a]\n",
        "[MUFFIN-X",
        "`[RE:SUPPORT P0001]` ",
        "`[aa]` a\n",
        "MOVE:CONVERGE\n",
        "MUFFIN-P0101: a\n",
        "[MUFFIN-P0101: a] b [RE:SUPPORT P0001] ",
        "\n\n[RE:SUPPORT P0001]\n",
        "- ([MOVE:CONVERGE]) ",
        "{",
    ];
    for piece in pieces {
        let _ = read(&piece.repeat(100_000 / piece.len()));
    }
}

#[test]
fn limits_of_a_batch_are_kept() {
    let long = "word ".repeat(40_000);
    let cut = read(&format!("[MUFFIN-P0101: A]\n{long}"));
    assert_eq!(cut.contributions[0].text.chars().count(), 99_999);
    assert_eq!(cut.warnings[0].kind.name(), "cut");
    let moved = read(&format!("[MOVE:CONVERGE]\n{long}\n[MOVE:REQUEST {long}]"));
    let longest = moved.moves.iter().filter_map(|made| made.context.as_deref()).map(str::len).max();
    assert_eq!((moved.moves.len(), longest), (2, Some(99_999)));
    let label = read(&format!("[MUFFIN-P0101: {}]\na", "l".repeat(1_001)));
    assert_eq!((label.contributions.len(), label.warnings[1].kind.name()), (0, "not_read"));
    let many: String = (0..7_000).map(|_| "[MOVE:DEFEND P0001] a\n").collect();
    let many = read(&many);
    assert_eq!(many.moves.len(), 5_000);
    assert_eq!(many.warnings.len(), 1_001);
    assert_eq!(many.warnings[1_000].message, "there are 1000 further warnings");
    let references: String = (1..=90)
        .flat_map(|seq| {
            ["P", "R", "T", "E", "C", "@x"].map(|kind| match kind {
                "@x" => format!("[RE:SUPPORT @x{seq}]"),
                kind => format!("[RE:SUPPORT {kind}00{seq:02}]"),
            })
        })
        .collect();
    assert_eq!(
        read(&format!("[MUFFIN-P0101: A] a {references}")).contributions[0].references.len(),
        500
    );
}
