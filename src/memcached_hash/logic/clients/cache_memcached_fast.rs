//! Perl: Cache::Memcached::Fast, 0.14 and later.
//!
//! ```text
//! Cache::Memcached::Fast->new({ servers => [{ address => 'mc1:11211', weight => 2.5 }, 'mc2:11211'],
//!     namespace => 'app:', ketama_points => 150 })
//! memcached_hash ketama_points=150 weight_scale=10;   # and: set $memcached_namespace app:;
//! server mc1:11211 weight=25;
//! server mc2:11211 weight=10;
//! ```
//!
//! | parameter | in the client | default |
//! |---|---|---|
//! | `ketama_points=N` | `ketama_points => N` | 0: the buckets of Cache::Memcached |
//! | `weight_scale=N` | none; `weight` is N times the client's | 1 |
//! | `hash_namespace=on\|off` | `hash_namespace => 1` | off |
//! | `rehash=on\|off` | none; for a pool that Cache::Memcached fills, with `ketama_points=0` only | off |

use std::iter;

use super::super::Server;
use super::super::error::{BuildError, MAX_POINTS, ParamError};
use super::super::hash::Hash;
use super::super::identity::Identity;
use super::super::params::{Args, value_error};
use super::super::placement::{Failover, Hashed, Method, Placement, Table};
use super::super::ring::Ring;
use super::super::shares::Shares;
use super::{Client, Kind};

pub(super) const KIND: Kind = Kind {
    name: "cache_memcached_fast",
    parameters: &["ketama_points", "weight_scale", "hash_namespace", "rehash"],
    parse,
};

#[derive(Debug)]
struct CacheMemcachedFast {
    ketama_points: u32,
    weight_scale: u32,
    hashed: Hashed,
    failover: Failover,
}

fn parse(args: &Args<'_>) -> Result<Box<dyn Client>, ParamError> {
    let ketama_points = args.number("ketama_points", 0..=MAX_POINTS as u32, 0)?;
    let rehash = args.flag("rehash")?;
    if rehash && ketama_points > 0 {
        return Err(value_error("rehash", b"on", "ketama_points must be 0 with it"));
    }

    Ok(Box::new(CacheMemcachedFast {
        ketama_points,
        weight_scale: args.number("weight_scale", 1..=u32::MAX, 1)?,
        hashed: if args.flag("hash_namespace")? { Hashed::Wire } else { Hashed::Key },
        failover: if rehash { Failover::CacheMemcached } else { Failover::Never },
    }))
}

impl Client for CacheMemcachedFast {
    fn build(&self, servers: &[Server<'_>]) -> Result<Placement, BuildError> {
        let method = match self.ketama_points {
            0 => Method::Hash(Hash::Crc15, Table::Shares(self.shares(servers)?)),
            _ => Method::Hash(Hash::Crc32, Table::Ring(self.ring(servers)?)),
        };
        Ok(Placement { hashed: self.hashed, method, failover: self.failover })
    }
}

impl CacheMemcachedFast {
    fn weight(&self, server: &Server<'_>) -> f64 {
        f64::from(server.weight) / f64::from(self.weight_scale)
    }

    fn shares(&self, servers: &[Server<'_>]) -> Result<Shares, BuildError> {
        Shares::new(servers.iter().map(|server| self.weight(server)))
    }

    fn ring(&self, servers: &[Server<'_>]) -> Result<Ring, BuildError> {
        let counts: Vec<_> = servers.iter().map(|server| self.count(server)).collect();
        Ring::build(&counts, servers.iter().map(|server| points(server.name)))
    }

    fn count(&self, server: &Server<'_>) -> u64 {
        (f64::from(self.ketama_points) * self.weight(server) + 0.5) as u64
    }
}

/// The points of a server: each is the CRC-32 of host, NUL, port and the point before it, in little
/// endian; before the first there is 0.
fn points(name: &[u8]) -> impl Iterator<Item = u32> {
    let (host, port) = Identity::parse(name).host_port();
    let mut seed = crc32fast::Hasher::new();
    seed.update(host);
    seed.update(b"\0");
    seed.update(port);

    let mut point: u32 = 0;
    iter::repeat_with(move || {
        let mut hasher = seed.clone();
        hasher.update(&point.to_le_bytes());
        point = hasher.finalize();
        point
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_those_of_the_client() {
        let first = |name: &str| -> Vec<u32> { points(name.as_bytes()).take(5).collect() };

        assert_eq!(
            first("localhost:20000"),
            [0xf37e9ec6, 0xc2dd4d38, 0xff5f48d5, 0x8c5ca503, 0xcc7873f0]
        );
        assert_eq!(
            first("unix:/run/memcached/s1.sock"),
            [0x6feeb6c6, 0xe0eb2715, 0x28ab8951, 0x8afd33d6, 0xe683fe84]
        );
        assert_eq!(
            first("[::1]:20000"),
            [0xad9a2662, 0x23bc9e7d, 0x29555b1f, 0x40779187, 0x3767d486]
        );
    }

    #[test]
    fn points_are_rounded_as_the_client_does() {
        let count = |ketama_points, weight, weight_scale| {
            let hashed = Hashed::Key;
            let failover = Failover::Never;
            CacheMemcachedFast { ketama_points, weight_scale, hashed, failover }
                .count(&Server { name: b"", weight })
        };
        assert_eq!(count(100, 145, 1000), 14);
        assert_eq!([4, 5, 15, 25].map(|weight| count(1, weight, 10)), [0, 1, 2, 3]);
    }
}
