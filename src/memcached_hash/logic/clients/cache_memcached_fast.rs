//! Perl's Cache::Memcached::Fast, 0.14 and later.
//!
//! | parameter | the constructor's | default |
//! |---|---|---|
//! | `ketama_points=N` | `ketama_points => N` | 0: the distribution of Cache::Memcached |
//! | `weight_scale=N` | none: weights of the client times N are integers | 1 |
//! | `hash_namespace=on\|off` | `hash_namespace => 1` | off |
//! | `rehash=on\|off` | none: for a pool that Cache::Memcached fills; only with `ketama_points=0` | off |

use std::iter;

use super::super::Server;
use super::super::buckets::Buckets;
use super::super::error::{BuildError, MAX_POINTS, ParamError};
use super::super::hash::Hash;
use super::super::identity::Identity;
use super::super::params::{Args, value_error};
use super::super::placement::{Failover, Hashed, Placement, Table};
use super::super::ring::{self, Point, Ring};
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
        let (hash, table) = match self.ketama_points {
            0 => {
                let weights = servers.iter().map(|server| self.weight(server));
                (Hash::Crc15, Table::Buckets(Buckets::new(weights)?))
            }
            _ => (Hash::Crc32, Table::Ring(self.ring(servers)?)),
        };

        Ok(Placement {
            hashed: self.hashed,
            hash,
            // Refused above if it has no points or weight: the client crashes then too.
            table: if servers.len() == 1 { Table::One } else { table },
            failover: self.failover,
        })
    }
}

impl CacheMemcachedFast {
    fn weight(&self, server: &Server<'_>) -> f64 {
        f64::from(server.weight) / f64::from(self.weight_scale)
    }

    fn points(&self, server: &Server<'_>) -> u64 {
        (f64::from(self.ketama_points) * self.weight(server) + 0.5) as u64
    }

    fn ring(&self, servers: &[Server<'_>]) -> Result<Ring, BuildError> {
        let mut points = ring::with_room_for(servers.iter().map(|server| self.points(server)))?;
        for (index, server) in (0..).zip(servers) {
            let places = (0..self.points(server)).zip(chain(server.name));
            points.extend(places.map(|(_, at)| Point { at, server: index }));
        }
        Ring::new(points)
    }
}

/// The points of a server: each is the CRC-32 of host, NUL, port and the point before it, in little
/// endian; before the first there is 0.
fn chain(name: &[u8]) -> impl Iterator<Item = u32> {
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
        let first = |name: &str| -> Vec<u32> { chain(name.as_bytes()).take(5).collect() };

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
        let points = |ketama_points, weight, weight_scale| {
            let hashed = Hashed::Key;
            let failover = Failover::Never;
            CacheMemcachedFast { ketama_points, weight_scale, hashed, failover }
                .points(&Server { name: b"", weight })
        };
        assert_eq!(points(100, 145, 1000), 14);
        assert_eq!([4, 5, 15, 25].map(|weight| points(1, weight, 10)), [0, 1, 2, 3]);
    }
}
