//! With the programs that people have: run by `./check real`, which installs them.

mod agents;
mod local_model;
mod mcp;
mod server;
