//! `mcp` and `serve`: servers by standard input and output and by HTTP.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use axum::Router;
use clap::Args;
use plenary_engine::app::run_server::RunServer;
use plenary_engine::error::Error;
use plenary_engine::providers::process::scratch_folder::sweep_scratch_folders;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::cli::runs::cli_runtime::{StopSignals, raise_open_file_limit};
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::ui::print_message;
use crate::http::admission::{PublicAddress, ServedNames};
use crate::http::connections::HttpLimits;
use crate::http::server::{HttpServer, ListenAddress};
use crate::http::tls::read_tls;
use crate::mcp::http::mcp_router;
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

/// Serve the web page, the API and MCP over HTTP
///
/// Listens on a loopback address. The page shows councils live and how their conclusions came
/// about; programs use the API, agents MCP. `--open` opens the page in a browser. Other clients
/// send the token. The first start creates the token in a file beside the store that only you can
/// read. Ctrl-C stops the server; running deliberations can be resumed.
///
/// $ plenary serve --open
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
    /// Listen on this address instead; beyond this machine it needs `--public-url`
    #[arg(long, value_name = "IP:PORT", conflicts_with_all = ["port", "bind"], value_parser = parse_socket)]
    listen: Option<SocketAddr>,
    /// The https address of browsers, such as `https://plenary.example.org`
    #[arg(long, value_name = "URL", value_parser = parse_public_address)]
    public_url: Option<PublicAddress>,
    /// Speak TLS with this certificate chain, in PEM; needs `--public-url` for the name
    #[arg(long, value_name = "FILE", requires_all = ["tls_key", "public_url"])]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Print an address that opens the page once, and open it in a browser
    #[arg(long)]
    open: bool,
}

fn parse_socket(typed: &str) -> Result<SocketAddr, &'static str> {
    typed.parse().map_err(|_| "expected an address with a port, such as `0.0.0.0:7456`")
}

fn parse_loopback(typed: &str) -> Result<IpAddr, &'static str> {
    let ip: Option<IpAddr> = typed.parse().ok();
    ip.filter(IpAddr::is_loopback)
        .ok_or("expected a loopback address: 127.0.0.1 or ::1; `--listen` serves other machines")
}

fn parse_public_address(typed: &str) -> Result<PublicAddress, &'static str> {
    PublicAddress::parse(typed)
        .ok_or("expected https and a host, without a path: https://plenary.example.org")
}

impl ServeArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let address = self.listen_address()?;
        serve_until_stopped(session, async move |run_server, stop| {
            let limits = HttpLimits::of_process();
            let listening = HttpServer::bind(run_server, &address, limits, serve_mcp).await?;
            print_message(&format!("the page is on {}", listening.page_address()));
            if self.open {
                let address = listening.open_address();
                print_message(&format!("address for the browser, valid once: {address}"));
                open_browser(&address);
            }
            print_message(&format!("serving MCP on {}mcp", listening.served_address()));
            print_message(&format!("the token is in {}", listening.token_path.display()));
            listening.serve_until(stop).await;
            Ok(())
        })
    }

    /// Beyond loopback the token would travel in the clear, so TLS in front is a condition.
    fn listen_address(&self) -> Result<ListenAddress, Error> {
        let public = self.public_url.clone();
        let files = self.tls_cert.as_deref().zip(self.tls_key.as_deref());
        let tls = files.map(|(cert, key)| read_tls(cert, key)).transpose()?;
        let Some(socket) = self.listen else {
            return Ok(ListenAddress {
                public,
                tls,
                ..ListenAddress::loopback(self.bind, self.port)
            });
        };
        if !socket.ip().is_loopback() && public.is_none() {
            let message = "`--listen` beyond loopback needs TLS, by `--tls-cert` or a proxy in front: \
                name the address with `--public-url https://HOST`";
            return Err(Error::Usage(message.to_owned()));
        }
        Ok(ListenAddress { socket, public, tls })
    }
}

fn serve_mcp(run_server: Arc<RunServer>, names: &ServedNames, limits: HttpLimits) -> Router {
    let (hosts, origins) = (names.hosts.clone(), names.origins.clone());
    mcp_router(run_server, hosts, origins, limits.body_timeout)
}

/// Programs that open an address in the user's browser.
const BROWSER_PROGRAMS: [&str; 2] = ["xdg-open", "open"];

/// Opens the address. Without a browser the user opens the printed address.
fn open_browser(address: &str) {
    let start = |program: &&str| {
        let mut command = std::process::Command::new(program);
        let quiet = command.arg(address).stdin(Stdio::null()).stdout(Stdio::null());
        quiet.stderr(Stdio::null()).spawn().is_ok()
    };
    let _ = BROWSER_PROGRAMS.iter().find(|program| start(program));
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
        let (tell, result) = oneshot::channel();
        let stop = Box::pin(async move { drop(result.await) });
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
