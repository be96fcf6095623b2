//! Large documents of a long dialogue: `export` compared with reading and serialising the rows,
//! `context` with its serialisation alone, and the prompts of twelve experts with `context` plus
//! writing the same bytes.

use std::path::Path;

use plenary_engine::app::export_record::print_record;
use plenary_engine::app::round_context::{read_context, render_prompts};
use plenary_engine::files::allowed_file::WritePermission;
use plenary_engine::files::read_write::{read_request_text, replace_file};
use serde_json::json;

use crate::generated_data::{BenchmarkProject, TextGenerator};
use crate::measure::{BenchmarkResult, BenchmarkRow, SamplePairs, measure_time};
use crate::{DataSizes, bare_reads};

/// Prompts take hundreds of megabytes on disk, so they are written only a few times.
const RENDERED: usize = 5;

pub(crate) fn measure_documents(sizes: DataSizes) -> BenchmarkResult<Vec<BenchmarkRow>> {
    let place = BenchmarkProject::new()?;
    let id = place.open_dialogue("Long")?;
    place.register_until(&id, sizes.exported, &mut TextGenerator::new())?;
    Ok(vec![
        measure_export(sizes, &place, &id)?,
        measure_context(sizes, &place, &id)?,
        measure_prompts(sizes)?,
    ])
}

fn measure_export(
    sizes: DataSizes,
    place: &BenchmarkProject,
    id: &str,
) -> BenchmarkResult<BenchmarkRow> {
    let (store, arguments) = (place.connect()?, json!({ "dialogue_id": id }));
    let mut samples = SamplePairs::default();
    for _ in 0..sizes.repeats {
        let measured = measure_time(|| print_record(&place.project, &arguments))?;
        let limit = measure_time(|| -> BenchmarkResult<_> {
            // Both sides free their rows within the measured time.
            let rows = bare_reads::read_rows(&store, id)?;
            Ok(serde_json::to_string(&rows)?)
        })?;
        samples.add_pair(measured, limit);
    }
    let work = format!("export {} rounds x 99 perspectives", sizes.exported);
    Ok(samples.into_row(work, "read the rows, serialise them", 2.0))
}

fn measure_context(
    sizes: DataSizes,
    place: &BenchmarkProject,
    id: &str,
) -> BenchmarkResult<BenchmarkRow> {
    // The newest round has a context of all the others.
    let arguments = json!({ "dialogue_id": id, "round": sizes.exported });
    let text = read_context(&place.project, &arguments, WritePermission::Local)?;
    let document: bare_reads::PlainContext = serde_json::from_str(&text)?;
    if serde_json::to_string(&document)?.len() != text.len() {
        return Err("the plain document is not the one that `context` writes".into());
    }
    let mut samples = SamplePairs::default();
    for _ in 0..sizes.repeats {
        let measured =
            measure_time(|| read_context(&place.project, &arguments, WritePermission::Local))?;
        let limit = measure_time(|| serde_json::to_string(&document))?;
        samples.add_pair(measured, limit);
    }
    let work = format!("context of {} rounds x 99 perspectives", sizes.exported);
    Ok(samples.into_row(work, "serialise that document", 2.0))
}

fn measure_prompts(sizes: DataSizes) -> BenchmarkResult<BenchmarkRow> {
    // The last possible round of a dialogue has a prompt; no round follows it.
    let (place, rounds) = (BenchmarkProject::new()?, sizes.exported - 1);
    let id = place.open_dialogue("Long")?;
    place.register_until(&id, rounds, &mut TextGenerator::new())?;
    let arguments = json!({ "dialogue_id": id });
    let written = render_prompts(&place.project, &arguments, WritePermission::Local)?.prompts;
    let paths = written.iter().flat_map(|file| [&file.prompt_path, &file.context_path]);
    let kept = paths.map(|path| Ok((Path::new(path), read_request_text(Path::new(path))?)));
    let kept: Vec<(&Path, String)> = kept.collect::<BenchmarkResult<_>>()?;
    let mut samples = SamplePairs::default();
    for _ in 0..sizes.repeats.min(RENDERED) {
        let measured =
            measure_time(|| render_prompts(&place.project, &arguments, WritePermission::Local))?;
        let limit = measure_time(|| -> BenchmarkResult<_> {
            read_context(&place.project, &arguments, WritePermission::Local)?;
            for (path, text) in &kept {
                replace_file(path, text.as_bytes())?;
            }
            Ok(())
        })?;
        samples.add_pair(measured, limit);
    }
    let work = format!("prompts of 12 experts after {rounds} such rounds");
    Ok(samples.into_row(work, "context, and write the same bytes", 2.0))
}
