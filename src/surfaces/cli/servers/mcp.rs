//! `mcp`: the door for agents, by standard input and output.

use clap::Args;

use super::super::session::{Done, Session};
use super::lifetime::serve_until_stopped;
use crate::error::Error;
use crate::surfaces::mcp::serve_stdio;

/// Serve agents by MCP on standard input and output
///
/// An agent program (Claude Code, Codex, Gemini) starts this itself: `plenary init --mcp claude`
/// says how to tell it. The tools lead a dialogue as its Judge, ask a council, or have a document
/// reviewed; they read and write in the folder it was started in, and in its store.
///
/// It ends with its client. A deliberation that was running is then interrupted, and goes on when
/// it is asked for: by the next server, or by `plenary resume`.
#[derive(Debug, Args)]
pub(crate) struct Mcp {}

impl Mcp {
    pub(crate) fn run(self, session: Session<'_>) -> Result<Done, Error> {
        serve_until_stopped(session, async |house, stop| {
            tokio::select! {
                () = serve_stdio(house) => {}
                () = stop => {}
            }
            Ok(())
        })
    }
}
