//! The prompts of a round's panel: shared parts are rendered once, then written for each expert.
//!
//! **Invariant:** the same record gives the same bytes. The nonce of the fences derives from the
//! hash of the newest journal entry, which the authors of the quoted texts could not know, and
//! occurs in none of the texts.

use std::collections::BTreeMap;

use super::background::background;
use super::brief::{NO_BACKGROUND, NO_QUESTION, asked, brief, founded};
use super::instructions::{Instructions, TITLE, legend};
use super::ledger::{Ledger, Said};
use super::names::name;
use super::page::{Drawn, Stretch, draw, write};
use super::prior;
use super::role::{Seated, role};
use super::tensions;
use crate::domain::ids::ExpertSlug;
use crate::domain::record::Record;
use crate::domain::shown::Shown;
use crate::prompting::fence::Fences;

/// Collects the entities of earlier rounds while the store streams them.
#[derive(Debug)]
pub struct Prompts {
    round: u8,
    said: Vec<Said>,
}

impl Prompts {
    pub fn new(round: u8) -> Self {
        Self { round, said: Vec::new() }
    }

    pub fn add(&mut self, shown: &Shown<'_>) -> Result<(), serde_json::Error> {
        self.said.push(Said::of_shown(shown)?);
        Ok(())
    }

    /// Builds the prompts once all entities are added. `tasks` maps experts to their round context.
    pub fn finish(mut self, record: &Record, tasks: &BTreeMap<ExpertSlug, String>) -> Sheets {
        self.said.extend(record.tensions.iter().map(Said::of_entity));
        let (round, ledger) = (self.round, Ledger::new(self.said));
        let panel = record.panel(round).into_iter().filter_map(|seat| {
            let expert = record.expert(&seat.expert_slug)?;
            let task = tasks.get(&seat.expert_slug).map(String::as_str);
            Some(Seated { seat, expert, task })
        });
        let own: Vec<Own> = panel.map(|seated| Own::of(record, &ledger, &seated, round)).collect();
        let (opening, prior) = (opening(record, round), prior::rounds(record, &ledger));
        let foreign = own.iter().flat_map(|own| own.before.iter().chain(&own.after));
        let foreign = foreign.chain(&opening).chain(&prior).filter_map(Stretch::foreign);
        let secret = format!("{}\n{}", record.dialogue.id(), record.head);
        let fences = Fences::new(&secret, round, &foreign.collect::<Vec<_>>());
        Sheets {
            title: format!("{TITLE}{}", name(&record.dialogue.opening.title)),
            legend: legend(fences.nonce()),
            opening: draw(opening, &fences),
            prior: draw(prior, &fences),
            own: own.into_iter().map(|own| own.drawn(&fences)).collect(),
        }
    }
}

/// The beginning of every prompt, after its title.
fn opening(record: &Record, round: u8) -> Vec<Stretch> {
    let (dialogue, opening) = (&record.dialogue, &record.dialogue.opening);
    let standing = format!(
        "**Round:** {round} of ? | **Status:** {} | **Total ALIGNMENT:** {}",
        dialogue.status, dialogue.total_alignment
    );
    let background = opening.background.as_ref().and_then(background).map(founded);
    vec![
        Stretch::ours("**Question:**"),
        asked(record).map_or_else(|| Stretch::ours(NO_QUESTION), Stretch::Theirs),
        Stretch::Ours(standing),
        Stretch::ours("---\n\n## Background"),
        background.map_or_else(|| Stretch::ours(NO_BACKGROUND), Stretch::Theirs),
    ]
}

/// The blocks that only one expert reads, before and after the prior rounds.
#[derive(Debug)]
struct Own {
    expert: ExpertSlug,
    before: Vec<Stretch>,
    after: Vec<Stretch>,
    instructions: Instructions,
}

impl Own {
    fn of(record: &Record, ledger: &Ledger, seated: &Seated<'_>, round: u8) -> Self {
        let expert = seated.expert.profile.expert_slug.clone();
        let mut before = role(seated);
        if seated.is_fresh() {
            before.extend(brief(record, ledger, seated, round));
        }
        let none = || Stretch::ours("None: no tension is active.");
        let table = tensions::table(ledger, &expert).map_or_else(none, Stretch::Theirs);
        // The last round already ends with a rule.
        let rule = if record.rounds.is_empty() { "---\n\n" } else { "" };
        let after = vec![Stretch::Ours(format!("{rule}## Active Tensions")), table];
        let last = record.rounds.last().map(|held| held.round);
        Self { expert, before, after, instructions: Instructions::of(seated, round, last) }
    }

    fn drawn(self, fences: &Fences) -> Sheet {
        Sheet {
            expert: self.expert,
            before: draw(self.before, fences),
            after: draw(self.after, fences),
            instructions: self.instructions,
        }
    }
}

/// The rendered prompts of a panel.
#[derive(Debug)]
pub struct Sheets {
    title: String,
    legend: String,
    opening: Vec<Drawn>,
    prior: Vec<Drawn>,
    own: Vec<Sheet>,
}

#[derive(Debug)]
struct Sheet {
    expert: ExpertSlug,
    before: Vec<Drawn>,
    after: Vec<Drawn>,
    instructions: Instructions,
}

impl Sheets {
    /// The experts who have a prompt, in panel order.
    pub fn experts(&self) -> impl Iterator<Item = &ExpertSlug> {
        self.own.iter().map(|sheet| &sheet.expert)
    }

    /// Writes an expert's prompt with the path for the response; nothing if they are not on the
    /// panel.
    pub fn write(&self, expert: &ExpertSlug, response_path: &str, page: &mut String) {
        let Some(sheet) = self.own.iter().find(|sheet| sheet.expert == *expert) else { return };
        page.push_str(&format!("{}\n\n{}", self.title, self.legend));
        for stretches in [&self.opening, &sheet.before, &self.prior, &sheet.after] {
            write(page, stretches, expert);
        }
        page.push_str(&format!("\n\n{}\n", sheet.instructions.text(response_path)));
    }
}
