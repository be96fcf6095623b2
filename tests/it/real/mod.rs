//! With the programs that people have: run by `./check real`, which installs them.

mod agents;
mod mcp;
mod server;
