//! `serve`: the door for agents, by HTTP.

use std::net::IpAddr;

use clap::Args;

use super::super::session::{Done, Session};
use super::super::ui::talk;
use super::lifetime::serve_until_stopped;
use crate::error::Error;
use crate::surfaces::mcp::{Address, HttpLimits, listen};

/// Nobody else is known to listen there.
const PORT_DEFAULT: u16 = 7456;

/// Serve agents by MCP over HTTP, on this machine
///
/// Listens on loopback and answers those who send the token, which is made at the first start
/// and kept beside the store, for its owner's eyes only. Ctrl-C ends it; a deliberation that was
/// running can be resumed.
///
///   plenary serve
///   curl -H "Authorization: Bearer $(cat .plenary/token)" http://127.0.0.1:7456/mcp …
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Serve {
    /// The port; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = PORT_DEFAULT)]
    port: u16,
    /// The address: of this machine only.
    #[arg(long, value_name = "IP", default_value = "127.0.0.1", value_parser = loopback)]
    bind: IpAddr,
}

fn loopback(typed: &str) -> Result<IpAddr, &'static str> {
    let ip: Option<IpAddr> = typed.parse().ok();
    ip.filter(IpAddr::is_loopback)
        .ok_or("only this machine is served: 127.0.0.1 or ::1; a proxy in front can serve others")
}

impl Serve {
    pub(crate) fn run(self, session: Session<'_>) -> Result<Done, Error> {
        let address = Address { ip: self.bind, port: self.port };
        serve_until_stopped(session, async move |house, stop| {
            let listening = listen(house, address, HttpLimits::of_process()).await?;
            talk(&format!("serving MCP on http://{}/mcp", listening.address));
            talk(&format!("the token is in {}", listening.token_path.display()));
            listening.serve(stop).await;
            Ok(())
        })
    }
}
