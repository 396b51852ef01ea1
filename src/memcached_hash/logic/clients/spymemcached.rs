//! Java: spymemcached 2.12.
//!
//! ```text
//! new MemcachedClient(new KetamaConnectionFactory(), AddrUtil.getAddresses("10.0.0.1:11211 10.0.0.2:11211"))
//! memcached_hash client=spymemcached locator=ketama;
//! server 10.0.0.1:11211;
//! server 10.0.0.2:11211;
//! ```
//!
//! | parameter | in the client | default |
//! |---|---|---|
//! | `locator=modulo\|ketama` | `setLocatorType` with `ARRAY_MOD`, `CONSISTENT` | modulo |
//! | `hash=NAME` | `setHashAlg` with `DefaultHashAlgorithm.NAME_HASH` | `ketama` with `locator=ketama`, else `native` |
//!
//! `MemcachedClient(addresses)` is the default, `KetamaConnectionFactory` is `locator=ketama`. The
//! names of hashes are `native`, `crc`, `fnv1_64`, `fnv1a_64`, `fnv1_32`, `fnv1a_32` and `ketama`.
//! `locator=ketama hash=native`, which a `ConnectionFactoryBuilder` makes if it is told no hash, gives
//! one server almost all keys.
//!
//! Everything on the wire is hashed. There are no weights: `weight` is not looked at. The ring is
//! made of the servers' addresses, as Java 14 and later write them: a host name is resolved when the
//! configuration is read, as the client does when it starts, IPv4 first.

use std::net::{IpAddr, ToSocketAddrs};
use std::str;

use super::super::Server;
use super::super::buckets::Buckets;
use super::super::error::{BuildError, ParamError};
use super::super::hash::{self, FNV1_32, FNV1_64, FNV1A_32, FNV1A_64, Hash};
use super::super::identity::Identity;
use super::super::ketama;
use super::super::label;
use super::super::params::Args;
use super::super::placement::{Failover, Hashed, Method, Placement, Table};
use super::super::ring::Ring;
use super::{Client, Kind};

pub(super) const KIND: Kind =
    Kind { name: "spymemcached", parameters: &["locator", "hash"], parse };

const HASHES: [(&str, Hash); 7] = [
    ("native", Hash::JavaString),
    ("crc", Hash::Crc15),
    ("fnv1_64", Hash::FnvUtf16(FNV1_64)),
    ("fnv1a_64", Hash::FnvUtf16(FNV1A_64)),
    ("fnv1_32", Hash::FnvUtf16(FNV1_32)),
    ("fnv1a_32", Hash::FnvUtf16(FNV1A_32)),
    ("ketama", Hash::Md5),
];

/// Points of a server.
const POINTS: u64 = 160;

#[derive(Debug)]
struct Spymemcached {
    locator: Locator,
    hash: Hash,
}

#[derive(Clone, Copy, Debug)]
enum Locator {
    Modulo,
    Ketama,
}

fn parse(args: &Args<'_>) -> Result<Box<dyn Client>, ParamError> {
    let locators = [("modulo", Locator::Modulo), ("ketama", Locator::Ketama)];
    let locator = args.choice("locator", &locators)?.unwrap_or(Locator::Modulo);
    let hash = match locator {
        Locator::Modulo => Hash::JavaString,
        Locator::Ketama => Hash::Md5,
    };
    let hash = args.choice("hash", &HASHES)?.unwrap_or(hash);
    Ok(Box::new(Spymemcached { locator, hash }))
}

impl Client for Spymemcached {
    fn build(&self, servers: &[Server<'_>]) -> Result<Placement, BuildError> {
        let table = match self.locator {
            Locator::Modulo => Table::Buckets(Buckets::one_each(servers.len())?),
            Locator::Ketama => Table::Ring(self.ring(servers)?),
        };
        Ok(Placement {
            hashed: Hashed::Wire,
            method: Method::Hash(self.hash, table),
            failover: Failover::Never,
        })
    }
}

impl Spymemcached {
    fn ring(&self, servers: &[Server<'_>]) -> Result<Ring, BuildError> {
        let labels = servers.iter().map(|server| label(server.name));
        let labels: Vec<_> = labels.collect::<Result<_, _>>()?;

        if self.hash == Hash::Md5 {
            let digests = vec![POINTS / 4; servers.len()];
            return ketama::ring(&labels, &digests, hash::md5, 4);
        }
        let points = labels.iter().map(|label| label::points(label, self.hash));
        Ring::build(&vec![POINTS; servers.len()], points)
    }
}

/// The text of Java's `InetSocketAddress`, less the slash in front of an address without a name.
fn label(name: &[u8]) -> Result<Vec<u8>, BuildError> {
    let (host, port) = match Identity::parse(name) {
        Identity::Unix(path) => return Ok(path.to_vec()),
        Identity::Inet { host, port } => (host, port),
    };
    let text = str::from_utf8(host).unwrap_or_default();
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(label::host_port(java_text(address).as_bytes(), port));
    }

    let address = address(text).ok_or_else(|| BuildError::NoAddress(text.into()))?;
    Ok([host, b"/", &label::host_port(java_text(address).as_bytes(), port)].concat())
}

/// All eight groups of an IPv6 address, and brackets around them.
fn java_text(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let groups = address.segments().map(|group| format!("{group:x}"));
            format!("[{}]", groups.join(":"))
        }
    }
}

/// The address that Java would take.
fn address(host: &str) -> Option<IpAddr> {
    let addresses: Vec<_> = (host, 0).to_socket_addrs().ok()?.collect();
    let ipv4 = addresses.iter().find(|address| address.is_ipv4());
    ipv4.or(addresses.first()).map(|address| address.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_those_of_java_17() {
        for (name, expected) in [
            ("127.0.0.1:11211", "127.0.0.1:11211"),
            ("[::1]:11211", "[0:0:0:0:0:0:0:1]:11211"),
            ("[2001:DB8::a:0b]:20000", "[2001:db8:0:0:0:0:a:b]:20000"),
            ("[::ffff:1.2.3.4]:11211", "1.2.3.4:11211"),
        ] {
            assert_eq!(label(name.as_bytes()).unwrap(), expected.as_bytes(), "{name}");
        }
    }
}
