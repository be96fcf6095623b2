//! Registering a full round: compared with a bare transaction, and late rounds with early ones.

use plenary::operations;

use crate::Sizes;
use crate::bare_writes::{self, Bare};
use crate::generated_data::{Place, Writer, batch};
use crate::measure::{Outcome, Row, Samples, time};

/// Rounds of each dialogue that are compared, early and late.
const COMPARED: u8 = 10;

pub(crate) fn measure(sizes: Sizes) -> Outcome<Vec<Row>> {
    Ok(vec![beside_bare_transaction(sizes)?, late_beside_early(sizes)?])
}

fn beside_bare_transaction(sizes: Sizes) -> Outcome<Row> {
    let (place, mut writer) = (Place::new()?, Writer::new());
    let bare = Bare::new(place.folder.path())?;
    let (store, id) = (place.connect()?, place.open_dialogue("Bare")?);
    bare.open_dialogue(&store, &id)?;
    let mut samples = Samples::default();
    for round in 0..sizes.registered {
        let batch = batch(&id, round, &mut writer);
        let measured = time(|| operations::register(&place.project, &batch))?;
        let written = bare_writes::written(&store, &id, round)?;
        let limit = time(|| bare.write(&written))?;
        samples.add(measured, limit);
    }
    let work = "register 99 perspectives with refs".to_owned();
    Ok(samples.row(work, "bare transaction, same rows", 4.0))
}

fn late_beside_early(sizes: Sizes) -> Outcome<Row> {
    let (place, mut writer) = (Place::new()?, Writer::new());
    let mut samples = Samples::default();
    for number in 0..sizes.dialogues {
        let early = place.open_dialogue(&format!("Early {number}"))?;
        let late = place.open_dialogue(&format!("Late {number}"))?;
        place.register_until(&early, 1, &mut writer)?;
        place.register_until(&late, sizes.late, &mut writer)?;
        for step in 0..COMPARED {
            let late = batch(&late, sizes.late + step, &mut writer);
            let early = batch(&early, 1 + step, &mut writer);
            let measured = time(|| operations::register(&place.project, &late))?;
            let limit = time(|| operations::register(&place.project, &early))?;
            samples.add(measured, limit);
        }
    }
    let work = format!("register rounds {}-{}", sizes.late, sizes.late + COMPARED - 1);
    Ok(samples.row(work, "rounds 1-10", 1.2))
}
