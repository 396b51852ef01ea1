//! Python: python-memcached 1.62 (the module `memcache`).
//!
//! ```text
//! memcache.Client([('mc1:11211', 2), 'mc2:11211'])
//! memcached_hash client=python_memcached;
//! server mc1:11211 weight=2;
//! server mc2:11211;
//! ```
//!
//! | parameter | in the client | default |
//! |---|---|---|
//! | `version=1.62\|1.59` | 1.59, which calls itself 1.58, puts a key whose hash is 0 where those go whose hash is 1 | 1.62 |
//! | `rehash=on\|off` | always asks other servers | off |
//!
//! A bucket list. Everything on the wire is hashed, a `key_prefix` too.

use super::super::Server;
use super::super::buckets::Buckets;
use super::super::error::{BuildError, ParamError};
use super::super::hash::Hash;
use super::super::params::Args;
use super::super::placement::{Failover, Hashed, Method, Placement, Table};
use super::{Client, Kind};

pub(super) const KIND: Kind =
    Kind { name: "python_memcached", parameters: &["version", "rehash"], parse };

#[derive(Debug)]
struct PythonMemcached {
    hash: Hash,
    failover: Failover,
}

fn parse(args: &Args<'_>) -> Result<Box<dyn Client>, ParamError> {
    let versions = [("1.62", Hash::Crc15), ("1.59", Hash::Crc15OrOne)];
    let rehash = args.flag("rehash")?;
    Ok(Box::new(PythonMemcached {
        hash: args.choice("version", &versions)?.unwrap_or(Hash::Crc15),
        failover: if rehash { Failover::PythonMemcached } else { Failover::Never },
    }))
}

impl Client for PythonMemcached {
    fn build(&self, servers: &[Server<'_>]) -> Result<Placement, BuildError> {
        let buckets = Buckets::new(&super::weights(servers))?;
        Ok(Placement {
            hashed: Hashed::Wire,
            method: Method::Hash(self.hash, Table::Buckets(buckets)),
            failover: self.failover,
        })
    }
}
