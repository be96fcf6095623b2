//! Letters in place of names: one map per run, drawn from the run's secret.

use crate::domain::dice::SeededRandom;
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::Plan;

/// Maps participants to letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeatLetters(Vec<(char, ExpertSlug)>);

impl SeatLetters {
    pub fn from_plan(plan: &Plan) -> Self {
        let mut seats: Vec<ExpertSlug> =
            plan.participant_seats().map(|seat| seat.name.clone()).collect();
        SeededRandom::from_secret(&plan.secret, "letters").shuffle_items(&mut seats);
        Self(('A'..='Z').zip(seats).collect())
    }

    pub fn letter_of(&self, seat: &ExpertSlug) -> Option<char> {
        self.0.iter().find(|(_, name)| name == seat).map(|(letter, _)| *letter)
    }

    /// The seat of a letter in a reply. A text of more than one letter, such as `A and B`, names no
    /// seat: neither may get what was said of both.
    pub fn seat_of(&self, letter: &str) -> Option<&ExpertSlug> {
        let mut letters = letter.chars();
        let letter = letters.next().filter(|_| letters.next().is_none())?;
        self.0.iter().find(|(known, _)| *known == letter).map(|(_, name)| name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (char, &ExpertSlug)> {
        self.0.iter().map(|(letter, name)| (*letter, name))
    }

    /// All seats but the reader, in an order of its own for each reader.
    pub fn other_seats(&self, plan: &Plan, reader: &ExpertSlug) -> Vec<(char, &ExpertSlug)> {
        let mut others: Vec<_> = self.iter().filter(|(_, name)| *name != reader).collect();
        let purpose = format!("order for {reader}");
        SeededRandom::from_secret(&plan.secret, &purpose).shuffle_items(&mut others);
        others
    }
}
