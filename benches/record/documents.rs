//! The two large documents of a long dialogue: `export` against reading the rows
//! and serialising them, `context` against its serialisation alone.

use plenary::operations;
use serde_json::json;

use crate::Sizes;
use crate::material::{Place, Writer};
use crate::measure::{Outcome, Row, Samples, time};
use crate::plain;

pub(crate) fn measure(sizes: Sizes) -> Outcome<Vec<Row>> {
    let place = Place::new()?;
    let id = place.open_dialogue("Long")?;
    place.register_until(&id, sizes.exported, &mut Writer::new())?;
    Ok(vec![export(sizes, &place, &id)?, context(sizes, &place, &id)?])
}

fn export(sizes: Sizes, place: &Place, id: &str) -> Outcome<Row> {
    let (store, arguments) = (place.connect()?, json!({ "dialogue_id": id }));
    let mut samples = Samples::default();
    for _ in 0..sizes.repeats {
        let measured = time(|| operations::printed(&place.workspace, &arguments))?;
        let limit = time(|| -> Outcome<_> {
            // What was read is freed within the measured time, there as here.
            let rows = plain::read(&store, id)?;
            Ok(serde_json::to_string(&rows)?)
        })?;
        samples.add(measured, limit);
    }
    let work = format!("export {} rounds x 99 perspectives", sizes.exported);
    Ok(samples.row(work, "read the rows, serialise them", 2.0))
}

fn context(sizes: Sizes, place: &Place, id: &str) -> Outcome<Row> {
    // The newest round has a context of all the others.
    let arguments = json!({ "dialogue_id": id, "round": sizes.exported });
    let text = operations::context(&place.workspace, &arguments)?;
    let document: plain::Context = serde_json::from_str(&text)?;
    if serde_json::to_string(&document)?.len() != text.len() {
        return Err("the plain document is not the one that `context` writes".into());
    }
    let mut samples = Samples::default();
    for _ in 0..sizes.repeats {
        let measured = time(|| operations::context(&place.workspace, &arguments))?;
        let limit = time(|| serde_json::to_string(&document))?;
        samples.add(measured, limit);
    }
    let work = format!("context of {} rounds x 99 perspectives", sizes.exported);
    Ok(samples.row(work, "serialise that document", 2.0))
}
