//! A TCP server that does what a script says: the application or cache server behind nginx, with its pauses
//! and its failures.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::Result;
use super::http::{decode_chunks, find};
use super::ports::free_port;

/// What the server does next on a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Writes these bytes at once.
    Send(Vec<u8>),
    /// Waits.
    Delay(Duration),
    /// Says that nothing more will be sent, and goes on reading.
    ShutdownWrite,
    /// Closes the connection in order.
    Close,
    /// Ends the connection with a TCP reset.
    Reset,
    /// Neither reads nor closes any more, until the server ends.
    Hold,
}

/// [`Step::Send`].
pub fn send(bytes: impl AsRef<[u8]>) -> Step {
    Step::Send(bytes.as_ref().to_vec())
}

/// [`Step::Delay`].
pub fn delay_ms(milliseconds: u64) -> Step {
    Step::Delay(Duration::from_millis(milliseconds))
}

/// Where a request ends, after which the server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestEnd {
    /// After an HTTP/1.x request with its body, or an SCGI request with its body.
    Message,
    /// After a line.
    Line,
    /// After so many bytes.
    Bytes(usize),
    /// As soon as that many bytes have come, with all that came with them.
    AtLeast(usize),
    /// After the first bytes, however many come together.
    Any,
    /// Before anything is read; there is one answer for a connection.
    Nothing,
}

type Handler = dyn Fn(usize, &[u8]) -> Vec<Step> + Send + Sync;

/// A server to start.
pub struct Builder {
    replies: Vec<Vec<Step>>,
    end: RequestEnd,
    limit: usize,
    port: Option<u16>,
    path: Option<PathBuf>,
}

impl Builder {
    /// The answer to the next request; the last one given answers all that follow. Without [`Step::Close`] at
    /// its end the connection is kept for the next request.
    pub fn reply(mut self, steps: impl Into<Vec<Step>>) -> Builder {
        self.replies.push(steps.into());
        self
    }

    /// Where a request ends; [`RequestEnd::Message`] if not told otherwise.
    pub fn until(mut self, end: RequestEnd) -> Builder {
        self.end = end;
        self
    }

    /// After so many connections no more are accepted: the port refuses them.
    pub fn max_connections(mut self, limit: usize) -> Builder {
        self.limit = limit;
        self
    }

    /// The port to listen on, on 127.0.0.1; a free one if not given.
    pub fn port(mut self, port: u16) -> Builder {
        self.port = Some(port);
        self
    }

    /// A Unix socket instead of a port.
    pub fn unix(mut self, path: &Path) -> Builder {
        self.path = Some(path.into());
        self
    }

    /// Listens. Fails the test if that is impossible.
    pub fn start(self) -> TcpServer {
        self.try_start().unwrap_or_else(|error| panic!("{error}"))
    }

    /// As [`Builder::start`], with the failure as an error.
    pub fn try_start(mut self) -> Result<TcpServer> {
        let replies = std::mem::take(&mut self.replies);
        self.serve(Box::new(move |number, _| {
            replies.get(number).or(replies.last()).cloned().unwrap_or_default()
        }))
    }

    /// Listens, and answers each request with what `handler` makes of its number, from 0, and its bytes.
    pub fn start_with(
        self,
        handler: impl Fn(usize, &[u8]) -> Vec<Step> + Send + Sync + 'static,
    ) -> TcpServer {
        self.serve(Box::new(handler)).unwrap_or_else(|error| panic!("{error}"))
    }

    fn serve(self, handler: Box<Handler>) -> Result<TcpServer> {
        let port = self.port.unwrap_or_else(|| if self.path.is_some() { 0 } else { free_port() });
        let address = match &self.path {
            Some(path) => Address::Unix(path.clone()),
            None => Address::Tcp(port),
        };
        let listener = address.listen_soon().map_err(|error| {
            format!("the scripted server cannot listen on {address:?}: {error}")
        })?;

        let shared = Arc::new(Shared {
            handler,
            end: self.end,
            ending: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
            requests: Mutex::new(Vec::new()),
        });
        let limit = self.limit;
        let state = Arc::clone(&shared);
        let acceptor = thread::spawn(move || accept(listener, &state, limit));
        Ok(TcpServer { address, shared, acceptor: Some(acceptor) })
    }
}

/// A running server; it ends with this value.
pub struct TcpServer {
    address: Address,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

struct Shared {
    handler: Box<Handler>,
    end: RequestEnd,
    ending: AtomicBool,
    connections: AtomicUsize,
    requests: Mutex<Vec<Vec<u8>>>,
}

impl TcpServer {
    /// A server to start.
    pub fn builder() -> Builder {
        Builder {
            replies: Vec::new(),
            end: RequestEnd::Message,
            limit: usize::MAX,
            port: None,
            path: None,
        }
    }

    /// An HTTP server on a free port that gives this answer to every request.
    pub fn answering(steps: impl Into<Vec<Step>>) -> TcpServer {
        TcpServer::builder().reply(steps).start()
    }

    /// The port it listens on; 0 with a Unix socket.
    pub fn port(&self) -> u16 {
        match self.address {
            Address::Tcp(port) => port,
            Address::Unix(_) => 0,
        }
    }

    /// How many connections were accepted.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// The requests that came, on all connections, in the order in which they were complete; an incomplete
    /// one too, once its connection has ended.
    pub fn requests(&self) -> Vec<Vec<u8>> {
        self.shared.requests.lock().unwrap().clone()
    }
}

impl Drop for TcpServer {
    fn drop(&mut self) {
        self.shared.ending.store(true, Ordering::SeqCst);
        // Wakes the acceptor, if it still waits for a connection.
        let _ = self.address.connect();
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
        if let Address::Unix(path) = &self.address {
            let _ = std::fs::remove_file(path);
        }
    }
}

#[derive(Debug)]
enum Address {
    Tcp(u16),
    Unix(PathBuf),
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Address {
    fn listen(&self) -> io::Result<Listener> {
        Ok(match self {
            Address::Tcp(port) => Listener::Tcp(TcpListener::bind((Ipv4Addr::LOCALHOST, *port))?),
            Address::Unix(path) => Listener::Unix(UnixListener::bind(path)?),
        })
    }

    /// A process that another test is just starting holds, for the moment between fork and exec, whatever was open: the
    /// socket too with which this port was found to be free.
    fn listen_soon(&self) -> io::Result<Listener> {
        let started = Instant::now();
        loop {
            match self.listen() {
                Err(error)
                    if error.kind() == ErrorKind::AddrInUse
                        && started.elapsed() < Duration::from_secs(2) =>
                {
                    thread::sleep(TICK);
                }
                listener => return listener,
            }
        }
    }

    fn connect(&self) -> io::Result<()> {
        match self {
            Address::Tcp(port) => TcpStream::connect((Ipv4Addr::LOCALHOST, *port)).map(drop),
            Address::Unix(path) => UnixStream::connect(path).map(drop),
        }
    }
}

impl Listener {
    fn accept(&self) -> io::Result<Stream> {
        match self {
            Listener::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
            Listener::Unix(listener) => Ok(Stream::Unix(listener.accept()?.0)),
        }
    }
}

impl Stream {
    fn set_read_timeout(&self, timeout: Duration) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.set_read_timeout(Some(timeout)),
            Stream::Unix(stream) => stream.set_read_timeout(Some(timeout)),
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(buffer),
            Stream::Unix(stream) => stream.read(buffer),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.write_all(bytes),
            Stream::Unix(stream) => stream.write_all(bytes),
        }
    }

    fn shutdown_write(&self) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.shutdown(std::net::Shutdown::Write),
            Stream::Unix(stream) => stream.shutdown(std::net::Shutdown::Write),
        }
    }

    /// Makes the close that follows a reset.
    fn reset_on_close(&self) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => {
                Ok(rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO))?)
            }
            // A Unix socket has no reset; the other side sees an end.
            Stream::Unix(_) => Ok(()),
        }
    }
}

/// Looked at this often: whether the server is to end.
const TICK: Duration = Duration::from_millis(20);

fn accept(listener: Listener, shared: &Arc<Shared>, limit: usize) {
    let mut connections = Vec::new();
    while shared.connections.load(Ordering::SeqCst) < limit {
        let Ok(stream) = listener.accept() else { continue };
        if shared.is_ending() {
            break;
        }
        shared.connections.fetch_add(1, Ordering::SeqCst);
        let state = Arc::clone(shared);
        connections.push(thread::spawn(move || {
            // An error is the other side's leaving: this connection is over.
            let _ = state.converse(stream);
        }));
    }
    drop(listener);
    for connection in connections {
        let _ = connection.join();
    }
}

impl Shared {
    fn is_ending(&self) -> bool {
        self.ending.load(Ordering::SeqCst)
    }

    fn converse(&self, mut stream: Stream) -> io::Result<()> {
        stream.set_read_timeout(TICK)?;
        let mut unread = Vec::new();
        while let Some(request) = self.read_request(&mut stream, &mut unread)? {
            let number = {
                let mut requests = self.requests.lock().unwrap();
                requests.push(request.clone());
                requests.len() - 1
            };
            for step in (self.handler)(number, &request) {
                match step {
                    Step::Send(bytes) => stream.write_all(&bytes)?,
                    Step::Delay(time) => self.sleep(time),
                    Step::ShutdownWrite => stream.shutdown_write()?,
                    Step::Close => return Ok(()),
                    Step::Reset => return stream.reset_on_close(),
                    Step::Hold => self.sleep(Duration::MAX),
                }
            }
            if self.end == RequestEnd::Nothing {
                break;
            }
        }
        Ok(())
    }

    /// The next request; `None` when the other side has closed or the server is to end.
    fn read_request(
        &self,
        stream: &mut Stream,
        unread: &mut Vec<u8>,
    ) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(length) = request_length(self.end, unread) {
                return Ok(Some(unread.drain(..length).collect()));
            }
            if self.is_ending() {
                return Ok(None);
            }
            let mut buffer = [0; 16384];
            match stream.read(&mut buffer) {
                Ok(0) => {
                    if !unread.is_empty() {
                        self.requests.lock().unwrap().push(std::mem::take(unread));
                    }
                    return Ok(None);
                }
                Ok(length) => unread.extend_from_slice(&buffer[..length]),
                Err(error) if is_timeout(&error) => (),
                Err(error) => return Err(error),
            }
        }
    }

    fn sleep(&self, time: Duration) {
        let started = Instant::now();
        while !self.is_ending() && started.elapsed() < time {
            thread::sleep(TICK.min(time - started.elapsed().min(time)));
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// The length of the request at the beginning of `bytes`, once it is complete.
fn request_length(end: RequestEnd, bytes: &[u8]) -> Option<usize> {
    match end {
        RequestEnd::Nothing => Some(0),
        RequestEnd::Any => (!bytes.is_empty()).then_some(bytes.len()),
        RequestEnd::AtLeast(length) => (bytes.len() >= length).then_some(bytes.len()),
        RequestEnd::Bytes(length) => (bytes.len() >= length).then_some(length),
        RequestEnd::Line => find(bytes, b"\n").map(|at| at + 1),
        // An SCGI request is a netstring, which begins with its length.
        RequestEnd::Message if bytes.first().is_some_and(u8::is_ascii_digit) => scgi_length(bytes),
        RequestEnd::Message => http_length(bytes),
    }
}

fn http_length(bytes: &[u8]) -> Option<usize> {
    let head = find(bytes, b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let header = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim))
    };
    let body: usize = match (header("transfer-encoding"), header("content-length")) {
        (Some(_), _) => {
            let chunks = decode_chunks(&bytes[head..]).ok()?;
            chunks.complete.then_some(chunks.used)?
        }
        (None, Some(length)) => length.parse().ok()?,
        (None, None) => 0,
    };
    (bytes.len() >= head + body).then_some(head + body)
}

fn scgi_length(bytes: &[u8]) -> Option<usize> {
    let colon = find(bytes, b":")?;
    let headers: usize = std::str::from_utf8(&bytes[..colon]).ok()?.parse().ok()?;
    let head = colon + 1 + headers + 1;
    // CONTENT_LENGTH is always the first header.
    let fields = bytes.get(colon + 1..head)?;
    let body: usize =
        String::from_utf8_lossy(fields.split(|&byte| byte == 0).nth(1)?).parse().ok()?;
    (bytes.len() >= head + body).then_some(head + body)
}
