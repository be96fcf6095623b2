//! The lower limit: the server's own measure_time, measured with a client that does nothing else.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::measure::{BenchmarkResult, measure_time};

/// Opinions, reviews and the report run one after another.
const ROUNDS: usize = 3;

/// Time of the sequential calls that a council cannot avoid.
pub(crate) fn critical_path(server: SocketAddr) -> BenchmarkResult<Duration> {
    let mut stream = BufReader::new(TcpStream::connect(server)?);
    stream.get_ref().set_nodelay(true)?;
    measure_time(|| (0..ROUNDS).try_for_each(|_| send_call(&mut stream)))
}

fn send_call(stream: &mut BufReader<TcpStream>) -> BenchmarkResult<()> {
    let request = "POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}";
    stream.get_mut().write_all(request.as_bytes())?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Err("the model server hung up".into());
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
    }
    stream.read_exact(&mut vec![0; length])?;
    Ok(())
}
