//! Tests with real third-party programs: `./check real` installs and runs them.

mod agents;
mod clients;
mod documents;
mod local_model;
mod mcp;
mod model_process;
mod page;
mod sarif;
mod server;
mod tool_script;
