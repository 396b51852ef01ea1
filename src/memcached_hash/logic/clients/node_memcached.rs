//! Node: memcached 2.2 with hashring 3.2.
//!
//! ```text
//! new Memcached({ 'mc1:11211': 2, 'mc2:11211': 1 })
//! memcached_hash client=node_memcached;
//! server mc1:11211 weight=2;
//! server mc2:11211;
//! ```
//!
//! | parameter | in the client | default |
//! |---|---|---|
//! | `algorithm=md5\|sha1` | `algorithm` | md5 |
//! | `compatibility=ketama\|hash_ring` | `compatibility` | ketama |
//!
//! The ring of libketama; everything on the wire is hashed, the client's `namespace` too.

use super::super::Server;
use super::super::error::{BuildError, ParamError};
use super::super::hash::{self, Hash};
use super::super::identity::Identity;
use super::super::ketama::{self, Digest};
use super::super::label;
use super::super::params::Args;
use super::super::placement::{Failover, Hashed, Method, Placement, Table};
use super::{Client, Kind};

pub(super) const KIND: Kind =
    Kind { name: "node_memcached", parameters: &["algorithm", "compatibility"], parse };

const ALGORITHMS: [(&str, (Hash, Digest)); 2] =
    [("md5", (Hash::Md5, hash::md5)), ("sha1", (Hash::Sha1, hash::sha1))];

#[derive(Debug)]
struct NodeMemcached {
    hash: Hash,
    digest: Digest,
    compatibility: Compatibility,
}

#[derive(Clone, Copy, Debug)]
enum Compatibility {
    Ketama,
    HashRing,
}

fn parse(args: &Args<'_>) -> Result<Box<dyn Client>, ParamError> {
    let compatibilities =
        [("ketama", Compatibility::Ketama), ("hash_ring", Compatibility::HashRing)];
    let compatibility = args.choice("compatibility", &compatibilities)?;
    let algorithm = args.choice("algorithm", &ALGORITHMS)?;
    let (hash, digest) = algorithm.unwrap_or((Hash::Md5, hash::md5));
    Ok(Box::new(NodeMemcached {
        hash,
        digest,
        compatibility: compatibility.unwrap_or(Compatibility::Ketama),
    }))
}

impl Client for NodeMemcached {
    fn build(&self, servers: &[Server<'_>]) -> Result<Placement, BuildError> {
        let labels = super::labels(servers, |name| self.label(name));
        let digests = ketama::digests_in_double(&super::weights(servers));
        let each = match self.compatibility {
            Compatibility::Ketama => 4,
            Compatibility::HashRing => 3,
        };
        let ring = ketama::ring(&labels, &digests, self.digest, each)?;
        Ok(Placement {
            hashed: Hashed::Wire,
            method: Method::Hash(self.hash, Table::Ring(ring)),
            failover: Failover::Never,
        })
    }
}

impl NodeMemcached {
    /// memcached.js tells hashring of the usual port in one of the two modes only, and hashring takes
    /// what follows the first colon for the port, which it is not in an IPv6 address.
    fn label(&self, name: &[u8]) -> Vec<u8> {
        match (Identity::parse(name), self.compatibility) {
            (Identity::Unix(path), _) => path.to_vec(),
            (Identity::Inet { host, port }, Compatibility::Ketama) if !host.contains(&b':') => {
                label::host_and_unusual_port(host, port)
            }
            (Identity::Inet { host, port }, _) => label::host_port(host, port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_port_is_left_out_of_some_labels() {
        let label = |compatibility, name: &str| {
            let (hash, digest) = (Hash::Md5, hash::md5 as Digest);
            NodeMemcached { hash, digest, compatibility }.label(name.as_bytes())
        };
        assert_eq!(label(Compatibility::Ketama, "mc:11211"), b"mc");
        assert_eq!(label(Compatibility::Ketama, "mc:11212"), b"mc:11212");
        assert_eq!(label(Compatibility::Ketama, "[2001:db8::1]:11211"), b"2001:db8::1:11211");
        assert_eq!(label(Compatibility::HashRing, "mc:11211"), b"mc:11211");
    }
}
