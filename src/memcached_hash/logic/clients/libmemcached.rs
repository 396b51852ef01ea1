//! libmemcached 1.0 and 1.1: PHP's memcached 3.2 (the class `Memcached`), Python's pylibmc 1.6.
//!
//! ```text
//! $m->setOption(Memcached::OPT_LIBKETAMA_COMPATIBLE, true); $m->addServer('mc1', 11211, 2);
//! pylibmc.Client(['mc1', 'mc2'], behaviors={'ketama_weighted': True})
//! memcached_hash client=libmemcached distribution=ketama_weighted;
//! server mc1:11211 weight=2;
//! server mc2:11211;
//! ```
//!
//! | parameter | in PHP | in pylibmc | default |
//! |---|---|---|---|
//! | `distribution=modula` | | | yes |
//! | `distribution=consistent` | `OPT_DISTRIBUTION` => `DISTRIBUTION_CONSISTENT` | `ketama` or `distribution: consistent` | |
//! | `distribution=ketama_weighted` | `OPT_LIBKETAMA_COMPATIBLE` | `ketama_weighted` | |
//! | `hash=NAME` | `OPT_HASH` => `HASH_NAME` | `hash` | `md5` with `ketama_weighted`, else `default` |
//! | `hash_with_prefix=on\|off` | `OPT_HASH_WITH_PREFIX_KEY` | | off |
//! | `unix_port=N` | the port given with a socket's path, 0 being taken for 11211 | 0 | 11211 |
//!
//! The names of hashes are `default`, `md5`, `crc`, `fnv1_64`, `fnv1a_64`, `fnv1_32`, `fnv1a_32` and
//! `murmur`. `OPT_LIBKETAMA_COMPATIBLE` followed by `DISTRIBUTION_CONSISTENT` is
//! `distribution=consistent hash=md5`. As in the library, `modula` does not look at weights, and a
//! weight above 1 turns the ring of `consistent` into the weighted one; `hash=crc` on a ring gives
//! one server almost all keys. Signed bytes are those of x86-64.

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

pub(super) const KIND: Kind = Kind {
    name: "libmemcached",
    parameters: &["distribution", "hash", "hash_with_prefix", "unix_port"],
    parse,
};

const HASHES: [(&str, Hash); 8] = [
    ("default", Hash::OneAtATimeSigned),
    ("md5", Hash::Md5),
    ("crc", Hash::Crc15),
    ("fnv1_64", Hash::FnvSigned(FNV1_64)),
    ("fnv1a_64", Hash::FnvSigned(FNV1A_64)),
    ("fnv1_32", Hash::FnvSigned(FNV1_32)),
    ("fnv1a_32", Hash::FnvSigned(FNV1A_32)),
    ("murmur", Hash::Murmur2),
];

const DISTRIBUTIONS: [(&str, Distribution); 3] = [
    ("modula", Distribution::Modula),
    ("consistent", Distribution::Consistent),
    ("ketama_weighted", Distribution::KetamaWeighted),
];

/// Points of a server on the ring without weights.
const POINTS: u64 = 100;

#[derive(Debug)]
struct Libmemcached {
    distribution: Distribution,
    hash: Hash,
    hashed: Hashed,
    unix_port: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Distribution {
    Modula,
    Consistent,
    KetamaWeighted,
}

fn parse(args: &Args<'_>) -> Result<Box<dyn Client>, ParamError> {
    let distribution = args.choice("distribution", &DISTRIBUTIONS)?.unwrap_or(Distribution::Modula);
    let hash = match distribution {
        Distribution::KetamaWeighted => Hash::Md5,
        _ => Hash::OneAtATimeSigned,
    };
    Ok(Box::new(Libmemcached {
        distribution,
        hash: args.choice("hash", &HASHES)?.unwrap_or(hash),
        hashed: if args.flag("hash_with_prefix")? { Hashed::Wire } else { Hashed::Key },
        unix_port: args.number("unix_port", 0..=65535, 11211)?,
    }))
}

impl Client for Libmemcached {
    fn build(&self, servers: &[Server<'_>]) -> Result<Placement, BuildError> {
        let weighted = servers.iter().any(|server| server.weight > 1);
        let table = match self.distribution {
            Distribution::Modula => Table::Buckets(Buckets::one_each(servers.len())?),
            Distribution::Consistent if !weighted => Table::Ring(self.ring(servers)?),
            _ => Table::Ring(self.weighted_ring(servers)?),
        };
        Ok(Placement {
            hashed: self.hashed,
            method: Method::Hash(self.hash, table),
            failover: Failover::Never,
        })
    }
}

impl Libmemcached {
    fn ring(&self, servers: &[Server<'_>]) -> Result<Ring, BuildError> {
        let labels = super::labels(servers, |name| self.label(name));
        let points = labels.iter().map(|label| label::points(label, self.hash));
        Ring::build(&vec![POINTS; servers.len()], points)
    }

    fn weighted_ring(&self, servers: &[Server<'_>]) -> Result<Ring, BuildError> {
        let labels = super::labels(servers, |name| self.label(name));
        let weights: Vec<_> = servers.iter().map(|server| server.weight.max(1)).collect();
        ketama::ring(&labels, &ketama::digests_in_single(&weights), hash::md5, 4)
    }

    fn label(&self, name: &[u8]) -> Vec<u8> {
        match Identity::parse(name) {
            Identity::Unix(path) => {
                label::host_and_unusual_port(path, self.unix_port.to_string().as_bytes())
            }
            Identity::Inet { host, port } => label::host_and_unusual_port(host, port),
        }
    }
}
