//! Queries across dialogues: ten times the dialogues must take hardly more time.

use plenary_core::model::dialogue::{
    DialogueOpening, ExpertProfile, ExpertSource, ExpertTier, ProtocolKind,
};
use plenary_core::model::ids::{DialogueId, EntityKind, ExpertSlug, LocalId, new_entity_id};
use plenary_core::model::journal::{JournalEntryKind, JournalEvent, NewEntity};
use plenary_engine::app::list_dialogues::list_dialogues;
use plenary_engine::app::project::Project;
use plenary_engine::app::queries::find_similar;
use plenary_engine::app::rounds::read_progress;
use plenary_engine::clock::{RealSystem, System};
use plenary_engine::error::Error;
use plenary_engine::store::traits::in_transaction;
use serde_json::{Value, json};

use crate::DataSizes;
use crate::generated_data::{BenchmarkProject, EXPERTS, TextGenerator};
use crate::measure::{BenchmarkResult, BenchmarkRow, SamplePairs, measure_time};

const GROWTH_FACTOR: u32 = 10;
const ALLOWED: f64 = 1.5;

/// Dialogues per transaction.
const DIALOGUES_PER_TRANSACTION: usize = 250;

/// Panel size, rounds, and entities per round of each dialogue.
const PANEL_SIZE: usize = 4;
const ROUNDS: u8 = 2;
const ENTITIES_PER_ROUND: [(EntityKind, u8); 3] =
    [(EntityKind::Perspective, 4), (EntityKind::Tension, 2), (EntityKind::Claim, 2)];

type QueryFunction = fn(&Project, &Value) -> Result<(), Error>;

pub(crate) fn measure_growth(sizes: DataSizes) -> BenchmarkResult<Vec<BenchmarkRow>> {
    let (small, spread) = fill_store(sizes.stored)?;
    let (large, _) = fill_store(sizes.stored * GROWTH_FACTOR)?;
    let mut writer = TextGenerator::new();
    let mut rows = Vec::new();
    for (work, arguments, ask) in list_queries(sizes.stored, spread) {
        let mut samples = SamplePairs::default();
        for _ in 0..sizes.repeats * 3 {
            let arguments = arguments(&mut writer);
            // Warm the page cache first: the query is measured, not the disk.
            ask(&large.project, &arguments)?;
            ask(&small.project, &arguments)?;
            let measured = measure_time(|| ask(&large.project, &arguments))?;
            let limit = measure_time(|| ask(&small.project, &arguments))?;
            samples.add_pair(measured, limit);
        }
        let work = format!("{work}, {} dialogues", sizes.stored * GROWTH_FACTOR);
        rows.push(samples.into_row(work, "with a tenth of them", ALLOWED));
    }
    Ok(rows)
}

type MakeArguments = Box<dyn Fn(&mut TextGenerator) -> Value>;

/// `spread` are queries of three words, each spread over title and question of one dialogue.
fn list_queries(
    stored: u32,
    spread: Vec<String>,
) -> [(&'static str, MakeArguments, QueryFunction); 4] {
    // Every dialogue of the small store is in the large one too.
    let any = move |writer: &mut TextGenerator| dialogue_name(writer.number_below(stored as usize));
    [
        ("list (a page)", Box::new(move |writer| json!({ "after": any(writer) })), |at, wanted| {
            list_dialogues(at, wanted).map(drop)
        }),
        ("similar", Box::new(|writer| json!({ "query": make_query(writer) })), |at, wanted| {
            find_similar(at, wanted).map(drop)
        }),
        (
            "similar, 3 words of title and question",
            Box::new(move |writer| {
                let place = writer.number_below(spread.len());
                json!({ "query": spread.get(place) })
            }),
            |at, wanted| find_similar(at, wanted).map(drop),
        ),
        (
            "progress",
            Box::new(move |writer| json!({ "dialogue_id": any(writer) })),
            |at, wanted| read_progress(at, wanted).map(drop),
        ),
    ]
}

fn dialogue_name(number: usize) -> String {
    format!("dialogue-{number}")
}

fn make_query(writer: &mut TextGenerator) -> String {
    let words: Vec<String> =
        (0..2 + writer.number_below(3)).map(|_| writer.medium_word()).collect();
    words.join(" ")
}

/// Creates a store with this many dialogues. Returns a query for each of them too: a word of its
/// title and two of its question.
fn fill_store(dialogues: u32) -> BenchmarkResult<(BenchmarkProject, Vec<String>)> {
    let (place, mut writer) = (BenchmarkProject::new()?, TextGenerator::new());
    let mut spread = Vec::new();
    let numbers: Vec<usize> = (0..dialogues as usize).collect();
    for together in numbers.chunks(DIALOGUES_PER_TRANSACTION) {
        in_transaction(place.project.store.as_ref(), |unit| -> BenchmarkResult<()> {
            for number in together {
                let id: DialogueId = dialogue_name(*number).parse().map_err(|_| "no id")?;
                let (title, question) = (writer.random_words(6), writer.random_words(20));
                let words = title.split(' ').take(1).chain(question.split(' ').take(2));
                spread.push(words.collect::<Vec<_>>().join(" "));
                let opening = opening_events(&id, title, question, &mut writer)?;
                unit.append_entry(
                    &id,
                    JournalEntryKind::DialogueCreated,
                    RealSystem.now(),
                    &opening,
                )?;
                for round in 0..ROUNDS {
                    let held = round_events(round, &mut writer)?;
                    unit.append_entry(
                        &id,
                        JournalEntryKind::RoundRegistered,
                        RealSystem.now(),
                        &held,
                    )?;
                }
            }
            Ok(())
        })?;
    }
    Ok((place, spread))
}

fn expert_slug(place: usize) -> BenchmarkResult<ExpertSlug> {
    let name = EXPERTS.get(place % PANEL_SIZE).copied().unwrap_or_default();
    name.parse().map_err(|_| "no expert".into())
}

fn opening_events(
    id: &DialogueId,
    title: String,
    question: String,
    writer: &mut TextGenerator,
) -> BenchmarkResult<Vec<JournalEvent>> {
    let mut changes = vec![JournalEvent::DialogueOpened(DialogueOpening {
        dialogue_id: id.clone(),
        title,
        question: Some(question),
        background: None,
        protocol: ProtocolKind::Alignment,
        rehearsal: false,
        convergence_percent: 100,
        panel_seed: None,
        output_dir: format!("dialogues/{id}"),
        calibrated: false,
        domain_id: None,
    })];
    for place in 0..PANEL_SIZE {
        changes.push(JournalEvent::ExpertAdded(ExpertProfile {
            first_round: Some(0),
            ..ExpertProfile::new(
                expert_slug(place)?,
                writer.random_words(2),
                ExpertTier::Core,
                ExpertSource::Pool,
            )
        }));
    }
    Ok(changes)
}

fn round_events(round: u8, writer: &mut TextGenerator) -> BenchmarkResult<Vec<JournalEvent>> {
    let (title, summary) = (Some(writer.random_words(5)), Some(writer.random_words(40)));
    let mut changes = vec![JournalEvent::RoundRecorded { round, title, score: 40, summary }];
    for place in 0..PANEL_SIZE {
        changes.push(JournalEvent::ScoreGiven {
            round,
            expert: expert_slug(place)?,
            score: 10,
            components: None,
        });
    }
    for (kind, count) in ENTITIES_PER_ROUND {
        for seq in 1..=count {
            let expert = expert_slug(usize::from(seq))?;
            changes.push(JournalEvent::EntityAdded(NewEntity {
                id: new_entity_id(kind, round, usize::from(seq)).ok_or("no id")?,
                local_id: LocalId { expert: expert.clone(), kind, round, seq },
                label: writer.random_words(6),
                text: writer.random_words(40),
                contributors: vec![expert],
                parameters: None,
                references: Vec::new(),
            }));
        }
    }
    Ok(changes)
}
