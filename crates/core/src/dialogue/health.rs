//! Health of audited conclusions: the share of each terminal state beside its target, and two
//! alarms. `health` calls `compute_health`.
//!
//! All comparisons use whole numbers, so rounding cannot hide a crossed limit.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::dialogue::{ProtocolKind, TerminalState};
use crate::model::ids::ExpertSlug;
use crate::model::queries::AuditedConclusion;
use crate::model::string_enum::words;

/// Default number of newest conclusions to consider.
pub const HEALTH_LAST_DEFAULT: usize = 50;

/// Upper limit of conclusions to consider. It covers years and still reads fast.
pub const HEALTH_LAST_MAX: usize = 10_000;

/// Above this share of clean conclusions the critic is probably too lenient.
const CLEAN_PERCENT_MAX: usize = 80;

/// Above this share too many conclusions cannot be defended.
const UNCONVERGED_PERCENT_MAX: usize = 20;

words! {
    pub enum HealthVerdict {
        Healthy = "healthy",
        Alarm = "alarm",
        TooFew = "too_few",
    }
}

words! {
    pub enum AlarmCode {
        CriticTooLenient = "critic_too_lenient",
        SynthesizerOffCourse = "synthesizer_off_course",
    }
}

/// Statistics of the newest conclusions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConclusionHealth {
    pub considered: usize,
    pub shares: Vec<StateShare>,
    pub verdict: HealthVerdict,
    pub alarms: Vec<HealthAlarm>,
    /// Largest first.
    pub by_protocol: Vec<ProtocolHealth>,
    /// Largest first.
    pub by_critic: Vec<CriticHealth>,
    pub by_week: Vec<WeekHealth>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StateShare {
    pub state: TerminalState,
    pub count: usize,
    /// Rounded to one decimal.
    pub percent: f64,
    /// Healthy percentage.
    pub target: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HealthAlarm {
    pub code: AlarmCode,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProtocolHealth {
    pub protocol: ProtocolKind,
    #[serde(flatten)]
    pub counts: StateCounts,
}

/// Conclusions that one seat audited with one model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CriticHealth {
    pub seat: ExpertSlug,
    pub model: String,
    #[serde(flatten)]
    pub counts: StateCounts,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WeekHealth {
    /// Such as `2026-W06`.
    pub week: String,
    #[serde(flatten)]
    pub counts: StateCounts,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct StateCounts {
    pub considered: usize,
    pub clean: usize,
    pub revised: usize,
    pub unconverged: usize,
}

/// Computes the statistics. `endings` must be sorted newest first.
pub fn compute_health(endings: &[AuditedConclusion]) -> ConclusionHealth {
    let counts = endings.iter().collect::<StateCounts>();
    let alarms = raise_alarms(counts);
    let verdict = match (counts.considered < SAMPLE_MIN, alarms.is_empty()) {
        (true, _) => HealthVerdict::TooFew,
        (false, false) => HealthVerdict::Alarm,
        (false, true) => HealthVerdict::Healthy,
    };
    ConclusionHealth {
        considered: counts.considered,
        shares: TerminalState::ALL.iter().map(|state| state_share(*state, counts)).collect(),
        verdict,
        alarms,
        by_protocol: group_by_protocol(endings),
        by_critic: group_by_critic(endings),
        by_week: group_by_week(endings),
    }
}

fn raise_alarms(counts: StateCounts) -> Vec<HealthAlarm> {
    let limits = [
        (
            TerminalState::Clean,
            CLEAN_PERCENT_MAX,
            AlarmCode::CriticTooLenient,
            "the Blind Critic may be too lenient",
        ),
        (
            TerminalState::Unconverged,
            UNCONVERGED_PERCENT_MAX,
            AlarmCode::SynthesizerOffCourse,
            "the Synthesizer may need recalibration",
        ),
    ];
    let sounding = limits.into_iter().filter(|(state, limit, ..)| {
        exceeds_percent(counts.count_of(*state), counts.considered, *limit)
    });
    sounding
        .map(|(state, limit, code, meaning)| {
            let (count, all) = (counts.count_of(state), counts.considered);
            let message = format!("{count} of {all} ended {state}, over {limit} %: {meaning}");
            HealthAlarm { code, message }
        })
        .collect()
}

fn state_share(state: TerminalState, counts: StateCounts) -> StateShare {
    let target = match state {
        TerminalState::Clean => 60,
        TerminalState::Revised => 30,
        TerminalState::Unconverged => 10,
    };
    let count = counts.count_of(state);
    StateShare {
        state,
        count,
        percent: percent_of(count, counts.considered).unwrap_or(0.0),
        target,
    }
}

fn group_by_protocol(endings: &[AuditedConclusion]) -> Vec<ProtocolHealth> {
    let grouped = group_counts(endings, |ended| ended.protocol);
    let groups = grouped.into_iter().map(|(protocol, counts)| ProtocolHealth { protocol, counts });
    sort_largest_first(groups.collect(), |group| group.counts)
}

fn group_by_critic(endings: &[AuditedConclusion]) -> Vec<CriticHealth> {
    let critic = |ended: &AuditedConclusion| {
        let critic = &ended.critic;
        (critic.seat.clone(), critic.model.clone())
    };
    let grouped = group_counts(endings, critic).into_iter();
    let groups = grouped.map(|((seat, model), counts)| CriticHealth { seat, model, counts });
    sort_largest_first(groups.collect(), |group| group.counts)
}

fn group_by_week(endings: &[AuditedConclusion]) -> Vec<WeekHealth> {
    let grouped = group_counts(endings, |ended| ended.at.utc_day().iso_week());
    grouped.into_iter().rev().map(|(week, counts)| WeekHealth { week, counts }).collect()
}

fn group_counts<K: Ord>(
    endings: &[AuditedConclusion],
    key: impl Fn(&AuditedConclusion) -> K,
) -> BTreeMap<K, StateCounts> {
    let mut groups: BTreeMap<K, StateCounts> = BTreeMap::new();
    for ended in endings {
        groups.entry(key(ended)).or_default().add_state(ended.terminal_state);
    }
    groups
}

/// Sorts groups by size. Groups of equal size keep their order.
fn sort_largest_first<T>(mut groups: Vec<T>, counts: impl Fn(&T) -> StateCounts) -> Vec<T> {
    groups.sort_by_key(|group| std::cmp::Reverse(counts(group).considered));
    groups
}

impl StateCounts {
    pub fn count_of(self, state: TerminalState) -> usize {
        match state {
            TerminalState::Clean => self.clean,
            TerminalState::Revised => self.revised,
            TerminalState::Unconverged => self.unconverged,
        }
    }

    fn add_state(&mut self, state: TerminalState) {
        self.considered += 1;
        match state {
            TerminalState::Clean => self.clean += 1,
            TerminalState::Revised => self.revised += 1,
            TerminalState::Unconverged => self.unconverged += 1,
        }
    }
}

impl<'a> FromIterator<&'a AuditedConclusion> for StateCounts {
    fn from_iter<I: IntoIterator<Item = &'a AuditedConclusion>>(endings: I) -> Self {
        let mut counts = Self::default();
        endings.into_iter().for_each(|ended| counts.add_state(ended.terminal_state));
        counts
    }
}

/// Below this sample size a percentage is mostly chance.
pub const SAMPLE_MIN: usize = 10;

/// Percentage rounded to one decimal; `None` if the whole is zero.
pub fn percent_of(part: usize, whole: usize) -> Option<f64> {
    let tenths = (part * 1_000 + whole / 2).checked_div(whole)?;
    Some(tenths as f64 / 10.0)
}

/// Whether the sample is large enough and the share exceeds the limit, without rounding.
pub(crate) fn exceeds_percent(part: usize, whole: usize, percent_max: usize) -> bool {
    whole >= SAMPLE_MIN && part * 100 > percent_max * whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocols::conclusion::types::SeatAuthor;

    fn ended(state: TerminalState) -> AuditedConclusion {
        let critic = SeatAuthor {
            seat: "openai".parse().unwrap(),
            model: "gpt-4o".into(),
            family: "x".into(),
        };
        AuditedConclusion {
            dialogue_id: "talk".parse().unwrap(),
            protocol: ProtocolKind::Council,
            terminal_state: state,
            critic,
            at: "2026-02-02T09:00:00Z".parse().unwrap(),
        }
    }

    fn endings(clean: usize, revised: usize, unconverged: usize) -> Vec<AuditedConclusion> {
        let states = [
            (TerminalState::Clean, clean),
            (TerminalState::Revised, revised),
            (TerminalState::Unconverged, unconverged),
        ];
        states.into_iter().flat_map(|(state, count)| vec![ended(state); count]).collect()
    }

    /// Checks verdict and alarms for counts of clean, revised and unconverged conclusions.
    #[track_caller]
    fn check(counts: [usize; 3], verdict: HealthVerdict, alarms: &[AlarmCode]) {
        let [clean, revised, unconverged] = counts;
        let found = compute_health(&endings(clean, revised, unconverged));
        let codes: Vec<AlarmCode> = found.alarms.iter().map(|alarm| alarm.code).collect();
        assert_eq!((found.verdict, codes.as_slice()), (verdict, alarms), "{counts:?}");
    }

    const LENIENT: AlarmCode = AlarmCode::CriticTooLenient;
    const OFF_COURSE: AlarmCode = AlarmCode::SynthesizerOffCourse;

    #[test]
    fn clean_alarms_over_eighty_percent_and_not_at_it() {
        check([39, 11, 0], HealthVerdict::Healthy, &[]);
        check([40, 10, 0], HealthVerdict::Healthy, &[]);
        check([41, 9, 0], HealthVerdict::Alarm, &[LENIENT]);
        check([50, 0, 0], HealthVerdict::Alarm, &[LENIENT]);
        // 80 % of 57 is 45.6: rounding must not hide the limit.
        check([45, 12, 0], HealthVerdict::Healthy, &[]);
        check([46, 11, 0], HealthVerdict::Alarm, &[LENIENT]);
        // 80.04 %.
        check([397, 99, 0], HealthVerdict::Alarm, &[LENIENT]);
    }

    #[test]
    fn unconverged_alarms_over_twenty_percent_and_not_at_it() {
        check([30, 11, 9], HealthVerdict::Healthy, &[]);
        check([30, 10, 10], HealthVerdict::Healthy, &[]);
        check([30, 9, 11], HealthVerdict::Alarm, &[OFF_COURSE]);
        check([0, 0, 50], HealthVerdict::Alarm, &[OFF_COURSE]);
        check([30, 16, 11], HealthVerdict::Healthy, &[]);
        check([30, 15, 12], HealthVerdict::Alarm, &[OFF_COURSE]);
    }

    #[test]
    fn with_fewer_than_ten_it_cannot_tell() {
        check([0, 0, 0], HealthVerdict::TooFew, &[]);
        check([9, 0, 0], HealthVerdict::TooFew, &[]);
        check([0, 0, 9], HealthVerdict::TooFew, &[]);
        check([10, 0, 0], HealthVerdict::Alarm, &[LENIENT]);
        check([0, 0, 10], HealthVerdict::Alarm, &[OFF_COURSE]);
        check([8, 0, 2], HealthVerdict::Healthy, &[]);
        check([9, 0, 1], HealthVerdict::Alarm, &[LENIENT]);
        check([7, 0, 3], HealthVerdict::Alarm, &[OFF_COURSE]);
    }

    #[test]
    fn shares_stand_beside_what_is_healthy() {
        let found = compute_health(&endings(2, 1, 0));
        let result: Vec<_> =
            found.shares.iter().map(|s| (s.state.name(), s.count, s.percent, s.target)).collect();
        let expected =
            [("clean", 2, 66.7, 60), ("revised", 1, 33.3, 30), ("unconverged", 0, 0.0, 10)];
        assert_eq!(result, expected);
        assert!(compute_health(&[]).shares.iter().all(|share| share.percent == 0.0));
    }

    #[test]
    fn an_alarm_says_what_it_counted_and_what_that_may_mean() {
        let messages: Vec<String> = compute_health(&endings(41, 9, 0))
            .alarms
            .into_iter()
            .map(|alarm| alarm.message)
            .collect();
        let expected = "41 of 50 ended clean, over 80 %: the Blind Critic may be too lenient";
        assert_eq!(messages, [expected]);
    }

    #[test]
    fn endings_are_counted_by_protocol_critic_and_week() {
        let mut endings = endings(1, 1, 1);
        endings[1].protocol = ProtocolKind::Alignment;
        endings[1].at = "2026-01-04T23:59:59Z".parse().unwrap();
        endings[2].critic.model = "o3".into();
        endings[2].at = "2026-01-05T00:00:00Z".parse().unwrap();
        let found = compute_health(&endings);
        let one = |clean, revised, unconverged| StateCounts {
            considered: 1,
            clean,
            revised,
            unconverged,
        };
        let protocols: Vec<_> = found
            .by_protocol
            .iter()
            .map(|group| (group.protocol, group.counts.considered))
            .collect();
        assert_eq!(protocols, [(ProtocolKind::Council, 2), (ProtocolKind::Alignment, 1)]);
        let critics: Vec<_> =
            found.by_critic.iter().map(|group| (group.model.as_str(), group.counts)).collect();
        let both = StateCounts { considered: 2, clean: 1, revised: 1, unconverged: 0 };
        assert_eq!(critics, [("gpt-4o", both), ("o3", one(0, 0, 1))]);
        let weeks: Vec<_> =
            found.by_week.iter().map(|group| (group.week.as_str(), group.counts)).collect();
        // The first Monday of 2026 is the fifth of January.
        let expected =
            [("2026-W06", one(1, 0, 0)), ("2026-W02", one(0, 0, 1)), ("2026-W01", one(0, 1, 0))];
        assert_eq!(weeks, expected);
    }
}
