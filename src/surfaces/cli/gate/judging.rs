//! Reviews files one after the other, for `review` and `sweep`.

use std::sync::Arc;

use super::printer::{Format, Printer};
use crate::config::Settings;
use crate::convening::{GateTable, Rehearsal};
use crate::domain::transcript::{Stop, Transcript};
use crate::error::Error;
use crate::hosting::{Piece, Prepared, review};
use crate::surfaces::cli::runs::hall::{Crowd, Floor, Hall};
use crate::surfaces::cli::runs::keeping::{keep_log, mend_log};
use crate::surfaces::cli::runs::outlets::outlets;
use crate::surfaces::cli::runs::presenting::done as ended;
use crate::surfaces::cli::runs::progress::Progress;
use crate::surfaces::cli::session::{Done, Session};

/// Reviews the inputs in the given order, so that each adjudicator sees the earlier verdicts.
pub(super) fn judge(
    session: &Session<'_>,
    settings: &Settings,
    rehearsal: &Rehearsal,
    pieces: Vec<Piece>,
    format: Format,
) -> Result<Done, Error> {
    let mut printer = Printer::new(session, format, &settings.located);
    let judged = match pieces.iter().any(|piece| matches!(piece, Piece::Artifact(_))) {
        true => judge_all(session, settings, rehearsal, pieces, &mut printer),
        // No model is called, so neither store nor runtime is opened.
        false => {
            mend_log(session, &session.for_looking_first()?);
            pieces.iter().try_fold(Done::Well, |done, piece| Ok(done.max(printer.unjudged(piece)?)))
        }
    };
    // Print the collected results even if the last review failed.
    printer.finish()?;
    judged
}

fn judge_all(
    session: &Session<'_>,
    settings: &Settings,
    rehearsal: &Rehearsal,
    pieces: Vec<Piece>,
    printer: &mut Printer<'_>,
) -> Result<Done, Error> {
    let table = GateTable::set(settings, rehearsal, &outlets(session))?;
    let hall = Hall::open(session.open(&settings.located)?, Crowd::One)?;
    hall.run(async |floor: Arc<Floor>| {
        let keep =
            || keep_log(session.ui, floor.desk.workspace.store.as_ref(), &settings.review.log_path);
        keep();
        let mut done = Done::Well;
        for piece in pieces {
            if floor.is_interrupted() {
                return Ok(Done::Interrupted);
            }
            let Piece::Artifact(artifact) = piece else {
                done = done.max(printer.unjudged(&piece)?);
                continue;
            };
            let path = artifact.path.clone();
            let prepared = match review(&floor.desk.workspace, settings, &table, *artifact) {
                // This file cannot be reviewed; continue with the others.
                Err(error @ Error::Material(_)) => {
                    let piece = Piece::Unreadable { path: path.into(), error };
                    done = done.max(printer.unjudged(&piece)?);
                    continue;
                }
                prepared => prepared?,
            };
            let (stop, transcript) = held(session, &floor, prepared).await?;
            keep();
            printer.judged(&transcript)?;
            done = done.max(ended(&stop, &transcript));
        }
        Ok(done)
    })
}

/// Runs one review from its plan to its verdict.
async fn held(
    session: &Session<'_>,
    floor: &Floor,
    prepared: Prepared,
) -> Result<(Stop, Transcript), Error> {
    let wall = prepared.wall();
    let progress = Arc::new(Progress::new(session.ui));
    let run = floor.desk.begin(prepared, progress.clone()).await?;
    let ended = floor.see_through(run, wall).await;
    progress.clear();
    ended
}
