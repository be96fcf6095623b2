//! Registering a full round: compared with a bare transaction, and late rounds with early ones.

use plenary_engine::app::rounds::register_round;

use crate::bare_writes::BareStore;
use crate::generated_data::{BenchmarkProject, TextGenerator, make_batch};
use crate::measure::{BenchmarkResult, BenchmarkRow, SamplePairs, measure_time};
use crate::{DataSizes, bare_writes};

/// Rounds of each dialogue that are compared, early and late.
const COMPARED: u8 = 10;

pub(crate) fn measure_rounds(sizes: DataSizes) -> BenchmarkResult<Vec<BenchmarkRow>> {
    Ok(vec![measure_against_bare(sizes)?, measure_late_rounds(sizes)?])
}

fn measure_against_bare(sizes: DataSizes) -> BenchmarkResult<BenchmarkRow> {
    let (place, mut writer) = (BenchmarkProject::new()?, TextGenerator::new());
    let bare = BareStore::new(place.folder.path())?;
    let (store, id) = (place.connect()?, place.open_dialogue("Bare")?);
    bare.open_dialogue(&store, &id)?;
    let mut samples = SamplePairs::default();
    for round in 0..sizes.registered {
        let batch = make_batch(&id, round, &mut writer);
        let measured = measure_time(|| register_round(&place.project, &batch))?;
        let written = bare_writes::read_written_rows(&store, &id, round)?;
        let limit = measure_time(|| bare.write_rows(&written))?;
        samples.add_pair(measured, limit);
    }
    let work = "register 99 perspectives with refs".to_owned();
    Ok(samples.into_row(work, "bare transaction, same rows", 4.0))
}

fn measure_late_rounds(sizes: DataSizes) -> BenchmarkResult<BenchmarkRow> {
    let (place, mut writer) = (BenchmarkProject::new()?, TextGenerator::new());
    let mut samples = SamplePairs::default();
    for number in 0..sizes.dialogues {
        let early = place.open_dialogue(&format!("Early {number}"))?;
        let late = place.open_dialogue(&format!("Late {number}"))?;
        place.register_until(&early, 1, &mut writer)?;
        place.register_until(&late, sizes.late, &mut writer)?;
        for step in 0..COMPARED {
            let late = make_batch(&late, sizes.late + step, &mut writer);
            let early = make_batch(&early, 1 + step, &mut writer);
            let measured = measure_time(|| register_round(&place.project, &late))?;
            let limit = measure_time(|| register_round(&place.project, &early))?;
            samples.add_pair(measured, limit);
        }
    }
    let work = format!("register rounds {}-{}", sizes.late, sizes.late + COMPARED - 1);
    Ok(samples.into_row(work, "rounds 1-10", 1.2))
}
