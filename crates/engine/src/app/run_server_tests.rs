//! Places for runs: taken before anything waits, given back when a run has ended.

use plenary_core::model::dialogue::ProtocolKind;
use plenary_core::model::plan::{DeliveryMode, StakesLevel};
use plenary_core::model::run_state::RunStopReason;
use plenary_core::protocols::council::types::QuestionMode;
use plenary_core::protocols::protocol::Protocols;

use super::*;
use crate::app::planning::panel_setup::{AskOptions, PanelSetup, RehearsalChoice};
use crate::app::prepare_run::{council_settings, prepare_council};
use crate::app::start_run::PreparedRun;
use crate::clock::RealSystem;
use crate::config::locate::ConfigFlags;
use crate::context_files::gather::gather_files;
use crate::context_files::read::SecretGuard;
use crate::engine::run_start::load_run_state;

fn run_server(folder: &Path) -> Arc<RunServer> {
    let store = Some(folder.join("plenary.db").to_string_lossy().into_owned());
    RunServer::new(
        SettingsLoader::new(ConfigFlags { store, ..ConfigFlags::default() }, Protocols::built_in()),
        |_| {},
    )
}

/// A council that the rehearsal panel plays.
fn rehearsed(run_server: &RunServer) -> PreparedRun {
    let options = AskOptions {
        providers: Vec::new(),
        chair: None,
        stakes: StakesLevel::Normal,
        delivery: DeliveryMode::Synthesis,
        conclusion: None,
        rehearsal: RehearsalChoice::Requested,
    };
    let settings =
        council_settings(&run_server.loader, &options.rehearsal, &BudgetOverrides::default())
            .unwrap();
    let panel = PanelSetup::new(&settings, &options, &run_server.factory).unwrap();
    let guard = SecretGuard::default();
    let pack = gather_files(&settings.paths.working, &[], &guard).unwrap();
    let plan = panel.build_plan(QuestionMode::General, pack.into(), &RealSystem);
    let protocol = run_server.loader.protocols.find_protocol(ProtocolKind::Council).unwrap();
    prepare_council(protocol, &panel, "Tea?".to_owned(), plan)
}

#[test]
fn places_are_counted_from_when_they_are_reserved() {
    let folder = tempfile::tempdir().unwrap();
    let run_server = run_server(folder.path());
    let mut places: Vec<RunSlot> =
        (0..RUNS_MAX).map(|_| run_server.reserve_slot().unwrap()).collect();
    let refused = run_server.reserve_slot().unwrap_err();
    assert!(refused.message.contains("32 deliberations"), "{refused:?}");
    places.pop();
    run_server.reserve_slot().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_begins_while_the_server_closes_is_interrupted_before_it_has_closed() {
    let folder = tempfile::tempdir().unwrap();
    let run_server = run_server(folder.path());
    let place = run_server.reserve_slot().unwrap();
    let prepared = rehearsed(&run_server);
    run_server.interrupt_all();
    let closing = tokio::spawn({
        let run_server = Arc::clone(&run_server);
        async move { run_server.close().await }
    });
    let id = run_server.start_run(place, RunStart::New(Box::new(prepared)), None).await.unwrap();
    closing.await.unwrap();
    let project = run_server.open_project().unwrap();
    let state = load_run_state(&project.protocols, project.store.as_ref(), &id).unwrap();
    let stopped = state.stopped;
    assert_eq!(stopped, Some(RunStopReason::Interrupted));
    let refused = run_server.reserve_slot().unwrap_err();
    assert!(refused.message.contains("shutting down"), "{refused:?}");
}
