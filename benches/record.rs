//! The figures the record has to reach: each measured beside its limit, in one
//! run on one machine, so that only their ratio counts.
//!
//! `./bench` runs all of it, `./bench --quick` smaller sizes. One table; exit
//! code 1 when a ratio is over what is allowed.

#[path = "record/bare.rs"]
mod bare;
#[path = "record/documents.rs"]
mod documents;
#[path = "record/growth.rs"]
mod growth;
#[path = "record/material.rs"]
mod material;
mod measure;
#[path = "record/plain.rs"]
mod plain;
#[path = "record/rounds.rs"]
mod rounds;
#[path = "record/start.rs"]
mod start;

use std::process::ExitCode;

use measure::{Outcome, Row};

/// How much is done of everything.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    /// Rounds registered beside their bare transactions.
    registered: u8,
    /// Dialogues whose early rounds are compared with their late ones.
    dialogues: u8,
    /// The first of the late rounds.
    late: u8,
    /// Rounds of the dialogue that is exported.
    exported: u8,
    /// How often everything else is repeated.
    repeats: usize,
    /// Dialogues in the small store; the large one has ten times as many.
    stored: u32,
}

const FULL: Sizes =
    Sizes { registered: 60, dialogues: 3, late: 85, exported: 100, repeats: 41, stored: 1_000 };
const QUICK: Sizes =
    Sizes { registered: 20, dialogues: 1, late: 40, exported: 40, repeats: 15, stored: 600 };

fn main() -> ExitCode {
    // Cargo adds `--bench`; a further word chooses the rows whose work it is part of.
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let sizes = if arguments.iter().any(|word| word == "--quick") { QUICK } else { FULL };
    let chosen = arguments.iter().find(|word| !word.starts_with('-'));
    match measure_all(sizes, chosen.map_or("", String::as_str)) {
        Ok(rows) => {
            measure::print(&rows);
            ExitCode::from(u8::from(rows.iter().any(Row::is_over)))
        }
        Err(error) => {
            measure::complain(error.as_ref());
            ExitCode::from(70)
        }
    }
}

/// Rows of the table that are measured together.
type Group = fn(Sizes) -> Outcome<Vec<Row>>;

fn measure_all(sizes: Sizes, chosen: &str) -> Outcome<Vec<Row>> {
    let groups: [(&str, Group); 4] = [
        ("register", rounds::measure),
        ("documents", documents::measure),
        ("growth", growth::measure),
        ("start", start::measure),
    ];
    let mut rows = Vec::new();
    for (_, measure) in groups.iter().filter(|(name, _)| name.contains(chosen)) {
        rows.extend(measure(sizes)?);
    }
    Ok(rows)
}
