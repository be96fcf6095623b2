//! The doors. Each turns what it is given into an operation and shows what came of it. They do
//! not know each other, but that the command line opens the others.

pub mod cli;
mod mcp;
