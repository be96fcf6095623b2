//! How a supervised program ended, as one line of text that the supervisor writes to the lock file.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::str::FromStr;

const ENDED: &str = "ended";
const NOT_STARTED: &str = "not-started";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgramOutcome {
    Ended(ExitStatus),
    /// The system could not start the program; the value is the error number.
    NotStarted(i32),
}

impl fmt::Display for ProgramOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(status) => writeln!(f, "{ENDED} {}", status.into_raw()),
            Self::NotStarted(code) => writeln!(f, "{NOT_STARTED} {code}"),
        }
    }
}

impl FromStr for ProgramOutcome {
    type Err = ();

    fn from_str(line: &str) -> Result<Self, ()> {
        // A line without a line break was not written completely.
        let (word, number) =
            line.strip_suffix('\n').and_then(|line| line.split_once(' ')).ok_or(())?;
        let number: i32 = number.parse().map_err(|_| ())?;
        match word {
            ENDED => Ok(Self::Ended(ExitStatus::from_raw(number))),
            NOT_STARTED => Ok(Self::NotStarted(number)),
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_read_as_it_was_written() {
        let statuses = [0, 256, 127 << 8, 9, 11 | 0x80];
        let ended = statuses.map(|raw| ProgramOutcome::Ended(ExitStatus::from_raw(raw)));
        for outcome in ended.into_iter().chain([ProgramOutcome::NotStarted(2)]) {
            assert_eq!(outcome.to_string().parse(), Ok(outcome));
        }
    }

    #[test]
    fn another_line_is_no_outcome() {
        for line in ["", "\n", "ended", "ended \n", "ended 1", "ended x\n", "begun 1\n"] {
            assert_eq!(line.parse::<ProgramOutcome>(), Err(()), "{line:?}");
        }
    }
}
