//! The doors. They do not know each other; each turns what it is given into an
//! operation and shows what came of it.

pub mod cli;
