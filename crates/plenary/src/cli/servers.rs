//! `mcp` and `serve`: MCP servers, by standard input and output and by HTTP.

use std::net::IpAddr;
use std::sync::Arc;

use clap::Args;
use plenary_engine::app::run_server::RunServer;
use plenary_engine::error::Error;
use plenary_engine::providers::process::scratch_folder::sweep_scratch_folders;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::cli::runs::cli_runtime::{StopSignals, raise_open_file_limit};
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::ui::print_message;
use crate::mcp::connections::HttpLimits;
use crate::mcp::http::{ListenAddress, bind_http_server};
use crate::mcp::stdio::serve_stdio;

/// Serve agents by MCP on standard input and output
///
/// An agent program (Claude Code, Codex, Gemini) starts this command itself; `plenary init --mcp
/// claude` prints the configuration that it needs. The tools lead a dialogue as its Judge, ask a
/// council and review documents, in the folder and the store of the server.
///
/// The server ends with its client. Its running deliberations are then interrupted; the next
/// server or `plenary resume` continues them.
///
/// $ plenary init --mcp claude
///
/// $ plenary mcp --config council.yaml
#[derive(Debug, Args)]
pub(crate) struct McpArgs {}

impl McpArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        serve_until_stopped(session, async |run_server, stop| {
            tokio::select! {
                () = serve_stdio(run_server) => {}
                () = stop => {}
            }
            Ok(())
        })
    }
}

/// No other program is known to use this port.
const PORT_DEFAULT: u16 = 7456;

/// Serve agents by MCP over HTTP on this machine
///
/// Listens on a loopback address and answers clients that send the token. The first start creates
/// the token in a file beside the store that only you can read. Ctrl-C stops the server; running
/// deliberations can be resumed.
///
/// $ plenary serve --port 8080
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The port; 0 chooses a free one
    #[arg(long, value_name = "PORT", default_value_t = PORT_DEFAULT)]
    port: u16,
    /// The loopback address
    #[arg(long, value_name = "IP", default_value = "127.0.0.1", value_parser = parse_loopback)]
    bind: IpAddr,
}

fn parse_loopback(typed: &str) -> Result<IpAddr, &'static str> {
    let ip: Option<IpAddr> = typed.parse().ok();
    ip.filter(IpAddr::is_loopback)
        .ok_or("expected a loopback address: 127.0.0.1 or ::1; use a proxy to serve other machines")
}

impl ServeArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let address = ListenAddress { ip: self.bind, port: self.port };
        serve_until_stopped(session, async move |run_server, stop| {
            let listening = bind_http_server(run_server, address, HttpLimits::of_process()).await?;
            print_message(&format!("serving MCP on http://{}/mcp", listening.address));
            print_message(&format!("the token is in {}", listening.token_path.display()));
            listening.serve_until(stop).await;
            Ok(())
        })
    }
}

/// Completes when the server must stop.
pub(crate) type StopSignal = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// Serves until stopped, then interrupts the running runs.
pub(crate) fn serve_until_stopped(
    session: &CliSession<'_>,
    serve: impl AsyncFnOnce(Arc<RunServer>, StopSignal) -> Result<(), Error>,
) -> Result<ExitStatus, Error> {
    raise_open_file_limit();
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(Error::Runtime)?;
    sweep_scratch_folders();
    let say = if session.ui.is_quiet() { |_: &str| {} } else { print_message };
    let run_server = RunServer::new(session.loader.without_confirmation(), say);
    let done = runtime.block_on(async {
        let (tell, told) = oneshot::channel();
        let stop = Box::pin(async move { drop(told.await) });
        let serving = async {
            let served = serve(Arc::clone(&run_server), stop).await;
            run_server.close().await;
            served.map(|()| ExitStatus::Ok)
        };
        tokio::select! {
            done = serving => done,
            () = stop_on_signals(&run_server, tell) => Ok(ExitStatus::Interrupted),
        }
    });
    // A task may still read standard input and would block for ever.
    runtime.shutdown_background();
    done
}

/// Stops the server at the first signal and returns at the second. The first one interrupts the
/// runs at once, because they cost money.
async fn stop_on_signals(run_server: &RunServer, tell: oneshot::Sender<()>) {
    let mut signals = StopSignals::subscribe_all();
    signals.next_signal().await;
    run_server.interrupt_all();
    // The server may have ended already.
    let _ = tell.send(());
    signals.next_signal().await;
}
