//! One council: the program from start to exit, compared with three calls in a row.

use crate::bare_client::critical_path;
use crate::folder::Folder;
use crate::measure::{Outcome, Row, Samples};
use crate::program::run;
use crate::server::Server;

const ALLOWED: f64 = 1.03;

pub(crate) fn measure(server: &Server, repeats: usize) -> Outcome<Vec<Row>> {
    let folder = Folder::new(server.address)?;
    let ask = || run(&folder, &["Should we take the first step before winter?"], 1);
    // Create the store before measuring: it is created only once per project.
    ask()?;
    let mut samples = Samples::default();
    for _ in 0..repeats {
        samples.add(ask()?.wall, critical_path(server.address)?);
    }
    Ok(vec![samples.row("one council".to_owned(), "three calls in a row", ALLOWED)])
}
