//! A lost call on a seat's second transport.

use std::sync::Arc;

use plenary::domain::ask::{Purpose, TransportKind};
use plenary::engine::SeatTransports;
use plenary::providers::{CliTransport, Transport};

use super::attempts::{complaints, transcript};
use super::library::Library;
use super::scripted_seats::{play, seat};
use crate::kit::{Play, Seen, fitting, provider, purpose_of, surroundings};

/// The server rejects `bob` over HTTP for opinions.
fn locked(seen: &Seen) -> Play {
    match (seat(seen), purpose_of(&seen.system)) {
        ("bob", Purpose::Opinion) => Play::Status(401, Vec::new(), String::new()),
        _ => play(seen),
    }
}

/// All seats use HTTP; `bob` also has a program.
fn connections(library: &Library, life: &str, script: &str) -> SeatTransports {
    let program = Arc::new(provider("bob", &["/bin/sh", "-c", script]));
    let environment = surroundings(library.path(), &[]);
    let program = Transport::Cli(CliTransport::with_environment(program, environment));
    let mut connections = library.connections(life);
    connections.add("bob".parse().unwrap(), [library.http("bob", life), program].into());
    connections
}

#[test]
fn what_was_lost_on_the_second_transport_is_repeated_on_it() {
    let library = Library::new(locked);
    let hanging = connections(&library, "first", "sleep 30");
    let (id, dead) = library.crash(library.store.clone(), "first", hanging, |told| {
        told.was_sent_by(TransportKind::Cli) && told.replies().len() == 2
    });
    let opinion = library.path().join("opinion.json");
    std::fs::write(&opinion, fitting(&library.server.seen()[0]).to_string()).unwrap();
    let answering = connections(&library, "second", &format!("cat '{}'", opinion.display()));
    let last = library.resume(&id, "second", answering);
    assert!(!last.asked.contains(&"R1 bob".to_owned()), "{:?}", last.asked);
    let end = transcript(&last.journal);
    let asked = end.last_ask(1, &"bob".parse().unwrap()).unwrap();
    let ways: Vec<_> = asked.calls.iter().map(|call| call.sending.transport).collect();
    assert_eq!(ways, [TransportKind::Http, TransportKind::Cli, TransportKind::Cli]);
    let repeated = &asked.calls[2].sending;
    assert_eq!(repeated.repeats, Some(asked.calls[1].sending.call));
    assert_eq!(repeated.fallback, asked.calls[1].sending.fallback);
    assert_eq!(complaints(&[dead, last]), [""; 0]);
}
