//! PHP: memcache (PECL) 4.0, the class `Memcache`.
//!
//! ```text
//! $memcache->addServer('mc1', 11211, true, 2); $memcache->addServer('mc2', 11211);
//! memcached_hash client=php_memcache;
//! server mc1:11211 weight=2;
//! server mc2:11211;
//! ```
//!
//! | parameter | in the client | default |
//! |---|---|---|
//! | `hash_strategy=consistent\|standard` | `memcache.hash_strategy` in php.ini | consistent |
//! | `hash_function=crc32\|fnv` | `memcache.hash_function` in php.ini | crc32 |
//!
//! `standard` is a bucket list. `consistent` is a ring of which only 1,024 places are looked at, once.
//! Everything on the wire is hashed.

use super::super::Server;
use super::super::buckets::Buckets;
use super::super::error::{BuildError, ParamError};
use super::super::hash::{FNV1A_32, Hash};
use super::super::identity::Identity;
use super::super::label;
use super::super::params::Args;
use super::super::placement::{Failover, Hashed, Method, Placement, Table};
use super::super::ring::Ring;
use super::{Client, Kind};

pub(super) const KIND: Kind =
    Kind { name: "php_memcache", parameters: &["hash_strategy", "hash_function"], parse };

/// Points of a server of weight 1.
const POINTS: u64 = 160;

/// Places of the ring that are looked at.
const PLACES: u32 = 1024;

#[derive(Debug)]
struct PhpMemcache {
    strategy: Strategy,
    function: Function,
}

#[derive(Clone, Copy, Debug)]
enum Strategy {
    Consistent,
    Standard,
}

#[derive(Clone, Copy, Debug)]
enum Function {
    Crc32,
    Fnv,
}

fn parse(args: &Args<'_>) -> Result<Box<dyn Client>, ParamError> {
    let strategies = [("consistent", Strategy::Consistent), ("standard", Strategy::Standard)];
    let functions = [("crc32", Function::Crc32), ("fnv", Function::Fnv)];
    Ok(Box::new(PhpMemcache {
        strategy: args.choice("hash_strategy", &strategies)?.unwrap_or(Strategy::Consistent),
        function: args.choice("hash_function", &functions)?.unwrap_or(Function::Crc32),
    }))
}

impl Client for PhpMemcache {
    fn build(&self, servers: &[Server<'_>]) -> Result<Placement, BuildError> {
        let method = match (self.strategy, self.function) {
            (Strategy::Consistent, Function::Crc32) => consistent(servers, Hash::Crc32)?,
            (Strategy::Consistent, Function::Fnv) => {
                consistent(servers, Hash::FnvSigned(FNV1A_32))?
            }
            (Strategy::Standard, Function::Crc32) => standard(servers, Hash::Crc15OrOne)?,
            (Strategy::Standard, Function::Fnv) => standard(servers, Hash::Fnv15SignedOrOne)?,
        };
        Ok(Placement { hashed: Hashed::Wire, method, failover: Failover::Never })
    }
}

fn standard(servers: &[Server<'_>], hash: Hash) -> Result<Method, BuildError> {
    let buckets = Buckets::new(&super::weights(servers))?;
    Ok(Method::Hash(hash, Table::Buckets(buckets)))
}

fn consistent(servers: &[Server<'_>], hash: Hash) -> Result<Method, BuildError> {
    let counts: Vec<_> =
        servers.iter().map(|server| POINTS.saturating_mul(u64::from(server.weight))).collect();
    let labels = super::labels(servers, label);
    let points = labels.iter().map(|label| label::points(label, hash));
    let ring = Ring::build(&counts, points)?;

    let places = (0..PLACES).map(|place| {
        let at = place.saturating_mul(u32::MAX / PLACES);
        ring.at_or_after(at) as u32
    });
    Ok(Method::Hash(hash, Table::Places(places.collect())))
}

fn label(name: &[u8]) -> Vec<u8> {
    match Identity::parse(name) {
        Identity::Unix(path) => [b"unix://", path, b":0"].concat(),
        // It connects to an IPv6 address only if that is given in brackets.
        Identity::Inet { host, port } if host.contains(&b':') => {
            label::host_port(&[b"[", host, b"]"].concat(), port)
        }
        Identity::Inet { host, port } => label::host_port(host, port),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_what_the_client_is_given() {
        for (name, expected) in [
            ("mc:11211", "mc:11211"),
            ("[::1]:20000", "[::1]:20000"),
            ("unix:/run/mc.sock", "unix:///run/mc.sock:0"),
        ] {
            assert_eq!(label(name.as_bytes()), expected.as_bytes());
        }
    }
}
