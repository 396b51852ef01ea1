//! twemproxy (nutcracker) in front of the pool.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::cases::Case;
use crate::pool::Pool;
use crate::support::ports::free_port;
use crate::support::tools::find_tool;
use crate::support::{Result, process};

/// The names that `names` gives to the servers.
const NAMES: [&str; 3] = ["alpha", "beta", "gamma"];

/// What the pool has besides its servers.
fn settings(mode: &str) -> Option<&'static str> {
    Some(match mode {
        "default" | "names" => "",
        "modula" => "distribution: modula",
        "md5" => "hash: md5",
        "one_at_a_time" => "hash: one_at_a_time",
        "crc16, modula" => "hash: crc16\n  distribution: modula",
        "crc32a" => "hash: crc32a",
        "murmur" => "hash: murmur",
        "hash_tag" => "hash_tag: \"::\"",
        _ => return None,
    })
}

/// The version of the installed one.
pub fn version() -> Result<String> {
    let output = Command::new(find_tool("nutcracker", "nutcracker")?)
        .arg("--version")
        .output()
        .map_err(|error| format!("cannot run nutcracker: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let version = text.lines().find_map(|line| line.split_once("nutcracker-"));
    version.map(|(_, version)| version.to_owned()).ok_or_else(|| format!("its version: {text}"))
}

/// Stores each key through a proxy.
pub fn fill(case: &Case, pool: &Pool, keys: &[String]) -> Result<()> {
    let proxy = Proxy::start(case.mode, pool)?;
    let failed = |error: std::io::Error| format!("nutcracker: {error}");
    let mut stream = proxy.connect().map_err(failed)?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).map_err(failed)?;
    let mut answers = BufReader::new(stream.try_clone().map_err(failed)?);

    for key in keys {
        let value = format!("{} {key}", case.tag());
        let command = format!("set {key} 0 0 {}\r\n{value}\r\n", value.len());
        stream.write_all(command.as_bytes()).map_err(failed)?;
        let mut answer = String::new();
        answers.read_line(&mut answer).map_err(failed)?;
        if answer != "STORED\r\n" {
            return Err(format!("nutcracker answered {answer:?} to set {key}"));
        }
    }
    Ok(())
}

/// A proxy that runs; it ends with this value.
struct Proxy {
    child: Child,
    port: u16,
    /// Where its configuration is.
    _folder: TempDir,
}

impl Proxy {
    fn start(mode: &str, pool: &Pool) -> Result<Proxy> {
        let failed = |error: std::io::Error| format!("cannot run nutcracker: {error}");
        let folder = TempDir::with_prefix("nutcracker-").map_err(failed)?;
        let port = free_port();
        let file = folder.path().join("nutcracker.yml");
        std::fs::write(&file, configuration(mode, port, pool)?).map_err(failed)?;

        let mut command = Command::new(find_tool("nutcracker", "nutcracker")?);
        command
            .arg("--conf-file")
            .arg(file)
            .arg("--output")
            .arg(folder.path().join("log"))
            .args(["--stats-addr", "127.0.0.1", "--stats-port"])
            .arg(free_port().to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = process::spawn(command).map_err(failed)?;
        let mut proxy = Proxy { child, port, _folder: folder };

        let patience = Duration::from_secs(10);
        let ready = process::wait_until(patience, || {
            proxy.connect().is_ok() || !matches!(proxy.child.try_wait(), Ok(None))
        });
        let log = || std::fs::read_to_string(proxy._folder.path().join("log")).unwrap_or_default();
        match proxy.connect() {
            Ok(_) if ready => Ok(proxy),
            _ => Err(format!("nutcracker did not start\n{}", log())),
        }
    }

    fn connect(&self) -> std::io::Result<TcpStream> {
        TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // An error means that it is gone already.
        let _ = process::stop(&mut self.child, &[]);
    }
}

fn configuration(mode: &str, port: u16, pool: &Pool) -> Result<String> {
    let settings = settings(mode).ok_or_else(|| format!("there is no mode {mode}"))?;
    let mut text = format!("pool:\n  listen: 127.0.0.1:{port}\n  {settings}\n  servers:\n");
    for (words, name) in pool.words().zip(NAMES) {
        let words: Vec<_> = words.split(' ').collect();
        let [host, port, weight] = words[..] else { return Err("a server is three words".into()) };
        let server = if host.starts_with('/') {
            format!("{host}:{weight}")
        } else {
            format!("{host}:{port}:{weight}")
        };
        let name = if mode == "names" { name } else { "" };
        let _ = writeln!(text, "   - {server} {name}");
    }
    Ok(text)
}
