//! A lost call on a seat's second transport.

use std::sync::Arc;

use plenary_core::model::ask::{AskPurpose, TransportKind};
use plenary_engine::engine::run_start::SeatTransports;
use plenary_engine::providers::cli::transport::CliTransport;
use plenary_engine::providers::transport::Transport;

use super::attempts::{find_complaints, fold_journal};
use super::library::LibraryHarness;
use super::scripted_seats::{reply_to, seat_of_request};
use crate::kit::{
    ModelRequest, ScriptedReply, make_environment, make_provider, purpose_of, valid_reply,
};

/// The server rejects `bob` over HTTP for opinions.
fn reject_bob(seen: &ModelRequest) -> ScriptedReply {
    match (seat_of_request(seen), purpose_of(seen)) {
        ("bob", AskPurpose::Opinion) => ScriptedReply::Status(401, Vec::new(), String::new()),
        _ => reply_to(seen),
    }
}

/// All seats use HTTP; `bob` also has a program.
fn make_connections(library: &LibraryHarness, life: &str, script: &str) -> SeatTransports {
    let program = Arc::new(make_provider("bob", &["/bin/sh", "-c", script]));
    let environment = make_environment(library.path(), &[]);
    let program = Transport::Cli(CliTransport::with_environment(program, environment));
    let mut connections = library.make_connections(life);
    connections.add("bob".parse().unwrap(), [library.http_transport("bob", life), program].into());
    connections
}

#[test]
fn what_was_lost_on_the_second_transport_is_repeated_on_it() {
    let library = LibraryHarness::new(reject_bob);
    let hanging = make_connections(&library, "first", "sleep 30");
    let (id, dead) = library.crash_run(library.store.clone(), "first", hanging, |result| {
        result.was_sent_by(TransportKind::Cli) && result.received_replies().len() == 2
    });
    let opinion = library.path().join("opinion.json");
    std::fs::write(&opinion, valid_reply(&library.server.requests()[0]).to_string()).unwrap();
    let answering = make_connections(&library, "second", &format!("cat '{}'", opinion.display()));
    let last = library.resume_run(&id, "second", answering);
    assert!(!last.requests.contains(&"R1 bob".to_owned()), "{:?}", last.requests);
    let end = fold_journal(&last.journal);
    let asked = end.last_ask(1, &"bob".parse().unwrap()).unwrap();
    let ways: Vec<_> = asked.calls.iter().map(|call| call.dispatch.transport).collect();
    assert_eq!(ways, [TransportKind::Http, TransportKind::Cli, TransportKind::Cli]);
    let repeated = &asked.calls[2].dispatch;
    assert_eq!(repeated.repeats, Some(asked.calls[1].dispatch.call));
    assert_eq!(repeated.fallback, asked.calls[1].dispatch.fallback);
    assert_eq!(find_complaints(&[dead, last]), [""; 0]);
}
