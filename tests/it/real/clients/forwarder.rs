//! A proxy between a client that cannot send a token and our server, which requires one.
//!
//! It also replaces its own port in `Host` and `Origin`, and the requested name where one of ours
//! is substituted.

use std::io;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};

use serde_json::Value;

use super::harness::ServeProcess;

/// Substitutes a name in a message. Returns the requested and the substituted name.
pub type NameSubstitution = fn(&mut Value) -> Option<(String, String)>;

#[derive(Clone)]
pub struct TokenForwarder {
    port: u16,
    server_port: u16,
    token: String,
    substitute: NameSubstitution,
}

impl TokenForwarder {
    /// Forwards until the test process ends; returns the URL.
    pub fn start_forwarder(server: &ServeProcess, stand_in: NameSubstitution) -> String {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let forwarder = Self {
            port,
            server_port: server.port(),
            token: server.token.clone(),
            substitute: stand_in,
        };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let forwarder = forwarder.clone();
                // Ignore clients that disconnect early.
                std::thread::spawn(move || forwarder.forward_request(&stream).ok());
            }
        });
        format!("http://127.0.0.1:{port}/mcp")
    }

    /// Forwards one request and its answer, without a timeout.
    fn forward_request(&self, client: &TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(client.try_clone()?);
        let (mut head, mut body) = read_request(&mut reader)?;
        let swapped = self.substitute_in_body(&mut body);
        let is_ours = |line: &String| {
            let name = line.split(':').next().unwrap_or_default();
            name.eq_ignore_ascii_case("content-length") || name.eq_ignore_ascii_case("connection")
        };
        head.retain(|line| !is_ours(line));
        head.iter_mut().skip(1).for_each(|line| self.restore_name(line, swapped.as_ref()));
        head.push(format!("content-length: {}", body.len()));
        head.push(format!("authorization: Bearer {}", self.token));
        head.push("connection: close".to_owned());

        let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, self.server_port))?;
        server.write_all(format!("{}\r\n\r\n", head.join("\r\n")).as_bytes())?;
        server.write_all(&body)?;
        let gone = server.try_clone()?;
        std::thread::spawn(move || {
            // Stop waiting for the answer when the client disconnects.
            let _ = reader.read(&mut [0]);
            gone.shutdown(Shutdown::Both)
        });
        io::copy(&mut server, &mut &*client)?;
        client.shutdown(Shutdown::Both)
    }

    fn substitute_in_body(&self, body: &mut Vec<u8>) -> Option<(String, String)> {
        let mut message: Value = serde_json::from_slice(body).ok()?;
        let swapped = (self.substitute)(&mut message)?;
        *body = message.to_string().into_bytes();
        Some(swapped)
    }

    fn restore_name(&self, line: &mut String, swapped: Option<&(String, String)>) {
        let Some((name, value)) = line.split_once(": ") else { return };
        let value = match (name.to_lowercase().as_str(), swapped) {
            ("host" | "origin", _) => {
                value.replace(&format!(":{}", self.port), &format!(":{}", self.server_port))
            }
            ("mcp-name", Some((asked, ours))) if value == asked => ours.clone(),
            _ => return,
        };
        *line = format!("{name}: {value}");
    }
}

/// The head lines and the body.
fn read_request(client: &mut BufReader<TcpStream>) -> io::Result<(Vec<String>, Vec<u8>)> {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        client.read_line(&mut line)?;
        match line.trim_end() {
            "" => break,
            line => head.push(line.to_owned()),
        }
    }
    let length = head.iter().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    client.read_exact(&mut body)?;
    Ok((head, body))
}
