//! Statistics of the verdict log: verdict counts, blocks, changes of mind, human overrides, drift
//! and remarks on unusual numbers.
//!
//! `StatisticsBuilder` takes one row at a time and keeps counts, not rows.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::dialogue::health::exceeds_percent;
use crate::model::string_enum::words;
use crate::model::time::{Day, Moment};
use crate::protocols::review::artifact_verdicts::{
    ArtifactLists, ArtifactVerdicts, OverriddenVerdict,
};
use crate::protocols::review::drift::{DriftReport, DriftVerdict, describe_subject};
use crate::protocols::review::log_row::{LogRow, LoggedVerdict};
use crate::protocols::review::policy::ReviewDecision;
use crate::protocols::review::verdict_counts::{
    DeliberatorStatistics, MindChange, OverrideCounts, ScoreSums, SeatRounds, VerdictTally,
    WeekTallies, total_verdicts,
};

/// Statistics of a verdict log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReviewStatistics {
    #[serde(flatten)]
    pub spread: VerdictTally,
    /// Imported rows; they are counted.
    pub imported: usize,
    /// Rows of rehearsals; they are not counted.
    pub rehearsals_left_out: usize,
    pub from: Option<Moment>,
    pub to: Option<Moment>,
    pub drift: DriftReport,
    pub remarks: Vec<StatisticsRemark>,
    /// Largest first.
    pub by_type: Vec<TypeVerdicts>,
    /// Largest first; rows without a producer are left out.
    pub by_producer: Vec<ProducerVerdicts>,
    /// Newest first.
    pub by_week: Vec<WeekVerdicts>,
    /// Sorted by name.
    pub deliberators: Vec<DeliberatorStatistics>,
    /// All deliberators together.
    pub change: MindChange,
    pub scores: Vec<ScoreSeries>,
    pub overrides: OverrideCounts,
    /// Newest first, at most 100.
    pub by_artifact: Vec<ArtifactVerdicts>,
    /// Newest first, at most 100.
    pub overridden_verdicts: Vec<OverriddenVerdict>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TypeVerdicts {
    pub artifact_type: String,
    #[serde(flatten)]
    pub spread: VerdictTally,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProducerVerdicts {
    pub producer: String,
    #[serde(flatten)]
    pub spread: VerdictTally,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WeekVerdicts {
    /// Such as `2026-W06`.
    pub week: String,
    #[serde(flatten)]
    pub spread: VerdictTally,
}

/// Values of one score of one deliberator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreSeries {
    pub deliberator: String,
    pub score: String,
    pub count: u64,
    pub mean: Option<f64>,
    /// Newest first.
    pub by_week: Vec<WeekScore>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WeekScore {
    pub week: String,
    pub count: u64,
    pub mean: Option<f64>,
}

/// Counts rows; it keeps no row.
#[derive(Debug, Default)]
pub struct StatisticsBuilder {
    imported: usize,
    rehearsals_left_out: usize,
    period: Option<(Moment, Moment)>,
    all: WeekTallies,
    by_type: BTreeMap<String, WeekTallies>,
    by_producer: BTreeMap<String, WeekTallies>,
    seats: BTreeMap<String, DeliberatorStatistics>,
    overrides: OverrideCounts,
    artifacts: ArtifactLists,
}

impl StatisticsBuilder {
    /// Adds a verdict of the log.
    pub fn add_verdict(&mut self, logged: &LoggedVerdict) {
        if !logged.row.rehearsal {
            self.artifacts.add_verdict(logged);
        }
        self.add_row(&logged.row, logged.overridden.as_ref().map(|word| word.decision));
    }

    /// Adds a row and the newest human override of it.
    pub fn add_row(&mut self, row: &LogRow, overridden: Option<ReviewDecision>) {
        if row.rehearsal {
            self.rehearsals_left_out += 1;
            return;
        }
        self.imported += usize::from(row.imported);
        let (from, to) = self.period.unwrap_or((row.ts, row.ts));
        self.period = Some((from.min(row.ts), to.max(row.ts)));
        let verdict = row.adjudicator.final_verdict;
        let seats = SeatRounds::list_seats(row);
        let week = row.ts.utc_day().iso_week();
        let mut groups =
            vec![&mut self.all, self.by_type.entry(row.artifact_type.clone()).or_default()];
        if let Some(producer) = &row.producer {
            groups.push(self.by_producer.entry(producer.clone()).or_default());
        }
        for group in groups {
            group.entry(week.clone()).or_default().add_row(verdict, &seats);
        }
        for seat in &seats {
            let counts = self.seats.entry(seat.deliberator.to_owned()).or_default();
            counts.add_review(seat, verdict);
        }
        self.overrides.add_verdict(verdict, overridden);
    }

    /// Returns the statistics. `today` decides which week is still running.
    pub fn into_statistics(self, today: Day) -> ReviewStatistics {
        let spread = total_verdicts(&self.all);
        let drift = DriftReport::new(&self.by_type, &self.by_producer, &today.iso_week());
        let seats = self.seats.into_iter();
        let deliberators: Vec<_> = seats
            .map(|(deliberator, counts)| DeliberatorStatistics { deliberator, ..counts })
            .collect();
        let mut change = MindChange::default();
        deliberators.iter().for_each(|seat| change.add_counts(seat.change));
        let by_type = sort_by_size(self.by_type).into_iter();
        let by_producer = sort_by_size(self.by_producer).into_iter();
        let weeks = self.all.iter().rev();
        let (by_artifact, overridden_verdicts) = self.artifacts.into_lists();
        ReviewStatistics {
            spread,
            imported: self.imported,
            rehearsals_left_out: self.rehearsals_left_out,
            from: self.period.map(|(from, _)| from),
            to: self.period.map(|(_, to)| to),
            remarks: build_remarks(spread, &drift, &self.overrides, &deliberators),
            drift,
            by_type: by_type
                .map(|(artifact_type, spread)| TypeVerdicts { artifact_type, spread })
                .collect(),
            by_producer: by_producer
                .map(|(producer, spread)| ProducerVerdicts { producer, spread })
                .collect(),
            by_week: weeks
                .map(|(week, tally)| WeekVerdicts { week: week.clone(), spread: tally.spread })
                .collect(),
            scores: list_scores(&self.all),
            deliberators,
            change,
            overrides: self.overrides,
            by_artifact,
            overridden_verdicts,
        }
    }
}

/// Sorts groups by size. Groups of equal size stay sorted by name.
fn sort_by_size(groups: BTreeMap<String, WeekTallies>) -> Vec<(String, VerdictTally)> {
    let totals = groups.into_iter().map(|(name, weeks)| (name, total_verdicts(&weeks)));
    let mut totals: Vec<(String, VerdictTally)> = totals.collect();
    totals.sort_by_key(|(_, spread)| Reverse(spread.count_logged()));
    totals
}

fn list_scores(weeks: &WeekTallies) -> Vec<ScoreSeries> {
    let keys: BTreeSet<_> = weeks.values().flat_map(|week| week.scores.keys()).collect();
    let series = keys.into_iter().map(|key| {
        let by_week = weeks.iter().rev().filter_map(|(week, tally)| {
            let sums = tally.scores.get(key)?;
            Some((week, *sums))
        });
        let by_week: Vec<(&String, ScoreSums)> = by_week.collect();
        let total = by_week.iter().fold(ScoreSums::default(), |total, (_, sums)| ScoreSums {
            count: total.count + sums.count,
            sum: total.sum + sums.sum,
            squares: total.squares + sums.squares,
        });
        let to_week_score = |(week, sums): (&String, ScoreSums)| WeekScore {
            week: week.clone(),
            count: sums.count,
            mean: sums.mean_score(),
        };
        ScoreSeries {
            deliberator: key.0.clone(),
            score: key.1.clone(),
            count: total.count,
            mean: total.mean_score(),
            by_week: by_week.into_iter().map(to_week_score).collect(),
        }
    });
    series.collect()
}

words! {
    pub enum RemarkCode {
        Drift = "drift",
        OftenOverridden = "often_overridden",
        OftenIncomplete = "often_incomplete",
        OftenAbsent = "often_absent",
        OftenUncited = "often_uncited",
    }
}

impl RemarkCode {
    /// Above this percentage, the number is unusual. Half of all changes of mind may cite no
    /// concern; of the other numbers, a fifth is already too much.
    fn percent_max(self) -> usize {
        match self {
            Self::OftenUncited => 50,
            Self::Drift | Self::OftenOverridden | Self::OftenIncomplete | Self::OftenAbsent => 20,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatisticsRemark {
    pub code: RemarkCode,
    pub message: String,
}

fn build_remarks(
    spread: VerdictTally,
    drift: &DriftReport,
    overrides: &OverrideCounts,
    seats: &[DeliberatorStatistics],
) -> Vec<StatisticsRemark> {
    let drifting = drift.subjects.iter().filter(|one| one.verdict == DriftVerdict::Drift);
    let drifting = drifting.map(describe_subject);
    let mut remarks: Vec<StatisticsRemark> =
        drifting.map(|message| StatisticsRemark { code: RemarkCode::Drift, message }).collect();
    let mut remark_if_over = |code: RemarkCode, part: usize, whole: usize, message: String| {
        if exceeds_percent(part, whole, code.percent_max()) {
            remarks.push(StatisticsRemark { code, message });
        }
    };
    let OverrideCounts { decided, softened, hardened, .. } = *overrides;
    // A confirmation does not change the verdict.
    let overruled = softened + hardened;
    let message = format!(
        "people overrode {overruled} of {decided} verdicts ({softened} softened, {hardened} hardened)"
    );
    remark_if_over(RemarkCode::OftenOverridden, overruled, decided, message);
    let (incomplete, all) = (spread.incomplete, spread.count_logged());
    let message = format!("{incomplete} of {all} reviews were INCOMPLETE");
    remark_if_over(RemarkCode::OftenIncomplete, incomplete, all, message);
    for DeliberatorStatistics { deliberator, absent, asked, .. } in seats {
        let message = format!("{deliberator} was absent from {absent} of {asked} reviews");
        remark_if_over(RemarkCode::OftenAbsent, *absent, *asked, message);
    }
    for DeliberatorStatistics { deliberator, change, .. } in seats {
        let MindChange { changed, uncited, .. } = *change;
        let message = format!(
            "{deliberator} changed its mind {changed} times, {uncited} of them without naming a concern"
        );
        remark_if_over(RemarkCode::OftenUncited, uncited, changed, message);
    }
    remarks
}
