//! Real memcached servers on loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::Result;
use super::ports::free_port;
use super::process::{self, Signal};
use super::tools::find_tool;

const PATIENCE: Duration = Duration::from_secs(10);

/// One memcached process; it ends with this value.
#[derive(Debug)]
pub struct Memcached {
    child: Option<Child>,
    address: Address,
}

#[derive(Debug, Clone)]
enum Address {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

impl Memcached {
    /// A server on a free port of 127.0.0.1. Fails the test if memcached is missing or does not start.
    pub fn start() -> Memcached {
        Memcached::try_start().unwrap_or_else(|error| panic!("{error}"))
    }

    /// As [`Memcached::start`], with the failure as an error.
    pub fn try_start() -> Result<Memcached> {
        Memcached::start_at((Ipv4Addr::LOCALHOST, free_port()).into())
    }

    /// A server on 127.0.0.1 at a port that must be just this one, for a server that comes back.
    pub fn start_on(port: u16) -> Memcached {
        Memcached::start_at((Ipv4Addr::LOCALHOST, port).into())
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// A server on another loopback address, such as 127.0.0.2 or ::1, with the failure as an error.
    pub fn start_at(address: SocketAddr) -> Result<Memcached> {
        Memcached::launch(Address::Tcp(address))
    }

    /// A server on the Unix socket `path`.
    pub fn start_unix(path: &Path) -> Memcached {
        Memcached::launch(Address::Unix(path.into())).unwrap_or_else(|error| panic!("{error}"))
    }

    fn launch(address: Address) -> Result<Memcached> {
        let mut command = Command::new(find_tool("memcached", "memcached")?);
        match &address {
            Address::Tcp(address) => command
                .args(["-U", "0", "-l"])
                .arg(address.ip().to_string())
                .arg("-p")
                .arg(address.port().to_string()),
            Address::Unix(path) => command.arg("-s").arg(path),
        };
        command.args(["-m", "32", "-t", "1"]);
        if rustix::process::geteuid().is_root() {
            command.args(["-u", "root"]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());

        let child =
            process::spawn(command).map_err(|error| format!("cannot run memcached: {error}"))?;
        let mut server = Memcached { child: Some(child), address };
        let ready =
            process::wait_until(PATIENCE, || server.connect().is_ok() || server.has_ended());
        if !ready || server.has_ended() {
            return Err(format!("memcached did not start on {:?}", server.address));
        }
        Ok(server)
    }

    /// The TCP port. Fails the test for a server on a Unix socket.
    pub fn port(&self) -> u16 {
        match self.address {
            Address::Tcp(address) => address.port(),
            Address::Unix(_) => panic!("this memcached has a Unix socket, not a port"),
        }
    }

    /// Stores `value` with `flags`, without an expiry time.
    pub fn set(&self, key: impl AsRef<[u8]>, flags: u32, value: impl AsRef<[u8]>) {
        self.try_set(key.as_ref(), flags, value.as_ref()).unwrap_or_else(|error| panic!("{error}"));
    }

    /// As [`Memcached::set`], with the failure as an error.
    pub fn try_set(&self, key: &[u8], flags: u32, value: &[u8]) -> Result<()> {
        let command =
            [b"set ", key, format!(" {flags} 0 {}\r\n", value.len()).as_bytes(), value, b"\r\n"]
                .concat();
        let answer = self.ask(&command, |line, _| Ok(line.to_vec()))?;
        if answer == b"STORED" {
            return Ok(());
        }
        let answer = String::from_utf8_lossy(&answer);
        Err(format!("memcached answered `{answer}` to set {}", String::from_utf8_lossy(key)))
    }

    /// The flags and the value stored under `key`.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<(u32, Vec<u8>)> {
        let command = [b"get ", key.as_ref(), b"\r\n"].concat();
        self.ask(&command, |line, rest| {
            if line == b"END" {
                return Ok(None);
            }
            // VALUE <key> <flags> <bytes>
            let line = String::from_utf8_lossy(line);
            let mut numbers = line.rsplit(' ').map_while(|field| field.parse::<u32>().ok());
            let (Some(length), Some(flags)) = (numbers.next(), numbers.next()) else {
                return Err(format!("memcached answered `{line}` to get"));
            };
            let mut value = vec![0; length as usize];
            rest.read_exact(&mut value).map_err(|error| format!("memcached: {error}"))?;
            Ok(Some((flags, value)))
        })
        .unwrap_or_else(|error| panic!("{error}"))
    }

    /// The number memcached's `stats` has under `name`, as `cmd_get`, `get_hits` or `total_connections`.
    pub fn stat(&self, name: &str) -> u64 {
        self.ask(b"stats\r\n", |first, rest| {
            let mut line = String::from_utf8_lossy(first).into_owned();
            while line.trim_end() != "END" {
                let mut fields = line.split_whitespace().skip(1);
                if fields.next() == Some(name) {
                    let number = fields.next().and_then(|value| value.parse().ok());
                    return number.ok_or_else(|| format!("`{line}` has no whole number"));
                }
                line.clear();
                if rest.read_line(&mut line).map_err(|error| format!("memcached: {error}"))? == 0 {
                    break;
                }
            }
            Err(format!("memcached's stats have no {name}"))
        })
        .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Ends the process at once, as a crash does: its port then refuses connections.
    pub fn kill(&mut self) {
        self.end();
    }

    /// Freezes the process (SIGSTOP): the kernel still accepts connections, nobody answers.
    pub fn stop(&self) {
        self.send(Signal::STOP);
        let pid = self.child.as_ref().map_or(0, Child::id);
        // A thread may still answer before the signal gets to it.
        let stopped = process::wait_until(PATIENCE, || process::is_stopped(pid));
        assert!(stopped, "this memcached does not stop");
    }

    /// Lets a frozen process go on.
    pub fn cont(&self) {
        self.send(Signal::CONT);
    }

    fn send(&self, signal: Signal) {
        let child = self.child.as_ref().expect("this memcached was killed");
        assert!(process::signal(child.id(), signal), "this memcached is gone");
    }

    fn has_ended(&mut self) -> bool {
        self.child.as_mut().is_none_or(|child| !matches!(child.try_wait(), Ok(None)))
    }

    /// SIGKILL, for there is nothing to save, and SIGTERM takes memcached up to a second.
    fn end(&mut self) {
        if let Some(mut child) = self.child.take() {
            // An error means that it is gone already.
            let _ = process::stop(&mut child, &[]);
        }
        if let Address::Unix(path) = &self.address {
            let _ = std::fs::remove_file(path);
        }
    }

    fn connect(&self) -> std::io::Result<Box<dyn Stream>> {
        Ok(match &self.address {
            Address::Tcp(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_nodelay(true)?;
                Box::new(stream)
            }
            Address::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                Box::new(stream)
            }
        })
    }

    /// Sends `command` and gives the first line of the answer, without its line end, and what follows it, to
    /// `read`.
    fn ask<T>(
        &self,
        command: &[u8],
        read: impl FnOnce(&[u8], &mut dyn BufRead) -> Result<T>,
    ) -> Result<T> {
        let failed = |error: std::io::Error| format!("memcached on {:?}: {error}", self.address);
        let mut stream = self.connect().map_err(failed)?;
        stream.write_all(command).map_err(failed)?;
        let mut reader = BufReader::new(stream);
        let mut line = Vec::new();
        reader.read_until(b'\n', &mut line).map_err(failed)?;
        read(line.trim_ascii_end(), &mut reader)
    }
}

impl Drop for Memcached {
    fn drop(&mut self) {
        self.end();
    }
}
