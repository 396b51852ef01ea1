//! Three memcached servers, as a client and as nginx name them.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

use tempfile::TempDir;

use crate::support::Result;
use crate::support::memcached::Memcached;
use crate::support::ports::free_port;

/// What the servers are called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `127.0.0.1:PORT`
    Addresses,
    /// `localhost:PORT`
    Names,
    /// `127.X.Y.Z:11211`: some clients leave out this port.
    UsualPort,
    /// `[::1]:PORT`
    Ipv6,
    /// `/PATH`
    Sockets,
}

impl Kind {
    pub fn is_ipv6(self) -> bool {
        self == Kind::Ipv6
    }
}

/// Whether this machine has ::1.
pub fn has_ipv6() -> bool {
    TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok()
}

/// Servers that run; they end with this value.
pub struct Pool {
    pub servers: Vec<Memcached>,
    names: Vec<Name>,
    weights: [u32; 3],
    /// Where the sockets are.
    _folder: TempDir,
}

struct Name {
    /// A path, if there is no port.
    host: String,
    port: Option<u16>,
}

impl Pool {
    pub fn start(kind: Kind, weights: [u32; 3]) -> Result<Pool> {
        let folder = TempDir::with_prefix("pool-").map_err(|error| error.to_string())?;
        let [high, low] = free_port().to_be_bytes();
        let mut servers = Vec::new();
        let mut names = Vec::new();

        for number in 1..=3 {
            let (host, address) = match kind {
                Kind::Addresses | Kind::Names => {
                    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
                    let name = if kind == Kind::Names { "localhost" } else { "127.0.0.1" };
                    (name.to_owned(), address)
                }
                Kind::UsualPort => {
                    // Addresses of this pool's own: of a port that no other one gets.
                    let host = Ipv4Addr::new(127, high, low, number);
                    (host.to_string(), (host, 11211).into())
                }
                Kind::Ipv6 => ("::1".into(), (Ipv6Addr::LOCALHOST, free_port()).into()),
                Kind::Sockets => {
                    let path = folder.path().join(format!("{number}.sock"));
                    servers.push(Memcached::start_unix(&path));
                    names.push(Name { host: path.display().to_string(), port: None });
                    continue;
                }
            };
            servers.push(Memcached::start_at(address)?);
            names.push(Name { host, port: Some(address.port()) });
        }
        Ok(Pool { servers, names, weights, _folder: folder })
    }

    /// How many keys each server has.
    pub fn items(&self) -> Vec<u64> {
        self.servers.iter().map(|server| server.stat("curr_items")).collect()
    }

    /// `HOST PORT WEIGHT` of each server; a path has port 0.
    pub fn words(&self) -> impl Iterator<Item = String> {
        self.names.iter().zip(self.weights).map(|(name, weight)| {
            format!("{} {} {weight}", name.host, name.port.unwrap_or_default())
        })
    }

    /// What stands behind nginx's `server`.
    pub fn lines(&self) -> Vec<String> {
        let line = |(name, weight): (&Name, _)| match (name.port, weight) {
            (None, weight) => format!("unix:{} weight={weight}", name.host),
            (Some(port), 1) if name.host.contains(':') => format!("[{}]:{port}", name.host),
            (Some(port), 1) => format!("{}:{port}", name.host),
            (Some(port), weight) => format!("{}:{port} weight={weight}", name.host),
        };
        self.names.iter().zip(self.weights).map(line).collect()
    }
}
