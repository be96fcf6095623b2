//! Places for runs: taken before anything waits, given back when a run has ended.

use super::*;
use crate::ambient::Machine;
use crate::config::Flags;
use crate::convening::{Rehearsal, Table, Wishes};
use crate::domain::council::words::Mode;
use crate::domain::plan::{Delivery, Stakes};
use crate::domain::transcript::Stop;
use crate::engine::look;
use crate::hosting::{council, council_settings};
use crate::material;

fn house(folder: &Path) -> Arc<House> {
    let store = Some(folder.join("plenary.db").to_string_lossy().into_owned());
    House::new(Premises::new(Flags { store, ..Flags::default() }), |_| {})
}

/// A council that the rehearsal panel plays.
fn rehearsed(house: &House) -> Prepared {
    let wishes = Wishes {
        providers: Vec::new(),
        chair: None,
        stakes: Stakes::Normal,
        delivery: Delivery::Synthesis,
        conclusion: None,
        rehearsal: Rehearsal::Wanted,
    };
    let settings =
        council_settings(&house.premises, &wishes.rehearsal, &Overrides::default()).unwrap();
    let table = Table::set(&settings, &wishes, &house.outlets).unwrap();
    let guard = material::SecretGuard::default();
    let pack = material::gather(&settings.located.working, &[], &guard).unwrap();
    let plan = table.plan(Mode::General, pack.into(), &Machine);
    council(&table, "Tea?".to_owned(), plan)
}

#[test]
fn places_are_counted_from_when_they_are_reserved() {
    let folder = tempfile::tempdir().unwrap();
    let house = house(folder.path());
    let mut places: Vec<RunPlace> = (0..RUNS_MAX).map(|_| house.reserve_place().unwrap()).collect();
    let refused = house.reserve_place().unwrap_err();
    assert!(refused.message.contains("32 deliberations"), "{refused:?}");
    places.pop();
    house.reserve_place().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_begins_while_the_server_closes_is_interrupted_before_it_has_closed() {
    let folder = tempfile::tempdir().unwrap();
    let house = house(folder.path());
    let place = house.reserve_place().unwrap();
    let prepared = rehearsed(&house);
    house.interrupt_all();
    let closing = tokio::spawn({
        let house = Arc::clone(&house);
        async move { house.close().await }
    });
    let id = house.begin(place, prepared, None).await.unwrap();
    closing.await.unwrap();
    let stopped = look(house.for_existing().unwrap().store.as_ref(), &id).unwrap().stopped;
    assert_eq!(stopped, Some(Stop::Interrupted));
    let refused = house.reserve_place().unwrap_err();
    assert!(refused.message.contains("ending"), "{refused:?}");
}
