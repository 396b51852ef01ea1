//! A plain HTTP/1.x client that shows what came over the wire, and when.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::Result;
use super::nginx::slowness;

/// Bytes that arrived together.
#[derive(Debug, Clone)]
pub struct Piece {
    /// Time since the last [`Connection::send`].
    pub at: Duration,
    /// What arrived.
    pub bytes: Vec<u8>,
}

/// What a response says of the length of its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// No body can follow: HEAD, 1xx, 204, 304.
    None,
    /// Content-Length.
    Length(usize),
    /// Transfer-Encoding: chunked.
    Chunked,
    /// Until the connection ends.
    Close,
}

/// One response.
#[derive(Debug, Clone)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The status line and the headers as they came, each with its CRLF, without the empty line.
    pub head: Vec<u8>,
    /// Names and values as they came, but for one blank after the colon, in order.
    pub headers: Vec<(String, String)>,
    /// The body, without the chunks' framing.
    pub body: Vec<u8>,
    /// How the body's end is told.
    pub framing: Framing,
    /// Whether that end was there: false when the connection broke off before.
    pub complete: bool,
    /// The bytes of this response in the pieces they came in, framing included. A piece may also hold the
    /// beginning of the next pipelined response.
    pub pieces: Vec<Piece>,
}

impl Response {
    /// The value of the header `name`, whatever its case; several are joined by `, `.
    pub fn header(&self, name: &str) -> Option<String> {
        let values: Vec<&str> = self
            .headers
            .iter()
            .filter(|(each, _)| each.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
            .collect();
        if values.is_empty() { None } else { Some(values.join(", ")) }
    }

    /// The body as text; bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A connection to a server on loopback.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    sent: Instant,
    /// Pieces that were read and the response read last did not use up.
    pieces: Vec<Piece>,
    ended: bool,
}

impl Connection {
    /// Connects to 127.0.0.1. Fails the test if nobody listens.
    pub fn open(port: u16) -> Connection {
        Connection::try_open(Ipv4Addr::LOCALHOST.into(), port, None)
            .unwrap_or_else(|error| panic!("cannot connect to 127.0.0.1:{port}: {error}"))
    }

    /// Connects to 127.0.0.1 from another address of the loopback network, such as 127.0.0.2.
    pub fn open_from(client: IpAddr, port: u16) -> Connection {
        Connection::try_open(Ipv4Addr::LOCALHOST.into(), port, Some(client))
            .unwrap_or_else(|error| panic!("cannot connect to 127.0.0.1:{port}: {error}"))
    }

    /// Connects to `server`, from `client` if one is given.
    pub fn try_open(server: IpAddr, port: u16, client: Option<IpAddr>) -> io::Result<Connection> {
        let stream = connect(server, port, client)?;
        stream.set_read_timeout(Some(Duration::from_secs(10) * slowness()))?;
        Ok(Connection { stream, sent: Instant::now(), pieces: Vec::new(), ended: false })
    }

    /// How long to wait for the next piece before giving up; 10 s if not set.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.stream.set_read_timeout(Some(timeout)).expect("a socket takes any timeout but zero");
    }

    /// Sends bytes. An error is left to the reading: a server may answer and close before all is sent.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Connection {
        self.sent = Instant::now();
        let _ = self.stream.write_all(bytes.as_ref());
        self
    }

    /// Says that nothing more will be sent.
    pub fn shutdown_write(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Reads the response to a request that is not HEAD. Fails the test if none comes.
    pub fn read(&mut self) -> Response {
        self.try_read(false).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Reads the response to a HEAD request. Fails the test if none comes.
    pub fn read_head(&mut self) -> Response {
        self.try_read(true).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Reads one response; `head` says that it answers HEAD. A response cut off after its headers is given,
    /// not [`Response::complete`]; the error is that there is none, or that what came is none.
    pub fn try_read(&mut self, head: bool) -> Result<Response> {
        loop {
            let bytes = self.unread();
            match parse(&bytes, head, self.ended)? {
                Some((mut response, used)) => {
                    response.pieces = self.take(used);
                    return Ok(response);
                }
                None if self.ended => {
                    let bytes = String::from_utf8_lossy(&bytes).into_owned();
                    return Err(format!("the connection ended without a response: {bytes:?}"));
                }
                None => self.read_piece()?,
            }
        }
    }

    /// Reads until the server closes and gives all bytes not yet taken.
    pub fn read_to_end(&mut self) -> Vec<u8> {
        while !self.ended {
            self.read_piece().unwrap_or_else(|error| panic!("{error}"));
        }
        std::mem::take(&mut self.pieces).into_iter().flat_map(|piece| piece.bytes).collect()
    }

    /// Whether the server has closed, within `patience`, without sending anything more.
    pub fn is_closed(&mut self, patience: Duration) -> bool {
        let before = self.stream.read_timeout().ok().flatten();
        self.set_timeout(patience);
        let silent = self.pieces.is_empty();
        let _ = if self.ended { Ok(()) } else { self.read_piece() };
        let _ = self.stream.set_read_timeout(before);
        silent && self.ended && self.pieces.is_empty()
    }

    fn read_piece(&mut self) -> Result<()> {
        let mut buffer = [0; 65536];
        match self.stream.read(&mut buffer) {
            Ok(0) => self.ended = true,
            Ok(length) => {
                let at = self.sent.elapsed();
                self.pieces.push(Piece { at, bytes: buffer[..length].to_vec() });
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => (),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => self.ended = true,
            Err(error) => {
                let got = String::from_utf8_lossy(&self.unread()).into_owned();
                return Err(format!("no more came ({error}) after {got:?}"));
            }
        }
        Ok(())
    }

    fn unread(&self) -> Vec<u8> {
        self.pieces.iter().flat_map(|piece| piece.bytes.iter().copied()).collect()
    }

    /// Takes the pieces of the first `used` bytes; what a piece holds beyond them stays.
    fn take(&mut self, mut used: usize) -> Vec<Piece> {
        let mut taken = Vec::new();
        while used > 0 && !self.pieces.is_empty() {
            let piece = &mut self.pieces[0];
            let length = used.min(piece.bytes.len());
            taken.push(Piece { at: piece.at, bytes: piece.bytes.drain(..length).collect() });
            used -= length;
            if piece.bytes.is_empty() {
                self.pieces.remove(0);
            }
        }
        taken
    }
}

/// A socket connected to `server`, from `client` if one is given, that sends at once what it is given.
pub fn connect(server: IpAddr, port: u16, client: Option<IpAddr>) -> io::Result<TcpStream> {
    use rustix::net::{AddressFamily, SocketType, bind, connect, socket};

    let server = SocketAddr::new(server, port);
    let stream = match client {
        None => TcpStream::connect(server)?,
        Some(client) => {
            let family = if server.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
            let socket = socket(family, SocketType::STREAM, None)?;
            bind(&socket, &SocketAddr::new(client, 0))?;
            connect(&socket, &server)?;
            TcpStream::from(socket)
        }
    };
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Asks `GET target` on a connection of its own that is closed after the answer.
pub fn get(port: u16, target: &str) -> Response {
    get_with(port, target, &[])
}

/// As [`get`], with more headers.
pub fn get_with(port: u16, target: &str, headers: &[(&str, &str)]) -> Response {
    request(port, "GET", target, headers)
}

/// Asks `method target` without a body, on a connection of its own that is closed after the answer.
pub fn request(port: u16, method: &str, target: &str, headers: &[(&str, &str)]) -> Response {
    let mut text =
        format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    let mut connection = Connection::open(port);
    connection.send(text).try_read(method == "HEAD").unwrap_or_else(|error| panic!("{error}"))
}

/// Reads one response off the beginning of `bytes` and says how many of them it took. `None`: more has to
/// come; with `ended`, nothing will, and what is there of a body is given as it is.
pub fn parse(bytes: &[u8], head: bool, ended: bool) -> Result<Option<(Response, usize)>> {
    let Some(end) = find(bytes, b"\r\n\r\n") else { return Ok(None) };
    let (status, headers) = parse_head(&bytes[..end])?;
    let body = &bytes[end + 4..];
    let mut response = Response {
        status,
        head: bytes[..end + 2].to_vec(),
        headers,
        body: Vec::new(),
        framing: Framing::None,
        complete: true,
        pieces: Vec::new(),
    };

    response.framing = framing(&response, head)?;
    let used = match response.framing {
        Framing::None => 0,
        Framing::Length(length) => {
            response.complete = body.len() >= length;
            let length = length.min(body.len());
            response.body = body[..length].to_vec();
            length
        }
        Framing::Chunked => {
            let chunks = decode_chunks(body)?;
            response.complete = chunks.complete;
            response.body = chunks.data;
            chunks.used
        }
        Framing::Close => {
            response.complete = ended;
            response.body = body.to_vec();
            body.len()
        }
    };
    Ok((response.complete || ended).then_some((response, end + 4 + used)))
}

fn framing(response: &Response, head: bool) -> Result<Framing> {
    if head || response.status < 200 || matches!(response.status, 204 | 304) {
        return Ok(Framing::None);
    }
    if let Some(coding) = response.header("Transfer-Encoding") {
        return match coding.as_str() {
            "chunked" => Ok(Framing::Chunked),
            other => Err(format!("Transfer-Encoding: {other}")),
        };
    }
    match response.header("Content-Length") {
        Some(text) => {
            text.parse().map(Framing::Length).map_err(|_| format!("Content-Length: {text}"))
        }
        None => Ok(Framing::Close),
    }
}

/// A status line and headers, without the last CRLF.
type Head = (u16, Vec<(String, String)>);

fn parse_head(head: &[u8]) -> Result<Head> {
    let head = String::from_utf8_lossy(head);
    let mut lines = head.split("\r\n");
    let status_line = lines.next().unwrap_or_default();
    let status = status_line
        .strip_prefix("HTTP/1.")
        .and_then(|rest| rest.split(' ').nth(1))
        .and_then(|code| code.parse().ok())
        .ok_or_else(|| format!("not a status line: {status_line:?}"))?;
    let headers = lines.map(|line| {
        let (name, value) =
            line.split_once(':').ok_or_else(|| format!("not a header: {line:?}"))?;
        Ok((name.to_owned(), value.strip_prefix(' ').unwrap_or(value).to_owned()))
    });
    Ok((status, headers.collect::<Result<_>>()?))
}

/// A chunked body, as far as it goes.
#[derive(Debug)]
pub struct Chunks {
    /// What is in the chunks.
    pub data: Vec<u8>,
    /// The sizes of the chunks, without the last one of 0.
    pub sizes: Vec<usize>,
    /// The number of bytes read.
    pub used: usize,
    /// Whether the last chunk and the end of the trailer were there.
    pub complete: bool,
}

/// Reads a chunked body (RFC 9112, 7.1). The error is that it is not one.
pub fn decode_chunks(bytes: &[u8]) -> Result<Chunks> {
    let mut chunks = Chunks { data: Vec::new(), sizes: Vec::new(), used: 0, complete: false };
    loop {
        let rest = &bytes[chunks.used..];
        let Some(line_end) = find(rest, b"\r\n") else { return Ok(chunks) };
        let line = String::from_utf8_lossy(&rest[..line_end]);
        let digits = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(digits, 16)
            .map_err(|_| format!("not the size of a chunk: {line:?}"))?;
        let data = &rest[line_end + 2..];

        if size == 0 {
            // Nothing but an empty line, or trailer lines and an empty line.
            let Some(end) = find(&rest[line_end..], b"\r\n\r\n") else { return Ok(chunks) };
            chunks.used += line_end + end + 4;
            chunks.complete = true;
            return Ok(chunks);
        }
        if data.len() < size + 2 {
            chunks.data.extend_from_slice(&data[..size.min(data.len())]);
            chunks.used = bytes.len();
            return Ok(chunks);
        }
        if &data[size..size + 2] != b"\r\n" {
            return Err(format!("a chunk of {size} bytes does not end with CRLF"));
        }
        chunks.data.extend_from_slice(&data[..size]);
        chunks.sizes.push(size);
        chunks.used += line_end + 2 + size + 2;
    }
}

/// Where `part` begins in `text`.
pub fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
