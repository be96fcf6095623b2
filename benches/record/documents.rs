//! Large documents of a long dialogue: `export` compared with reading and serialising the rows,
//! `context` with its serialisation alone, and the prompts of twelve experts with `context` plus
//! writing the same bytes.

use std::path::Path;

use plenary::files::{self, WritePermission};
use plenary::operations;
use serde_json::json;

use crate::Sizes;
use crate::bare_reads;
use crate::generated_data::{Place, Writer};
use crate::measure::{Outcome, Row, Samples, time};

/// Prompts take hundreds of megabytes on disk, so they are written only a few times.
const RENDERED: usize = 5;

pub(crate) fn measure(sizes: Sizes) -> Outcome<Vec<Row>> {
    let place = Place::new()?;
    let id = place.open_dialogue("Long")?;
    place.register_until(&id, sizes.exported, &mut Writer::new())?;
    Ok(vec![export(sizes, &place, &id)?, context(sizes, &place, &id)?, prompts(sizes)?])
}

fn export(sizes: Sizes, place: &Place, id: &str) -> Outcome<Row> {
    let (store, arguments) = (place.connect()?, json!({ "dialogue_id": id }));
    let mut samples = Samples::default();
    for _ in 0..sizes.repeats {
        let measured = time(|| operations::printed(&place.project, &arguments))?;
        let limit = time(|| -> Outcome<_> {
            // Both sides free their rows within the measured time.
            let rows = bare_reads::read(&store, id)?;
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
    let text = operations::context(&place.project, &arguments, WritePermission::Local)?;
    let document: bare_reads::Context = serde_json::from_str(&text)?;
    if serde_json::to_string(&document)?.len() != text.len() {
        return Err("the plain document is not the one that `context` writes".into());
    }
    let mut samples = Samples::default();
    for _ in 0..sizes.repeats {
        let measured =
            time(|| operations::context(&place.project, &arguments, WritePermission::Local))?;
        let limit = time(|| serde_json::to_string(&document))?;
        samples.add(measured, limit);
    }
    let work = format!("context of {} rounds x 99 perspectives", sizes.exported);
    Ok(samples.row(work, "serialise that document", 2.0))
}

fn prompts(sizes: Sizes) -> Outcome<Row> {
    // The last possible round of a dialogue has a prompt; no round follows it.
    let (place, rounds) = (Place::new()?, sizes.exported - 1);
    let id = place.open_dialogue("Long")?;
    place.register_until(&id, rounds, &mut Writer::new())?;
    let arguments = json!({ "dialogue_id": id });
    let written = operations::prompts(&place.project, &arguments, WritePermission::Local)?.prompts;
    let paths = written.iter().flat_map(|file| [&file.prompt_path, &file.context_path]);
    let kept = paths.map(|path| Ok((Path::new(path), files::read_text(Path::new(path))?)));
    let kept: Vec<(&Path, String)> = kept.collect::<Outcome<_>>()?;
    let mut samples = Samples::default();
    for _ in 0..sizes.repeats.min(RENDERED) {
        let measured =
            time(|| operations::prompts(&place.project, &arguments, WritePermission::Local))?;
        let limit = time(|| -> Outcome<_> {
            operations::context(&place.project, &arguments, WritePermission::Local)?;
            for (path, text) in &kept {
                files::replace(path, text.as_bytes())?;
            }
            Ok(())
        })?;
        samples.add(measured, limit);
    }
    let work = format!("prompts of 12 experts after {rounds} such rounds");
    Ok(samples.row(work, "context, and write the same bytes", 2.0))
}
