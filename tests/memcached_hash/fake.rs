//! A server at any address of the loopback network that answers each line alike.

use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

/// It ends with this value.
pub struct Fake {
    address: SocketAddr,
    state: Arc<State>,
    acceptor: Option<JoinHandle<()>>,
}

type Answer = dyn Fn(&str) -> Vec<u8> + Send + Sync;

struct State {
    answer: Box<Answer>,
    ending: AtomicBool,
    lines: AtomicUsize,
}

impl Fake {
    /// Answers each line, its end cut off, with what `answer` makes of it. `None`: the host has no such
    /// address, or the port is taken.
    pub fn start(
        host: IpAddr,
        port: u16,
        answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
    ) -> Option<Fake> {
        let listener = TcpListener::bind((host, port)).ok()?;
        let address = listener.local_addr().ok()?;
        let (ending, lines) = (AtomicBool::new(false), AtomicUsize::new(0));
        let state = Arc::new(State { answer: Box::new(answer), ending, lines });
        let shared = Arc::clone(&state);
        let acceptor = thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.ending.load(Ordering::SeqCst) {
                    break;
                }
                let shared = Arc::clone(&shared);
                // It ends when nginx closes.
                thread::spawn(move || shared.converse(&stream));
            }
        });
        Some(Fake { address, state, acceptor: Some(acceptor) })
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// How many lines have come.
    pub fn lines(&self) -> usize {
        self.state.lines.load(Ordering::SeqCst)
    }
}

impl State {
    fn converse(&self, mut stream: &TcpStream) {
        let mut line = String::new();
        let mut reader = BufReader::new(stream);
        while reader.read_line(&mut line).is_ok_and(|length| length > 0) {
            self.lines.fetch_add(1, Ordering::SeqCst);
            if stream.write_all(&(self.answer)(line.trim_end())).is_err() {
                break;
            }
            line.clear();
        }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.state.ending.store(true, Ordering::SeqCst);
        // Wakes the acceptor.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

/// memcached's answer to a `get` that finds `value`.
pub fn found(line: &str, value: &str) -> Vec<u8> {
    let key = line.trim_start_matches("get ");
    format!("VALUE {key} 0 {}\r\n{value}\r\nEND\r\n", value.len()).into_bytes()
}
