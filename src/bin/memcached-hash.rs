//! `memcached-hash`: which server holds a key, by the code that the nginx module runs.

#![forbid(unsafe_code)]

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, BufRead, BufWriter, ErrorKind, Write};
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;
use std::str;

use ngx_cachefront::memcached_hash::logic::{Key, Params, Placement, Server, clients, escape};

const USAGE: &str = "\
Usage: memcached-hash [PARAMETER...] --server SERVER [--server SERVER...] < keys

Reads keys, one a line, and prints each with the server that nginx asks for it:
the key, a tab, the server.

PARAMETER is one of the directive memcached_hash in nginx.conf, as it stands
there; SERVER is what stands behind the directive server. Put in quotes what
has spaces or other characters of the shell's.

  --server 'mc1:11211 weight=2'  a server, in the order of nginx.conf
  --namespace NS                 what $memcached_namespace is
  --raw                          keys and namespace are already as they are sent
                                 to memcached; otherwise they are escaped as
                                 nginx does: control characters, space and %.
                                 Strings for key= are hashed as they are in any
                                 case
  --help                         print this

For example:
  echo 100::100 | memcached-hash ketama_points=150 \\
      --server localhost:20000 --server localhost:20001

The parameters of each client, and key=STRING for all:
";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("memcached-hash: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let Some(mut command) = Command::parse(std::env::args_os().skip(1))? else {
        return ok_if_reader_left(print_usage());
    };
    let placement = command.placement()?;
    ok_if_reader_left(command.print_servers(&placement, io::stdin().lock()))
}

/// A reader that has seen enough, like `head`, is no error.
fn ok_if_reader_left(written: io::Result<()>) -> Result<(), Box<dyn Error>> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

fn print_usage() -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(USAGE.as_bytes())?;
    for (client, parameters) in clients::parameters() {
        write!(out, "  client={client}")?;
        for parameter in parameters {
            write!(out, " {parameter}=")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// What was asked for.
#[derive(Default)]
struct Command {
    parameters: Vec<Vec<u8>>,
    servers: Vec<(Vec<u8>, u32)>,
    namespace: Vec<u8>,
    raw: bool,
}

impl Command {
    /// `None` is a call for help.
    fn parse(args: impl Iterator<Item = OsString>) -> Result<Option<Self>, Box<dyn Error>> {
        let mut command = Self::default();
        let mut args = args.map(OsString::into_vec);

        while let Some(arg) = args.next() {
            match arg.as_slice() {
                b"--help" | b"-h" => return Ok(None),
                b"--raw" => command.raw = true,
                b"--namespace" => {
                    command.namespace = args.next().ok_or("--namespace needs a value")?;
                }
                b"--server" => {
                    let server = args.next().ok_or("--server needs a value")?;
                    command.servers.push(parse_server(&server)?);
                }
                option if option.starts_with(b"-") => {
                    let option = String::from_utf8_lossy(option);
                    return Err(format!("unknown option \"{option}\", see --help").into());
                }
                _ => command.parameters.push(arg),
            }
        }

        if command.servers.is_empty() {
            return Err("no --server is given, see --help".into());
        }
        Ok(Some(command))
    }

    fn placement(&mut self) -> Result<Placement, Box<dyn Error>> {
        let params = Params::parse(self.parameters.iter().map(Vec::as_slice))?;
        self.raw |= params.key().is_some();
        let servers = self.servers.iter().map(|(name, weight)| Server { name, weight: *weight });
        Ok(params.build(&servers.collect::<Vec<_>>())?)
    }

    fn print_servers(&self, placement: &Placement, mut keys: impl BufRead) -> io::Result<()> {
        let mut out = BufWriter::new(io::stdout().lock());
        let namespace = self.wire(&self.namespace);
        let mut line = Vec::new();

        while keys.read_until(b'\n', &mut line)? > 0 {
            let key = line.strip_suffix(b"\n").unwrap_or(&line);
            let wire = [namespace.as_slice(), &self.wire(key)].concat();
            let index = placement.server(Key { wire: &wire, namespace_len: namespace.len() });
            let server = self.servers.get(index).map_or(&b""[..], |(name, _)| name);

            out.write_all(&[key, b"\t", server, b"\n"].concat())?;
            line.clear();
        }
        out.flush()
    }

    fn wire(&self, text: &[u8]) -> Vec<u8> {
        if self.raw { text.to_vec() } else { escape(text) }
    }
}

/// A server's name and weight, from the text of nginx's directive.
fn parse_server(text: &[u8]) -> Result<(Vec<u8>, u32), Box<dyn Error>> {
    let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let name = words.next().ok_or("--server is empty")?;

    let mut weight = 1;
    for word in words {
        let invalid = || format!("invalid parameter \"{}\" of the server", word.escape_ascii());
        let word = str::from_utf8(word).map_err(|_| invalid())?;
        match word.split_once('=') {
            Some(("weight", number)) => {
                let number = number.parse().ok().filter(|weight| *weight > 0);
                weight = number.ok_or_else(invalid)?;
            }
            // They have no say in where a key belongs.
            Some(("max_conns" | "max_fails" | "fail_timeout" | "slow_start" | "service", _)) => {}
            None if matches!(word, "down" | "resolve") => {}
            _ => return Err(invalid().into()),
        }
    }
    Ok((name.to_vec(), weight))
}
