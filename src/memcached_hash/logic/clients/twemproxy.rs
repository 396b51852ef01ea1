//! twemproxy (nutcracker) 0.5, in front of the memcached pool.
//!
//! ```text
//! pool: { distribution: ketama, hash: fnv1a_64, servers: [ "mc1:11211:2 alpha", "mc2:11211:1 beta" ] }
//! memcached_hash client=twemproxy names=alpha,beta;
//! server mc1:11211 weight=2;
//! server mc2:11211;
//! ```
//!
//! | parameter | in the pool | default |
//! |---|---|---|
//! | `distribution=ketama\|modula` | `distribution` | ketama |
//! | `hash=NAME` | `hash` | fnv1a_64 |
//! | `"hash_tag={}"` | `hash_tag`, two characters; in quotes, as nginx has its own use for the braces | none |
//! | `names=A,B,...` | the names at the end of the `servers`, one for each `server` line, in order; an empty one stands for none | none |
//!
//! The names of hashes are `one_at_a_time`, `md5`, `crc16`, `crc32`, `crc32a`, `fnv1_64`, `fnv1a_64`,
//! `fnv1_32`, `fnv1a_32`, `hsieh`, `murmur` and `jenkins`. As in the proxy, `hash=crc32` or `crc16` on
//! the ring gives one server almost all keys. Everything on the wire is hashed, or the tag in it.
//! Signed bytes are those of x86-64.

use super::super::Server;
use super::super::buckets::Buckets;
use super::super::error::{BuildError, ParamError};
use super::super::hash::{self, FNV1_32, FNV1_64, FNV1A_32, FNV1A_64, Hash};
use super::super::identity::Identity;
use super::super::ketama;
use super::super::label;
use super::super::params::{Args, value_error};
use super::super::placement::{Failover, Hashed, Method, Placement, Table};
use super::super::ring::Ring;
use super::{Client, Kind};

pub(super) const KIND: Kind =
    Kind { name: "twemproxy", parameters: &["distribution", "hash", "hash_tag", "names"], parse };

const HASHES: [(&str, Hash); 12] = [
    ("one_at_a_time", Hash::OneAtATimeSigned),
    ("md5", Hash::Md5),
    ("crc16", Hash::Crc16Uncut),
    ("crc32", Hash::Crc15),
    ("crc32a", Hash::Crc32),
    ("fnv1_64", Hash::FnvSigned(FNV1_64)),
    ("fnv1a_64", Hash::FnvSigned(FNV1A_64)),
    ("fnv1_32", Hash::FnvSigned(FNV1_32)),
    ("fnv1a_32", Hash::FnvSigned(FNV1A_32)),
    ("hsieh", Hash::HsiehSigned),
    ("murmur", Hash::Murmur2),
    ("jenkins", Hash::Lookup3),
];

#[derive(Debug)]
struct Twemproxy {
    distribution: Distribution,
    hash: Hash,
    hashed: Hashed,
    names: Option<Vec<Vec<u8>>>,
}

#[derive(Clone, Copy, Debug)]
enum Distribution {
    Ketama,
    Modula,
}

fn parse(args: &Args<'_>) -> Result<Box<dyn Client>, ParamError> {
    let distributions = [("ketama", Distribution::Ketama), ("modula", Distribution::Modula)];
    let distribution = args.choice("distribution", &distributions)?;
    let hash = args.choice("hash", &HASHES)?;
    let names = args.value("names").map(|names| names.split(|&byte| byte == b','));
    Ok(Box::new(Twemproxy {
        distribution: distribution.unwrap_or(Distribution::Ketama),
        hash: hash.unwrap_or(Hash::FnvSigned(FNV1A_64)),
        hashed: match args.value("hash_tag") {
            None => Hashed::Wire,
            Some(&[open, close]) => Hashed::Tag(open, close),
            Some(tag) => return Err(value_error("hash_tag", tag, "two characters are expected")),
        },
        names: names.map(|names| names.map(<[u8]>::to_vec).collect()),
    }))
}

impl Client for Twemproxy {
    fn build(&self, servers: &[Server<'_>]) -> Result<Placement, BuildError> {
        let table = match self.distribution {
            Distribution::Ketama => Table::Ring(self.ring(servers)?),
            Distribution::Modula => Table::Buckets(Buckets::new(&super::weights(servers))?),
        };
        Ok(Placement {
            hashed: self.hashed,
            method: Method::Hash(self.hash, table),
            failover: Failover::Never,
        })
    }
}

impl Twemproxy {
    fn ring(&self, servers: &[Server<'_>]) -> Result<Ring, BuildError> {
        let mut labels = super::labels(servers, label);
        if let Some(names) = &self.names {
            if names.len() != servers.len() {
                return Err(BuildError::Names { names: names.len(), servers: servers.len() });
            }
            for (label, name) in labels.iter_mut().zip(names).filter(|(_, name)| !name.is_empty()) {
                label.clone_from(name);
            }
        }
        let digests = ketama::digests_in_single(&super::weights(servers));
        ketama::ring(&labels, &digests, hash::md5, 4)
    }
}

fn label(name: &[u8]) -> Vec<u8> {
    match Identity::parse(name) {
        Identity::Unix(path) => [path, b":"].concat(),
        Identity::Inet { host, port } => label::host_and_unusual_port(host, port),
    }
}
