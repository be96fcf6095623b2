//! Generated benchmark data: text with a natural word distribution, batches for full rounds, and
//! workspaces in separate folders.

use plenary_engine::app::dialogues::create_dialogue;
use plenary_engine::app::project::Project;
use plenary_engine::app::rounds::register_round;
use plenary_engine::clock::RealSystem;
use plenary_engine::files::allowed_folders::AllowedFolders;
use plenary_engine::store::sqlite::store::SqliteStore;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::measure::BenchmarkResult;

pub(crate) const EXPERTS: [&str; 12] = [
    "muffin",
    "cupcake",
    "scone",
    "eclair",
    "donut",
    "brioche",
    "croissant",
    "macaron",
    "cannoli",
    "strudel",
    "beignet",
    "churro",
];

/// The maximum number of perspectives in a round.
pub(crate) const PERSPECTIVES: usize = 99;

const CONTENT_BYTES: usize = 600;
const VOCABULARY: usize = 4_000;

/// A workspace on the same disk as the build, because the temporary folder may be in memory.
pub(crate) struct BenchmarkProject {
    pub folder: TempDir,
    pub project: Project,
}

impl BenchmarkProject {
    pub(crate) fn new() -> BenchmarkResult<Self> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        let store = folder.path().join("plenary.db");
        let project = Project::new(
            std::sync::Arc::new(SqliteStore::open(&store)?),
            std::sync::Arc::new(RealSystem),
            AllowedFolders::new(folder.path(), &store, &[]),
        );
        Ok(Self { folder, project })
    }

    /// Opens a second connection to the same store.
    pub(crate) fn connect(&self) -> BenchmarkResult<rusqlite::Connection> {
        Ok(rusqlite::Connection::open(self.folder.path().join("plenary.db"))?)
    }

    /// Opens a dialogue of twelve experts.
    pub(crate) fn open_dialogue(&self, title: &str) -> BenchmarkResult<String> {
        let tiers = ["Core", "Adjacent", "Wildcard"].iter().cycle();
        let experts: Vec<Value> = EXPERTS
            .iter()
            .zip(tiers)
            .map(|(slug, tier)| json!({"slug": slug, "role": "Expert", "tier": tier}))
            .collect();
        let pool = json!({ "domain": "Measuring", "experts": experts });
        let arguments = json!({ "title": title, "question": "How long?", "expert_pool": pool });
        Ok(create_dialogue(&self.project, &arguments)?.dialogue_id.to_string())
    }

    /// Registers full rounds before round `end`.
    pub(crate) fn register_until(
        &self,
        id: &str,
        end: u8,
        writer: &mut TextGenerator,
    ) -> BenchmarkResult<()> {
        for round in 0..end {
            register_round(&self.project, &make_batch(id, round, writer))?;
        }
        Ok(())
    }
}

/// Generates text from a fixed vocabulary with natural word frequencies.
#[derive(Debug)]
pub(crate) struct TextGenerator {
    state: u64,
    words: Vec<String>,
    /// Cumulative frequencies.
    sums: Vec<f64>,
}

impl TextGenerator {
    pub(crate) fn new() -> Self {
        let mut sums = Vec::with_capacity(VOCABULARY);
        let mut sum = 0.0;
        for rank in 0..VOCABULARY {
            sum += 1.0 / (rank as f64 + 2.7);
            sums.push(sum);
        }
        Self {
            state: 0x2545_f491_4f6c_dd1d,
            words: (0..VOCABULARY).map(spell_rank).collect(),
            sums,
        }
    }

    /// A random number below `end`.
    pub(crate) fn number_below(&mut self, end: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 11).unwrap_or_default() % end.max(1)
    }

    fn random_word(&mut self) -> &str {
        let share = self.number_below(1 << 32) as f64 / (1_u64 << 32) as f64;
        let place = share * self.sums.last().copied().unwrap_or_default();
        let rank = self.sums.partition_point(|sum| *sum < place);
        self.words.get(rank).map_or("and", String::as_str)
    }

    /// A word of medium frequency.
    pub(crate) fn medium_word(&mut self) -> String {
        let rank = VOCABULARY / 20 + self.number_below(VOCABULARY / 5);
        self.words.get(rank).cloned().unwrap_or_default()
    }

    pub(crate) fn random_words(&mut self, count: usize) -> String {
        let words: Vec<String> = (0..count).map(|_| self.random_word().to_owned()).collect();
        words.join(" ")
    }

    fn random_text(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 16);
        while text.len() < bytes {
            text.push_str(self.random_word());
            text.push_str(if self.number_below(12) == 0 { ".\n" } else { " " });
        }
        text
    }
}

/// The syllables encode the rank, so every word is unique.
fn spell_rank(rank: usize) -> String {
    const ONSETS: [&str; 20] = [
        "b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "tr", "st",
        "pl", "gr", "sh",
    ];
    const RHYMES: [&str; 10] = ["a", "e", "i", "o", "u", "an", "or", "il", "um", "ek"];
    let mut rest = rank + 200;
    let mut word = String::new();
    while rest > 0 {
        word.push_str(ONSETS.get(rest % 20).copied().unwrap_or_default());
        word.push_str(RHYMES.get(rest / 20 % 10).copied().unwrap_or_default());
        rest /= 200;
    }
    word
}

/// A full round: 99 perspectives with three references each, and a score for each expert.
pub(crate) fn make_batch(id: &str, round: u8, writer: &mut TextGenerator) -> Value {
    let perspectives: Vec<Value> = (0..PERSPECTIVES)
        .map(|place| {
            json!({
                "local_id": make_local_id(place, round),
                "label": writer.random_words(6),
                "content": writer.random_text(CONTENT_BYTES),
                "references": make_references(place, round),
            })
        })
        .collect();
    let scores: serde_json::Map<String, Value> =
        EXPERTS.iter().map(|slug| ((*slug).to_owned(), json!(writer.number_below(20)))).collect();
    json!({
        "dialogue_id": id,
        "round": round,
        "title": writer.random_words(5),
        "score": 10 + writer.number_below(90),
        "summary": writer.random_words(60),
        "expert_scores": scores,
        "perspectives": perspectives,
    })
}

fn make_local_id(place: usize, round: u8) -> String {
    let expert = EXPERTS.get(place % EXPERTS.len()).copied().unwrap_or_default();
    format!("{}-P{round:02}{:02}", expert.to_uppercase(), place / EXPERTS.len() + 1)
}

/// One reference to a neighbour in the same batch, two to the previous round; a third of the items
/// refine.
fn make_references(place: usize, round: u8) -> Value {
    let neighbour = |distance: usize| make_local_id((place + distance) % PERSPECTIVES, round);
    if round == 0 {
        return json!([
            {"type": "support", "target": neighbour(7)},
            {"type": "oppose", "target": neighbour(13)},
            {"type": "question", "target": neighbour(29)},
        ]);
    }
    let earlier =
        |factor: usize| format!("P{:02}{:02}", round - 1, (place * factor) % PERSPECTIVES + 1);
    let third = if place.is_multiple_of(3) { "refine" } else { "depend" };
    json!([
        {"type": "support", "target": neighbour(7)},
        {"type": "oppose", "target": earlier(31)},
        {"type": third, "target": earlier(1)},
    ])
}
