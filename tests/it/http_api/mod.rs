//! The HTTP API of `plenary serve`, with a real server and raw requests.

mod access;
mod client;
mod streams;
mod views;
