//! With the programs that people have: run by `./check real`, which installs them.

mod agents;
mod clients;
mod documents;
mod leading;
mod local_model;
mod mcp;
mod model;
mod sarif;
mod server;
