//! Queries across dialogues: ten times the dialogues must take hardly more time.

use plenary::ambient::{Ambient, Machine};
use plenary::domain::change::{Change, EntryKind, NewEntity};
use plenary::domain::dialogue::{Opening, Protocol};
use plenary::domain::expert::{Profile, Source, Tier};
use plenary::domain::ids::{DialogueId, EntityKind, ExpertSlug, LocalId, entity_id};
use plenary::error::Error;
use plenary::operations::{self, Project};
use plenary::store::transact;
use serde_json::{Value, json};

use crate::Sizes;
use crate::generated_data::{EXPERTS, Place, Writer};
use crate::measure::{Outcome, Row, Samples, time};

const LARGER: u32 = 10;
const ALLOWED: f64 = 1.5;

/// Dialogues per transaction.
const TOGETHER: usize = 250;

/// Panel size, rounds, and entities per round of each dialogue.
const PANEL: usize = 4;
const ROUNDS: u8 = 2;
const SAID: [(EntityKind, u8); 3] =
    [(EntityKind::Perspective, 4), (EntityKind::Tension, 2), (EntityKind::Claim, 2)];

type Question = fn(&Project, &Value) -> Result<(), Error>;

pub(crate) fn measure(sizes: Sizes) -> Outcome<Vec<Row>> {
    let (small, large) = (filled(sizes.stored)?, filled(sizes.stored * LARGER)?);
    let mut writer = Writer::new();
    let mut rows = Vec::new();
    for (work, arguments, ask) in questions(sizes.stored) {
        let mut samples = Samples::default();
        for _ in 0..sizes.repeats * 3 {
            let arguments = arguments(&mut writer);
            // Warm the page cache first: the query is measured, not the disk.
            ask(&large.project, &arguments)?;
            ask(&small.project, &arguments)?;
            let measured = time(|| ask(&large.project, &arguments))?;
            let limit = time(|| ask(&small.project, &arguments))?;
            samples.add(measured, limit);
        }
        let work = format!("{work}, {} dialogues", sizes.stored * LARGER);
        rows.push(samples.row(work, "with a tenth of them", ALLOWED));
    }
    Ok(rows)
}

type Arguments = Box<dyn Fn(&mut Writer) -> Value>;

fn questions(stored: u32) -> [(&'static str, Arguments, Question); 3] {
    // Every dialogue of the small store is in the large one too.
    let any = move |writer: &mut Writer| dialogue_name(writer.below(stored as usize));
    [
        ("list (a page)", Box::new(move |writer| json!({ "after": any(writer) })), |at, wanted| {
            operations::list(at, wanted).map(drop)
        }),
        ("similar", Box::new(|writer| json!({ "query": query(writer) })), |at, wanted| {
            operations::similar(at, wanted).map(drop)
        }),
        (
            "progress",
            Box::new(move |writer| json!({ "dialogue_id": any(writer) })),
            |at, wanted| operations::progress(at, wanted).map(drop),
        ),
    ]
}

fn dialogue_name(number: usize) -> String {
    format!("dialogue-{number}")
}

fn query(writer: &mut Writer) -> String {
    let words: Vec<String> = (0..2 + writer.below(3)).map(|_| writer.middling_word()).collect();
    words.join(" ")
}

/// Creates a store with this many dialogues.
fn filled(dialogues: u32) -> Outcome<Place> {
    let (place, mut writer) = (Place::new()?, Writer::new());
    let numbers: Vec<usize> = (0..dialogues as usize).collect();
    for together in numbers.chunks(TOGETHER) {
        transact(place.project.store.as_ref(), |unit| -> Outcome<()> {
            for number in together {
                let id: DialogueId = dialogue_name(*number).parse().map_err(|_| "no id")?;
                let opening = opening(&id, &mut writer)?;
                unit.apply(&id, EntryKind::DialogueCreated, Machine.now(), &opening)?;
                for round in 0..ROUNDS {
                    let held = round_held(round, &mut writer)?;
                    unit.apply(&id, EntryKind::RoundRegistered, Machine.now(), &held)?;
                }
            }
            Ok(())
        })?;
    }
    Ok(place)
}

fn expert(place: usize) -> Outcome<ExpertSlug> {
    let name = EXPERTS.get(place % PANEL).copied().unwrap_or_default();
    name.parse().map_err(|_| "no expert".into())
}

fn opening(id: &DialogueId, writer: &mut Writer) -> Outcome<Vec<Change>> {
    let mut changes = vec![Change::DialogueOpened(Opening {
        dialogue_id: id.clone(),
        title: writer.words(6),
        question: Some(writer.words(20)),
        background: None,
        protocol: Protocol::Alignment,
        rehearsal: false,
        convergence_percent: 100,
        panel_seed: None,
        output_dir: format!("dialogues/{id}"),
    })];
    for place in 0..PANEL {
        changes.push(Change::ExpertAdded(Profile {
            first_round: Some(0),
            ..Profile::new(expert(place)?, writer.words(2), Tier::Core, Source::Pool)
        }));
    }
    Ok(changes)
}

fn round_held(round: u8, writer: &mut Writer) -> Outcome<Vec<Change>> {
    let (title, summary) = (Some(writer.words(5)), Some(writer.words(40)));
    let mut changes = vec![Change::RoundHeld { round, title, score: 40, summary }];
    for place in 0..PANEL {
        changes.push(Change::ScoreGiven { round, expert: expert(place)?, score: 10 });
    }
    for (kind, count) in SAID {
        for seq in 1..=count {
            let expert = expert(usize::from(seq))?;
            changes.push(Change::EntityAdded(NewEntity {
                id: entity_id(kind, round, usize::from(seq)).ok_or("no id")?,
                local_id: LocalId { expert: expert.clone(), kind, round, seq },
                label: writer.words(6),
                text: writer.words(40),
                contributors: vec![expert],
                parameters: None,
                references: Vec::new(),
            }));
        }
    }
    Ok(changes)
}
